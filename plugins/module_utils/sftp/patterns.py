# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which paths of a tree take part: include and exclude patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable

WILDCARDS = re.compile(r"(\*|\?|\[[^\]/]+\])")


class Patterns:
    """Patterns of the kind that .gitignore files have.

    ``*`` and ``?`` stay within a name, ``**`` crosses directories. A pattern without a slash before its end
    is good for any depth, one with a slash begins at the root of the tree. A closing slash means
    directories only. What matches a directory matches everything below it. ``exclude`` wins.
    """

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = compiled(include)
        self._exclude = compiled(exclude)

    def excludes(self, path: str, directory: bool) -> bool:
        """Tell whether the path, and with it all below it, is left out."""
        return self._exclude is not None and bool(self._exclude.fullmatch(path + "/" * directory))

    def includes(self, path: str, directory: bool) -> bool:
        """Tell whether the path takes part for its own sake, not only because of something below it."""
        return self._include is None or bool(self._include.fullmatch(path + "/" * directory))


def compiled(patterns: Iterable[str]) -> re.Pattern[str] | None:
    """Return one expression for all patterns, good for paths whose directories end in a slash."""
    expressions = [expression(pattern) for pattern in patterns]
    return re.compile("|".join(expressions), re.DOTALL) if expressions else None


def expression(pattern: str) -> str:
    """Translate one pattern."""
    directories_only = pattern.endswith("/")
    names = pattern.strip("/").split("/")
    anchored = len(names) > 1 or pattern.startswith("/")
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
