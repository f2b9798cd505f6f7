# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory with all that is below it, or a single file, as data: here and on the server."""

from __future__ import annotations

import asyncio
import posixpath
import re
import secrets
import stat
import time
from collections.abc import Awaitable, Callable, Container, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from .._api.text import clean
from .errors import TransferFailed
from .library import asyncssh
from .patterns import Patterns

T = TypeVar("T")

TEMPORARY = re.compile(r"\.hosted-[0-9a-f]{16}\.part")
"""The names that files have until they are whole."""
ASIDE = re.compile(r"(.+)\.hosted-[0-9a-f]{16}\.old", re.DOTALL)
"""The names that files have while another takes their place, on servers that do not rename over a file."""
STALE_AFTER = 3600
"""The seconds without a write after which a temporary file is nobody's."""
GONE = (
    "its temporary file or its folder is gone; another run may be writing to the same folder. Run this again "
    "once that one has ended, or give each run a folder of its own"
)
LONGEST_START = 255 - len(".hosted-0123456789abcdef.old")
"""How many bytes of a name fit before what is added to it."""
LISTINGS_AT_ONCE = 32
MOST_ENTRIES, MOST_LEVELS, MOST_BYTES = 2_000_000, 128, 2**44
"""How many entries a tree may have, how deep, and the sum of its sizes, 16 TiB: far above ordinary work."""
LONGEST_NAME = 1024
"""The bytes of a name. No file system takes as many."""
SHOWN = 60
"""The characters of a path without end that a message shows."""
ROOT = ""


class Kind(Enum):
    """The kind of an entry. Symbolic links are never followed; special files are left alone."""

    FILE = "file"
    DIRECTORY = "directory"
    LINK = "link"
    OTHER = "special file"


@dataclass(frozen=True)
class TreeEntry:
    """One entry. Size in bytes, time of change in whole seconds, mode with the special bits."""

    kind: Kind
    size: int = 0
    mtime: int = 0
    mode: int | None = None
    target: str | None = None
    """The target of a symbolic link."""
    resolved: bool = False
    """True if the server returned the resolved place of ``target`` only, and not how it is written."""


@dataclass
class Tree:
    """The entries by path relative to the root, whose own path is empty. Names that are not UTF-8 are kept.

    ``protected`` are directories with something below them that takes no part, so they have to stay.
    """

    entries: dict[str, TreeEntry] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    leftovers: list[str] = field(default_factory=list)
    """Half-written files of a transfer that broke off, and files that were replaced by then."""
    left_out: set[str] = field(default_factory=set)
    """Entries that take no part although no pattern excludes them, such as sockets and unfinished files."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Directories whose content is not known, with the reason."""
    patterns: Patterns = field(default_factory=Patterns, compare=False)
    """The patterns that the tree was read with."""
    excluded: set[str] = field(default_factory=set)
    """Entries that a pattern excludes, without those below them."""
    name: str = field(default="the tree", compare=False)
    """How messages call it."""
    met: int = field(default=0, compare=False)
    """How many entries were listed, whether or not they take part."""

    def meet(self, path: str) -> None:
        """Count an entry that was listed.

        :raises TransferFailed: if there are more, or one lies deeper, than any tree may have.
        """
        self.met += 1
        if self.met > MOST_ENTRIES:
            what = f"has more than {MOST_ENTRIES} entries"
        elif path.count("/") >= MOST_LEVELS:
            what = f"is more than {MOST_LEVELS} levels deep, at {printable_path(path)[:SHOWN]}..."
        else:
            return
        raise TransferFailed(f"{self.name} {what}, the most that is copied. Copy parts of it, or tidy it up")

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def take(self, path: str, entry: TreeEntry, skip: Callable[[str, str], None]) -> bool:
        """Note an entry that was met; return whether it is a directory to look into.

        ``skip`` hears of one that is left out.
        """
        directory = entry.kind is Kind.DIRECTORY
        if not directory and TEMPORARY.fullmatch(posixpath.basename(path)):
            if 0 < entry.mtime < time.time() - STALE_AFTER:  # 0 is that of a server that shows none
                self.leftovers.append(path)
            else:
                self.leave_out(path, "a transfer may be writing it", skip)
            return False
        named = path if directory else original_path(path)  # what was put aside belongs where it was
        excluded = self.patterns.excludes(named, directory)
        if excluded:
            self.excluded.add(path)
        if entry.kind is Kind.OTHER:
            self.leave_out(path, "it is neither a file, a directory nor a link", skip)
        elif excluded or not (directory or self.patterns.includes(named, directory)):
            self.protect(path)
        else:
            self.entries[path] = entry
            return directory
        return False

    def leave_out(self, path: str, why: str, skip: Callable[[str, str], None]) -> None:
        """Note an entry that takes no part although no pattern excludes it."""
        self.left_out.add(path)
        self.protect(path)
        skip(path, why)

    def protect(self, path: str) -> None:
        """Keep the directories above something that takes no part."""
        self.protected.update(above(path))

    def cannot_read(self, path: str, reason: str) -> None:
        """Note a directory that could not be read, and keep it with those above it."""
        self.unreadable[path] = reason
        self.protect(join(path, "unknown"))

    def prune(self, patterns: Patterns) -> None:
        """Drop the directories that take no part: neither they nor anything below them is included.

        A file that was put aside is a leftover once something is in its place; until then it may be all
        that there is of that file.
        """
        replaced = [path for path in self.entries if self._is_replaced(path)]
        self.leftovers += replaced
        for path in replaced:
            del self.entries[path]
        needed = {ROOT}
        for path, entry in self.entries.items():
            directory = entry.kind is Kind.DIRECTORY
            if patterns.includes(path if directory else original_path(path), directory):
                needed.update((path, *above(path)))
        self.entries = {path: entry for path, entry in self.entries.items() if path in needed}

    def _is_replaced(self, path: str) -> bool:
        original = original_path(path)
        return original != path and original in self and self.entries[path].kind is not Kind.DIRECTORY


def original_path(path: str) -> str:
    """Return the path that a file had before it was put aside; its own if it was not."""
    found = ASIDE.fullmatch(posixpath.basename(path))
    return join(posixpath.dirname(path), found[1]) if found else path


def temporary_path(path: str) -> str:
    """Return a name for the time in which the file at ``path`` is not whole yet."""
    return join(posixpath.dirname(path), f".hosted-{secrets.token_hex(8)}.part")


def aside_path(path: str) -> str:
    """Return a name for the file at ``path`` while another takes its place.

    It tells which file it is, as after a broken connection it may be all that there is of it.
    """
    folder, name = posixpath.split(path)
    start = encode_path(name)[:LONGEST_START].decode("utf-8", "surrogateescape")
    return join(folder, f"{start}.hosted-{secrets.token_hex(8)}.old")


def join(root: str, path: str) -> str:
    """Return where an entry of a tree lies."""
    return posixpath.join(root, path) if path else root


def above(path: str) -> Iterator[str]:
    """Yield the directories that a path lies in, the root last."""
    while path:
        path = posixpath.dirname(path)
        yield path


def within(path: str, places: Container[str]) -> bool:
    """Tell whether a path is one of these places or lies below one."""
    while path:
        if path in places:
            return True
        path = posixpath.dirname(path)
    return ROOT in places


# --- On the server ------------------------------------------------------------------------------------


async def remote_tree(sftp: Any, root: str, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
    """Read a tree of the server; an empty one where there is nothing. ``skip`` hears what is left out."""
    tree = Tree(patterns=patterns, name=f"{printable_path(root)} on the service")
    base = await remote_root(sftp, root)
    if base is None:
        return tree
    tree.entries[ROOT] = base
    at_once = asyncio.Semaphore(LISTINGS_AT_ONCE)

    async def look_into(folder: str) -> None:
        async with at_once:
            names = await list_remote(sftp, root, folder, tree)
        inner = []
        for name, attributes in names.items():
            path = join(folder, name)
            entry = await remote_entry(sftp, join(root, path), attributes)
            if tree.take(path, entry, skip):
                inner.append(path)
        await run_all(*(look_into(path) for path in inner))

    if base.kind is Kind.DIRECTORY:
        await look_into(ROOT)
    tree.prune(patterns)
    return tree


async def list_remote(sftp: Any, root: str, folder: str, tree: Tree) -> dict[str, Any]:
    """Return what a server lists of a directory, by name.

    Where it cannot be read, that is nothing, and a note in ``tree``.

    OpenSSH lists nothing, not even the directory itself, of one that may be listed and not entered. Taken for
    an empty one, it would have what it holds deleted on the other side.

    :raises TransferFailed: when it is the root.
    """
    place = join(root, folder)
    try:
        names = await read_names(sftp, place, folder, tree)
        if not names:
            await sftp.stat(encode_path(join(place, ".")))
    except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
        raise
    except asyncssh.SFTPError as error:
        reason = clean(str(error))
        if folder == ROOT:
            raise TransferFailed(f"cannot read {printable_path(place)} on the service: {reason}") from None
        tree.cannot_read(folder, reason)
        return {}
    return {name: attributes for name, attributes in names.items() if name not in (".", "..")}


async def read_names(sftp: Any, place: str, folder: str, tree: Tree) -> dict[str, Any]:
    """Return what a server lists of a directory, by name. ``tree`` counts it.

    A file that is replaced meanwhile may be listed as what it was, and as what it is: then the first counts.

    :raises TransferFailed: for a name that cannot be one, and for one name of two kinds.
    """
    names: dict[str, Any] = {}
    async with aclosing(sftp.scandir(encode_path(place))) as listed:
        async for item in listed:
            tree.meet(join(folder, "."))
            name = check_entry_name(item.filename)
            first = kind_of(names.setdefault(name, item.attrs).permissions or 0)
            kind = kind_of(item.attrs.permissions or 0)
            if first is not kind:
                raise TransferFailed(
                    f"the server lists '{printable_path(join(folder, name))}' twice, as a {first.value} and "
                    f"as a {kind.value}. If something changed it just then, run this again"
                )
    return names


async def remote_root(sftp: Any, root: str) -> TreeEntry | None:
    """Return what stands at the root; a link that the user named is followed."""
    for look in (sftp.stat, sftp.lstat):
        try:
            return await remote_entry(sftp, root, await look(encode_path(root)))
        except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath):
            continue
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
            raise
        except asyncssh.SFTPError as error:
            reason = clean(str(error))
            raise TransferFailed(f"cannot read {printable_path(root)} on the service: {reason}") from None
    return None


async def remote_entry(sftp: Any, path: str, attributes: Any) -> TreeEntry:
    """Read what the server tells about an entry."""
    entry = shown_entry(attributes)
    target, resolved = await remote_target(sftp, path) if entry.kind is Kind.LINK else (None, False)
    return replace(entry, target=target, resolved=resolved)


def shown_entry(attributes: Any) -> TreeEntry:
    """Read what the server tells about an entry, without the target of a link.

    :raises TransferFailed: for a file without a size, which tells whether all of it arrived.
    """
    mode = attributes.permissions or 0
    kind = kind_of(mode)
    if kind is Kind.FILE and attributes.size is None:
        raise TransferFailed(
            "the server does not show the sizes of files, so it cannot be known whether all of one arrives. "
            "Copy them with another program"
        )
    return TreeEntry(kind, attributes.size or 0, attributes.mtime or 0, stat.S_IMODE(mode))


async def remote_target(sftp: Any, path: str) -> tuple[str | None, bool]:
    """Return where a link points, ``None`` when the server does not show, and whether it was put otherwise.

    Some servers tell an absolute path for any link; below the directory where the session began, that is
    made relative to the link again.
    """
    try:
        target: str = (await sftp.readlink(encode_path(path))).decode("utf-8", "surrogateescape")
        if not target.startswith("/"):
            return target, False
        start, folder = [
            (await sftp.realpath(encode_path(place))).decode("utf-8", "surrogateescape")
            for place in (".", posixpath.dirname(path) or ".")
        ]
    except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
        raise
    except asyncssh.SFTPError:
        return None, False
    inside = target.startswith(start.rstrip("/") + "/")
    return (posixpath.relpath(target, folder), True) if inside else (target, False)


def check_entry_name(name: bytes) -> str:
    """Return a name that a server sent, unless it would lead out of its directory.

    :raises TransferFailed: for such a name: no honest server sends one.
    """
    if not name or len(name) > LONGEST_NAME or b"/" in name or b"\0" in name:
        shown = name[:SHOWN]
        raise TransferFailed(f"the server sent an invalid file name: {shown!r}; nothing was done")
    return name.decode("utf-8", "surrogateescape")


# --- Both ---------------------------------------------------------------------------------------------


def kind_of(mode: int) -> Kind:
    """Read the kind out of a mode with its type bits."""
    kinds = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK}
    return kinds.get(stat.S_IFMT(mode), Kind.OTHER)


def encode_path(path: str) -> bytes:
    """Return a path as it goes over the wire."""
    return path.encode("utf-8", "surrogateescape")


def printable_path(path: str) -> str:
    """Return a path for people and JSON: what is not UTF-8, and what would steer a terminal, is escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


async def unless_refused(request: Awaitable[T], otherwise: T) -> T:
    """Return what a side answers, or ``otherwise`` if it refuses. A lost connection is raised."""
    try:
        return await request
    except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection):
        raise
    except (asyncssh.SFTPError, OSError):
        return otherwise


async def run_all(*works: Any) -> None:
    """Do all at once. The first error ends the others and is raised, once they have cleaned up."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
