# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The documents made from the sandbox are current, and agree with the specification."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hosted_sandbox import documents
from hosted_sandbox.api import shapes
from hosted_sandbox.api.app import table
from hosted_sandbox.domain.errors import STATED
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.rules import RULES
from hosted_sandbox.testing import SANDBOX

#: The method and path of every route, as the specification's tables have them.
PAIRS = """
GET /api/apps/whoami
GET /api/apps
POST /api/apps
POST /api/apps/quote
GET /api/apps/nodes
GET /api/apps/projects
GET /api/registry/credentials
POST /api/apps/{slug}/releases
GET /api/apps/{slug}/releases
GET /api/apps/{slug}/releases/{tag}/scan
POST /api/apps/{slug}/deploy
PUT /api/apps/{slug}/environment
GET /api/apps/{slug}/logs
GET /api/resources
GET /api/resources/{id}
GET /api/resources/metrics
GET /api/resources/{id}/settings
PUT /api/resources/{id}/network
PUT /api/resources/{id}/scale
PUT /api/resources/{id}/deploy
PUT /api/resources/{id}/project
POST /api/resources/{id}/power
POST /api/resources/{id}/suspend
POST /api/resources/{id}/resume
DELETE /api/resources/{id}
GET /api/resources/{id}/files
GET /api/resources/{id}/files/contents
POST /api/resources/{id}/files/write
POST /api/resources/{id}/files/directory
PUT /api/resources/{id}/files/rename
POST /api/resources/{id}/files/delete
GET /api/resources/{id}/backups
POST /api/resources/{id}/backups
POST /api/resources/{id}/backups/{backupId}/restore
DELETE /api/resources/{id}/backups/{backupId}
GET /api/resources/{id}/snapshots
POST /api/resources/{id}/snapshots
POST /api/resources/{id}/snapshots/{name}/rollback
DELETE /api/resources/{id}/snapshots/{name}
GET /api/resources/{id}/logs
GET /api/resources/{id}/events
GET /api/resources/{id}/usage
GET /api/resources/{id}/billed-totals
GET /api/billing/overview
GET /api/wallet
GET /api/wallet/transactions
GET /api/billing/daily-spend
GET /api/billing/invoices
GET /api/billing/statements
GET /api/billing/statements/{period}
GET /api/projects
POST /api/projects
PATCH /api/projects/{id}
DELETE /api/projects/{id}
GET /api/projects/{id}
GET /api/projects/{id}/consommation
GET /api/projects/{id}/graphe
POST /api/order/quote
POST /api/order
GET /api/users/me/ssh-keys
POST /api/users/me/ssh-keys
DELETE /api/users/me/ssh-keys/{id}
GET /api/resources/{id}/sftp
POST /api/resources/{id}/sftp/password
GET /api/resources/{id}/database/connection
GET /api/resources/{id}/database
GET /api/resources/{id}/database/rows
POST /api/resources/{id}/database/query
"""
ROUTES = {tuple(line.split()) for line in PAIRS.strip().splitlines()}


@pytest.fixture(scope="module")
def fresh() -> dict[str, str]:
    """The documents as they would be made now."""
    return documents.documents()


@pytest.mark.parametrize("name", ["openapi.json", "gaps.md", "rules.md"])
def test_a_document_is_current(fresh: dict[str, str], name: str) -> None:
    committed = (documents.FOLDER / name).read_text(encoding="utf-8")
    assert committed == fresh[name], "run: make sandbox-documents"


def test_the_routes_are_those_of_the_specification() -> None:
    assert len(ROUTES) == 68
    assert {(route.method, route.template) for route in table().routes} == ROUTES
    paths = json.loads((documents.FOLDER / "openapi.json").read_text(encoding="utf-8"))["paths"]
    assert {(method.upper(), path) for path, methods in paths.items() for method in methods} == ROUTES


def test_every_rule_has_a_test_and_every_mark_a_rule() -> None:
    assert set(documents.rule_tests()) == set(RULES)


def test_every_answer_is_shown_or_a_gap() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (SANDBOX / "api").glob("*.py"))
    open_points = set(re.findall(r'(?:written|listing)\(\s*"(\w+)"', source))
    known = {name.partition(".")[2] for name in POINTS if name.startswith(("answer.", "list."))}
    assert open_points <= known
    assert set(shapes.SHOWN) <= {route.name for route in table().routes}


def test_every_refusal_has_a_status_or_a_gap() -> None:
    folders: list[Path] = [SANDBOX / "api", SANDBOX / "domain"]
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    for rule in set(re.findall(r'RefusedError\(\s*"(\w+)"', source)):
        assert (rule in STATED) != (f"refusal.{rule}" in POINTS), rule
