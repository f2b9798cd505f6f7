# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Snapshots: taken, rolled back to and deleted, on one service or on many (Backups and snapshots)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from ..api.errors import OpenOutcome
from ..api.models import Service, Snapshot
from .copies import SNAPSHOTS
from .copy_resources import CopyResource, copy_options, result_of
from .lookup import foresee, label
from .many_services import PlanOne
from .on_service import check_offers
from .plan import Plan, Step, Task
from .problems import Invalid, Missing, OutcomeUnknown
from .restore_watch import Sight, look, see_through, warn_unseen
from .waiting import create_unique, wait_until


class SnapshotResource(CopyResource):
    """A snapshot of each selected service, by its name."""

    kind = SNAPSHOTS
    brought_back = "rolled_back"
    options: ClassVar[dict[str, Any]] = copy_options(brought_back)

    def planners(self) -> Mapping[str, PlanOne]:
        """Return how to plan for each state."""
        return {"present": presence, "rolled_back": rollback, "absent": removal}


SNAPSHOT = SnapshotResource()


def find(task: Task, service: Service) -> Snapshot | None:
    """Return the snapshot of this name."""
    name = task.options["name"]
    return next((s for s in task.client.snapshots(service.id) if s.name == name), None)


said = partial(result_of, "snapshot")
"""What the result says about a service."""


def summary(snapshot: Snapshot | None) -> dict[str, Any]:
    """Return what a diff shows of a snapshot."""
    return {"snapshot": snapshot.name} if snapshot else {}


def presence(task: Task, service: Service) -> Plan:
    """Plan that there is a snapshot of this name."""
    there, name = find(task, service), task.options["name"]
    if there is not None:
        return Plan(result=said(there), before=summary(there), after=summary(there))
    if name in (".", ".."):
        raise Invalid(f"name is {name!r}, which cannot be part of an address: it could not be deleted again")

    def look() -> list[Snapshot]:
        found = find(task, service)
        return [found] if found else []

    taken: list[Snapshot] = []

    def take() -> None:
        what = f"snapshot {name!r} of {label(service)}"
        create_unique(lambda: task.client.create_snapshot(service.id, name), look, what, task)
        if task.options["wait"]:
            taken.extend(wait_until(task, look, bool, lambda none: "it is not on the list yet", what))

    expected = Snapshot.model_construct(name=name)
    return Plan(
        result=said(expected),
        steps=[Step(f"take snapshot {name!r} of {label(service)}", take)],
        reread=lambda: said(taken[0] if taken else find(task, service)),
        after=summary(expected),
    )


def rollback(task: Task, service: Service) -> Plan:
    """Plan that a service goes back to the snapshot."""
    check_offers(service, "snapshotRollback", "rollback to snapshots")
    snapshot, name = find(task, service), task.options["name"]
    if snapshot is None:
        foresee(task, Missing(f"{label(service)} has no snapshot named {name!r}"), "takes")
        snapshot = Snapshot.model_construct(name=name)
    since = snapshot.created_at or "an unknown date"
    overwrites = f"all that changed on {label(service)} since {since} is lost with the rollback to {name!r}"
    if not task.options["confirm"]:
        raise Invalid(f"{overwrites}. Set confirm: true to go ahead", overwrites=overwrites)
    seen: list[bool] = []

    def roll_back() -> None:
        seen.extend(take_back(task, service, name))

    return Plan(
        result=said(snapshot, overwrites),
        steps=[Step(f"roll {label(service)} back to snapshot {name!r}", roll_back)],
        reread=lambda: said(find(task, service), overwrites, seen[0] if seen else None),
        before={"disk": "as it is now"},
        after={"disk": f"as in snapshot {name!r} of {since}"},
    )


def take_back(task: Task, service: Service, name: str) -> list[bool]:
    """Roll back, once, and wait until nothing moves any more: a snapshot has no status that would show it.

    Return whether anything was seen of it, if it was waited for.
    """
    before = last = look(task, service, None)
    try:
        task.client.roll_back(service.id, name)
    except OpenOutcome as error:
        raise OutcomeUnknown(
            f"whether {label(service)} went back to snapshot {name!r} is unknown: {error.message}. "
            "Nothing was sent again. To be sure run this again: it leads to the same snapshot"
        ) from error
    if not task.options["wait"]:
        return []

    def read() -> Sight:
        nonlocal last
        last = look(task, service, None, last)
        return last

    what = f"the rollback of {label(service)} to snapshot {name!r}"
    passage = see_through(task, what, read, before, lambda sight: False)
    if not passage.moved:
        warn_unseen(task, what, "neither its journal nor its container showed anything")
    return [passage.moved]


def removal(task: Task, service: Service) -> Plan:
    """Plan that there is no snapshot of this name."""
    there, name = find(task, service), task.options["name"]
    step = Step(
        f"delete snapshot {name!r} of {label(service)}", lambda: task.client.delete_snapshot(service.id, name)
    )
    return Plan(result=said(None), steps=[step] if there else [], before=summary(there))
