# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task sees of the platform. Nothing else lists or looks up projects, services, applications and keys.

While a task plans, each thing is read once, however many parts of the plan ask for it: otherwise each of a
thousand services would read the whole list to find itself. Once it begins to change things, it reads anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from ..._api import models as m
from ..._api import routes as r
from ..._api.client import METRICS_PER_CALL, Client
from ..._api.errors import HostedError, Interrupted, Refused
from ..._api.values import ScanStatus, ServiceStatus
from .identify import (
    Identifiable,
    Named,
    S,
    check_id_matches,
    existing,
    find_service,
    near_miss,
    oldest_projects,
    with_id_or_name,
    with_name,
)
from .task_errors import NoSuchItem
from .waiting import run_parallel

if TYPE_CHECKING:
    from .plan import Task

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")

SERVICES = "services"
QUICK_SCAN_SECONDS = 5.0
"""How long to wait for a scan report without waiting for its verdict, in seconds."""


@dataclass(eq=False)
class Reads:
    """What was read so far. Two threads that want the same wait for one call."""

    kept: bool = True
    _locks: dict[Hashable, threading.Lock] = field(default_factory=dict)
    _values: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what ``read`` returns, or returned for this key before, but for an error and ``None``."""
        if not self.kept:
            return read()
        with self._locks.setdefault(key, threading.Lock()):
            found = self._values.get(key)
            if found is None:
                found = self._values[key] = read()
            return cast(T, found)

    def forget(self, *keys: Hashable) -> None:
        """Read these again when they are asked for; all if none is named."""
        for key in keys or list(self._values):
            self._values.pop(key, None)


def once(read: Callable[Concatenate[Account, P], T]) -> Callable[Concatenate[Account, P], T]:
    """Let what a method reads be read once for the same arguments."""

    @wraps(read)
    def kept(account: Account, /, *given: P.args, **named: P.kwargs) -> T:
        key = (read.__name__, repr((given, named)))
        return account.reads.once(key, lambda: read(account, *given, **named))

    return kept


@dataclass(frozen=True, eq=False)
class Account:
    """An account of the platform, as one task sees it.

    Without ``reads`` it reads anew each time. In check mode it has what earlier tasks of the play would have
    made, if ``task`` is given. What a method returns for a name or an id that is not there is ``None``, or it
    raises :class:`NoSuchItem`. All raise :class:`HostedError` if a call fails.
    """

    client: Client
    reads: Reads = field(default_factory=partial(Reads, kept=False))
    task: Task[Any] | None = None

    def each(
        self, items: Iterable[T], read: Callable[[Account, T], R], max_parallel: int | None = None
    ) -> list[R]:
        """Read something of every item, in parallel; return the results in the order of the items."""
        return run_parallel(
            self.client,
            items,
            lambda client, item: read(Account(client, self.reads, self.task), item),
            max_parallel,
        )

    # --- Services ---------------------------------------------------------------------------------

    def services(self) -> list[m.ServiceSummary]:
        """Return all services that are not deleted."""
        return self.reads.once(SERVICES, lambda: list(self.client.pages(r.SERVICES)))

    def service(self, id: str) -> m.Service | None:
        """Return a service in full form."""
        found = self.reads.once(("service", id), lambda: self.client.if_any(r.SERVICE, id=id))
        if found is None:  # it may be gone since the list was read
            self.reads.forget(SERVICES)
        return found

    def existing_service(self, id: str) -> m.Service:
        """Return a service in full form, also while it is being deleted."""
        service = self.service(id)
        if service is None or service.status == ServiceStatus.DELETED:
            raise NoSuchItem(f"there is no service of id {id!r}")
        return service

    def staying(self, id: str) -> m.Service | None:
        """Return a service in full form, unless it is being deleted."""
        service = self.service(id)
        return None if service is None or service.status in ServiceStatus.DELETING_OR_DELETED else service

    def stays(self, id: str) -> bool:
        """Tell whether there is a service with this id that is not being deleted."""
        return self.staying(id) is not None

    def read_staying(self, services: Iterable[Named]) -> list[m.Service]:
        """Return services in full form, without those that are being deleted."""
        read = self.each(services, lambda account, service: account.staying(service.id))
        return [service for service in read if service is not None]

    def named(
        self, name: str, project: m.Project | None = None, family: str | None = None
    ) -> Sequence[m.Service | m.ServiceSummary]:
        """Return the services with this name that are not being deleted, as :meth:`within` a project."""
        found = with_name(self.services(), name, family)
        return self.within(found, project) if project else found

    def within(self, services: Sequence[S], project: m.Project | None) -> Sequence[S | m.Service]:
        """Return those in a project, reading each in full; all of them if none is named."""
        if project is None:
            return services
        found = self.read_staying(services) if project.id else []
        return [service for service in found if service.project_id == project.id]

    def in_default_project(self, services: Sequence[S]) -> Sequence[S | m.Service]:
        """Return those of several services of a name that are in the default project; all if none is."""
        if len(services) < 2:
            return services
        defaults = oldest_projects(self.projects())
        return [each for each in self.read_staying(services) if each.project_id in defaults] or services

    def one_service(
        self, wanted: str, project: m.Project | None = None, family: str | None = None
    ) -> m.Service | m.ServiceSummary:
        """Return the service with this id, or else the only one with this name, in project and family."""
        services = self.services()
        named = next((service for service in services if service.id == wanted), None)
        if named is not None:
            if project or family:
                there = self.existing_service(wanted)
                check_id_matches(there, family=family, projects=[project] if project else [])
            return named
        fitting: Sequence[m.Service | m.ServiceSummary] = [
            service for service in services if family in (None, service.family)
        ]
        if project:
            fitting = self.named(wanted, project, family)
        return find_service(services, fitting, wanted, self.location)

    def location(self, service: Identifiable) -> str:
        """Describe a service by family, id and project. Leaves the project out if it cannot be read."""
        said = f"{service.family} service {service.id}"
        with suppress(HostedError):
            full = self.service(service.id)
            name = self.project_name(full.project_id) if full else None
            return f"{said} in project {name!r}" if name else said
        return said

    @once
    def settings(self, id: str) -> m.Settings:
        """Return the settings of a game server or an application, databases included."""
        return self.client.one(r.SETTINGS, id=id)

    @once
    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        """Return live metrics by service id; ``None`` for a service whose node cannot be reached."""
        batches = [ids[start : start + METRICS_PER_CALL] for start in range(0, len(ids), METRICS_PER_CALL)]
        found = self.each(batches, lambda own, batch: own.client.metrics(batch))
        return {id: metrics for batch in found for id, metrics in batch.items()}

    def metrics_of(self, id: str) -> m.Metrics | None:
        """Return the live metrics of one service; ``None`` if its node cannot be reached."""
        return self.reads.once(("metrics", id), lambda: self.client.metrics([id])[id])

    # --- Projects ---------------------------------------------------------------------------------

    @once
    def projects(self) -> list[m.Project]:
        """Return all projects."""
        return list(self.client.pages(r.PROJECTS))

    def project(self, wanted: str) -> m.Project:
        """Return the project with this id or name; in check mode, also with one that it gets in this run."""
        projects = self.projects()
        renamed = self.task.foreseen.get(wanted) if self.task else None
        found = (renamed and with_id_or_name(projects, renamed)) or with_id_or_name(projects, wanted)
        if not found:
            raise NoSuchItem(f"unknown project {wanted!r}{near_miss(wanted, (p.name for p in projects))}")
        return found

    def project_to_come(self, wanted: str) -> m.Project:
        """Return the project with this id or name; in check mode, one without an id if it is to be made."""
        try:
            return self.project(wanted)
        except NoSuchItem as error:
            if self.task is None:
                raise
            self.task.expect_created(error, wanted)
            return m.Project.model_construct(id=None, name=wanted)

    def project_name(self, id: str | None) -> str | None:
        """Return the name of the project with this id."""
        return next((project.name for project in self.projects() if project.id == id), None)

    @once
    def page(self, project_id: str) -> m.ProjectDetail | None:
        """Return a project with its services."""
        return self.client.if_any(r.PROJECT, id=project_id)

    def members(self, project: m.Project) -> list[m.ServiceSummary]:
        """Return all services in a project, as its page shows them; none if it is gone or to be made."""
        page = self.page(project.id) if project.id else None
        return page.resources if page else []

    @once
    def graph(self, project_id: str) -> m.ProjectGraph:
        """Return how the services of a project refer to each other."""
        return self.client.one(r.PROJECT_GRAPH, id=project_id)

    @once
    def spend(self, project_id: str) -> m.ProjectSpend:
        """Return what the services of a project cost."""
        return self.client.one(r.PROJECT_SPEND, id=project_id)

    # --- Applications -----------------------------------------------------------------------------

    @once
    def apps(self) -> list[m.App]:
        """Return all applications and databases that have a slug."""
        return list(self.client.pages(r.APPS))

    def apps_by_id(self) -> dict[str, m.App]:
        """Return them by the id that they have as services."""
        return {app.id: app for app in self.apps()}

    def slugs(self) -> dict[str, str]:
        """Return their slugs by id."""
        return {app.id: str(app.slug) for app in self.apps()}

    def app_if_any(self, slug: str) -> m.App | None:
        """Return the application with this slug, unless it is being deleted."""
        return next((app for app in existing(self.apps()) if app.slug == slug), None)

    def app(self, slug: str) -> m.App:
        """Return the application with this slug, unless it is being deleted."""
        found = self.app_if_any(slug)
        if found is None:
            hint = near_miss(slug, (app.slug for app in existing(self.apps())))
            raise NoSuchItem(
                f"this account has no application {slug!r} (hosted.services.app creates one){hint}"
            )
        return found

    def app_to_come(self, slug: str) -> m.App:
        """Return the application with this slug; in check mode, one without an id if it is to be made."""
        try:
            return self.app(slug)
        except NoSuchItem as error:
            if self.task is None:
                raise
            self.task.expect_created(error, slug)
            return m.App.model_construct(id=None, name=slug, slug=slug, status=ServiceStatus.ACTIVE)

    @once
    def app_nodes(self) -> list[m.AppNode]:
        """Return the nodes that can host applications."""
        return list(self.client.pages(r.APP_NODES))

    @once
    def releases(self, slug: str) -> dict[str, m.Release]:
        """Return the declared releases of an application by tag."""
        return {each.tag: each for each in self.client.pages(r.RELEASES, slug=slug)}

    @once
    def scan(self, release: m.Release, slug: str, seconds: float = QUICK_SCAN_SECONDS) -> m.ScanReport:
        """Return the scan report of a declared release; a ``PENDING`` one if there is no verdict in time."""
        report = None
        with suppress(Interrupted):
            report = self.client.scan(slug, release.tag, seconds)
        report = report or m.ScanReport.model_construct(scan_status=ScanStatus.PENDING)
        return report.model_copy(update={"tag": release.tag, "digest": release.digest})

    def release(self, slug: str, tag: str) -> m.ScanReport | None:
        """Return the scan report of a release, if it is declared: others are scanned, too, once pushed."""
        declared = self.releases(slug).get(tag)
        return None if declared is None else self.scan(declared, slug)

    @once
    def registry_credentials(self) -> m.RegistryCredentials:
        """Return the credentials for the account's registry space."""
        return self.client.one(r.REGISTRY_CREDENTIALS)

    def page_of_app(self, app: m.App) -> m.ProjectDetail | None:
        """Return the project of an application with its services; ``None`` if projects cannot be read."""
        return self.project_of_app(app, self.page, lambda page: (each.id for each in page.resources))

    def project_of_app(
        self, app: m.App, read: Callable[[str], T | None], ids: Callable[[T], Iterable[str | None]]
    ) -> T | None:
        """Return the first project, so read, whose ``ids`` have the app; ``None`` if none can be read."""
        with suppress(Refused):
            pages = (read(project.id) for project in self.projects())
            return next((page for page in pages if page is not None and app.id in ids(page)), None)
        return None

    # --- What a service has ---------------------------------------------------------------------------
    # One without an id is still to be made, in check mode, and has nothing yet.

    @once
    def backups(self, id: str) -> list[m.Backup]:
        """Return the backups of a service."""
        return list(self.client.pages(r.BACKUPS, id=id)) if id else []

    @once
    def snapshots(self, id: str) -> list[m.Snapshot]:
        """Return the snapshots of a service."""
        return list(self.client.pages(r.SNAPSHOTS, id=id)) if id else []

    def files(self, id: str, directory: str) -> list[m.FileEntry]:
        """Return the entries of a directory. Its path is relative to the service's root."""
        return list(self.client.pages(r.FILES, {"directory": directory}, id=id)) if id else []

    def read_file(self, id: str, path: str) -> str:
        """Return the content of a text file of at most 2 MB (Limits)."""
        return self.client.one(r.FILE_CONTENTS, query={"path": path}, id=id).content

    @once
    def sftp(self, id: str) -> m.SftpAccess:
        """Return where the files of a service are reached over SFTP."""
        if not id:
            return m.SftpAccess.model_construct(host=None, port=None, username=None)
        return self.client.one(r.SFTP, id=id)

    @once
    def database(self, id: str) -> m.DatabaseInventory:
        """Return the engine and the tables of a database."""
        return self.client.one(r.DATABASE, id=id) if id else m.DatabaseInventory.model_construct(tables=[])

    @once
    def database_connection(self, id: str) -> m.DatabaseConnection:
        """Return the address and the login of a database."""
        return self.client.one(r.CONNECTION, id=id) if id else m.DatabaseConnection.model_construct()

    def database_query(self, id: str, sql: str) -> m.QueryResult:
        """Return the rows that a statement selects."""
        return self.client.database_query(id, sql) if id else no_rows()

    # --- Keys -------------------------------------------------------------------------------------

    @once
    def ssh_keys(self) -> list[m.SshKey]:
        """Return the SSH keys of the account."""
        return list(self.client.pages(r.SSH_KEYS))


def no_rows() -> m.QueryResult:
    """Return the rows of a table that is still to be made."""
    return m.QueryResult.model_construct(columns=[], rows=[])
