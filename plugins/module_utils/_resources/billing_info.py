# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what the account has, spends and was billed (Billing)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from .._api.client import Client
from .._api.errors import NotFoundResponse, Refused, UnexpectedAnswer
from .shared.money import add_currency_units
from .shared.options import Options, option
from .shared.pages import Query, describes_paging, entries_in, has_more, read_list
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid

PERIOD = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
OVERVIEW, WALLET, TRANSACTIONS = "overview", "wallet", "transactions"
NOT_SHOWN: Mapping[str, Callable[[Client, Query], Any]] = {
    "daily_spend": Client.daily_spend,
    "invoices": Client.invoices,
    "statements": Client.statements,
}
"""Parts of which the specification does not show a field."""
PARTS = [OVERVIEW, WALLET, TRANSACTIONS, *NOT_SHOWN]
PAGES_UNKNOWN = (
    "the response does not show whether there are more pages, and how to request them is not documented"
)
PASSED_ON = "; transactions_query passes parameters to the platform"


@dataclass(frozen=True, kw_only=True)
class BillingInfoOptions(Options):
    """Which parts of the account's money to read."""

    include: list[Literal["overview", "wallet", "transactions", "daily_spend", "invoices", "statements"]] = (
        option(["overview", "wallet"])
    )
    period: str | None = option(None, selects=True)
    transactions_query: dict[str, Any] = option({})


class BillingInfoResource(Resource[BillingInfoOptions]):
    """The account's money. Only what is asked for is read."""

    result_key = "billing"

    def plan(self, task: Task[BillingInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        check_period(task.options.period)
        if not task.options.include and task.options.period is None:
            raise Invalid(
                "include is an empty list and period is not set, so there is nothing to read; name parts, or "
                "leave include out"
            )
        parts, client = task.options.include, task.client
        found: dict[str, Any] = {}
        notes: dict[str, str] = {}
        if OVERVIEW in parts:
            found[OVERVIEW] = add_currency_units(client.billing_overview().as_dict())
        if WALLET in parts:
            found[WALLET] = add_currency_units(client.wallet().as_dict())
        if TRANSACTIONS in parts:
            found[TRANSACTIONS] = transactions(client, task.options.transactions_query, notes)
        for part in [part for part in NOT_SHOWN if part in parts]:
            found[part] = all_pages(partial(NOT_SHOWN[part], client), part, notes)
        if task.options.period is not None:
            found["statement"] = statement(client, task.options.period, notes)
        return Plan(result={**found, "notes": notes})


BILLING_INFO = BillingInfoResource()


def check_period(period: str | None) -> None:
    """Hold the form of a period (Billing).

    :raises Invalid: with what was given.
    """
    if period is not None and not PERIOD.fullmatch(period):
        raise Invalid(f"period is {period!r}; it must be a month of the form YYYY-MM, such as 2026-11")


def transactions(client: Client, query: Mapping[str, Any], notes: dict[str, str]) -> Any:
    """Return the transactions of all pages as one list, where the pages are linked by ``nextCursor``.

    How they are is not shown. See :func:`all_pages` for any other answer.

    :raises UnexpectedAnswer: when a cursor comes twice: the list would never end.
    """
    found: list[Any] = []
    seen: set[Any] = set()
    asked = dict(query)
    while True:
        page = client.transactions(asked)
        if not (isinstance(page, dict) and "nextCursor" in page and isinstance(page.get("items"), list)):
            if found:
                notes[TRANSACTIONS] = PAGES_UNKNOWN + PASSED_ON
                return found
            return all_pages(
                resume_pages(page, lambda more: client.transactions({**query, **more})), TRANSACTIONS, notes
            )
        found += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return found
        if str(cursor) in seen:
            raise UnexpectedAnswer(f"transactions: the platform repeats the cursor {cursor!r}; stopped")
        seen.add(str(cursor))
        asked["cursor"] = cursor


def resume_pages(first: Any, read: Callable[[Query], Any]) -> Callable[[Query], Any]:
    """Return what reads pages of which the first one is there already."""
    return lambda query: read(query) if query else first


def all_pages(read: Callable[[Query], Any], part: str, notes: dict[str, str]) -> Any:
    """Return a list as it came where it is whole, and the entries of all pages where it is cut.

    Neither form is documented. A note says if entries are missing, or may be.
    """
    first = read({})
    entries = entries_in(first)
    if entries is None or not has_more(first, len(entries)):
        if entries is None or not describes_paging(first):
            notes[part] = PAGES_UNKNOWN + (PASSED_ON if part == TRANSACTIONS else "")
        return first
    listed = read_list(resume_pages(first, read))
    if listed is None:
        return first
    if not listed.whole:
        count = f"{len(listed.entries)} of {listed.total}" if listed.total else f"only {len(listed.entries)}"
        notes[part] = (
            f"the platform returned {count} entries, and how to request the others is not documented"
        )
    return list(listed.entries)


def statement(client: Client, period: str, notes: dict[str, str]) -> Any:
    """Return the statement of a month as it comes; nothing and a note when there is none.

    With which status one is refused that does not exist is not shown. Where the token opens the list of
    statements, it is not for the token.
    """
    try:
        return client.statement(period)
    except Refused as error:
        if not isinstance(error, NotFoundResponse):
            client.statements()
        notes["statement"] = f"there is no statement of {period}: {error.message}"
        return None
