# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups: makes, restores and deletes them, on one service or many (Backups and snapshots)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.errors import HostedError
from .._api.models import Backup, Service
from .._api.text import composed
from .._api.values import BackupStatus
from .restore_points.resources import (
    RestorePointOptions,
    RestorePointResource,
    Trace,
    bring_back,
    deletion,
    named,
    plan_bringing_back,
    quiet_seconds,
    result_of,
    vanished,
)
from .shared.account import Account
from .shared.change import Change, Listed, apply, ids_of
from .shared.identify import label
from .shared.plan import NOTHING_DONE, Plan, Step, Task, after_waiting
from .shared.restore_points import BACKUPS, IN_MOTION, any_in_motion, was_complete
from .shared.store import one_at_a_time, state_key
from .shared.task_errors import Ambiguous, Invalid, NoSuchItem, WaitEnded
from .shared.waiting import wait_until

AFTER_MAKING = "Running this again makes another one"
AFTER_RESTORE = "Check the files of the service before you use it, and restore another backup if need be"


@dataclass(frozen=True, kw_only=True)
class BackupOptions(RestorePointOptions):
    state: Literal["present", "restored", "absent"] = "present"


def find_targets(task: Task[BackupOptions], backups: Sequence[Backup]) -> list[Backup]:
    """Return the backups with this name or, unless one is to be made, with this id."""
    wanted = task.options.name
    same = named(wanted, backups)
    if task.options.state == "present":
        return same
    found = [backup for backup in backups if backup.id == wanted]
    others = [backup for backup in same if backup not in found]
    if found and others:
        raise Ambiguous(
            f"{wanted!r} is the id of backup {found[0].name!r} and the name of the one with id "
            f"{others[0].id!r}. Nothing was done. Name the one that is meant by what is its alone",
            ids=[backup.id for backup in (*found, *others)],
        )
    return found or same


to_result = partial(result_of, "backup")
"""What the result says about a service."""


def newest_backup(backups: Sequence[Backup]) -> Backup | None:
    return max(backups, key=lambda backup: (backup.created_at or "", backup.id), default=None)


def to_diff(backups: Sequence[Backup]) -> dict[str, Any]:
    """Return the names and statuses of backups for the diff. Several of a name are told apart."""
    names = [backup.name for backup in backups]

    def shown(backup: Backup) -> str:
        if names.count(backup.name) == 1:
            return backup.name
        return f"{backup.name} of {backup.created_at or 'unknown date'} ({backup.id})"

    return {shown(backup): backup.status for backup in backups}


def plan_present(task: Task[BackupOptions], service: Service) -> Plan:
    """Plan a completed backup with this name. One that is being made is waited for instead."""
    everything = task.account.backups(service.id)
    there = find_targets(task, everything)
    pending = newest_backup([backup for backup in there if backup.status == BackupStatus.PENDING])
    unfit = (BackupStatus.PENDING, BackupStatus.FAILED)
    complete = newest_backup([backup for backup in there if backup.status not in unfit])

    def as_it_is(now: Backup) -> Plan:
        good = complete or now
        return Plan(result=to_result(good), before=to_diff([good]), after=to_diff([good]))

    if pending is not None and task.options.wait and not task.check_mode:
        id, what = pending.id, f"wait until backup {pending.name!r} of {label(service)} is complete"
        return after_waiting(
            what, lambda: wait_for_backup(task, service, id), as_it_is, until=as_it_is(pending)
        )
    good = complete or pending
    if good is not None:
        return as_it_is(good)
    for backup in there:
        if was_complete(backup):
            sign = f"was completed on {backup.completed_at}" if backup.completed_at else "has a size"
            task.warn(
                f"backup {backup.name!r} ({backup.id}) of {label(service)} is FAILED, but {sign}: maybe "
                "only a restore failed. It stays beside the new one; delete it by its id if it is not needed"
            )
    failed = [backup for backup in there if not was_complete(backup)]
    return plan_making(task, service, failed, everything)


def plan_making(
    task: Task[BackupOptions], service: Service, failed: Sequence[Backup], everything: Sequence[Backup]
) -> Plan:
    """Plan a new backup, in place of those with its name whose making ``failed``."""
    name = task.options.name

    def make() -> object:
        turn = f"backup {name}:{state_key(task.options.base_url, service.id)}"
        doing = f"making backup {name!r} of {label(service)}"
        with one_at_a_time(turn, doing, task.options.wait_timeout) as waited:
            now = task.account.backups(service.id) if waited else []
            others = [each for each in named(name, now) if each.status != BackupStatus.FAILED]
            if not others:
                made = make_backup(task, service, everything)
                left = [backup for backup in everything if backup not in failed]
                what, gone = f"the making of backup {name!r} of {label(service)}", []
                with suppress(HostedError):  # the backup is complete
                    now = task.account.backups(service.id)
                    gone = vanished(task, "backup", service, what, before=left, now=now)
                result = to_result(made, gone=gone)
                plan.reread = lambda: result
                return None
            other = others[0]
            task.warn(f"another task made backup {name!r} of {label(service)} at the same time; it is used")
            if task.options.wait:
                other = wait_for_backup(task, service, other.id)
        # Those whose making failed, if there were any, were deleted by this task all the same.
        before, after = to_diff(failed or [other]), to_diff([other])
        plan.become(Plan(result=to_result(other), before=before, after=after))
        return NOTHING_DONE

    plan = Plan(
        result=to_result(expected_backup(name)),
        steps=[
            *(delete_step(task, service, each, any_in_motion(everything)) for each in failed),
            Step(f"back up {label(service)} as {name!r}", make),
        ],
        before=to_diff(failed),
        after={name: BackupStatus.COMPLETED},
    )
    return plan


def expected_backup(name: str) -> Backup:
    return Backup.model_construct(id=None, name=name, status=BackupStatus.COMPLETED)


def make_backup(task: Task[BackupOptions], service: Service, before: Sequence[Backup]) -> Backup:
    """Start a backup, once, and wait until it is complete. ``before`` are the earlier ones."""
    name = task.options.name
    make = Change(
        what=f"backup {name!r} of {label(service)}",
        route=r.BACKUP_CREATE,
        ids={"id": service.id},
        body={"name": composed(name)},
        shown=Listed(Account.backups, (service.id,), name=name, known=ids_of(before)),
        at=service.id,
    )
    found = apply(task, make).found
    mine: Backup = min(found, key=lambda backup: (backup.created_at or "", backup.id))
    if not task.options.wait or is_complete(mine, service):
        return mine
    return wait_for_backup(task, service, mine.id)


def wait_for_backup(
    task: Task[BackupOptions], service: Service, id: str, advice: str = AFTER_MAKING
) -> Backup:
    """Wait until a backup is complete and none is in progress. ``advice`` follows if it failed."""
    return wait_until(
        task,
        lambda: read_backup(task, service, id),
        lambda backup: is_complete(backup, service, advice),
        lambda backup: f"backup {backup.name!r} of {label(service)} is {backup.status}",
        f"backup {id} of {label(service)}",
    )


def is_complete(backup: Backup, service: Service, advice: str = AFTER_MAKING) -> bool:
    if backup.status == BackupStatus.FAILED:
        raise WaitEnded(
            f"backup {backup.name!r} of {label(service)} ended as FAILED; the platform does not say why. "
            f"{advice}",
            backup_id=backup.id,
        )
    return backup.status == BackupStatus.COMPLETED


def read_backup(task: Task[BackupOptions], service: Service, id: str) -> Backup:
    for backup in task.account.backups(service.id):
        if backup.id == id:
            return backup
    raise WaitEnded(f"backup {id} of {label(service)} is no longer on the platform's list")


def plan_restored(task: Task[BackupOptions], service: Service) -> Plan:
    """Plan the restore of a backup. If one is in progress already, wait for it."""
    there = find_targets(task, task.account.backups(service.id))
    running = next((backup for backup in there if backup.status == BackupStatus.RESTORING), None)
    if running is not None:
        task.warn(f"backup {running.name!r} of {label(service)} was being restored already; nothing was sent")
        as_it_is, id = Plan(result=to_result(running)), running.id
        if not task.options.wait or task.check_mode:
            return as_it_is
        return after_waiting(
            f"wait until {label(service)} is restored",
            lambda: wait_for_backup(task, service, id, AFTER_RESTORE),
            lambda now: Plan(result=to_result(now)),
            until=as_it_is,
        )
    backup = find_restorable(task, service, there)
    overwrites = (
        f"the restore replaces all files of {label(service)} with those of backup {backup.name!r} of "
        f"{backup.created_at or 'unknown date'}"
    )
    plan = plan_bringing_back(
        task,
        f"restore {label(service)} from backup {backup.name!r}",
        overwrites,
        run=lambda: restore_backup(task, service, backup),
        result=lambda trace: to_result(read_backup(task, service, backup.id), overwrites, trace),
        expected=to_result(backup, overwrites),
    )
    plan.before = {"files": "as they are now"}
    plan.after = {"files": f"as in backup {backup.name!r} of {backup.created_at or 'this play'}"}
    return plan


def not_complete(account: Account, service_id: str, id: str) -> list[Backup]:
    """Return a backup if it is in another status than COMPLETED, as one is that is being restored."""
    found = account.backups(service_id)
    return [each for each in found if each.id == id and each.status != BackupStatus.COMPLETED]


def restore_backup(task: Task[BackupOptions], service: Service, backup: Backup) -> Trace | None:

    def read_status() -> str:
        now = read_backup(task, service, backup.id)
        is_complete(now, service, AFTER_RESTORE)
        return now.status

    restore = Change(
        what=f"the restore of {label(service)} from backup {backup.name!r}",
        route=r.BACKUP_RESTORE,
        ids={"id": service.id, "backup_id": backup.id},
        shown=Listed(not_complete, (service.id, backup.id)),
        at=service.id,
        tries=1,  # what the service wrote after a quick one would be lost to a second
        quiet=quiet_seconds(task),
    )
    return bring_back(task, service, restore, "the backup did not become RESTORING", read_status)


def find_restorable(task: Task[BackupOptions], service: Service, there: Sequence[Backup]) -> Backup:
    name = task.options.name
    good = [backup for backup in there if backup.status == BackupStatus.COMPLETED]
    if len(good) > 1:
        ids = [backup.id for backup in good]
        raise Ambiguous(
            f"{label(service)} has {len(good)} backups named {name!r}: {', '.join(ids)}. Name one by its id",
            ids=ids,
        )
    if good:
        return good[0]
    error: HostedError = NoSuchItem(f"{label(service)} has no backup of id or name {name!r}")
    if there:
        statuses = ", ".join(sorted({backup.status for backup in there}))
        error = Invalid(
            f"backup {name!r} of {label(service)} is {statuses}; only a COMPLETED one can be restored"
        )
    task.expect_created(error, name)
    return expected_backup(name)


def plan_absent(task: Task[BackupOptions], service: Service) -> Plan:
    everything = task.account.backups(service.id)
    there = find_targets(task, everything)
    busy = [backup for backup in there if backup.status in IN_MOTION]
    if busy and not task.options.wait:
        raise Invalid(
            f"backup {busy[0].name!r} of {label(service)} is {busy[0].status} and cannot be deleted now; "
            "leave wait at true to have it deleted when that is over"
        )
    return Plan(
        result=to_result(None),
        steps=[delete_step(task, service, backup, any_in_motion(everything)) for backup in there],
        reread=lambda: to_result(None),
        before=to_diff(there),
    )


def delete_step(task: Task[BackupOptions], service: Service, backup: Backup, busy: bool) -> Step:
    gone = deletion(BACKUPS, service, backup.id, backup.name, at=service.id, busy=busy)

    def status() -> str | None:
        return next((b.status for b in task.account.backups(service.id) if b.id == backup.id), None)

    def delete() -> None:
        if backup.status in IN_MOTION:
            what = f"{gone.what} to be done"
            wait_until(task, status, lambda now: now not in IN_MOTION, lambda now: f"it is {now}", what)
        apply(task, gone)

    return Step(f"delete backup {backup.name!r} ({backup.id}, {backup.status}) of {label(service)}", delete)


class BackupResource(RestorePointResource[BackupOptions]):
    kind = BACKUPS
    restored_state = "restored"
    planners: ClassVar = {
        "present": plan_present,
        "restored": plan_restored,
        "absent": plan_absent,
    }


BACKUP = BackupResource()
