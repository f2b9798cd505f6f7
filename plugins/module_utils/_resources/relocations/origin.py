# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what a relocation has to know of a service before anything is ordered, and finds the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._api.models import App, ProjectGraph, Service, ServiceSummary, Settings
from ..._api.values import ContainerState, ServiceStatus
from ..clones.content import POWER
from ..clones.source import Data, data_of
from ..services.settings import carried
from ..services.view import read_settings, read_state
from ..shared.identify import aliases_of, came_up, label, only_service, with_name
from ..shared.plan import Task
from ..shared.relocation_record import Phase, Relocation
from ..shared.task_errors import Invalid
from .options import RelocateOptions

SUSPENSION = "suspension"


@dataclass(frozen=True)
class Origin:
    """The service that is relocated, and what surrounds it."""

    service: Service
    settings: Settings | None
    graph: ProjectGraph
    apps: Mapping[str, App]
    """The applications of the account, by id."""
    data: Data
    running: bool

    @property
    def id(self) -> str:
        """Its id."""
        return self.service.id

    @property
    def label(self) -> str:
        """Its name and id, for messages."""
        return label(self.service)

    @property
    def alias(self) -> str | None:
        """The name by which its neighbors reach it."""
        network = self.settings.network if self.settings else None
        return aliases_of(self.graph).get(self.id) or (network.alias if network else None)

    @property
    def public(self) -> bool | None:
        """Whether it is open to the Internet; ``None`` if it has no such setting."""
        network = self.settings.network if self.settings else None
        return network.is_public if network else None


def read_origin(task: Task[RelocateOptions], record: Relocation) -> Origin:
    """Read the service that is relocated."""
    account, id, known = task.account, record.old_id, record.data
    service = account.existing_service(id)
    apps = account.apps_by_id()
    if id in apps:
        raise Invalid(
            f"{label(service)} is an application that is made from an image: its slug names its repository, "
            "so another one has another slug. Nothing was done. Order it under another slug with "
            "hosted.services.app, host and all, deploy the same image there, and delete this one; "
            "hosted.services.clone does the first two for a whole project"
        )
    graph = account.graph(str(service.project_id))
    if task.options.without_data:
        data = Data.NONE
    else:
        data = Data(known) if known else data_of(account, {"id": id, "name": service.name}, apps)
    running = read_state(task, id) in ContainerState.UP
    return Origin(service, read_settings(task, service), graph, apps, data, running)


def check_relocatable(task: Task[RelocateOptions], origin: Origin) -> None:
    """Refuse to relocate what cannot be stopped, copied or suspended, before anything is ordered."""
    service = origin.service
    if service.status != ServiceStatus.ACTIVE:
        raise Invalid(
            f"{origin.label} has status {service.status}; only an ACTIVE one can be relocated, as the files "
            "of another may not be readable. Nothing was ordered. hosted.services.service with state: "
            "resumed takes a suspended one back into service"
        )
    if origin.data is Data.NONE and not task.options.without_data:
        raise Invalid(
            f"what {origin.label} of family {service.family} holds cannot be copied: it has neither files "
            "over SFTP nor a database. Nothing was ordered. without_data: true relocates it empty"
        )
    offered = service.capabilities
    lacking = [] if offered is None else [name for name in (POWER, SUSPENSION) if name not in offered]
    if lacking:
        raise Invalid(
            f"{origin.label} of family {service.family} does not offer {' and '.join(lacking)}, so it cannot "
            "be stopped for the copy or suspended afterwards. Nothing was ordered. Order the new one with "
            "hosted.services.service, and move what it holds by hand"
        )


# --- What changes -------------------------------------------------------------------------------------


def wanted_order(task: Task[RelocateOptions], origin: Origin) -> dict[str, Any]:
    """Return what is ordered: as the old service is, but for what the task says."""
    options, service = task.options, origin.service
    product = options.product or (service.product.slug if service.product else None)
    same_product = service.product is not None and product == service.product.slug
    runtime = service.runtime.id if service.runtime and same_product else None
    kept = carried(service, origin.settings, other_product=not same_product)
    given = {name: value for name in kept if (value := getattr(options, name, None)) is not None}
    if options.preset:
        given["dimensions"] = None
    elif options.dimensions:
        size = {name: value for name, value in options.dimensions.as_dict().items() if value is not None}
        given["dimensions"] = {**(kept["dimensions"] or {}), **size}
    return {
        "product": product,
        "runtime": options.runtime or runtime,
        "host": options.host or (service.host.id if service.host else None),
        "preset": options.preset,
        "variables": options.variables,
        "options": [vars(each) for each in options.options] if options.options else None,
        **kept,
        **given,
    }


def asked_of(order: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an order asks for, as it is remembered and compared: variables may be secret."""
    named = {name: order[name] for name in ("product", "runtime", "host", "preset")}
    return {**named, **(order["dimensions"] or {})}


def asked_by_task(options: RelocateOptions) -> dict[str, Any]:
    """Return what the task itself asks for, in the same form."""
    size = options.dimensions.as_dict() if options.dimensions else None
    return asked_of({**vars(options), "dimensions": size})


def differing(
    asked: Mapping[str, Any], service: Service, ordered: Mapping[str, Any] | None = None
) -> dict[str, tuple[Any, Any]]:
    """Return what is asked for and is different, with how it is and how it is to be.

    :param ordered: what the service was ordered with: the platform may have made something else of it.
    """
    host, runtime, size = service.host, service.runtime, service.dimensions
    facts: dict[str, tuple[Any, ...]] = {  # by name, each of the ways to say it
        "host": (host.id, host.label) if host else (),
        "product": (service.product.slug,) if service.product else (),
        "runtime": (runtime.id, runtime.slug) if runtime else (),
        **{name: (value,) for name, value in (size.as_dict() if size else {}).items()},
    }
    found: dict[str, tuple[Any, Any]] = {}
    for name, value in asked.items():
        if value is None or (ordered is not None and ordered.get(name) == value):
            continue
        if name == "preset":  # which no answer shows
            if ordered is not None:
                found[name] = (ordered.get(name), value)
        elif value not in facts.get(name, ()):
            found[name] = (next(filter(None, facts.get(name, ())), None), value)
    return found


def differences(options: RelocateOptions, service: Service) -> dict[str, tuple[Any, Any]]:
    """Return what the task wants to be different, with how it is and how it is to be."""
    found = differing(asked_by_task(options), service)
    for name in ("preset", "options"):
        if getattr(options, name) is not None:
            found[name] = (None, "as given")
    return found


# --- Which service is the new one -----------------------------------------------------------------------


def check_kept(task: Task[RelocateOptions], record: Relocation) -> None:
    """Check that a service that was relocated is what the task asks for."""
    service = task.account.service(record.new_id) if record.new_id else None
    if service is None:
        return
    found = differing(asked_by_task(task.options), service, record.asked)
    if found:
        raise Invalid(
            f"service {record.old_name!r} was relocated, and {label(service)}, which took its place, has "
            f"{told(found)}. Nothing was done. To relocate that one, name it; state: returned brings the old "
            "one back"
        )


def told(found: Mapping[str, tuple[Any, Any]]) -> str:
    """Return what differs, for messages."""
    return ", ".join(f"{name} {is_!r}, not {wanted!r}" for name, (is_, wanted) in found.items())


def find_made(task: Task[RelocateOptions], record: Relocation) -> None:
    """Find the new service by its name, if a run was killed before its id was known.

    Anybody can make another one of that name. So the new one is the only one that came up with the order.

    :raises Invalid: if several did, or none, and the task is to bring the new one into service.
    """
    if record.new_id is not None or not record.new_name or not record.project_id:
        return
    if record.phase is Phase.NONE:
        found = only_service(services_by_name(task, record), record.new_name)
        record.new_id = found.id if found else None
        return
    own = of_order(task, record)
    if len(own) > 1:
        raise Invalid(
            f"{', '.join(map(label, own))} were created when the new service was ordered, and the response "
            "was lost, so which one it is is not known. Nothing was done. Delete the one that nobody needs"
        )
    if own:
        record.new_id = own[0].id
    elif same := services_by_name(task, record):
        named = ", ".join(f"{label(each)}, created at {each.created_at}," for each in same)
        if task.options.state != "relocated":  # on the way back, it stays as it is
            task.warn(f"{named} is not known to be the one that was ordered for this, and stays as it is")
            return
        check_adopts(task, named, "not known to be the one that was ordered for this")
        only = only_service(same, record.new_name)
        record.new_id = only.id if only else None


def of_order(task: Task[RelocateOptions], record: Relocation) -> list[ServiceSummary]:
    """Return the services of the new name that came up with the order."""
    found = services_by_name(task, record)
    return [each for each in found if came_up(each.created_at, record.sent)]


def services_by_name(task: Task[RelocateOptions], record: Relocation) -> list[ServiceSummary]:
    """Return the services in the project that have the new name."""
    project = task.account.project(str(record.project_id))
    return with_name(task.account.members(project), str(record.new_name), None)


def check_adopts(task: Task[RelocateOptions], named: str, doubt: str) -> None:
    """Refuse a service of the new name that no relocation is known to have made, unless it is to be adopted.

    :param doubt: what speaks against it.
    """
    if task.options.existing != "adopt":
        raise Invalid(
            f"{named} has the name of the new service, and is {doubt}. Nothing was done. Set another name; "
            "existing: adopt takes it for the new one, and overwrites what it holds"
        )
