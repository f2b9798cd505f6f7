# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: how they are written, that all of them hold, and what certainly adds nothing."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    Budget,
    read_budget,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


@pytest.mark.parametrize(
    "value",
    [200, "200", 200.0, "200.00", {"account": 200}, '{"account": 200}', "account: 200", "{account: '200'}"],
)
def test_an_amount_is_the_limit_of_the_account(value: Any) -> None:
    assert read_budget(value, "budget") == {("account", ""): 200}


def test_a_text_keeps_the_digits_of_its_amounts() -> None:
    budget = read_budget("{account: 010, run: 1.10}", "budget")
    assert budget == {("account", ""): 10, ("run", ""): Decimal("1.10")}
    assert read_budget({"projects": {7: 5}}, "budget") == {("projects", "7"): 5}


@pytest.mark.parametrize(
    "value",
    [
        *(None, "", " ", "null", True, [], {}, "{}", "[1]", "nan", "1_000", -1, "Infinity", "{", "rooms: 1"),
        *({"account": None}, {"run": ""}, {"projects": {}}, {"projects": 5}, {"projects": {"": 5}}),
        *({"projects": {"shop": None}}, {"account": {}}, {"projects": None}),
    ],
)
def test_what_is_no_budget_is_an_error_that_names_its_source(value: Any) -> None:
    with pytest.raises(Invalid, match=r"moon (is|has)"):
        read_budget(value, "the moon")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"rooms": 1}, "budget has 'rooms' with 1; give an amount"),
        ({"projects": 5}, "budget has 'projects' with 5; give an amount"),
        ({"projects": {True: 5}}, "a project of budget is True; give its id or its name"),
        ({"projects": {"{{ shop }}": 15}}, "renders no template in a key"),
        ({"projects": {"shop": "x"}}, "project 'shop' of budget is 'x'"),
        ({"account": None}, "account of budget is empty; give an amount"),
        ({"run": " [] "}, "run of budget is empty"),
        ("{a", "budget is '{a', which is neither JSON nor YAML"),
    ],
)
def test_what_is_wrong_in_a_budget_is_named(value: Any, said: str) -> None:
    with pytest.raises(Invalid, match=re.escape(said)):
        read_budget(value, "budget")


def test_of_each_kind_the_lowest_counts() -> None:
    one = read_budget({"account": 200, "projects": {"shop": 50, "web": 10}}, "budget")
    other = read_budget({"run": 20, "account": 300, "projects": {"shop": 40, "db": 5}}, "budget")
    merged = one.with_limits_of(other)
    both = {"account": 200, "run": 20, "projects": {"shop": 40, "web": 10, "db": 5}}
    assert merged == other.with_limits_of(one) == read_budget(both, "budget")
    assert read_budget(merged.as_option(), "budget") == merged


@pytest.mark.parametrize("limits", [{"account": 0}, {"projects": {"shop": 0}}, {"run": 0}])
def test_a_limit_of_nothing_is_a_limit(limits: dict[str, Any]) -> None:
    budget = read_budget(limits, "budget")
    assert budget and not Budget()
    assert budget.as_option().keys() == limits.keys()


@pytest.mark.parametrize(
    ("monthly", "before", "shrinks", "lowers"),
    [
        *(("4", "4", False, True), ("5", "4", False, False), (None, "4", False, False)),
        *(
            ("4", None, False, False),
            ("9", "4", True, False),
            (None, "4", True, True),
            ("4", None, True, True),
        ),
    ],
)
def test_what_certainly_adds_nothing(
    monthly: str | None, before: str | None, shrinks: bool, lowers: bool
) -> None:
    now, then = (None if each is None else Decimal(each) for each in (before, monthly))
    assert Commitment("new size", "it", then, id="one", before=now, shrinks=shrinks).lowers is lowers
    assert not Commitment("move", "it", then, id="one", before=now).lowers or shrinks
    assert Commitment("suspension", "it", None).lowers and Commitment("deletion", "it", None).lowers
