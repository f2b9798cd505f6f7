# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: groups of services with a private network (Projects)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.models import Project
from .._api.text import composed, counted
from .shared.account import Account
from .shared.change import Change, Gone, Listed, apply, creation, ids_of, step_of
from .shared.identify import (
    existing,
    near_miss,
    oldest_projects,
    project_with_name,
    read_aliases,
    warn_of_clashes,
)
from .shared.names import likely_meant, look_alike, same_name
from .shared.options import MAX_PROJECT_NAME, Options, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class ProjectOptions(Options):
    name: str | None = option(None, selects=True)
    id: str | None = option(None, selects=True)
    new_name: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    force: bool = False


class ProjectResource(Resource[ProjectOptions]):
    result_key = "project"
    rules: ClassVar[dict[str, Any]] = {"required_one_of": [("name", "id")]}

    def plan(self, task: Task[ProjectOptions]) -> Plan:
        """Create, rename or delete, on difference only."""
        projects = task.account.projects()
        current = find_target(projects, task.options)
        if task.options.state == "absent":
            return plan_absent(task, current)
        name, new_name = task.options.name, task.options.new_name
        wanted = new_name or name or (current.name if current else "")
        if len(wanted) > MAX_PROJECT_NAME:
            most = f"at most {MAX_PROJECT_NAME} are allowed"
            raise Invalid(f"the project name {wanted!r} has {len(wanted)} characters; {most}")
        if current is not None:
            others = [project for project in projects if project is not current]
            return plan_rename(task, current, wanted, project_with_name(others, wanted))
        if new_name:
            hint = near_miss(str(name), (project.name for project in projects))
            none = f"there is no project named {name!r} to rename; nothing was created{hint}"
            task.expect_created(NoSuchItem(none), str(name))  # in check mode, the play may create it
            return Plan(result=expected_project(new_name))
        meant = likely_meant(wanted, (project.name for project in projects))
        if meant is not None and task.check_mode:
            alike = look_alike(wanted, meant)
            task.warn(f"there is no project named {wanted!r}; did you mean {meant!r}{alike}?")
        return plan_creation(task, wanted, projects)


PROJECT = ProjectResource()


def find_target(projects: Sequence[Project], options: ProjectOptions) -> Project | None:
    """Return the selected project. With ``new_name``, one that already has it is selected, too."""
    present = options.state == "present"
    if options.id:
        current = next((project for project in projects if project.id == options.id), None)
        if current is None and present:
            hint = near_miss(options.id, (), (project.id for project in projects))
            raise NoSuchItem(f"there is no project of id {options.id!r}{hint}")
        named = (options.name, options.new_name if present else None)  # renamed now, or earlier
        renames = present and options.new_name is None
        if current and options.name and not renames and not any(same_name(n, current.name) for n in named):
            raise Invalid(
                f"the id is that of project {current.name!r} ({current.id}), but the task says name "
                f"{options.name!r}; nothing was done. Correct the id or the name, or leave the name out"
            )
        return current
    if not present:
        return project_with_name(projects, str(options.name))
    wanted = filter(None, (options.name, options.new_name))
    return next((found for name in wanted if (found := project_with_name(projects, name))), None)


def expected_project(name: str) -> dict[str, Any]:
    """Return a project as expected after the task, as far as known."""
    return Project.model_construct(id=None, name=name, created_at=None, resource_count=0).as_dict()


def plan_creation(task: Task[ProjectOptions], name: str, known: Iterable[Project]) -> Plan:
    plan = Plan(result=expected_project(name), after={"name": name})
    made = Listed(Account.projects, name=name, known=ids_of(known))
    what, body = f"project {name!r}", {"name": composed(name)}
    create = Change(what=what, route=r.PROJECT_CREATE, body=body, shown=made, unique=True)
    plan.steps = [creation(f"create project {name!r}", task, create, plan, as_it_is)]
    return plan


def as_it_is(project: Project) -> Plan:
    return Plan(result=project.as_dict(), before={"name": project.name}, after={"name": project.name})


def plan_rename(task: Task[ProjectOptions], current: Project, name: str, taken: Project | None) -> Plan:
    if same_name(current.name, name):
        return as_it_is(current)
    task.guard.names.add((current.id, name))
    renamed = Change(
        what=f"project {name!r}",
        route=r.PROJECT_RENAME,
        ids={"id": current.id},
        body={"name": composed(name)},
        shown=Listed(Account.projects, id=current.id, name=name),
    )
    rename = step_of(f"rename project {current.name!r} to {name!r}", task, renamed)
    return Plan(
        result={**current.as_dict(), "name": name},
        steps=[rename] if taken is None else [make_way(task, taken), rename],
        before={"name": current.name},
        after={"name": name},
    )


def make_way(task: Task[ProjectOptions], taken: Project) -> Step:
    """Return the step that deletes an empty project of the new name, as a play under it has made it."""

    def check() -> None:
        if count_members(task, taken):
            raise Invalid(
                f"the name {taken.name!r} is taken by the project of id {taken.id}, which is not empty; "
                "names are unique"
            )

    def remove() -> None:
        check()
        apply(task, deletion(taken))

    check()
    return Step(f"delete project {taken.name!r} ({taken.id}), which is empty", remove)


def warn_of_alias_conflicts(task: Task[ProjectOptions], current: Project) -> None:
    """Warn of services whose alias is taken in the default project, which they will join."""
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


def plan_absent(task: Task[ProjectOptions], current: Project | None) -> Plan:
    """Plan the deletion of a project; of one with services only with ``force``."""
    if current is None:
        return Plan(result=None)
    # What a larger plan deletes before the project is still there when that is planned.
    count = 0 if task.composition.part and task.check_mode else count_members(task, current)
    if count and not task.options.force:
        raise Invalid(
            f"project {current.name!r} has {counted(count, 'service')}, which would join the default project"
            ". Set force: true to delete it anyway",
            resource_count=count,
        )
    if count:
        told = f"lets its {counted(count, 'service')} join the default project"
        task.warn(f"deleting project {current.name!r} {told}")
        warn_of_alias_conflicts(task, current)
    if task.check_mode and current.id in oldest_projects(task.account.projects()):
        task.warn(
            f"project {current.name!r} is the oldest of the account, so it is the default project, and the "
            "platform refuses to delete that one"
        )
    return Plan(
        result=None,
        steps=[step_of(f"delete project {current.name!r}", task, deletion(current))],
        before={"name": current.name},
    )


def deletion(project: Project) -> Change:
    return Change(
        what=f"project {project.name!r}",
        route=r.PROJECT_DELETE,
        ids={"id": project.id},
        shown=Gone(Listed(Account.projects, id=project.id)),
    )
