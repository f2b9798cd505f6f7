# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects (section Endpoints / Projects)."""

from __future__ import annotations

from hosted_sandbox.domain import lifecycle
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Project, Service

MOST_NAME = 60


def default(world: World, account_id: str) -> Project:
    """Return the default project."""
    return next(project for project in world.store.of(Project, account_id) if project.default)


def find(world: World, account_id: str, project_id: str) -> Project:
    """Return a project of the account."""
    project = world.store.get(Project, project_id)
    if project is None or project.account_id != account_id:
        raise AbsentError("Project")
    return project


def pick(world: World, account: Account, project_id: str | None) -> Project:
    """Return the project that a body names, or the default one."""
    if project_id is None:
        return default(world, account.id)
    try:
        return find(world, account.id, project_id)
    except AbsentError as error:
        raise RefusedError(error.message) from None


def members(world: World, project: Project) -> list[Service]:
    """Return the services of a project that are not deleted."""
    services = lifecycle.live(world, project.account_id)
    return [service for service in services if service.project_id == project.id]


def checked_name(world: World, account_id: str, name: str, own: str = "") -> str:
    """Return a checked name: at most 60 characters, and unique on the account."""
    if not 1 <= len(name) <= MOST_NAME:
        raise RefusedError(f"a project name must have 1 to {MOST_NAME} characters")
    if any(other.name == name and other.id != own for other in world.store.of(Project, account_id)):
        raise RefusedError(f"a project named {name} exists already")
    return name


def create(world: World, account: Account, name: str) -> Project:
    """Create an empty project."""
    name = checked_name(world, account.id, name)
    project = Project(world.new_id("prj"), account.id, name, False, world.now)
    world.store.put(project)
    return project


def rename(world: World, project: Project, name: str) -> None:
    """Rename a project."""
    project.name = checked_name(world, project.account_id, name, project.id)
    world.store.put(project)


def delete(world: World, project: Project) -> None:
    """Delete a project; its services join the default project, which cannot be deleted."""
    if project.default:
        raise RefusedError("The default project cannot be deleted")
    home = default(world, project.account_id)
    for service in world.store.of(Service, project.account_id):
        if service.project_id == project.id:
            service.project_id = home.id
            world.store.put(service)
    world.store.drop(project)


def free_alias(world: World, account_id: str, project_id: str, base: str) -> str:
    """Return a name, or one with a number after it, that no service of a project has as its alias."""
    taken = {
        service.alias for service in lifecycle.live(world, account_id) if service.project_id == project_id
    }
    return next(name for number in range(1, 10**6) if (name := numbered(base, number)) not in taken)


def numbered(base: str, number: int) -> str:
    """Return a name with a number after it, unless it is the first."""
    return base if number == 1 else f"{base}-{number}"


def move(world: World, service: Service, account: Account, project_id: str) -> None:
    """Move a service to another project's network under its alias."""
    service.project_id = pick(world, account, project_id).id
    world.store.put(service)
