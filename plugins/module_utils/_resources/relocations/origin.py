# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what a relocation has to know of a service before anything is ordered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..._api.models import App, ProjectGraph, Service, Settings
from ..._api.values import ContainerState, ServiceStatus
from ..clones.source import Data, data_of
from ..services.settings import carried
from ..services.view import read_settings, read_state
from ..shared.aliases import aliases_of
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.relocation_record import Relocation
from ..shared.task_errors import Invalid
from .options import RelocateOptions

POWER = "powerSignals"
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
        return self.service.id

    @property
    def label(self) -> str:
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
    account, id, known = task.account, record.content.old_id, record.content.data
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
