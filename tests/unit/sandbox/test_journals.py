# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections Endpoints / Journals, activity, consumption, Endpoints / Billing, and Events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hosted_sandbox.testing import NO_DELAYS, Sandbox

Order = Callable[..., str]
DAY = 86_400


@pytest.mark.rule("logs")
@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 200),
        ("?lines=1", 200),
        ("?lines=100", 200),
        ("?lines=0", 400),
        ("?lines=101", 400),
        ("?lines=x", 400),
    ],
)
def test_lines_have_bounds(sandbox: Sandbox, order: Order, query: str, status: int) -> None:
    assert sandbox.api("GET", f"/api/resources/{order()}/logs{query}").status_code == status


@pytest.mark.rule("logs")
def test_a_dead_service_can_be_read(sandbox: Sandbox, order: Order) -> None:
    key = order(variables={"SANDBOX_CRASH_AFTER": "1"})
    sandbox.clock(advance=5)
    sandbox.operator("nodes/node-paris-1", reachable=False)
    lines = sandbox.api("GET", f"/api/resources/{key}/logs").json()["lines"]
    assert "exited" in lines[-1]


@pytest.mark.rule("events-pages")
def test_events_come_in_pages(sandbox: Sandbox, order: Order) -> None:
    key = order()
    for __ in range(20):
        sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "start"})
    seen: list[str] = []
    cursor: str | None = None
    while True:
        query = f"?cursor={cursor}" if cursor else ""
        page = sandbox.api("GET", f"/api/resources/{key}/events{query}").json()
        seen += [event["type"] for event in page["items"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert seen[::-1] == ["CREATED", "PROVISIONED", *["POWER_START"] * 20]
    assert sandbox.api("GET", f"/api/resources/{key}/events?cursor=never").status_code == 400


@pytest.mark.rule("events-operator")
def test_the_operator_appears_in_the_journal(sandbox: Sandbox, order: Order) -> None:
    key = order()
    sandbox.operator(f"services/{key}/events", type="NODE_MOVED")
    newest = sandbox.api("GET", f"/api/resources/{key}/events").json()["items"][0]
    assert newest["type"] == "NODE_MOVED"


@pytest.mark.rule("usage-complete", "limit-range")
def test_usage_is_complete(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.clock(advance=3 * DAY)
    usage = sandbox.api("GET", f"/api/resources/{key}/usage").json()
    assert (usage["range"], len(usage["days"])) == (30, 30)
    assert usage["totalCents"] == sum(day["totalCents"] for day in usage["days"]) > 0
    assert usage["days"][0]["totalCents"] == 0
    assert sandbox.api("GET", f"/api/resources/{key}/usage?range=0").status_code == 400
    assert len(sandbox.api("GET", f"/api/resources/{key}/usage?range=7").json()["days"]) == 7


@pytest.mark.rule("bounds")
def test_every_bound_is_needed(sandbox: Sandbox, order: Order) -> None:
    key = order()
    bounds = {f"{name}Start": "2026-01-01T00:00:00Z" for name in ("hour", "day", "week", "month")}
    path = f"/api/resources/{key}/billed-totals"
    assert sandbox.api("GET", path, params=bounds).status_code == 200
    for name in bounds:
        answer = sandbox.api("GET", path, params={**bounds, name: ""})
        assert answer.status_code == 400
        assert name in answer.json()["message"]
        assert sandbox.api("GET", path, params={**bounds, name: "soon"}).status_code == 400


@pytest.mark.rule("bounds", "billing-read-only")
def test_everything_adds_up(sandbox: Sandbox, order: Order) -> None:
    sandbox.reset(profile="plain", clock="2026-01-15T12:00:00Z", delays=NO_DELAYS)  # every month costs
    sandbox.clock(freeze=True)
    start = sandbox.clock()["now"]
    keys = [order(), order("linux", "box")]
    sandbox.clock(advance=40 * DAY + 12_345)
    bounds = dict.fromkeys(("hourStart", "dayStart", "weekStart", "monthStart"), start)
    billed = [
        sandbox.api("GET", f"/api/resources/{key}/billed-totals", params=bounds).json()["monthCents"]
        for key in keys
    ]
    wallet = sandbox.api("GET", "/api/wallet").json()
    assert wallet["balanceCents"] == 1_000_000 - sum(billed)
    statements = sandbox.api("GET", "/api/billing/statements").json()["items"]
    assert sum(statement["totalCents"] for statement in statements) == sum(billed)
    for statement in statements:
        detail = sandbox.api("GET", f"/api/billing/statements/{statement['period']}").json()
        assert sum(service["totalCents"] for service in detail["services"]) == statement["totalCents"]
    days = sandbox.api("GET", "/api/billing/daily-spend").json()["items"]
    assert sum(day["totalCents"] for day in days) == statements[-1]["totalCents"]
    invoices = sandbox.api("GET", "/api/billing/invoices").json()["items"]
    assert [invoice["totalCents"] for invoice in invoices] == [s["totalCents"] for s in statements[:-1]]


@pytest.mark.rule("billing-read-only")
def test_billing_takes_no_writes(sandbox: Sandbox) -> None:
    for path in ("/api/wallet", "/api/wallet/transactions", "/api/billing/overview"):
        assert sandbox.api("POST", path, {"cents": 1}).status_code == 404
    assert sandbox.api("GET", "/api/billing/statements/2026-13").status_code == 400
    assert sandbox.api("GET", "/api/billing/statements/1999-01").status_code == 404


def test_transactions_are_listed_newest_first(sandbox: Sandbox) -> None:
    for cents in range(25):
        sandbox.operator("accounts/main", balance_cents=cents)
    whole = sandbox.api("GET", "/api/wallet/transactions").json()["items"]
    assert [entry["type"] for entry in whole] == ["ADJUSTMENT"] * 25 + ["DEPOSIT"]
    sandbox.profile("plain", **{"list.shape": "array"})
    assert sandbox.api("GET", "/api/wallet/transactions").json() == whole
    sandbox.profile("plain", **{"list.shape": "cursor"})
    found: list[object] = []
    cursor: str | None = ""
    while cursor is not None:
        page = sandbox.api("GET", "/api/wallet/transactions", params={"cursor": cursor}).json()
        found += page["items"]
        cursor = page["nextCursor"]
    assert found == whole and len(sandbox.journal("wallet.transactions")) == 2 + 6
