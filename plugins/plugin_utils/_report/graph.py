# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of a project: services as cards, references as arrows from left to right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ...module_utils._resources.services.many_services import order_of

WIDTH, HEIGHT = 232, 56
"""The size of a card."""
LANE = 8
"""The height of an arrow that passes a column."""
ACROSS, DOWN = 72, 14
"""The room between two columns, and between two cards of a column."""
GRID = 4
"""The cards in a row of those that nothing refers to and that refer to nothing."""

Edge = tuple[str, str]
Place = tuple[int, int]
Slot = str | tuple[str, str, int]
"""What takes a place in a column: a card, or an arrow from one card to another that passes it."""
Route = tuple[Slot, ...]


@dataclass(frozen=True)
class Graph:
    """Where the cards are, the paths of the arrows, and how large the drawing is."""

    places: Mapping[Slot, Place]
    arrows: Sequence[str]
    width: int
    height: int


def graph_of(services: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]]) -> Graph:
    """Return the graph of services, without references of one to itself or to what is elsewhere."""
    ids = [service["id"] for service in services]
    edges = {(edge["from_id"], edge["to_id"]) for edge in references}
    return arrange(ids, sorted(edge for edge in edges if set(ids).issuperset(edge) and edge[0] != edge[1]))


def arrange(nodes: Sequence[str], edges: Sequence[Edge]) -> Graph:
    """Return where each card goes: those with references in columns, the others in rows below.

    An arrow that passes a column gets a place in it, so that it does not run behind a card.
    """
    linked = {node for edge in edges for node in edge}
    routes, columns = columns_of([node for node in nodes if node in linked], edges)
    heights = [sum(height_of(slot) + DOWN for slot in column) - DOWN for column in columns]
    tallest = max(heights, default=-DOWN)
    places: dict[Slot, Place] = {}
    for number, column in enumerate(columns):
        y = (tallest - heights[number]) // 2
        for slot in column:
            places[slot] = (number * (WIDTH + ACROSS), y)
            y += height_of(slot) + DOWN
    below = tallest + (2 * DOWN if columns else DOWN)
    for number, node in enumerate(node for node in nodes if node not in linked):
        across, down = number % GRID, number // GRID
        places[node] = (across * (WIDTH + DOWN), below + down * (HEIGHT + DOWN))
    width = max((x for x, __ in places.values()), default=0) + WIDTH
    height = max((y + height_of(slot) for slot, (__, y) in places.items()), default=0)
    return Graph(places, [path_of(places, routes[edge]) for edge in edges], width, height)


def height_of(slot: Slot) -> int:
    return HEIGHT if isinstance(slot, str) else LANE


def columns_of(linked: Sequence[str], edges: Sequence[Edge]) -> tuple[dict[Edge, Route], list[list[Slot]]]:
    """Return the places that each arrow passes, and the columns, in an order that keeps arrows short."""
    ranks = ranks_of(linked, edges)
    columns: list[list[Slot]] = [[] for __ in range(max(ranks.values(), default=-1) + 1)]
    for node in linked:
        columns[ranks[node]].append(node)
    routes: dict[Edge, Route] = {}
    before: dict[Slot, list[Slot]] = defaultdict(list)
    for begin, end in edges:
        lanes = [(begin, end, number) for number in range(ranks[begin] + 1, ranks[end])]
        routes[begin, end] = (begin, *lanes, end)
        for lane in lanes:
            columns[lane[2]].append(lane)
        for left, right in pairwise(routes[begin, end]):
            before[right].append(left)
    rows: dict[Slot, float] = {}
    for column in columns:
        known = {slot: [rows[other] for other in before[slot] if other in rows] for slot in column}
        middle = {slot: sum(found) / len(found) if found else 0.0 for slot, found in known.items()}
        column.sort(key=lambda slot: middle[slot])
        rows.update({slot: float(row) for row, slot in enumerate(column)})
    return routes, columns


def ranks_of(nodes: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each node: behind all that refer to it, but for those that refer to each other."""
    referring: dict[str, set[str]] = {node: set() for node in nodes}
    for begin, end in edges:
        referring[end].add(begin)
    before = order_of(nodes, referring).needs
    ranks: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: len(before[node])):
        ranks[node] = max((ranks[other] + 1 for other in before[node]), default=0)
    return ranks


def path_of(places: Mapping[Slot, Place], route: Route) -> str:
    """Return an arrow from the right of one card to the left of another, straight through what it passes."""
    path = ""
    for left, right in pairwise(route):
        (x1, y1), (x2, y2) = places[left], places[right]
        x1, y1, y2 = x1 + WIDTH, y1 + height_of(left) // 2, y2 + height_of(right) // 2
        bend = max(ACROSS // 2, abs(x2 - x1) // 2)
        path += f"{'L' if path else 'M'}{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return path
