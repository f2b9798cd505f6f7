# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents: data that a user wrote, with the line and column of each value, and all that is wrong in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._api.libraries import yaml
from ..._api.text import counted
from ..shared.selectors import check_path
from ..shared.task_errors import Invalid, NoSuchItem

Path = tuple[Any, ...]
"""The keys and numbers that lead to a value: ``("services", "db", "host")``."""


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, and where."""

    path: Path
    message: str


@dataclass
class Document:
    """What a user wrote: the data, where it came from, and what was found wrong so far."""

    data: Any
    source: str
    """The path of the file; empty if it is an option of the task."""
    places: Mapping[Path, tuple[int, int]] = field(default_factory=dict)
    """The line and column of each key and item, both from 1."""
    problems: list[Problem] = field(default_factory=list)
    folder: str = ""
    """The folder of the file, to which the paths in it are relative."""

    def add_problem(self, path: Path, message: str) -> None:
        """Note that something is wrong."""
        self.problems.append(Problem(path, message))

    def check(self) -> None:
        """Raise all problems at once, in the order of the file.

        :raises Invalid: with a line for each.
        """
        if not self.problems:
            return
        found = sorted(self.problems, key=lambda problem: self._place(problem.path) or (0, 0))
        lines = list(dict.fromkeys(f"{self.where(each.path)}: {each.message}" for each in found))
        problems = counted(len(lines), "problem")
        raise Invalid(
            f"the blueprint has {problems}, and nothing was done. {'; '.join(lines)}", problems=lines
        )

    def where(self, path: Path) -> str:
        """Return where a value is: the keys that lead to it, and in a file the line and column."""
        keys = ".".join(map(str, path)) or "the blueprint"
        place = self._place(path)
        return f"{self.source}:{place[0]}:{place[1]}: {keys}" if place else keys

    def _place(self, path: Path) -> tuple[int, int] | None:
        """Return the line and column of a value, or of what it is in if it was not written itself."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path)


def read_document(path: str) -> Document:
    """Read a YAML file. What YAML forgives and a reader would not, such as a key written twice, is a problem.

    :raises NoSuchItem: if the file cannot be read.
    :raises Invalid: if it is not YAML, with the line and column.
    """
    check_path("src", path)
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            text = file.read()
    except (OSError, ValueError) as error:  # not there, or not text
        raise NoSuchItem(f"src {path!r} cannot be read: {error}") from None
    try:
        document = parse_document(text, os.path.basename(path))
    except yaml.YAMLError as error:
        raise Invalid(f"src {path!r} is not valid YAML: {one_line(error)}") from None
    except RecursionError:
        raise Invalid(f"src {path!r} is nested too deeply; no blueprint needs that") from None
    document.folder = os.path.dirname(os.path.abspath(os.path.expanduser(path)))
    return document


def one_line(error: Exception) -> str:
    """Return an error of the parser as one line, without the excerpt, which may hold a secret."""
    mark, said = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None:
        return str(said or type(error).__name__)
    return f"{said} in line {mark.line + 1}, column {mark.column + 1}"


def parse_document(text: str, source: str) -> Document:
    """Parse YAML, keeping the place of each value."""
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(None, source, {(): (1, 1)})
        walk = Walk({(): position(node)})
        document = Document(None, source, walk.places)
        walk.visit(node, ())
        document.problems += walk.problems
        if not document.problems:
            document.data = loader.construct_document(node)
        return document
    finally:
        loader.dispose()


def position(node: Any) -> tuple[int, int]:
    """Return the line and column at which a node begins."""
    return node.start_mark.line + 1, node.start_mark.column + 1


@dataclass
class Walk:
    """Notes the place of each value, and what is wrong and does not show in the data."""

    places: dict[Path, tuple[int, int]]
    problems: list[Problem] = field(default_factory=list)
    above: set[int] = field(default_factory=set)
    """The nodes that the present one is in."""
    done: set[int] = field(default_factory=set)
    """The nodes that were visited. One with an anchor is visited once, however often it is used."""

    def visit(self, node: Any, path: Path) -> None:
        """Visit a node and all below it."""
        if id(node) in self.above:
            self.problems.append(Problem(path, "it holds itself, through an anchor; write it out"))
        if id(node) in self.done:
            return
        self.done.add(id(node))
        self.above.add(id(node))
        if not node.tag.startswith("tag:yaml.org,2002:"):
            self.problems.append(Problem(path, describe_tag(node.tag)))
        if isinstance(node, yaml.MappingNode):
            self.visit_mapping(node.value, path)
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                self.places.setdefault((*path, number), position(item))
                self.visit(item, (*path, number))
        self.above.remove(id(node))

    def visit_mapping(self, pairs: Sequence[tuple[Any, Any]], path: Path) -> None:
        """Visit the keys of a mapping. YAML itself lets the last of two equal keys win in silence."""
        seen: dict[str, int] = {}
        for key, value in pairs:
            if not isinstance(key, yaml.ScalarNode):
                self.problems.append(Problem(path, "a key is a list or a mapping; write a text"))
                continue
            name = str(key.value)
            here = (*path, name)
            line, column = position(key)
            if name in seen:
                twice = f"the key is written twice, also in line {seen[name]}; remove one"
                self.problems.append(Problem(here, twice))
            seen[name] = line
            self.places[here] = line, column
            self.visit(value, here)


def describe_tag(tag: str) -> str:
    """Say what to do about a tag that only Ansible knows, or nobody."""
    if tag in ("!vault", "!vault-encrypted", "!unsafe"):
        return (
            f"{tag} is not decrypted in a file that src names; keep the value in a variable of the play, and "
            "give the whole as the option blueprint"
        )
    return f"the tag {tag} means nothing in a blueprint; remove it"
