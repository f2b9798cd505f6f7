# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading whose token it is, and the account's money where the token may (Authentication, Billing)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._api.errors import AccessDenied
from .._api.models import Model
from .shared.money import add_currency_units
from .shared.options import Options
from .shared.plan import Plan, Resource, Task


class AccountInfoResource(Resource[Options]):
    """The account behind the token. A token of scope REGISTRY will do."""

    result_key = "account"

    def plan(self, task: Task[Options]) -> Plan:
        """Read; there is nothing to do."""
        account = task.client.whoami().as_dict()
        notes: dict[str, str] = {}
        account["wallet"] = if_allowed("wallet", task.client.wallet, notes)
        return Plan(result={**account, "notes": notes})


ACCOUNT_INFO = AccountInfoResource()


def if_allowed(part: str, read: Callable[[], Model], notes: dict[str, str]) -> Any:
    """Return a part with its amounts in currency units; nothing and a note where the token may not read it.

    Which scope the routes of billing need is not shown; the token as such was accepted before.
    """
    try:
        return add_currency_units(read().as_dict())
    except AccessDenied as error:
        notes[part] = error.message
        return None
