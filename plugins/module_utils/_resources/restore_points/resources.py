# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules of backups and of snapshots share: options, names, results, and how fresh copies are.

Also how a restore or a rollback is seen to begin and to end, on a platform that may show that late or not at
all: neither the answers of their routes are shown, nor when a backup becomes RESTORING.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, ClassVar, TypeVar
from unicodedata import category

from ..._api import routes as r
from ..._api.errors import HostedError
from ..._api.models import Backup, Service, Snapshot
from ..._api.text import first_of
from ..._api.values import BackupStatus, ServiceStatus
from ..services.many_services import (
    ManyServicesOptions,
    Operation,
    PlanOne,
    plan_many,
)
from ..shared.account import Account
from ..shared.change import Change, Gone, Listed, apply
from ..shared.identify import label
from ..shared.names import fits, same_name
from ..shared.options import Options, WaitOptions, option, required
from ..shared.plan import Plan, Resource, Task
from ..shared.restore_points import BACKUPS, as_restore_point, newest_complete, parse_moment
from ..shared.retention import RestorePoint, Span, read_span
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import FIRST_PAUSE, wait_until

C = TypeVar("C", Backup, Snapshot)
T = TypeVar("T")
FRESH, STALE, MISSING = "fresh", "stale", "missing"
MAX_NAMED_COPIES = 5
EVENTS_READ = 20
START_PAUSE = 2.0
"""The longest pause between two looks for the start of something, which may be over soon after it."""


@dataclass(frozen=True, kw_only=True)
class RestorePointOptions(ManyServicesOptions, WaitOptions):
    """Which restore point of which services, what to do with it, and for how long nothing may change then."""

    name: str = required(selects=True)
    state: str = "present"
    confirm: bool = False
    allow_partial: bool = False
    quiet_time: float = 30.0


@dataclass(frozen=True, kw_only=True)
class RestorePointInfoOptions(ManyServicesOptions):
    """Which restore points of which services to read, and how old the newest may be."""

    pattern: str = option("*", selects=True)
    max_age: str | None = option(None, selects=True)


RestorePointOptionsT = TypeVar("RestorePointOptionsT", bound=RestorePointOptions)


class RestorePointResource(Resource[RestorePointOptionsT]):
    """A copy of each selected service, by its name. ``kind`` is backups or snapshots."""

    result_key = "services"
    kind: ClassVar[str]
    restored_state: ClassVar[str]
    """The state in which a service is brought back to its copy."""

    @abstractmethod
    def planners(self) -> Mapping[str, PlanOne]:
        """Return how to plan for each state."""

    def plan(self, task: Task[RestorePointOptionsT]) -> Plan:
        """Make, bring back or delete, on difference only; to bring back is always a difference."""
        one, state, partial = self.kind[:-1], task.options.state, task.options.allow_partial
        brings_back = state == self.restored_state
        if partial and not brings_back:
            raise Invalid(
                f"allow_partial is for state: {self.restored_state}; leave it out with state: {state}"
            )
        name = task.options.name
        if state == "present" and (name != name.strip() or any(category(char) == "Cc" for char in name)):
            tidied = "it must not begin or end with a blank, or hold a control character"
            raise Invalid(f"name is {name!r}; {tidied}")
        operation = Operation(
            self.kind,
            self.kind,
            self.planners()[state],
            result_of(one, None),
            all_or_none=brings_back and not partial,
            though_gone=state == "absent",
            destroys=state != "present",
        )
        return plan_many(task, operation)


def result_of(
    one: str,
    copy: Backup | Snapshot | None,
    overwrites: str | None = None,
    trace: RestoreTrace | None = None,
    gone: Sequence[Backup | Snapshot] = (),
) -> dict[str, Any]:
    """Return what the result says about a service: its copy, and what bringing that back overwrites.

    ``trace`` is what a restore or a rollback left behind, where it was waited for; ``gone`` are the copies
    that vanished though the task did not delete them.
    """
    return {
        one: copy.as_dict() if copy else None,
        "overwrites": overwrites,
        "start_seen": trace.start_seen if trace else None,
        "events": trace.events if trace else None,
        "vanished": [copy.as_dict() for copy in gone],
    }


def read_copies(account: Account, kind: str, service_id: str) -> Sequence[Backup | Snapshot]:
    """Return the backups or the snapshots of a service."""
    return account.backups(service_id) if kind == BACKUPS else account.snapshots(service_id)


def deletion(kind: str, service: Service, id: str, name: str, *, at: str = "", busy: bool = False) -> Change:
    """Return the change that deletes a copy: a backup by its id, a snapshot by its name."""
    what = f"{kind[:-1]} {name!r} of {label(service)}"
    ids = {"id": service.id}
    if kind == BACKUPS:
        gone = Gone(Listed(Account.backups, (service.id,), id=id))
        ids, route = {**ids, "backup_id": id}, r.BACKUP_DELETE
    else:
        gone = Gone(Listed(Account.snapshots, (service.id,), name=name))
        ids, route = {**ids, "name": name}, r.SNAPSHOT_DELETE
    return Change(what=what, route=route, ids=ids, shown=gone, at=at, busy=busy)


# --- Names, and copies that disappear ---------------------------------------------------------------


def named(name: str, copies: Iterable[C]) -> list[C]:
    """Return the copies of this name, of which a service may have several."""
    return [copy for copy in copies if same_name(copy.name, name)]


def vanished(
    task: Task[Options], kind: str, service: Service, what: str, *, before: Iterable[C], now: Iterable[C]
) -> list[C]:
    """Return the copies that disappeared with ``what``, which did not delete them, and warn of them.

    Snapshots are identified by name.
    """
    there = {copy.id or copy.name for copy in now}
    gone = [copy for copy in before if (copy.id or copy.name) not in there]
    if gone:
        named = [f"{copy.name!r} of {copy.created_at or 'unknown date'}" for copy in gone]
        task.warn(
            f"after {what}, {len(gone)} {kind}{'s' if len(gone) > 1 else ''} of {label(service)} "
            f"{'are' if len(gone) > 1 else 'is'} no longer on its list: {first_of(named, MAX_NAMED_COPIES)}. "
            "This task did not delete them: the platform may have deleted them to make room, or another run "
            "may have"
        )
    return gone


# --- Restores ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Observation:
    """What one look shows: the status of the backup, and the newest event of the journal.

    An event of ``None`` is one that could not be read, or that nobody needs to know any more. Where the
    journal is empty, it is an empty string.
    """

    status: str | None
    event: str | None = None


@dataclass(frozen=True)
class RestoreTrace:
    """What a restore or a rollback left behind, once it was waited for.

    ``events`` are the types of the events that the journal gained, the newest first; ``None`` where it could
    not be read.
    """

    start_seen: bool
    events: list[str] | None


def bring_back(
    task: Task[RestorePointOptions],
    service: Service,
    change: Change,
    missed: str,
    read_status: Callable[[], str] | None = None,
) -> RestoreTrace | None:
    """Restore or roll back, once. If the task waits, return what was seen once it is over.

    It is over when it was seen to begin and to end, or when nothing changed for the quiet time.

    :param missed: what would have shown the start.
    :param read_status: reads the status of a COMPLETED backup, and raises if its restore failed. A snapshot
        has none.
    """
    at_rest = BackupStatus.COMPLETED if read_status else None
    before = last = Observation(at_rest, newest_event(task, service))
    apply(task, change, wait=False)
    if not task.options.wait:
        return None

    def look() -> Observation:
        nonlocal last
        status = read_status() if read_status else None
        event = (newest_event(task, service) or last.event) if status == at_rest else None
        last = Observation(status, event)
        return last

    quiet = quiet_seconds(task)
    seen, moved = wait_through(
        task,
        look,
        lambda sight: sight.status != at_rest,
        lambda sight: f"the backup is {sight.status}" if sight.status else "nothing shows how far it is",
        change.what,
        before=before,
        quiet=quiet,
    )
    began = seen if at_rest else moved
    if not began:
        task.warn(
            f"the start of {change.what} was not seen: {missed} for {quiet:g} seconds. It is "
            "assumed to be done, but that is not certain. Check the files of the service before you use it; "
            "raise quiet_time if the platform begins later than that"
        )
    # An old failure is no sign, so where the newest event of before is not known, nothing is.
    gained = None if before.event is None else events_since(task, service, before.event)
    for kind in gained or ():
        if kind.endswith("_FAILED"):  # it may leave everything as it was
            raise WaitEnded(
                f"{change.what} failed: the journal has {kind} since. The call was not sent again. Check the "
                "files of the service before you use it",
                events=gained,
            )
    return RestoreTrace(began, gained)


def quiet_seconds(task: Task[RestorePointOptions]) -> float:
    """Return the quiet time. A short wait makes it shorter, as a change begins it anew within that wait."""
    return float(min(task.options.quiet_time, task.options.wait_timeout / 2))


def wait_through(
    task: Task[WaitOptions],
    read: Callable[[], T],
    under_way: Callable[[T], bool],
    describe: Callable[[T], str],
    goal: str,
    *,
    before: T,
    quiet: float,
) -> tuple[bool, bool]:
    """Wait for what a call started. Return whether it was seen under way, and whether anything changed.

    The platform may show the beginning late or never. So it counts as over if it was seen ``under_way`` and
    no longer is, or if nothing changed for ``quiet`` seconds; the caller then warns.

    :param under_way: may raise to end the wait.
    :param before: what was read before the call.
    :raises WaitEnded: after ``wait_timeout`` seconds, with what was read last.
    """
    last, began, moved, still_since = before, False, False, time.monotonic()

    def over(now: T) -> bool:
        nonlocal last, began, moved, still_since
        if now != last:
            last, moved, still_since = now, True, time.monotonic()
        if under_way(now):
            began = True
            return False
        return began or time.monotonic() - still_since >= quiet

    def longest_pause() -> float:
        if began:
            return float(task.options.wait_interval)
        left = still_since + quiet - time.monotonic()  # so that the quiet time is not overstayed
        return max(min(START_PAUSE, left), FIRST_PAUSE)

    wait_until(task, read, over, describe, goal, longest_pause=longest_pause)
    return began, moved


def newest_event(task: Task[Options], service: Service) -> str | None:
    """Return the id of the newest event; empty if there is none, ``None`` if the journal cannot be read."""
    with suppress(HostedError):
        return next((event.id for event in task.client.events(service.id, 1)), "")
    return None


def events_since(task: Task[Options], service: Service, last: str) -> list[str] | None:
    """Return the types of the events after the one of the id ``last``, the newest first."""
    with suppress(HostedError):
        events = task.client.events(service.id, EVENTS_READ)
        return [str(event.type) for event in takewhile(lambda event: event.id != last, events)]
    return None


# --- Reading ----------------------------------------------------------------------------------------


class RestorePointInfoResource(Resource[RestorePointInfoOptions]):
    """The copies of each selected service, and whether the newest good one is young enough."""

    result_key = "services"
    kind: ClassVar[str]

    def plan(self, task: Task[RestorePointInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        limit, pattern = read_span(task.options.max_age), task.options.pattern

        def read(own: Task[RestorePointInfoOptions], service: Service) -> Plan:
            if not service.id:  # foreseen: it may have copies by then
                return Plan(result=blank)
            found = read_copies(own.account, self.kind, service.id)
            fitting = [(copy, as_restore_point(copy)) for copy in found if fits(copy.name, pattern)]
            return Plan(
                result={
                    self.kind: [one.as_dict() for one, __ in fitting],
                    **freshness(fitting, limit, fresh_until(service, own.client.clock.now())),
                }
            )

        blank: dict[str, Any] = {self.kind: [], "newest": None, "age_hours": None, "freshness": None}
        plan = plan_many(task, Operation(self.kind, self.kind, read, blank, though_gone=limit is None))
        now = (task.platform_now() if limit else None) or task.client.clock.now()
        task.effects.facts["at"] = f"{now:%Y-%m-%dT%H:%M:%SZ}"
        return plan


def fresh_until(service: Service, now: datetime) -> datetime:
    """Return up to when the age of the copies of a service counts: now, or when it was suspended.

    What is suspended does not change, so its newest copy is as good as it was then.
    """
    if service.status != ServiceStatus.SUSPENDED or service.dates is None:
        return now
    suspended = parse_moment(service.dates.suspended_at)
    return now if suspended is None else min(now, suspended)


def freshness(
    found: Sequence[tuple[Backup | Snapshot, RestorePoint]], limit: Span | None, now: datetime
) -> dict[str, Any]:
    """Return the newest good copy, its age in hours at a moment, and the verdict on it.

    ``limit`` is the greatest age that is fresh; without one there is no verdict. A copy from the future, as a
    clock that goes wrong makes it, has the age 0.
    """
    best = newest_complete(copy for __, copy in found)
    made = best.created_at if best else None
    verdict = None
    if limit is not None:
        verdict = MISSING if made is None else FRESH if made >= limit.before(now, UTC) else STALE
    return {
        "newest": next((one.as_dict() for one, copy in found if copy is best), None),
        "age_hours": max(0, (now - made) // timedelta(hours=1)) if made else None,
        "freshness": verdict,
    }
