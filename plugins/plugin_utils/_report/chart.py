# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The chart of spend by day: a column for each day, stacked by groups of projects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from itertools import accumulate, pairwise
from typing import Any

COLUMN, GAP, TALL = 10, 3, 100
"""Width of a column, the room between two, and the height of the drawing."""
COLORS = 8
"""How many colors there are. The last one is for all other projects together."""


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
