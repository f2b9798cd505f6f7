# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A covering array: few profiles that together have every pair of fillings of every two gap points.

What goes wrong mostly needs one filling, or two that meet. All combinations of them would be 10^60 profiles;
all pairs fit into some 120, and the first ten have every single filling. The array is computed whenever a
profile of it is asked for, as that takes less than a tenth of a second: it is always up to date. Libraries
that make such arrays (allpairspy, covertable) take minutes for as many points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

KIND = "pairwise"
Fillings = Mapping[str, Sequence[str]]
Row = dict[str, str]


class Pairs:
    """Which pairs of fillings are still to be covered: for each filling, the set of others as bits."""

    def __init__(self, points: Fillings) -> None:
        self.points = points
        names = [(point, filling) for point, fillings in points.items() for filling in fillings]
        self.bit = {name: 1 << place for place, name in enumerate(names)}
        everything = (1 << len(names)) - 1
        self.open: dict[tuple[str, str], int] = {}
        for point, fillings in points.items():
            own = sum(self.bit[point, filling] for filling in fillings)
            self.open |= {(point, filling): everything & ~own for filling in fillings}
        self.total = self.left

    @property
    def left(self) -> int:
        """How many pairs are not covered yet."""
        return sum(others.bit_count() for others in self.open.values()) // 2

    def cover(self, row: Mapping[str, str]) -> None:
        """Take off what a profile covers."""
        mask = sum(self.bit[name] for name in row.items())
        for name in row.items():
            self.open[name] &= ~mask

    def next_row(self, order: Sequence[str]) -> Row:
        """Fill the points in this order, each so that it meets as much new as it can."""
        row: Row = {}
        mask = 0
        for point in order:
            found = max(
                self.points[point],
                key=lambda filling: (
                    (self.open[point, filling] & mask).bit_count(),
                    self.open[point, filling].bit_count(),
                ),
            )
            row[point] = found
            mask |= self.bit[point, found]
        return row


def array(points: Fillings) -> list[Row]:
    """Return profiles that have every pair. The same points always give the same, the fullest ones first."""
    pairs = Pairs(points)
    rows: list[Row] = []
    while pairs.left:
        row = pairs.next_row(shuffled(points, len(rows)))
        pairs.cover(row)
        rows.append({point: row[point] for point in points})
    return rows


def shuffled(points: Iterable[str], number: int) -> list[str]:
    """Return the points in an order that looks random and is the same on every machine."""
    return sorted(points, key=lambda point: hashlib.sha256(f"{number}/{point}".encode()).digest())
