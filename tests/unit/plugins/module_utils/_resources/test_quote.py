# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Quotes: what is asked for goes out as an order would, and nothing is ordered."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.quote import QUOTE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 5}


class Account(FakeClient):
    """The account with the quotes of applications."""

    app_quoted: tuple[Any, ...] = ()

    def app_nodes(self) -> list[m.AppNode]:
        return [m.AppNode.model_validate({"id": "nd_1", "label": "Node 1"})]

    def quote_app(self, host_id: str | None, dimensions: m.Dimensions | None) -> m.AppQuote:
        self.app_quoted = (host_id, dimensions and dimensions.as_dict())
        return m.AppQuote.model_validate({"hostId": "nd_1", "monthlyMillicents": 3885})


@pytest.fixture
def client() -> Account:
    return Account()


def quote(client: Account, **given: Any) -> Plan:
    plan = QUOTE.plan(task_of(QUOTE, client, **given))
    assert not plan.changed and client.calls == []
    return plan


def test_a_service(client: Account) -> None:
    """Every option is in the body, and what was not given is not."""
    client.add_project("prj_1", "games")
    options = [{"option": "slots", "choice": "20"}]
    plan = quote(
        client,
        product="mc",
        host="nd_1",
        dimensions=SIZE,
        project="games",
        options=options,
        variables={"A": "b"},
    )
    assert client.quoted == {
        "productSlug": "mc",
        "hostId": "nd_1",
        "dimensions": {"cpuCores": 1, "ramGb": 2, "storageGb": 5},
        "options": [{"optionId": "slots", "choiceId": "20"}],
        "variables": {"A": "b"},
    }
    assert plan.result["monthly"] == "1.06"
    assert plan.cost is not None and plan.cost.as_dict()["monthly_change"] == "1.06"


def test_a_balance_that_is_too_small_is_told_and_no_error(client: Account) -> None:
    client.quote_answer = {"monthlyMillicents": 1060, "coversFirstDay": False, "minBalanceCents": 4}
    result = quote(client, product="mc", host="nd_1", preset="small").result
    assert result["covers_first_day"] is False
    assert result["min_balance"] == "0.04"


def test_the_finer_amount_counts(client: Account) -> None:
    client.quote_answer = {"monthlyMillicents": 1065, "monthlyCents": 107, "lines": [{"monthlyCents": 107}]}
    result = quote(client, product="mc", host="nd_1", preset="small").result
    assert (result["monthly"], result["lines"][0]["monthly"]) == ("1.065", "1.07")


def test_an_application(client: Account) -> None:
    plan = quote(client, kind="application", host="Node 1", dimensions=SIZE)
    assert client.app_quoted == ("nd_1", SIZE)
    assert plan.result["monthly"] == "3.885"
    assert plan.cost is not None and plan.cost.as_dict()["monthly_after"] == "3.885"


def test_an_application_of_the_platforms_choice(client: Account) -> None:
    quote(client, kind="application")
    assert client.app_quoted == (None, None)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "also set product, host, and dimensions or preset"),
        ({"product": "mc", "host": "nd_1", "dimensions": {**SIZE, "ram_gb": None}}, "also set dimensions"),
        ({"kind": "application", "project": "games", "preset": "s"}, "remove preset, project"),
        ({"kind": "application", "dimensions": {**SIZE, "ram_gb": None}}, "lacks ram_gb"),
        ({"kind": "application", "max_monthly": "3.88"}, "would cost 3.885 a month, over max_monthly 3.88"),
        ({"product": "mc", "host": "nd_1", "preset": "s", "max_monthly": "1"}, "over max_monthly 1.00"),
    ],
)
def test_a_refusal_says_why(client: Account, given: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        quote(client, **given)


@pytest.mark.parametrize("given", [{"kind": "application", "host": "Node 2"}, {"project": "gmes"}])
def test_what_is_not_there(client: Account, given: dict[str, Any]) -> None:
    with pytest.raises(NoSuchItem, match="unknown"):
        quote(
            client,
            **{**({} if "kind" in given else {"product": "mc", "host": "nd_1", "preset": "s"}), **given},
        )
