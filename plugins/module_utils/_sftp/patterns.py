# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Select the paths of a tree with include and exclude patterns."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
