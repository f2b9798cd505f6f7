# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Resources and their fields: every answer that is shown has every field, in its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import TypeAdapter

from hosted_sandbox.api.app import CHAPTERS, table
from hosted_sandbox.testing import Sandbox

Push = Callable[..., str]
SHOWN = {
    route.name: route.response_model
    for chapter in CHAPTERS
    for route in chapter.router.routes
    if route.response_model
}
"""The response of every route that the specification shows."""
NAMES = ("plain", "terse", "wrapped")
TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
BOUNDS = "&".join(f"{name}Start=2026-01-01T00:00:00Z" for name in ("hour", "day", "week", "month"))
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ8Y0XrWXfVTNJ3s2ikZ0q5TmnhFvDkhCJ4f8n1m0Hn9 me@here"
SEED = {
    "services": [
        {"name": "mc", "product": "minecraft", "files": {"a.txt": "x", "b/c": "x"},
         "backups": [{"name": "done"}, {"name": "bad", "status": "FAILED"}]},
        {"name": "db", "product": "postgresql"},
        {"name": "box", "product": "linux"},
        {"name": "asleep", "product": "minecraft", "status": "SUSPENDED"},
        {"name": "broken", "product": "minecraft", "status": "FAILED"},
        {"name": "made", "product": "bucket", "status": "PROVISIONING"},
    ],
    "ssh_keys": [{"name": "k", "public_key": KEY}],
}  # fmt: skip
GAME = ("", "/settings", "/files", "/files/contents?path=a.txt", "/backups", "/logs", "/events", "/usage",
        f"/billed-totals?{BOUNDS}", "/sftp")  # fmt: skip


def _visit(sandbox: Sandbox, push: Push) -> None:
    """Make every answer that is shown happen once."""
    ids = sandbox.seed(SEED)["services"]
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    push("shop", "1", declare=False)
    game, database, box = (f"/api/resources/{ids[name]}" for name in ("mc", "db", "box"))
    for path in GAME:
        sandbox.api("GET", game + path)
    for name in ("asleep", "broken", "made"):
        sandbox.api("GET", f"/api/resources/{ids[name]}")
    sandbox.api("POST", f"{game}/power", {"signal": "start"})
    sandbox.api("POST", f"{game}/sftp/password")
    sandbox.api("POST", f"{box}/snapshots", {"name": "s"})
    sandbox.api("GET", f"{box}/snapshots")
    sandbox.api("POST", f"{database}/database/query", {"sql": "CREATE TABLE t (a)"})
    for path in ("", "/connection", "/rows?schema=main&table=t"):
        sandbox.api("GET", f"{database}/database{path}")
    project = sandbox.api("GET", "/api/projects").json()[0]["id"]
    for path in ("", "/consommation", "/graphe"):
        sandbox.api("GET", f"/api/projects/{project}{path}")
    for path in ("resources", f"resources/metrics?ids={ids['mc']},{ids['db']}", "apps", "apps/whoami",
                 "registry/credentials", "billing/overview", "wallet", "users/me/ssh-keys"):  # fmt: skip
        sandbox.api("GET", f"/api/{path}")
    sandbox.api("POST", "/api/apps/quote", {})
    order = {"productSlug": "postgresql", "hostId": "node-paris-1", "presetId": "preset-db"}
    sandbox.api("POST", "/api/order/quote", order)
    sandbox.api("POST", "/api/order", {**order, "name": "o"})
    _visit_other_reads(sandbox, {"resources": ids["mc"], "projects": project})


def _visit_other_reads(sandbox: Sandbox, ids: dict[str, str]) -> None:
    """Make every other read with a shown response happen, of the service or the project."""
    done = {line["route"] for line in sandbox.journal()}
    for route in table().routes:
        if route.method == "GET" and route.name in SHOWN.keys() - done - {"releases.scan"}:
            sandbox.api("GET", route.template.replace("{id}", ids.get(route.template.split("/")[2], "")))


def _release(sandbox: Sandbox, push: Push) -> None:
    digest = push("shop", "2", declare=False)
    sandbox.api("POST", "/api/apps/shop/releases", {"tag": "2", "digest": digest})
    sandbox.api("GET", "/api/apps/shop/releases/2/scan")
    sandbox.api("POST", "/api/apps/shop/deploy", {"tag": "2"})
    sandbox.api("GET", "/api/apps")


@pytest.mark.rule("shapes", "conventions")
@pytest.mark.parametrize("name", NAMES)
def test_every_answer_has_its_shape(server: Sandbox, push: Push, name: str) -> None:
    server.reset(profile=name, delays={"start": 0, "scan": 0, "provision": 0})
    _visit(server, push)
    _release(server, push)
    lines = server.journal()
    for line in lines:
        assert line["status"] in (200, 201, 202, 204), line
        if line["route"] in SHOWN:
            TypeAdapter(SHOWN[line["route"]]).validate_python(line["answer"], strict=True)
            _check_conventions(line["answer"])
    seen = {line["route"] for line in lines}
    assert set(SHOWN) - seen == set(), f"make these calls in _visit of {__file__}"


def _check_conventions(value: Any, name: str = "") -> None:
    if isinstance(value, dict):
        for key, part in value.items():
            _check_conventions(part, key)
    elif isinstance(value, list):
        for part in value:
            _check_conventions(part, name)
    elif value is not None and name.endswith(("At", "ExpiresAt")):
        assert TIMESTAMP.fullmatch(value), name
    elif name.lower().endswith("cents") and "Burn" not in name:
        assert isinstance(value, int) and not isinstance(value, bool), name
