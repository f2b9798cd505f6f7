# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which project or service an id, a name or an alias means. An id goes first: names need not be unique."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol, TypeVar

from ..._api.errors import HostedError
from ..._api.models import App, Project, ProjectGraph, Service
from ..._api.platform_clock import CLOCKS_DIFFER
from ..._api.text import composed
from ..._api.values import ServiceStatus
from .names import look_alike, same_name
from .restore_points import parse_moment
from .task_errors import Ambiguous, Invalid, NoSuchItem

if TYPE_CHECKING:
    from .account import Account
    from .plan import Task

ORDER_TIME = timedelta(minutes=10)
"""How long after an order a service of its name can be what was ordered."""


class Named(Protocol):
    """What has the id and the name of a service."""

    @property
    def id(self) -> str:
        """The id, which never changes."""

    @property
    def name(self) -> str:
        """The name."""


class Identifiable(Named, Protocol):
    """The fields that identify a service, in a response of the platform or in a result."""

    @property
    def family(self) -> str:
        """The family."""

    @property
    def status(self) -> str:
        """The administrative status."""


S = TypeVar("S", bound=Identifiable)
E = TypeVar("E", bound=Identifiable | App)


def near_miss(wanted: str, names: Iterable[str], ids: Iterable[str] = ()) -> str:
    """Return a hint at the most similar name, or what exists (ids if without names), to end a sentence."""
    known, others = sorted(set(names)), sorted(set(ids))
    if close := close_name(wanted, [*known, *others]):
        return f";{close}"
    what, known = ("", known) if known else ("id ", others)
    shown = ", ".join(f"{what}{name!r}" for name in known[:10])
    return f"; there are: {shown}{' …' if len(known) > 10 else ''}" if known else "; there are none"


def close_name(wanted: str, names: Iterable[str]) -> str:
    """Return a hint at the most similar name for use in a sentence; empty if no name is similar."""
    close = difflib.get_close_matches(wanted, sorted(set(names)))
    return f" did you mean {close[0]!r}{look_alike(wanted, close[0])}?" if close else ""


def as_sentence(text: str) -> str:
    """Return a text that ends as a sentence, so that another one can follow."""
    return text if text.endswith("?") else f"{text}."


# --- Projects ---------------------------------------------------------------------------------------


def project_with_name(projects: Iterable[Project], name: str) -> Project | None:
    """Return the project with this name."""
    return next((project for project in projects if same_name(project.name, name)), None)


def with_id_or_name(projects: Iterable[Project], wanted: str) -> Project | None:
    """Return the project with this id or name, which must not be one's id and another's name."""
    found = {each.id: each for each in projects if wanted == each.id or same_name(wanted, each.name)}
    if len(found) > 1:
        told = " and ".join(f"{project.name!r} ({project.id})" for project in found.values())
        raise Ambiguous(
            f"{wanted!r} is the id of one project and the name of another: {told}. Nothing was done. Give "
            "the name of the first, or the id of the second",
            ids=list(found),
        )
    return next(iter(found.values()), None)


def oldest_projects(projects: Sequence[Project]) -> set[str]:
    """Return the ids of the projects that may be the oldest, including all of unknown age."""
    ages = {project.id: parse_moment(project.created_at) for project in projects}
    first = min((age for age in ages.values() if age is not None), default=None)
    return {id for id, age in ages.items() if age in (None, first)}


# --- Services ---------------------------------------------------------------------------------------


def label(service: Identifiable) -> str:
    """Return the name and id of a service for messages; the name only if it does not exist yet."""
    return f"service {service.name!r} ({service.id})" if service.id else f"service {service.name!r}"


def existing(found: Iterable[E]) -> list[E]:
    """Return the services or applications that are not being deleted."""
    return [each for each in found if each.status not in ServiceStatus.DELETING_OR_DELETED]


def with_name(services: Iterable[S], name: str, family: str | None) -> list[S]:
    """Return the services with this name and, if given, this family. Skips services being deleted."""
    wanted = composed(name)
    return [
        each
        for each in services
        if ((own := each.name) == wanted or (not own.isascii() and composed(own) == wanted))
        and family in (None, each.family)
        and each.status not in ServiceStatus.DELETING_OR_DELETED
    ]


def only_service(services: Sequence[S], name: str, where: Callable[[S], str] = lambda s: s.id) -> S | None:
    """Return the only service in the list, or ``None`` if it is empty. Several are an error with ids."""
    if len(services) > 1:
        raise Ambiguous(
            f"{len(services)} services are named {name!r}: {', '.join(map(where, services))}. "
            "Name one by id, or narrow the name by project or family",
            ids=[service.id for service in services],
        )
    return services[0] if services else None


def find_service(
    everything: Sequence[S], fitting: Sequence[S], wanted: str, where: Callable[[S], str] = lambda s: s.id
) -> S:
    """Return the service with this id, or else the only one with this name among ``fitting``."""
    found = next((service for service in everything if service.id == wanted), None)
    if found is not None and all(service.id != found.id for service in fitting):
        raise Invalid(
            f"{label(found)} is in another project or of another family than the task says; "
            "nothing was done. Correct project and family, or leave them out where the id is enough"
        )
    found = found or only_service(with_name(fitting, wanted, None), wanted, where)
    if found is None:
        elsewhere = [where(service) for service in with_name(everything, wanted, None)]
        if elsewhere:
            hint = f" here; {wanted!r} is in another project or of another family: {', '.join(elsewhere)}"
        else:
            hint = near_miss(wanted, (service.name for service in fitting or everything if service.name))
        raise NoSuchItem(f"there is no service of id or name {wanted!r}{hint}")
    return found


def check_service_offers(service: Service, capability: str, lack: str) -> None:
    """Refuse a service without a capability in its current status (Capabilities), which it ``lack`` s."""
    offered = service.capabilities
    if offered is not None and capability not in offered:
        raise Invalid(
            f"{label(service)} {lack}: it does not offer {capability!r} while its status is "
            f"{service.status}. It offers: {', '.join(offered) or 'nothing'}",
            capabilities=offered,
        )


def check_id_matches(
    service: Service,
    *,
    name: str | None = None,
    family: str | None = None,
    projects: Sequence[Project] = (),
) -> None:
    """Refuse an id whose service has another name or family, or is in none of ``projects``, if given."""
    contradictions = list[tuple[str, str | None, str | None]]()
    if name is not None and not same_name(name, service.name):
        contradictions.append(("name", name, service.name))
    if family not in (None, service.family):
        contradictions.append(("family", family, service.family))
    if projects and service.project_id not in [project.id for project in projects]:
        contradictions.append(("project", projects[0].name, service.project_id))
    for option, wanted, known in contradictions:
        raise Invalid(
            f"the id is that of {label(service)} with {option} {known!r}, but the task says {option} "
            f"{wanted!r}; nothing was done. Correct the id or the {option}, or leave the {option} out"
        )


def came_up(created: str | None, sent: str | None) -> bool:
    """Tell whether a service can be that of an order, by the platform's clock. One of unknown age can."""
    ordered, made = parse_moment(sent), parse_moment(created)
    if ordered is None:
        return False
    return made is None or -CLOCKS_DIFFER <= made - ordered <= ORDER_TIME


# --- Aliases ----------------------------------------------------------------------------------------
# By these the services of a project reach each other. A service keeps its alias when it joins another project
# (Settings, rule 6).


def aliases_of(graph: ProjectGraph) -> dict[str, str]:
    """Return the alias of each service of a project by the service's id."""
    return {node.id: node.alias for node in graph.nodes or [] if node.id and node.alias}


def read_aliases(account: Account, project_id: str | None) -> dict[str, str]:
    """Return the aliases of a project; empty if it cannot be read, because that is no reason to fail."""
    with suppress(HostedError):
        return aliases_of(account.graph(project_id)) if project_id else {}
    return {}


def warn_of_clashes(task: Task, joining: Mapping[str, str], there: Mapping[str, str], where: str) -> None:
    """Warn of services that join a project in which another service has their alias."""
    taken = {alias for id, alias in there.items() if id not in joining}
    if clashes := sorted(set(joining.values()) & taken):
        which = ", ".join(map(repr, clashes))
        said = f"the aliases {which} are" if clashes[1:] else f"the alias {which} is"
        task.warn(
            f"{said} taken in {where}; which service answers to it there, or whether the platform refuses, "
            "is not documented"
        )
