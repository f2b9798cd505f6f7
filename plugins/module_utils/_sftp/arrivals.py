# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""See that what was written is there: whole, and as something of its own.

A server may confirm what it does not keep, for want of room. It may also keep a file under a name that was
there in another spelling, which would look like something to delete. So the directories that were written to
are listed once more before anything is deleted.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

from .compare import TreeChanges
from .sides import Side
from .spelling import folded
from .trees import ROOT, Kind, TreeEntry, join, printable_path, within


@dataclass
class Arrivals:
    """What was written to a side. Takes out of ``changes.extra`` what turns out to be wanted."""

    target: Side
    changes: TreeChanges
    failures: dict[str, str]
    """Gets the reason why something is not there as it should be, by path."""
    respelled: dict[str, str]
    """Gets what the side calls something, by the path that is wanted."""
    written: dict[str, dict[str, TreeEntry]] = field(default_factory=dict, init=False)
    """What was made or copied, by the directory that it lies in. A single file is its own directory."""
    owners: dict[str, str] = field(default_factory=dict, init=False)
    """The paths that are wanted, by those that are listed for them."""

    def __post_init__(self) -> None:
        changes = self.changes
        for path, entry in {**changes.directories, **changes.files, **changes.links}.items():
            if not within(path, self.failures) and (path != ROOT or entry.kind is not Kind.DIRECTORY):
                self.written.setdefault(posixpath.dirname(path), {})[path] = entry
        for path, kept in self.respelled.items():
            self.owners[beside(path, posixpath.basename(kept))] = path

    async def check(self, folder: str, _folder: TreeEntry) -> None:
        """List a directory, and look closer at what is not listed as it was written."""
        written = self.written[folder]
        listed = {} if ROOT in written else await self.target.listing(folder)
        doubtful = {
            path: entry
            for path, entry in written.items()
            if not is_whole(entry, listed.get(posixpath.basename(self.respelled.get(path, path))))
        }
        # Of two names for one file, the size of one is wrong for that reason alone. So they come first.
        for path in sorted(doubtful, key=lambda path: posixpath.basename(path) in listed):
            if path not in self.failures and (reason := await self._why(path, doubtful[path], listed)):
                self._fail(path, reason)

    async def _why(self, path: str, entry: TreeEntry, listed: Mapping[str, TreeEntry]) -> str:
        """Say why something that was written is not there; nothing if it is."""
        found = await self.target.look(path)
        if found is None:
            return (
                "it was written without an error, but is not there; find out whether something else removes "
                "it, then run this again"
            )
        if posixpath.basename(path) not in listed and (reason := self._find_spelling(path, found, listed)):
            return reason
        if is_whole(entry, found):
            return ""
        return (
            f"{entry.size} bytes were written without an error, but it has {found.size}; find out whether "
            "space or a quota is used up, or whether something else writes to it, then run this again"
        )

    def _find_spelling(self, path: str, found: TreeEntry, listed: Mapping[str, TreeEntry]) -> str:
        """Note under which name something is listed; return what is wrong if that is another one's."""
        for name, entry in listed.items():
            there = beside(path, name)
            if folded(there) == folded(path):
                other = self.owners.get(there, there)
                if other != path and (there in self.owners or self._is_wanted(there)):
                    self._fail(other, f"it is the same as {printable_path(path)} there; {RENAME}")
                    return f"it is the same as {printable_path(other)} there; {RENAME}"
            # Other differences, such as a dot at the end, show in that both look alike.
            elif there not in self.changes.extra or not looks_like(entry, found):
                continue
            self.respelled[path], self.owners[there] = there, path
            for extra in [extra for extra in self.changes.extra if within(extra, {there})]:
                del self.changes.extra[extra]
        return ""

    def _is_wanted(self, path: str) -> bool:
        changes = self.changes
        return path in changes.desired or (path in changes.there and path not in changes.extra)

    def _fail(self, path: str, reason: str) -> None:
        place = printable_path(self.target.at(path))
        self.failures[path] = f"cannot write {place} {self.target.where}: {reason}"


RENAME = "rename one of them at the source"


def beside(path: str, name: str) -> str:
    """Return the path of another name in the same directory."""
    return join(posixpath.dirname(path), name)


def is_whole(entry: TreeEntry, found: TreeEntry | None) -> bool:
    """Tell whether something that was written is there, with all of its bytes if it is a file."""
    return found is not None and (entry.kind is not Kind.FILE or found.size == entry.size)


def looks_like(entry: TreeEntry, other: TreeEntry) -> bool:
    """Tell whether two entries may be one."""
    return (entry.kind, entry.size, entry.mtime) == (other.kind, other.size, other.mtime)
