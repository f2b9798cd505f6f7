# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws spend by day as columns, and backups as a calendar.

Drawings hold shapes only, so that they can be stretched; their labels are text of the page, which stays as
large as it is on any screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from ansible_collections.hosted.services.plugins.plugin_utils._report.markup import (
    Element,
    day_text,
    element,
    money,
)

COLUMN, GAP, TALL = 10, 3, 100
"""Width of a column, the room between two, and the height of the drawing."""
CELL = 10
CELLS = {
    "fresh": "h8v8h-8z",
    "stale": "l8 8h-8z",
    "failed": "l8 8m0-8l-8 8",
    "none": "m2 4h4",
}
"""The shape of each cell in a square of 8 units. Strokes are in the style."""


# --- Spend by day -----------------------------------------------------------------------------------


def nice_top(amount: Decimal) -> Decimal:
    """Return the end of a scale for amounts up to this one: 1, 2, 4, 5 or 10 times a power of ten."""
    if amount <= 0:
        return Decimal(1)
    unit = Decimal(10) ** amount.adjusted()
    return next(unit * step for step in map(Decimal, ("1", "2", "4", "5", "10")) if unit * step >= amount)


def scaled(amount: Decimal, top: Decimal) -> int:
    """Return the height of an amount in a drawing of 1000 units."""
    return int(amount * TALL * 10 / top)


def spend_chart(
    days: Sequence[Mapping[str, Any]], groups: Sequence[Sequence[str]], label: str, currency: str | None
) -> Element:
    """Return the columns of the days, stacked by groups of projects, with their scale and dates."""
    amounts = [[sum_of(day, group) for group in groups] for day in days]
    top = nice_top(max((sum(each, Decimal(0)) for each in amounts), default=Decimal(0)))
    paths = [
        element("path", d=stack(amounts, number, top), class_=f"p{number}") for number in range(len(groups))
    ]
    drawing = element(
        "svg",
        lines(len(days)),
        paths,
        [hover(number, day, currency) for number, day in enumerate(days)],
        role="img",
        aria_label=label,
        viewBox=f"0 0 {len(days) * (COLUMN + GAP)} {TALL}",
        preserveAspectRatio="none",
    )
    scale = [element("span", money(str(top * part / 2), currency), class_=f"at{part}") for part in (2, 1, 0)]
    dates = [day_text(date.fromisoformat(days[at]["date"])) for at in (0, len(days) // 2, -1)] if days else []
    return element(
        "div",
        element("div", scale, class_="scale", aria_hidden="true"),
        drawing,
        element("div", [element("span", each) for each in dates], class_="dates", aria_hidden="true"),
        class_="columns",
    )


def sum_of(day: Mapping[str, Any], group: Sequence[str]) -> Decimal:
    """Return what a group of projects has cost on a day."""
    return sum((Decimal(each["amount"]) for each in day["projects"] if each["id"] in group), Decimal(0))


def lines(days: int) -> Element:
    """Return the lines of the scale."""
    right = days * (COLUMN + GAP)
    return element("path", d=f"M0 0H{right}M0 {TALL // 2}H{right}M0 {TALL}H{right}", class_="lines")


def stack(amounts: Sequence[Sequence[Decimal]], number: int, top: Decimal) -> str:
    """Return the rectangles of one group on all days."""
    found = []
    for place, day in enumerate(amounts):
        below = scaled(sum(day[:number], Decimal(0)), top)
        above = scaled(sum(day[: number + 1], Decimal(0)), top)
        if above > below:
            x, y = place * (COLUMN + GAP) + GAP / 2, TALL - above / 10
            found.append(f"M{x:g} {y:g}h{COLUMN}v{(above - below) / 10:g}h-{COLUMN}z")
    return "".join(found)


def hover(number: int, day: Mapping[str, Any], currency: str | None) -> Element:
    """Return an invisible column that says what the day has cost when a mouse is over it."""
    text = f"{day_text(date.fromisoformat(day['date']))}: {money(day['amount'], currency)}"
    return element(
        "rect",
        element("title", text),
        x=number * (COLUMN + GAP),
        width=COLUMN + GAP,
        height=TALL,
        class_="hit",
    )


# --- Backups ----------------------------------------------------------------------------------------


def calendar_row(cells: Sequence[str], label: str) -> Element:
    """Return the cells of a service, a shape for each day."""
    paths = [element("path", d=shapes(cells, kind), class_=kind) for kind in CELLS if kind in cells]
    return element(
        "svg",
        paths,
        class_="cells",
        role="img",
        aria_label=label,
        viewBox=f"0 0 {len(cells) * CELL} {CELL}",
    )


def shapes(cells: Sequence[str], kind: str) -> str:
    """Return the shapes of one kind."""
    return "".join(f"M{place * CELL + 1} 1{CELLS[kind]}" for place, cell in enumerate(cells) if cell == kind)


def sample(kind: str) -> Element:
    """Return one cell, for the legend."""
    path = element("path", d=f"M1 1{CELLS[kind]}", class_=kind)
    return element("svg", path, class_="cells one", viewBox=f"0 0 {CELL} {CELL}", aria_hidden="true")
