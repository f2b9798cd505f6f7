# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Making one tree like another: many files at once over one connection, and safe to break off."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .compare import Changes
from .count import Count
from .library import asyncssh
from .sides import Local, Remote, Side, failure
from .trees import ROOT, Entry, Kind, Tree, gather

FILES_AT_ONCE = 64
PUSH, PULL = "push", "pull"
Act = Callable[[str, Entry], Awaitable[None]]


@dataclass
class Mirror:
    """A tree here, a tree on the server, and which of them follows the other."""

    local: Local
    remote: Remote
    direction: str
    progress: Callable[[str], None]
    done: list[str] = field(default_factory=list)
    """Paths that were changed so far."""

    @property
    def source(self) -> Side:
        """The side that is read."""
        return self.local if self.direction == PUSH else self.remote

    @property
    def target(self) -> Side:
        """The side that is changed."""
        return self.remote if self.direction == PUSH else self.local

    async def same_content(self, source: Tree, target: Tree) -> set[str]:
        """Return the files that hold the same on both sides; those of one size are read on both."""
        candidates = {
            path: entry
            for path, entry in source.entries.items()
            if entry.kind is Kind.FILE
            and path in target
            and (target.entries[path].kind, target.entries[path].size) == (Kind.FILE, entry.size)
        }
        equal = set()

        count = self._count("compare", candidates)

        async def look(path: str, entry: Entry) -> None:
            there = await self.remote.digest(path, entry, count.moved)
            if there == await asyncio.to_thread(self.local.digest, path):
                equal.add(path)

        await self._each("compare", candidates, look, count)
        return equal

    async def carry_out(self, changes: Changes) -> None:
        """Make the target like the source. What is there already is not touched, so it can be run again.

        :raises TransferFailed: at the first thing that cannot be done; ``done`` tells how far it came.
        """
        await self._remove(changes.in_the_way)
        if ROOT in changes.wished:
            await self._attempt("make the directories above", ROOT, self.target.make_parents(), None)
        for level in by_depth(changes.directories):
            await self._change("make", level, self.target.make_directory)
        await self._copy(changes.files)
        await self._change("link", changes.links, self.target.make_link)
        await self._change("set the mode of", finished(changes), self._set_mode)
        await self._remove(dict.fromkeys(changes.leftovers, Entry(Kind.FILE)))
        await self._remove(changes.extra)

    async def _copy(self, files: Mapping[str, Entry]) -> None:
        count = self._count("copy", files)

        async def copy(path: str, entry: Entry) -> None:
            if self.direction == PUSH:
                await self.remote.push(self.local, path, entry, count.moved)
            else:
                await self.remote.pull(self.local, path, entry, count.moved)
            self.done.append(path)

        await self._each("copy", files, copy, count)

    async def _set_mode(self, path: str, entry: Entry) -> None:
        await self.target.set_mode(path, int(entry.mode or 0))

    async def _remove(self, entries: Mapping[str, Entry]) -> None:
        """Remove files and links, then directories, the deepest first."""

        async def remove(path: str, entry: Entry) -> None:
            await self.target.remove(path, entry.kind)

        plain = {path: entry for path, entry in entries.items() if entry.kind is not Kind.DIRECTORY}
        folders = {path: entry for path, entry in entries.items() if entry.kind is Kind.DIRECTORY}
        await self._change("remove", plain, remove)
        for level in reversed(by_depth(folders)):
            await self._change("remove", level, remove)

    async def _change(self, what: str, entries: Mapping[str, Entry], act: Act) -> None:
        """Change many entries in the same way, and note them as done."""

        async def change(path: str, entry: Entry) -> None:
            await act(path, entry)
            self.done.append(path)

        await self._each(what, entries, change, self._count(what, entries, with_bytes=False))

    def _count(self, what: str, entries: Mapping[str, Entry], with_bytes: bool = True) -> Count:
        size = sum(entry.size for entry in entries.values()) if with_bytes else 0
        return Count(what, len(entries), size, self.progress)

    async def _each(self, what: str, entries: Mapping[str, Entry], act: Act, count: Count) -> None:
        """Do the same to many entries, a bounded number at once."""
        todo = iter(entries.items())

        async def work() -> None:
            for path, entry in todo:
                await self._attempt(what, path, act(path, entry), entry)
                count.one()

        await gather(*(work() for _worker in range(min(FILES_AT_ONCE, len(entries)))))

    async def _attempt(self, what: str, path: str, act: Any, entry: Entry | None) -> None:
        try:
            await act
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
            raise
        except (asyncssh.SFTPError, OSError) as error:
            place = self.target.at(path)
            raise failure(what, place, await self.target.reason(error, entry)) from None


def by_depth(entries: Mapping[str, Entry]) -> Sequence[dict[str, Entry]]:
    """Return entries level by level, those nearest to the root first."""
    levels: dict[int, dict[str, Entry]] = {}
    for path, entry in entries.items():
        levels.setdefault(path.count("/") + bool(path), {})[path] = entry
    return [levels[depth] for depth in sorted(levels)]


def finished(changes: Changes) -> dict[str, Entry]:
    """Return what gets its permissions at the end: new directories once they are filled, changed ones."""
    new = {path: entry for path, entry in changes.directories.items() if entry.mode is not None}
    return {**new, **changes.modes}
