# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding what the user named. Ids win; names of services are not promised to be unique."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from ..._api.client import Client
from ..._api.errors import HostedError, UnexpectedAnswer
from ..._api.models import Project, Service, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.parallel import run_parallel
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem


class Identifiable(Protocol):
    """What a service is told apart by, read from the platform just now or taken from a result."""

    @property
    def id(self) -> str:
        """The id, which never changes."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def family(self) -> str:
        """What kind of service it is."""

    @property
    def status(self) -> str:
        """Where it is in its life."""


S = TypeVar("S", bound=Identifiable)


def near_miss(wanted: str, names: Iterable[str], ids: Iterable[str] = ()) -> str:
    """Return a hint on what may have been meant, or what there is, as the end of a sentence.

    Ids may have been meant too. They are listed only where there are no names, and are called ids.
    """
    known, others = sorted(set(names)), sorted(set(ids))
    close = close_name(wanted, [*known, *others])
    if close:
        return f";{close}"
    what, known = ("", known) if known else ("id ", others)
    shown = ", ".join(f"{what}{name!r}" for name in known[:10])
    return f"; there are: {shown}{' …' if len(known) > 10 else ''}" if known else "; there are none"


def close_name(wanted: str, names: Iterable[str]) -> str:
    """Return a hint on what may have been meant, to go into a sentence; none when nothing is close."""
    close = difflib.get_close_matches(wanted, sorted(set(names)))
    return f" did you mean {close[0]!r}?" if close else ""


def find_project(client: Client, wanted: str) -> Project:
    """Return the project of this id or name.

    :raises NoSuchItem: when there is none.
    """
    projects = client.projects()
    for project in projects:
        if project.id == wanted:
            return project
    for project in projects:
        if project.name == wanted:
            return project
    raise NoSuchItem(f"unknown project {wanted!r}{near_miss(wanted, (p.name for p in projects))}")


def expect_created(task: Task, error: HostedError, does: str) -> None:
    """Let check mode go on without what an earlier task of the play may be about to bring: it ``does`` so.

    Only in check mode, where a play that starts from nothing has to be checked to its end.

    :raises HostedError: the error, outside check mode, where that task would have done it.
    """
    if not task.check_mode:
        raise error
    stop = "" if error.message.endswith("?") else "."
    task.warn(f"{error.message}{stop} That is right only if the play {does} it before this task")


def placeholder_project(task: Task, name: str, error: NoSuchItem) -> Project:
    """Return a project, still without an id, that an earlier task of the play may be about to create.

    :raises NoSuchItem: outside check mode.
    """
    expect_created(task, error, "creates")
    return Project.model_construct(id=None, name=name)


def resolve_project(task: Task, wanted: str) -> Project:
    """Return the project of this id or name; in check mode also one that the play is still to create.

    :raises NoSuchItem: outside check mode.
    """
    try:
        return find_project(task.client, wanted)
    except NoSuchItem as error:
        return placeholder_project(task, wanted, error)


def find_services(
    client: Client, name: str, project: Project | None, family: str | None
) -> list[ServiceSummary]:
    """Return the services of this name, narrowed by project and family, those being deleted excepted."""
    return in_project(client, with_name(client.services(), name, family), project)


def in_project(
    client: Client, services: Sequence[ServiceSummary], project: Project | None
) -> list[ServiceSummary]:
    """Return those of the services that are in a project; all of them where none is given.

    Each is asked itself: the list form does not show the project, and the page of a project is not promised
    to show a new service at once (Ordering). There are none in a project that is still to be created.

    :raises UnexpectedAnswer: when the platform does not show where a service is.
    """
    if project is None:
        return list(services)
    if not project.id:
        return []
    homes = run_parallel(client, services, lambda clone, service: project_id_of(clone, service.id))
    return [service for service, home in zip(services, homes, strict=True) if home == project.id]


def project_id_of(client: Client, id: str) -> str | None:
    """Return the id of the project of a service, ``None`` when the service is gone or is being deleted.

    :raises UnexpectedAnswer: when the platform does not show.
    """
    service = client.service(id)
    if service is None or service.status in ServiceStatus.DELETING_OR_DELETED:
        return None
    if service.project_id is None:
        raise UnexpectedAnswer(
            f"the platform does not show the project of service {service.name!r} ({id}), so it cannot be "
            "told from others of its name. Name it by id, or leave project out"
        )
    return service.project_id


def with_name(services: Iterable[S], name: str, family: str | None) -> list[S]:
    """Return those of the services that have this name, and this family if one is given."""
    return [
        service
        for service in services
        if service.name == name
        and service.status not in ServiceStatus.DELETING_OR_DELETED
        and (family is None or service.family == family)
    ]


def describe_location(client: Client, service: Identifiable) -> str:
    """Say which service that is, with its family and its project, as far as that can be read."""
    said = f"{service.family} service {service.id}"
    try:
        full = client.service(service.id)
        home = full.project_id if full else None
        name = next((project.name for project in client.projects() if project.id == home), None)
    except HostedError:
        return said
    return f"{said} in project {name!r}" if name else said


def find_service(
    everything: Sequence[S], fitting: Sequence[S], wanted: str, where: Callable[[S], str] = lambda s: s.id
) -> S:
    """Return the service of this id, or else the only one of this name among those that fit.

    ``where`` says of one that has the name and does not fit where it is.

    :raises Invalid: for the id of a service that is not among those that fit.
    :raises NoSuchItem: when there is none.
    :raises Ambiguous: when several have the name.
    """
    found = next((service for service in everything if service.id == wanted), None)
    if found is not None and all(service.id != found.id for service in fitting):
        raise Invalid(
            f"{label(found)} is in another project or of another family than the task says; "
            "nothing was done. Correct project and family, or leave them out where the id is enough"
        )
    found = found or only_service(with_name(fitting, wanted, None), wanted)
    if found is None:
        elsewhere = [where(service) for service in with_name(everything, wanted, None)]
        if elsewhere:
            hint = f" here; {wanted!r} is in another project or of another family: {', '.join(elsewhere)}"
        else:
            hint = near_miss(wanted, (service.name for service in fitting or everything if service.name))
        raise NoSuchItem(f"there is no service of id or name {wanted!r}{hint}")
    return found


def label(service: Identifiable) -> str:
    """Return name and id, as messages cite them; the name alone of one that is still to be created."""
    return f"service {service.name!r} ({service.id})" if service.id else f"service {service.name!r}"


def check_id_matches(
    service: Service,
    *,
    name: str | None = None,
    family: str | None = None,
    projects: Sequence[Project] = (),
) -> None:
    """Check that the service with the task's id also has its name and family and is in one of ``projects``.

    Options that the task does not set are not checked.

    :raises Invalid: naming the option that contradicts the id.
    """
    if name not in (None, service.name):
        raise Invalid(contradiction(service, "name", name, service.name))
    if family not in (None, service.family):
        raise Invalid(contradiction(service, "family", family, service.family))
    if projects and service.project_id not in [project.id for project in projects]:
        raise Invalid(contradiction(service, "project", projects[0].name, service.project_id))


def contradiction(service: Service, option: str, wanted: str | None, known: str | None) -> str:
    """Say that an id and another option name different services."""
    return (
        f"the id is that of {label(service)} with {option} {known!r}, but the task says {option} "
        f"{wanted!r}; nothing was done. Correct the id or the {option}, or leave the {option} out"
    )


def only_service(services: list[S], name: str) -> S | None:
    """Return the one service, or ``None``.

    :raises Ambiguous: when there are several; its message lists their ids.
    """
    if len(services) > 1:
        ids = [service.id for service in services]
        raise Ambiguous(
            f"{len(services)} services are named {name!r}: {', '.join(ids)}. "
            "Name one by id, or narrow the name by project or family",
            ids=ids,
        )
    return services[0] if services else None
