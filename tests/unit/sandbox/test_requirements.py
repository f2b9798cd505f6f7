# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What users have to install: the list beside the sandbox names all that it imports, and nothing else."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions

from packaging.requirements import Requirement

from hosted_sandbox.testing import SANDBOX


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
    lines = (SANDBOX.parent / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = {normal(Requirement(line).name) for line in lines if line and not line.startswith("#")}
    distributions = packages_distributions()
    assert listed == {normal(distributions[package][0]) for package in imported()}
