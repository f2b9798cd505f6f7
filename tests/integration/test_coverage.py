# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the routes, on runs made up for it, and the page on them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES
from integration import coverage, route_log
from integration.coverage import problems, read
from integration.route_log import NotedSandbox

REQUEST = {
    "test": "tests/integration/test_targets.py::test_target[project]",
    "method": "DELETE",
    "template": "/api/projects/{id}",
    "agent": "hosted.services (Ansible collection; project)",
    "status": 204,
    "fault": None,
}
"""A line of a run: a module deletes a project during the target of the same name."""
PLUGIN = "hosted.services (Ansible collection; inventory)"
ELSEWHERE = "tests/integration/test_lookups.py::test_refused"


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, None),
        ({"template": "/api/projects/{projectId}"}, None),
        ({"status": 404}, "was never answered with success"),
        ({"status": None}, "was never answered with success"),
        ({"fault": "reset"}, "was never answered with success"),
        ({"method": "GET", "template": "/api/projects/{id}/graphe"}, "was never answered with success"),
        ({"agent": "python-requests/2"}, "no module called it in any integration target"),
        ({"agent": PLUGIN}, "no module called it in any integration target"),
        ({"test": ELSEWHERE}, "no module called it in any integration target"),
    ],
)
def test_a_success_of_a_module_in_a_target_is_enough(
    changes: dict[str, Any], missing: str | None, tmp_path: Path
) -> None:
    (tmp_path / "1.jsonl").write_text(json.dumps({**REQUEST, **changes}))
    route = ROUTES["PROJECT_DELETE"]
    told = [line for line in problems(read(tmp_path)) if line.startswith(f"{route}: ")]
    assert told == ([f"{route}: {missing}"] if missing else [])


def test_each_request_is_kept_once(
    sandbox: NotedSandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.note()
    monkeypatch.setattr(route_log, "FOLDER", str(tmp_path))
    sandbox.api("GET", "/api/projects")
    sandbox.note()
    sandbox.api("GET", "/api/wallet")
    sandbox.clear_journal()
    sandbox.api("GET", "/api/resources/none")
    sandbox.reset()
    sandbox.note()
    kept = [(call.route, call.success) for call in read(tmp_path)]
    assert kept == [("PROJECTS", True), ("WALLET", True), ("SERVICE", False)]


def test_the_page_is_that_of_the_routes() -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run `python -m integration.coverage`"
