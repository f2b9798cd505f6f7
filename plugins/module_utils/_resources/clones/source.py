# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what is cloned: the project as a blueprint, its references, and what of each can be copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Literal

from ..._api.models import App, Edge, Project
from ..._api.values import Family, ScanStatus, ServiceStatus
from ..blueprints.document import SourceOptions
from ..blueprints.export import Export, Exported, Found, export_project
from ..databases.engine import find_connection
from ..services.listing import ServiceQuery, read_project
from ..services.options import CommitmentOptions, Size
from ..shared.account import Account
from ..shared.identify import aliases_of, label, near_miss
from ..shared.options import FilePath, Options, WaitOptions, check_max_parallel, option, required
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class Rename:
    prefix: str | None = None
    suffix: str | None = None
    pattern: str | None = None
    replacement: str | None = None
    names: dict[str, Any] | None = None
    """By name, slug or id in the source: names that no rule makes."""


@dataclass(frozen=True, kw_only=True)
class FilledOptions(SourceOptions, CommitmentOptions, WaitOptions):
    """What a project is made with whose services get what they hold from elsewhere."""

    rename: Rename | None = None
    host: str | None = option(None, selects=True)
    overrides: dict[str, Any] | None = option(None, secret=True)
    without_data: list[str] = option([])
    delete: bool = True
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None
    secrets_dir: FilePath | None = option(None, no_log=False, filled=True)


@dataclass(frozen=True, kw_only=True)
class CloneOptions(FilledOptions):
    source: str = required(selects=True)
    project: str = required(selects=True)
    services: list[str] | None = option(None, selects=True)
    hosts: dict[str, Any] | None = None
    dimensions: Size | None = None
    public: bool | None = None
    environments: dict[str, Any] | None = None
    secret_environments: dict[str, Any] | None = option(None, no_log=False, secret=True)
    copy_secrets: bool = False
    without_environment: list[str] = option([])
    existing: Literal["refuse", "keep", "adopt"] = "refuse"
    checksum: bool = False


def check_filled(options: FilledOptions, *by_key: str) -> None:
    """Check what every task needs whose services get content. ``by_key`` are options beside ``overrides``."""
    check_max_parallel(options.max_parallel)
    if not options.wait:
        raise Invalid("a service must be there before it gets its files and rows, so wait cannot be false")
    check_dictionaries(options, *by_key, "overrides")


def check_dictionaries(options: Options, *names: str) -> None:
    for name in names:
        for key, value in (getattr(options, name) or {}).items():
            if not isinstance(value, dict):
                raise Invalid(f"{name}: {key!r} must have a dictionary")


# --- The project ----------------------------------------------------------------------------------------


class Data(Enum):
    FILES = "files"
    DATABASE = "database"
    NONE = "nothing that can be copied"


@dataclass(frozen=True)
class Wanted:
    key: str
    made_for: str
    """By what the record knows it."""
    was: str
    """Its name or slug in what it is made from."""
    is_app: bool

    @property
    def label(self) -> str:
        return f"{'application' if self.is_app else 'service'} {self.was!r}"


@dataclass(frozen=True)
class Original(Wanted):
    """A service or an application of the source. It is known by its id."""

    exported: Exported
    record: Mapping[str, Any]
    """As in a listing, with ``settings`` and ``metrics``."""
    app: App | None = None
    alias: str | None = None
    referring: Sequence[str] = ()
    data: Data = Data.NONE

    @property
    def id(self) -> str:
        return self.made_for

    @property
    def names(self) -> set[str]:
        return {self.id, self.key, self.was, str(self.record["name"])}

    @property
    def ran(self) -> bool:
        """Whether it holds what it ran with: not an application that was never deployed."""
        return self.app is None or bool(self.app.image_ref)


@dataclass(frozen=True)
class SourceProject:
    project: Project
    originals: Sequence[Original]
    others: Sequence[Original]
    export: Export

    def of(self, wanted: str, option: str, *, app: bool = False) -> Original:
        """Return what an option names by its id, slug, name or key: an application, if ``app`` says so."""
        found = pick(self.originals, wanted)
        if found is None or (app and found.app is None):
            known = ", ".join(sorted(each.was for each in self.originals if each.app or not app)) or "none"
            what = "; the applications that are cloned" if app else ", which is not cloned; what is cloned"
            raise Invalid(f"{option} names {wanted!r}{what}: {known}")
        return found

    def key_of(self, wanted: str, option: str) -> str:
        return self.of(wanted, option).key


def pick(found: Sequence[Original], wanted: str) -> Original | None:
    """Return what a user names by its id or, if that fits nothing, by a name; ``None`` if nothing fits."""
    fitting = [each for each in found if wanted == each.id]
    fitting = fitting or [each for each in found if wanted in each.names]
    if len(fitting) > 1:
        told = ", ".join(f"{each.label} ({each.id})" for each in fitting)
        raise Ambiguous(f"{wanted!r} names {told}; name one by id", ids=[each.id for each in fitting])
    return fitting[0] if fitting else None


def read_source(task: Task[CloneOptions]) -> SourceProject:
    account = task.account
    project = account.project(task.options.source)
    listing = read_project(account, project, ServiceQuery(settings=True, commands=True, metrics=True))
    if listing.warnings:
        raise Invalid(
            f"{'; '.join(listing.warnings)}. A clone would lack what was set there. Run this again later, or "
            "leave that service out with services"
        )
    graph, apps = account.graph(project.id), account.apps_by_id()
    edges, aliases = graph.edges or [], aliases_of(graph)
    export = export_project(Found(project.name, listing.services, apps, edges))
    records = {record["id"]: record for record in listing.services}

    def original(each: Exported) -> Original:
        app, record = apps.get(each.id), records[each.id]
        was = app.slug if app else str(record["name"])
        known = each, record, app, aliases.get(each.id), referring_names(each.id, edges)
        return Original(each.key, each.id, was, app is not None, *known)

    everything = list(map(original, export.entries))
    wanted = chosen(everything, task.options.services)
    kinds = account.each(wanted, lambda own, each: data_of(own, each.record, apps))
    cloned = [replace(each, data=kind) for each, kind in zip(wanted, kinds, strict=True)]
    check_ready(cloned)
    ids = {each.id for each in cloned}
    return SourceProject(project, cloned, [each for each in everything if each.id not in ids], export)


def chosen(everything: Sequence[Original], wanted: Sequence[str] | None) -> list[Original]:
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
    return sorted({name for edge in edges if edge.from_ == id for name in edge.through or ()})


def check_ready(originals: Iterable[Original]) -> None:
    ready = (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED)
    unready = [
        f"{each.label} has status {each.record['status']}"
        for each in originals
        if each.record["status"] not in ready and each.ran
    ]
    if unready:
        raise Invalid(f"{'; '.join(unready)}. Wait until it is in service, or leave it out with services")
    blocked = [each.label for each in originals if each.app and each.app.scan_status == ScanStatus.BLOCKED]
    if blocked:
        raise Invalid(
            f"the image that {', '.join(blocked)} runs is blocked by its last scan. It keeps running, but a "
            "clone could not be deployed. Deploy a corrected image first, or leave it out with services"
        )


def data_of(account: Account, record: Mapping[str, Any], apps: Mapping[str, App]) -> Data:
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
