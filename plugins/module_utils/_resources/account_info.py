# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading whose token it is, and the account's money where the token may (Authentication, Billing)."""

from __future__ import annotations

from .._api.errors import AccessDenied
from .shared.money import add_currency_units
from .shared.options import Options
from .shared.plan import Plan, Resource, Task


class AccountInfoResource(Resource[Options]):
    """The account behind the token. A token of scope REGISTRY will do."""

    result_key = "account"

    def plan(self, task: Task[Options]) -> Plan:
        """Read; there is nothing to do."""
        account, notes = task.client.whoami().as_dict(), dict[str, str]()
        account["wallet"] = None
        try:
            account["wallet"] = add_currency_units(task.client.wallet().as_dict())
        except AccessDenied as error:  # which scope it needs is not shown; the token as such was accepted
            notes["wallet"] = error.message
        return Plan(result={**account, "notes": notes})


ACCOUNT_INFO = AccountInfoResource()
