# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents on the sandbox are current, and agree with the specification."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from ansible_collections.hosted.services.scripts.sources import ROOT
from hosted_sandbox.api.app import openapi, table
from hosted_sandbox.domain.errors import STATED
from hosted_sandbox.gaps import POINTS, page
from hosted_sandbox.testing import SANDBOX
from specification import HERE, SPECIFIED
from unit.sandbox.test_rules import SHOWN

ROUTES = {(line.method, line.path) for line in SPECIFIED}
DOCUMENTS = ROOT / "docs" / "sandbox"
RULES = DOCUMENTS / "rules.md"


def test_the_table_of_gaps_is_current() -> None:
    assert (DOCUMENTS / "gaps.md").read_text(encoding="utf-8") == page(), "make documents"


def test_the_routes_are_those_of_the_specification() -> None:
    routes = {(route.method, route.template) for route in table().routes}
    assert routes == ROUTES, f"compare with {HERE}"
    paths = openapi()["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == ROUTES


def marked(path: Path) -> set[str]:
    """Return the rules that the tests of a file are marked with."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    marks = [node for node in calls if ast.unparse(node.func) == "pytest.mark.rule"]
    return {str(ast.literal_eval(argument)) for mark in marks for argument in mark.args}


def test_every_rule_has_a_test_and_every_mark_a_rule() -> None:
    rules = re.findall(r"^\| `([\w-]+)` \|", RULES.read_text(encoding="utf-8"), re.M)
    assert len(rules) == len(set(rules)) > 0
    assert set().union(*map(marked, Path(__file__).parent.glob("test_*.py"))) == set(rules)


def test_every_answer_is_shown_or_a_gap() -> None:
    shown = {(line.method, line.path) for line in SPECIFIED if line.shown}
    modelled = {(route.method, route.template) for route in table().routes if route.name in SHOWN}
    assert modelled == shown, f"compare with {HERE}"


def test_every_stated_refusal_and_every_refusal_of_a_gap_is_made() -> None:
    folders: list[Path] = [SANDBOX / "api", SANDBOX / "domain"]
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    points = {name.removeprefix("refusal.") for name in POINTS if name.startswith("refusal.")}
    for rule in STATED.keys() | points - {"status"}:
        assert source.count(f'"{rule}"') > (rule in STATED), rule
