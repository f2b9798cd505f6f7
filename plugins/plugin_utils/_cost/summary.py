# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sums what the tasks of a run did to the price: a row for each service, a sum for each currency."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import groupby
from typing import Any

from ...module_utils._resources.shared.money import format_amount
from .entries import Entry

Row = list[Entry]
"""What a run did to the price of one service: from its first rate to its last."""


def summarize(entries: Iterable[Entry]) -> list[dict[str, Any]]:
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
    return [summary_of(part) for part in (done, left) if part]


def summary_of(entries: Sequence[Entry]) -> dict[str, Any]:
    """Return the summary of entries that were all made, or all predicted, with amounts as text."""
    by_service: dict[tuple[Any, ...], Row] = {}
    for entry in entries:
        if entry.moves:
            by_service.setdefault(key_of(by_service, entry), []).append(entry)
    rows = list(by_service.values())
    by_currency: dict[str | None, list[Row]] = {}
    for row in rows:
        by_currency.setdefault(newest(row, "currency"), []).append(row)
    unpriced = [entry for row in rows if change_of(row) is None for entry in row if entry.reason]
    return {
        "check_mode": entries[0].origin.check_mode,
        "services": [service_of(row) for row in rows],
        "totals": [total_of(each, by_currency[each]) for each in by_currency if has_sum(by_currency[each])],
        "not_priced": [gap_of(each) for each in [*unpriced, *(each for each in entries if not each.moves)]],
    }


def key_of(rows: Iterable[tuple[Any, ...]], entry: Entry) -> tuple[Any, ...]:
    """Return what tells services apart: the id or, for one that is not there yet, its name and project.

    A task that names no project would find the service that an earlier one orders, if only one has the name.
    """
    if entry.service_id is not None:
        return (entry.platform, "id", entry.service_id)
    key = (entry.platform, "name", entry.service, entry.project)
    namesakes = [each for each in rows if each[:3] == key[:3]]
    return namesakes[0] if entry.project is None and len(namesakes) == 1 else key


def newest(row: Iterable[Entry], name: str) -> Any:
    """Return what the last entry says that tells of this; ``None`` if none does."""
    told = [value for each in row if (value := getattr(each, name)) is not None]
    return told[-1] if told else None


def change_of(row: Row) -> Decimal | None:
    """Return the difference in a month; ``None`` if it cannot be known."""
    before, after = row[0].before, row[-1].after
    return None if before is None or after is None else after - before


def service_of(row: Row) -> dict[str, Any]:
    """Return the row of a service. In check mode, each task orders what is not there yet: told once."""
    return {
        "service": newest(row, "service"),
        "service_id": row[-1].service_id,
        "project": newest(reversed(row), "project"),
        "actions": [move for move, _again in groupby(move for each in row for move in each.moves)],
        "monthly_before": format_amount(row[0].before),
        "monthly_after": format_amount(row[-1].after),
        "monthly_change": format_amount(change_of(row)),
        "currency": newest(row, "currency"),
    }


def orders_of(rows: Iterable[Row]) -> list[Entry]:
    """Return the entries that a quote came before: the last order of each service."""
    ordered = ([each for each in row if "order" in each.moves] for row in rows)
    return [orders[-1] for orders in ordered if orders]


def has_sum(rows: Sequence[Row]) -> bool:
    """Tell whether there is anything to sum: a price, or what a quote says."""
    return bool(orders_of(rows)) or any(change_of(row) is not None for row in rows)


def total_of(currency: str | None, rows: Sequence[Row]) -> dict[str, Any]:
    """Return the sums of the services with a price of one currency, and what the quotes of orders say."""
    priced, orders = [row for row in rows if change_of(row) is not None], orders_of(rows)
    before = sum((row[0].before or Decimal(0) for row in priced), Decimal(0))
    after = sum((row[-1].after or Decimal(0) for row in priced), Decimal(0))
    due = [each.min_balance for each in orders if each.min_balance is not None]
    days = [each.days_covered for each in orders if each.days_covered is not None]
    return {
        "currency": currency,
        "monthly_before": format_amount(before),
        "monthly_after": format_amount(after),
        "monthly_change": format_amount(after - before),
        "due_today": format_amount(sum(due, Decimal(0))) if due else None,
        "balance": format_amount(newest(orders, "balance")),
        "days_covered": min(days, default=None),
    }


def gap_of(entry: Entry) -> dict[str, Any]:
    """Return what has no price, and why."""
    return {
        "task": entry.origin.task,
        "host": entry.origin.host,
        "service": entry.service,
        "service_id": entry.service_id,
        "actions": list(entry.moves),
        "reason": entry.reason,
    }
