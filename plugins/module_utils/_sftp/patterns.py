# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the paths of a tree with include and exclude patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WILDCARDS = re.compile(r"(\*|\?|\[[^\]/]+\])")


class Patterns:
    """Patterns of the kind that .gitignore files have.

    ``*`` and ``?`` stay within a name, ``**`` crosses directories. A pattern without a slash before its end
    is good for any depth, one with a slash begins at the root of the tree. A closing slash means
    directories only. What matches a directory matches everything below it. ``exclude`` wins.
    """

    def __init__(self, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> None:
        self._include = compile_patterns(include)
        self._exclude = compile_patterns(exclude)
        self._unmatched = {pattern: re.compile(expression(pattern), re.DOTALL) for pattern in exclude}

    def excludes(self, path: str, directory: bool) -> bool:
        """Tell whether the path, and with it all below it, is left out."""
        subject = path + "/" * directory
        if self._exclude is None or not self._exclude.fullmatch(subject):
            return False
        for pattern in [p for p, one in self._unmatched.items() if one.fullmatch(subject)]:
            del self._unmatched[pattern]
        return True

    def includes(self, path: str, directory: bool) -> bool:
        """Tell whether the path takes part for its own sake, not only because of something below it."""
        return self._include is None or bool(self._include.fullmatch(path + "/" * directory))

    @property
    def unused(self) -> list[str]:
        """The patterns that excluded nothing of what was met so far.

        One for something below an excluded directory, where nobody looks, is not among them.
        """
        return [pattern for pattern in self._unmatched if not self._is_shadowed(pattern)]

    def _is_shadowed(self, pattern: str) -> bool:
        folders = pattern_parts(pattern)[:-1]
        above = ("/".join(folders[: depth + 1]) + "/" for depth in range(len(folders)))
        return self._exclude is not None and any(map(self._exclude.fullmatch, above))


def why_no_match(pattern: str) -> str:
    """Say why a pattern can match nothing, whatever a tree holds; nothing is said of one that can."""
    if not any(name.strip(".") for name in pattern_parts(pattern)):
        return "which names nothing; name something in the tree, or leave the pattern out"
    if "//" in pattern:
        return "with an empty part, perhaps from an empty variable; name the part, or write one slash"
    if ".." in pattern_parts(pattern):
        return "and '..' leads out of the tree, where nothing matches; write it relative to the tree"
    return ""


def pattern_parts(pattern: str) -> list[str]:
    """Return the parts of a pattern. A dot at its beginning stands for the root of the tree."""
    names = pattern.strip("/").split("/")
    while pattern.startswith("./") and names[0] in (".", "") and len(names) > 1:
        names = names[1:]
    return names


def compile_patterns(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Return one expression for all patterns, good for paths whose directories end in a slash."""
    expressions = [expression(pattern) for pattern in patterns]
    return re.compile("|".join(expressions), re.DOTALL) if expressions else None


def expression(pattern: str) -> str:
    """Translate one pattern."""
    directories_only = pattern.endswith("/")
    names = pattern_parts(pattern)
    anchored = len(names) > 1 or pattern.startswith(("/", "./"))
    parts = "".join("(?:[^/]+/)*" if name == "**" else f"{name_expression(name)}/" for name in names)
    if names[-1] == "**":
        parts += "[^/]+/"
    body = parts[:-1] + ("/.*" if directories_only else "(?:/.*)?")
    return body if anchored else f"(?:.*/)?{body}"


def name_expression(name: str) -> str:
    """Translate the part of a pattern between two slashes."""
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
