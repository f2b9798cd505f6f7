# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Divides services into batches: never more than a size at once, and each after those that it comes after."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..shared.task_errors import Invalid

SHARE = re.compile(r"(\d{1,6})(%?)")


@dataclass(frozen=True)
class Share:
    """A number of services, or a part of them in percent."""

    amount: int
    percent: bool = False

    def of(self, total: int) -> int:
        """Return the number, rounded down."""
        return total * self.amount // 100 if self.percent else self.amount


def read_share(text: str, name: str, *, least: int) -> Share:
    """Return the number or percentage that an option holds."""
    found = SHARE.fullmatch(text.strip())
    amount = int(found[1]) if found else -1
    percent = bool(found and found[2])
    if amount < least or (percent and amount > 100):
        raise Invalid(
            f"{name} is {text!r}; it must be a number of {least} or more, or a percentage such as 25%"
        )
    return Share(amount, percent)


def batch_sizes(sizes: Sequence[Share], total: int, canary: bool) -> Iterator[int]:
    """Yield the size of each batch, at least 1. The last one holds for all further batches."""
    if canary:
        yield 1
    numbers = [max(1, size.of(total)) for size in sizes]
    yield from numbers[:-1]
    while True:
        yield numbers[-1]


def plan_batches(
    ids: Sequence[str], before: Mapping[str, Collection[str]], sizes: Iterator[int]
) -> list[list[str]]:
    """Return the services in batches, in the order given as far as ``before`` allows.

    ``before`` holds for each service those whose batches come before its own. Others than ``ids`` in it do
    not matter.

    :raises ValueError: if services come before each other.
    """
    batches: list[list[str]] = []
    left = list(ids)
    while left:
        waiting = set(left)
        ready = [id for id in left if waiting.isdisjoint(before.get(id, ()))]
        if not ready:
            raise ValueError(f"there is no order between {', '.join(left)}")
        batch = ready[: next(sizes)]
        batches.append(batch)
        left = [id for id in left if id not in batch]
    return batches


def turned_around(needs: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Return for each service those that need it: these stop before it."""
    found: dict[str, set[str]] = {id: set() for id in needs}
    for id, others in needs.items():
        for other in others:
            found.setdefault(other, set()).add(id)
    return found
