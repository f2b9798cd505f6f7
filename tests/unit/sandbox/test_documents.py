# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents made from the sandbox are current, and agree with the specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts import sandbox_documents
from hosted_sandbox import documents
from hosted_sandbox.api import shapes
from hosted_sandbox.api.app import table
from hosted_sandbox.domain.errors import STATED
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.rules import RULES
from hosted_sandbox.testing import SANDBOX
from specification import HERE, SPECIFIED

ROUTES = {(line.method, line.path) for line in SPECIFIED}


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    """The documents as they would be made now."""
    return sandbox_documents.pages()


@pytest.mark.parametrize("name", ["gaps.md", "rules.md"])
def test_a_document_is_current(fresh: dict[str, str], name: str) -> None:
    committed = (sandbox_documents.FOLDER / name).read_text(encoding="utf-8")
    assert committed == fresh[name], "run: make documents"


def test_the_routes_are_those_of_the_specification() -> None:
    routes = {(route.method, route.template) for route in table().routes}
    assert routes == ROUTES, f"compare with {HERE}"
    paths = documents.openapi()["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == ROUTES


def test_every_rule_has_a_test_and_every_mark_a_rule() -> None:
    assert set(sandbox_documents.rule_tests()) == set(RULES)


def test_every_answer_is_shown_or_a_gap() -> None:
    shown = {(line.method, line.path) for line in SPECIFIED if line.shown}
    modelled = {(r.method, r.template) for r in table().routes if r.name in shapes.SHOWN}
    assert modelled == shown, f"compare with {HERE}"


def test_every_stated_refusal_and_every_refusal_of_a_gap_is_made() -> None:
    folders: list[Path] = [SANDBOX / "api", SANDBOX / "domain"]
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    points = {name.removeprefix("refusal.") for name in POINTS if name.startswith("refusal.")}
    for rule in STATED.keys() | points - {"status"}:
        assert source.count(f'"{rule}"') > (rule in STATED), rule
