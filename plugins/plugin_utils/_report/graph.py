# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws a project as a graph: services as cards, references as arrows from left to right."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.services.start_order import order_of
from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    Element,
    element,
    money,
    shortened,
)
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import sign_of

WIDTH, HEIGHT = 232, 56
LANE = 8
"""The height of an arrow that passes a column."""
ACROSS, DOWN = 72, 14
"""The room between two columns, and between two cards of a column."""
GRID = 4
"""The cards in a row of those that nothing refers to and that refer to nothing."""
NAME_COLUMNS, LINE_COLUMNS = 20, 26

Edge = tuple[str, str]
Place = tuple[int, int]
Slot = str | tuple[str, str, int]
"""What takes a place in a column: a card, or an arrow from one card to another that passes it."""
Route = tuple[Slot, ...]


@dataclass(frozen=True)
class Layout:
    """Where the cards are, and how large the drawing is."""

    places: Mapping[Slot, Place]
    routes: Mapping[Edge, Route]
    """The places that each arrow passes, its ends included."""
    width: int
    height: int


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


def arrange(nodes: Sequence[str], edges: Sequence[Edge]) -> Layout:
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
    return Layout(places, routes, width, height)


def height_of(slot: Slot) -> int:
    """Return the height of a card, or of an arrow that passes a column."""
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


def draw(
    services: Sequence[Mapping[str, Any]], edges: Sequence[Edge], label: str, currency: str | None
) -> Element:
    """Return the drawing of a project."""
    known = {service["id"] for service in services}
    shown = sorted({edge for edge in edges if known.issuperset(edge) and edge[0] != edge[1]})
    layout = arrange([service["id"] for service in services], shown)
    arrows = [arrow(layout, layout.routes[edge]) for edge in shown]
    cards = [card(service, layout.places[service["id"]], currency) for service in services]
    return element(
        "svg",
        element("g", arrows, class_="arrows"),
        cards,
        class_="graph",
        role="img",
        aria_label=label,
        viewBox=f"-1 -1 {layout.width + 2} {layout.height + 2}",
        width=layout.width + 2,
        height=layout.height + 2,
    )


def arrow(layout: Layout, route: Route) -> Element:
    """Return an arrow from the right of one card to the left of another, straight through what it passes."""
    path = ""
    for left, right in pairwise(route):
        (x1, y1), (x2, y2) = layout.places[left], layout.places[right]
        x1, y1, y2 = x1 + WIDTH, y1 + height_of(left) // 2, y2 + height_of(right) // 2
        bend = max(ACROSS // 2, abs(x2 - x1) // 2)
        path += f"{'L' if path else 'M'}{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"
    return element("path", d=path)


def card(service: Mapping[str, Any], place: Place, currency: str | None) -> Element:
    """Return a service: its shape and color, its name, and what it costs. A drawing in it cuts long names."""
    sign = sign_of(service)
    price = "free" if service["is_free"] else money(service["monthly"], currency)
    if service["monthly"] is None and not service["is_free"]:
        price = "price unknown"
    return element(
        "svg",
        element("title", f"{service['name']}: {sign.word}, {price}"),
        element("rect", x="0.5", y="0.5", width=WIDTH - 1, height=HEIGHT - 1, rx="8"),
        element("use", href=f"#{sign.shape}", class_=sign.tone, x="12", y="12", width="16", height="16"),
        element("text", shortened(service["name"], NAME_COLUMNS), x="36", y="25", class_="name"),
        element("text", shortened(f"{price} · {sign.word}", LINE_COLUMNS), x="36", y="43"),
        x=place[0],
        y=place[1],
        width=WIDTH,
        height=HEIGHT,
    )
