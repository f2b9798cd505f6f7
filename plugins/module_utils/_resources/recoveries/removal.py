# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deletes what a drill has made, and nothing else: its services by their ids, then its project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._api.models import ServiceSummary
from ..blueprints.members import Members, read_members
from ..blueprints.parts import Part
from ..blueprints.removal import Deleters, deletion_parts, project_deletion
from ..clones.target import describe, found_elsewhere, locations, members_named, recognize
from ..shared.change import BILLED_SECONDS
from ..shared.identify import existing, label
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.restore_points import parse_moment
from ..shared.task_errors import Invalid
from ..shared.waiting import poll_for
from .options import RecoverOptions
from .record import RecoveryRecord


def removal_parts(
    task: Task[RecoverOptions], project: str, record: RecoveryRecord, deleters: Deleters
) -> list[Part]:
    """Return the parts that delete a drill."""
    if not record.known:
        warn_of_unknown(task, project)
        return []
    if not record.drill:
        raise Invalid(
            f"project {project!r} was made by a recovery that is meant to last, so nothing was deleted. "
            "state: absent deletes drills. hosted.services.blueprint deletes what a blueprint describes"
        )
    members = find_members(task, project, record)
    warn_of_moved(task, record, members)
    if members is None:
        return []
    recognize(task, record, members)
    going = [each for each in members.found if record.made(each)]
    staying = [each for each in members.found if not record.made(each)]
    with_backups = {"delete_backups": True}  # those of a plan that runs for the whole account
    deleting = [(each.name, each, with_backups) for each in going]
    parts = deletion_parts(task, members, deleting, deleters)
    if staying:
        task.warn(
            f"project {members.project.name!r} stays: it has {describe(staying)}, which the drill did not "
            "make"
        )
        return parts
    deletion = project_deletion(task, members.project, parts, deleters.project)
    deletion.prepare = lambda part: await_lost_orders(part.task, members, record)
    return [*parts, deletion]


def await_lost_orders(task: Task[Any], members: Members, record: RecoveryRecord) -> None:
    """Give an order whose response was lost the time to be carried out, before the drill is forgotten."""
    lost = {record.names.get(key, ""): sent for key, sent in record.sent.items() if key not in record.ids}
    sent = [moment for moment in map(parse_moment, lost.values()) if moment is not None]
    ages = [(task.client.clock.now() - moment).total_seconds() for moment in sent]
    left = BILLED_SECONDS - min(ages, default=BILLED_SECONDS)
    if left <= 0:
        return
    known = {each.id for each in members.found}
    late: list[ServiceSummary] = []

    def may_be_late(each: ServiceSummary) -> bool:
        return each.id not in known and any(same_name(each.name, name) for name in lost)

    def appears() -> bool:
        found = existing(task.account.members(members.project))
        late[:] = [each for each in found if may_be_late(each)]
        return bool(late)

    task.progress(f"watching for up to {left:.0f} s for a service of an order whose response was lost")
    if poll_for(appears, left):
        raise Invalid(
            f"{label(late[0])} appeared late, from an order whose response was lost. Project "
            f"{members.project.name!r} stays. Run this again, which deletes the service"
        )


def warn_of_unknown(task: Task[RecoverOptions], project: str) -> None:
    """Warn of a project with services that no drill from this controller is known to have made."""
    members = members_named(task.account, project)
    if members and members.found:
        task.warn(
            f"project {project!r} has {describe(members.found)}, and no drill from this controller "
            "made it. Nothing was deleted. If a drill from another controller did, delete it there, or with "
            "its state_dir"
        )


def warn_of_moved(task: Task[RecoverOptions], record: RecoveryRecord, members: Members | None) -> None:
    """Warn of what the drill made and somebody has moved since, or whose project somebody has deleted."""
    moved = [
        f"{each.name!r} ({each.id})" for each in found_elsewhere(task.account, record.ids.values(), members)
    ]
    if moved:
        task.warn(
            f"the drill made {', '.join(moved)}, which is in another project by now and stays. If nobody "
            "needs it, delete it with hosted.services.service"
        )


def still_there(task: Task[RecoverOptions], record: RecoveryRecord, parts: Sequence[Part]) -> Invalid | None:
    """Return the error for what the drill made and these parts do not delete, as it was moved.

    Nobody but the record knows that a drill made it, so the drill is not forgotten before it is gone.
    """
    going = {part.arguments(part).get("id") for part in parts}
    found = found_elsewhere(task.account, [id for id in record.ids.values() if id not in going], None)
    if not found:
        return None
    return Invalid(
        f"the drill made {locations(task.account, found)}, outside its project by now and still billed. It "
        "was not deleted, as somebody may use it, and the drill is not forgotten. Delete it with "
        f"hosted.services.service and run this again. To keep it, remove {record.path}"
    )


def find_members(task: Task[RecoverOptions], project: str, record: RecoveryRecord) -> Members | None:
    """Return the project of a drill; ``None`` if there is none.

    A drill that was killed may not know the id of its project. There was none of its name when it began.
    """
    if record.project_id is not None:
        return read_members(task.account, record.project_id)
    return members_named(task.account, project)
