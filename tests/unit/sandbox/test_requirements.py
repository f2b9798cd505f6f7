# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package asks for all that it imports and nothing else, and knows nothing of the collection."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions

import yaml
from packaging.requirements import Requirement

from hosted_sandbox import __version__
from hosted_sandbox.testing import SANDBOX

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


def imported() -> set[str]:
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
    assert listed == {normal(distributions[package][0]) for package in imported()}


def test_nothing_leads_into_the_collection() -> None:
    paths = [path for path in PROJECT.rglob("*") if path.suffix in (".py", ".md", ".toml", ".yaml")]
    lines = [(path, line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    assert paths and [found for found in lines if FOREIGN.search(found[1])] == []


def test_sandbox_collection_and_role_have_one_version() -> None:
    role = yaml.safe_load((REPOSITORY / "roles" / "sandbox" / "vars" / "main.yml").read_text())
    galaxy = yaml.safe_load((REPOSITORY / "galaxy.yml").read_text())
    assert (role["sandbox_version"], galaxy["version"]) == (__version__, __version__)
