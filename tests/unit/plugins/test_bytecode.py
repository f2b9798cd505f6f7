# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What plugins import is compiled once, in an installed copy of the collection, by Ansible's own loader."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

PLUGINS = Path(__file__).resolve().parents[3] / "plugins"
PACKAGE = "ansible_collections.hosted.services.plugins"
PROGRAM = f"""
from ansible.plugins.loader import init_plugin_loader
init_plugin_loader([])
import {PACKAGE}.action.project
import {PACKAGE}.module_utils._api.text as text
print(type(text.__spec__.loader).__name__, text.__cached__, text.HIDDEN)
"""


def text_of(installed: Path) -> tuple[str, Path, str]:
    """Return what loaded a module, where its bytecode is, and a value of it."""
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        "ANSIBLE_COLLECTIONS_PATH": str(installed.parents[3]),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    loader, cached, value = done.stdout.split()
    return loader, Path(cached), value


def test_what_plugins_import_is_compiled_once(tmp_path: Path) -> None:
    """And again after it has changed, as by an upgrade; in each run where nothing can be written."""
    installed = tmp_path / "ansible_collections" / "hosted" / "services" / "plugins"
    shutil.copytree(PLUGINS, installed, ignore=shutil.ignore_patterns("__pycache__"))
    loader, bytecode, __ = text_of(installed)
    assert loader == "SourceFileLoader" and bytecode.is_relative_to(installed)
    compiled = bytecode.stat().st_mtime_ns
    assert text_of(installed)[1] == bytecode
    assert bytecode.stat().st_mtime_ns == compiled
    source = installed / "module_utils" / "_api" / "text.py"
    source.write_text(source.read_text().replace("********", "changed"))
    assert text_of(installed)[2] == "changed"
    # A file stands where the folder of the bytecode would be: not even root can write there.
    shutil.rmtree(bytecode.parent)
    bytecode.parent.touch()
    loader, bytecode, value = text_of(installed)
    assert (loader, value) == ("SourceFileLoader", "changed")
    assert not bytecode.exists()
