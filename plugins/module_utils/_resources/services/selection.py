# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Selects services in the results of info modules, by the same rules as on the platform."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..._api.text import describe_type
from ..._api.values import FAMILIES
from ..shared.identify import find_service, near_miss
from ..shared.task_errors import Invalid, NoSuchItem
from .listing import ServiceQuery, matches

NOT_GIVEN: Final = object()
"""Stands for a criterion that is left out. Null is one that was given and holds nothing."""
SOURCES = "the result of service_info, or of project_info with include: [services]"


@dataclass(frozen=True)
class ServiceEntry:
    """A service in a result. Empty fields are unknown."""

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
    """Return the services of a result that match all criteria, each a string or a list of strings.

    ``services`` are ids or names, all of which must exist: as in the modules, an id takes precedence, and
    names are looked up within ``project`` and ``family``. ``name`` are patterns, as in an inventory.
    """
    home = ServiceQuery(
        projects=criterion_values("project", project), families=criterion_values("family", family)
    )
    rest = ServiceQuery(statuses=criterion_values("status", status), names=criterion_values("name", name))
    for each in home.families:
        if each not in FAMILIES:  # a misspelled one would match nothing
            raise Invalid(f"unknown family {each!r}{near_miss(each, FAMILIES)}")
    everything = list(parse_entries(result))
    check_known(everything, home, rest)
    check_projects(result, everything, home.projects)
    of_family = [entry for entry in everything if not home.families or entry.family in home.families]
    found = [e for e in of_family if not home.projects or not set(e.projects).isdisjoint(home.projects)]
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


# --- What a result holds ------------------------------------------------------------------------------


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
    """Check that the result has the data that the criteria need, so that no service is left out silently."""
    for entry in everything:
        who = f"service {entry.name!r} ({entry.id})"
        if home.projects and not entry.projects:
            raise Invalid(
                f"the result does not show the project of {who}. Read it with service_info and include: "
                "[details], and give the id of the project; or with project_info and include: [services]"
            )
        family, status = ("family", home.families, entry.family), ("status", rest.statuses, entry.status)
        for what, asked, told in (family, status):
            if asked and not told:
                raise Invalid(f"the result does not show the {what} of {who}; give {SOURCES}")


def check_projects(result: Any, everything: Sequence[ServiceEntry], projects: Sequence[str]) -> None:
    """Check that the result has all named projects. Not every result includes their names."""
    told = [project for entry in everything for project in entry.projects]
    listed = (result.get("projects") if isinstance(result, Mapping) else None) or ()
    names = [str(project["name"]) for project in listed if project.get("name")]
    told += [*names, *(str(project["id"]) for project in listed if project.get("id"))]
    for project in projects:  # one without services is known as well
        if told and project not in told:
            hint = near_miss(project, names, set(told).difference(names))
            raise NoSuchItem(f"the result tells of no project {project!r}{hint}")
