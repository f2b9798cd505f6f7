# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run `ansible-test sanity` on a copy of this folder; arguments are passed on.

ansible-test insists on a folder called ansible_collections/hosted/services that is not a link. It also
downloads the installer of pip from a host of its own, which many networks do not reach: the pip that
Python brings along does as well. It keeps both that installer and its virtual environments below the
home folder, so it gets a home of its own and nobody's is touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ansible_test

from ansible_collections.hosted.services.scripts.sources import ROOT, checkout

WORK = Path(os.environ.get("SANITY_FOLDER", ROOT / ".build" / "sanity"))
COPY = WORK / "ansible_collections" / "hosted" / "services"
HOME = WORK / "home"
INSTALLER = "import ensurepip\n\nensurepip.bootstrap(default_pip=True)\n"


def refresh_copy() -> None:
    """Make the copy equal to this folder, but keep ansible-test's output: it holds an environment."""
    output, kept = COPY / "tests" / "output", WORK / "output"
    if output.exists():
        shutil.rmtree(kept, ignore_errors=True)
        output.rename(kept)
    shutil.rmtree(COPY, ignore_errors=True)
    checkout(COPY)
    if kept.exists():
        output.parent.mkdir(exist_ok=True)
        kept.rename(output)


def provide_pip_installer() -> None:
    """Put an installer of pip where ansible-test looks before it downloads one."""
    source = Path(ansible_test.__path__[0], "_internal", "python_requirements.py").read_text(encoding="utf-8")
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in re.findall(r"\bpip='([0-9.]+)'", source):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(INSTALLER, encoding="utf-8")


def environment() -> dict[str, str]:
    """Give ansible-test its own home, and leave pip the settings and the cache of the user."""
    home = Path.home()
    mine = {
        "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", str(home / ".config")),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(home / ".cache")),
        "HOME": str(HOME),
    }
    # These name this folder; what is tested is the copy.
    dropped = {"PYTHONPATH", "ANSIBLE_COLLECTIONS_PATH"}
    return {name: value for name, value in os.environ.items() if name not in dropped} | mine


def main() -> int:
    """Prepare the copy and run the tests in it."""
    refresh_copy()
    provide_pip_installer()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = ["ansible-test", "sanity", "--venv", "--python", python, "--color", "no", *sys.argv[1:]]
    return subprocess.run(command, cwd=COPY, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
