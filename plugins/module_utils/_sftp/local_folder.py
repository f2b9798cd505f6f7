# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of this machine that is opened once, and all below it through descriptors, along no link.

Other users may change what is in it meanwhile, and names come from a server. A path that the system walks by
itself goes wherever a link in it leads; here each folder is opened from the one above it instead.
"""

from __future__ import annotations

import errno
import os
import posixpath
import shutil
import stat
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from .errors import TransferFailed
from .patterns import Patterns
from .trees import GONE, ROOT, Kind, Tree, TreeEntry, join, kind_of, printable_path, temporary_path

FOLDER = os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
"""How a folder is opened for what it holds. On Linux, that takes no permission to list it."""
LISTED = os.O_DIRECTORY | os.O_RDONLY
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""How a file is opened: never a link in its place, and without waiting at a pipe."""
FIND_OUT = "find out what put something else in its place, then run this again"


class LocalFolder:
    """The root of a tree, which may be a single file. Paths are relative to it.

    What the user named may be a link to a folder, or lie below links. They are followed once, at first.
    """

    def __init__(self, root: str) -> None:
        self.root = root
        self._above, self._name = os.path.split(os.path.abspath(root))
        self._kept: dict[str, int] = {}
        self._follow = 0

    def _keep(self, path: str, flags: int) -> int:
        """Open a folder for as long as this object is there."""
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
        """Open a folder; yield its descriptor.

        :raises NotADirectoryError: if there is a link on the way, or another thing that is none.
        """
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
        """Open a file to read it; return its descriptor."""
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

    def look(self, path: str) -> TreeEntry | None:
        """Return what is at a path, and where a link leads; ``None`` if there is nothing."""
        try:
            with self.parent(path) as (folder, name):
                return entry_at(folder, name, os.stat(name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            return None

    def listing(self, folder: str) -> Iterator[tuple[str, TreeEntry]]:
        """Yield what a folder holds."""
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

    def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read all; an empty tree where there is nothing. ``skip`` hears what is left out."""
        tree = Tree(patterns=patterns, name=f"{printable_path(self.root)} on this machine")
        try:
            base = self.look(ROOT)
            if base is None:
                return tree
            tree.entries[ROOT] = base
            folders = self._read(tree, ROOT, skip) if base.kind is Kind.DIRECTORY else []
        except OSError as error:
            raise TransferFailed(f"cannot read {printable_path(self.root)}: {error.strerror}") from None
        while folders:
            folder = folders.pop()
            try:
                folders += self._read(tree, folder, skip)
            except OSError as error:
                tree.cannot_read(folder, str(error.strerror))
        tree.prune(patterns)
        return tree

    def _read(self, tree: Tree, folder: str, skip: Callable[[str, str], None]) -> list[str]:
        """Note what a folder holds; return the folders in it that are to be looked into."""
        inner = []
        for name, entry in self.listing(folder):
            path = join(folder, name)
            tree.meet(path)
            if tree.take(path, entry, skip):
                inner.append(path)
        return inner


def entry_at(folder: int, name: str, info: os.stat_result) -> TreeEntry:
    """Read what ``lstat`` told of an entry of an open folder."""
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
    """Rename a temporary file.

    :raises FileNotFoundError: saying what may have removed it.
    """
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, GONE) from None


def change_mode(folder: int, name: str, mode: int) -> None:
    """Set the permissions of an entry of an open folder that is no link."""
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
