# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the module that mirrors trees against a server, and read what a tree holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from unit.plugins.module_utils._sftp.servers import Server
from unit.plugins.results import Result

DEFAULTS = {name: option.get("default") for name, option in {**SFTP_SYNC.options, **CONNECTION_SPEC}.items()}
OLD = 1_700_000_000


def sync(server: Server, check_mode: bool = False, **options: Any) -> dict[str, Any]:
    """Run the module with the options that lead to the server; a push to ``up`` unless they say otherwise."""
    given = {**DEFAULTS, "dest": "up", **server.options, "host_key_checking": "off", **options}
    return Result(execute(SFTP_SYNC, given, RunContext(check_mode=check_mode, diff=True)))


def fill(root: Path, content: dict[str, str | None]) -> Path:
    """Make files with these contents; ``None`` makes a directory, and ``@a`` a link to ``a``."""
    root.mkdir(parents=True, exist_ok=True)
    for name, inner in content.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if inner is None:
            path.mkdir()
        elif inner.startswith("@"):
            path.symlink_to(inner[1:])
        else:
            path.write_text(inner)
            os.utime(path, (OLD, OLD))
    return root


def holds(root: Path) -> dict[str, str | None]:
    """Return what a tree holds, in the form that makes it."""
    return {
        str(path.relative_to(root)): f"@{path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        if path.is_file()
        else None
        for path in sorted(root.rglob("*"))
    }
