# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections Endpoints / Ordering, Projects, Journals, Billing, and Events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import NO_DELAYS, Sandbox

Order = Callable[..., str]
BODY = {"productSlug": "minecraft", "hostId": "node-paris-1", "presetId": "preset-small"}


@pytest.mark.rule("order-quote", "conventions")
def test_a_quote_commits_nothing(sandbox: Sandbox) -> None:
    quote = sandbox.api("POST", "/api/order/quote", BODY).json()
    assert quote["monthlyMillicents"] == 2 * 2400 + 4 * 1060 + 20 * 85
    assert quote["monthlyCents"] == sum(line["monthlyCents"] for line in quote["lines"])
    assert quote["coversFirstDay"] is True
    assert sandbox.api("GET", "/api/resources").json() == {"items": []}
    assert sandbox.ledger()["orders"] == []


@pytest.mark.rule("order-cover")
def test_an_order_needs_the_first_day(sandbox: Sandbox) -> None:
    quote = sandbox.api("POST", "/api/order/quote", BODY).json()
    sandbox.operator("accounts/main", balance_cents=quote["minBalanceCents"] - 1)
    assert sandbox.api("POST", "/api/order/quote", BODY).json()["coversFirstDay"] is False
    assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc"}).status_code == 400
    assert sandbox.ledger()["orders"] == []
    sandbox.operator("accounts/main", balance_cents=quote["minBalanceCents"])
    assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc"}).status_code == 201


@pytest.mark.rule("limit-order-name")
@pytest.mark.parametrize(("name", "status"), [("n" * 80, 201), ("n" * 81, 400), ("", 400)])
def test_names_of_services(sandbox: Sandbox, name: str, status: int) -> None:
    assert sandbox.api("POST", "/api/order", {**BODY, "name": name}).status_code == status


@pytest.mark.parametrize(
    "change",
    [
        {"productSlug": "nothing"},
        {"hostId": "nowhere"},
        {"hostId": "node-metal-1"},
        {"presetId": "preset-none"},
        {"presetId": None},
        {"presetId": None, "dimensions": {"cpuCores": 99, "ramGb": 4, "storageGb": 20}},
        {"runtimeId": "runtime-none"},
        {"options": [{"optionId": "option-slots", "choiceId": "none"}]},
        {"variables": {"A": "${nobody.URL}"}},
    ],
)
def test_what_cannot_be_ordered(sandbox: Sandbox, change: dict[str, Any]) -> None:
    assert sandbox.api("POST", "/api/order", {**BODY, "name": "mc", **change}).status_code == 400
    assert sandbox.ledger()["orders"] == []


@pytest.mark.rule("secrets-once")
def test_secrets_are_given_once(sandbox: Sandbox) -> None:
    body = {"productSlug": "postgresql", "hostId": "node-paris-1", "presetId": "preset-db", "name": "db"}
    ordered = sandbox.api("POST", "/api/order", body).json()
    values = {secret["value"] for secret in ordered["secrets"]}
    key = ordered["instanceId"]
    connection = sandbox.api("GET", f"/api/resources/{key}/database/connection").json()
    assert {connection["user"], connection["password"]} == values
    assert connection["password"] not in sandbox.api("GET", f"/api/resources/{key}").text


def test_options_and_runtime_count(sandbox: Sandbox, order: Order) -> None:
    key = order(runtimeId="runtime-vanilla", options=[{"optionId": "option-slots", "choiceId": "slots-100"}])
    service = sandbox.api("GET", f"/api/resources/{key}").json()
    assert service["runtime"] == {"id": "runtime-vanilla", "slug": "vanilla", "name": "Vanilla"}
    scale = sandbox.api("GET", f"/api/resources/{key}/settings").json()["scale"]
    assert scale["optionsMillicents"] == 1500
    assert scale["monthlyMillicents"] == service["pricing"]["monthlyMillicents"] == 12_240


def test_two_services_of_one_name_have_two_aliases(sandbox: Sandbox, order: Order) -> None:
    keys = [order(), order()]
    settings = [sandbox.api("GET", f"/api/resources/{key}/settings").json() for key in keys]
    assert [found["network"]["alias"] for found in settings] == ["mc", "mc-2"]


def _create(sandbox: Sandbox, name: str) -> str:
    return str(sandbox.api("POST", "/api/projects", {"name": name}).json()["id"])


@pytest.mark.rule("projects-name")
@pytest.mark.parametrize(("name", "status"), [("x" * 60, 201), ("x" * 61, 400), ("", 400), ("default", 400)])
def test_names(sandbox: Sandbox, name: str, status: int) -> None:
    assert sandbox.api("POST", "/api/projects", {"name": name}).status_code == status


@pytest.mark.rule("projects-name")
def test_a_name_is_unique_when_renaming_too(sandbox: Sandbox) -> None:
    key = _create(sandbox, "one")
    _create(sandbox, "two")
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "two"}).status_code == 400
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "one"}).status_code == 200
    assert sandbox.api("PATCH", f"/api/projects/{key}", {"name": "three"}).status_code == 200
    assert sandbox.api("GET", f"/api/projects/{key}").json()["name"] == "three"


@pytest.mark.rule("projects-name")
def test_accounts_do_not_share_names(sandbox: Sandbox) -> None:
    _create(sandbox, "one")
    other = {"Authorization": "Bearer sandbox-other-token"}
    assert sandbox.api("POST", "/api/projects", {"name": "one"}, headers=other).status_code == 201


@pytest.mark.rule("projects-delete", "projects-default")
def test_services_of_a_deleted_project_join_the_default_one(sandbox: Sandbox, order: Order) -> None:
    project = _create(sandbox, "web")
    key = order(projectId=project)
    assert sandbox.api("GET", f"/api/projects/{project}").json()["resources"][0]["id"] == key
    assert sandbox.api("DELETE", f"/api/projects/{project}").status_code == 200
    (default,) = sandbox.api("GET", "/api/projects").json()
    assert default["resourceCount"] == 1
    assert sandbox.api("GET", f"/api/resources/{key}").json()["projectId"] == default["id"]
    assert sandbox.api("DELETE", f"/api/projects/{default['id']}").status_code == 400
    assert sandbox.api("GET", f"/api/projects/{project}").status_code == 404


@pytest.mark.rule("projects-delete")
def test_an_alias_of_a_deleted_project_may_be_taken(sandbox: Sandbox, order: Order) -> None:
    project = _create(sandbox, "games")
    first, second = order(name="mc"), order(name="mc", projectId=project)
    other = order(name="other", projectId=project)
    assert sandbox.api("DELETE", f"/api/projects/{project}").status_code == 200
    default = sandbox.api("GET", "/api/projects").json()[0]["id"]
    for key, named in ((first, "mc"), (second, "mc"), (other, "other")):
        assert sandbox.api("GET", f"/api/resources/{key}").json()["projectId"] == default
        network = sandbox.api("GET", f"/api/resources/{key}/settings").json()["network"]
        assert network["alias"] == named


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
