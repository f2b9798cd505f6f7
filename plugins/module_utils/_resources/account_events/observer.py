# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads an account for one poll, with few calls: lists first, then more only of what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..._api import models as m
from ..._api.client import METRICS_PER_CALL, Client
from ..._api.errors import AccessDenied, HostedError, Refused
from ..._api.values import WITHOUT_CONTAINER, BackupStatus, ContainerState, ServiceStatus
from ..shared.account import Account
from ..shared.restore_points import parse_moment
from .state import DEPLOY, START, STOPPED, AppMemory, ServiceMemory, SourceOptions, State

MAX_READS = 50
"""How many services are looked at by themselves in one poll. The others get their turn in the next ones."""
MAX_BACKUP_READS = 20
MAX_IDLE_READS = 3
"""How many services that were stopped by order are looked at in one poll, in turn: one may have been started
and have stopped again between two polls."""
FIRST_ENTRIES = 50
"""How far back to look for a power order in an activity journal that was never read."""
LIMITED_SECONDS = 3600.0
"""After how long to try again to list services, if the token was refused that."""


@dataclass(frozen=True)
class Drift:
    project: str
    differences: Sequence[Mapping[str, Any]] = ()


@dataclass
class Observation:
    """What one poll saw. A part that could not be read is ``None``, or lacks what could not be read."""

    services: Mapping[str, m.ServiceSummary] | None = None
    """The services by id, as are all parts below but one."""
    limited: bool = False
    """Whether the token may only read applications."""
    states: dict[str, str] = field(default_factory=dict)
    """The states of containers."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why creations failed."""
    entries: dict[str, Sequence[m.Event]] = field(default_factory=dict)
    """The new entries of activity journals, oldest first."""
    restoring: set[str] = field(default_factory=set)
    """Stopped services into which a backup is being restored."""
    apps: Mapping[str, m.App] | None = None
    overview: m.BillingOverview | None = None
    backups: dict[str, Sequence[m.Backup]] = field(default_factory=dict)
    """All backups of the services whose turn it was."""
    drift: dict[str, Drift] = field(default_factory=dict)
    """Comparisons by the path of the blueprint."""


@dataclass
class Observer:
    """Reads an account. Remembers only what the token was refused, so as not to try that at each poll."""

    account: Account
    options: SourceOptions
    compare: Callable[[Client, str], Drift]
    """Compares a blueprint with its project."""
    redact: Callable[[str], str] = str
    problems: list[HostedError] = field(default_factory=list)
    """What could not be read at the last poll."""
    limited_since: datetime | None = None
    """Since when the token may only read applications; ``None`` if it may read all."""
    listed: bool = False
    """Whether the token could list services. To be refused that later is a failure, and not its scope."""
    turn: int = 0
    """Where the next look at services that were stopped by order begins."""

    def observe(self, before: State, now: datetime) -> Observation:
        """Read the account. Parts that cannot be read are left out of the observation.

        :raises HostedError: if the list of services cannot be read, and the token is not one that may only
            read applications.
        """
        self.problems = []
        services = self._services(now)
        if services is None:
            return Observation(limited=True, apps=self.account.apps_by_id())
        seen = Observation(services)
        with self._noting():
            seen.apps = self.account.apps_by_id()
        with self._noting():
            seen.overview = self.account.client.billing_overview()
        active = (service for service in services.values() if service.status == ServiceStatus.ACTIVE)
        watched = [service.id for service in active if has_container(service)]
        self._read_states(watched, seen)
        self._explain(before, seen, watched)
        self._read_reasons(before, seen)
        self._read_backups(before, seen, now)
        self._read_drift(before, seen, now)
        return seen

    def _services(self, now: datetime) -> dict[str, m.ServiceSummary] | None:
        """Return the services; ``None`` if the token is good and may not list them.

        :raises AccessDenied: if the token itself is not accepted, or may no longer list services: without
            them, there is nothing to watch.
        """
        since = self.limited_since
        if since is not None and abs((now - since).total_seconds()) < LIMITED_SECONDS:
            return None
        try:
            found = {service.id: service for service in self.account.services()}
        except AccessDenied as error:
            self.account.client.whoami()
            if self.listed:
                raise
            self.problems.append(error)
            self.limited_since = now
            return None
        self.listed, self.limited_since = True, None
        return found

    def _read_states(self, watched: Sequence[str], seen: Observation) -> None:
        """Read the states of containers in parallel. A call that fails leaves only its own unknown."""

        def read(own: Account, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
            try:
                return own.metrics(ids)
            except HostedError as error:
                self.problems.append(error)
                return {}

        size = METRICS_PER_CALL
        batches = [watched[start : start + size] for start in range(0, len(watched), size)]
        for found in self.account.each(batches, read):
            for id, metrics in found.items():
                if metrics and metrics.state in ContainerState.KNOWN:
                    seen.states[id] = metrics.state

    def _explain(self, before: State, seen: Observation, watched: Sequence[str]) -> None:
        """Read the new journal entries of services that changed, and which stopped ones are restored."""
        memories = {id: before.known_services.get(id) for id in watched}
        deploying = {
            id
            for id, app in (seen.apps or {}).items()
            if (was := before.known_apps.get(id)) and (was.deploying_since or is_replaced(was, app))
        }
        changed, idle = list[str](), list[str]()
        for id, memory in memories.items():
            if id in deploying or needs_journal(memory, seen.states.get(id)):
                changed.append(id)
            elif memory and memory.state == seen.states.get(id) == ContainerState.STOPPED:
                idle.append(id)
        begin = self.turn % len(idle) if idle else 0
        self.turn = begin + MAX_IDLE_READS if idle else self.turn
        for id in [*changed[:MAX_READS], *[*idle[begin:], *idle[:begin]][:MAX_IDLE_READS]]:
            self._read_journal(id, memories[id], seen)

    def _read_journal(self, id: str, memory: ServiceMemory | None, seen: Observation) -> None:
        known = memory and memory.state == ContainerState.STOPPED and memory.ordered != START
        if seen.states.get(id) == ContainerState.STOPPED and not known:
            with self._noting():  # first, as the journal may tell of a restore only when that has ended
                if any(each.status == BackupStatus.RESTORING for each in self._backups_of(id)):
                    seen.restoring.add(id)
        with self._noting():
            last, client = memory.entry if memory else None, self.account.client
            new = client.events(id, since=last) if last else client.events(id, FIRST_ENTRIES)
            seen.entries[id] = new[::-1]

    def _read_reasons(self, before: State, seen: Observation) -> None:
        known, status = before.known_services, ServiceStatus.FAILED
        failed = [id for id, service in (seen.services or {}).items() if service.status == status]
        new = [id for id in failed if id not in known or known[id].status != status]
        for id in new[:MAX_READS]:
            with self._noting():
                page = self.account.service(id)
                if page and page.failure_reason:
                    seen.reasons[id] = self.redact(page.failure_reason)

    def _read_backups(self, before: State, seen: Observation, now: datetime) -> None:
        """Read the backups of the services whose turn it is, those that waited longest first."""
        if not self.options.backup_interval:
            return
        looked = {
            id: was.backups.looked if (was := before.known_services.get(id)) and was.backups else ""
            for id, service in (seen.services or {}).items()
            if service.status in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED) and has_container(service)
        }
        for id in due(looked, now, self.options.backup_interval)[:MAX_BACKUP_READS]:
            with self._noting():
                seen.backups[id] = self._backups_of(id)

    def _backups_of(self, id: str) -> Sequence[m.Backup]:
        """Return the backups of a service; none of one that does not offer any (Errors)."""
        try:
            return self.account.backups(id)
        except Refused as error:
            if error.may_mean_not_offered:
                return []
            raise

    def _read_drift(self, before: State, seen: Observation, now: datetime) -> None:
        """Compare the blueprint whose turn it is: one in each poll, as it takes many calls."""
        looked = {
            path: was.looked if (was := before.drift.get(path)) else ""
            for path in self.options.blueprint_paths
        }
        for path in due(looked, now, self.options.drift_interval)[:1]:
            with self._noting():
                seen.drift[path] = self.compare(self.account.client, path)

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except HostedError as error:
            self.problems.append(error)


def has_container(service: m.ServiceSummary | ServiceMemory) -> bool:
    return service.family not in WITHOUT_CONTAINER


def is_replaced(was: AppMemory, app: m.App) -> bool:
    """Tell whether another image is in service, or the same one anew."""
    anew = bool(app.released_at and was.released_at) and app.released_at != was.released_at
    return bool(app.image_ref) and (anew or app.image_ref != was.image)


def needs_journal(memory: ServiceMemory | None, state: str | None) -> bool:
    """Tell whether the activity journal may say why a service that is ``ACTIVE`` is as it is."""
    if memory is None or memory.state is None:
        return state == ContainerState.STOPPED
    if memory.status != ServiceStatus.ACTIVE or (state is not None and memory.state != state):
        return True
    is_open = memory.ordered == START or memory.trouble in (STOPPED, DEPLOY)
    return state == ContainerState.STOPPED and is_open


def due(looked: Mapping[str, str], now: datetime, seconds: float) -> list[str]:
    """Return what is to be looked at again, what waited longest first. A clock may have been set back."""
    moments = {name: parse_moment(text) for name, text in looked.items()}
    found = [
        name for name, last in moments.items() if not last or abs((now - last).total_seconds()) >= seconds
    ]
    return sorted(found, key=lambda name: looked[name])
