# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading: in parallel, with what fails noted, and bounded where an account is large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    AccessDenied,
    BadRequest,
    ConnectionFailed,
    Interrupted,
    TokenRejected,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.releases import (
    DeclaredRelease,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports import reading
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import (
    MAX_SCANS,
    Facts,
    Job,
    Unread,
    note_unreachable,
    read_facts,
    read_releases,
    run_jobs,
)
from unit.plugins.fakes import FakeClient


def job(error: Exception | None, kept: list[Any], refused: Callable[[], None] | None = None) -> Job:
    """Return a job that raises an error, or returns ``read``."""

    def read(client: Any) -> str:
        if error is not None:
            raise error
        return "read"

    return Job("backups", read, kept.append, name="db", id="1", refused=refused)


def run(*jobs: Job) -> Facts:
    """Run jobs for an empty account."""
    facts = Facts()
    client: Any = FakeClient()
    run_jobs(client, facts, jobs)
    return facts


def test_what_fails_is_noted_and_the_rest_is_kept() -> None:
    kept: list[Any] = []
    facts = run(job(Interrupted("lost"), kept), job(None, kept), job(AccessDenied("no", 403), kept))
    assert kept == ["read"]
    assert [(each.part, each.name, each.reason) for each in facts.unread] == [
        ("backups", "db", "lost"),
        ("backups", "db", "no"),
    ]


def test_what_a_service_does_not_offer_is_no_failure() -> None:
    refused: list[bool] = []
    facts = run(job(BadRequest("not offered", 400), [], lambda: refused.append(True)))
    assert refused == [True] and facts.unread == []
    facts = run(job(AccessDenied("no", 403), [], lambda: refused.append(True)))
    assert refused == [True] and [each.reason for each in facts.unread] == ["no"]


def test_what_would_fail_everywhere_ends_the_task() -> None:
    for error in (ConnectionFailed("refused"), TokenRejected("no", 401)):
        with pytest.raises(type(error)):
            run(job(error, []))


LIVE = "live states and disks"


def service(id: str, status: str = "ACTIVE", family: str = "GAME") -> m.ServiceSummary:
    """Return a service as the list has it."""
    return m.ServiceSummary.model_validate({"id": id, "name": id, "family": family, "status": status})


def test_active_services_without_metrics_are_on_nodes_that_cannot_be_reached() -> None:
    others = [service("disk", family="BUCKET"), service("rack", family="DEDICATED")]  # without a container
    facts = Facts(services=[service("there"), service("gone"), service("asleep", "SUSPENDED"), *others])
    facts.metrics["there"] = m.Metrics.model_validate({"state": "running"})
    note_unreachable(facts)
    assert [(each.part, each.name, each.reason) for each in facts.unread] == [
        (LIVE, "gone", "its node cannot be reached")
    ]


def test_calls_for_metrics_that_failed_say_so_themselves() -> None:
    facts = Facts(services=[service("gone")], unread=[Unread(LIVE, None, None, "lost")])
    note_unreachable(facts)
    assert [each.reason for each in facts.unread] == ["lost"]


def read_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read nothing of each project, service and application."""
    for jobs in ("project_jobs", "service_jobs", "app_jobs"):
        monkeypatch.setattr(reading, jobs, lambda facts: [])


def test_what_is_read_names_the_services_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    def keep_services(facts: Facts, project: Any) -> list[Job]:
        facts.services = [service("gone")]
        return []

    monkeypatch.setattr(reading, "account_jobs", keep_services)
    read_no_more(monkeypatch)
    client: Any = FakeClient()
    assert [(each.part, each.name) for each in read_facts(client, None).unread] == [(LIVE, "gone")]


class Account(FakeClient):
    """Two projects with an application in each."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_shop", "a shop")
        self.add_service("svc_1", "one")
        self.add_service("svc_2", "two", projectId="prj_shop")

    def apps(self) -> list[m.App]:
        slugs = {"svc_1": "one", "svc_2": "two"}
        return [
            m.App.model_validate({"id": id, "slug": slug, "status": "ACTIVE"}) for id, slug in slugs.items()
        ]

    def billing_overview(self) -> m.BillingOverview:
        return m.BillingOverview(balance_cents=5)


@pytest.mark.parametrize(
    ("project", "projects", "names"),
    [(None, ["a shop", "default"], ["one", "two"]), (1, ["a shop"], ["two"])],
)
def test_the_account_is_read_or_one_project_of_it(
    monkeypatch: pytest.MonkeyPatch, project: int | None, projects: list[str], names: list[str]
) -> None:
    read_no_more(monkeypatch)
    client: Any = Account()
    facts = read_facts(client, None if project is None else client.projects()[project])
    assert [each.name for each in facts.projects or ()] == projects
    assert [each.name for each in facts.services or ()] == names
    assert [each.slug for each in facts.apps or ()] == names
    assert facts.overview is not None and facts.overview.balance_cents == 5


def test_the_newest_releases_are_scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = {f"v{number:02}": DeclaredRelease("sha256:1", f"2026-11-{number:02}") for number in range(1, 21)}
    asked: list[str] = []

    def scan(client: Any, slug: str, tag: str, digest: str) -> m.ScanReport:
        asked.append(tag)
        return m.ScanReport.model_validate({"tag": tag, "scanStatus": "PASSED"})

    monkeypatch.setattr(reading, "read_declared", lambda client, slug: listed)
    monkeypatch.setattr(reading, "scan_of", scan)
    app = m.App.model_validate({"id": "a", "slug": "web", "status": "ACTIVE"})
    client: Any = FakeClient()
    found = read_releases(client, app)
    assert asked == [f"v{number:02}" for number in range(20, 20 - MAX_SCANS, -1)]
    assert found.not_scanned == 20 - MAX_SCANS


def test_a_project_is_known_from_the_full_form_first() -> None:
    graph = m.ProjectGraph.model_validate({"nodes": [{"id": "s"}]})
    facts = Facts(graphs={"one": graph})
    assert facts.project_of("s") == "one"
    facts.graphs["two"] = graph
    assert facts.project_of("s") is None, "it is in two"
    given = {"id": "s", "name": "s", "family": "APP", "status": "ACTIVE", "projectId": "three"}
    facts.details["s"] = m.Service.model_validate(given)
    assert facts.project_of("s") == "three"
