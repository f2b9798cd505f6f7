# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports made in memory, for tests of their pages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.figures import figures_of
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import (
    AppReleases,
    Facts,
    Measures,
    ReportInfoOptions,
    Unread,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import RestorePoint

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
HOSTILE = [
    "<script>alert(1)</script>",
    "\u0645\u0631\u062d\u0628\u0627",
    "\u202egnp.exe",
    "\U0001f469\u200d\U0001f467 family",
    "x" * 80,
    "line\nbreak\r\ttab\x00\x1b[31m",
    "\"'><img src=x onerror=alert(1)>",
    "</style></title><svg onload=alert(1)>",
    "&lt;b&gt;",
    "{{ 7 * 7 }} ${db.URL}",
    "\ud800",
]


def report_on(facts: Facts, **measures: Any) -> dict[str, Any]:
    return figures_of(facts, Measures(ReportInfoOptions(**measures), AS_OF))


def account(names: list[str], projects: int = 1) -> Facts:
    """Return an account with services of these names, which refer to the first one of their project."""
    facts = Facts(
        projects=[m.Project(id=f"p{n}", name=f"team {n}") for n in range(projects)], services=[], apps=[]
    )
    for number, name in enumerate(names):
        add_service(facts, f"s{number:04}", name, f"p{number % projects}", number)
    for project in facts.projects or ():
        add_project(facts, project)
    facts.overview = m.BillingOverview.model_validate(
        {
            "balanceCents": 50_000,
            "monthToDateCents": 1234,
            "projectedMonthCents": 2345,
            "daysLeftEstimate": 12,
        }
    )
    facts.wallet = m.Wallet(currency="EUR")
    return facts


def add_service(facts: Facts, id: str, name: str, project: str, number: int) -> None:
    """Add a service with thirty backups, a release that is blocked, and all that can be told of it."""
    status = ("ACTIVE", "ACTIVE", "ACTIVE", "SUSPENDED", "FAILED", "AWAITING_ADMIN", "PROVISIONING")[
        number % 7
    ]
    size = {"cpuCores": 1, "ramGb": 2, "storageGb": 10}
    base = {"id": id, "name": name, "family": "APP", "status": status, "dimensions": size}
    rate = {"billedMonthlyMillicents": 1000 + number, "monthlyMillicents": 2000 + number}
    assert facts.services is not None and facts.apps is not None
    facts.services.append(m.ServiceSummary.model_validate(base))
    facts.details[id] = m.Service.model_validate({**base, "projectId": project, "pricing": rate})
    state = ("running", "stopped", "starting")[number % 3]
    facts.metrics[id] = m.Metrics(state=state, storage_bytes=number % 11 * 10**9)
    facts.backups[id] = [
        RestorePoint(f"b{day}", f"b{day}", "FAILED" if day % 5 == number % 5 else "COMPLETED",
                     AS_OF - timedelta(days=day, hours=number % 30))
        for day in range(30)
        if day % 7 != number % 7
    ]  # fmt: skip
    if number % 4 == 0:
        facts.apps.append(
            m.App.model_validate({"id": id, "slug": name, "status": status, "scanStatus": "PASSED"})
        )
        facts.releases[name] = AppReleases(
            {name: m.Release(tag=name, digest=f"sha256:{name}", created_at="2026-11-01T00:00:00Z")},
            {name: blocked(name)},
            0,
        )


def blocked(name: str) -> m.ScanReport:
    """Return a scan report that blocks a release."""
    flaw = {"id": name, "package": name, "version": name, "fixVersion": name, "severity": "High"}
    return m.ScanReport.model_validate(
        {"tag": name, "scanStatus": "BLOCKED", "scanVerdict": {"counts": {"High": 1}, "blocking": [flaw]}}
    )


def add_project(facts: Facts, project: m.Project) -> None:
    """Add what a project has cost, and the references to its first service."""
    names = {each.id: each.name for each in facts.services or ()}
    members = [id for id in facts.details if facts.project_of(id) == project.id]
    edges = [{"from": id, "to": members[0], "through": ["DATABASE_URL"]} for id in members[1::2]]
    facts.graphs[project.id] = m.ProjectGraph.model_validate(
        {"nodes": [{"id": id} for id in members], "edges": edges}
    )
    days = [(AS_OF - timedelta(days=29 - day)).date().isoformat() for day in range(30)]
    facts.spends[project.id] = m.ProjectSpend.model_validate(
        {
            "range": 30,
            "totalCents": 300,
            "days": [{"date": day, "totalCents": 10} for day in days],
            "services": [{"id": id, "name": names[id], "totalCents": 7} for id in members],
        }
    )


def hostile_report() -> dict[str, Any]:
    """Return a report in which all that somebody can choose is hostile."""
    facts = account(HOSTILE)
    facts.projects = [m.Project(id="p0", name=HOSTILE[0])]
    facts.unread = [Unread("backups", name, "x", name) for name in HOSTILE]
    facts.keys = [
        m.SshKey.model_validate({"id": name, "name": name, "fingerprint": name}) for name in HOSTILE
    ]
    reports = [
        {"plan": name, "ok": False, "problems": [name], "finished": name, "state": {}} for name in HOSTILE
    ]
    differences = [{"drift": True, "line": name} for name in HOSTILE]
    return report_on(
        facts,
        project=HOSTILE[0],
        backup_reports=reports,
        sleep_reports=reports,
        drill_report={"service": HOSTILE[0], "finished": HOSTILE[5], "restored": False},
        drift=[{"file": HOSTILE[0], "error": HOSTILE[0], "differences": differences}],
    )
