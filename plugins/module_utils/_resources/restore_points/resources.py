# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules of backups and of snapshots share: options, names, results, and how fresh copies are.

Also how a restore or a rollback is seen to begin and to end, which the platform may show late or not at all.
"""

from __future__ import annotations

import time
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
from ..._api.text import counted, first_of
from ..._api.values import BackupStatus, ServiceStatus
from ..services.many_services import ManyServicesOptions, Operation, PlanOne, plan_many
from ..shared.account import Account
from ..shared.change import Change, Gone, Listed, apply
from ..shared.identify import label
from ..shared.names import fits, same_name
from ..shared.options import Options, WaitOptions, option, required
from ..shared.plan import Plan, Resource, Step, Task
from ..shared.restore_points import BACKUPS, as_restore_point, newest_complete, parse_moment
from ..shared.retention import RestorePoint, Span, read_span
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import FIRST_PAUSE, wait_until

C = TypeVar("C", Backup, Snapshot)
Trace = dict[str, Any]
"""Whether a restore or a rollback was seen to begin, and the types of the events since, the newest first."""
FRESH, STALE, MISSING = "fresh", "stale", "missing"
MAX_NAMED_COPIES = 5
EVENTS_READ = 20
START_PAUSE = 2.0
"""The longest pause between two looks for the start of something, which may be over soon after it."""


@dataclass(frozen=True, kw_only=True)
class RestorePointOptions(ManyServicesOptions, WaitOptions):
    name: str = required(selects=True)
    state: str = "present"
    confirm: bool = False
    allow_partial: bool = False
    quiet_time: float = 30.0


@dataclass(frozen=True, kw_only=True)
class RestorePointInfoOptions(ManyServicesOptions):
    pattern: str = option("*", selects=True)
    max_age: str | None = option(None, selects=True)


RestorePointOptionsT = TypeVar("RestorePointOptionsT", bound=RestorePointOptions)


class RestorePointResource(Resource[RestorePointOptionsT]):
    """A copy of each selected service, by its name. ``kind`` is backups or snapshots."""

    result_key = "services"
    kind: ClassVar[str]
    restored_state: ClassVar[str]
    """The state in which a service is brought back to its copy."""
    planners: ClassVar[Mapping[str, PlanOne]]
    """By state."""

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
            raise Invalid(
                f"name is {name!r}; it must not begin or end with a blank, or hold a control character"
            )
        operation = Operation(
            self.kind,
            self.kind,
            self.planners[state],
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
    trace: Trace | None = None,
    gone: Sequence[Backup | Snapshot] = (),
) -> dict[str, Any]:
    """Return what the result says about a service: its copy, and what bringing that back overwrites.

    ``gone`` are the copies that vanished though the task did not delete them.
    """
    return {
        one: copy.as_dict() if copy else None,
        "overwrites": overwrites,
        "start_seen": None,
        "events": None,
        **(trace or {}),
        "vanished": [copy.as_dict() for copy in gone],
    }


def read_copies(account: Account, kind: str, service_id: str) -> Sequence[Backup | Snapshot]:
    return account.backups(service_id) if kind == BACKUPS else account.snapshots(service_id)


def deletion(kind: str, service: Service, id: str, name: str, *, at: str = "", busy: bool = False) -> Change:
    what = f"{kind[:-1]} {name!r} of {label(service)}"
    ids = {"id": service.id}
    if kind == BACKUPS:
        gone = Gone(Listed(Account.backups, (service.id,), id=id))
        ids, route = {**ids, "backup_id": id}, r.BACKUP_DELETE
    else:
        gone = Gone(Listed(Account.snapshots, (service.id,), name=name))
        ids, route = {**ids, "name": name}, r.SNAPSHOT_DELETE
    return Change(what=what, route=route, ids=ids, shown=gone, at=at, busy=busy)


def named(name: str, copies: Iterable[C]) -> list[C]:
    """Return the copies of this name, of which a service may have several."""
    return [copy for copy in copies if same_name(copy.name, name)]


def vanished(
    task: Task[Options], kind: str, service: Service, what: str, *, before: Iterable[C], now: Iterable[C]
) -> list[C]:
    """Return the copies that disappeared with ``what``, which did not delete them, and warn of them."""
    there = {copy.id or copy.name for copy in now}
    gone = [copy for copy in before if (copy.id or copy.name) not in there]
    if gone:
        named = [f"{copy.name!r} of {copy.created_at or 'unknown date'}" for copy in gone]
        task.warn(
            f"after {what}, {counted(len(gone), kind)} of {label(service)} {'are' if gone[1:] else 'is'} no "
            f"longer on its list: {first_of(named, MAX_NAMED_COPIES)}. This task did not delete them"
        )
    return gone


def plan_bringing_back(
    task: Task[RestorePointOptions],
    summary: str,
    overwrites: str,
    *,
    run: Callable[[], Trace | None],
    result: Callable[[Trace | None], dict[str, Any]],
    expected: dict[str, Any],
) -> Plan:
    """Plan to bring a service back to a copy, if the user has agreed that this ``overwrites`` what it does.

    ``result`` reads the copy again, and returns the result with what was seen.
    """
    if not task.options.confirm:
        raise Invalid(f"{overwrites}. Set confirm: true to go ahead", overwrites=overwrites)
    seen: list[Trace | None] = [None]

    def step() -> None:
        seen[0] = run()

    return Plan(result=expected, steps=[Step(summary, step)], reread=lambda: result(seen[0]))


def bring_back(
    task: Task[RestorePointOptions],
    service: Service,
    change: Change,
    missed: str,
    read_status: Callable[[], str] | None = None,
) -> Trace | None:
    """Restore or roll back, once. If the task waits, return what was seen once it is over.

    ``missed`` is what would have shown the start. ``read_status`` reads the status of a COMPLETED backup, and
    raises if its restore failed; a snapshot has none.
    """
    first = newest_event(task, service)
    apply(task, change, wait=False)
    if not task.options.wait:
        return None
    began = await_end(task, service, change.what, first, read_status)
    if not began:
        task.warn(
            f"the start of {change.what} was not seen: {missed} for {quiet_seconds(task):g} seconds. It is "
            "assumed to be done. Check the files of the service before you use it, or raise quiet_time"
        )
    # An old failure is no sign, so where the newest event of before is not known, nothing is.
    gained: list[str] | None = None
    with suppress(HostedError):
        if first is not None:
            since = takewhile(lambda event: event.id != first, task.client.events(service.id, EVENTS_READ))
            gained = [str(event.type) for event in since]
    for kind in gained or ():
        if kind.endswith("_FAILED"):  # it may leave everything as it was
            raise WaitEnded(
                f"{change.what} failed: the journal has {kind} since. The call was not sent again. Check the "
                "files of the service before you use it",
                events=gained,
            )
    return {"start_seen": began, "events": gained}


def await_end(
    task: Task[RestorePointOptions],
    service: Service,
    what: str,
    event: str | None,
    read_status: Callable[[], str] | None,
) -> bool:
    """Wait until a restore or a rollback is over. Return whether it was seen to begin.

    The platform may show the beginning late or never. So it is over if its backup was in another status and
    no longer is, or if neither that nor the newest ``event`` changed for the quiet time.
    """
    at_rest, quiet = BackupStatus.COMPLETED if read_status else None, quiet_seconds(task)
    last, began, moved, still_since = (at_rest, event), False, False, time.monotonic()

    def look() -> tuple[str | None, str | None]:
        status = read_status() if read_status else None
        return status, (newest_event(task, service) or last[1]) if status == at_rest else None

    def over(seen: tuple[str | None, str | None]) -> bool:
        nonlocal last, began, moved, still_since
        if seen != last:
            last, moved, still_since = seen, True, time.monotonic()
        began = began or seen[0] != at_rest
        return seen[0] == at_rest and (began or time.monotonic() - still_since >= quiet)

    def longest_pause() -> float:
        left = still_since + quiet - time.monotonic()  # so that the quiet time is not overstayed
        return task.options.wait_interval if began else max(min(START_PAUSE, left), FIRST_PAUSE)

    def describe(seen: tuple[str | None, str | None]) -> str:
        return f"the backup is {seen[0]}" if seen[0] else "nothing shows how far it is"

    wait_until(task, look, over, describe, what, longest_pause=longest_pause)
    return began if read_status else moved


def quiet_seconds(task: Task[RestorePointOptions]) -> float:
    """Return the quiet time. A short wait makes it shorter, as a change begins it anew within that wait."""
    return float(min(task.options.quiet_time, task.options.wait_timeout / 2))


def newest_event(task: Task[Options], service: Service) -> str | None:
    """Return the id of the newest event; empty if there is none, ``None`` if the journal cannot be read."""
    with suppress(HostedError):
        return next((event.id for event in task.client.events(service.id, 1)), "")
    return None


class RestorePointInfoResource(Resource[RestorePointInfoOptions]):
    result_key = "services"
    kind: ClassVar[str]

    def plan(self, task: Task[RestorePointInfoOptions]) -> Plan:
        limit, pattern = read_span(task.options.max_age), task.options.pattern

        def read(own: Task[RestorePointInfoOptions], service: Service) -> Plan:
            if not service.id:  # foreseen: it may have copies by then
                return Plan(result=blank)
            found = read_copies(own.account, self.kind, service.id)
            fitting = [(copy, as_restore_point(copy)) for copy in found if fits(copy.name, pattern)]
            until = own.client.clock.now()
            if service.status == ServiceStatus.SUSPENDED and service.dates:  # it does not change any more
                until = min(until, parse_moment(service.dates.suspended_at) or until)
            copies = {self.kind: [one.as_dict() for one, __ in fitting]}
            return Plan(result={**copies, **freshness(fitting, limit, until)})

        blank: dict[str, Any] = {self.kind: [], "newest": None, "age_hours": None, "freshness": None}
        plan = plan_many(task, Operation(self.kind, self.kind, read, blank, though_gone=limit is None))
        now = (task.platform_now() if limit else None) or task.client.clock.now()
        task.effects.facts["at"] = f"{now:%Y-%m-%dT%H:%M:%SZ}"
        return plan


def freshness(
    found: Sequence[tuple[Backup | Snapshot, RestorePoint]], limit: Span | None, now: datetime
) -> dict[str, Any]:
    """Judge the newest good copy. One from the future, as a clock that goes wrong makes it, has the age 0."""
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
