# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A directory with all that is below it, or a single file, as data, and patterns of what takes part."""

from __future__ import annotations

import posixpath
import re
import secrets
import stat
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from .errors import TransferFailed

WILDCARDS = re.compile(r"(\*|\?|\[[^\]/]+\])")


class Patterns:
    """Patterns of the kind that .gitignore files have.

    ``*`` and ``?`` stay within a name, ``**`` crosses directories. A pattern without a slash before its end
    is good for any depth, one with a slash begins at the root of the tree. A closing slash means
    directories only. What matches a directory matches everything below it. ``exclude`` wins.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = [re.compile(expression(pattern), re.DOTALL) for pattern in include]
        self._exclude = {pattern: re.compile(expression(pattern), re.DOTALL) for pattern in exclude}
        self._matched: set[str] = set()

    def excludes(self, path: str, directory: bool) -> bool:
        subject = path + "/" * directory
        matching = [pattern for pattern, one in self._exclude.items() if one.fullmatch(subject)]
        self._matched.update(matching)
        return bool(matching)

    def includes(self, path: str, directory: bool) -> bool:
        """Tell whether the path takes part for its own sake, not only because of something below it."""
        subject = path + "/" * directory
        return not self._include or any(one.fullmatch(subject) for one in self._include)

    @property
    def unused(self) -> list[str]:
        """The patterns that excluded nothing of what was met. Below an excluded directory, nothing is met."""
        idle = [pattern for pattern in self._exclude if pattern not in self._matched]
        return [pattern for pattern in idle if not self._is_shadowed(pattern)]

    def _is_shadowed(self, pattern: str) -> bool:
        folders = pattern_parts(pattern)[:-1]
        above = ("/".join(folders[: depth + 1]) + "/" for depth in range(len(folders)))
        return any(one.fullmatch(path) for path in above for one in self._exclude.values())


def why_no_match(pattern: str) -> str:
    """Say why a pattern can match nothing, whatever a tree holds; nothing is said of one that can."""
    if not any(name.strip(".") for name in pattern_parts(pattern)):
        return "which names nothing; name something in the tree, or leave the pattern out"
    if "//" in pattern:
        return "with an empty part, perhaps from an empty variable; name the part, or write one slash"
    if ".." in pattern_parts(pattern):
        return "and '..' leads out of the tree, where nothing matches; write it relative to the tree"
    try:
        re.compile(expression(pattern))
    except re.error:
        return "in which a range ends before it begins; write it as in [a-z]"
    return ""


def pattern_parts(pattern: str) -> list[str]:
    """Return the parts of a pattern. A dot at its beginning stands for the root of the tree."""
    names = pattern.strip("/").split("/")
    while pattern.startswith("./") and names[0] in (".", "") and len(names) > 1:
        names = names[1:]
    return names


def expression(pattern: str) -> str:
    directories_only = pattern.endswith("/")
    names = pattern_parts(pattern)
    anchored = len(names) > 1 or pattern.startswith(("/", "./"))
    parts = "".join("(?:[^/]+/)*" if name == "**" else f"{name_expression(name)}/" for name in names)
    if names[-1] == "**":
        parts += "[^/]+/"
    body = parts[:-1] + ("/.*" if directories_only else "(?:/.*)?")
    return body if anchored else f"(?:.*/)?{body}"


def name_expression(name: str) -> str:
    words = []
    for word in WILDCARDS.split(name):
        if word == "*":
            words.append("[^/]*")
        elif word == "?":
            words.append("[^/]")
        elif WILDCARDS.fullmatch(word):
            inner = word[1:-1].replace("\\", "\\\\")
            words.append(f"(?!/)[{'^' + inner[1:] if inner[0] == '!' else inner}]")
        else:
            words.append(re.escape(word))
    return "".join(words)


# --- Trees --------------------------------------------------------------------------------------------


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
MOST_ENTRIES, MOST_LEVELS, MOST_BYTES = 2_000_000, 128, 2**44
"""How many entries a tree may have, how deep, and the sum of its sizes, 16 TiB: far above ordinary work."""
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
    resolved: bool = False
    """True if the server returned the resolved place of ``target`` only, and not how it is written."""


@dataclass
class Tree:
    """The entries by path relative to the root, whose own path is empty; names need not be UTF-8."""

    entries: dict[str, TreeEntry] = field(default_factory=dict)
    patterns: Patterns = field(default_factory=Patterns, compare=False)
    name: str = field(default="the tree", compare=False)
    protected: set[str] = field(default_factory=set)
    """Directories with something below them that takes no part, so that they have to stay."""
    excluded: set[str] = field(default_factory=set)
    """Entries that a pattern excludes, without those below them."""
    left_out: dict[str, str] = field(default_factory=dict)
    """Why entries take no part although no pattern excludes them, such as sockets and unfinished files."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Directories whose content is not known, with the reason."""
    leftovers: list[str] = field(default_factory=list)
    """Half-written files of a transfer that broke off, and files that were replaced by then."""
    temporary: dict[str, int] = field(default_factory=dict)
    """When unfinished files were last written to, in seconds since 1970; 0 where that is not shown."""
    newest: int = 0
    """When anything in the tree was last written to, in the same way."""
    met: int = field(default=0, compare=False)
    """How many entries were listed, whether or not they take part."""

    def __contains__(self, path: str) -> bool:
        return path in self.entries

    def meet(self, path: str) -> None:
        """Count an entry that was listed, and refuse more or deeper ones than any tree may have."""
        self.met += 1
        if self.met > MOST_ENTRIES:
            what = f"has more than {MOST_ENTRIES} entries"
        elif path.count("/") >= MOST_LEVELS:
            what = f"is more than {MOST_LEVELS} levels deep, at {printable_path(path)[:SHOWN]}..."
        else:
            return
        raise TransferFailed(f"{self.name} {what}, the most that is copied. Copy parts of it, or tidy it up")

    def take(self, path: str, entry: TreeEntry) -> bool:
        """Note an entry that was met; return whether it is a directory to look into."""
        directory = entry.kind is Kind.DIRECTORY
        self.newest = max(self.newest, entry.mtime)
        if not directory and TEMPORARY.fullmatch(posixpath.basename(path)):
            self.temporary[path] = entry.mtime
            return False
        named = path if directory else original_path(path)  # what was put aside belongs where it was
        excluded = self.patterns.excludes(named, directory)
        if excluded:
            self.excluded.add(path)
        if entry.kind is Kind.OTHER:
            self.leave_out(path, "it is neither a file, a directory nor a link")
        elif excluded or not (directory or self.patterns.includes(named, directory)):
            self.protect(path)
        else:
            self.entries[path] = entry
            return directory
        return False

    def leave_out(self, path: str, why: str) -> None:
        self.left_out[path] = why
        self.protect(path)

    def protect(self, path: str) -> None:
        """Keep the directories above something that takes no part."""
        self.protected.update(above(path))

    def cannot_read(self, path: str, reason: str) -> None:
        self.unreadable[path] = reason
        self.protect(join(path, "unknown"))

    def finish(self) -> Tree:
        """Return the tree without what takes no part: that are directories of which nothing is included.

        An unfinished file is a leftover if something was written an hour after it, by the clock of the tree.
        A file that was put aside is one once something is in its place; until then it may be all that there
        is of that file.
        """
        now = min(self.newest, time.time())
        for path, mtime in self.temporary.items():
            if 0 < mtime < now - STALE_AFTER:  # 0 is that of a server that shows none
                self.leftovers.append(path)
            else:
                self.leave_out(path, "a transfer may be writing it")
        needed = {ROOT}
        for path, entry in list(self.entries.items()):
            directory, original = entry.kind is Kind.DIRECTORY, original_path(path)
            if original != path and original in self and not directory:
                self.leftovers.append(path)
                del self.entries[path]
            elif self.patterns.includes(path if directory else original, directory):
                needed.update((path, *above(path)))
        self.entries = {path: entry for path, entry in self.entries.items() if path in needed}
        return self


def original_path(path: str) -> str:
    """Return the path that a file had before it was put aside; its own if it was not."""
    found = ASIDE.fullmatch(posixpath.basename(path))
    return join(posixpath.dirname(path), found[1]) if found else path


def temporary_path(path: str) -> str:
    return join(posixpath.dirname(path), f".hosted-{secrets.token_hex(8)}.part")


def aside_path(path: str) -> str:
    """Return a name for a file while another takes its place; it may be all there is of that file."""
    folder, name = posixpath.split(path)
    start = encode_path(name)[:LONGEST_START].decode("utf-8", "surrogateescape")
    return join(folder, f"{start}.hosted-{secrets.token_hex(8)}.old")


def join(root: str, path: str) -> str:
    return posixpath.join(root, path) if path else root


def above(path: str) -> Iterator[str]:
    while path:
        path = posixpath.dirname(path)
        yield path


def within(path: str, places: Container[str]) -> bool:
    return path in places or any(folder in places for folder in above(path))


def kind_of(mode: int) -> Kind:
    kinds = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.DIRECTORY, stat.S_IFLNK: Kind.LINK}
    return kinds.get(stat.S_IFMT(mode), Kind.OTHER)


def encode_path(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def printable_path(path: str) -> str:
    """Return a path for people and JSON: what is not UTF-8, and what would steer a terminal, is escaped."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
