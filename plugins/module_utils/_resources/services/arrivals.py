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
from dataclasses import dataclass, field
from typing import TypeVar

from ..._api.errors import HostedError
from ..._api.models import Order, Project, Service, ServiceSummary
from ..shared.names import may_be_one, may_be_part, same_name
from ..shared.plan import Task
from .lookup import await_readable, in_default_project, in_project, project_id_in
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
    before: Set[str]
    """The ids of the services that were listed by then."""
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
        known = {each.id for each in named}
        listed = [each for each in self._fitting() if each.id not in known]
        others = in_project(self.task.client, listed, self.project)
        near = self._nearest([*named, *others], order.name)
        return any(each.id == told for each in near) if near else self._is_as_ordered(service, order)

    def _is_as_ordered(self, service: Service, order: Order) -> bool:
        """Tell whether a service is as the order has it. The list may not have been there to be read."""
        return (
            service.name in (self.name, order.name)
            and differing_fact(self.task.options, service) is None
            and (self.project is None or project_id_in(service) == self.project.id)
        )

    def _look_up(self) -> None:
        """List what came up."""
        services = self.task.client.services()
        self.found = [service for service in services if service.id not in self.before]

    def _fitting(self) -> list[ServiceSummary]:
        """Return what came up as the order has it."""
        return [service for service in self.found if differing_fact(self.task.options, service) is None]

    def _nearest(self, services: Sequence[S], named: object = None) -> Sequence[S]:
        """Return those whose names are nearest to the order's, or to the one that its response has."""
        ways: tuple[Callable[[str], bool], ...] = (
            lambda name: name in (self.name, named),
            lambda name: may_be_one(name, self.name),
            lambda name: may_be_part(name, self.name),
            lambda name: True,
        )
        groups = ([service for service in services if is_near(service.name)] for is_near in ways)
        near = next(filter(None, groups), [])
        if self.project is not None:
            return near
        try:
            return in_default_project(self.task.client, near)
        except HostedError:  # the order is placed
            return near


def is_of_one_item(id: str | None) -> bool:
    """Tell whether an id is of one item alone, whatever its kind, as it is too long to be counted up."""
    return id is not None and len(id) > MAX_COUNTED
