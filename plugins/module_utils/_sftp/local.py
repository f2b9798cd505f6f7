# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A tree of this machine: opened once, and all below it through descriptors, along no link.

Other users may change what is in it meanwhile, and names come from a server. A path that the system walks by
itself goes wherever a link in it leads; here each folder is opened from the one above it instead.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
import shutil
import stat
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .errors import TransferFailed
from .trees import GONE, ROOT, Kind, Patterns, Tree, TreeEntry, join, kind_of, printable_path, temporary_path

if TYPE_CHECKING:
    from .remote import Side

FOLDER = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""How a folder is opened for what it holds. On Linux, that takes no permission to list it."""
LISTED = os.O_DIRECTORY | os.O_RDONLY
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""How a file is opened: never a link in its place, and without waiting at a pipe."""
OWNER = 0o700
"""The permissions that the owner of a directory needs to change its entries."""
PRIVATE = 0o600
FULL = (errno.ENOSPC, errno.EDQUOT)
FIND_OUT = "find out what put something else in its place, then run this again"
SHRANK = "it became shorter while it was being read; run this again"
Read = Callable[[int, int], Awaitable[bytes]]
"""Returns a block of a file, by its offset and length."""


class Unreadable(OSError):
    """It was the source that failed, whatever was done with what it holds."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, reason)


class Local:
    """A tree of this machine, or a file. Links above it, and what was named, are followed once, at first."""

    where = "on this machine"

    def __init__(self, root: str) -> None:
        self.root = root
        self._above, self._name = os.path.split(os.path.abspath(root))
        self._kept: dict[str, int] = {}
        self._follow = 0

    def at(self, path: str) -> str:
        return join(self.root, path)

    def _keep(self, path: str, flags: int) -> int:
        if path not in self._kept:
            self._kept[path] = os.open(path, flags)
            weakref.finalize(self, os.close, self._kept[path])
        return self._kept[path]

    def _base(self) -> int:
        try:
            return self._keep(self.root, FOLDER | self._follow)
        except OSError:  # what is made there later is no link
            self._follow = os.O_NOFOLLOW
            raise

    @contextmanager
    def opened(self, folder: str) -> Iterator[int]:
        """Open a folder, along no link; yield its descriptor."""
        handle, done = os.dup(self._base()), self.root
        try:
            for name in folder.split("/") if folder else ():
                done = join(done, name)
                try:
                    inner = os.open(name, FOLDER | os.O_NOFOLLOW, dir_fd=handle)
                except OSError as error:
                    if error.errno not in (errno.ENOTDIR, errno.ELOOP):
                        raise
                    said = f"{printable_path(done)} is no directory any more; {FIND_OUT}"
                    raise NotADirectoryError(errno.ENOTDIR, said) from None
                os.close(handle)
                handle = inner
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder of an entry; yield its descriptor, and the name of the entry in it."""
        if path != ROOT:
            folder, name = posixpath.split(path)
            with self.opened(folder) as handle:
                yield handle, name
            return
        try:
            place = self._base(), "."
        except (FileNotFoundError, NotADirectoryError):
            place = self._keep(self._above, FOLDER), self._name
        yield place

    def open_file(self, path: str) -> int:
        with self.parent(path) as (folder, name):
            try:
                handle = os.open(name, READ, dir_fd=folder)
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    return handle
                os.close(handle)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENXIO):
                    raise
        raise OSError(errno.EINVAL, f"it is no file any more; {FIND_OUT}")

    async def look(self, path: str) -> TreeEntry | None:
        try:
            with self.parent(path) as (folder, name):
                return entry_at(folder, name, os.stat(name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            return None

    async def listing(self, folder: str) -> dict[str, TreeEntry]:
        return dict(self._listed(folder))

    def _listed(self, folder: str) -> Iterator[tuple[str, TreeEntry]]:
        with self.opened(folder) as handle:
            listed = os.open(".", LISTED, dir_fd=handle)
        try:
            with os.scandir(listed) as found:
                for item in found:
                    try:
                        entry = entry_at(listed, item.name, item.stat(follow_symlinks=False))
                    except FileNotFoundError:  # somebody has removed it in the meantime
                        continue
                    yield item.name, entry
        finally:
            os.close(listed)

    async def tree(self, patterns: Patterns) -> Tree:
        tree = Tree(patterns=patterns, name=f"{printable_path(self.root)} on this machine")
        try:
            base = await self.look(ROOT)
            if base is None:
                return tree
            tree.entries[ROOT], tree.newest = base, int(time.time())  # its times are of this machine's clock
            folders = [ROOT] if base.kind is Kind.DIRECTORY else []
            while folders:
                folders += self._read(tree, folders.pop())
        except OSError as error:
            raise TransferFailed(f"cannot read {printable_path(self.root)}: {error.strerror}") from None
        return tree.finish()

    def _read(self, tree: Tree, folder: str) -> list[str]:
        inner = []
        try:
            for name, entry in self._listed(folder):
                path = join(folder, name)
                tree.meet(path)
                if tree.take(path, entry):
                    inner.append(path)
        except OSError as error:
            if folder == ROOT:
                raise
            tree.cannot_read(folder, str(error.strerror))
        return inner

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        with open(self.open_file(path), "rb", buffering=0) as content:
            yield partial(read_local, content.fileno())

    async def make_parents(self) -> None:
        os.makedirs(os.path.dirname(self.root) or ".", exist_ok=True)

    async def make_directory(self, path: str, entry: TreeEntry) -> None:
        try:
            with self.parent(path) as (folder, name):
                os.mkdir(name, 0o777 if entry.mode is None else entry.mode | OWNER, dir_fd=folder)
        except FileExistsError:  # it is no failure if another run has made it
            if not await has_directory(self, path):
                raise

    async def make_link(self, path: str, entry: TreeEntry, new: bool) -> None:
        """Make a symbolic link; one that is not ``new`` takes the place of one that is there."""
        with self.parent(path) as (folder, name):
            temporary = temporary_path("")
            os.symlink(str(entry.target), temporary, dir_fd=folder)
            put_in_place(folder, temporary, name)

    def share(self, earlier: Local, path: str) -> None:
        """Make a file of an earlier copy one of this tree as well, by a hard link."""
        above = posixpath.dirname(path).split("/")
        for depth in range(1, len(above) + 1) if above[0] else ():
            with self.parent("/".join(above[:depth])) as (folder, name), suppress(FileExistsError):
                os.mkdir(name, OWNER, dir_fd=folder)
        with earlier.parent(path) as (old, name), self.parent(path) as (new, _name):
            os.link(name, name, src_dir_fd=old, dst_dir_fd=new, follow_symlinks=False)

    async def set_mode(self, path: str, entry: TreeEntry) -> None:
        """Set permissions. A file with other hard links is copied first: one may be of an earlier copy."""
        mode = entry.mode or 0
        with self.parent(path) as (folder, name):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISREG(found.st_mode) or found.st_nlink == 1:
                change_mode(folder, name, mode)
                return
            with open(self.open_file(path), "rb") as old, replacing(folder, name, PRIVATE) as handle:
                with open(handle, "wb", closefd=False) as new:
                    await asyncio.to_thread(shutil.copyfileobj, old, new)
                os.utime(handle, ns=(found.st_atime_ns, found.st_mtime_ns))
                os.fchmod(handle, mode)

    async def remove(self, path: str, entry: TreeEntry) -> None:
        remove = os.rmdir if entry.kind is Kind.DIRECTORY else os.unlink
        with suppress(FileNotFoundError), self.parent(path) as (folder, name):  # another run was faster
            remove(name, dir_fd=folder)

    async def explain_full_disk(self, error: Exception, path: str, entry: TreeEntry | None) -> str:
        return "no space left on this machine" if getattr(error, "errno", None) in FULL else ""


async def read_local(handle: int, offset: int, length: int) -> bytes:
    data = os.pread(handle, length, offset)
    if len(data) < length:
        raise Unreadable(SHRANK)
    return data


async def write_local(handle: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


async def has_directory(side: Side, path: str) -> bool:
    """Tell whether there is a directory of this very name. One that is spelled otherwise is another's."""
    folder, name = posixpath.split(path)
    there = (await side.listing(folder)).get(name) if name else await side.look(path)
    return there is not None and there.kind is Kind.DIRECTORY


def entry_at(folder: int, name: str, info: os.stat_result) -> TreeEntry:
    mode = info.st_mode
    entry = TreeEntry(kind_of(mode), info.st_size, int(info.st_mtime), stat.S_IMODE(mode))
    return replace(entry, target=os.readlink(name, dir_fd=folder)) if entry.kind is Kind.LINK else entry


@contextmanager
def replacing(folder: int, name: str, mode: int) -> Iterator[int]:
    """Make a file that takes the place of another in an open folder once it is whole; yield its handle."""
    temporary = temporary_path("")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=folder)
    try:
        yield handle
        os.close(os.dup(handle))  # some file systems tell here that it is not whole
        put_in_place(folder, temporary, name)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(handle)


def put_in_place(folder: int, temporary: str, name: str) -> None:
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, GONE) from None


def change_mode(folder: int, name: str, mode: int) -> None:
    try:
        os.chmod(name, mode, dir_fd=folder, follow_symlinks=False)
    except (NotImplementedError, ValueError):  # an old C library has no such call, or it is a link
        handle = os.open(name, READ, dir_fd=folder)
        try:
            os.fchmod(handle, mode)
        finally:
            os.close(handle)


def room_at(path: str) -> tuple[str, int]:
    """Return how many bytes can still be written at a path, after the nearest one above it that is there."""
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    return path, shutil.disk_usage(path).free
