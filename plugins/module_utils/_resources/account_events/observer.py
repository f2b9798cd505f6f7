# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads an account for one poll, with few calls: lists first, then more only of what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from ..._api import models as m
from ..._api.client import Client
from ..._api.errors import AccessDenied, HostedError, Refused
from ..._api.values import BackupStatus, ContainerState, ServiceStatus
from ..shared.account import Account
from .arguments import SourceOptions
from .journal import START
from .observation import Drift, Observation, ServiceMemory, State, has_container
from .of_account import due
from .of_services import DEPLOY, OF_STATUS, STOPPED

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


@dataclass
class Observer:
    """Reads an account. Remembers only what the token was refused, so as not to try that at each poll."""

    account: Account
    options: SourceOptions
    compare: Callable[[Client, str], Drift]
    """Compares a blueprint with its project."""
    redact: Callable[[str], str] = str
    """Takes secrets out of what the platform says."""
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
        apps = overview = None
        with self._noting():
            apps = self.account.apps_by_id()
        with self._noting():
            overview = self.account.client.billing_overview()
        states = self._states(services)
        entries, restoring = self._explained(before, services, states, apps)
        return Observation(
            services=services,
            states=states,
            reasons=self._reasons(before, services),
            entries=entries,
            restoring=restoring,
            apps=apps,
            overview=overview,
            backups=self._backups(before, services, now),
            drift=self._drift(before, now),
        )

    # --- Lists ----------------------------------------------------------------------------------------

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

    def _states(self, services: Mapping[str, m.ServiceSummary]) -> dict[str, str | None]:
        """Return the states of the containers. Only a service in service has one to speak of."""
        found: dict[str, str | None] = {}
        with self._noting():
            watched = [id for id, service in services.items() if is_watched(service)]
            for id, metrics in self.account.metrics(watched).items():
                state = metrics.state if metrics else None
                found[id] = state if state in ContainerState.KNOWN else None
        return found

    # --- Single services ------------------------------------------------------------------------------

    def _reasons(self, before: State, services: Mapping[str, m.ServiceSummary]) -> dict[str, str | None]:
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

    def _explained(
        self,
        before: State,
        services: Mapping[str, m.ServiceSummary],
        states: Mapping[str, str | None],
        apps: Mapping[str, m.App] | None,
    ) -> tuple[dict[str, Sequence[m.Event]], frozenset[str]]:
        """Return the new journal entries of services that changed, and the stopped ones that are restored."""
        memories = {id: before.known_services.get(id) for id, each in services.items() if is_watched(each)}
        known = [(app, before.known_apps[id]) for id, app in (apps or {}).items() if id in before.known_apps]
        deploying = {app.id for app, was in known if was.deploying_since or was.is_replaced_by(app)}
        changed = [
            id
            for id, memory in memories.items()
            if id in deploying or needs_journal(memory, services[id], states.get(id))
        ]
        stopped = [id for id in memories if states.get(id) == ContainerState.STOPPED and id not in changed]
        idle = [id for id in stopped if (memory := memories[id]) and memory.state == ContainerState.STOPPED]
        entries: dict[str, Sequence[m.Event]] = {}
        restoring = set()
        begin = self.turn % len(idle) if idle else 0
        self.turn = begin + MAX_IDLE_READS if idle else self.turn
        for id in [*changed[:MAX_READS], *[*idle[begin:], *idle[:begin]][:MAX_IDLE_READS]]:
            memory = memories[id]
            was_stopped = memory and memory.state == ContainerState.STOPPED and memory.ordered != START
            if states.get(id) == ContainerState.STOPPED and not was_stopped:
                with self._noting():  # first, as the journal may tell of a restore only when that has ended
                    if any(each.status == BackupStatus.RESTORING for each in self._backups_of(id)):
                        restoring.add(id)
            with self._noting():
                last, client = memory.entry if memory else None, self.account.client
                new = client.events(id, since=last) if last else client.events(id, FIRST_ENTRIES)
                entries[id] = new[::-1]
        return entries, frozenset(restoring)

    def _backups(
        self, before: State, services: Mapping[str, m.ServiceSummary], now: datetime
    ) -> dict[str, Sequence[m.Backup]]:
        """Return the backups of the services whose turn it is, those that waited longest first."""
        seconds = self.options.backup_interval
        if not seconds:
            return {}
        able = [
            id
            for id, service in services.items()
            if service.status in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED) and has_container(service)
        ]
        known = {id: memory.backups for id, memory in before.known_services.items()}
        looked = {id: backups.looked if (backups := known.get(id)) else "" for id in able}
        waiting = [id for id in able if due(looked[id], now, seconds)]
        found: dict[str, Sequence[m.Backup]] = {}
        for id in sorted(waiting, key=lambda id: looked[id])[:MAX_BACKUP_READS]:
            with self._noting():
                found[id] = self._backups_of(id)
        return found

    def _backups_of(self, id: str) -> Sequence[m.Backup]:
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
        paths, seconds = self.options.blueprint_paths, self.options.drift_interval
        waiting = [path for path in paths if due(looked.get(path), now, seconds)]
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


def is_watched(service: m.ServiceSummary) -> bool:
    """Tell whether the container of a service is looked at."""
    return service.status == ServiceStatus.ACTIVE and has_container(service)


def needs_journal(memory: ServiceMemory | None, service: m.ServiceSummary, state: str | None) -> bool:
    """Tell whether the activity journal may say why a service is as it is."""
    if memory is None or memory.state is None:
        return state == ContainerState.STOPPED
    if memory.status != service.status or (state is not None and memory.state != state):
        return True
    is_open = memory.ordered == START or memory.trouble in (STOPPED, DEPLOY)
    return state == ContainerState.STOPPED and is_open
