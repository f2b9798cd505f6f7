# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that delete: what a blueprint no longer describes, or all that it does.

Each is planned again in its turn, by the same rules and from a new look at the platform. What refers to
another service goes before it, and a project goes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._api.models import Project
from ..._api.text import first_of
from ..._api.values import ServiceStatus
from ..services.on_service import check_not_left_over
from ..services.removal import own_copies_folder
from ..shared.identify import close_name, oldest_projects, project_with_name
from ..shared.options import FilePath, StateDirOptions, WaitOptions, option
from ..shared.plan import Resource, Task
from ..shared.task_errors import Invalid
from .contents import Contents
from .members import (
    NAMED_MEMBERS,
    Member,
    Members,
    all_members,
    by_references,
    check_describes,
    check_prune,
    check_references,
    described_entries,
    list_members,
    names_in,
    not_described,
    read_members,
)
from .needed import needed_for
from .parts import Arguments, Part, new_part, service_ids

MAX_DELETE = 3


@dataclass(frozen=True, kw_only=True)
class DeletingOptions(StateDirOptions, WaitOptions):
    """What a task on a blueprint may delete, and what it keeps of that."""

    state: Literal["present", "absent"] = "present"
    prune: bool = False
    max_delete: int = option(MAX_DELETE, selects=True)
    delete_backups: bool = False
    delete_without_copy: bool = False
    keep_copy: FilePath | None = option(None, selects=True)
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None


@dataclass(frozen=True)
class Deleters:
    """The resources that delete."""

    service: Resource[Any]
    project: Resource[Any]
    """Deletes a project once all that is in it is gone."""


def check_removal_options(options: DeletingOptions) -> None:
    """Check that the options that delete do not contradict each other.

    :raises Invalid: naming them.
    """
    deletes = options.prune or options.state == "absent"
    if options.prune and options.state == "absent":
        raise Invalid(
            "state: absent deletes what the blueprint describes, and prune what it does not; set one"
        )
    if options.keep_copy is not None and not deletes:
        raise Invalid("keep_copy copies what is deleted, and nothing is without prune or state: absent")
    if options.keep_copy is not None and options.delete_without_copy:
        raise Invalid("keep_copy and delete_without_copy contradict each other; set one")
    if options.max_delete < 0:
        raise Invalid(f"max_delete is {options.max_delete}; it must be 0 or more")


# --- Prune --------------------------------------------------------------------------------------------


def prune_parts(
    task: Task[DeletingOptions], contents: Contents, parts: Sequence[Part], deleters: Deleters
) -> list[Part]:
    """Return the parts that delete what the blueprint does not describe, after all of its own parts.

    :raises Invalid: if anything speaks against it.
    """
    check_describes(contents)
    home = parts[0].id
    members = read_members(task.account, home) if home else None
    if members is None:  # the blueprint creates the project, so it is empty
        return []
    ids = service_ids(parts)
    found = not_described(members, contents, ids)
    needed = needed_of(task, contents, found)
    for member, why in needed:
        task.warn(f"{member.label} is not in the blueprint, and prune leaves it alone: {why}")
    staying = {member.id for member, __ in needed}
    going = [each for each in found if each.id not in staying]
    check_prune(members, contents, going, ids, task.options.max_delete)

    def check_again(part: Part) -> None:
        now = read_members(part.task.account, members.project.id)
        if now is not None:
            check_references(now, contents, going)
        for member, why in needed_of(task, contents, going):
            raise Invalid(f"{member.label} is needed by now and was not pruned: {why}")

    given = deleting_arguments(task, copies_folder(task))
    deleting = [(each.id, each, given(each)) for each in going]
    return deletion_parts(task, members, deleting, deleters, after=parts, check_again=check_again)


def needed_of(task: Task[Any], contents: Contents, found: Sequence[Member]) -> list[tuple[Member, str]]:
    """Return what relocations need of some services, each with what for."""
    if not found:
        return []
    needed = needed_for(task.options, names_in(contents))
    return [(each, why) for each in found if (why := needed(each.service)) is not None]


def copies_folder(task: Task[DeletingOptions]) -> str | None:
    """Return where to copy what is pruned; ``None`` if it is not to be."""
    options = task.options
    if options.keep_copy is not None or options.delete_without_copy:
        return options.keep_copy
    return own_copies_folder(options.state_dir)


# --- Absent -------------------------------------------------------------------------------------------


def absence_parts(task: Task[DeletingOptions], contents: Contents, deleters: Deleters) -> list[Part]:
    """Return the parts that delete all that a blueprint describes, and its project if that leaves it empty.

    SSH keys belong to the account and stay.
    """
    projects = task.account.projects()
    home = project_with_name(projects, contents.project)
    members = read_members(task.account, home.id) if home else None
    if members is None:
        if hint := close_name(contents.project, (each.name for each in projects)):
            task.warn(f"there is no project {contents.project!r}, so nothing was deleted;{hint}")
        look_elsewhere(task, contents, projects)
        return []
    going = list[tuple[str, Member]]()
    for entry in described_entries(contents):
        if (member := members.of(entry)) is not None:
            check_not_left_over(task, member.id, entry.values.get("id"))
            going.append((entry.key, member))
    warn_of_users(task, members, [member for __, member in going])
    given = deleting_arguments(task, task.options.keep_copy)
    parts = deletion_parts(task, members, [(*each, given(each[1])) for each in going], deleters)
    staying = [each for each in members.found if each.id not in {member.id for __, member in going}]
    reason = why_project_stays(task, members, staying)
    if reason is not None:
        task.warn(f"project {members.project.name!r} stays: {reason}")
        return parts
    return [*parts, project_deletion(task, members.project, parts, deleters.project)]


def look_elsewhere(task: Task[DeletingOptions], contents: Contents, projects: Sequence[Project]) -> None:
    """Look for what a blueprint describes outside of its project, which is not there.

    If the project was deleted, its services joined the default project, which is not shown. They are not
    told from others of their names, so none is deleted. What is in a project of its own is another
    blueprint's, which may well use the same names.

    :raises Invalid: naming what may be left of the project.
    """
    entries = described_entries(contents)
    found = [each for each in all_members(task.account) if any(each.is_described_by(one) for one in entries)]
    homes = {each.id: each.project_id for each in task.account.read_staying(found)}
    former = project_with_name(projects, contents.was) if contents.was else None
    doubtful = {*oldest_projects(projects), *([former.id] if former else [])}
    ids = {entry.values.get("id") for entry in entries}
    names = {each.id: each.name for each in projects}
    left = [
        f"{each.label} in project {names.get(str(homes[each.id]))!r}"
        for each in found
        if each.id in homes and (each.id in ids or homes[each.id] in doubtful)
    ]
    if left:
        raise Invalid(
            f"there is no project {contents.project!r}, and this may be left of it and still billed: "
            f"{first_of(left, NAMED_MEMBERS)}. Nothing was deleted. Delete it with hosted.services.service, "
            "or write the project that it is in as project. If it is something else, leave out this task"
        )


def warn_of_users(task: Task[DeletingOptions], members: Members, going: Sequence[Member]) -> None:
    """Warn of what stays and refers to what goes."""
    labels = {each.id: each.label for each in members.found}
    users = dict.fromkeys(labels[str(each.from_)] for each in members.users_of({each.id for each in going}))
    if users:
        task.warn(f"{', '.join(users)} stays, and refers to what is deleted")


def why_project_stays(task: Task[DeletingOptions], members: Members, staying: Sequence[Member]) -> str | None:
    """Return why the project is not deleted; ``None`` if it is."""
    if staying:
        return f"it has what the blueprint does not describe: {list_members(staying)}"
    if members.may_be_default:
        return "it may be the default project of the account, which cannot be deleted"
    if not task.options.wait and members.found:
        return "with wait: false, its services are still there; run this again once they are gone"
    return None


def project_deletion(
    task: Task[Any], project: Project, parts: Sequence[Part], deleter: Resource[Any]
) -> Part:
    """Return the part that deletes the project, after all that is in it."""
    place = "project", project.name, project.name
    own = {"id": project.id, "state": "absent"}
    return new_part(task, place, deleter, lambda part: own, needs=parts, late=True)


# --- Both -------------------------------------------------------------------------------------------


def deleting_arguments(
    task: Task[DeletingOptions], folder: str | None
) -> Callable[[Member], Mapping[str, Any]]:
    """Return what returns the options of a deletion that depend on the task.

    :param folder: where a copy of each goes before; ``None`` for none.
    """
    options = task.options

    def given(member: Member) -> Mapping[str, Any]:
        empty = member.service.status == ServiceStatus.FAILED
        return {
            "delete_backups": options.delete_backups,
            "keep_copy": None if empty else folder,
            "private_key_file": options.private_key_file,
            "known_hosts": options.known_hosts,
        }

    return given


def deletion_parts(
    task: Task[Any],
    members: Members,
    going: Sequence[tuple[str, Member, Mapping[str, Any]]],
    deleters: Deleters,
    *,
    after: Sequence[Part] = (),
    check_again: Callable[[Part], None] = lambda part: None,
) -> list[Part]:
    """Return the parts that delete services of a project, each after those that refer to it.

    Each is deleted if it still has its name and is in the project.

    :param going: each with its key, and with what else its deletion is told.
    :param check_again: runs right before each of them is planned in its turn.
    """
    by_id = {member.id: (key, member, given) for key, member, given in going}
    made: dict[str, Part] = {}

    def arguments(member: Member, given: Mapping[str, Any]) -> Arguments:
        own = {"id": member.id, "name": member.service.name, "project": members.project.id}
        return lambda part: {**own, "state": "absent", **given}

    for id, users in by_references([member for _key, member, _given in going], members.edges).items():
        key, member, given = by_id[id]
        needs = [*after, *(made[user] for user in users)]
        place = member.section, key, member.name
        part = new_part(task, place, deleters.service, arguments(member, given), needs=needs, late=True)
        part.prepare = check_again
        made[id] = part
    return list(made.values())
