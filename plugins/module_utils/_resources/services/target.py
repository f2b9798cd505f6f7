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
from ..shared.task_errors import Ambiguous, NoSuchItem
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


def identify(task: Task[ServiceOptions]) -> Target:
    """Find the service that the task selects, and the projects that it names, or that the play makes.

    :raises Invalid: if its id contradicts the name, family or project.
    :raises NoSuchItem: if a project does not exist.
    :raises Ambiguous: if several have the name, with their ids.
    """
    options, account = task.options, task.account
    find = account.project if options.state == "absent" else account.project_to_come
    try:
        project = find(options.project) if options.project else None
    except NoSuchItem:
        if options.state != "absent" or (options.id and account.service(options.id)):
            raise
        return Target(options.id)  # what was in a project that is gone is gone from it too
    target = Target(options.id, project, find(options.new_project) if options.new_project else None)
    if options.id is None:
        found = find_by_name(task, target)
        return replace(target, id=found.id if found else None)
    service = account.service(options.id) if options.name or options.family or project else None
    if service is not None:  # it may have been moved already
        homes = [each for each in (project, target.destination) if each] if project else []
        check_id_matches(service, name=options.name, family=options.family, projects=homes)
    return target


def find_by_name(task: Task[ServiceOptions], target: Target) -> Service | ServiceSummary | None:
    """Return the service with this name; ``None`` if there is none.

    For a move, this looks in the current project, then in the one that an earlier run moved it to.
    """
    name, family, account = task.options.wanted_name, task.options.family, task.account
    named = account.named(name, target.project, family)
    if target.project is None and task.options.state in KEEPING_UP:
        named = account.in_default_project(named)
    found = only_service(named, name, account.location)
    if target.destination is None or target.project is None:
        return found
    moved = only_service(account.named(name, target.destination, family), name, account.location)
    if found and moved and found.id != moved.id:
        raise Ambiguous(
            f"service {name!r} ({found.id}) cannot be moved by its name: project {target.destination.name!r} "
            f"has a service named {name!r} too ({moved.id}). Name the one to move by id",
            ids=[found.id, moved.id],
        )
    return found or moved
