# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Ordering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

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
def test_names(sandbox: Sandbox, name: str, status: int) -> None:
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
