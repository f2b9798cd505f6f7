# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Summing what the tasks of a run did to the price: a row for each service, a sum for each currency."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

from ...module_utils._resources.shared.money import format_amount
from .entries import Entry

SCHEMA = 1
"""The version of the JSON. A new key does not change it; another meaning of one does."""


@dataclass
class Row:
    """What a run did to the price of one service: from its first rate to its last."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def service(self) -> str | None:
        """Its name, as the last entry that has one says."""
        return next((each.service for each in reversed(self.entries) if each.service), None)

    @property
    def service_id(self) -> str | None:
        """Its id; ``None`` for one that is not there yet."""
        return self.entries[-1].service_id

    @property
    def project(self) -> str | None:
        """The project that it is ordered in, if a task named one."""
        return next((each.project for each in self.entries if each.project), None)

    @property
    def actions(self) -> list[str]:
        """What was done with it, in its order. In check mode, each task orders what is not there yet."""
        return [move for move, _again in groupby(move for each in self.entries for move in each.moves)]

    @property
    def order(self) -> Entry | None:
        """Its order, the last one in check mode."""
        return next((each for each in reversed(self.entries) if "order" in each.moves), None)

    @property
    def before(self) -> Decimal | None:
        """What it cost in a month before the run."""
        return self.entries[0].before

    @property
    def after(self) -> Decimal | None:
        """What it costs in a month after the run."""
        return self.entries[-1].after

    @property
    def change(self) -> Decimal | None:
        """The difference; ``None`` if it cannot be known."""
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def currency(self) -> str | None:
        """Its currency, where a task named it."""
        return next((each.currency for each in reversed(self.entries) if each.currency), None)

    @property
    def unpriced(self) -> list[Entry]:
        """The entries that leave it without a price."""
        return [each for each in self.entries if each.reason] if self.change is None else []


@dataclass(frozen=True)
class Total:
    """The sums of the rows with a price of one currency."""

    currency: str | None
    rows: Sequence[Row]

    @property
    def has_price(self) -> bool:
        """Whether there is anything to sum."""
        return any(row.change is not None for row in self.rows)

    def sum_of(self, name: str) -> Decimal:
        """Return the sum of one column of the rows that have a price."""
        return sum((getattr(row, name) for row in self.rows if row.change is not None), Decimal(0))

    @property
    def orders(self) -> list[Entry]:
        """The entries that a quote came before."""
        return [row.order for row in self.rows if row.order is not None]

    @property
    def due_today(self) -> Decimal | None:
        """The least balance that the platform asks for the first day of all orders, where quotes tell it."""
        asked = [each.min_balance for each in self.orders if each.min_balance is not None]
        return sum(asked, Decimal(0)) if asked else None

    @property
    def balance(self) -> Decimal | None:
        """The balance, as the last quote told it."""
        return next((each.balance for each in reversed(self.orders) if each.balance is not None), None)

    @property
    def days_covered(self) -> int | None:
        """The lowest number of days that a quote says the balance covers."""
        return min((each.days_covered for each in self.orders if each.days_covered is not None), default=None)

    def as_dict(self) -> dict[str, Any]:
        """Return it for the JSON, with amounts as text."""
        return {
            "currency": self.currency,
            "monthly_before": format_amount(self.sum_of("before")),
            "monthly_after": format_amount(self.sum_of("after")),
            "monthly_change": format_amount(self.sum_of("change")),
            "due_today": format_amount(self.due_today),
            "balance": format_amount(self.balance),
            "days_covered": self.days_covered,
        }


@dataclass(frozen=True)
class Summary:
    """What the tasks of a run did to the price, or would do: those in check mode are apart."""

    check_mode: bool
    rows: Sequence[Row]
    totals: Sequence[Total]
    not_priced: Sequence[Entry]

    def as_dict(self) -> dict[str, Any]:
        """Return it for the JSON, with amounts as text."""
        return {
            "check_mode": self.check_mode,
            "services": [
                {
                    "service": row.service,
                    "service_id": row.service_id,
                    "project": row.project,
                    "actions": row.actions,
                    "monthly_before": format_amount(row.before),
                    "monthly_after": format_amount(row.after),
                    "monthly_change": format_amount(row.change),
                    "currency": row.currency,
                }
                for row in self.rows
            ],
            "totals": [total.as_dict() for total in self.totals],
            "not_priced": [
                {
                    "task": each.origin.task,
                    "host": each.origin.host,
                    "service": each.service,
                    "service_id": each.service_id,
                    "actions": list(each.moves),
                    "reason": each.reason,
                }
                for each in self.not_priced
            ],
        }


def key_of(entry: Entry) -> tuple[Any, ...]:
    """Return what tells services apart: the id or, for one that is not there yet, its name and project."""
    if entry.service_id is not None:
        return (entry.platform, "id", entry.service_id)
    return (entry.platform, "name", entry.service, entry.project)


def row_of(rows: dict[tuple[Any, ...], Row], entry: Entry) -> Row:
    """Return the row of an entry, a new one if there is none.

    A task that names no project would find the service that an earlier one orders, if only one has the name.
    """
    key = key_of(entry)
    if entry.service_id is None and entry.project is None:
        namesakes = [each for each in rows if each[:3] == key[:3]]
        key = namesakes[0] if len(namesakes) == 1 else key
    return rows.setdefault(key, Row())


def summarize(entries: Iterable[Entry]) -> list[Summary]:
    """Return what was done and, after it, what check mode would do; neither if there is nothing of it.

    What was predicted for a service and then done, as by a role that looks first, is told once.
    """
    done, left = list[Entry](), list[Entry]()
    for entry in entries:
        if entry.origin.check_mode:
            left.append(entry)
            continue
        done.append(entry)
        if entry.moves:
            told = (entry.platform, entry.project, entry.service)
            left = [each for each in left if (each.platform, each.project, each.service) != told]
    return [summarize_part(part, part[0].origin.check_mode) for part in (done, left) if part]


def summarize_part(entries: Sequence[Entry], check_mode: bool) -> Summary:
    """Return the summary of entries that were all made, or all predicted."""
    rows: dict[tuple[Any, ...], Row] = {}
    for entry in entries:
        if entry.moves:
            row_of(rows, entry).entries.append(entry)
    by_currency: dict[str | None, list[Row]] = {}
    for row in rows.values():
        by_currency.setdefault(row.currency, []).append(row)
    hidden = [entry for entry in entries if not entry.moves]
    return Summary(
        check_mode,
        list(rows.values()),
        [total for total in map(Total, by_currency, by_currency.values()) if total.has_price or total.orders],
        [*(entry for row in rows.values() for entry in row.unpriced), *hidden],
    )


def as_json(summaries: Sequence[Summary]) -> Mapping[str, Any]:
    """Return the content of the file."""
    return {"schema": SCHEMA, "runs": [summary.as_dict() for summary in summaries]}
