# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A covering array: few profiles that together contain every pair of values of any two gap points.

Most bugs need one value, or two together. All combinations of values would be 10^60 profiles;
all pairs fit into some 140, and the first ten contain every single value. The array is computed when a
profile is requested, which takes less than a tenth of a second, so it is always up to date. Libraries
for such arrays (allpairspy, covertable) take minutes for as many points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

KIND = "pairwise"
Fillings = Mapping[str, Sequence[str]]
Row = dict[str, str]


class Pairs:
    """The pairs of values that are not covered yet: for each value, the set of others as bits."""

    def __init__(self, points: Fillings) -> None:
        self.points = points
        names = [(point, value) for point, values in points.items() for value in values]
        self.bit = {name: 1 << place for place, name in enumerate(names)}
        everything = (1 << len(names)) - 1
        self.open: dict[tuple[str, str], int] = {}
        for point, values in points.items():
            own = sum(self.bit[point, value] for value in values)
            self.open |= {(point, value): everything & ~own for value in values}
        self.total = self.left

    @property
    def left(self) -> int:
        """Count the pairs that are not covered yet."""
        return sum(others.bit_count() for others in self.open.values()) // 2

    def cover(self, row: Mapping[str, str]) -> None:
        """Mark the pairs of a profile as covered."""
        mask = sum(self.bit[name] for name in row.items())
        for name in row.items():
            self.open[name] &= ~mask

    def next_row(self, order: Sequence[str]) -> Row:
        """Choose a value for each point in this order, each with as many new pairs as possible."""
        row: Row = {}
        mask = 0
        for point in order:
            found = max(
                self.points[point],
                key=lambda value: (
                    (self.open[point, value] & mask).bit_count(),
                    self.open[point, value].bit_count(),
                ),
            )
            row[point] = found
            mask |= self.bit[point, found]
        return row


def array(points: Fillings) -> list[Row]:
    """Return profiles that cover every pair, those with most new pairs first; deterministic."""
    pairs = Pairs(points)
    rows: list[Row] = []
    while pairs.left:
        row = pairs.next_row(shuffled(points, len(rows)))
        pairs.cover(row)
        rows.append({point: row[point] for point in points})
    return rows


def shuffled(points: Iterable[str], number: int) -> list[str]:
    """Return the points in a pseudo-random order that is the same on every machine."""
    return sorted(points, key=lambda point: hashlib.sha256(f"{number}/{point}".encode()).digest())
