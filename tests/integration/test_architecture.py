# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on the architecture is true: its table shows today's imports, and what it names exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from ansible_collections.hosted.services.scripts import architecture
from integration.ansible_run import REPOSITORY
from integration.test_conventions import SOURCES

PAGE = REPOSITORY / "docs" / "architecture.md"
CODE = re.compile(r"`([^`\n]+)`")
NAMES_IN_FILE = re.compile(r"`([\w/.]+\.py)`\s\(((?:[^()`]*`[\w.]+`)+[^()`]*)\)")
"""A file with the names that it defines: the path in code, then the names in parentheses."""
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+|\w+\.(md|py|txt)|Makefile")
NAME = re.compile(r"[A-Za-z]\w*(\.\w+)*")
CALLS_OF_MAKE = re.compile(r"`make ([a-z-]+)`")


def test_the_table_of_packages_is_current() -> None:
    assert architecture.PAGE.read_text() == architecture.page(), "run: make documents"


# --- The page ---------------------------------------------------------------------------------------


def defined(path: Path) -> set[str]:
    """Return what a file defines: functions, classes, constants, and what is in its classes."""

    def names(body: list[ast.stmt], prefix: str = "") -> Iterator[str]:
        for node in body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef):
                yield prefix + node.name
            if isinstance(node, ast.ClassDef):
                yield from names(node.body, f"{node.name}.")
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            yield from (prefix + target.id for target in targets if isinstance(target, ast.Name))

    return set(names(ast.parse(path.read_text()).body))


def mistakes(page: str) -> list[str]:
    """Return what a page names and the repository does not have: paths, names in files, targets of make."""
    spans = set(CODE.findall(page))
    paths = {span for span in spans if PATH.fullmatch(span)}
    # A file may be named again without its folder, as in the next step of a walk.
    again = {path for path in paths if any(other.endswith(f"/{path}") for other in paths)}
    wrong = [path for path in sorted(paths - again) if not list(REPOSITORY.glob(path.replace("NAME", "*")))]
    said = set()
    for name, words in NAMES_IN_FILE.findall(page):
        path = REPOSITORY / name
        there = defined(path) if path.is_file() else set()
        said.update(CODE.findall(words))
        wrong += [f"{name}: {word}" for word in CODE.findall(words) if word not in there]
    sources = "".join(path.read_text() for path in SOURCES)
    words = {word.rpartition(".")[2] for word in filter(NAME.fullmatch, spans - paths - said)}
    known = {*re.findall(r"\w+", sources), *(path.name for path in REPOSITORY.iterdir())}
    wrong += sorted(words - known)
    made = (REPOSITORY / "Makefile").read_text()
    return wrong + [f"make {name}" for name in CALLS_OF_MAKE.findall(page) if f"\n{name}:" not in made]


def test_what_the_page_names_exists() -> None:
    assert mistakes(PAGE.read_text()) == []
