# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes the backups or snapshots that a retention policy does not keep, of one service or many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Literal

from .._api.models import Service
from .._api.text import counted
from .._api.values import BackupStatus
from .restore_points.resources import deletion, read_copies
from .services.many_services import ManyServicesOptions, Operation, plan_many
from .shared.change import apply, await_removal
from .shared.identify import label
from .shared.names import fits
from .shared.options import option, required
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task
from .shared.restore_points import BACKUPS, as_restore_points, moment_in
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
    result_key = "services"

    def plan(self, task: Task[BackupRetentionOptions]) -> Plan:
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
        self.task, self.service, self.policy = task, service, policy
        self.kind = task.options.kind
        self.deleted: set[str] = set()
        self.decisions = self.decide()
        self.off_site = plan_off_site(
            task.options.off_site_copies or (), self.decisions, policy, task.platform_now()
        )

    def decide(self) -> list[Decision]:
        copies = read_copies(self.task.account, self.kind, self.service.id)
        return plan_retention(as_restore_points(copies), self.policy, self.task.platform_now())

    def plan(self) -> Plan:
        plan = Plan(result=None, reread=self.await_list)
        plan.steps = [self.step(each, plan) for each in reversed(self.decisions) if not each.keep]
        self.describe(plan)
        return plan

    def describe(self, plan: Plan) -> None:
        """Let the result and the diff of the plan say what the decisions are."""
        managed = [each for each in self.decisions if each.managed]
        plan.result = self.as_result()
        plan.before = {self.kind: [decision.copy.name for decision in managed]}
        plan.after = {self.kind: [decision.copy.name for decision in managed if decision.keep]}

    def await_list(self) -> dict[str, Any]:
        """Wait until the list has lost what was deleted, and return the result."""

        def there() -> bool:
            return any(each.copy.id in self.deleted for each in self.decide())

        what = f"{counted(len(self.deleted), self.kind[:-1])} of {label(self.service)}"
        await_removal(self.task, there, what)
        return self.as_result()

    def as_result(self) -> dict[str, Any]:
        return {
            "plan": decisions_as_result(self.decisions),
            "kept": sum(decision.keep and decision.managed for decision in self.decisions),
            "deleted": sum(not decision.keep for decision in self.decisions),
            "unmanaged": sum(not decision.managed for decision in self.decisions),
            "off_site_copies": decisions_as_result(self.off_site),
        }

    def step(self, decision: Decision, plan: Plan) -> Step:
        """Return the step that deletes one copy, unless a new listing says that it is gone or stays."""
        copy, label_of = decision.copy, label(self.service)

        def delete() -> object:
            decisions = self.decide()
            now = next((each for each in decisions if each.copy.id == copy.id), None)
            if now is not None and not now.keep:
                apply(self.task, deletion(self.kind, self.service, copy.id, copy.name), wait=False)
                self.deleted.add(copy.id)
                return None
            there = {each.copy.id for each in decisions} | self.deleted
            self.decisions = [each for each in self.decisions if each.copy.id in there]  # others deleted them
            if now is not None:
                reasons = "; ".join(now.reasons)
                self.task.warn(f"{copy.name!r} of {label_of} was to be deleted, but now stays: {reasons}")
                decision.keep, decision.reasons = True, now.reasons
            self.describe(plan)
            return NOTHING_DONE

        made = timestamp(copy.created_at)
        return Step(f"delete {self.kind[:-1]} {copy.name!r} of {label_of}, made {made}", delete)


def decisions_as_result(decisions: Sequence[Decision]) -> list[dict[str, Any]]:
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
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z" if when else None


def plan_off_site(
    names: Iterable[str], backups: Sequence[Decision], policy: Policy, now: datetime | None
) -> list[Decision]:
    """Decide on the off-site copies with these names, by the policy and the decisions on all backups.

    A night whose copying failed leaves a gap among the copies, so a copy goes only if neither keeps it.
    """
    named = [RestorePoint(name, name, BackupStatus.COMPLETED, moment_in(name)) for name in names]
    copies = plan_retention(named, policy, now)
    for copy in copies:
        if copy.keep:
            continue
        same = [each for each in backups if each.copy.name == copy.copy.name]  # there may be several
        if any(each.keep for each in same):
            copy.keep, copy.reasons = True, ["its backup stays"]
        elif any(each.copy.status == BackupStatus.FAILED for each in same):  # only good ones are copied
            copy.keep, copy.reasons = True, ["its backup has failed since it was copied"]
    return copies
