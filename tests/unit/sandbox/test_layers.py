# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sources of the sandbox import one way, and what its requirements name."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from hosted_sandbox import __version__
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


PROJECT = SANDBOX.parent
REPOSITORY = PROJECT.parent.parent
#: Paths of the repository, and names that only exist there.
FOREIGN = re.compile(
    r"ansible_collections|galaxy\.yml|\b(?:plugins|roles|playbooks|scripts|extensions)/"
    r"|\btests/|\bdocs/|\.build\b|parents\[[2-9]"
)


def normal(name: str) -> str:
    """Return a distribution's name in the form in which names are compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


def required() -> set[str]:
    """Return the top packages that the sandbox's files import, the standard library's left out."""
    found = set()
    for path in SANDBOX.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {SANDBOX.name}


def test_the_requirements_are_what_is_imported() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["pytest"]]
    listed = {normal(Requirement(line).name) for line in lines}
    distributions = packages_distributions()
    assert listed == {normal(distributions[package][0]) for package in required()}


def test_nothing_leads_into_the_collection() -> None:
    paths = [path for path in PROJECT.rglob("*") if path.suffix in (".py", ".md", ".toml", ".yaml")]
    lines = [(path, line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert paths and [found for found in lines if FOREIGN.search(found[1])] == []


def test_sandbox_collection_and_role_have_one_version() -> None:
    role = yaml.safe_load((REPOSITORY / "roles" / "sandbox" / "vars" / "main.yml").read_text())
    galaxy = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text())
    assert (role["sandbox_version"], galaxy["version"]) == (__version__, __version__)
