# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Services picked out of what the info modules return, by the rules that select services on the platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..._api.decoding import describe_type
from ..._api.values import FAMILIES
from ..shared.task_errors import Invalid, NoSuchItem
from .listing import ServiceQuery, matches
from .lookup import find_service, near_miss

NOT_GIVEN: Final = object()
"""Stands for a criterion that is left out. Null is one that was given and holds nothing."""
SOURCES = "the result of service_info, or of project_info with include: [services]"


@dataclass(frozen=True)
class ServiceEntry:
    """A service of a result, and what is known of it; empty is what the result does not show."""

    record: Mapping[str, Any] = field(repr=False)
    id: str
    name: str
    family: str
    status: str
    projects: tuple[str, ...] = ()
    """Id and name of its project, as far as they are told."""


def select_services(
    result: Any,
    *,
    services: Any = NOT_GIVEN,
    project: Any = NOT_GIVEN,
    family: Any = NOT_GIVEN,
    status: Any = NOT_GIVEN,
    name: Any = NOT_GIVEN,
) -> list[Any]:
    """Return those services of a result that all criteria let through, each a text or a list of texts.

    ``services`` are ids or names, and each has to be there: as in the modules, an id wins over a name, and
    names are looked for in ``project`` and ``family``. ``name`` are patterns, as in an inventory.

    :raises Invalid: for a result without services, and a criterion that it does not show enough for.
    :raises NoSuchItem: for a service, or a project of a result of projects, that is not there.
    """
    home = ServiceQuery(
        projects=criterion_values("project", project), families=criterion_values("family", family)
    )
    rest = ServiceQuery(statuses=criterion_values("status", status), names=criterion_values("name", name))
    check_known_families(home.families)
    everything = list(parse_entries(result))
    check_known(everything, home, rest)
    check_projects(result, everything, home.projects)
    found = [entry for entry in everything if is_in_scope(entry, home)]
    if services is not NOT_GIVEN:
        chosen = [find_service(everything, found, one) for one in criterion_values("services", services)]
        found = list({entry.id: entry for entry in chosen}.values())
    return [entry.record for entry in found if matches(entry, rest)]


def criterion_values(option: str, value: Any) -> tuple[str, ...]:
    """Return a criterion as texts; nothing given is no criterion.

    :raises Invalid: for anything else. Null and an empty list are refused as well: they would let everything
        through.
    """
    if value is NOT_GIVEN:
        return ()
    if value is None:
        raise Invalid(f"{option} is null; give it a value, or leave it out")
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not all(isinstance(one, str) and one.strip() for one in found):
        raise Invalid(f"{option} must be a text or a list of texts, none of them empty")
    if not found and option != "services":
        raise Invalid(f"{option} is an empty list; give it a value, or leave it out")
    return tuple(str(one) for one in found)


def check_known_families(families: Sequence[str]) -> None:
    """Refuse a family that there is not: a slip of the pen would pick nothing."""
    for family in families:
        if family not in FAMILIES:
            raise Invalid(f"unknown family {family!r}{near_miss(family, FAMILIES)}")


# --- What a result holds ------------------------------------------------------------------------------


def parse_entries(result: Any) -> Iterator[ServiceEntry]:
    """Yield the services of a result: of services, of projects with their services, or of a plain list."""
    if isinstance(result, Mapping) and isinstance(result.get("projects"), Sequence):
        for project in result["projects"]:
            yield from parse_project(project)
        return
    found = result.get("services") if isinstance(result, Mapping) else result
    if isinstance(found, str) or not isinstance(found, Sequence):
        raise Invalid(
            f"there are no services in {describe_type(result)}; give {SOURCES}, or a list of services"
        )
    yield from (parse_entry(service) for service in found)


def parse_project(project: Mapping[str, Any]) -> Iterator[ServiceEntry]:
    """Yield the services of a project as project_info returns it."""
    found = project.get("services")
    if not isinstance(found, Sequence):
        raise Invalid(
            f"project {project.get('name')!r} comes without its services; read it with include: [services]"
        )
    home = tuple(str(project[key]) for key in ("id", "name") if project.get(key))
    yield from (parse_entry(service, home) for service in found)


def parse_entry(service: Any, home: tuple[str, ...] = ()) -> ServiceEntry:
    """Return a service of a result as far as the result describes it.

    :raises Invalid: for what is no service.
    """
    if not isinstance(service, Mapping) or not (service.get("id") or service.get("service_id")):
        raise Invalid(f"{describe_type(service)} in the list is no service: it has no id. Give {SOURCES}")
    details = service.get("details")
    full = details if isinstance(details, Mapping) else service
    told = [full.get("project_id"), service.get("project")]
    return ServiceEntry(
        service,
        str(service.get("id") or service["service_id"]),
        str(service.get("name") or service.get("service") or ""),
        str(service.get("family") or ""),
        str(service.get("status") or ""),
        home or tuple(str(one) for one in told if one),
    )


# --- What is asked of it ------------------------------------------------------------------------------


def check_known(everything: Sequence[ServiceEntry], home: ServiceQuery, rest: ServiceQuery) -> None:
    """Refuse to pick by what a result does not show: a service must not be left out for that.

    :raises Invalid: saying what to read instead.
    """
    for entry in everything:
        who = f"service {entry.name!r} ({entry.id})"
        if home.projects and not entry.projects:
            raise Invalid(
                f"the result does not show the project of {who}. Read it with service_info and include: "
                "[details], and give the id of the project; or with project_info and include: [services]"
            )
        for what, asked, told in (
            ("family", home.families, entry.family),
            ("status", rest.statuses, entry.status),
        ):
            if asked and not told:
                raise Invalid(f"the result does not show the {what} of {who}; give {SOURCES}")


def check_projects(result: Any, everything: Sequence[ServiceEntry], projects: Sequence[str]) -> None:
    """Refuse a project that nothing in a result is known to be in: its name is not told by every result.

    :raises NoSuchItem: naming what may have been meant.
    """
    told = [project for entry in everything for project in entry.projects]
    listed = (result.get("projects") if isinstance(result, Mapping) else None) or ()
    names = [str(project["name"]) for project in listed if project.get("name")]
    told += [*names, *(str(project["id"]) for project in listed if project.get("id"))]
    for project in projects:  # one without services is known as well
        if told and project not in told:
            hint = near_miss(project, names, set(told).difference(names))
            raise NoSuchItem(f"the result tells of no project {project!r}{hint}")


def is_in_scope(entry: ServiceEntry, home: ServiceQuery) -> bool:
    """Tell whether a service is of the families and the projects that are wanted, where any are."""
    return (not home.families or entry.family in home.families) and (
        not home.projects or not set(entry.projects).isdisjoint(home.projects)
    )
