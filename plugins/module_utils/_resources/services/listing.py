# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the services of the account for an inventory, and selects services in such results by the same rules.

The list form of a service does not show its project (Resources and their fields), so this also reads the
projects' own lists.
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

from ..._api.errors import (
    CallOutcomeUnknown,
    HostedError,
    NotFoundResponse,
    Refused,
    TokenRejected,
    UnexpectedAnswer,
)
from ..._api.models import Model, Project, ServiceSummary, SftpAccess
from ..._api.text import describe_type, first_of
from ..._api.values import FAMILIES, WITH_SETTINGS, ServiceStatus
from ..shared.account import Account
from ..shared.identify import Identifiable, find_service, near_miss, with_id_or_name
from ..shared.money import format_amount, rate_from
from ..shared.names import fits
from ..shared.store import Kind, Record, records_folder
from ..shared.task_errors import Invalid, NoSuchItem
from .view import billed_rate

MAX_NAMED = 3
HOST = re.compile(r"[A-Za-z0-9][\w.:-]*")


@dataclass(frozen=True)
class ServiceQuery:
    """The services to read, and the data to read for each. An empty filter matches everything.

    ``projects`` are ids or names, ``names`` are shell patterns; ``!`` at the beginning excludes.
    """

    projects: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    sftp: bool = False
    metrics: bool = False
    settings: bool = False
    commands: bool = False
    """Whether it is for an export, with launch commands and names as they are: not for a cache."""
    sftp_max_age: float = 0.0
    """For how many seconds the SFTP access of a service is remembered; 0 for not at all."""


@dataclass
class Listing:
    """The result, JSON-serializable and, but for ``commands``, without secrets, so that it can be cached.

    ``services`` are sorted by name and id; ``projects`` has the names of all projects by id.
    """

    services: list[dict[str, Any]]
    projects: dict[str, str]
    warnings: list[str] = field(default_factory=list)


def from_cache(kept: Any) -> Listing | None:
    """Return the listing that a cache holds; ``None`` if it holds none."""
    if kept is None:
        return None
    listing = Listing(**kept)
    blank = ServiceSummary.model_construct(**dict.fromkeys(ServiceSummary.model_fields))
    record = inventory_record(blank, None, {})
    if not all(each.keys() >= record.keys() for each in listing.services):
        raise TypeError("a service lacks what each has")
    return listing


def read_listing(account: Account, wanted: ServiceQuery, reread: bool = False) -> Listing:
    """Read the services that match ``wanted``, with as many calls in parallel as possible."""
    projects = account.projects()
    named: dict[str, Project] = {}
    for one in wanted.projects:  # a missing one is an error, because its hosts would go unnoticed
        match = with_id_or_name(projects, one)
        if match is None:
            raise NoSuchItem(f"projects: unknown project {one!r}{near_miss(one, (p.name for p in projects))}")
        named[match.id] = match
    asked = list(named.values()) or [each for each in projects if each.resource_count != 0]
    members = account.each(asked, lambda own, project: own.members(project))
    homes = {service.id: project.id for project, own in zip(asked, members, strict=True) for service in own}
    found = list(chain(*members)) if wanted.projects else account.services()
    listing = Listing([], {project.id: printable_only(project.name) for project in projects})
    add_services(listing, found, homes, wanted)
    add_rates(account, listing)
    add_parts(account, wanted, listing, reread)
    return listing


def read_project(account: Account, project: Project, wanted: ServiceQuery) -> Listing:
    """Read the services of one project that match ``wanted``, whose own ``projects`` are not looked at."""
    own = account.members(project)
    listing = Listing([], {project.id: printable_only(project.name)})
    add_services(listing, own, {service.id: project.id for service in own}, wanted)
    add_parts(account, wanted, listing)
    return listing


def add_services(
    listing: Listing, found: Iterable[ServiceSummary], homes: Mapping[str, str], wanted: ServiceQuery
) -> None:
    """Add the services that match, each once, sorted by name and id."""
    matching = {service.id: service for service in found if matches(service, wanted)}
    listing.services = [
        inventory_record(service, homes.get(service.id), listing.projects, wanted.commands)
        for service in sorted(matching.values(), key=lambda each: (each.name, each.id))
    ]


@dataclass(frozen=True)
class Access:
    """Where the files of a service are reached, while it had a status, and when that was read."""

    status: str
    access: Mapping[str, Any] | None
    at: float


Accesses = dict[str, Access]
ACCESSES = Kind[Accesses]("inventory", Accesses, "the SFTP access of services", hint=True)


# --- Which services -------------------------------------------------------------------------------------


def matches(service: Identifiable, wanted: ServiceQuery) -> bool:
    """Tell whether a service matches the filters, of ``names`` one, and none that begins with ``!``."""
    if service.status in ServiceStatus.DELETING_OR_DELETED and service.status not in wanted.statuses:
        return False
    without = [pattern[1:] for pattern in wanted.names if pattern.startswith("!")]
    within = [pattern for pattern in wanted.names if not pattern.startswith("!")]
    return (
        (not wanted.families or service.family in wanted.families)
        and (not wanted.statuses or service.status in wanted.statuses)
        and not any(fits(service.name, pattern) for pattern in without)
        and (not within or any(fits(service.name, pattern) for pattern in within))
    )


# --- What is said of each ---------------------------------------------------------------------------


def inventory_record(
    service: ServiceSummary, project_id: str | None, projects: dict[str, str], as_spelled: bool = False
) -> dict[str, Any]:
    """Return a service for the inventory or an export. The list shows the full rate only, in any status."""
    known: dict[str, Any] = shown_fields(service)
    millicents = known.pop("monthly_millicents")
    return {
        **known,
        **({"name": service.name} if as_spelled else {}),
        "monthly_full": format_amount(rate_from(millicents)),
        "project": projects.get(project_id or ""),
        "project_id": project_id,
    }


def shown_fields(value: Any) -> Any:
    """Return a model as data, with the fields that the specification shows and no other.

    Elsewhere unknown fields are passed on. Here they would end in a cache on disk, whatever they hold.
    """
    if isinstance(value, Model):
        return {name: shown_fields(getattr(value, name)) for name in type(value).model_fields}
    return printable_only(value) if isinstance(value, str) else value


def printable_only(text: str) -> str:
    """Return ``text`` without characters that control a terminal or cannot be encoded."""
    if text.isprintable():  # nearly always, and a hundred times faster than looking at each
        return text
    return "".join(char for char in text if char.isprintable() or unicodedata.category(char) == "Zs")


def add_rates(account: Account, listing: Listing) -> None:
    """Tell what each service costs in a month as it is now, in currency units."""
    for service in listing.services:
        service["monthly"] = service["monthly_full"]
    others = [service for service in listing.services if service["status"] != ServiceStatus.ACTIVE]

    def read(own: Account, id: str) -> str | None:
        full = own.service(id)
        return format_amount(billed_rate(full)) if full else None

    listing.warnings += add_part(account, others, "monthly", read)


def add_parts(account: Account, wanted: ServiceQuery, listing: Listing, reread: bool = False) -> None:
    """Read the requested data and add it to each service."""
    services = listing.services
    if wanted.metrics:
        metrics = account.metrics([service["id"] for service in services])
        for service in services:
            service["metrics"] = shown_fields(metrics[service["id"]])
            service["state"] = (service["metrics"] or {}).get("state")
    for part in [name for name in ("settings", "sftp") if getattr(wanted, name)]:
        for service in services:
            service[part] = None
    created = [service for service in services if service["status"] not in ServiceStatus.NOT_CREATED]
    if wanted.settings:
        able = [service for service in created if service["family"] in WITH_SETTINGS]

        def read(own: Account, id: str) -> Any:
            shown = shown_fields(own.settings(id))
            if shown["deploy"] and not wanted.commands:
                del shown["deploy"]["command"]
            return shown

        listing.warnings += add_part(account, able, "settings", read)
    if wanted.sftp:
        add_sftp(account, listing, created, wanted.sftp_max_age, reread)


def add_sftp(
    account: Account, listing: Listing, services: Sequence[dict[str, Any]], max_age: float, reread: bool
) -> None:
    """Add the SFTP access of services, as remembered or as the platform says.

    It is remembered until the status of its service changes, or for ``max_age`` seconds; with 0, it is not,
    nor that there is none: that may be refused for a moment only. What was read before all further requests
    are refused (429) is remembered, so that the next run gets on.
    """
    name = f"sftp-{account.client.account_key}.json"
    record, now = Record(ACCESSES, os.path.join(records_folder(ACCESSES.folder), name)), time.time()
    kept = record.read() if max_age > 0 else {}
    # One of the future comes from a clock that was set back.
    known = {id: each for id, each in kept.items() if 0 <= now - each.at < max_age}
    left, found = list[dict[str, Any]](), dict[str, Any]()
    for service in services:
        before = None if reread else known.get(service["id"])
        if before is not None and before.status == service["status"]:
            service["sftp"] = before.access
        else:
            left.append(service)

    def access(own: Account, id: str) -> Any:
        if sftp := sftp_if_any(own, id):
            host, user = printable_only(sftp.host), printable_only(sftp.username)
            if not HOST.fullmatch(host) or user.startswith("-"):  # which SSH would take for options
                raise UnexpectedAnswer(f"the platform names {host!r} as host and {user!r} as user")
        found[id] = {"host": host, "port": sftp.port, "user": user} if sftp else None
        return found[id]

    try:
        listing.warnings += add_part(account, left, "sftp", access)
    finally:
        statuses = {service["id"]: service["status"] for service in left}
        known |= {id: Access(statuses[id], each, time.time()) for id, each in found.items()}
        if found and max_age > 0:
            try:
                record.write({id: each for id, each in known.items() if each.access})
            except Invalid as error:
                listing.warnings.append(error.message)


def sftp_if_any(account: Account, id: str) -> SftpAccess | None:
    """Return the SFTP access of a service; ``None`` where the platform finds none."""
    with suppress(NotFoundResponse):
        return account.sftp(id)
    return None


def add_part(
    account: Account,
    services: Sequence[dict[str, Any]],
    part: str,
    read: Callable[[Account, str], Any],
    consequence: str = "so their hosts lack it",
) -> list[str]:
    """Put ``part`` into each of the services, nothing where one offers none (Errors) or it cannot be read."""

    def attempt(own: Account, service: dict[str, Any]) -> Any:
        try:
            return read(own, service["id"])
        except TokenRejected:
            raise
        except Refused as error:
            return None if error.may_mean_not_offered else error
        except (CallOutcomeUnknown, UnexpectedAnswer) as error:
            return error

    failed = []
    for service, answer in zip(services, account.each(services, attempt), strict=True):
        is_error = isinstance(answer, HostedError)
        service[part] = None if is_error else answer
        failed += [f"{service['name']!r} ({service['id']}): {answer.message}"] if is_error else []
    label = "monthly rate" if part == "monthly" else part
    count, named = f"{len(failed)} of {len(services)}", first_of(failed, MAX_NAMED, "; ")
    return [f"the {label} of {count} services could not be read, {consequence}: {named}"] if failed else []


# --- Services in results ------------------------------------------------------------------------------

NOT_GIVEN: Final = object()
"""Stands for a criterion that is left out. Null is one that was given and holds nothing."""
SOURCES = "the result of service_info, or of project_info with include: [services]"


class ServiceEntry(NamedTuple):
    """A service in a result. Empty fields are unknown."""

    id: str
    name: str
    family: str
    status: str
    projects: tuple[str, ...]
    """Id and name of its project, as far as they are told."""
    record: Mapping[str, Any]

    def __repr__(self) -> str:  # a record may hold secrets
        return f"service {self.name!r} ({self.id})"


def select_services(
    result: Any,
    *,
    services: Any = NOT_GIVEN,
    project: Any = NOT_GIVEN,
    family: Any = NOT_GIVEN,
    status: Any = NOT_GIVEN,
    name: Any = NOT_GIVEN,
) -> list[Any]:
    """Return the services of a result that match all criteria, each a string or a list of strings.

    ``services`` are ids or names, all of which must exist: as in the modules, an id takes precedence, and
    names are looked up within ``project`` and ``family``. ``name`` are patterns, as in an inventory.
    """
    projects, families = criterion_values("project", project), criterion_values("family", family)
    rest = ServiceQuery(statuses=criterion_values("status", status), names=criterion_values("name", name))
    for each in families:
        if each not in FAMILIES:  # a misspelled one would match nothing
            raise Invalid(f"unknown family {each!r}{near_miss(each, FAMILIES)}")
    everything = list(parse_entries(result))
    for entry in everything:  # so that none is left out silently
        if projects and not entry.projects:
            raise Invalid(
                f"the result does not show the project of {entry}. Read it with service_info and include: "
                "[details], and give the id of the project; or with project_info and include: [services]"
            )
        if (families and not entry.family) or (rest.statuses and not entry.status):
            what = "status" if entry.family or not families else "family"
            raise Invalid(f"the result does not show the {what} of {entry}; give {SOURCES}")
    check_projects(result, everything, projects)
    found = [
        entry
        for entry in everything
        if (not families or entry.family in families)
        and (not projects or not set(entry.projects).isdisjoint(projects))
    ]
    if services is not NOT_GIVEN:
        chosen = [find_service(everything, found, one) for one in criterion_values("services", services)]
        found = list({entry.id: entry for entry in chosen}.values())
    return [entry.record for entry in found if matches(entry, rest)]


def criterion_values(option: str, value: Any) -> tuple[str, ...]:
    """Return a criterion as strings; an omitted one has none."""
    if value is NOT_GIVEN:
        return ()
    if value is None:
        raise Invalid(f"{option} is null; give it a value, or leave it out")
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not all(isinstance(one, str) and one.strip() for one in found):
        raise Invalid(f"{option} must be a string or a list of strings, none of them empty")
    if not found and option != "services":
        raise Invalid(f"{option} is an empty list; give it a value, or leave it out")
    return tuple(str(one) for one in found)


def parse_entries(result: Any) -> Iterator[ServiceEntry]:
    """Yield the services in a result of services, of projects with services, or a plain list."""
    if isinstance(result, Mapping) and isinstance(result.get("projects"), Sequence):
        for project in result["projects"]:
            services = project.get("services")
            if not isinstance(services, Sequence):
                raise Invalid(
                    f"project {project.get('name')!r} comes without its services; read it with include: "
                    "[services]"
                )
            home = tuple(str(project[key]) for key in ("id", "name") if project.get(key))
            yield from (parse_entry(service, home) for service in services)
        return
    found = result.get("services") if isinstance(result, Mapping) else result
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise Invalid(
            f"there are no services in {describe_type(result)}; give {SOURCES}, or a list of services"
        )
    yield from (parse_entry(service) for service in found)


def parse_entry(service: Any, home: tuple[str, ...] = ()) -> ServiceEntry:
    """Return a service of a result, or a fact of the inventory."""
    id = isinstance(service, Mapping) and (service.get("id") or service.get("service_id"))
    if not id:
        raise Invalid(f"{describe_type(service)} in the list is no service: it has no id. Give {SOURCES}")
    details, name = service.get("details"), service.get("name") or service.get("service")
    full = details if isinstance(details, Mapping) else service
    told = tuple(str(one) for one in (full.get("project_id"), service.get("project")) if one)
    family, status = service.get("family"), service.get("status")
    return ServiceEntry(str(id), str(name or ""), str(family or ""), str(status or ""), home or told, service)


def check_projects(result: Any, everything: Sequence[ServiceEntry], projects: Sequence[str]) -> None:
    """Check that the result has all named projects. Not every result includes their names."""
    listed = (result.get("projects") if isinstance(result, Mapping) else None) or ()
    names = [str(project["name"]) for project in listed if project.get("name")]
    ids = [str(project["id"]) for project in listed if project.get("id")]  # one may have no services
    told = {*names, *ids, *(project for entry in everything for project in entry.projects)}
    for project in projects:
        if told and project not in told:
            hint = near_miss(project, names, told.difference(names))
            raise NoSuchItem(f"the result tells of no project {project!r}{hint}")
