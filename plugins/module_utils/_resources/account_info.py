# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading whose token it is, and what the account has, spends and was billed (Authentication, Billing)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from .._api import routes as r
from .._api.errors import AccessDenied, NotFoundResponse
from .shared.money import add_currency_units
from .shared.options import Options, option
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid

PERIOD = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")
OVERVIEW, WALLET = "overview", "wallet"
NOT_SHOWN = {
    "transactions": r.TRANSACTIONS,
    "daily_spend": r.DAILY_SPEND,
    "invoices": r.INVOICES,
    "statements": r.STATEMENTS,
}
"""Lists of which the specification does not show the fields."""


@dataclass(frozen=True, kw_only=True)
class AccountInfoOptions(Options):
    include: list[Literal["overview", "wallet", "transactions", "daily_spend", "invoices", "statements"]] = (
        option(["wallet"])
    )
    period: str | None = option(None, selects=True)


class AccountInfoResource(Resource[AccountInfoOptions]):
    """The account behind the token. Without more than the wallet, a token of scope REGISTRY will do."""

    result_key = "account"

    def plan(self, task: Task[AccountInfoOptions]) -> Plan:
        """Read what is asked for; there is nothing to do."""
        period = task.options.period
        if period is not None and not PERIOD.fullmatch(period):
            raise Invalid(f"period is {period!r}; it must be a month of the form YYYY-MM, such as 2026-11")
        parts, client, notes = task.options.include, task.client, dict[str, str]()
        found: dict[str, Any] = client.whoami().as_dict()
        if OVERVIEW in parts:
            found[OVERVIEW] = add_currency_units(client.billing_overview().as_dict())
        if WALLET in parts:
            found[WALLET] = None
            try:
                found[WALLET] = add_currency_units(client.wallet().as_dict())
            except AccessDenied as error:  # which scope it needs is not shown; the token as such was accepted
                notes[WALLET] = error.message
        for part in [part for part in NOT_SHOWN if part in parts]:
            found[part] = client.entries(NOT_SHOWN[part])
        if period is not None:
            found["statement"] = None
            try:
                found["statement"] = client.statement(period)
            except NotFoundResponse as error:
                notes["statement"] = f"there is no statement of {period}: {error.message}"
        return Plan(result={**found, "notes": notes})


ACCOUNT_INFO = AccountInfoResource()
