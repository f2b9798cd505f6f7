# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree on the server, with the same few ways to read and change it as a tree of this machine.

A file is written under a temporary name in the same directory, gets its time and its permissions, and is
renamed in one step: a reader sees the old file or the new one.

Its content goes in blocks, as large as the server accepts, and several at once. The library would make a task
for each block, and leave out the hole at the end of a sparse file. Here the last block is always written, and
others that hold nothing but zeros are not: what lies before a write beyond the end of a file reads as zeros
in the protocol's version 3 as in POSIX, and takes no room where the file system has holes.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
import stat
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

from .._api.text import clean
from .errors import ConnectionBroken, TransferFailed
from .library import LOST, MISSING, asyncssh, run_all, unless_refused
from .local import OWNER, PRIVATE, SHRANK, Local, Read, Unreadable, has_directory, replacing, write_local
from .trees import (
    GONE,
    ROOT,
    SHOWN,
    Kind,
    Patterns,
    Tree,
    TreeEntry,
    aside_path,
    encode_path,
    join,
    kind_of,
    printable_path,
    temporary_path,
)

BLOCK = 256 * 1024
SAFE_BLOCK = 32 * 1024
"""The block size that every server accepts, in bytes."""
IN_FLIGHT = 4 * 1024 * 1024
"""The bytes of one file that may be requested, or sent and not yet confirmed, at the same time."""
ZEROS = bytes(BLOCK)
LISTINGS_AT_ONCE = 32
LONGEST_NAME = 1024
"""The bytes of a name. No file system takes as many."""
LARGE = 1024 * 1024
"""Beyond this size, in bytes, a file waits for its turn: a few of them fill the connection, and memory."""
LARGE_AT_ONCE = 4
TRIED_TIME, TRIED_MODE = 1_000_000_001, 0o640
"""A time and a mode that no server gives to a new file by itself. FAT stores even seconds, so it is odd."""
NEW = asyncssh.FXF_WRITE | asyncssh.FXF_CREAT | asyncssh.FXF_EXCL if asyncssh else 0
T = TypeVar("T")
Moved = Callable[[int], None]
"""Told how many bytes have arrived."""


@dataclass
class ServerFeatures:
    """What a server supports beyond reading and writing. What was not tried is assumed to work."""

    times: bool = True
    """True if a file has exactly the time that was set."""
    modes: bool = True
    links: bool = True
    links_swapped: bool = False
    """True if it reads the paths of a link in the order of the protocol, which is not that of OpenSSH."""


class Remote:
    where = "on the service"

    def __init__(self, sftp: Any, root: str) -> None:
        self.root = root
        self.sftp = sftp
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        limits = getattr(sftp, "limits", None)  # what the server allows, where the library has asked it
        self._block = min(limits.max_read_len, limits.max_write_len, BLOCK) if limits else SAFE_BLOCK
        self.features = ServerFeatures()

    def at(self, path: str) -> str:
        return join(self.root, path)

    # --- Reading ----------------------------------------------------------------------------------

    async def tree(self, patterns: Patterns) -> Tree:
        tree = Tree(patterns=patterns, name=f"{printable_path(self.root)} on the service")
        base = await self.base()
        if base is None:
            return tree
        tree.entries[ROOT] = base
        at_once = asyncio.Semaphore(LISTINGS_AT_ONCE)

        async def look_into(folder: str) -> None:
            async with at_once:
                listed = await self._names(folder, tree)
            found = {join(folder, name): entry for name, entry in listed.items() if name not in (".", "..")}
            inner = [path for path, entry in found.items() if tree.take(path, await self._whole(path, entry))]
            await run_all(*(look_into(path) for path in inner))

        if base.kind is Kind.DIRECTORY:
            await look_into(ROOT)
        return tree.finish()

    async def base(self) -> TreeEntry | None:
        """Return what stands at the root; a link that the user named is followed."""
        for look in (self.sftp.stat, self.sftp.lstat):
            try:
                return await self._whole(ROOT, shown_entry(await look(encode_path(self.root))))
            except MISSING:
                continue
            except LOST:
                raise
            except asyncssh.SFTPError as error:
                raise self._unreadable(error) from None
        return None

    def _unreadable(self, error: Exception) -> TransferFailed:
        return TransferFailed(f"cannot read {printable_path(self.root)} on the service: {clean(str(error))}")

    async def _whole(self, path: str, entry: TreeEntry) -> TreeEntry:
        """Read where a link leads.

        Some servers tell an absolute place for the target of any link; below the directory where the session
        began, that is made relative to the link again.
        """
        if entry.kind is not Kind.LINK:
            return entry
        place = self.at(path)
        try:
            target: str = decoded(await self.sftp.readlink(encode_path(place)))
            if not target.startswith("/"):
                return replace(entry, target=target)
            folder = posixpath.dirname(place) or "."
            start, above = [decoded(await self.sftp.realpath(encode_path(each))) for each in (".", folder)]
        except LOST:
            raise
        except asyncssh.SFTPError:
            return entry
        if target.startswith(start.rstrip("/") + "/"):
            return replace(entry, target=posixpath.relpath(target, above), resolved=True)
        return replace(entry, target=target)

    async def _names(self, folder: str, tree: Tree) -> dict[str, TreeEntry]:
        """Return what a server lists of a directory; nothing, and a note in ``tree``, if it cannot be read.

        OpenSSH lists nothing, not even the directory itself, of one that may be listed and not entered. Taken
        for an empty one, it would have what it holds deleted on the other side.
        """
        try:
            names = await self._listed(folder, tree)
            if not names:
                await self.sftp.stat(encode_path(join(self.at(folder), ".")))
        except LOST:
            raise
        except asyncssh.SFTPError as error:
            if folder == ROOT:
                raise self._unreadable(error) from None
            tree.cannot_read(folder, clean(str(error)))
            return {}
        return names

    async def _listed(self, folder: str, tree: Tree) -> dict[str, TreeEntry]:
        """Return what a server lists, by name. What is replaced just then may be listed twice."""
        names: dict[str, TreeEntry] = {}
        async with aclosing(self.sftp.scandir(encode_path(self.at(folder)))) as listed:
            async for item in listed:
                tree.meet(join(folder, "."))
                shown, name = item.filename[:SHOWN], decoded(item.filename)
                if not name or len(item.filename) > LONGEST_NAME or "/" in name or "\0" in name:
                    raise TransferFailed(f"the server sent an invalid file name: {shown!r}; nothing was done")
                entry = shown_entry(item.attrs)
                first, kind = names.setdefault(name, entry).kind, entry.kind
                if first is not kind:
                    raise TransferFailed(
                        f"the server lists '{printable_path(join(folder, name))}' twice, as a {first.value} "
                        f"and as a {kind.value}. If something changed it just then, run this again"
                    )
        return names

    async def look(self, path: str) -> TreeEntry | None:
        """Return what is at a path, but for the target of a link; ``None`` if there is nothing."""
        try:
            return shown_entry(await self.sftp.lstat(encode_path(self.at(path))))
        except MISSING:
            return None

    async def listing(self, folder: str) -> dict[str, TreeEntry]:
        """Return what a directory holds now, by name, but for the targets of links."""
        return await self._listed(folder, Tree(name=self.at(folder)))

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        async with self._open(path) as file:
            yield partial(read_remote, file)

    def _open(self, path: str) -> Any:
        """Open a file to read blocks of it, which the library is not to cut up once more."""
        return self.sftp.open(encode_path(self.at(path)), "rb", encoding=None, block_size=0)

    def _turn(self, entry: TreeEntry) -> AbstractAsyncContextManager[Any]:
        """Wait, with a large file, until few enough others are under way."""
        return self._large if entry.size > LARGE else nullcontext()

    async def holds(self, other: Side, path: str, entry: TreeEntry, moved: Moved) -> bool:
        async with other.reading(path) as read, self._turn(entry), self._open(path) as file:
            there = partial(read_remote, file)
            return await same_blocks(entry.size, self._block, read, there, moved)

    async def pull(self, target: Local, path: str, entry: TreeEntry, moved: Moved) -> None:
        made = 0o666 if entry.mode is None else PRIVATE
        async with self.reading(path) as read, self._turn(entry):
            with target.parent(path) as place, replacing(*place, made) as handle:
                await copy_blocks(entry.size, self._block, read, partial(write_local, handle), moved)
                if entry.mode is not None:
                    os.chmod(handle, entry.mode)
                os.utime(handle, (entry.mtime, entry.mtime))

    # --- Changing ---------------------------------------------------------------------------------

    async def make_parents(self) -> None:
        if parent := posixpath.dirname(self.root):
            await self.sftp.makedirs(encode_path(parent), exist_ok=True)

    async def make_directory(self, path: str, entry: TreeEntry) -> None:
        mode = None if entry.mode is None else (entry.mode & 0o777) | OWNER
        try:
            await self.sftp.mkdir(encode_path(self.at(path)), asyncssh.SFTPAttrs(permissions=mode))
        except LOST:
            raise
        except asyncssh.SFTPError:  # servers have several codes for one that another run has made
            if not await has_directory(self, path):
                raise

    async def make_link(self, path: str, entry: TreeEntry, new: bool) -> None:
        """Make a symbolic link. An old one goes before: some servers rename the target of a link."""
        paths = [encode_path(str(entry.target)), encode_path(self.at(path))]
        if not new:
            await self.sftp.remove(paths[1])
        await self.sftp.symlink(*(reversed(paths) if self.features.links_swapped else paths))

    async def set_mode(self, path: str, entry: TreeEntry) -> None:
        await self.sftp.chmod(encode_path(self.at(path)), entry.mode or 0)

    async def remove(self, path: str, entry: TreeEntry) -> None:
        remove = self.sftp.rmdir if entry.kind is Kind.DIRECTORY else self.sftp.remove
        with suppress(*MISSING):  # another run was faster
            await remove(encode_path(self.at(path)))

    async def explain_full_disk(self, error: Exception, path: str, entry: TreeEntry | None) -> str:
        """Say so when something failed for lack of room; the server is asked, as few have a word for it."""
        if isinstance(error, (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded)):
            return f"no space left on the service: {error}"
        if entry is None or not isinstance(error, asyncssh.SFTPFailure):
            return ""
        folder = encode_path(posixpath.dirname(self.at(path))) or b"."
        room = await unless_refused(self.sftp.statvfs(folder), None)
        if room is None or (free := room.bavail * room.frsize) >= max(entry.size, 1):
            return ""
        return f"no space left on the service: {free} bytes are free, the file has {entry.size}"

    async def push(self, source: Side, path: str, entry: TreeEntry, moved: Moved) -> None:
        async with source.reading(path) as read, self._turn(entry), self._placed(path, entry) as file:
            await copy_blocks(entry.size, self._block, read, file.write, moved)

    @asynccontextmanager
    async def _placed(self, path: str, entry: TreeEntry) -> AsyncIterator[Any]:
        temporary, features = encode_path(temporary_path(self.at(path))), self.features
        made = PRIVATE if features.modes and entry.mode is not None else entry.mode
        mode, time = entry.mode if features.modes else None, entry.mtime if features.times else None
        file = await self.sftp.open(
            temporary, NEW, asyncssh.SFTPAttrs(permissions=made), encoding=None, block_size=0
        )
        try:
            async with file:
                yield file
            if (mode, time) != (None, None):  # some servers forget what is set before the end
                wanted = asyncssh.SFTPAttrs(permissions=mode, atime=time, mtime=time)
                await self.sftp.setstat(temporary, wanted)
            await self._put_in_place(temporary, self.at(path))
        except BaseException:
            await self._discard(temporary)
            raise

    async def _discard(self, *paths: bytes) -> None:
        """Remove files of our own. Where the connection is gone as well, a later run removes what is left."""
        for path in paths:
            with suppress(asyncssh.Error, OSError):
                await self.sftp.remove(path)

    async def _put_in_place(self, old: bytes, path: str) -> None:
        """Rename over what is there; a server that cannot do so in one step does it in several."""
        new = encode_path(path)
        try:
            await self.sftp.posix_rename(old, new)
        except MISSING:
            raise asyncssh.SFTPNoSuchFile(GONE) from None
        except (asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists) as error:
            found = await unless_refused(self.sftp.lstat(new), None)
            if found is None and isinstance(error, asyncssh.SFTPOpUnsupported):
                await self.sftp.rename(old, new)
            elif found is not None and kind_of(found.permissions or 0) in (Kind.FILE, Kind.LINK):
                await self._replace(old, new, aside_path(path))
            else:
                raise

    async def _replace(self, old: bytes, new: bytes, place_aside: str) -> None:
        """Rename to a name that is taken: what has it is put aside, and comes back if that fails."""
        aside = encode_path(place_aside)
        await self.sftp.rename(new, aside)
        try:
            await self.sftp.rename(old, new)
        except BaseException as error:
            try:
                await self.sftp.rename(aside, new)
            except (asyncssh.Error, OSError):
                error.args = (f"{error}; what was there is now {printable_path(place_aside)}",)
            raise
        with suppress(*MISSING):  # another run found it first
            await self.sftp.remove(aside)

    # --- Trying what the server supports; its name does not say -------------------------------------

    async def try_attributes(self, folder: str) -> None:
        """Find out with a file of our own whether times and permissions are kept, and not only accepted."""
        path = encode_path(temporary_path(join(folder, "probe")))
        try:
            file = await self.sftp.open(path, NEW, asyncssh.SFTPAttrs(permissions=PRIVATE), encoding=None)
        except asyncssh.SFTPError:  # writing will fail as well, and tells why
            return
        try:
            await file.close()
            tried = asyncssh.SFTPAttrs(permissions=TRIED_MODE, atime=TRIED_TIME, mtime=TRIED_TIME)
            with suppress(asyncssh.SFTPError):
                await self.sftp.setstat(path, tried)
            found = await unless_refused(self.sftp.lstat(path), asyncssh.SFTPAttrs())
            self.features.times = found.mtime == TRIED_TIME
            self.features.modes = (found.permissions or 0) & 0o777 == TRIED_MODE
        finally:
            await self._discard(path)

    async def try_links(self, folder: str) -> None:
        """Find out with a link of our own which of its two paths the server takes for the link.

        Both lie in the folder, so that nothing is made anywhere else whichever way the server reads them.
        """
        one, other = (encode_path(temporary_path(join(folder, "probe"))) for _name in range(2))
        try:
            with suppress(asyncssh.SFTPError):
                await self.sftp.symlink(one, other)
            straight = await unless_refused(self.sftp.readlink(other), None) is not None
            swapped = not straight and await unless_refused(self.sftp.readlink(one), None) is not None
            self.features.links, self.features.links_swapped = straight or swapped, swapped
        finally:
            await self._discard(one, other)


def decoded(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


def shown_entry(attributes: Any) -> TreeEntry:
    """Read what the server tells about an entry, without the target of a link."""
    mode = attributes.permissions or 0
    kind = kind_of(mode)
    if kind is Kind.FILE and attributes.size is None:
        raise TransferFailed(
            "the server does not show the sizes of files, so it cannot be known whether all of one arrives. "
            "Copy them with another program"
        )
    return TreeEntry(kind, attributes.size or 0, attributes.mtime or 0, stat.S_IMODE(mode))


# --- Blocks -------------------------------------------------------------------------------------------


async def read_remote(file: Any, offset: int, length: int) -> bytes:
    """Read a block of an open file of the server, which may send less than it was asked for, or more."""
    data: bytes = await file.read(length, offset)
    while len(data) < length:
        piece = await file.read(length - len(data), offset + len(data))
        if not piece:
            raise Unreadable(SHRANK)
        data += piece
    return data[:length]


async def copy_blocks(
    size: int, length: int, read: Read, write: Callable[[bytes, int], Awaitable[Any]], moved: Moved
) -> None:
    """Write a file to another one. Zeros before its end need not be."""

    async def copy(offset: int, count: int) -> None:
        data = await read(offset, count)
        if offset + count == size or data != ZEROS[:count]:
            await write(data, offset)
        moved(count)

    await each_block(size, length, copy)


async def same_blocks(size: int, length: int, one: Read, other: Read, moved: Moved) -> bool:
    """Tell whether two files hold the same, up to the first block that differs."""
    same = True

    async def look(offset: int, count: int) -> None:
        nonlocal same
        if same:
            same = await other(offset, count) == await one(offset, count) and same
            moved(count)

    await each_block(size, length, look)
    return same


async def each_block(size: int, length: int, act: Callable[[int, int], Awaitable[None]]) -> None:
    offsets = range(0, size, length)
    todo, workers = iter(offsets), min(max(IN_FLIGHT // length, 1), len(offsets))

    async def work() -> None:
        for offset in todo:
            await act(offset, min(length, size - offset))

    if workers <= 1:
        await work()
    else:
        await run_all(*(work() for _worker in range(workers)))


# --- A server that is only read --------------------------------------------------------------------


class Relayed(Remote):
    """A tree of a server that is only read. Its errors cannot be taken for those of the other server."""

    where = "on the service that is copied"

    def __init__(self, sftp: Any, root: str, label: str) -> None:
        super().__init__(sftp, root)
        self._label = label

    async def _named(self, request: Awaitable[T]) -> T:
        """Turn errors of the library into ones that name this side."""
        try:
            return await request
        except LOST as error:
            raise ConnectionBroken(f"the connection to {self._label} was lost: {clean(str(error))}") from None
        except asyncssh.SFTPError as error:
            raise Unreadable(clean(str(error)) or type(error).__name__) from None

    async def tree(self, patterns: Patterns) -> Tree:
        return await self._named(super().tree(patterns))

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        file = await self._named(self._open(path))
        try:
            yield lambda offset, length: self._named(read_remote(file, offset, length))
        finally:
            await self._named(file.close())


Side: TypeAlias = Local | Remote
