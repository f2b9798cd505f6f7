# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order services start and stop: one that refers to another starts after it, and stops before it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..._api.errors import HostedError
from ..._api.models import Service
from ..shared.plan import Task
from ..shared.task_errors import Invalid

References = Mapping[str, Collection[str]]
"""The services that each service needs, by id. They may be outside of the selection."""


@dataclass(frozen=True)
class Order:
    """Which of the selected services each of them needs, directly or through others.

    Services that need each other have no order between them: ``cycles`` holds those.
    """

    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reaches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All selected services that each needs, those of its own cycle included."""

    @property
    def cycles(self) -> list[list[str]]:
        """The services that need each other, in groups."""
        groups = {
            frozenset({id, *(other for other in reached if id in self.reaches[other])})
            for id, reached in self.reaches.items()
        }
        return sorted(sorted(group) for group in groups if len(group) > 1)

    def starting(self, ids: Iterable[str]) -> list[str]:
        """Return services in the order in which they start."""
        return sorted(ids, key=lambda id: (len(self.needs.get(id, ())), id))


def order_of(ids: Collection[str], references: References) -> Order:
    """Return the order of the selected services.

    A cycle takes the order from its own services alone. Whoever needs one of them, or is needed by one,
    keeps its place, even where the cycle is outside of the selection.
    """
    everything = {id: reachable(id, references) for id in ids}
    reaches = {id: frozenset(found & set(ids) - {id}) for id, found in everything.items()}
    needs = {
        id: frozenset(other for other in found if id not in everything[other])
        for id, found in reaches.items()
    }
    return Order(needs, reaches)


def reachable(id: str, references: References) -> set[str]:
    """Return every service that a service needs, directly or through others."""
    found: set[str] = set()
    left = list(references.get(id, ()))
    while left:
        other = left.pop()
        if other not in found:
            found.add(other)
            left += references.get(other, ())
    return found


def explicit_references(
    start_after: Mapping[str, Any], find: Callable[[Sequence[str]], Sequence[str]]
) -> dict[str, set[str]]:
    """Return which services need which by ``start_after``. ``find`` returns the ids of names."""
    found: dict[str, set[str]] = {}
    for name, others in start_after.items():
        after = [others] if isinstance(others, str) else others
        if not isinstance(after, list) or not after or not all(isinstance(one, str) for one in after):
            raise Invalid(f"start_after of {name!r} is {others!r}; write a list of services, by name or id")
        found.setdefault(find([str(name)])[0], set()).update(find(after))
    return found


def add_references(task: Task[Any], project: str, references: dict[str, set[str]]) -> None:
    """Add the references between the services of a project, and warn if they cannot be read."""
    try:
        edges = task.account.graph(project).edges or []
    except HostedError as error:
        task.warn(
            f"the references in project {project} cannot be read, so only start_after gives an order: "
            f"{error.message}"
        )
        return
    for edge in edges:
        if edge.from_ and edge.to:
            references.setdefault(edge.from_, set()).add(edge.to)


def read_order(
    task: Task[Any], services: Sequence[Service], references: dict[str, set[str]], projects: bool = True
) -> Order:
    """Return the order of services by ``references`` and, if wanted, those in their projects.

    Warns of services that need each other.
    """
    for project in sorted({each.project_id for each in services if each.project_id}) if projects else ():
        add_references(task, project, references)
    names = {each.id: each.name for each in services}
    order = order_of(names, references)
    for cycle in order.cycles:
        named = ", ".join(repr(names[id]) for id in cycle)
        task.warn(f"services {named} need each other, so there is no order between them")
    return order
