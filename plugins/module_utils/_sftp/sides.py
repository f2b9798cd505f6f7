# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two ends of a mirror: a tree here and a tree on the server, with the same few ways to change either.

A file is written under a temporary name in the same directory, gets its time and its permissions, and is
renamed in one step: a reader sees the old file or the new one.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import shutil
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from functools import partial
from typing import Any, TypeAlias

from .blocks import Blocks, Moved, Read, block_size, copy, holds, read_local, read_remote, write_local
from .library import asyncssh
from .local_folder import LocalFolder, change_mode, put_in_place, replacing
from .patterns import Patterns
from .server_features import (
    NEW,
    PRIVATE,
    ServerFeatures,
    attributes,
    make_link,
)
from .trees import (
    GONE,
    Kind,
    Tree,
    TreeEntry,
    aside_path,
    encode_path,
    join,
    printable_path,
    read_names,
    remote_tree,
    shown_entry,
    temporary_path,
    unless_refused,
)

LARGE = 1024 * 1024
"""Beyond this size, in bytes, a file waits for its turn: a few of them fill the connection, and memory."""
LARGE_AT_ONCE = 4
OWNER = 0o700
"""The permissions that the owner of a directory needs to change its entries."""
REPLACEABLE = (asyncssh.FILEXFER_TYPE_REGULAR, asyncssh.FILEXFER_TYPE_SYMLINK) if asyncssh else ()
"""The types of entries that a new file or link may replace, though the server refuses to rename over them."""
FULL = (errno.ENOSPC, errno.EDQUOT)


class Local:
    """A tree of this machine that can be read and changed. Paths are relative to its root."""

    where = "on this machine"
    """The place of the tree, for messages."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.folder = LocalFolder(root)

    def at(self, path: str) -> str:
        """Return where an entry lies."""
        return join(self.root, path)

    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""
        return self.folder.tree(patterns, skip)

    async def look(self, path: str) -> TreeEntry | None:
        """Return what is at a path; ``None`` if there is nothing."""
        return self.folder.look(path)

    async def listing(self, folder: str) -> dict[str, TreeEntry]:
        """Return what a directory holds now, by name."""
        return dict(self.folder.listing(folder))

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        """Open a file to read blocks of it."""
        with open(self.folder.open_file(path), "rb", buffering=0) as content:
            yield partial(read_local, content.fileno())

    async def make_parents(self) -> None:
        """Make the directories above the root, where they are missing."""
        os.makedirs(os.path.dirname(self.root) or ".", exist_ok=True)

    async def make_directory(self, path: str, entry: TreeEntry) -> None:
        """Make a directory."""
        try:
            with self.folder.parent(path) as (folder, name):
                os.mkdir(name, 0o777 if entry.mode is None else entry.mode | OWNER, dir_fd=folder)
        except FileExistsError:  # it is no failure if another run has made it
            if not await has_directory(self, path):
                raise

    async def make_link(self, path: str, entry: TreeEntry, new: bool) -> None:
        """Make a symbolic link; one that is not ``new`` takes the place of one that is there."""
        with self.folder.parent(path) as (folder, name):
            temporary = temporary_path("")
            os.symlink(str(entry.target), temporary, dir_fd=folder)
            put_in_place(folder, temporary, name)

    def share(self, earlier: Local, path: str) -> None:
        """Make a file of an earlier copy one of this tree as well, by a hard link."""
        above = posixpath.dirname(path).split("/")
        for depth in range(1, len(above) + 1) if above[0] else ():
            with self.folder.parent("/".join(above[:depth])) as (folder, name), suppress(FileExistsError):
                os.mkdir(name, OWNER, dir_fd=folder)
        with earlier.folder.parent(path) as (old, name), self.folder.parent(path) as (new, _name):
            os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)

    async def set_mode(self, path: str, mode: int) -> None:
        """Set permissions. A file with other hard links is copied first: one may be of an earlier copy."""
        with self.folder.parent(path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
                change_mode(folder, name, mode)
                return
            with open(self.folder.open_file(path), "rb") as old, replacing(folder, name, PRIVATE) as handle:
                with open(handle, "wb", closefd=False) as new:
                    await asyncio.to_thread(shutil.copyfileobj, old, new)
                os.utime(handle, ns=(found.st_atime_ns, found.st_mtime_ns))
                os.fchmod(handle, mode)

    async def remove(self, path: str, kind: Kind) -> None:
        """Remove a file, a link or an empty directory."""
        with self.folder.parent(path) as (folder, name):
            if kind is Kind.DIRECTORY:
                os.rmdir(name, dir_fd=folder)
            else:
                os.unlink(name, dir_fd=folder)

    async def explain_full_disk(self, error: Exception, path: str, entry: TreeEntry | None) -> str:
        """Say so when something failed for lack of room."""
        return "no space left on this machine" if getattr(error, "errno", None) in FULL else ""


class Remote:
    """A tree on the server."""

    where = "on the service"

    def __init__(self, sftp: Any, root: str) -> None:
        self.root = root
        self.sftp = sftp
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._block = block_size(sftp)
        self.features = ServerFeatures()

    def at(self, path: str) -> str:
        """Return where an entry lies."""
        return join(self.root, path)

    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""
        return await remote_tree(self.sftp, self.root, patterns, skip)

    async def look(self, path: str) -> TreeEntry | None:
        """Return what is at a path, but for the target of a link; ``None`` if there is nothing."""
        try:
            return shown_entry(await self.sftp.lstat(encode_path(self.at(path))))
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            return None

    async def listing(self, folder: str) -> dict[str, TreeEntry]:
        """Return what a directory holds now, by name, but for the targets of links."""
        found = await read_names(self.sftp, self.at(folder), folder, Tree(name=self.at(folder)))
        return {name: shown_entry(attributes) for name, attributes in found.items()}

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        """Open a file to read blocks of it."""
        async with self._open(path) as file:
            yield partial(read_remote, file)

    async def make_parents(self) -> None:
        """Make the directories above the root, where they are missing."""
        parent = posixpath.dirname(self.root)
        if parent:
            await self.sftp.makedirs(encode_path(parent), exist_ok=True)

    async def make_directory(self, path: str, entry: TreeEntry) -> None:
        """Make a directory."""
        mode = {} if entry.mode is None else {"permissions": (entry.mode & 0o777) | OWNER}
        try:
            await self.sftp.mkdir(encode_path(self.at(path)), asyncssh.SFTPAttrs(**mode))
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
            raise
        except asyncssh.SFTPError:  # servers have several codes for one that another run has made
            if not await has_directory(self, path):
                raise

    async def make_link(self, path: str, entry: TreeEntry, new: bool) -> None:
        """Make a symbolic link; one that is not ``new`` takes the place of one that is there."""
        place, target = self.at(path), str(entry.target)
        if new or not self.features.links_renamed:
            if not new:
                await self.sftp.remove(encode_path(place))
            await make_link(self.sftp, target, place, self.features)
            return
        temporary = temporary_path(place)
        await make_link(self.sftp, target, temporary, self.features)
        async with self._removed_on_error(temporary):
            await self._put_in_place(temporary, place)

    async def set_mode(self, path: str, mode: int) -> None:
        """Set permissions."""
        await self.sftp.chmod(encode_path(self.at(path)), mode)

    async def remove(self, path: str, kind: Kind) -> None:
        """Remove a file, a link or an empty directory."""
        place = encode_path(self.at(path))
        await (self.sftp.rmdir(place) if kind is Kind.DIRECTORY else self.sftp.remove(place))

    async def explain_full_disk(self, error: Exception, path: str, entry: TreeEntry | None) -> str:
        """Say so when something failed for lack of room; the server is asked, as few have a word for it."""
        if isinstance(error, (asyncssh.SFTPNoSpaceOnFilesystem, asyncssh.SFTPQuotaExceeded)):
            return f"no space left on the service: {error}"
        if entry is None or not isinstance(error, asyncssh.SFTPFailure):
            return ""
        try:
            room = await self.sftp.statvfs(encode_path(posixpath.dirname(self.at(path))) or b".")
        except asyncssh.SFTPError:
            return ""
        free = room.bavail * room.frsize
        if free >= max(entry.size, 1):
            return ""
        return f"no space left on the service: {free} bytes are free, the file has {entry.size}"

    async def push(self, source: Side, path: str, entry: TreeEntry, moved: Moved) -> None:
        """Put a file of the other side onto the server, with its holes if the server can have any."""
        for holes in dict.fromkeys((self.features.holes, False)):
            blocks = Blocks(entry.size, self._block, holes)
            try:
                async with source.reading(path) as read, self._turn(entry), self._placed(path, entry) as file:
                    await copy(read, file.write, blocks, moved)
                return
            except asyncssh.SFTPFailure:
                if not blocks.skipped:
                    raise
                self.features.holes, moved = False, lambda size: None  # it is counted

    @asynccontextmanager
    async def _placed(self, path: str, entry: TreeEntry) -> AsyncIterator[Any]:
        """Open a new file under a temporary name, and put it at ``path`` once it has been written."""
        temporary = temporary_path(self.at(path))
        mode = None if entry.mode is None else PRIVATE if self.features.modes else entry.mode
        made = asyncssh.SFTPAttrs() if mode is None else asyncssh.SFTPAttrs(permissions=mode)
        file = await self.sftp.open(encode_path(temporary), NEW, made, encoding=None, block_size=0)
        async with self._removed_on_error(temporary):
            async with file:
                yield file
            if wanted := attributes(entry, self.features):  # some servers forget what is set before the end
                await self.sftp.setstat(encode_path(temporary), wanted)
            await self._put_in_place(temporary, self.at(path))

    async def pull(self, target: Local, path: str, entry: TreeEntry, moved: Moved) -> None:
        """Put a file of the server onto this machine."""
        made = 0o666 if entry.mode is None else PRIVATE
        async with self._open(path) as file, self._turn(entry):
            with target.folder.parent(path) as place, replacing(*place, made) as handle:
                read, write = partial(read_remote, file), partial(write_local, handle)
                await copy(read, write, Blocks(entry.size, self._block), moved)
                if entry.mode is not None:
                    os.chmod(handle, entry.mode)
                os.utime(handle, (entry.mtime, entry.mtime))

    async def holds(self, other: Side, path: str, entry: TreeEntry, moved: Moved) -> bool:
        """Tell whether a file has the content that it has on the other side, where it has the same size."""
        async with other.reading(path) as read, self._turn(entry), self._open(path) as file:
            return await holds(read, file, Blocks(entry.size, self._block), moved)

    def _open(self, path: str) -> Any:
        """Open a file to read blocks of it, which the library is not to cut up once more."""
        return self.sftp.open(encode_path(self.at(path)), "rb", encoding=None, block_size=0)

    def _turn(self, entry: TreeEntry) -> AbstractAsyncContextManager[Any]:
        """Wait, with a large file, until few enough others are under way."""
        return self._large if entry.size > LARGE else nullcontext()

    async def _put_in_place(self, temporary: str, path: str) -> None:
        """Rename over what is there; a server that cannot do so in one step does it in several."""
        old, new = encode_path(temporary), encode_path(path)
        try:
            await self.sftp.posix_rename(old, new)
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            raise asyncssh.SFTPNoSuchFile(GONE) from None
        except (asyncssh.SFTPOpUnsupported, asyncssh.SFTPFailure, asyncssh.SFTPFileAlreadyExists) as error:
            found = await unless_refused(self.sftp.lstat(new), None)
            in_place = None if found is None else int(found.type)
            unsupported = isinstance(error, asyncssh.SFTPOpUnsupported)
            if in_place not in ((*REPLACEABLE, None) if unsupported else REPLACEABLE):
                raise
            if in_place is None:
                await self.sftp.rename(old, new)
            else:
                await self._replace(old, new, aside_path(path))

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
        with suppress(asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):  # another run found it first
            await self.sftp.remove(aside)

    @asynccontextmanager
    async def _removed_on_error(self, temporary: str) -> AsyncIterator[None]:
        """Take a temporary file away again when what is done with it fails."""
        try:
            yield
        except BaseException:
            # Where the connection is gone as well, a later run removes what is left.
            with suppress(asyncssh.Error, OSError):
                await self.sftp.remove(encode_path(temporary))
            raise


Side: TypeAlias = Local | Remote


async def has_directory(side: Side, path: str) -> bool:
    """Tell whether there is a directory of this very name. One that is spelled otherwise is another's."""
    folder, name = posixpath.split(path)
    there = (await side.listing(folder)).get(name) if name else await side.look(path)
    return there is not None and there.kind is Kind.DIRECTORY
