# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what is cloned: the project as a blueprint, its references, and what of each service can be copied.

Nothing is asked of the source but to read. Its SFTP has no password that could be read, and to generate one
would change it: a key of the account opens it instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, NamedTuple

from ..._api.models import App, Edge, Project
from ..._api.values import Family, ScanStatus, ServiceStatus
from ..blueprints.export import Export, Exported, Found, export_project
from ..databases.engine import find_connection
from ..services.listing import ServiceQuery, read_project
from ..shared.account import Account
from ..shared.identify import aliases_of, label, near_miss
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem
from .options import CloneOptions


class Data(Enum):
    """What a service holds that can be copied."""

    FILES = "files"
    DATABASE = "database"
    NONE = "nothing that can be copied"


@dataclass(frozen=True)
class Original:
    """A service or an application of the source."""

    exported: Exported
    record: Mapping[str, Any]
    """As in a listing, with ``settings`` and ``metrics``."""
    data: Data
    app: App | None = None
    alias: str | None = None
    referring: Sequence[str] = ()
    """The names of its variables that refer to another service."""

    @property
    def id(self) -> str:
        """Its id."""
        return self.exported.id

    @property
    def key(self) -> str:
        """Its key in the blueprint of the source, and in that of the clone."""
        return self.exported.key

    @property
    def name(self) -> str:
        """Its slug or its name."""
        return self.app.slug if self.app else str(self.record["name"])

    @property
    def label(self) -> str:
        """How messages call it."""
        return f"{'application' if self.app else 'service'} {self.name!r}"

    @property
    def names(self) -> set[str]:
        """By what users may name it."""
        return {self.id, self.key, self.name, str(self.record["name"])}


class Wanted(NamedTuple):
    """What there is to be in a project."""

    key: str
    made_for: str
    """By what the record knows it."""
    was: str
    """Its name or slug in what it is made from."""
    is_app: bool

    @property
    def label(self) -> str:
        """How messages call it, by the name that it had."""
        return f"{'application' if self.is_app else 'service'} {self.was!r}"


@dataclass(frozen=True)
class SourceProject:
    """The project that is cloned, as far as it is."""

    project: Project
    originals: Sequence[Original]
    """What is cloned."""
    others: Sequence[Original]
    """What stays behind."""
    export: Export

    @property
    def wanted(self) -> list[Wanted]:
        """What is cloned, as the choice of names needs it."""
        return [Wanted(each.key, each.id, each.name, each.app is not None) for each in self.originals]

    def of(self, wanted: str) -> Original | None:
        """Return what a user names; ``None`` if it is not cloned.

        :raises Ambiguous: if it names several.
        """
        return pick(self.originals, wanted)

    def key_of(self, wanted: str, option: str) -> str:
        """Return the key of what an option names."""
        found = self.of(wanted)
        if found is None:
            known = ", ".join(sorted(each.name for each in self.originals))
            raise Invalid(f"{option} names {wanted!r}, which is not cloned; what is cloned: {known}")
        return found.key


def pick(found: Sequence[Original], wanted: str) -> Original | None:
    """Return what a user names by its id or, if that fits nothing, by a name; ``None`` if nothing fits."""
    fitting = [each for each in found if wanted == each.id]
    fitting = fitting or [each for each in found if wanted in each.names]
    if len(fitting) > 1:
        told = ", ".join(f"{each.label} ({each.id})" for each in fitting)
        raise Ambiguous(f"{wanted!r} names {told}; name one by id", ids=[each.id for each in fitting])
    return fitting[0] if fitting else None


def read_source(task: Task[CloneOptions]) -> SourceProject:
    """Read what is cloned.

    :raises HostedError: if anything of it cannot be cloned, or not be read.
    """
    account = task.account
    project = account.project(task.options.source)
    listing = read_project(account, project, ServiceQuery(settings=True, commands=True, metrics=True))
    if listing.warnings:
        raise Invalid(
            f"{'; '.join(listing.warnings)}. A clone would lack what was set there. Run this again later, or "
            "leave that service out with services"
        )
    graph = account.graph(project.id)
    apps = account.apps_by_id()
    found = Found(project.name, listing.services, apps, graph.edges or [])
    export = export_project(found)
    records = {record["id"]: record for record in listing.services}
    aliases, edges = aliases_of(graph), graph.edges or []
    everything = [
        Original(
            each,
            records[each.id],
            Data.NONE,
            apps.get(each.id),
            aliases.get(each.id),
            referring_names(each.id, edges),
        )
        for each in export.entries
    ]
    wanted = chosen(everything, task.options.services)
    kinds = account.each(wanted, lambda own, each: data_of(own, each.record, apps))
    cloned = [replace(each, data=kind) for each, kind in zip(wanted, kinds, strict=True)]
    check_ready(cloned)
    ids = {each.id for each in cloned}
    return SourceProject(project, cloned, [each for each in everything if each.id not in ids], export)


def chosen(everything: Sequence[Original], wanted: Sequence[str] | None) -> list[Original]:
    """Return what is cloned: what is named, by id, slug, name or key, or all."""
    if not everything:
        raise NoSuchItem("the source has no service and no application, so there is nothing to clone")
    if wanted is None:
        return list(everything)
    found: dict[str, Original] = {}
    for one in wanted:
        match = pick(everything, one)
        if match is None:
            known = [str(each.record["name"]) for each in everything]
            raise NoSuchItem(f"services: the source has no {one!r}{near_miss(one, known)}")
        found[match.id] = match
    return list(found.values())


def referring_names(id: str, edges: Iterable[Edge]) -> list[str]:
    """Return the names of the variables of a service that refer to another one."""
    return sorted({name for edge in edges if edge.from_ == id for name in edge.through or ()})


def check_ready(originals: Iterable[Original]) -> None:
    """Check that what is cloned is there and whole."""
    unready = [
        f"{each.label} has status {each.record['status']}"
        for each in originals
        if each.record["status"] not in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED)
        and not (each.app and not each.app.image_ref)
    ]
    if unready:
        raise Invalid(f"{'; '.join(unready)}. Wait until it is in service, or leave it out with services")
    blocked = [each.label for each in originals if each.app and each.app.scan_status == ScanStatus.BLOCKED]
    if blocked:
        raise Invalid(
            f"the image that {', '.join(blocked)} runs is blocked by its last scan. It keeps running, but a "
            "clone could not be deployed. Deploy a corrected image first, or leave it out with services"
        )


# --- What a service holds -----------------------------------------------------------------------------


def data_of(account: Account, record: Mapping[str, Any], apps: Mapping[str, App]) -> Data:
    """Return what of a service can be copied."""
    service = account.service(record["id"])
    if service is None:
        raise NoSuchItem(f"service {record['name']!r} ({record['id']}) was deleted meanwhile; run this again")
    app = apps.get(service.id)
    try:
        if service.family == Family.APP and app is None and find_connection(account, service) is not None:
            return Data.DATABASE
    except Invalid as error:
        raise error.prepend(f"{label(service)} cannot be cloned: ") from None
    if app is not None and not app.image_ref:
        return Data.NONE  # it never ran
    return Data.FILES if "files" in (service.capabilities or ()) else Data.NONE
