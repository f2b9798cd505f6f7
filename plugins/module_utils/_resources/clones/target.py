# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a project is made like another one, and what was made there."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ..._api.models import Service
from ..blueprints.members import Member, Members, check_no_id, read_members
from ..blueprints.removal import list_members
from ..shared.account import Account
from ..shared.identify import label, project_with_name
from ..shared.made_record import MadeRecord
from ..shared.names import same_name
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid
from .source import CloneOptions, SourceProject, Wanted


@dataclass
class CloneRecord(MadeRecord):
    """What was made for a clone, by the id in the source."""

    folder: ClassVar[str] = "clones"
    subject: ClassVar[str] = "clone"

    source: str | None = None


def check_own(
    task: Task, id: str, source_id: str | None, project_id: str | None, whole: str = "clone"
) -> Service:
    """Return the service that is about to be written, read again. ``whole`` is what it belongs to."""
    if id == source_id:
        raise Invalid(f"service {id} is the source of the {whole}; nothing was written to it")
    service = task.account.existing_service(id)
    if project_id is None or service.project_id != project_id:
        raise Invalid(f"{label(service)} is not in the project of the {whole}; nothing was written to it")
    return service


def members_named(account: Account, project: str) -> Members | None:
    found = project_with_name(account.projects(), project)
    return read_members(account, found.id) if found else None


def find_there(
    task: Task[Any],
    wanted: Sequence[Wanted],
    names: Mapping[str, str],
    members: Members | None,
    record: MadeRecord,
) -> dict[str, Member]:
    """Return by key what is there already: by the id that was remembered, else by its name."""
    there: dict[str, Member] = {}
    for each in wanted:
        same = [one for one in (members.found if members else ()) if (one.slug is not None) == each.is_app]
        alike = [one for one in same if one.id == record.ids.get(each.made_for)]
        alike = alike or [one for one in same if same_name(one.name, names[each.key])]
        if len(alike) > 1:
            ids = ", ".join(sorted(one.id for one in alike))
            raise Ambiguous(
                f"{len(alike)} services of the project may be {names[each.key]!r} of the {record.subject}: "
                f"{ids}. Nothing was done. Rename all but one"
            )
        if alike:
            there[each.key] = alike[0]
    new = {names[each.key] for each in wanted if each.is_app and each.key not in there}
    if taken := sorted(new & {app.slug for app in task.account.apps()}):
        raise Invalid(
            f"this account has applications {', '.join(map(repr, taken))} in other projects, and slugs are "
            "unique. Nothing was ordered. Move them into the project, or set rename, such as {suffix: -copy}"
        )
    return there


def recognize(task: Task[Any], record: MadeRecord, members: Members) -> None:
    """Take what came up with an order for what was ordered; warn where that may be several things."""
    for found in record.recognize(members.found):
        task.warn(
            f"{list_members(found)} were created when one of that name was ordered, and the response to that "
            "was lost. None is taken for it, as others may use them. Delete the one that nobody needs"
        )


def found_elsewhere(account: Account, ids: Iterable[str], members: Members | None) -> list[Service]:
    """Return which services of these ids are there, but not in the project that they were made in."""
    outside = sorted(set(ids) - {each.id for each in (members.found if members else ())})
    found = account.each(outside, lambda own, id: own.staying(id))
    return [each for each in found if each and not (members and each.project_id == members.project.id)]


def check_not_elsewhere(
    account: Account, record: MadeRecord, made_for: Iterable[str], members: Members | None
) -> None:
    """Refuse to order again what was made and was moved to another project, where it is billed."""
    made = [record.ids[each] for each in made_for if each in record.ids]
    if found := found_elsewhere(account, made, members):
        raise Invalid(
            f"the {record.subject} made {locations(account, found)}, outside its project by now and still "
            "billed. Nothing was ordered. Move it back with new_project of hosted.services.service, or "
            f"delete it. To keep it and order another one, remove {record.path}"
        )


def locations(account: Account, services: Iterable[Service]) -> str:
    return ", ".join(f"{each.name!r} ({account.location(each)})" for each in services)


# --- Where a clone goes -------------------------------------------------------------------------------


def check_target(
    task: Task[CloneOptions], source: SourceProject, names: Mapping[str, str], record: CloneRecord
) -> dict[str, Member]:
    name, home, wanted = task.options.project, source.project, source.originals
    if name in (home.name, home.id):
        raise Invalid(f"source and project are both {name!r}; a project cannot be cloned onto itself")
    check_no_id(name, task.account.projects())
    members = members_named(task.account, name)
    found = members.found if members else ()
    if members and members.may_be_default:
        raise Invalid(
            f"project {name!r} may be the default project of the account, which the platform does not "
            "show: the oldest is taken for it. Clone into a project of its own"
        )
    if members:
        recognize(task, record, members)
    if found and record.source not in (None, home.id):
        raise Invalid(
            f"project {name!r} holds the clone of another project ({record.source}). Delete that first, or "
            "clone into another project"
        )
    check_not_elsewhere(task.account, record, [each.made_for for each in wanted], members)
    there = find_there(task, wanted, names, members, record)
    check_foreign(task, [each for each in found if not record.made(each)], {one.id for one in there.values()})
    made = {id for original, id in record.ids.items() if original not in {each.made_for for each in wanted}}
    dropped = [each for each in found if each.id in made]
    if dropped and task.options.services is None:
        task.warn(
            f"the clone keeps, and pays for, what project {home.name!r} no longer has: "
            f"{list_members(dropped)}. Delete what nobody needs"
        )
    return there


def check_foreign(task: Task[CloneOptions], foreign: Sequence[Member], ids: Container[str]) -> None:
    """Refuse a project that holds what the clone did not make. ``ids`` are those of what has its names."""
    taken = [each for each in foreign if each.id in ids]
    existing = task.options.existing
    if taken and existing != "adopt":
        raise Invalid(
            f"project {task.options.project!r} has {list_members(taken)}, by a name of the clone and not "
            "known to be made by it. Nothing was done. existing: adopt takes it for the clone, and "
            "overwrites what it holds; rename gives the clone other names"
        )
    if foreign and existing == "refuse":
        raise Invalid(
            f"project {task.options.project!r} has {list_members(foreign)}, which the clone did not make. "
            "Nothing was done. Clone into another project, or set existing: keep to leave that alone"
        )
