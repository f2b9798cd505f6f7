# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads what the tasks of a run did to the price, sums it by service and by currency, and shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any

from ...module_utils._api.text import in_one_line
from ...module_utils._resources.shared.money import format_amount, to_decimal

COLLECTION = "hosted.services."
MONEY_MODULES = frozenset(
    {"app", "blueprint", "clone", "fleet", "recover", "relocate", "service", "sleep_plan"}
)
"""The modules that move money. The result of another one never holds a move."""
HIDDEN = "its result is hidden by no_log"
UNCONFIRMED = "it is not known whether the platform did it"
UNPRICED = "the platform does not tell its price"
NOT_COLLECTED = "it ran in the background, and no task read its result"
NOTHING_MOVED = "No task changed what the services cost."
UNKNOWN = "unknown"
HEADINGS = ("service", "action", "monthly before", "after", "change")
AMOUNT_COLUMNS = (2, 3, 4)
LONGEST = 100
"""The longest name that is shown whole."""


@dataclass(frozen=True)
class Origin:
    task: str
    host: str
    module: str
    check_mode: bool = False
    failed: bool = False

    @property
    def moves_money(self) -> bool:
        return self.module in MONEY_MODULES


@dataclass(frozen=True)
class Entry:
    """What one task, or one item of its loop, did to the price of one service."""

    origin: Origin
    cost: Mapping[str, Any] = field(default_factory=dict)
    """As its result has it."""
    platform: str | None = None
    reason: str | None = None
    """Why it has no price."""

    @property
    def moves(self) -> Sequence[str]:
        return self.cost.get("moves") or ()

    def amount(self, name: str) -> Decimal | None:
        return to_decimal(self.cost.get(name))


Row = list[Entry]
"""What a run did to the price of one service: from its first rate to its last."""


def read_result(result: Mapping[str, Any], origin: Origin) -> Iterator[Entry]:
    """Yield an entry for each move in the result of a task or of the items of its loop."""
    if not origin.moves_money:
        return
    if "results" in result and "cost" not in result:
        for item in result["results"]:
            yield from read_result(item, origin)
        return
    if "censored" in result:
        if result.get("changed") or origin.failed:
            yield Entry(origin, reason=HIDDEN)
        return
    platform = ((result.get("invocation") or {}).get("module_args") or {}).get("base_url")
    unknown = UNCONFIRMED if result.get("unconfirmed") else UNPRICED
    for one in (result, *(result.get("services") or ()), *(result.get("parts") or ())):
        entry = Entry(origin, one.get("cost") or {}, platform)
        if entry.moves:
            priced = None not in (entry.amount("monthly_before"), entry.amount("monthly_after"))
            yield entry if priced else Entry(origin, entry.cost, platform, unknown)


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
            left = [each for each in left if named(each) != named(entry)]
    return [summary_of(part) for part in (done, left) if part]


def named(entry: Entry) -> tuple[Any, ...]:
    """Return what tells services apart that are not there yet."""
    return (entry.platform, "name", entry.cost.get("service"), entry.cost.get("project"))


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
    totals = [total_of(*each) for each in by_currency.items()]
    unpriced = [entry for row in rows if change_of(row) is None for entry in row if entry.reason]
    gaps = [*unpriced, *(each for each in entries if not each.moves)]
    return {
        "check_mode": entries[0].origin.check_mode,
        "services": [service_of(row) for row in rows],
        "totals": [total for total in totals if total],
        "not_priced": [
            {
                "task": entry.origin.task,
                "host": entry.origin.host,
                "service": entry.cost.get("service"),
                "service_id": entry.cost.get("service_id"),
                "actions": list(entry.moves),
                "reason": entry.reason,
            }
            for entry in gaps
        ],
    }


def key_of(rows: Iterable[tuple[Any, ...]], entry: Entry) -> tuple[Any, ...]:
    """Return what tells services apart: the id or, for one that is not there yet, its name and project.

    A task that names no project would find the service that an earlier one orders, if only one has the name.
    """
    if entry.cost.get("service_id") is not None:
        return (entry.platform, "id", entry.cost["service_id"])
    key = named(entry)
    namesakes = [each for each in rows if each[:3] == key[:3]]
    return namesakes[0] if key[3] is None and len(namesakes) == 1 else key


def newest(row: Iterable[Entry], name: str) -> Any:
    """Return what the last entry says that tells of this; ``None`` if none does."""
    told = [value for each in row if (value := each.cost.get(name)) is not None]
    return told[-1] if told else None


def change_of(row: Row) -> Decimal | None:
    """Return the difference in a month; ``None`` if it cannot be known."""
    before, after = row[0].amount("monthly_before"), row[-1].amount("monthly_after")
    return None if before is None or after is None else after - before


def service_of(row: Row) -> dict[str, Any]:
    """Return the row of a service. In check mode, each task orders what is not there yet: told once."""
    return {
        "service": newest(row, "service"),
        "service_id": row[-1].cost.get("service_id"),
        "project": newest(reversed(row), "project"),
        "actions": [move for move, _again in groupby(move for each in row for move in each.moves)],
        "monthly_before": format_amount(row[0].amount("monthly_before")),
        "monthly_after": format_amount(row[-1].amount("monthly_after")),
        "monthly_change": format_amount(change_of(row)),
        "currency": newest(row, "currency"),
    }


def total_of(currency: str | None, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return the sums of one currency, and what the last quotes say; ``None`` if there is neither."""
    priced = [row for row in rows if change_of(row) is not None]
    ordered = [[each for each in row if "order" in each.moves] for row in rows]
    orders = [each[-1] for each in ordered if each]
    if not priced and not orders:
        return None
    before = sum((row[0].amount("monthly_before") or Decimal(0) for row in priced), Decimal(0))
    after = sum((row[-1].amount("monthly_after") or Decimal(0) for row in priced), Decimal(0))
    due = [amount for each in orders if (amount := each.amount("min_balance")) is not None]
    days = [each.cost["days_covered"] for each in orders if each.cost.get("days_covered") is not None]
    return {
        "currency": currency,
        "monthly_before": format_amount(before),
        "monthly_after": format_amount(after),
        "monthly_change": format_amount(after - before),
        "due_today": format_amount(sum(due, Decimal(0))) if due else None,
        "balance": format_amount(to_decimal(newest(orders, "balance"))),
        "days_covered": min(days, default=None),
    }


# --- The table for people -------------------------------------------------------------------------------


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
