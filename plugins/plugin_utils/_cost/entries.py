# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what tasks did to the price from their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ...module_utils._resources.shared.money import to_decimal

COLLECTION = "hosted.services."
MONEY_MODULES = frozenset(
    {"app", "blueprint", "clone", "fleet", "recover", "relocate", "service", "sleep_plan"}
)
"""The modules that move money. The result of another one never holds a move."""
HIDDEN = "its result is hidden by no_log"
UNCONFIRMED = "it is not known whether the platform did it"
UNPRICED = "the platform does not tell its price"
NOT_COLLECTED = "it ran in the background, and no task read its result"


@dataclass(frozen=True)
class Origin:
    """Where a result comes from."""

    task: str
    host: str
    module: str
    check_mode: bool = False
    failed: bool = False

    @property
    def moves_money(self) -> bool:
        """Whether the module is one that moves money."""
        return self.module in MONEY_MODULES


@dataclass(frozen=True)
class Entry:
    """What one task, or one item of its loop, did to the price of one service. ``None`` where unknown."""

    origin: Origin
    service: str | None = None
    service_id: str | None = None
    project: str | None = None
    """The name of the project that it is ordered in, if the task names one."""
    platform: str | None = None
    moves: tuple[str, ...] = ()
    before: Decimal | None = None
    after: Decimal | None = None
    currency: str | None = None
    balance: Decimal | None = None
    min_balance: Decimal | None = None
    days_covered: int | None = None
    reason: str | None = None
    """Why it has no price."""


def read_result(result: Mapping[str, Any], origin: Origin) -> Iterator[Entry]:
    """Yield an entry for each move in the result of a task or of the items of its loop."""
    if not origin.moves_money:
        return
    if "results" in result and "cost" not in result:
        for item in result["results"]:
            yield from read_result(item, origin)
    elif "censored" in result:
        if result.get("changed") or origin.failed:
            yield Entry(origin, reason=HIDDEN)
    else:
        for one in (result, *(result.get("services") or ()), *(result.get("parts") or ())):
            if (one.get("cost") or {}).get("moves"):
                yield read_cost(one["cost"], result, origin)


def read_cost(cost: Mapping[str, Any], result: Mapping[str, Any], origin: Origin) -> Entry:
    """Return the entry for the ``cost`` of a result."""
    before, after = to_decimal(cost.get("monthly_before")), to_decimal(cost.get("monthly_after"))
    reason = None
    if before is None or after is None:
        reason = UNCONFIRMED if result.get("unconfirmed") else UNPRICED
    arguments = (result.get("invocation") or {}).get("module_args") or {}
    return Entry(
        origin,
        service=cost.get("service"),
        service_id=cost.get("service_id"),
        project=cost.get("project"),
        platform=arguments.get("base_url"),
        moves=tuple(cost["moves"]),
        before=before,
        after=after,
        currency=cost.get("currency"),
        balance=to_decimal(cost.get("balance")),
        min_balance=to_decimal(cost.get("min_balance")),
        days_covered=cost.get("days_covered"),
        reason=reason,
    )
