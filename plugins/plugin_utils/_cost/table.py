# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writing the price of a run as a table for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from ...module_utils._api.text import in_one_line

NOTHING_MOVED = "No task changed what the services cost."
UNKNOWN = "unknown"
HEADINGS = ("service", "action", "monthly before", "after", "change")
AMOUNT_COLUMNS = (2, 3, 4)
LONGEST = 100
"""The longest name that is shown whole."""


def write_table(summary: Mapping[str, Any]) -> list[str]:
    """Return the lines of the table, of its sums, and of what has no price."""
    services, totals = summary["services"], summary["totals"]
    names = Counter(row["service"] for row in services)
    rows = [cells_of(row, name_of(row, names[row["service"]] > 1)) for row in services]
    priced = {row["currency"] for row in services if row["monthly_change"] is not None}
    sums = [cells_of(total, "sum for a month") for total in totals if total["currency"] in priced]
    lines = align([HEADINGS, *rows, *sums]) if rows else []
    for total in totals:
        orders = sum("order" in row["actions"] for row in services if row["currency"] == total["currency"])
        lines += write_funds(total, "at most " if orders > 1 else "")
    if summary["not_priced"]:
        lines.append("Not priced, and in no sum:")
    for gap in summary["not_priced"]:
        name = shown(gap["service"] or gap["service_id"] or UNKNOWN)
        what = f": {', '.join(gap['actions'])} {name}" if gap["actions"] else ""
        lines.append(f"  - task {gap['task']!r} on {gap['host']}{what}; {gap['reason']}")
    return [in_one_line(line) for line in lines]


def money(amount: str | None, currency: str | None) -> str:
    return UNKNOWN if amount is None else f"{amount} {currency}" if currency else amount


def shown(name: str) -> str:
    """Return a name in one line that leaves room for what stands beside it."""
    text = in_one_line(name)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def name_of(row: Mapping[str, Any], with_project: bool) -> str:
    """Return the name of a service, with its project if others have its name."""
    place = f" (project {row['project']})" if with_project and row["project"] else ""
    return shown(f"{row['service'] or row['service_id'] or UNKNOWN}{place}")


def cells_of(row: Mapping[str, Any], name: str) -> Sequence[str]:
    """Return the cells of a service or of a sum: a plus sign says how much more it costs."""
    before, after, change = (row[f"monthly_{when}"] for when in ("before", "after", "change"))
    plus = "+" if change is not None and Decimal(change) > 0 else ""
    amounts = [money(amount, row["currency"]) for amount in (before, after)]
    return (name, ", ".join(row.get("actions", ())), *amounts, f"{plus}{money(change, row['currency'])}")


def write_funds(total: Mapping[str, Any], at_most: str) -> list[str]:
    lines = []
    if total["due_today"] is not None:
        due = money(total["due_today"], total["currency"])
        lines.append(f"Needed today for the first day of the orders: {due}.")
    if total["balance"] is not None:
        balance = money(total["balance"], total["currency"])
        lines.append(f"Balance when the last quote was read: {balance}.")
    if total["days_covered"] is not None:
        lines.append(f"By the quotes, the balance covers {at_most}{total['days_covered']} days.")
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
