# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the account's money: what is shown becomes currency units, what is not comes as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    NotFoundResponse,
    UnexpectedAnswer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.billing_info import BILLING_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import run

SHAPES = ["daily_spend", "invoices", "statements", "transactions"]


@pytest.fixture(scope="module")
def server() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Account(FakeClient):
    """An account whose transactions are pages, one for each call."""

    def __init__(self, *pages: Any) -> None:
        super().__init__()
        self.pages = list(pages)
        self.queries: list[dict[str, Any]] = []

    def transactions(self, query: dict[str, Any]) -> Any:
        self.queries.append(dict(query))
        return self.pages.pop(0)

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


def test_pages_linked_by_a_cursor_are_one_list() -> None:
    client = Account(
        {"items": [1, 2], "nextCursor": "a"},
        {"items": [3], "nextCursor": 7},
        {"items": [], "nextCursor": None},
    )
    billing = read(client, include=["transactions"], transactions_query={"size": 2})
    assert billing == {"transactions": [1, 2, 3], "notes": {}}
    assert client.queries == [{"size": 2}, {"size": 2, "cursor": "a"}, {"size": 2, "cursor": 7}]


@pytest.mark.parametrize("page", [[{"type": "DEPOSIT"}], {"items": [], "page": 1}, {"nextCursor": "a"}, None])
def test_any_other_page_comes_as_it_is_with_a_note(page: Any) -> None:
    billing = read(Account(page), include=["transactions"])
    assert billing["transactions"] == page
    assert "more pages" in billing["notes"]["transactions"]


def test_a_cursor_that_comes_twice_ends_the_reading() -> None:
    with pytest.raises(UnexpectedAnswer, match="repeats the cursor 'a'"):
        read(Account(*[{"items": [1], "nextCursor": "a"}] * 3), include=["transactions"])


def test_a_statement_comes_as_it_is() -> None:
    assert read(Account(), include=[], period="2026-10")["statement"] == {"any": ["thing", "2026-10"]}


@pytest.mark.parametrize("status", ["403", "400"])
def test_a_month_without_statement_may_have_any_status(server: Sandbox, status: str) -> None:
    """What the token does not open either is an error all the same."""
    server.reset(profile="plain", values={"absent.status": status})
    billing = run(server, BILLING_INFO, include=[], period="1999-12")["billing"]
    assert billing["statement"] is None
    assert "there is no statement of 1999-12" in billing["notes"]["statement"]
    refused = run(server, BILLING_INFO, include=[], period="1999-12", token=server.registry_token)
    assert refused["failed"] and "scope" in refused["msg"]


def test_a_month_without_statement() -> None:
    billing = read(Account(), include=[], period="1999-12")
    assert billing["statement"] is None
    assert "1999-12" in billing["notes"]["statement"]


@pytest.mark.parametrize("period", ["2026-13", "2026-1", "2026-10-01", "202610", "٢٠٢٦-10", ""])
def test_a_period_that_is_none(period: str) -> None:
    with pytest.raises(Invalid, match="YYYY-MM"):
        read(Account(), period=period)


@pytest.mark.parametrize("page", ["cursor", "page number", "whole array"])
def test_a_real_platform_in_any_shape(page: str) -> None:
    with Sandbox() as sandbox:
        sandbox.profile("plain", **({} if page == "cursor" else {"transactions.page": page}))
        for number in range(25):
            sandbox.operator("accounts/account-main", balance_cents=1_000_100 + 100 * number)
        result = run(sandbox, BILLING_INFO, include=["overview", "wallet", *SHAPES])
    billing = result["billing"]
    assert billing["wallet"]["balance"] == billing["overview"]["balance"] == "10025.00"
    found = billing["transactions"]
    assert ("transactions" in billing["notes"]) is (page == "whole array")
    assert len(found) == 26


LENGTHS = {"daily_spend": 22, "invoices": 12, "statements": 13}
"""How many days, or months that are over, or months an account of a year and 22 days has."""


@pytest.mark.parametrize("part", LENGTHS)
@pytest.mark.parametrize("shape", POINTS["list.daily_spend"].values)
def test_a_list_that_is_cut_is_read_whole_or_said_to_be_cut(server: Sandbox, shape: str, part: str) -> None:
    """No page has more than five entries."""
    server.reset(profile="plain", values={f"list.{part}": shape}, clock="2025-01-01T12:00:00.000Z")
    server.seed({"services": [{"name": "mc", "product": "minecraft"}], "balance_cents": 1_000_000})
    server.clock(freeze=True, advance=(365 + 21) * 86400)
    billing = run(server, BILLING_INFO, include=[part])["billing"]
    found, note = billing[part], billing["notes"].get(part, "")
    entries = found if isinstance(found, list) else found["items"]
    assert len(entries) == (5 if shape in ("cut", "the newest and total") else LENGTHS[part])
    assert all(entries.count(entry) == 1 for entry in entries)
    told = {"the newest and total": f"5 of {LENGTHS[part]} entries", "cursor": ""}
    if "page number" not in shape:
        assert told.get(shape, "does not show whether there are more pages") in note
    assert bool(note) is (shape in ("cut", "the newest and total", "items", "array"))
    asked = [line["query"] for line in server.journal(f"billing.{part}")]
    if "page number" in shape or shape == "cursor":
        assert len(asked) == -(-LENGTHS[part] // 5)
