# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: groups of services with a private network (Projects)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api.models import Project
from .._api.text import counted
from .shared.aliases import read_aliases, warn_of_clashes
from .shared.identify import (
    existing,
    near_miss,
    oldest_projects,
    project_with_name,
)
from .shared.limits import MAX_PROJECT_NAME
from .shared.names import likely_meant, look_alike, same_name
from .shared.options import Options, option
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import await_removal, create_unique, wait_for_new


@dataclass(frozen=True, kw_only=True)
class ProjectOptions(Options):
    """The options of module project."""

    name: str | None = option(None, selects=True)
    id: str | None = option(None, selects=True)
    new_name: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    force: bool = False


class ProjectResource(Resource[ProjectOptions]):
    """A project, by name or by id."""

    result_key = "project"
    rules: ClassVar[dict[str, Any]] = {"required_one_of": [("name", "id")]}

    def plan(self, task: Task[ProjectOptions]) -> Plan:
        """Create, rename or delete, on difference only."""
        projects = task.account.projects()
        current = find_target(projects, task.options)
        if task.options.state == "absent":
            return plan_absent(task, current)
        wanted = task.options.new_name or task.options.name or (current.name if current else "")
        check_project_name(wanted)
        if current is None and task.options.new_name:
            return nothing_to_rename(task, task.options.new_name, projects)
        if current is None:
            warn_of_meant(task, projects)
            return plan_creation(task, wanted, {project.id for project in projects})
        others = [project for project in projects if project is not current]
        return plan_rename(task, current, wanted, project_with_name(others, wanted))


PROJECT = ProjectResource()


def find_target(projects: Sequence[Project], options: ProjectOptions) -> Project | None:
    """Return the selected project. With ``new_name``, one that already has it is selected, too."""
    if options.id:
        current = next((project for project in projects if project.id == options.id), None)
        check_name_of_id(current, options)
        if current is None and options.state == "present":
            hint = near_miss(options.id, (), (project.id for project in projects))
            raise NoSuchItem(f"there is no project of id {options.id!r}{hint}")
        return current
    if options.state == "absent":
        return project_with_name(projects, str(options.name))
    wanted = filter(None, (options.name, options.new_name))
    return next((found for name in wanted if (found := project_with_name(projects, name))), None)


def warn_of_meant(task: Task[ProjectOptions], projects: Sequence[Project]) -> None:
    """Warn in check mode of the project whose name is probably meant."""
    name = task.options.name or ""
    meant = likely_meant(name, (project.name for project in projects))
    if meant is not None and task.check_mode:
        task.warn(f"there is no project named {name!r}; did you mean {meant!r}{look_alike(name, meant)}?")


def check_name_of_id(current: Project | None, options: ProjectOptions) -> None:
    """Refuse an id whose project has another name than the task says, unless the name is to be given to it.

    :raises Invalid: naming both.
    """
    name, new_name, present = options.name, options.new_name, options.state == "present"
    if current is None or name is None or same_name(name, current.name):
        return
    if present and (new_name is None or same_name(new_name, current.name)):  # renamed now, or earlier
        return
    raise Invalid(
        f"the id is that of project {current.name!r} ({current.id}), but the task says name {name!r}; "
        "nothing was done. Correct the id or the name, or leave the name out"
    )


def check_project_name(name: str) -> None:
    """Check the rules for names: not empty, at most 60 characters.

    :raises Invalid: naming the rule.
    """
    if not name.strip():
        raise Invalid("the name of a project must not be empty")
    if len(name) > MAX_PROJECT_NAME:
        raise Invalid(
            f"the project name {name!r} has {len(name)} characters; at most {MAX_PROJECT_NAME} are allowed"
        )


def nothing_to_rename(task: Task[ProjectOptions], new_name: str, projects: Sequence[Project]) -> Plan:
    """Refuse to create a project that was to be renamed; in check mode, assume that the play creates it.

    :raises NoSuchItem: with a hint.
    """
    name = str(task.options.name)  # as one of an id that is not there is refused before
    hint = near_miss(name, (project.name for project in projects))
    task.expect_created(
        NoSuchItem(f"there is no project named {name!r} to rename; nothing was created{hint}"),
        name,
    )
    return Plan(result=expected_project(new_name))


def expected_project(name: str) -> dict[str, Any]:
    """Return a project as expected after the task, as far as known."""
    return Project.model_construct(id=None, name=name, created_at=None, resource_count=0).as_dict()


def plan_creation(task: Task[ProjectOptions], name: str, known: set[str]) -> Plan:
    """Plan a new project."""

    def read() -> dict[str, Any]:
        return read_project(task, name, lambda project: project.id not in known)

    def make() -> object:
        if create_project(task, name, known):
            return None
        found = read()
        as_it_is = {"name": found["name"]}
        plan.become(Plan(result=found, before=as_it_is, after=as_it_is))
        return NOTHING_DONE

    plan = Plan(
        result=expected_project(name),
        steps=[Step(f"create project {name!r}", make)],
        reread=read,
        after={"name": name},
    )
    return plan


def create_project(task: Task[ProjectOptions], name: str, known: set[str]) -> bool:
    """Create a project, once. Return whether this task did; otherwise, another run was faster."""

    def new_ones() -> list[Project]:
        projects = task.account.projects()
        return [p for p in projects if p.id not in known and same_name(p.name, name)]

    return create_unique(lambda: task.client.create_project(name), new_ones, f"project {name!r}", task)


def plan_rename(task: Task[ProjectOptions], current: Project, name: str, taken: Project | None) -> Plan:
    """Plan the rename of a project, if needed."""
    if same_name(current.name, name):
        now = {"name": current.name}
        return Plan(result=current.as_dict(), before=now, after=now)
    task.guard.expect_name(current.id, name)
    rename = Step(
        f"rename project {current.name!r} to {name!r}",
        lambda: task.client.rename_project(current.id, name),
    )
    return Plan(
        result={**current.as_dict(), "name": name},
        steps=[rename] if taken is None else [make_way(task, taken), rename],
        reread=lambda: read_project(task, name, lambda project: project.id == current.id),
        before={"name": current.name},
        after={"name": name},
    )


def make_way(task: Task[ProjectOptions], taken: Project) -> Step:
    """Return the step that deletes an empty project of the new name, as a play under that name has made it.

    :raises Invalid: if it is not empty.
    """

    def check() -> None:
        if count_members(task, taken):
            raise Invalid(
                f"the name {taken.name!r} is taken by the project of id {taken.id}, which is not empty; "
                "names are unique"
            )

    def remove() -> None:
        check()
        delete_project(task, taken)

    check()
    return Step(f"delete project {taken.name!r} ({taken.id}), which is empty", remove)


def read_project(task: Task[ProjectOptions], name: str, is_it: Callable[[Project], bool]) -> dict[str, Any]:
    """Return the project as the platform has it after a write whose answer is not shown.

    The list need not show it at once. It is waited for, because the next task looks for the project there.
    """

    def find() -> Project | None:
        projects = task.account.projects()
        return next((p for p in projects if is_it(p) and same_name(p.name, name)), None)

    project = wait_for_new(find)
    if project is None:
        others = [project for project in task.account.projects() if is_it(project)]
        if len(others) == 1:
            raise Invalid(
                f"the platform accepted the name {name!r}, but stored {others[0].name!r} ({others[0].id}); "
                "use that name in the task",
                project=others[0].as_dict(),
            )
        raise NoSuchItem(f"the platform accepted the call, but no project named {name!r} is on its list")
    return project.as_dict()


def warn_of_alias_conflicts(task: Task[ProjectOptions], current: Project) -> None:
    """Warn of services whose alias is taken in the project that they will join.

    That is the default project, which is assumed to be the oldest.
    """
    others = [project for project in task.account.projects() if project.id != current.id]
    homes = [project for project in others if project.id in oldest_projects([*others, current])]
    if len(homes) == 1:
        joining, there = (read_aliases(task.account, each.id) for each in (current, homes[0]))
        warn_of_clashes(task, joining, there, f"the default project ({homes[0].name!r})")


def count_members(task: Task[ProjectOptions], project: Project) -> int:
    """Return how many services are in a project, in check mode without what the play deletes before this."""
    members = existing(task.account.members(project))
    known = task.foreseen.keys()
    return sum(not {f"no service {each.id}", f"no service {each.name}"} & known for each in members)


def check_empty(task: Task[ProjectOptions], project: Project, count: int) -> None:
    """Check that a project has no services, unless it is deleted by force.

    :raises Invalid: saying how many it has.
    """
    if count and not task.options.force:
        raise Invalid(
            f"project {project.name!r} has {counted(count, 'service')}, which would join the default project"
            ". Set force: true to delete it anyway",
            resource_count=count,
        )


def plan_absent(task: Task[ProjectOptions], current: Project | None) -> Plan:
    """Plan the deletion of a project; of one with services only with ``force``."""
    if current is None:
        return Plan(result=None)
    count = count_members(task, current)
    check_empty(task, current, count)
    if count:
        task.warn(
            f"deleting project {current.name!r} lets its {counted(count, 'service')} join the default project"
        )
        warn_of_alias_conflicts(task, current)

    if task.check_mode and current.id in task.account.default_projects():
        task.warn(
            f"project {current.name!r} is the oldest of the account, so it is the default project, and the "
            "platform refuses to delete that one"
        )

    return Plan(
        result=None,
        steps=[Step(f"delete project {current.name!r}", lambda: delete_project(task, current))],
        before={"name": current.name},
    )


def delete_project(task: Task[ProjectOptions], project: Project) -> None:
    """Delete a project, and wait until the list does not show it."""
    task.client.delete_project(project.id)
    await_removal(
        task,
        lambda: any(each.id == project.id for each in task.account.projects()),
        f"project {project.name!r}",
    )
