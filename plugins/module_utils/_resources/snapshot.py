# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots: takes them, rolls back to them and deletes them, on one service or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.models import Service, Snapshot
from .._api.text import composed
from .restore_points.resources import (
    RestorePointOptions,
    RestorePointResource,
    Trace,
    bring_back,
    deletion,
    named,
    plan_bringing_back,
    result_of,
    vanished,
)
from .shared.account import Account
from .shared.change import Change, Listed, Unseen, creation, step_of
from .shared.identify import check_service_offers, label
from .shared.plan import Plan, Task
from .shared.restore_points import SNAPSHOTS, parse_moment
from .shared.task_errors import EffectUnverified, Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class SnapshotOptions(RestorePointOptions):
    state: Literal["present", "rolled_back", "absent"] = "present"
    discard_newer: bool = False


def snapshot_with_name(task: Task[SnapshotOptions], snapshots: Sequence[Snapshot]) -> Snapshot | None:
    return next(iter(named(task.options.name, snapshots)), None)


to_result = partial(result_of, "snapshot")
"""What the result says about a service."""


def to_diff(snapshot: Snapshot) -> dict[str, Any]:
    return {"snapshot": snapshot.name}


def plan_present(task: Task[SnapshotOptions], service: Service) -> Plan:
    before, name = task.account.snapshots(service.id), task.options.name
    if there := snapshot_with_name(task, before):
        return as_it_is(there)
    if name in (".", ".."):
        raise Invalid(f"name is {name!r}, which cannot be part of an address: it could not be deleted again")

    expected = Snapshot.model_construct(name=name)
    plan = Plan(result=to_result(expected), after=to_diff(expected))
    take = Change(
        what=f"snapshot {name!r} of {label(service)}",
        route=r.SNAPSHOT_CREATE,
        ids={"id": service.id},
        body={"name": composed(name)},
        shown=Listed(Account.snapshots, (service.id,), name=name),
        unique=True,
        at=service.id,
        seconds=task.options.wait_timeout,
    )
    summary = f"take snapshot {name!r} of {label(service)}"
    plan.steps = [creation(summary, task, take, plan, as_it_is, wait=task.options.wait)]
    return plan


def as_it_is(there: Snapshot) -> Plan:
    return Plan(result=to_result(there), before=to_diff(there), after=to_diff(there))


def plan_rolled_back(task: Task[SnapshotOptions], service: Service) -> Plan:
    check_service_offers(service, "snapshotRollback", "has no rollback to snapshots")
    everything, name = task.account.snapshots(service.id), task.options.name
    snapshot = snapshot_with_name(task, everything)
    if snapshot is None:  # in check mode, the play may be to take it
        task.expect_created(NoSuchItem(f"{label(service)} has no snapshot named {name!r}"), name)
        snapshot = Snapshot.model_construct(name=name)
    since = snapshot.created_at or "an unknown date"
    overwrites = f"all changes on {label(service)} since {since} are lost with the rollback to {name!r}"

    def result(trace: Trace | None) -> dict[str, Any]:
        now = task.account.snapshots(service.id)
        gone = vanished(task, "snapshot", service, f"the rollback to {name!r}", before=everything, now=now)
        return to_result(snapshot_with_name(task, now), overwrites, trace, gone)

    plan = plan_bringing_back(
        task,
        f"roll {label(service)} back to snapshot {name!r}",
        overwrites,
        run=lambda: roll_back(task, service, snapshot.name),
        result=result,
        expected=to_result(snapshot, overwrites),
    )
    taken = parse_moment(snapshot.created_at)
    moments = {other.name: parse_moment(other.created_at) for other in everything}
    newer = [name for name, moment in moments.items() if taken and moment and moment > taken]
    if newer and not task.options.discard_newer:
        raise Invalid(
            f"on {label(service)}, {', '.join(map(repr, newer))} were taken after {snapshot.name!r}. A "
            "rollback may delete them. Set discard_newer: true to go ahead",
            newer=newer,
        )
    plan.before = {"disk": "as it is now"}
    plan.after = {"disk": f"as in snapshot {name!r} of {since}"}
    return plan


def roll_back(task: Task[SnapshotOptions], service: Service, name: str) -> Trace | None:
    rollback = Change(
        what=f"the rollback of {label(service)} to snapshot {name!r}",
        route=r.SNAPSHOT_ROLLBACK,
        ids={"id": service.id, "name": name},
        shown=Unseen(),
        at=service.id,
        tries=1,
        quiet=0,
    )
    try:
        return bring_back(task, service, rollback, "its journal showed nothing")
    except EffectUnverified as error:
        raise error.append(". To be sure, run this again: it leads to the same snapshot") from None


def plan_absent(task: Task[SnapshotOptions], service: Service) -> Plan:
    there = snapshot_with_name(task, task.account.snapshots(service.id))
    if there is None:
        return Plan(result=to_result(None))
    gone = deletion(SNAPSHOTS, service, there.id or "", there.name, at=service.id)
    return Plan(
        result=to_result(None),
        steps=[step_of(f"delete {gone.what}", task, gone)],
        before=to_diff(there),
    )


class SnapshotResource(RestorePointResource[SnapshotOptions]):
    kind = SNAPSHOTS
    restored_state = "rolled_back"
    planners: ClassVar = {
        "present": plan_present,
        "rolled_back": plan_rolled_back,
        "absent": plan_absent,
    }


SNAPSHOT = SnapshotResource()
