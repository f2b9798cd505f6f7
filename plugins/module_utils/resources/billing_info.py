# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what the account has, spends and was billed (Billing)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from ..api.client import Client
from ..api.errors import NotFound, UnexpectedAnswer
from .money import with_units
from .plan import Plan, Resource, Task
from .problems import Invalid

PERIOD = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
OVERVIEW, WALLET, TRANSACTIONS = "overview", "wallet", "transactions"
NOT_SHOWN: Mapping[str, Callable[[Client], Any]] = {
    "daily_spend": Client.daily_spend,
    "invoices": Client.invoices,
    "statements": Client.statements,
}
"""Parts of which the specification does not show a field."""
PARTS = [OVERVIEW, WALLET, TRANSACTIONS, *NOT_SHOWN]
PAGES_UNKNOWN = (
    "the answer does not tell whether there are more pages, and how to ask for them is not shown; "
    "transactions_query passes on whatever this platform takes"
)


class BillingInfoResource(Resource):
    """The account's money. Only what is asked for is read."""

    noun = "billing"
    options: ClassVar[dict[str, Any]] = {
        "include": {"type": "list", "elements": "str", "choices": PARTS, "default": [OVERVIEW, WALLET]},
        "period": {"type": "str"},
        "transactions_query": {"type": "dict", "default": {}},
    }
    selectors = frozenset({"period"})

    def plan(self, task: Task) -> Plan:
        """Read; there is nothing to do."""
        check_period(task.options["period"])
        parts, client = task.options["include"], task.client
        found: dict[str, Any] = {}
        notes: dict[str, str] = {}
        if OVERVIEW in parts:
            found[OVERVIEW] = with_units(client.billing_overview().as_dict())
        if WALLET in parts:
            found[WALLET] = with_units(client.wallet().as_dict())
        if TRANSACTIONS in parts:
            found[TRANSACTIONS] = transactions(client, task.options["transactions_query"], notes)
        found.update({part: read(client) for part, read in NOT_SHOWN.items() if part in parts})
        if task.options["period"] is not None:
            found["statement"] = statement(client, task.options["period"], notes)
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

    How they are is not shown. Any other answer is returned as it came, with a note.

    :raises UnexpectedAnswer: when a cursor comes twice: the list would never end.
    """
    found: list[Any] = []
    seen: set[Any] = set()
    asked = dict(query)
    while True:
        page = client.transactions(asked)
        if not (isinstance(page, dict) and "nextCursor" in page and isinstance(page.get("items"), list)):
            notes[TRANSACTIONS] = PAGES_UNKNOWN
            return found or page
        found += page["items"]
        cursor = page["nextCursor"]
        if cursor is None:
            return found
        if str(cursor) in seen:
            raise UnexpectedAnswer(f"transactions: the platform repeats the cursor {cursor!r}; stopped")
        seen.add(str(cursor))
        asked["cursor"] = cursor


def statement(client: Client, period: str, notes: dict[str, str]) -> Any:
    """Return the statement of a month as it comes; nothing and a note when there is none."""
    try:
        return client.statement(period)
    except NotFound as error:
        notes["statement"] = f"there is no statement of {period}: {error.message}"
        return None
