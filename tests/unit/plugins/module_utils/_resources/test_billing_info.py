# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the account's money: what is shown becomes currency units, what is not comes as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import NotFoundResponse
from ansible_collections.hosted.services.plugins.module_utils._resources.billing_info import BILLING_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import run


@pytest.fixture(scope="module")
def server() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Account(FakeClient):
    """An account with a balance, and statements since 2000."""

    def billing_overview(self) -> m.BillingOverview:
        return m.BillingOverview.model_validate({"balanceCents": -5, "currentHourlyBurnCents": 1.4722})

    def statement(self, period: str) -> Any:
        if period == "1999-12":
            raise NotFoundResponse("the platform refused (404): none", 404)
        return {"any": ["thing", period]}


def read(client: Account, **given: Any) -> dict[str, Any]:
    plan = BILLING_INFO.plan(task_of(BILLING_INFO, client, **given))
    assert not plan.changed
    billing: dict[str, Any] = plan.result
    return billing


def test_amounts_are_in_currency_units_too() -> None:
    overview = read(Account(), include=["overview"])["overview"]
    assert (overview["balance_cents"], overview["balance"]) == (-5, "-0.05")
    assert overview["current_hourly_burn_cents"] == "1.4722"
    assert overview["current_hourly_burn"] == "0.014722"
    assert overview["month_to_date_cents"] is None and overview["month_to_date"] is None


def test_only_what_is_asked_for_is_read() -> None:
    assert read(Account(), include=[], period="2026-10").keys() == {"statement", "notes"}


def test_a_task_that_reads_nothing_is_refused() -> None:
    """An empty variable does not pass for an account without money."""
    with pytest.raises(
        Invalid, match="include is an empty list and period is not set, so there is nothing to"
    ):
        read(Account(), include=[])


def test_a_statement_comes_as_it_is() -> None:
    assert read(Account(), include=[], period="2026-10")["statement"] == {"any": ["thing", "2026-10"]}


def test_a_month_without_statement() -> None:
    billing = read(Account(), include=[], period="1999-12")
    assert billing["statement"] is None
    assert "1999-12" in billing["notes"]["statement"]


@pytest.mark.parametrize("period", ["2026-13", "2026-1", "2026-10-01", "202610", "٢٠٢٦-10", ""])
def test_a_period_that_is_none(period: str) -> None:
    with pytest.raises(Invalid, match="YYYY-MM"):
        read(Account(), period=period)


@pytest.mark.parametrize("shape", POINTS["list.shape"].values)
def test_lists_are_read_whole(server: Sandbox, shape: str) -> None:
    """No page has more than five entries; the account has a year and 22 days."""
    server.reset(profile="plain", values={"list.shape": shape}, clock="2025-01-01T12:00:00.000Z")
    server.seed({"services": [{"name": "mc", "product": "minecraft"}], "balance_cents": 1_000_000})
    for number in range(25):
        server.operator("accounts/account-main", balance_cents=1_000_100 + 100 * number)
    server.clock(freeze=True, advance=(365 + 21) * 86400)
    lengths = {"transactions": 27, "daily_spend": 22, "invoices": 12, "statements": 13}
    billing = run(server, BILLING_INFO, include=[*lengths])["billing"]
    for part, length in lengths.items():
        entries = billing[part]
        assert len(entries) == length and all(entries.count(entry) == 1 for entry in entries), part
