# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that delete, each planned again in its turn: what is not described any more, or all that is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ..._api.models import Edge, Project
from ..._api.text import counted, first_of
from ..._api.values import ServiceStatus
from ..services.on_service import check_not_left_over
from ..services.removal import own_copies_folder
from ..shared.identify import close_name, oldest_projects, project_with_name
from ..shared.names import same_name
from ..shared.options import FilePath, StateDirOptions, WaitOptions, option
from ..shared.plan import Resource, Task
from ..shared.task_errors import Invalid
from .contents import ENVIRONMENTS, Contents, references_in
from .members import (
    Member,
    Members,
    members_among,
    needed_by_relocations,
    read_members,
)
from .parts import Part, find_cycle, levels, new_part, service_ids

NAMED_MEMBERS = 10


@dataclass(frozen=True, kw_only=True)
class DeletingOptions(StateDirOptions, WaitOptions):
    state: Literal["present", "absent"] = "present"
    prune: bool = False
    max_delete: int = option(3, selects=True)
    delete_backups: bool = False
    delete_without_copy: bool = False
    keep_copy: FilePath | None = option(None, selects=True)
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None


def check_removal_options(options: DeletingOptions) -> None:
    absent = options.state == "absent"
    if options.prune and absent:
        raise Invalid("state: absent deletes what a blueprint describes, prune what it does not; set one")
    if options.keep_copy is not None and not (options.prune or absent):
        raise Invalid("keep_copy copies what is deleted, and nothing is without prune or state: absent")
    if options.keep_copy is not None and options.delete_without_copy:
        raise Invalid("keep_copy and delete_without_copy contradict each other; set one")
    if options.max_delete < 0:
        raise Invalid(f"max_delete is {options.max_delete}; it must be 0 or more")


# --- Prune --------------------------------------------------------------------------------------------


def prune_parts(
    task: Task[DeletingOptions], contents: Contents, parts: Sequence[Part], service: Resource[Any]
) -> list[Part]:
    entries, home = contents.described, parts[0].id
    if not entries:
        raise Invalid(
            f"the blueprint describes no service and no application, so prune would empty project "
            f"{contents.project!r}. Nothing was done. Describe what stays"
        )
    members = read_members(task.account, home) if home else None
    if members is None:  # the blueprint creates the project, so it is empty
        return []
    # What the platform might take for an entry by its name stays, too.
    ids, names = service_ids(parts), {entry.name for entry in entries}
    found = [
        each
        for each in members.found
        if each.id not in ids
        and not any(same_name(own, name) for own in (each.name, each.service.name) for name in names)
    ]
    needed = needed_by_relocations(task.options, contents, [each.service for each in found])
    labels = {each.id: each.label for each in found}
    for id, why in needed.items():
        task.warn(f"{labels[id]} is not in the blueprint, and prune leaves it alone: {why}")
    going = [each for each in found if each.id not in needed]
    check_prune(members, contents, going, ids, task.options.max_delete)

    def check_again(part: Part) -> None:
        now = read_members(part.task.account, members.project.id)
        if now is not None:
            check_references(now, contents, going)
        needed = needed_by_relocations(task.options, contents, [each.service for each in going])
        for id, why in needed.items():
            raise Invalid(f"{labels[id]} is needed by now and was not pruned: {why}")

    keyed, given = [(each.id, each) for each in going], deleting_arguments(task.options)
    deletions = deletion_parts(task, members, keyed, given, service, after=parts)
    for part in deletions:
        part.prepare = check_again
    return deletions


def check_prune(
    members: Members, contents: Contents, going: Sequence[Member], ids: Collection[str], max_delete: int
) -> None:
    project = members.project
    if members.may_be_default:
        raise Invalid(
            f"project {project.name!r} may be the default project of the account, which takes in services "
            "whose project is deleted. Nothing was done. Move what belongs together to a project of its own"
        )
    if not going:
        return
    if not {each.id for each in members.found} & set(ids):
        raise Invalid(
            f"nothing that the blueprint describes is in project {project.name!r} yet, so it may be the "
            "wrong one, and prune is refused. Nothing was done. If it is the right one, run this once "
            f"without prune. To be deleted: {list_members(going)}"
        )
    check_references(members, contents, going)
    if len(going) > max_delete:
        raise Invalid(
            f"prune would delete {counted(len(going), 'service')}, and max_delete is {max_delete}. Nothing "
            f"was done. To be deleted: {list_members(going)}. Describe what stays, or raise max_delete",
            would_delete=[each.label for each in going],
        )


def check_references(members: Members, contents: Contents, going: Sequence[Member]) -> None:
    """Refuse to delete what something that stays refers to, unless the blueprint deploys that anew before."""
    labels = {each.id: each.label for each in [*members.found, *going]}
    ids, keys = {each.id for each in going}, {entry.key for entry in contents.described}
    by_alias = {alias: id for id, alias in members.aliases.items() if id in ids and alias not in keys}
    rewritten, written = set[str](), list[tuple[str, str, str]]()
    for entry in contents.applications:
        if entry.values.get("image") and any(entry.values.get(name) for name in ENVIRONMENTS):
            rewritten |= {member.id for member in [members.of(entry)] if member}
        for path, target, __ in references_in(entry):
            if target in by_alias:
                who = f"application {entry.name!r}"
                written.append((who, labels[by_alias[target]], str(path[-1])))
    used = [
        (labels[str(each.from_)], labels[str(each.to)], ", ".join(each.through or []))
        for each in members.users_of(ids)
        if each.from_ not in rewritten
    ]
    if used or written:
        told = "; ".join(
            f"{who} refers to {what}{f' through {through}' if through else ''}"
            for who, what, through in [*used, *written]
        )
        raise Invalid(
            f"prune would delete what others need: {told}. Nothing was deleted. Describe it in the "
            "blueprint, or remove the reference and deploy first: a new environment takes effect at a deploy"
        )


def list_members(found: Iterable[Member]) -> str:
    return first_of([each.label for each in found], NAMED_MEMBERS)


# --- Absent -------------------------------------------------------------------------------------------


def absence_parts(
    task: Task[DeletingOptions], contents: Contents, service: Resource[Any], project: Resource[Any]
) -> list[Part]:
    projects = task.account.projects()
    home = project_with_name(projects, contents.project)
    members = read_members(task.account, home.id) if home else None
    if members is None:
        if hint := close_name(contents.project, (each.name for each in projects)):
            task.warn(f"there is no project {contents.project!r}, so nothing was deleted;{hint}")
        look_elsewhere(task, contents, projects)
        return []
    going = dict[str, tuple[str, Member]]()
    for entry in contents.described:
        if (member := members.of(entry)) is not None:
            check_not_left_over(task, member.id, entry.values.get("id"))
            going[member.id] = entry.key, member
    labels = {each.id: each.label for each in members.found}
    if users := dict.fromkeys(labels[str(each.from_)] for each in members.users_of(going)):
        task.warn(f"{', '.join(users)} stays, and refers to what is deleted")
    parts = deletion_parts(task, members, [*going.values()], deleting_arguments(task.options), service)
    reason = why_project_stays(task, members, [each for each in members.found if each.id not in going])
    if reason is not None:
        task.warn(f"project {members.project.name!r} stays: {reason}")
        return parts
    return [*parts, project_deletion(task, members.project, parts, project)]


def why_project_stays(task: Task[DeletingOptions], members: Members, staying: Sequence[Member]) -> str | None:
    if staying:
        return f"it has what the blueprint does not describe: {list_members(staying)}"
    if members.may_be_default:
        return "it may be the default project of the account, which cannot be deleted"
    if not task.options.wait and members.found:
        return "with wait: false, its services are still there; run this again once they are gone"
    return None


def look_elsewhere(task: Task[DeletingOptions], contents: Contents, projects: Sequence[Project]) -> None:
    """Refuse to take for deleted what may be left of a project: its services join the default project."""
    entries, there = contents.described, members_among(task.account, task.account.services())
    found = [each for each in there if any(each.is_described_by(one) for one in entries)]
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


# --- Both -------------------------------------------------------------------------------------------


def project_deletion(
    task: Task[Any], project: Project, parts: Sequence[Part], resource: Resource[Any]
) -> Part:
    place, own = ("project", project.name, project.name), {"id": project.id, "state": "absent"}
    return new_part(task, place, resource, own, needs=parts, late=True)


def deleting_arguments(options: DeletingOptions) -> Mapping[str, Any]:
    folder: str | None = options.keep_copy
    if folder is None and options.prune and not options.delete_without_copy:
        folder = own_copies_folder(options.state_dir)
    return {
        "delete_backups": options.delete_backups,
        "keep_copy": folder,
        "private_key_file": options.private_key_file,
        "known_hosts": options.known_hosts,
    }


def deletion_parts(
    task: Task[Any],
    members: Members,
    going: Sequence[tuple[str, Member]],
    given: Mapping[str, Any],
    resource: Resource[Any],
    *,
    after: Sequence[Part] = (),
) -> list[Part]:
    """Return the parts that delete services, by their keys, each after those that refer to it."""
    by_id = {member.id: (key, member) for key, member in going}
    made: dict[str, Part] = {}
    for id, users in by_references(by_id, members.edges).items():
        key, member = by_id[id]
        own = {"id": id, "name": member.service.name, "project": members.project.id, "state": "absent"}
        # One whose creation failed has nothing to copy.
        copied = {} if member.service.status != ServiceStatus.FAILED else {"keep_copy": None}
        place, needs = (member.section, key, member.name), [*after, *(made[user] for user in users)]
        made[id] = new_part(task, place, resource, {**given, **own, **copied}, needs=needs, late=True)
    return list(made.values())


def by_references(going: Iterable[str], edges: Iterable[Edge]) -> dict[str, list[str]]:
    """Return by id, in order, what is deleted before. Of two that refer to each other, one is first."""
    needs: dict[str, list[str]] = {id: [] for id in going}
    for edge in edges:
        if edge.to in needs and edge.from_ in needs and edge.from_ != edge.to:
            needs[str(edge.to)].append(str(edge.from_))
    while cycle := find_cycle(needs):
        first, second, *__ = cycle
        needs[first] = [each for each in needs[first] if each != second]
    return {id: list(dict.fromkeys(needs[id])) for group in levels(needs) for id in group}
