# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections Endpoints / Ordering, Projects, Journals, Billing, and Events."""

from __future__ import annotations

from typing import Any

import pytest

from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.sandbox.conftest import Order

BODY = {"productSlug": "minecraft", "hostId": "node-paris-1", "presetId": "preset-small"}


@pytest.mark.rule("order-cover", "order-quote", "conventions")
def test_an_order_needs_the_first_day(sandbox: Sandbox) -> None:
    """And a quote commits nothing."""
    quote = sandbox.api("POST", "/api/order/quote", BODY).json()
    assert (quote["monthlyMillicents"], quote["coversFirstDay"]) == (2 * 2400 + 4 * 1060 + 20 * 85, True)
    assert quote["monthlyCents"] == sum(line["monthlyCents"] for line in quote["lines"])
    sandbox.operator("accounts/main", balance_cents=quote["minBalanceCents"] - 1)
    assert sandbox.api("POST", "/api/order/quote", BODY).json()["coversFirstDay"] is False
    assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc"}).status_code == 400
    assert (sandbox.ledger()["orders"], sandbox.api("GET", "/api/resources").json()) == ([], {"items": []})
    sandbox.operator("accounts/main", balance_cents=quote["minBalanceCents"])
    assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc"}).status_code == 201


@pytest.mark.rule("limit-order-name")
def test_what_cannot_be_ordered(sandbox: Sandbox, order: Order) -> None:
    for change in (
        {"name": "n" * 81},
        {"name": ""},
        {"productSlug": "nothing"},
        {"hostId": "nowhere"},
        {"hostId": "node-metal-1"},
        {"presetId": "preset-none"},
        {"presetId": None},
        {"presetId": None, "dimensions": {"cpuCores": 99, "ramGb": 4, "storageGb": 20}},
        {"runtimeId": "runtime-none"},
        {"options": [{"optionId": "option-slots", "choiceId": "none"}]},
        {"variables": {"A": "${nobody.URL}"}},
    ):
        assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc", **change}).status_code == 400, change
    assert sandbox.ledger()["orders"] == []
    assert order(name="n" * 80)


@pytest.mark.rule("secrets-once")
def test_secrets_are_given_once(sandbox: Sandbox) -> None:
    body = {"productSlug": "postgresql", "hostId": "node-paris-1", "presetId": "preset-db", "name": "db"}
    ordered = sandbox.api("POST", "/api/order", body).json()
    values = {secret["value"] for secret in ordered["secrets"]}
    key = ordered["instanceId"]
    connection = sandbox.api("GET", f"/api/resources/{key}/database/connection").json()
    assert {connection["user"], connection["password"]} == values
    assert connection["password"] not in sandbox.api("GET", f"/api/resources/{key}").text


def _create(sandbox: Sandbox, name: str) -> str:
    return str(sandbox.api("POST", "/api/projects", {"name": name}).json()["id"])


@pytest.mark.rule("projects-name")
def test_a_name_is_unique_when_renaming_too(sandbox: Sandbox) -> None:
    """Within its account."""
    key = _create(sandbox, "one")
    _create(sandbox, "x" * 60)
    for name in ("x" * 61, "", "default", "one"):
        assert sandbox.api("POST", "/api/projects", {"name": name}).status_code == 400, name
    renamed = [sandbox.api("PATCH", f"/api/projects/{key}", {"name": n}) for n in ("x" * 60, "one", "three")]
    assert [answer.status_code for answer in renamed] == [400, 200, 200]
    assert sandbox.api("GET", f"/api/projects/{key}").json()["name"] == "three"
    other = {"Authorization": "Bearer sandbox-other-token"}
    assert sandbox.api("POST", "/api/projects", {"name": "three"}, headers=other).status_code == 201


@pytest.mark.rule("projects-delete", "projects-default")
def test_an_alias_of_a_deleted_project_may_be_taken(sandbox: Sandbox, order: Order) -> None:
    """Its services join the default one, which stays."""
    project = _create(sandbox, "games")
    first, second = order(name="mc"), order(name="mc", projectId=project)
    other = order(name="other", projectId=project)
    inside = sandbox.api("GET", f"/api/projects/{project}").json()["resources"]
    assert {service["id"] for service in inside} == {second, other}
    assert sandbox.api("DELETE", f"/api/projects/{project}").status_code == 200
    assert sandbox.api("GET", f"/api/projects/{project}").status_code == 404
    (default,) = sandbox.api("GET", "/api/projects").json()
    assert default["resourceCount"] == 3
    for key, named in ((first, "mc"), (second, "mc"), (other, "other")):
        assert sandbox.api("GET", f"/api/resources/{key}").json()["projectId"] == default["id"]
        network = sandbox.api("GET", f"/api/resources/{key}/settings").json()["network"]
        assert network["alias"] == named
    assert sandbox.api("DELETE", f"/api/projects/{default['id']}").status_code == 400


@pytest.mark.rule("spend-parts", "billing-read-only")
def test_parts_sum_to_the_cent(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    idle = order("hobby", "free")
    for number in range(3):
        order(name=f"mc{number}", options=[{"optionId": "option-slots", "choiceId": "slots-100"}])
        sandbox.clock(advance=54_321)
    (project,) = sandbox.api("GET", "/api/projects").json()
    spend = sandbox.api("GET", f"/api/projects/{project['id']}/consommation?range=2").json()
    assert spend["range"] == 2
    assert spend["totalCents"] == sum(day["totalCents"] for day in spend["days"])
    assert spend["totalCents"] == sum(service["totalCents"] for service in spend["services"]) > 0
    for service in spend["services"]:
        assert sum(part["cents"] for part in service["parts"]) == service["totalCents"]
        assert (service["parts"] == []) == (service["id"] == idle)


@pytest.mark.rule("graph-edges")
def test_the_graph_follows_references(sandbox: Sandbox, order: Order) -> None:
    database = order("postgresql", "db")
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    variables = {"A": "${db.HOST}", "B": "x", "C": "${db.PORT} ${db.USER}"}
    sandbox.api("PUT", "/api/apps/shop/environment", {"environment": variables})
    (project,) = sandbox.api("GET", "/api/projects").json()
    graph = sandbox.api("GET", f"/api/projects/{project['id']}/graphe").json()
    (edge,) = graph["edges"]
    shop = next(node for node in graph["nodes"] if node["alias"] == "shop")
    assert edge == {"from": shop["id"], "to": database, "through": ["A", "C"]}
    assert shop["position"] == {"x": 0, "y": 0}


@pytest.mark.rule("logs")
def test_a_dead_service_can_be_read(sandbox: Sandbox, order: Order) -> None:
    """As many lines as are asked for, within bounds."""
    path = f"/api/resources/{order(variables={'SANDBOX_CRASH_AFTER': '1'})}/logs"
    for lines, status in (("1", 200), ("100", 200), ("0", 400), ("101", 400), ("x", 400)):
        assert sandbox.api("GET", f"{path}?lines={lines}").status_code == status, lines
    sandbox.clock(advance=5)
    sandbox.operator("nodes/node-paris-1", reachable=False)
    assert "exited" in sandbox.api("GET", path).json()["lines"][-1]


@pytest.mark.rule("events-pages", "events-operator")
def test_events_come_in_pages(sandbox: Sandbox, order: Order) -> None:
    key = order()
    for __ in range(20):
        sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "start"})
    sandbox.operator(f"services/{key}/events", type="NODE_MOVED")
    found = _all_pages(sandbox, f"/api/resources/{key}/events")
    assert [event["type"] for event in found] == [
        "NODE_MOVED",
        *["POWER_START"] * 20,
        "PROVISIONED",
        "CREATED",
    ]
    assert sandbox.api("GET", f"/api/resources/{key}/events?cursor=never").status_code == 400


@pytest.mark.rule("usage-complete", "limit-range")
def test_usage_is_complete(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.clock(advance=3 * 86_400)
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
    sandbox.clock(advance=40 * 86_400 + 12_345)
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
    assert _all_pages(sandbox, "/api/wallet/transactions") == whole
    assert len(sandbox.journal("wallet.transactions")) == 2 + 6


def test_what_was_ordered_counts(sandbox: Sandbox, order: Order) -> None:
    """Its options and its runtime; and two services of one name have two aliases."""
    key = order(runtimeId="runtime-vanilla", options=[{"optionId": "option-slots", "choiceId": "slots-100"}])
    service = sandbox.api("GET", f"/api/resources/{key}").json()
    assert service["runtime"] == {"id": "runtime-vanilla", "slug": "vanilla", "name": "Vanilla"}
    first, second = (sandbox.api("GET", f"/api/resources/{id}/settings").json() for id in (key, order()))
    assert first["scale"]["optionsMillicents"] == 1500
    assert first["scale"]["monthlyMillicents"] == service["pricing"]["monthlyMillicents"] == 12_240
    assert [found["network"]["alias"] for found in (first, second)] == ["mc", "mc-2"]


def _all_pages(sandbox: Sandbox, path: str) -> list[Any]:
    found: list[Any] = []
    cursor: str | None = ""
    while cursor is not None:
        page = sandbox.api("GET", path, params={"cursor": cursor} if cursor else {}).json()
        found += page["items"]
        cursor = page["nextCursor"]
    return found
