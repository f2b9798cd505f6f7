# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The services of the account, also where their list ends early without saying so.

The specification shows no pages of ``GET /api/resources``, nor promises that there are none. What a project's
own count leaves out is not shown either, so the count cannot prove that the list is complete. The pages of
the projects hold their services; they are read where the list may be the first page of a longer one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

from ..._api.client import Client
from ..._api.errors import AccessDenied, Refused, UnexpectedAnswer
from ..._api.models import Project, ProjectDetail, ServiceSummary
from ..._api.values import ServiceStatus
from ..shared.parallel import run_parallel

PAGE_SIZES = (
    *(10, 15, 20, 24, 25, 30, 32, 40, 50, 60, 64, 75, 80, 100, 120, 125, 128, 150),
    *(200, 250, 256, 300, 400, 500, 512, 1000, 1024),
)
"""The lengths at which APIs cut their lists. At these, a task takes a call more for each project."""

T = TypeVar("T")


def all_services(
    client: Client,
    keep: Callable[[ServiceSummary], bool] = lambda service: True,
    certain: bool = False,
    *,
    though_unreadable: bool = False,
) -> list[ServiceSummary]:
    """Return the services of the account, with those that only the pages of their projects show.

    The parameters are those of :func:`with_missing`.
    """
    return with_missing(client, client.services(), keep, certain, though_unreadable=though_unreadable)


def with_missing(
    client: Client,
    services: list[ServiceSummary],
    keep: Callable[[ServiceSummary], bool] = lambda service: True,
    certain: bool = False,
    *,
    though_unreadable: bool = False,
) -> list[ServiceSummary]:
    """Return the services of the list, and those that it lacks if it has the length of a page.

    :param keep: tells which of those that it lacks are wanted. Each of these takes a call.
    :param certain: for callers that take what is left out for gone: what cannot be read is an error. A
        gateway may send 404, too.
    :param though_unreadable: keep a service that its page shows and that cannot be read, instead of that.
    :raises Refused: if the platform refuses to show the projects; if that is because the token may not read
        them, only if ``certain``.
    :raises UnexpectedAnswer: if ``certain``, and it shows a project or a service that cannot be read.
    """
    if not may_be_cut(len(services)):
        return services
    try:
        pages = read_pages(client, client.projects(), certain)
        return [
            *services,
            *missing_from(client, services, pages, keep, certain, though_unreadable=though_unreadable),
        ]
    except Refused as error:  # which scope projects need is not shown
        if certain or not isinstance(error, AccessDenied):
            raise cannot_be_completed(error, len(services)) from None
        return services


def cannot_be_completed(error: Refused, count: int) -> Refused:
    """Return the error for projects that are not shown, with what that leaves open about a list."""
    return error.prepend(
        f"the list of {count} services may end early, and the projects, which show the rest, cannot be read: "
    )


def may_be_cut(count: int) -> bool:
    """Tell whether a list of this length may be the first page of a longer one."""
    return count in PAGE_SIZES


def read_pages(
    client: Client,
    projects: Iterable[Project],
    certain: bool = False,
    *,
    on_denied: Callable[[Project, AccessDenied], object] | None = None,
) -> list[list[ServiceSummary]]:
    """Return what the page of each project shows, also of those that count no services."""
    return read_projects(
        client, projects, lambda detail: detail.resources, True, certain, on_denied=on_denied
    )


def missing_from(
    client: Client,
    services: Sequence[ServiceSummary],
    pages: Iterable[Iterable[ServiceSummary]],
    keep: Callable[[ServiceSummary], bool] = lambda service: True,
    certain: bool = False,
    *,
    though_unreadable: bool = False,
) -> list[ServiceSummary]:
    """Return what ``keep`` lets through of the services that pages of projects show and ``services`` lacks.

    A page may show a service for a while after it is gone, so each is read by its id.

    :raises UnexpectedAnswer: if ``certain``, and one cannot be read: nothing else tells whether it is gone.
        It is kept ``though_unreadable``, unless its page says that it is being deleted.
    """
    listed = {service.id for service in services}
    found = {service.id: service for service in chain(*pages) if service.id not in listed and keep(service)}

    def is_there(clone: Client, shown: ServiceSummary) -> bool:
        service = read_twice(clone.service, shown.id)
        stays = shown.status not in ServiceStatus.DELETING_OR_DELETED
        if service is None and though_unreadable:
            return stays
        if service is None and certain and stays:
            raise UnexpectedAnswer(
                f"service {shown.name!r} ({shown.id}) is on the page of its project and cannot be read, so "
                "whether it is still there is unknown. Run this again, or check the service in the customer "
                "web space"
            )
        return service is not None and service.status not in ServiceStatus.DELETING_OR_DELETED

    there = run_parallel(client, list(found.values()), is_there)
    return [service for service, exists in zip(found.values(), there, strict=True) if exists]


def read_projects(
    client: Client,
    projects: Iterable[Project],
    take: Callable[[ProjectDetail], T],
    though_empty: bool = False,
    certain: bool = False,
    *,
    on_denied: Callable[[Project, AccessDenied], object] | None = None,
) -> list[T]:
    """Return what ``take`` keeps of each project, except those that were deleted meanwhile.

    A project that counts no services is read only ``though_empty``. Its count may leave some out, so whoever
    does not ask for it has to look for services that are on no page.

    :param on_denied: told of a project that the token may not read, which is left out then.
    :raises AccessDenied: without ``on_denied``, for such a project.
    :raises UnexpectedAnswer: if ``certain``, and one cannot be read: its services may be on no other page.
    """

    def read(clone: Client, project: Project) -> list[T]:
        try:
            detail = read_twice(clone.project, project.id)
        except AccessDenied as error:
            if on_denied is None:
                raise
            on_denied(project, error)
            return []
        if detail is None and certain:
            raise UnexpectedAnswer(
                f"the platform lists project {project.name!r} ({project.id}), but reports that there is none "
                "when it is read, so its services are unknown. Run this again"
            )
        return [] if detail is None else [take(detail)]

    filled = [project for project in projects if though_empty or project.resource_count != 0]
    return list(chain(*run_parallel(client, filled, read)))


def read_twice(read: Callable[[str], T | None], id: str) -> T | None:
    """Return what is read of this id, at the second attempt if there was nothing: a gateway may send 404."""
    found = read(id)
    return read(id) if found is None else found
