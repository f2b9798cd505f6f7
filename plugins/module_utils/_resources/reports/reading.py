# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads all that a report needs, in parallel, and notes the parts that cannot be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..._api.client import METRICS_PER_CALL
from ..._api.errors import OF_A_CALL, ConnectionFailed, HostedError, Refused, TokenRejected
from ..._api.models import (
    App,
    BillingOverview,
    Metrics,
    Project,
    ProjectGraph,
    ProjectSpend,
    Release,
    ScanReport,
    Service,
    ServiceSummary,
    Settings,
    SshKey,
    Wallet,
)
from ..._api.values import WITH_SETTINGS, WITHOUT_CONTAINER, ServiceStatus
from ..services.listing import NOT_CREATED
from ..shared.account import Account
from ..shared.identify import existing
from ..shared.restore_points import BACKUPS, as_restore_points
from ..shared.retention import RestorePoint

MAX_SCANS = 12
"""How many releases of an application are read, newest first. Their verdicts take a call each."""


@dataclass(frozen=True, order=True)
class Unread:
    """A part of the report that could not be read."""

    part: str
    """The part, in the plural of what it holds: ``backups``, ``settings``."""
    name: str | None
    """The name of the service, project or application; ``None`` if it is a part of the account."""
    id: str | None
    reason: str

    def as_dict(self) -> dict[str, Any]:
        """Return it for results."""
        return {"part": self.part, "name": self.name, "id": self.id, "reason": self.reason}


@dataclass(frozen=True)
class AppReleases:
    """The releases of an application, and the scan reports of the newest."""

    declared: dict[str, Release]
    scans: dict[str, ScanReport]
    not_scanned: int
    """How many older releases were left out."""


@dataclass
class Facts:
    """What the platform shows. ``None`` and missing keys stand for what could not be read."""

    projects: list[Project] | None = None
    services: list[ServiceSummary] | None = None
    apps: list[App] | None = None
    overview: BillingOverview | None = None
    wallet: Wallet | None = None
    keys: list[SshKey] | None = None
    details: dict[str, Service] = field(default_factory=dict)
    settings: dict[str, Settings] = field(default_factory=dict)
    metrics: dict[str, Metrics] = field(default_factory=dict)
    backups: dict[str, list[RestorePoint]] = field(default_factory=dict)
    without_backups: set[str] = field(default_factory=set)
    """The services that offer no backups in their present status."""
    graphs: dict[str, ProjectGraph] = field(default_factory=dict)
    spends: dict[str, ProjectSpend] = field(default_factory=dict)
    releases: dict[str, AppReleases] = field(default_factory=dict)
    unread: list[Unread] = field(default_factory=list)
    failures: list[HostedError] = field(default_factory=list)
    """The errors behind those, in the order of the calls."""

    def project_of(self, id: str) -> str | None:
        """Return the id of the project of a service: as its full form says, else as a graph shows it."""
        detail = self.details.get(id)
        if detail is not None:
            return detail.project_id
        graphs = self.graphs.items()
        return next((key for key, graph in graphs if any(n.id == id for n in graph.nodes or ())), None)


@dataclass(frozen=True)
class Job:
    """One thing to read, and where to keep it."""

    part: str
    name: str | None
    id: str | None
    read: Callable[[Account], Any]
    keep: Callable[[Any], None]
    refused: Callable[[], None] | None = None
    """What to do if the service does not offer this part, which is no failure."""


def read_facts(account: Account, project: Project | None) -> Facts:
    """Read the account, or one project of it.

    :raises HostedError: if neither services nor applications can be read: a report would hold nothing.
    """
    facts = Facts()
    run_jobs(account, facts, account_jobs(facts, project))
    if project is not None:
        facts.projects = [project]
    if facts.services is None and facts.apps is None:
        why = facts.failures[0]
        raise why.prepend("neither the services nor the applications of the account can be read: ")
    if project is not None and facts.apps is not None:
        members = {service.id for service in facts.services or ()}
        facts.apps = [app for app in facts.apps if app.id in members]
    run_jobs(account, facts, [*project_jobs(facts), *service_jobs(facts), *app_jobs(facts)])
    note_unreachable(facts)
    facts.unread.sort(key=lambda each: (each.part, each.name or "", each.id or "", each.reason))
    return facts


def run_jobs(account: Account, facts: Facts, jobs: Sequence[Job]) -> None:
    """Read in parallel. Keep what comes, and note what does not."""
    for job, found in zip(jobs, account.each(jobs, attempt), strict=True):
        if not isinstance(found, HostedError):
            job.keep(found)
        elif job.refused is not None and isinstance(found, Refused) and found.may_mean_not_offered:
            job.refused()
        else:
            facts.failures.append(found)
            facts.unread.append(Unread(job.part, job.name, job.id, found.message))


def attempt(account: Account, job: Job) -> Any:
    """Return what a job reads, or its error.

    :raises ConnectionFailed, TokenRejected: as every other call would.
    """
    try:
        return job.read(account)
    except (ConnectionFailed, TokenRejected):
        raise
    except OF_A_CALL as error:
        return error


def account_jobs(facts: Facts, project: Project | None) -> list[Job]:
    """Return what to read of the account itself."""

    def services(account: Account) -> list[ServiceSummary]:
        return account.members(project) if project else account.services()

    def keep_services(found: list[ServiceSummary]) -> None:
        facts.services = sorted(existing(found), key=lambda each: (each.name, each.id))

    def keep_apps(found: list[App]) -> None:
        facts.apps = sorted(existing(found), key=lambda each: each.slug)

    def keep_projects(found: list[Project]) -> None:
        facts.projects = sorted(found, key=lambda each: (each.name, each.id))

    def part(part: str, read: Callable[[Account], Any], keep: str | Callable[[Any], None]) -> Job:
        return Job(part, None, None, read, partial(setattr, facts, keep) if isinstance(keep, str) else keep)

    jobs = [
        part("services", services, keep_services),
        part("applications", Account.apps, keep_apps),
        part("the balance and the forecast", lambda account: account.client.billing_overview(), "overview"),
        part("the currency", lambda account: account.client.wallet(), "wallet"),
        part("SSH keys", Account.ssh_keys, "keys"),
    ]
    return jobs if project else [*jobs, part("projects", Account.projects, keep_projects)]


def project_jobs(facts: Facts) -> list[Job]:
    """Return what to read of each project."""
    parts: list[tuple[str, Any, dict[str, Any]]] = [
        ("references", Account.graph, facts.graphs),
        ("the spend of projects", Account.spend, facts.spends),
    ]
    return [
        Job(part, each.name, each.id, partial(read, project_id=each.id), partial(kept.__setitem__, each.id))
        for each in facts.projects or ()
        for part, read, kept in parts
    ]


def service_jobs(facts: Facts) -> list[Job]:
    """Return what to read of each service."""
    services = facts.services or []
    jobs = [job for service in services for job in jobs_of_service(facts, service)]
    ids = [service.id for service in services if service.status not in NOT_CREATED]

    def keep_metrics(found: dict[str, Metrics | None]) -> None:
        facts.metrics.update({id: metrics for id, metrics in found.items() if metrics is not None})

    for start in range(0, len(ids), METRICS_PER_CALL):
        read = partial(Account.metrics, ids=ids[start : start + METRICS_PER_CALL])
        jobs.append(Job("live states and disks", None, None, read, keep_metrics))
    return jobs


def jobs_of_service(facts: Facts, service: ServiceSummary) -> list[Job]:
    """Return what to read of a service: its full form, and what its family and status offer."""
    id = service.id

    def keep_detail(found: Service | None) -> None:
        if found is not None:  # it was deleted meanwhile
            facts.details[id] = found

    def keep_copies(found: Any) -> None:
        facts.backups[id] = as_restore_points(found)

    def part(
        part: str, read: Any, keep: Callable[[Any], None], refused: Callable[[], None] | None = None
    ) -> Job:
        return Job(part, service.name, id, partial(read, id=id), keep, refused)

    jobs = [part("rates and projects", Account.service, keep_detail)]
    if service.status in NOT_CREATED:
        return jobs
    jobs.append(part(BACKUPS, Account.backups, keep_copies, partial(facts.without_backups.add, id)))
    if service.family in WITH_SETTINGS:
        keep = partial(facts.settings.__setitem__, id)
        jobs.append(part("settings", Account.settings, keep, lambda: None))
    return jobs


def app_jobs(facts: Facts) -> list[Job]:
    """Return what to read of each application."""
    return [
        Job(
            "releases",
            app.slug,
            app.id,
            partial(read_releases, app=app),
            partial(facts.releases.__setitem__, app.slug),
        )
        for app in facts.apps or ()
    ]


def read_releases(account: Account, app: App) -> AppReleases:
    """Return the newest releases of an application with their scan reports, newest first."""
    declared = account.releases(app.slug)
    by_date = sorted(declared.items(), key=lambda pair: (pair[1].created_at or "", pair[0]))
    tags = [tag for tag, __ in reversed(by_date)]
    scans = {tag: account.scan(declared[tag], app.slug) for tag in tags[:MAX_SCANS]}
    return AppReleases(declared, scans, max(0, len(tags) - MAX_SCANS))


def note_unreachable(facts: Facts) -> None:
    """Note the active services whose live state is unknown, because their node cannot be reached."""
    failed = any(each.part == "live states and disks" for each in facts.unread)
    if failed:
        return  # the calls themselves failed, which is noted
    for service in facts.services or ():
        live = service.status == ServiceStatus.ACTIVE and service.family not in WITHOUT_CONTAINER
        if live and service.id not in facts.metrics:
            reason = "its node cannot be reached"
            facts.unread.append(Unread("live states and disks", service.name, service.id, reason))
