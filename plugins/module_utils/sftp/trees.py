# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory with all that is below it, or a single file, as data: here and on the server."""

from __future__ import annotations

import asyncio
import os
import posixpath
import re
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from .errors import TransferFailed
from .library import asyncssh
from .patterns import Patterns

TEMPORARY = re.compile(r"\.hosted-[0-9a-f]{16}\.part")
"""The names that files have until they are whole."""
LISTINGS_AT_ONCE = 32
ROOT = ""


class Kind(Enum):
    """What an entry is. Symbolic links are never followed; what is none of the first three is left alone."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "special file"


@dataclass(frozen=True)
class Entry:
    """One entry. Size in bytes, time of change in whole seconds, mode as permission bits."""

    kind: Kind
    size: int = 0
    mtime: int = 0
    mode: int | None = None
    target: str | None = None
    """Where a symbolic link points."""


@dataclass
class Tree:
    """The entries by path relative to the root, whose own path is empty. Names that are not UTF-8 are kept.

    ``protected`` are directories with something below them that takes no part, so they have to stay.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    leftovers: list[str] = field(default_factory=list)
    """Half-written files of a transfer that broke off."""

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def take(self, path: str, entry: Entry, patterns: Patterns) -> bool:
        """Note an entry that was met; return whether it is a directory to look into."""
        directory = entry.kind is Kind.DIRECTORY
        if not directory and TEMPORARY.fullmatch(posixpath.basename(path)):
            self.leftovers.append(path)
            return False
        if patterns.excludes(path, directory) or entry.kind is Kind.OTHER:
            self.protect(path)
            return False
        if directory or patterns.includes(path, directory):
            self.entries[path] = entry
        else:
            self.protect(path)
        return directory

    def protect(self, path: str) -> None:
        """Keep the directories above something that takes no part."""
        while path:
            path = posixpath.dirname(path)
            self.protected.add(path)

    def prune(self, patterns: Patterns) -> None:
        """Drop the directories that take no part: neither they nor anything below them is included."""
        needed = {ROOT}
        for path, entry in self.entries.items():
            if patterns.includes(path, entry.kind is Kind.DIRECTORY):
                above = path
                while above not in needed:
                    needed.add(above)
                    above = posixpath.dirname(above)
        self.entries = {path: entry for path, entry in self.entries.items() if path in needed}


def join(root: str, path: str) -> str:
    """Return where an entry of a tree lies."""
    return posixpath.join(root, path) if path else root


# --- Here ---------------------------------------------------------------------------------------------


def local_tree(root: str, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
    """Read a tree of this machine; an empty one where there is nothing. ``skip`` hears what is left out.

    :raises TransferFailed: when a directory cannot be read.
    """
    tree = Tree()
    try:
        base = local_root(root)
        if base is None:
            return tree
        tree.entries[ROOT] = base
        folders = [ROOT] if base.kind is Kind.DIRECTORY else []
        while folders:
            folder = folders.pop()
            with os.scandir(os.path.join(root, folder)) as found:
                for item in found:
                    path = join(folder, item.name)
                    entry = local_entry(item.path, item.stat(follow_symlinks=False))
                    if tree.take(path, entry, patterns):
                        folders.append(path)
                    elif entry.kind is Kind.OTHER:
                        skip(path, "it is neither a file, a directory nor a link")
    except OSError as error:
        raise TransferFailed(f"cannot read {shown(str(error.filename))}: {error.strerror}") from None
    tree.prune(patterns)
    return tree


def local_root(root: str) -> Entry | None:
    """Return what stands at the root; a link that the user named is followed."""
    try:
        return local_entry(root, os.stat(root))
    except FileNotFoundError:
        return local_entry(root, os.lstat(root)) if os.path.islink(root) else None


def local_entry(path: str, info: os.stat_result) -> Entry:
    """Read what ``lstat`` told."""
    kind = kind_of(info.st_mode)
    target = os.readlink(path) if kind is Kind.LINK else None
    return Entry(kind, info.st_size, int(info.st_mtime), stat.S_IMODE(info.st_mode) & 0o777, target)


# --- On the server ------------------------------------------------------------------------------------


async def remote_tree(sftp: Any, root: str, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
    """Read a tree of the server; an empty one where there is nothing. ``skip`` hears what is left out."""
    tree = Tree()
    base = await remote_root(sftp, root)
    if base is None:
        return tree
    tree.entries[ROOT] = base
    at_once = asyncio.Semaphore(LISTINGS_AT_ONCE)

    async def look_into(folder: str) -> None:
        async with at_once:
            names = await sftp.readdir(encoded(join(root, folder)))
        inner = []
        for item in names:
            if item.filename in (b".", b".."):
                continue
            path = join(folder, checked(item.filename))
            entry = await remote_entry(sftp, join(root, path), item.attrs)
            if tree.take(path, entry, patterns):
                inner.append(path)
            elif entry.kind is Kind.OTHER:
                skip(path, "it is neither a file, a directory nor a link")
        await gather(*(look_into(path) for path in inner))

    if base.kind is Kind.DIRECTORY:
        await look_into(ROOT)
    tree.prune(patterns)
    return tree


async def remote_root(sftp: Any, root: str) -> Entry | None:
    """Return what stands at the root; a link that the user named is followed."""
    try:
        return await remote_entry(sftp, root, await sftp.stat(encoded(root)))
    except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
        pass
    try:
        return await remote_entry(sftp, root, await sftp.lstat(encoded(root)))
    except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
        return None


async def remote_entry(sftp: Any, path: str, attributes: Any) -> Entry:
    """Read what the server tells about an entry."""
    kind = kind_of(attributes.permissions or 0)
    target = await remote_target(sftp, path) if kind is Kind.LINK else None
    mode = (attributes.permissions or 0) & 0o777
    return Entry(kind, attributes.size or 0, attributes.mtime or 0, mode, target)


async def remote_target(sftp: Any, path: str) -> str | None:
    """Return where a link on the server points, ``None`` when the server does not tell.

    Some servers tell an absolute path for any link; below the directory where the session began, that is
    made relative to the link again.
    """
    try:
        target: str = (await sftp.readlink(encoded(path))).decode("utf-8", "surrogateescape")
        if not target.startswith("/"):
            return target
        start, folder = [
            (await sftp.realpath(encoded(place))).decode("utf-8", "surrogateescape")
            for place in (".", posixpath.dirname(path) or ".")
        ]
    except asyncssh.SFTPError:
        return None
    inside = target.startswith(start.rstrip("/") + "/")
    return posixpath.relpath(target, folder) if inside else target


def checked(name: bytes) -> str:
    """Return a name that a server sent, unless it would lead out of its directory.

    :raises TransferFailed: for such a name: no honest server sends one.
    """
    if not name or b"/" in name or b"\0" in name:
        raise TransferFailed(f"the server sent a file name that is none: {name!r}; nothing was done")
    return name.decode("utf-8", "surrogateescape")


# --- Both ---------------------------------------------------------------------------------------------


def kind_of(mode: int) -> Kind:
    """Read the kind out of a mode with its type bits."""
    kinds = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK}
    return kinds.get(stat.S_IFMT(mode), Kind.OTHER)


def encoded(path: str) -> bytes:
    """Return a path as it goes over the wire."""
    return path.encode("utf-8", "surrogateescape")


def shown(path: str) -> str:
    """Return a path for people and JSON: what is not UTF-8, and what would steer a terminal, is escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


async def gather(*works: Any) -> None:
    """Do all at once. The first error ends the others and is raised, once they have cleaned up."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        # Unlike the loop's own gather this leaves them alone when it is called off: to be called off twice
        # would end them in the middle of cleaning up.
        if tasks:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
