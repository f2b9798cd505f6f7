# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells which of the services that came up with an order is the one that it made (Ordering).

The response to an order names an instance, which the specification does not promise to be the service. A
platform may number its orders and its services each by themselves, so that an order has the number of another
service: of one from before, or of one that another order makes at that moment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from ..._api.errors import HostedError
from ..._api.models import Order, Project, Service, ServiceSummary
from ..shared.names import may_be_one, may_be_part, same_name
from ..shared.plan import Task
from .all_services import may_be_cut, with_missing
from .lookup import await_readable, came_up, in_project, project_id_in, project_id_of
from .namesakes import KnownProjects, oldest_projects
from .options import ServiceOptions
from .settings import differing_fact

S = TypeVar("S", bound=Service | ServiceSummary)

MAX_COUNTED = 12
"""Up to how many characters an id may be a number, which items of several kinds may have."""


@dataclass
class Arrivals:
    """The services that came up since an order was about to be sent."""

    task: Task[ServiceOptions]
    project: Project | None
    projects: KnownProjects
    before: Set[str]
    """The ids of the services that were listed by then."""
    sent: str
    """When that was, by the platform's clock."""
    found: list[ServiceSummary] = field(default_factory=list)
    """What came up, whatever its name, as last looked up."""

    @property
    def name(self) -> str:
        """The name of the order."""
        return self.task.options.wanted_name

    def of_name(self) -> list[ServiceSummary]:
        """Return the services that may be the one ordered: new, of its name, and as the order has them.

        Others may order a service of the same name in another project at the same time.
        """
        self._look_up()
        new = [service for service in self._fitting() if same_name(service.name, self.name)]
        if self.project is not None:
            for service in new:
                await_readable(self.task.client, service.id)
        return in_project(self.task.client, new, self.project)

    def likeliest(self) -> Sequence[ServiceSummary]:
        """Return those of :meth:`of_name` that are most likely the one ordered."""
        return self._nearest(self.of_name())

    def suspects(self) -> list[ServiceSummary]:
        """Return what came up and may be the one ordered by another name, wherever it is."""
        return [service for service in self._fitting() if may_be_part(service.name, self.name)]

    def named_by(self, order: Order, named: Sequence[ServiceSummary]) -> str | None:
        """Return the id that the response names; ``None`` if that is not, or may not be, the service ordered.

        ``named`` are the services of :meth:`of_name`. They decide where the id cannot be looked up: the order
        is placed, so that is no reason to fail.
        """
        told = order.instance_id
        if told is None:
            return None
        try:
            return told if self._is_made_by(order, told, named) else None
        except HostedError:
            return told if not named or any(service.id == told for service in named) else None

    # --- Helpers --------------------------------------------------------------------------------------

    def _is_made_by(self, order: Order, told: str, named: Sequence[ServiceSummary]) -> bool:
        """Tell whether the service of the id that the response names is the one ordered.

        One that cannot be read yet is, unless something else may be.
        """
        service = self.task.client.service(told)
        if service is None:
            return any(service.id == told for service in named) or not self.suspects()
        if is_of_one_item(told):
            return True
        near = self._nearest([*named, *self._others(order, service, named)], order.name)
        return any(each.id == told for each in near)

    def _look_up(self) -> None:
        """List what came up. A list that may be cut shows old services as well, once others are deleted."""
        services = self.task.client.services()
        is_cut = may_be_cut(len(services))
        with suppress(HostedError):  # the order is placed
            services = with_missing(self.task.client, services, self._is_of_now)
        self.found = [
            service
            for service in services
            if service.id not in self.before and (not is_cut or self._is_of_now(service))
        ]

    def _is_of_now(self, service: ServiceSummary) -> bool:
        return came_up(service.created_at, self.sent)

    def _fitting(self) -> list[ServiceSummary]:
        """Return what came up as the order has it."""
        return [service for service in self.found if differing_fact(self.task.options, service) is None]

    def _others(
        self, order: Order, told: Service, named: Sequence[ServiceSummary]
    ) -> list[Service | ServiceSummary]:
        """Return what else may be the one ordered, among it the service that the response names.

        A new service is listed at once. A list that is cut where nobody expects it may lack the one ordered
        too, so what the response names counts only by the very name then.
        """
        known = {service.id for service in named}
        listed = [service for service in self._fitting() if service.id not in known]
        others: list[Service | ServiceSummary] = [*in_project(self.task.client, listed, self.project)]
        created = told.dates.created_at if told.dates else None
        if (
            told.name in (self.name, order.name)
            and told.id not in {service.id for service in self.found}
            and differing_fact(self.task.options, told) is None
            and came_up(created, self.sent)
            and (self.project is None or project_id_in(told) == self.project.id)
        ):
            others.append(told)
        return others

    def _nearest(self, services: Sequence[S], named: object = None) -> Sequence[S]:
        """Return those whose names are nearest to the order's, or to the one that its response has."""
        ways: tuple[Callable[[str], bool], ...] = (
            lambda name: name in (self.name, named),
            lambda name: same_name(name, self.name),
            lambda name: may_be_one(name, self.name),
            lambda name: may_be_part(name, self.name),
            lambda name: True,
        )
        groups = ([service for service in services if is_near(service.name)] for is_near in ways)
        near = next(filter(None, groups), [])
        return near if len(near) < 2 or self.project is not None else self._in_default_project(near)

    def _in_default_project(self, services: Sequence[S]) -> Sequence[S]:
        """Return those that may be where an order without a project goes; all of them if that is unknown."""
        try:
            defaults = oldest_projects(self.projects.all())
            homes = [project_id_of(self.task.client, service.id) for service in services]
        except HostedError:
            return services
        found = [service for service, home in zip(services, homes, strict=True) if home in defaults]
        return found or services


def is_of_one_item(id: str | None) -> bool:
    """Tell whether an id is of one item alone, whatever its kind, as it is too long to be counted up."""
    return id is not None and len(id) > MAX_COUNTED
