# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells what of a folder others may look at."""

from __future__ import annotations

import stat
from pathlib import Path


def open_to_others(root: Path) -> dict[str, str]:
    """Return the modes, as `ls` shows them, of what is not for its owner alone, by path; all of it exists."""
    entries = {path: path.lstat().st_mode for path in (root, *root.rglob("*"))}
    return {
        str(path): stat.filemode(mode)
        for path, mode in entries.items()
        if stat.S_IMODE(mode) != (0o700 if stat.S_ISDIR(mode) else 0o600)
    }
