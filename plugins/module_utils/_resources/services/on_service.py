# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options and helpers of modules that work on one service: selects, finds and checks it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..._api.errors import Refused, TokenRejected
from ..._api.models import Service, SftpAccess
from ..._api.values import FAMILIES, ServiceStatus
from ..shared.options import FilePath, Options, option
from ..shared.plan import SERVICE_ID, Task
from ..shared.relocation_record import Successor, successor_of
from ..shared.task_errors import Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class OneServiceOptions(Options):
    """The options that select a service: its id, or its name with project and family."""

    service: str | None = option(None, selects=True, names_target=True)
    project: str | None = option(None, selects=True, names_target=True)
    family: str | None = option(None, choices=FAMILIES, selects=True, names_target=True)


@dataclass(frozen=True, kw_only=True)
class OnServiceOptions(OneServiceOptions):
    """The options that select a service. By default, it is the service of the play's host."""

    service: str | None = option(None, selects=True, names_target=True, host_variables=[SERVICE_ID])


@dataclass(frozen=True, kw_only=True)
class SftpServerOptions(OneServiceOptions):
    """The options that select an SFTP server, by service or by host, and the known_hosts file."""

    host: str | None = option(
        None,
        selects=True,
        names_target=True,
        host_variables=("ansible_host", "ansible_ssh_host", "inventory_hostname"),
    )
    port: int | None = option(None, host_variables=("ansible_port", "ansible_ssh_port"))
    known_hosts: FilePath = FilePath("~/.ssh/known_hosts")


BY_SERVICE_OR_HOST = {
    "required_one_of": [("service", "host")],
    "mutually_exclusive": [("service", "host")],
}
"""The rules of those options."""


def resolve_service(task: Task[OneServiceOptions]) -> Service:
    """Return the full form of the service that the task selects."""
    try:
        return task.account.existing_service(service_id(task))
    except NoSuchItem as error:
        return service_to_come(task, str(task.options.service), task.options.family, error)


def service_if_there(task: Task[OneServiceOptions]) -> Service | None:
    """Return the service that the task selects; ``None`` if nothing that the platform lists is it."""
    try:
        id = service_id(task)
    except NoSuchItem:
        return None
    return task.account.existing_service(id)


def known_id(task: Task[OneServiceOptions]) -> str:
    """Return the id of the selected service; empty if check mode expects the play to create it."""
    try:
        return service_id(task)
    except NoSuchItem as error:
        service_to_come(task, str(task.options.service), task.options.family, error)
        return ""


def service_id(task: Task[OneServiceOptions]) -> str:
    """Return the id of the selected service."""
    options = task.options
    if options.service is None:
        raise Invalid(
            "no service is named; set service, or run the task on a host of the inventory, which is a "
            "service of its own"
        )
    project = task.account.project(options.project) if options.project else None
    return task.account.one_service(options.service, project, options.family).id


def service_to_come(task: Task, name: str, family: str | None, error: NoSuchItem) -> Service:
    """Return a service without an id, which an earlier task of the play would make."""
    task.expect_created(error, name)
    task.composition = replace(task.composition, unmade=True)
    return Service.model_construct(
        id=None, name=name, family=family, status=ServiceStatus.ACTIVE, capabilities=None
    )


def in_place_of(task: Task[Options], id: str, wanted: str | None) -> Successor | None:
    """Return what is in the place of a service that a relocation left over, unless the task names its id."""
    if id == wanted:
        return None
    return successor_of(task.options, task.account.stays, id, "")


def check_not_left_over(task: Task[Options], id: str, wanted: str | None) -> None:
    """Refuse to delete or overwrite by its name what a relocation left over."""
    if found := in_place_of(task, id, wanted):
        raise found.refusal


def sftp_access(task: Task[OneServiceOptions]) -> SftpAccess:
    """Return the SFTP address and username of the service."""
    return access_of(task, known_id(task))


def access_of(task: Task[OneServiceOptions], id: str) -> SftpAccess:
    """Return the SFTP access of a service. The status of a refusal is not documented."""
    try:
        return task.account.sftp(id)
    except TokenRejected:
        raise
    except Refused as error:
        error.prepend(f"service {task.options.service!r} ({id}) has no SFTP access: ")
        raise
