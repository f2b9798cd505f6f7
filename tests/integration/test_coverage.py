# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The check of the routes, on runs made up for it, and what holds without a run."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES
from integration import coverage, route_log
from integration.coverage import Call, Observed, Ran, problems, read, where
from integration.route_log import NotedSandbox, arguments
from integration.route_options import LEADS

PACKAGE = "ansible_collections.hosted.services.plugins.module_utils._resources"
TEST = "tests/integration/test_targets.py::test_target[project]"
PLUGIN = "hosted.services (Ansible collection; inventory)"
ELSEWHERE = "tests/integration/test_lookups.py::test_refused"


def request(**changes: Any) -> dict[str, Any]:
    """A line of a run: a module deletes a project during the target of the same name."""
    return {
        "test": TEST,
        "method": "DELETE",
        "template": "/api/projects/{id}",
        "agent": "hosted.services (Ansible collection; project)",
        "real_at": 5.0,
        "status": 204,
        "fault": None,
        **changes,
    }


def task(**options: Any) -> dict[str, Any]:
    """A line of a run: the task around that request."""
    return {"test": TEST, "module": "project", "begun": 4.0, "ended": 6.0, "options": [options]}


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """What is observed in a run that left these lines."""

    def observe(*lines: dict[str, Any]) -> Observed:
        (tmp_path / "1.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return read(tmp_path)

    return observe


def about(observed: Observed, route: str) -> list[str]:
    """Return what is missing of one route, without what is said of its options."""
    begin = f"{ROUTES[route]}: "
    found = (line.removeprefix(begin) for line in problems(observed) if line.startswith(begin))
    return [line for line in found if not line.startswith(("no task of", "project called it"))]


def said(observed: Observed) -> list[str]:
    """Return what is said of the options that lead to deleting a project."""
    return list(coverage.unproven(observed, "project", "PROJECT_DELETE"))


def test_a_success_of_a_module_in_a_target_is_enough(run: Any) -> None:
    assert about(run(request()), "PROJECT_DELETE") == []


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"status": 404}, "was never answered with success"),
        ({"status": None}, "was never answered with success"),
        ({"fault": "reset"}, "was never answered with success"),
        ({"method": "GET", "template": "/api/projects/{id}/graphe"}, "was never answered with success"),
        ({"agent": "python-requests/2"}, "no module called it in any integration target"),
        ({"agent": PLUGIN, "test": ELSEWHERE}, "no module called it in any integration target"),
        ({"test": ELSEWHERE}, "no module called it in any integration target"),
    ],
)
def test_anything_less_is_told(run: Any, changes: dict[str, Any], missing: str) -> None:
    assert about(run(request(**changes)), "PROJECT_DELETE") == [missing]


def test_placeholders_go_by_any_name(run: Any) -> None:
    template = ROUTES["BACKUP_DELETE"].path.replace("backup_id", "backupId")
    assert run(request(template=template)).calls[0].route == "BACKUP_DELETE"


def test_an_option_leads_where_it_was_seen_to(run: Any) -> None:
    assert said(run(request(), task(state="absent"))) == []


def test_an_option_that_was_not_seen_proves_nothing(run: Any) -> None:
    unproven = "DELETE /api/projects/{id}: no task of project with state: absent called it"
    assert said(run(request())) == [unproven]
    assert said(run(request(real_at=6.5), task(state="absent"))) == [unproven]
    assert said(run(request(), task(state="absent"), task(state="absent"))) == [unproven]


def test_a_call_without_its_option_is_told(run: Any) -> None:
    lines = [request(real_at=7.0), {**task(state="present"), "begun": 6.5, "ended": 7.5}]
    (message,) = said(run(request(), task(state="absent"), *lines))
    assert message.endswith(f"project called it in {TEST}, where no option leads there")


def test_options_that_are_set(run: Any) -> None:
    ran = Ran(TEST, "any", 0, 1, [{"include": ["a"], "public": False, "state": "present"}, {"public": True}])
    assert ran.has("include", "a") and not ran.has("include", "b")
    assert ran.has("public", "false") and not ran.has("public", "none")
    assert ran.has("public", "") and not ran.has("command", "")
    assert ran.has("state", "present") and not ran.has("state", "absent")


@pytest.mark.parametrize(
    ("targets", "shown"), [({"project", "app"}, {"project"}), ({"service", "app"}, {"service", "app"})]
)
def test_a_modules_own_target_is_shown(targets: set[str], shown: set[str]) -> None:
    assert where("project", targets) == shown


def test_a_line_tells_who_and_where() -> None:
    calls = [
        Call(TEST, "PROJECT_DELETE", "project", 1, True),
        Call(TEST, "WALLET", "", 1, True),
        Call(ELSEWHERE, "PROJECT_GRAPH", "inventory", 1, True),
        Call(ELSEWHERE, "PROJECT_SPEND", "project_info", 1, True),
    ]
    lines = dict(line.split(": ", 1) for line in coverage.report(Observed(calls, [])))
    assert lines["DELETE /api/projects/{id}"] == "used by project; in project"
    assert lines["GET /api/wallet"] == "used by ; in "
    assert lines["GET /api/projects/{id}/graphe"] == "used by inventory; in "
    assert lines["GET /api/projects/{id}/consommation"] == "used by ; in "


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
    observed = read(tmp_path)
    assert [(call.route, call.success) for call in observed.calls] == [
        ("PROJECTS", True),
        ("WALLET", True),
        ("SERVICE", False),
    ]
    assert all("::test_each_request_is_kept_once" in call.test for call in observed.calls)


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"invocation": {"module_args": {"name": "a"}}}, [{"name": "a"}]),
        ({"results": [{"invocation": {"module_args": {"name": "a"}}}, {"skipped": True}]}, [{"name": "a"}]),
        ({"censored": "hidden"}, []),
    ],
)
def test_arguments_of_a_task(result: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    assert arguments(result) == expected


def named() -> Iterator[tuple[str, str, str, str]]:
    """Every option that leads somewhere: module, route, option, value."""
    for module, routes in LEADS.items():
        for route in routes:
            yield from ((module, route, option, value) for option, value in coverage.leads(module, route))


@pytest.mark.parametrize(("module", "route", "option", "value"), list(named()))
def test_options_that_lead_somewhere_are_there(module: str, route: str, option: str, value: str) -> None:
    resource = getattr(importlib.import_module(f"{PACKAGE}.{module}"), module.upper())
    assert route in ROUTES
    known = resource.options[option]
    assert not value or value in known.get("choices", {"bool": ["true", "false"]}.get(known["type"], []))


def test_the_page_is_that_of_the_routes() -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run `python -m integration.coverage`"
