# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes the backups or snapshots that a retention policy does not keep, of one service or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from .._api.models import Service
from .._api.text import counted
from .restore_points.off_site import plan_off_site
from .restore_points.resources import deletion, read_copies
from .services.many_services import ManyServicesOptions, Operation, plan_many
from .shared.change import apply, await_removal
from .shared.identify import label
from .shared.names import fits
from .shared.options import option, required
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task
from .shared.restore_points import BACKUPS, as_restore_points
from .shared.retention import (
    Decision,
    Policy,
    RestorePoint,
    check_max_delete,
    plan_retention,
    read_policy,
)
from .shared.task_errors import Invalid
from .shared.time_zones import zone_named


@dataclass(frozen=True, kw_only=True)
class BackupRetentionOptions(ManyServicesOptions):
    """The options of module backup_retention."""

    kind: Literal["backups", "snapshots"] = "backups"
    pattern: str = required(selects=True)
    keep_last: int | None = option(None, selects=True)
    keep_hourly: int | None = option(None, selects=True)
    keep_daily: int | None = option(None, selects=True)
    keep_weekly: int | None = option(None, selects=True)
    keep_monthly: int | None = option(None, selects=True)
    keep_yearly: int | None = option(None, selects=True)
    keep_within: str | None = option(None, selects=True)
    keep_failed: int = option(Policy.failed, selects=True)
    time_zone: str = "UTC"
    max_delete: int = option(10, selects=True)
    off_site_copies: list[str] | None = None


class BackupRetentionResource(Resource[BackupRetentionOptions]):
    """The copies of each selected service that match a pattern, limited by a policy."""

    result_key = "services"

    def plan(self, task: Task[BackupRetentionOptions]) -> Plan:
        """Decide on every copy, and plan the deletion of those that no rule keeps."""
        options = task.options
        rules = [each.name for each in fields(options) if each.name.startswith("keep_")]
        keeps = {name: getattr(options, name) for name in rules}
        policy = read_policy(keeps, options.pattern, zone_named(options.time_zone))
        kind, most = options.kind, options.max_delete
        if most < 0:
            raise Invalid(f"max_delete is {most}; it must be 0 or more")
        check_off_site(options)
        blank = {"plan": [], "kept": 0, "deleted": 0, "unmanaged": 0, "off_site_copies": []}

        def thin_out(own: Task[BackupRetentionOptions], service: Service) -> Plan:
            return plan_service(own, service, policy)

        return plan_many(task, Operation(kind, kind, thin_out, blank))


BACKUP_RETENTION = BackupRetentionResource()


def check_off_site(options: BackupRetentionOptions) -> None:
    """Check that it is clear which backups the off-site copies are of."""
    if options.off_site_copies is None:
        return
    if options.kind != BACKUPS:
        raise Invalid(f"off_site_copies are copies of backups; leave it out with kind: {options.kind}")
    if (count := len(options.services or ())) != 1:
        raise Invalid(
            f"off_site_copies are those of one service, but services has {count} entries. "
            "Name that service, and run a task for each"
        )


def plan_service(task: Task[BackupRetentionOptions], service: Service, policy: Policy) -> Plan:
    """Plan the deletions on one service. ``max_delete`` applies to each service."""
    kind, pattern = task.options.kind, task.options.pattern
    thinning = Thinning(task, service, policy)
    decisions = thinning.decisions
    planned = any(fits(name, pattern) for name in task.foreseen)
    named = task.options.services is not None  # one of many may have none of them yet
    if named and decisions and not planned and not any(decision.managed for decision in decisions):
        found = counted(len(decisions), kind.removesuffix("s"))
        task.warn(f"{label(service)} has {found}, and {pattern!r} matches none: nothing is deleted")
    check_max_delete(decisions, task.options.max_delete)
    try:
        check_max_delete(thinning.off_site, task.options.max_delete)
    except Invalid as error:
        raise error.prepend("off-site copies: ") from None
    return thinning.plan()


class Thinning:
    """The deletions on one service: the decisions, which a new listing may correct, and what was deleted."""

    def __init__(self, task: Task[BackupRetentionOptions], service: Service, policy: Policy) -> None:
        self.task = task
        self.service = service
        self.policy = policy
        self.deleted: set[str] = set()
        self.decisions = self.decide()
        self.off_site = plan_off_site(
            task.options.off_site_copies or (), self.decisions, policy, task.platform_now()
        )

    def read(self) -> list[RestorePoint]:
        """Return the copies that there are now."""
        return as_restore_points(read_copies(self.task.account, self.task.options.kind, self.service.id))

    def decide(self) -> list[Decision]:
        """Return the decision on each copy that there is now."""
        return plan_retention(self.read(), self.policy, self.task.platform_now())

    def plan(self) -> Plan:
        """Return the plan, which steps that find nothing left to do correct."""
        doomed = [decision for decision in reversed(self.decisions) if not decision.keep]
        plan = Plan(result=None, reread=self.await_list)
        plan.steps = [self.step(decision, plan) for decision in doomed]
        self.describe(plan)
        return plan

    def describe(self, plan: Plan) -> None:
        """Let the result and the diff of the plan say what the decisions are."""
        kind, managed = self.task.options.kind, [each for each in self.decisions if each.managed]
        plan.result = self.as_result()
        plan.before = {kind: [decision.copy.name for decision in managed]}
        plan.after = {kind: [decision.copy.name for decision in managed if decision.keep]}

    def await_list(self) -> dict[str, Any]:
        """Wait until the list has lost what was deleted, and return the result."""
        what = f"{counted(len(self.deleted), self.task.options.kind[:-1])} of {label(self.service)}"
        await_removal(self.task, lambda: not self.deleted.isdisjoint({c.id for c in self.read()}), what)
        return self.as_result()

    def as_result(self) -> dict[str, Any]:
        """Return what the result says: every copy, newest first, with the decision on it, and the counts."""
        return {
            "plan": decisions_as_result(self.decisions),
            "kept": sum(decision.keep and decision.managed for decision in self.decisions),
            "deleted": sum(not decision.keep for decision in self.decisions),
            "unmanaged": sum(not decision.managed for decision in self.decisions),
            "off_site_copies": decisions_as_result(self.off_site),
        }

    def step(self, decision: Decision, plan: Plan) -> Step:
        """Return the step that deletes one copy, unless a new listing says that it is gone or stays."""
        copy, kind = decision.copy, self.task.options.kind

        def delete() -> object:
            if self.delete(decision):
                return None
            self.describe(plan)
            return NOTHING_DONE

        made = timestamp(copy.created_at)
        return Step(f"delete {kind[:-1]} {copy.name!r} of {label(self.service)}, made {made}", delete)

    def delete(self, decision: Decision) -> bool:
        """Delete a copy, or correct the decision on it. Return whether it was deleted."""
        copy, kind = decision.copy, self.task.options.kind
        decisions = self.decide()
        now = next((d for d in decisions if d.copy.id == copy.id), None)
        if now is None or now.keep:
            there = {d.copy.id for d in decisions} | self.deleted
            self.decisions = [d for d in self.decisions if d.copy.id in there]  # others deleted the rest
        if now is None:
            return False
        if now.keep:
            reasons = "; ".join(now.reasons)
            self.task.warn(
                f"{copy.name!r} of {label(self.service)} was to be deleted, but now stays: {reasons}"
            )
            decision.keep, decision.reasons = True, now.reasons
            return False
        apply(self.task, deletion(kind, self.service, copy.id, copy.name), wait=False)
        self.deleted.add(copy.id)
        return True


def decisions_as_result(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
    """Return decisions for the result."""
    return [
        {
            "id": decision.copy.id,
            "name": decision.copy.name,
            "status": decision.copy.status,
            "created_at": timestamp(decision.copy.created_at),
            "managed": decision.managed,
            "keep": decision.keep,
            "reasons": decision.reasons,
        }
        for decision in decisions
    ]


def timestamp(when: datetime | None) -> str | None:
    """Format a time as the platform does: UTC with milliseconds; ``None`` for ``None``."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z" if when else None
