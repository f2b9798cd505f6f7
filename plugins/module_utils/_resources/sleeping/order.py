# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order services start and stop: one that refers to another starts after it, and stops before it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

References = Mapping[str, Collection[str]]
"""The services that each service needs, by id. They may be outside of the plan."""


@dataclass(frozen=True)
class Order:
    """Which services of a plan each of them needs, directly or through others.

    Services that need each other have no order between them: ``cycles`` holds those.
    """

    needs: Mapping[str, frozenset[str]] = field(default_factory=dict)
    reaches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All services of the plan that each needs, those of its own cycle included."""

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
    """Return the order of the services of a plan.

    A cycle takes the order from its own services alone. Whoever needs one of them, or is needed by one,
    keeps its place, even where the cycle is outside of the plan.
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
