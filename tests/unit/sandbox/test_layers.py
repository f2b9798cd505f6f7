# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The packages of the sandbox import one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosted_sandbox.testing import SANDBOX

#: A package imports only those to its left. A file next to the packages counts as one of them.
ORDER = [
    *("__init__", "clock", "gaps"),
    *("store", "workloads", "engine", "registry", "domain"),
    *("traffic", "api", "sftp", "control", "page", "server"),
    *("testing", "embedded", "pytest_plugin", "__main__"),
]  # fmt: skip
SOURCES = sorted(SANDBOX.rglob("*.py"))


def package_of(path: Path) -> str:
    """Return the folder of the sandbox that a source is in, or its own name outside of one."""
    return path.relative_to(SANDBOX).with_suffix("").parts[0]


def imported(source: str) -> Iterator[str]:
    """Yield the packages of the sandbox that a source imports, anywhere in it."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        own = (name.split(".")[1] for name in names if name.startswith(f"{SANDBOX.name}."))
        yield from (name for name in own if name != "__version__")


def test_every_package_has_its_place() -> None:
    assert {package_of(path) for path in SOURCES} == set(ORDER)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(SANDBOX)))
def test_imports_go_one_way(path: Path) -> None:
    here = package_of(path)
    others = set(imported(path.read_text(encoding="utf-8"))) - {here}
    assert [name for name in others if ORDER.index(name) >= ORDER.index(here)] == []


def test_every_form_of_import_is_seen() -> None:
    source = "import hosted_sandbox.api.app\ndef late():\n    from hosted_sandbox import gaps\n"
    assert list(imported(f"{source}    from hosted_sandbox.store.records import Key\n")) == [
        "api", "gaps", "store",
    ]  # fmt: skip
