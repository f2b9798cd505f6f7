# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing the price of a run as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal

from ...module_utils._api.text import in_one_line
from ...module_utils._resources.shared.money import format_amount
from .summary import Row, Summary, Total

NOTHING_MOVED = "No task changed what the services cost."
UNKNOWN = "unknown"
HEADINGS = ("service", "action", "monthly before", "after", "change")
AMOUNT_COLUMNS = (2, 3, 4)
LONGEST = 100
"""The longest name that is shown whole."""


def write_table(summary: Summary) -> list[str]:
    """Return the lines of the table, of its sums, and of what has no price."""
    sums = [total_cells(total) for total in summary.totals if total.has_price]
    names = Counter(row.service for row in summary.rows)
    rows = [cells_of(row, names[row.service] > 1) for row in summary.rows]
    lines = align([HEADINGS, *rows, *sums]) if rows else []
    for total in summary.totals:
        lines += write_funds(total)
    if summary.not_priced:
        lines.append("Not priced, and in no sum:")
    for entry in summary.not_priced:
        name = shown(entry.service or entry.service_id or UNKNOWN)
        what = f": {', '.join(entry.moves)} {name}" if entry.moves else ""
        origin = entry.origin
        lines.append(f"  - task {origin.task!r} on {origin.host}{what}; {entry.reason}")
    return [in_one_line(line) for line in lines]


def money(amount: Decimal | None, currency: str | None, sign: bool = False) -> str:
    """Write an amount with its currency; with a plus sign if it says how much more something costs."""
    text = format_amount(amount)
    if text is None or amount is None:
        return UNKNOWN
    plus = "+" if sign and amount > 0 else ""
    return f"{plus}{text} {currency}" if currency else f"{plus}{text}"


def shown(name: str) -> str:
    """Return a name in one line that leaves room for what stands beside it."""
    text = in_one_line(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def cells_of(row: Row, with_project: bool) -> Sequence[str]:
    """Return the cells of a service, with its project if others have its name."""
    place = f" (project {row.project})" if with_project and row.project else ""
    name = shown(f"{row.service or row.service_id or UNKNOWN}{place}")
    amounts = (money(row.before, row.currency), money(row.after, row.currency))
    return (name, ", ".join(row.actions), *amounts, money(row.change, row.currency, sign=True))


def total_cells(total: Total) -> Sequence[str]:
    """Return the cells of the row that sums up."""
    before, after = (money(total.sum_of(name), total.currency) for name in ("before", "after"))
    return ("sum for a month", "", before, after, money(total.sum_of("change"), total.currency, sign=True))


def write_funds(total: Total) -> list[str]:
    """Return what the quotes say of the balance."""
    lines = []
    if total.due_today is not None:
        lines.append(
            f"Needed today for the first day of the orders: {money(total.due_today, total.currency)}."
        )
    if total.balance is not None:
        lines.append(f"Balance when the last quote was read: {money(total.balance, total.currency)}.")
    if total.days_covered is not None:
        at_most = "at most " if len(total.orders) > 1 else ""
        lines.append(f"By the quotes, the balance covers {at_most}{total.days_covered} days.")
    return lines


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with their columns below each other: text at the left, amounts at the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    return [
        "  ".join(
            cell.rjust(width) if column in AMOUNT_COLUMNS else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
