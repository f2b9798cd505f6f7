# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the modules share that work on one service: how it is named, found, and asked what it offers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from ..._api.errors import Refused, TokenRejected
from ..._api.models import Project, Service, SftpAccess
from ..._api.values import FAMILIES
from ..shared.options import FilePath, Options, option
from ..shared.plan import SERVICE_ID, Task
from ..shared.task_errors import Invalid, NoSuchItem
from .all_services import with_missing
from .lookup import (
    check_id_matches,
    describe_location,
    find_project,
    find_service,
    in_project,
    label,
    with_name,
)
from .placeholder import placeholder_service
from .view import read_service


@dataclass(frozen=True, kw_only=True)
class OneServiceOptions(Options):
    """The options that name a service: its id, or its name with what narrows it."""

    service: str | None = option(None, selects=True, names_target=True)
    project: str | None = option(None, selects=True, names_target=True)
    family: str | None = option(None, choices=FAMILIES, selects=True, names_target=True)


@dataclass(frozen=True, kw_only=True)
class OnServiceOptions(OneServiceOptions):
    """The same for a task that works on the service that the host of the play is, if it names none."""

    service: str | None = option(None, selects=True, names_target=True, host_variables=[SERVICE_ID])


@dataclass(frozen=True, kw_only=True)
class SftpServerOptions(OneServiceOptions):
    """The options that name an SFTP server, by its service or by its host, and the file of known keys."""

    host: str | None = option(
        None,
        selects=True,
        names_target=True,
        host_variables=("ansible_host", "ansible_ssh_host", "inventory_hostname"),
    )
    port: int | None = option(None, host_variables=("ansible_port", "ansible_ssh_port"))
    known_hosts: FilePath = FilePath("~/.ssh/known_hosts")


SELECTION_HINT = "set service, or run the task on a host of the inventory, which is a service of its own"


def resolve_service(task: Task[OneServiceOptions]) -> Service:
    """Return the service that the task names, in full.

    :raises Invalid: for an id with a project or a family that says otherwise.
    :raises NoSuchItem: when there is none.
    :raises Ambiguous: when several have this name; the message lists their ids.
    """
    try:
        return read_service(task, service_id(task))
    except NoSuchItem as error:
        return placeholder_service(task, str(task.options.service), task.options.family, error)


def known_id(task: Task[OneServiceOptions]) -> str:
    """Return the id of the service that the task names; none where check mode foresees that service."""
    try:
        return service_id(task)
    except NoSuchItem as error:
        placeholder_service(task, str(task.options.service), task.options.family, error)
        return ""


def service_id(task: Task[OneServiceOptions]) -> str:
    """Return the id of the service that the task names.

    :raises Invalid: when none is named, by the task or by its host.
    """
    wanted, options = task.options.service, task.options
    if wanted is None:
        raise Invalid(f"no service is named; {SELECTION_HINT}")
    project = find_project(task.client, options.project) if options.project else None
    services = task.client.services()
    if all(wanted not in (service.id, service.name) for service in services):
        services = with_missing(task.client, services)
    if any(service.id == wanted for service in services):
        return (
            service_of_id(task, wanted, project, options.family).id
            if project or options.family
            else str(wanted)
        )
    fitting = [service for service in services if options.family in (None, service.family)]
    if project:
        fitting = in_project(task.client, with_name(fitting, wanted, None), project)
    return find_service(services, fitting, wanted, partial(describe_location, task.client)).id


def sftp_access(task: Task[OneServiceOptions]) -> SftpAccess:
    """Return where and as whom the files of the service are reached."""
    return access_of(task, known_id(task))


def access_of(task: Task[OneServiceOptions], id: str) -> SftpAccess:
    """Return the SFTP access of a service. With which status one that has none is refused is not shown.

    :raises Refused: naming the service, where the platform gives none.
    """
    try:
        return task.client.sftp(id)
    except TokenRejected:
        raise
    except Refused as error:
        error.prepend(f"service {task.options.service!r} ({id}) has no SFTP access: ")
        raise


def service_of_id(task: Task[Options], id: str, project: Project | None, family: str | None) -> Service:
    """Return the service of this id, in full.

    :raises Invalid: when it is not in the project, or not of the family, that the task names too.
    """
    service = read_service(task, id)
    check_id_matches(service, family=family, projects=[project] if project else [])
    return service


def check_service_offers(service: Service, capability: str, what: str) -> None:
    """Refuse what the service does not offer in its present status (Capabilities).

    :raises Invalid: saying what it offers instead.
    """
    offered = service.capabilities
    if offered is not None and capability not in offered:
        raise Invalid(
            f"{label(service)} has no {what}: it does not offer {capability!r} while its status is "
            f"{service.status}. It offers: {', '.join(offered) or 'nothing'}",
            capabilities=offered,
        )
