# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads an account for one poll, with few calls: lists first, then more only of what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import TypeVar

from ..._api.client import METRICS_PER_CALL, Client
from ..._api.errors import AccessDenied, HostedError, Refused
from ..._api.models import (
    App,
    Backup,
    BillingOverview,
    Event,
    Metrics,
    ServiceSummary,
)
from ..._api.values import BackupStatus, ContainerState, ServiceStatus
from ..shared.account import Account
from .journal import Order, last_order
from .observation import AppMemory, Drift, Observation, ServiceMemory, State, has_container
from .of_account import due
from .of_services import DEPLOY, OF_STATUS, STOPPED

T = TypeVar("T")
MAX_READS = 50
"""How many services are looked at by themselves in one poll. The others get their turn in the next ones."""
MAX_BACKUP_READS = 20
MAX_IDLE_READS = 3
"""How many services that were stopped by order are looked at in one poll, in turn: one may have been started
and have stopped again between two polls."""
FIRST_ENTRIES = 50
"""How far back to look for a power order in an activity journal that was never read."""
SERVICES = "services"
"""The list of services, in what is allowed or refused."""
LIMITED_SECONDS = 3600.0
"""After how long to try again what the token was refused."""


@dataclass(frozen=True)
class Reading:
    """What to read beside the lists, and how often."""

    backup_interval: float = 3600.0
    """0 for never."""
    blueprints: Sequence[str] = ()
    drift_interval: float = 3600.0


@dataclass
class Observer:
    """Reads an account. Remembers only what the token was refused, so as not to try that at each poll."""

    account: Account
    reading: Reading
    compare: Callable[[Client, str], Drift]
    """Compares a blueprint with its project."""
    redact: Callable[[str], str] = str
    """Takes secrets out of what the platform says."""
    problems: list[HostedError] = field(default_factory=list)
    """What could not be read at the last poll."""
    refused: dict[str, datetime] = field(default_factory=dict)
    """What the token may not read, and when that was found."""
    allowed: set[str] = field(default_factory=set)
    """What the token was allowed to read. To be refused that later is a failure, and not its scope."""
    turn: int = 0
    """Where the next look at services that were stopped by order begins."""

    def observe(self, before: State, now: datetime) -> Observation:
        """Read the account. Parts that cannot be read are left out of the observation.

        :raises HostedError: if the list of services cannot be read, and the token is not one that may only
            read applications.
        """
        self.problems = []
        services = self._allowed(SERVICES, now, self._services)
        limited = services is None
        apps = self._apps() if limited else self._tried(self._apps)
        overview = self._allowed("billing", now, lambda: self._tried(self._overview))
        if services is None:
            return Observation(limited=True, apps=apps, overview=overview)
        states = self._states(services)
        entries = self._entries(before, services, states, apps)
        return Observation(
            services=services,
            gone=self._gone(before, services),
            states=states,
            reasons=self._reasons(before, services),
            entries=entries,
            restoring=self._restoring(before, services, states, entries),
            apps=apps,
            overview=overview,
            backups=self._backups(before, services, now),
            drift=self._drift(before, now),
        )

    # --- Lists ----------------------------------------------------------------------------------------

    def _services(self) -> dict[str, ServiceSummary]:
        return {service.id: service for service in self.account.services()}

    def _apps(self) -> dict[str, App]:
        return {app.slug: app for app in self.account.apps()}

    def _overview(self) -> BillingOverview:
        return self.account.client.billing_overview()

    def _states(self, services: Mapping[str, ServiceSummary]) -> dict[str, str | None]:
        """Return the states of the containers. Only a service in service has one to speak of."""
        ids = iter([id for id, service in services.items() if is_watched(service)])
        found: dict[str, str | None] = {}
        while batch := list(islice(ids, METRICS_PER_CALL)):
            with self._noting():
                found.update({id: state_of(metrics) for id, metrics in self.account.metrics(batch).items()})
        return found

    # --- Single services ------------------------------------------------------------------------------

    def _gone(self, before: State, services: Mapping[str, ServiceSummary]) -> frozenset[str]:
        """Return which of the services that the list lacks are gone indeed, as it may show one late."""
        missing = [id for id in before.known_services if id not in services]
        found = set()
        for id in missing[:MAX_READS]:
            with self._noting():
                service = self.account.service(id)
                if service is None or service.status == ServiceStatus.DELETED:
                    found.add(id)
        return frozenset(found)

    def _reasons(self, before: State, services: Mapping[str, ServiceSummary]) -> dict[str, str | None]:
        """Return why creations failed that were not known to have failed."""
        found: dict[str, str | None] = {}
        for id, service in services.items():
            memory = before.known_services.get(id)
            is_known = memory is not None and memory.trouble == OF_STATUS[ServiceStatus.FAILED]
            if service.status == ServiceStatus.FAILED and not is_known and len(found) < MAX_READS:
                with self._noting():
                    page = self.account.service(id)
                    reason = page.failure_reason if page else None
                    found[id] = self.redact(reason) if reason else None
        return found

    def _entries(
        self,
        before: State,
        services: Mapping[str, ServiceSummary],
        states: Mapping[str, str | None],
        apps: Mapping[str, App] | None,
    ) -> dict[str, Sequence[Event]]:
        """Return the new entries of the activity journals of services that changed."""
        deploying = deploying_apps(before.known_apps, apps or {})
        memories = {id: before.known_services.get(id) for id, each in services.items() if is_watched(each)}
        changed = [
            id
            for id, memory in memories.items()
            if id in deploying or needs_journal(memory, services[id], states.get(id))
        ]
        idle = [
            id for id, memory in memories.items() if is_idle(memory, states.get(id)) and id not in changed
        ]
        found: dict[str, Sequence[Event]] = {}
        for id in [*changed[:MAX_READS], *self._in_turn(idle)]:
            memory = memories[id]
            with self._noting():
                found[id] = self._new_entries(id, memory.entry if memory else None)
        return found

    def _in_turn(self, idle: Sequence[str]) -> Sequence[str]:
        """Return the next few of the services that were stopped by order."""
        if not idle:
            return []
        begin = self.turn % len(idle)
        self.turn = begin + MAX_IDLE_READS
        return [*idle[begin:], *idle[:begin]][:MAX_IDLE_READS]

    def _new_entries(self, id: str, last: str | None) -> Sequence[Event]:
        if last is None:
            return self.account.client.events(id, FIRST_ENTRIES)[::-1]
        return self.account.client.events(id, since=last)[::-1]

    def _restoring(
        self,
        before: State,
        services: Mapping[str, ServiceSummary],
        states: Mapping[str, str | None],
        entries: dict[str, Sequence[Event]],
    ) -> frozenset[str]:
        """Return the services that stopped while a backup is restored into them.

        The activity journal may say so only when the restore ends, which may be between two reads: so it is
        read again where none is under way. Only what may be told as stopped is looked at.
        """
        found = set()
        for id, fresh in [*entries.items()]:
            memory = before.known_services.get(id)
            is_stopped = states.get(id) == ContainerState.STOPPED and can_back_up(services[id])
            if is_stopped and is_unexplained(memory, fresh):
                with self._noting():
                    if any(backup.status == BackupStatus.RESTORING for backup in self._backups_of(id)):
                        found.add(id)
                    else:
                        entries[id] = self._new_entries(id, memory.entry if memory else None)
        return frozenset(found)

    def _backups(
        self, before: State, services: Mapping[str, ServiceSummary], now: datetime
    ) -> dict[str, Sequence[Backup]]:
        """Return the backups of the services whose turn it is, those that waited longest first."""
        seconds = self.reading.backup_interval
        if not seconds:
            return {}
        looked = {id: backups_looked(before.known_services.get(id)) for id in services}
        waiting = sorted(
            (
                id
                for id, service in services.items()
                if can_back_up(service) and due(looked[id], now, seconds)
            ),
            key=lambda id: looked[id] or "",
        )
        found: dict[str, Sequence[Backup]] = {}
        for id in waiting[:MAX_BACKUP_READS]:
            with self._noting():
                found[id] = self._backups_of(id)
        return found

    def _backups_of(self, id: str) -> Sequence[Backup]:
        """Return the backups of a service; none of one that does not offer any (Errors)."""
        try:
            return self.account.backups(id)
        except Refused as error:
            if error.may_mean_not_offered:
                return []
            raise

    def _drift(self, before: State, now: datetime) -> dict[str, Drift]:
        """Return how the blueprint compares whose turn it is: one in each poll, as it takes many calls."""
        looked = {path: memory.looked for path, memory in before.drift.items()}
        waiting = [
            path
            for path in self.reading.blueprints
            if due(looked.get(path), now, self.reading.drift_interval)
        ]
        for path in sorted(waiting, key=lambda path: looked.get(path, ""))[:1]:
            with self._noting():
                return {path: self.compare(self.account.client, path)}
        return {}

    # --- Errors ---------------------------------------------------------------------------------------

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Note what cannot be read, and go on without it."""
        try:
            yield
        except HostedError as error:
            self.problems.append(error)

    def _tried(self, read: Callable[[], T]) -> T | None:
        """Return what a call gives; ``None`` if it fails, unless the token is refused."""
        try:
            return read()
        except AccessDenied:
            raise
        except HostedError as error:
            self.problems.append(error)
            return None

    def _allowed(self, what: str, now: datetime, read: Callable[[], T]) -> T | None:
        """Return what a call gives; ``None`` if the token is good and may not make it.

        :raises AccessDenied: if the token itself is not accepted, or may no longer list services: without
            them, there is nothing to watch.
        """
        if self._is_refused(what, now):
            return None
        try:
            found = read()
        except AccessDenied as error:
            self.account.client.whoami()
            if what == SERVICES and what in self.allowed:
                raise
            self._note_refused(what, error, now)
            return None
        self._note_allowed(what)
        return found

    def _is_refused(self, what: str, now: datetime) -> bool:
        """Tell whether something was refused so lately that it is not tried again."""
        since = self.refused.get(what)
        return since is not None and abs((now - since).total_seconds()) < LIMITED_SECONDS

    def _note_refused(self, what: str, error: AccessDenied, now: datetime) -> None:
        """Note that the token may not read something. What it could read before is tried at each poll."""
        self.problems.append(error)
        if what not in self.allowed:
            self.refused[what] = now

    def _note_allowed(self, what: str) -> None:
        """Note that the token may read something."""
        self.refused.pop(what, None)
        self.allowed.add(what)


def is_watched(service: ServiceSummary) -> bool:
    """Tell whether the container of a service is looked at."""
    return service.status == ServiceStatus.ACTIVE and has_container(service)


def can_back_up(service: ServiceSummary) -> bool:
    """Tell whether a service may have backups to look at."""
    return service.status in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED) and has_container(service)


def state_of(metrics: Metrics | None) -> str | None:
    """Return the state of a container; ``None`` if it is unknown."""
    state = metrics.state if metrics else None
    return state if state in ContainerState.KNOWN else None


def backups_looked(memory: ServiceMemory | None) -> str | None:
    """Return when the backups of a service were read last."""
    return memory.backups.looked if memory and memory.backups else None


def deploying_apps(before: Mapping[str, AppMemory], apps: Mapping[str, App]) -> frozenset[str]:
    """Return the ids of the applications that have another image than before, or wait to run with it."""
    return frozenset(
        app.id
        for slug, app in apps.items()
        if (memory := before.get(slug)) is not None
        and (memory.deploying_since is not None or memory.is_replaced_by(app))
    )


def needs_journal(memory: ServiceMemory | None, service: ServiceSummary, state: str | None) -> bool:
    """Tell whether the activity journal may say why a service is as it is."""
    if memory is None or memory.state is None:
        return state == ContainerState.STOPPED
    if memory.status != service.status or (state is not None and memory.state != state):
        return True
    is_open = memory.start_ordered or memory.trouble in (STOPPED, DEPLOY)
    return state == ContainerState.STOPPED and is_open


def is_unexplained(memory: ServiceMemory | None, entries: Sequence[Event]) -> bool:
    """Tell whether a container that is stopped now was not stopped before, and nobody ordered it to stop."""
    order = last_order(entries)
    if order is None and memory is not None:
        is_news = memory.state != ContainerState.STOPPED or memory.start_ordered
        return is_news and not memory.stop_ordered
    return order is not Order.STOP


def is_idle(memory: ServiceMemory | None, state: str | None) -> bool:
    """Tell whether a service is stopped as before, and was not told to be in trouble."""
    return memory is not None and memory.state == state == ContainerState.STOPPED
