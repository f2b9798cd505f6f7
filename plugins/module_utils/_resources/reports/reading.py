# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a report is made of: what it measures by, and all that is read for it in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

from ..._api import models as m
from ..._api.client import METRICS_PER_CALL
from ..._api.errors import OF_A_CALL, ConnectionFailed, HostedError, Refused, TokenRejected
from ..._api.values import WITH_SETTINGS, WITHOUT_CONTAINER, ServiceStatus
from ..shared.account import Account
from ..shared.identify import existing
from ..shared.options import Options, option
from ..shared.restore_points import BACKUPS, as_restore_points
from ..shared.retention import RestorePoint, Span, read_span

DAYS = 30
"""The days of the calendar."""
FRESH, STALE, FAILED, NONE, BEFORE = "fresh", "stale", "failed", "none", "before"
"""The cells of the calendar: the last one stands for the days before a service was created."""
LIVE = "live states and disks"
MAX_SCANS = 12
"""How many releases of an application are read, newest first. Their verdicts take a call each."""


@dataclass(frozen=True, kw_only=True)
class ReportInfoOptions(Options):
    project: str | None = option(None, selects=True)
    as_of: str | None = option(None, filled=True)
    max_age: str = option("26h", selects=True)
    balance_days: int = 30
    free_days: int = 14
    disk_percent: int = 80
    known_keys: list[str] | None = option(None, no_log=False)
    drift: list[dict[str, Any]] = option([])
    backup_reports: list[dict[str, Any]] = option([])
    sleep_reports: list[dict[str, Any]] = option([])
    drill_report: dict[str, Any] | None = None
    unread: list[dict[str, Any]] = option([])


@dataclass(frozen=True)
class Measures:
    options: ReportInfoOptions
    as_of: datetime

    @property
    def max_age(self) -> Span:
        return read_span(self.options.max_age) or Span()

    @property
    def days(self) -> list[date]:
        """The days of the calendar, in UTC: the last one is that of the report."""
        today = self.as_of.astimezone(UTC).date()
        return [today - timedelta(days=DAYS - 1 - number) for number in range(DAYS)]


@dataclass(frozen=True, order=True)
class Unread:
    """A part of the report that could not be read."""

    part: str
    """In the plural of what it holds: ``backups``, ``settings``."""
    name: str | None
    """``None`` if it is a part of the account."""
    id: str | None
    reason: str


@dataclass(frozen=True)
class AppReleases:
    declared: dict[str, m.Release]
    scans: dict[str, m.ScanReport]
    not_scanned: int


@dataclass
class Facts:
    """What the platform shows. ``None`` and missing keys stand for what could not be read."""

    projects: list[m.Project] | None = None
    services: list[m.ServiceSummary] | None = None
    apps: list[m.App] | None = None
    overview: m.BillingOverview | None = None
    wallet: m.Wallet | None = None
    keys: list[m.SshKey] | None = None
    details: dict[str, m.Service | None] = field(default_factory=dict)
    settings: dict[str, m.Settings | None] = field(default_factory=dict)
    metrics: dict[str, m.Metrics | None] = field(default_factory=dict)
    backups: dict[str, list[RestorePoint] | None] = field(default_factory=dict)
    """``None`` for a service that offers no backups in its present status."""
    graphs: dict[str, m.ProjectGraph] = field(default_factory=dict)
    spends: dict[str, m.ProjectSpend] = field(default_factory=dict)
    releases: dict[str, AppReleases] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    failures: list[HostedError] = field(default_factory=list)

    def project_of(self, id: str) -> str | None:
        """Return the id of the project of a service: as its full form says, else as a graph shows it."""
        detail = self.details.get(id)
        if detail is not None:
            return detail.project_id
        graphs = self.graphs.items()
        return next((key for key, graph in graphs if any(n.id == id for n in graph.nodes or ())), None)

    def alias_of(self, id: str) -> str | None:
        """Return the alias of a service in its project: as a graph shows it, else as its settings say."""
        nodes = (node for graph in self.graphs.values() for node in graph.nodes or ())
        shown = next((node.alias for node in nodes if node.id == id and node.alias), None)
        settings = self.settings.get(id)
        return shown or (settings.network.alias if settings and settings.network else None)


@dataclass(frozen=True)
class Job:
    part: str
    name: str | None
    id: str | None
    read: Callable[[Account], Any]
    keep: Callable[[Any], None]
    optional: bool = False
    """Whether a service need not offer this part. Then ``None`` is kept, which is no failure."""


def read_facts(account: Account, project: m.Project | None) -> Facts:
    facts = Facts()
    run_jobs(account, facts, list(account_jobs(facts, project)))
    if facts.services is None and facts.apps is None:
        why = facts.failures[0]
        raise why.prepend("neither the services nor the applications of the account can be read: ")
    if project is not None:
        facts.projects = [project]
        members = {service.id for service in facts.services or ()}
        facts.apps = facts.apps and [app for app in facts.apps if app.id in members]
    run_jobs(account, facts, [*service_jobs(facts), *other_jobs(facts)])
    for service in facts.services or ():
        live = service.status == ServiceStatus.ACTIVE and service.family not in WITHOUT_CONTAINER
        if live and facts.metrics.get(service.id, "not read") is None:
            facts.unread.append(Unread(LIVE, service.name, service.id, "its node cannot be reached"))
    facts.unread.sort(key=lambda each: (each.part, each.name or "", each.id or "", each.reason))
    return facts


def run_jobs(account: Account, facts: Facts, jobs: Sequence[Job]) -> None:
    """Read in parallel. Keep what comes, and note what does not."""

    def attempt(own: Account, job: Job) -> Any:
        try:
            return job.read(own)
        except (ConnectionFailed, TokenRejected):
            raise
        except OF_A_CALL as error:
            return error

    for job, found in zip(jobs, account.each(jobs, attempt), strict=True):
        if not isinstance(found, HostedError):
            job.keep(found)
        elif job.optional and isinstance(found, Refused) and found.may_mean_not_offered:
            job.keep(None)
        else:
            facts.failures.append(found)
            facts.unread.append(Unread(job.part, job.name, job.id, found.message))


def account_jobs(facts: Facts, project: m.Project | None) -> Iterator[Job]:
    """Yield what to read of the account itself, by the attribute of ``facts`` that it is kept in."""

    def services(account: Account) -> list[m.ServiceSummary]:
        found = account.members(project) if project else account.services()
        return sorted(existing(found), key=lambda each: (each.name, each.id))

    def apps(account: Account) -> list[m.App]:
        return sorted(existing(account.apps()), key=lambda each: each.slug)

    def projects(account: Account) -> list[m.Project]:
        return sorted(account.projects(), key=lambda each: (each.name, each.id))

    parts: dict[str, tuple[str, Callable[[Account], Any]]] = {
        "services": ("services", services),
        "apps": ("applications", apps),
        "overview": ("the balance and the forecast", lambda account: account.client.billing_overview()),
        "wallet": ("the currency", lambda account: account.client.wallet()),
        "keys": ("SSH keys", Account.ssh_keys),
        **({} if project else {"projects": ("projects", projects)}),
    }
    for name, (part, read) in parts.items():
        yield Job(part, None, None, read, partial(setattr, facts, name))


def service_jobs(facts: Facts) -> Iterator[Job]:
    """Yield what to read of each service: its full form, and what its family and status offer."""

    def copies(account: Account, id: str) -> list[RestorePoint]:
        return as_restore_points(account.backups(id))

    for each in facts.services or ():
        parts: list[tuple[str, Callable[..., Any], dict[str, Any], bool]] = [
            ("rates and projects", Account.service, facts.details, False)
        ]
        if each.status not in ServiceStatus.NOT_CREATED:
            parts.append((BACKUPS, copies, facts.backups, True))
            if each.family in WITH_SETTINGS:
                parts.append(("settings", Account.settings, facts.settings, True))
        for part, read, kept, optional in parts:
            keep = partial(kept.__setitem__, each.id)
            yield Job(part, each.name, each.id, partial(read, id=each.id), keep, optional)


def other_jobs(facts: Facts) -> Iterator[Job]:
    """Yield what to read of projects, of applications, and of containers, fifty at a time."""
    parts: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "references": (Account.graph, facts.graphs),
        "the spend of projects": (Account.spend, facts.spends),
    }
    for each in facts.projects or ():
        for part, (read, kept) in parts.items():
            keep = partial(kept.__setitem__, each.id)
            yield Job(part, each.name, each.id, partial(read, project_id=each.id), keep)
    ids = [service.id for service in facts.services or () if service.status not in ServiceStatus.NOT_CREATED]
    for start in range(0, len(ids), METRICS_PER_CALL):
        batch = ids[start : start + METRICS_PER_CALL]
        yield Job(LIVE, None, None, partial(Account.metrics, ids=batch), facts.metrics.update)
    for app in facts.apps or ():
        keep = partial(facts.releases.__setitem__, app.slug)
        yield Job("releases", app.slug, app.id, partial(read_releases, app=app), keep)


def read_releases(account: Account, app: m.App) -> AppReleases:
    """Return the newest releases of an application with their scan reports, newest first."""
    declared = account.releases(app.slug)
    by_date = sorted(declared.items(), key=lambda pair: (pair[1].created_at or "", pair[0]))
    tags = [tag for tag, __ in reversed(by_date)]
    scans = {tag: account.scan(declared[tag], app.slug) for tag in tags[:MAX_SCANS]}
    return AppReleases(declared, scans, max(0, len(tags) - MAX_SCANS))
