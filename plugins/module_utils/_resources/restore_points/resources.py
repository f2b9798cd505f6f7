# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules of backups and of snapshots share: options, results, and how fresh copies are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, TypeVar

from ..._api.client import Client
from ..._api.models import Backup, Service, Snapshot
from ..._api.values import ServiceStatus
from ..services.many_services import (
    ManyServicesOptions,
    Operation,
    PlanOne,
    plan_many,
)
from ..shared.busy_retry import QuietOptions, retry_while_busy, under_way
from ..shared.names import fits
from ..shared.options import option, required
from ..shared.plan import Plan, Resource, Task
from ..shared.restore_points import newest_complete, parse_moment
from ..shared.retention import RestorePoint, Span, read_span
from ..shared.task_errors import Invalid
from .names import check_new_name
from .restore_watch import RestoreTrace

FRESH, STALE, MISSING = "fresh", "stale", "missing"


@dataclass(frozen=True, kw_only=True)
class RestorePointOptions(ManyServicesOptions, QuietOptions):
    """Which restore point of which services, and what to do with it."""

    name: str = required(selects=True)
    state: str = "present"
    confirm: bool = False
    allow_partial: bool = False


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
        if state == "present":
            check_new_name(task.options.name)
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
    vanished: Sequence[Backup | Snapshot] = (),
) -> dict[str, Any]:
    """Return what the result says about a service: its copy, and what bringing that back overwrites.

    ``trace`` is what a restore or a rollback left behind, where it was waited for; ``vanished`` are the
    copies that went though the task did not delete them.
    """
    return {
        one: copy.as_dict() if copy else None,
        "overwrites": overwrites,
        "start_seen": trace.start_seen if trace else None,
        "events": trace.events if trace else None,
        "vanished": [gone.as_dict() for gone in vanished],
    }


def retry(
    task: Task[RestorePointOptions],
    service: Service,
    call: Callable[[], object],
    what: str,
    *,
    busy: bool = False,
) -> None:
    """Make a call, again while the service is busy. A snapshot in the making has no status that shows it."""
    retry_while_busy(task, call, what, lambda: under_way(task.client, service.id), busy=busy)


# --- Reading ----------------------------------------------------------------------------------------


class RestorePointInfoResource(Resource[RestorePointInfoOptions]):
    """The copies of each selected service, and whether the newest good one is young enough."""

    result_key = "services"
    kind: ClassVar[str]

    @abstractmethod
    def read(self, client: Client, service_id: str) -> list[tuple[Backup | Snapshot, RestorePoint]]:
        """Return what there is, as the platform tells it and as a copy."""

    def plan(self, task: Task[RestorePointInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        limit, pattern = read_span(task.options.max_age), task.options.pattern

        def read(own: Task[RestorePointInfoOptions], service: Service) -> Plan:
            if not service.id:  # foreseen: it may have copies by then
                return Plan(result=blank)
            found = self.read(own.client, service.id)
            fitting = [pair for pair in found if fits(pair[1].name, pattern)]
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
