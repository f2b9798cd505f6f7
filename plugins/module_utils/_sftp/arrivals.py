# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""See that what was written is there: whole, and as something of its own.

A server may confirm what it does not keep, for want of room. A file system may also keep a file under the
name of another one that differs in capitals alone, which would look like something to delete. So the
directories that were written to are listed once more before anything is deleted.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from .compare import TreeChanges
from .sides import Side
from .trees import ROOT, Kind, TreeEntry, printable_path, within


@dataclass
class Arrivals:
    """What was written to a side."""

    target: Side
    changes: TreeChanges
    failures: dict[str, str]
    """Gets the reason why something is not there as it should be, by path."""
    written: dict[str, dict[str, TreeEntry]] = field(default_factory=dict, init=False)
    """What was made or copied, by the directory that it lies in. A single file is its own directory."""

    def __post_init__(self) -> None:
        changes = self.changes
        for path, entry in {**changes.directories, **changes.files, **changes.links}.items():
            if not within(path, self.failures) and (path != ROOT or entry.kind is not Kind.DIRECTORY):
                self.written.setdefault(posixpath.dirname(path), {})[path] = entry

    async def check(self, folder: str, _folder: TreeEntry) -> None:
        """List a directory, and look closer at what is not listed as it was written."""
        written = self.written[folder]
        listed = {} if ROOT in written else await self.target.listing(folder)
        for path, entry in written.items():
            if is_whole(entry, listed.get(posixpath.basename(path))):
                continue
            if reason := await self._why(path, entry):
                place = printable_path(self.target.at(path))
                self.failures[path] = f"cannot write {place} {self.target.where}: {reason}"

    async def _why(self, path: str, entry: TreeEntry) -> str:
        """Say why something that was written is not listed as that; nothing if it is a single file."""
        found = await self.target.look(path)
        if found is None:
            return (
                "it was written without an error, but is not there; find out whether something else removes "
                "it, then run this again"
            )
        if not is_whole(entry, found):
            return (
                f"{entry.size} bytes were written without an error, but it has {found.size}; find out "
                "whether space or a quota is used up, or whether something else writes to it, then run this "
                "again"
            )
        if path == ROOT:
            return ""
        return "it is the same there as a name in other capitals or characters; rename one of them"


def is_whole(entry: TreeEntry, found: TreeEntry | None) -> bool:
    """Tell whether something that was written is there, with all of its bytes if it is a file."""
    return found is not None and (entry.kind is not Kind.FILE or found.size == entry.size)
