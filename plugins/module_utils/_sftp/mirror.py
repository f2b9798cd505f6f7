# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make one tree like another: many files in parallel over one connection, safe to interrupt."""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from .._api.text import clean, megabytes
from .compare import TreeChanges, folded
from .errors import TransferFailed
from .library import LOST, asyncssh, run_all, unless_refused
from .local import OWNER, Local, Unreadable, room_at
from .remote import Moved, Relayed, Remote, Side
from .trees import ROOT, Kind, TreeEntry, printable_path, within

FILES_AT_ONCE = 64
WRITABLE = 0o300
PUSH, PULL = "push", "pull"
Act = Callable[[str, TreeEntry, Moved], Awaitable[None]]


@dataclass
class Mirror:
    """A tree here or relayed from another server, one on the server, and which of them follows the other."""

    local: Local | Relayed
    remote: Remote
    direction: str
    progress: Callable[[str], None]
    done: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)
    compared: bool = False
    """True if files of equal size were compared by content, so that those to be copied do differ."""

    @property
    def source(self) -> Side:
        return self.local if self.direction == PUSH else self.remote

    @property
    def target(self) -> Side:
        return self.remote if self.direction == PUSH else self.local

    async def same_content(
        self, source: Mapping[str, TreeEntry], target: Mapping[str, TreeEntry]
    ) -> set[str]:
        """Return the files that hold the same on both sides. One that cannot be read is none of them."""
        alike = {path: entry for path, entry in source.items() if same_size(entry, target.get(path))}
        filled = {path: entry for path, entry in alike.items() if entry.size}
        equal = alike.keys() - filled.keys()

        async def look(path: str, entry: TreeEntry, moved: Moved) -> None:
            if await unless_refused(self.remote.holds(self.local, path, entry, moved), False):
                equal.add(path)

        await self._each("compare", filled, look, size=total(filled))
        return equal

    def check_room(self, changes: TreeChanges) -> None:
        """Refuse a pull of more than there is room for. No file gets more bytes than were listed."""
        if self.direction == PULL and changes.growth > (room := room_at(self.local.root))[1]:
            raise TransferFailed(
                f"this would take {changes.growth} bytes more on this machine, and {printable_path(room[0])} "
                f"has room for {room[1]}; make room, or leave files out. Nothing was changed"
            )

    async def apply(self, changes: TreeChanges) -> None:
        """Make the target like the source. What is there already is not touched, so it can be run again.

        What cannot be done is noted in ``failures`` and does not keep the rest from being done, but for
        deletions. ``changes`` loses what turns out to be impossible or needless.
        """
        await self._keep_unreadable(changes)
        opened = await self._open(changes)
        try:
            await self._write(changes)
        finally:
            for path, before in reversed(opened.items()):
                if path not in self.done:  # else it is gone, or has that mode already
                    await self._attempt("set the mode of", path, self.target.set_mode(path, before), None)

    async def _write(self, changes: TreeChanges) -> None:
        for_links = {path: entry for path, entry in changes.in_the_way.items() if within(path, changes.links)}
        others = {path: entry for path, entry in changes.in_the_way.items() if path not in for_links}
        await self._remove(others)
        if ROOT in changes.desired:
            await self._attempt("make the directories above", ROOT, self.target.make_parents(), None)
        for level in by_depth(changes.directories):
            await self._change("make", level, self.target.make_directory)
        await self.adapt(changes)
        await self._copy(changes.files)
        await self._remove({path: for_links[path] for path in for_links if within(path, changes.links)})

        async def link(path: str, entry: TreeEntry) -> None:
            there = changes.there.get(path)
            await self.target.make_link(path, entry, there is None or there.kind is not Kind.LINK)

        await self._change("link", changes.links, link)
        await self._check_arrivals(changes)
        await self._remove(dict.fromkeys(changes.leftovers, TreeEntry(Kind.FILE)))
        if not self.failures:  # what is deleted may be all that is left of what could not be copied
            await self._remove(changes.extra)
        if self.remote.features.modes or self.direction == PULL:  # once directories are filled
            new = {path: entry for path, entry in changes.directories.items() if entry.mode is not None}
            await self._change("set the mode of", {**new, **changes.modes}, self.target.set_mode)

    async def _check_arrivals(self, changes: TreeChanges) -> None:
        """See that what was written is there, whole and as something of its own, before anything is deleted.

        A server may confirm what it does not keep, for want of room. A file system may also keep a file under
        the name of another one that differs in capitals alone, which would look like something to delete. So
        the directories that were written to are listed once more.
        """
        written: dict[str, dict[str, TreeEntry]] = {}
        for path, entry in {**changes.directories, **changes.files, **changes.links}.items():
            if not within(path, self.failures) and (path != ROOT or entry.kind is not Kind.DIRECTORY):
                written.setdefault(posixpath.dirname(path), {})[path] = entry

        async def check(folder: str, _folder: TreeEntry, _moved: Moved) -> None:
            listed = {} if ROOT in written[folder] else await self.target.listing(folder)
            goes = [posixpath.basename(path) for path in changes.extra if posixpath.dirname(path) == folder]
            for path, entry in written[folder].items():
                if not is_whole(entry, listed.get(posixpath.basename(path))):
                    found = await self.target.look(path)
                    if reason := why_not_listed(path, entry, found, listed, goes):
                        self.failures[path] = f"cannot write {place_of(self.target, path)}: {reason}"

        await self._each("list", dict.fromkeys(written, TreeEntry(Kind.DIRECTORY)), check)

    async def _keep_unreadable(self, changes: TreeChanges) -> None:
        """Keep what is in the way of something that cannot be read."""
        blocked = {path: entry for path, entry in changes.files.items() if path in changes.in_the_way}

        async def look(path: str, _entry: TreeEntry, _moved: Moved) -> None:
            async with self.source.reading(path):
                pass

        await self._each("read", blocked, look)
        for path in [path for path in changes.in_the_way if within(path, self.failures)]:
            del changes.in_the_way[path]

    async def _open(self, changes: TreeChanges) -> dict[str, TreeEntry]:
        """Make directories writable in which something is to be changed; return what each is later."""
        doomed = {**changes.in_the_way, **changes.extra}
        touched = [*changes.directories, *changes.files, *changes.links, *doomed, *changes.leftovers]
        opened = {}
        for path in sorted({posixpath.dirname(path) for path in touched if path}):
            there = changes.there.get(path)
            if there is None or there.kind is not Kind.DIRECTORY or there.mode is None:
                continue
            if there.mode & WRITABLE != WRITABLE and self.remote.features.modes:
                with suppress(asyncssh.SFTPPermissionDenied, asyncssh.SFTPFailure, PermissionError):
                    await self.target.set_mode(path, replace(there, mode=there.mode | OWNER))
                    opened[path] = changes.modes.get(path, there)
        return opened

    async def adapt(self, changes: TreeChanges) -> None:
        """Leave out what the server turns out not to keep: it would be done anew in every run."""
        if self.direction != PUSH:
            return
        features = self.remote.features
        if (changes.files or changes.modes) and features.times and features.modes:
            path = next(iter(changes.files or changes.modes))
            await self.remote.try_attributes(posixpath.dirname(self.remote.at(path)))
        if not features.times and not self.compared:
            equal = await self.same_content(changes.files, changes.there)
            changes.files = {path: entry for path, entry in changes.files.items() if path not in equal}
            changes.unchanged += len(equal)
        if not features.modes:
            changes.unchanged += len(changes.modes)
            changes.modes.clear()
        if changes.links and features.links:
            path = max(changes.links, key=lambda path: path.count("/"))
            await self.remote.try_links(posixpath.dirname(self.remote.at(path)))
        if not features.links:
            for path in [path for path in changes.in_the_way if within(path, changes.links)]:
                del changes.in_the_way[path]
            changes.links.clear()

    async def _copy(self, files: Mapping[str, TreeEntry]) -> None:
        async def copy(path: str, entry: TreeEntry, moved: Moved) -> None:
            if self.direction == PUSH:
                await self.remote.push(self.local, path, entry, moved)
            elif isinstance(self.local, Local):
                await self.remote.pull(self.local, path, entry, moved)
            self.done.append(path)

        await self._each("write", files, copy, "copy", total(files))

    async def _remove(self, entries: Mapping[str, TreeEntry]) -> None:
        folders = {path: entry for path, entry in entries.items() if entry.kind is Kind.DIRECTORY}
        plain = {path: entry for path, entry in entries.items() if path not in folders}
        await self._change("remove", plain, self.target.remove)
        for level in reversed(by_depth(folders)):
            full = {path for path in level if any(each.startswith(f"{path}/") for each in self.failures)}
            empty = {path: entry for path, entry in level.items() if path not in full}
            await self._change("remove", empty, self.target.remove)

    async def _change(
        self, what: str, entries: Mapping[str, TreeEntry], act: Callable[[str, TreeEntry], Awaitable[None]]
    ) -> None:
        async def change(path: str, entry: TreeEntry, _moved: Moved) -> None:
            await act(path, entry)
            self.done.append(path)

        await self._each(what, entries, change)

    async def _each(
        self, what: str, entries: Mapping[str, TreeEntry], act: Act, told: str = "", size: int = 0
    ) -> None:
        """Do something with many entries at once, and tell how many are finished, and of ``size`` bytes."""
        todo, finished, arrived = iter(entries.items()), 0, 0

        def moved(count: int) -> None:
            nonlocal arrived
            arrived += count
            of_bytes = f", {megabytes(arrived)} of {megabytes(size)}" if size else ""
            self.progress(f"{told or what}: {finished} of {len(entries)}{of_bytes}")

        async def work() -> None:
            nonlocal finished
            for path, entry in todo:
                if not (self.failures and within(path, self.failures)):
                    await self._attempt(what, path, act(path, entry, moved), entry)
                finished += 1
                moved(0)

        await run_all(*(work() for _worker in range(min(FILES_AT_ONCE, len(entries)))))

    async def _attempt(self, what: str, path: str, act: Any, entry: TreeEntry | None) -> None:
        try:
            await act
        except LOST:
            raise
        except (asyncssh.SFTPError, OSError) as error:
            side: Side = self.local if isinstance(error, OSError) else self.remote
            if isinstance(error, Unreadable):
                side = self.source
            failed = f"cannot {'read' if side is self.source else what} {place_of(side, path)}"
            if side is self.target and (reason := await side.explain_full_disk(error, path, entry)):
                raise TransferFailed(f"{failed}: {reason}") from None
            said = clean((error.strerror if isinstance(error, OSError) else None) or str(error))
            self.failures[path] = f"{failed}: {said or type(error).__name__}"


def place_of(side: Side, path: str) -> str:
    return f"{printable_path(side.at(path))} {side.where}"


def total(entries: Mapping[str, TreeEntry]) -> int:
    return sum(entry.size for entry in entries.values())


def same_size(entry: TreeEntry, there: TreeEntry | None) -> bool:
    return there is not None and entry.kind is there.kind is Kind.FILE and entry.size == there.size


def by_depth(entries: Mapping[str, TreeEntry]) -> list[dict[str, TreeEntry]]:
    levels: dict[int, dict[str, TreeEntry]] = {}
    for path, entry in entries.items():
        levels.setdefault(path.count("/") + bool(path), {})[path] = entry
    return [levels[depth] for depth in sorted(levels)]


def is_whole(entry: TreeEntry, found: TreeEntry | None) -> bool:
    return found is not None and (entry.kind is not Kind.FILE or found.size == entry.size)


def why_not_listed(
    path: str, entry: TreeEntry, found: TreeEntry | None, listed: Iterable[str], goes: Collection[str]
) -> str:
    """Say why what was written is not listed; nothing if it is there. ``goes`` is deleted beside it."""
    if found is None:
        return "it was written without an error, but is not there. Does something else remove it?"
    if not is_whole(entry, found):
        return (
            f"{entry.size} bytes were written without an error, but it has {found.size}; find out whether "
            "space or a quota is used up, or whether something else writes to it, then run this again"
        )
    name = posixpath.basename(path)
    alike = [each for each in listed if each != name and folded(each) == folded(name)]
    if alike or goes:  # or it may be one with what is to be deleted
        return f"it is the same there as {printable_path([*alike, *goes][0])}; rename one of them"
    return ""
