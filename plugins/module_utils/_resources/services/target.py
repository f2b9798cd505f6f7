# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Determines which service a task works on, its project, and the project to move it to."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..._api.models import Project, Service, ServiceSummary
from ..shared.identify import (
    check_id_matches,
    only_service,
)
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem
from .options import ServiceOptions

KEEPING_UP = ("present", "started")
"""The states that only order or keep up a service. An order without a project goes to the default one."""


@dataclass(frozen=True)
class Target:
    """The service that a task selects, or ``None`` as its id if it does not exist, and the named projects.

    ``project`` is the one that the service is in or is ordered in; ``new_project`` moves it to
    ``destination``.
    """

    id: str | None
    project: Project | None = None
    destination: Project | None = None

    @property
    def home(self) -> Project | None:
        """The project that the service is to be in, if the task names one."""
        return self.destination or self.project


def identify(task: Task[ServiceOptions]) -> Target:
    """Find the service that the task selects.

    :raises Invalid: if its id contradicts the name, family or project.
    :raises Ambiguous: if several have the name, with their ids.
    """
    options = task.options
    if options.new_project and options.state == "absent":
        raise Invalid("new_project moves a service and state: absent deletes it; leave one of them out")
    try:
        project = named_project(task, options.project)
    except NoSuchItem:
        if options.state != "absent" or (options.id and task.account.service(options.id)):
            raise
        return Target(options.id)  # what was in a project that is gone is gone from it too
    target = Target(options.id, project, named_project(task, options.new_project))
    if target.id:
        check_id(task, target)
        return target
    found = find_by_name(task, target)
    return replace(target, id=found.id if found else None)


def named_project(task: Task[ServiceOptions], wanted: str | None) -> Project | None:
    """Return the project that an option names; in check mode, a placeholder if it does not exist.

    :raises NoSuchItem: if there is none.
    """
    if not wanted:
        return None
    account = task.account
    return account.project(wanted) if task.options.state == "absent" else account.project_to_come(wanted)


def check_id(task: Task[ServiceOptions], target: Target) -> None:
    """Check that the id does not contradict the other options. The service may have been moved already."""
    options = task.options
    if not (options.name or options.family or options.project):
        return
    service = task.account.service(str(target.id))
    if service is not None:
        homes = [project for project in (target.project, target.destination) if project]
        check_id_matches(
            service,
            name=options.name,
            family=options.family,
            projects=homes if target.project else [],
        )


def find_by_name(task: Task[ServiceOptions], target: Target) -> Service | ServiceSummary | None:
    """Return the service with this name; ``None`` if there is none.

    For a move, this looks in the current project, then in the one that an earlier run moved it to.
    """
    name, family = task.options.wanted_name, task.options.family
    named = task.account.named(name, target.project, family)
    if target.project is None and task.options.state in KEEPING_UP:
        named = task.account.in_default_project(named)
    where = task.account.location
    found = only_service(named, name, where)
    if target.destination is None or target.project is None:
        return found
    moved = only_service(task.account.named(name, target.destination, family), name, where)
    if found and moved and found.id != moved.id:
        raise Ambiguous(
            f"service {name!r} ({found.id}) cannot be moved by its name: project {target.destination.name!r} "
            f"has a service named {name!r} too ({moved.id}). Name the one to move by id",
            ids=[found.id, moved.id],
        )
    return found or moved
