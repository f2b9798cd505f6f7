# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The drawings of a page: spend by day as a chart, and a project as a graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

from ...module_utils._resources.services.many_services import order_of

COLUMN, GAP, TALL = 10, 3, 100
"""Width of a column, the room between two, and the height of the drawing."""
COLORS = 8
"""How many colors there are. The last one is for all other projects together."""
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


# --- The chart: a column for each day, stacked by groups of projects ------------------------------------


@dataclass(frozen=True)
class Group:
    """Projects of one color: what they have cost on each day, and their parts of the columns."""

    name: str
    amounts: Sequence[Decimal]
    path: str

    @property
    def total(self) -> Decimal:
        return sum(self.amounts, Decimal(0))


@dataclass(frozen=True)
class Chart:
    """The groups, those that cost most first, the end of the scale, and the size of the drawing."""

    groups: Sequence[Group]
    top: Decimal
    width: int
    height: int = TALL
    step: int = COLUMN + GAP


def chart_of(days: Sequence[Mapping[str, Any]], projects: Mapping[str, Mapping[str, Any]]) -> Chart:
    spent: dict[str, list[Decimal]] = {}
    for place, day in enumerate(days):
        for each in day["projects"]:
            spent.setdefault(each["id"], [Decimal(0)] * len(days))[place] += Decimal(each["amount"])
    names = {id: projects[id]["name"] if id in projects else id for id in spent}
    order = sorted((id for id in spent if any(spent[id])), key=lambda id: (-sum(spent[id]), names[id]))
    single = order if len(order) <= COLORS else order[: COLORS - 1]
    rest = order[len(single) :]
    stacked = [(names[id], spent[id]) for id in single]
    if rest:
        stacked.append((f"{len(rest)} other projects", reduce(together, [spent[id] for id in rest])))
    ends = list(accumulate((amounts for __, amounts in stacked), together, initial=[Decimal(0)] * len(days)))
    top = nice_top(max(ends[-1], default=Decimal(0)))
    parts = zip(stacked, pairwise(ends), strict=True)
    groups = [Group(name, amounts, bars(*pair, top)) for (name, amounts), pair in parts]
    return Chart(groups, top, len(days) * (COLUMN + GAP))


def together(one: Sequence[Decimal], other: Sequence[Decimal]) -> list[Decimal]:
    return [sum(pair, Decimal(0)) for pair in zip(one, other, strict=True)]


def nice_top(amount: Decimal) -> Decimal:
    """Return the end of a scale for amounts up to this one: 1, 2, 4, 5 or 10 times a power of ten."""
    if amount <= 0:
        return Decimal(1)
    unit = Decimal(10) ** amount.adjusted()
    return next(unit * step for step in map(Decimal, ("1", "2", "4", "5", "10")) if unit * step >= amount)


def bars(begins: Sequence[Decimal], ends: Sequence[Decimal], top: Decimal) -> str:
    found = []
    for place, pair in enumerate(zip(begins, ends, strict=True)):
        below, above = (int(end * TALL * 10 / top) for end in pair)  # in tenths
        if above > below:
            x, y = place * (COLUMN + GAP) + GAP / 2, TALL - above / 10
            found.append(f"M{x:g} {y:g}h{COLUMN}v{(above - below) / 10:g}h-{COLUMN}z")
    return "".join(found)


# --- The graph: services as cards, references as arrows from left to right ------------------------------


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
