# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets Python keep the bytecode of what plugins import.

Ansible's loader compiles every module of a collection anew in every run, which took a third of the time that
this collection adds to the start of a play. Python's own loader compiles a module once, and again when its
source changes; where it cannot write, it compiles in each run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from types import ModuleType

PACKAGES = (f"{__name__}.module_utils.", f"{__name__}.plugin_utils.")


class BytecodeFinder(MetaPathFinder):
    """Finds what is below :data:`PACKAGES` with Python's own loader, and leaves all else to others."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module; ``None`` if it is in no folder, but in the archive of a task."""
        if not path or not fullname.startswith(PACKAGES):
            return None
        return FileFinder(path[0], (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(fullname)


# Elsewhere, such as in tests, Python's own loader is used anyway.
if type(sys.meta_path[0]).__name__ == "_AnsibleCollectionFinder":
    sys.meta_path.insert(0, BytecodeFinder())
