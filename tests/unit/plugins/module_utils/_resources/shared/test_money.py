# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts are exact, have their currency where it is known, and are held against budgets."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import AccessDenied
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    Budget,
    read_budget,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import (
    Commitment,
    add_currency_units,
    format_amount,
    format_price,
    in_currency,
    read_amount,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import RUN_FOLDER
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("0", "0.00"),
        ("5", "5.00"),
        ("1.06", "1.06"),
        ("1.060", "1.06"),
        ("1.2", "1.20"),
        ("1.065", "1.065"),
        ("0.0015", "0.0015"),
        ("1E+3", "1000.00"),
        ("-2.5", "-2.50"),
        ("0E-9", "0.00"),
    ],
)
def test_shown(amount: str, text: str) -> None:
    assert format_amount(Decimal(amount)) == text


@pytest.mark.parametrize(("text", "amount"), [("12.50", "12.50"), ("0", "0"), ("1e2", "100"), (" 3 ", "3")])
def test_amounts_that_are_read(text: str, amount: str) -> None:
    assert read_amount(text, "max_monthly") == Decimal(amount)


@pytest.mark.parametrize("text", ["", "abc", "12,50", "1_000", "-1", "NaN", "Infinity", "-inf", "12 EUR"])
def test_amounts_that_are_refused(text: str) -> None:
    with pytest.raises(Invalid, match=r"max_monthly is .*it must be an amount in currency units"):
        read_amount(text, "max_monthly")


def test_amounts_get_their_units_beside_them() -> None:
    """At any depth; cents and millicents of one name make one amount, the finer one."""
    found = add_currency_units(
        {"a_cents": 106, "a_millicents": 1065, "deep": [{"b_cents": "1.5"}], "c_cents": None}
    )
    assert found["a"] == "1.065"
    assert found["deep"] == [{"b_cents": "1.5", "b": "0.015"}]
    assert found["c"] is None
    assert add_currency_units({"monthly_cents": 106, "monthly_millicents": None})["monthly"] == "1.06"


@pytest.mark.parametrize("value", ["much", True, {"amount": 1}, "NaN"])
def test_what_is_no_amount_is_left_alone(value: Any) -> None:
    assert add_currency_units({"x_cents": value})["x"] is None


def test_a_field_that_is_there_is_never_replaced() -> None:
    assert add_currency_units({"total": "mine", "total_cents": 5}) == {"total": "mine", "total_cents": 5}


@pytest.mark.parametrize(
    ("amount", "unit", "text"),
    [
        (1060, "millicents", "1.06"),
        (106, "cents", "1.06"),
        ("10740", "millicents", "10.74"),
        (-5, "cents", "-0.05"),
        (0.1, "cents", "0.001"),
        ("0.15", "cents", "0.0015"),
        (Decimal("1E+3"), "cents", "10.00"),
    ],
)
def test_in_currency(amount: Any, unit: str, text: str) -> None:
    assert in_currency(amount, unit) == text


@given(
    st.integers(min_value=-(10**28) + 1, max_value=10**28 - 1),
    st.sampled_from([("cents", 2), ("millicents", 3)]),
)
def test_in_currency_is_exact(amount: int, unit: tuple[str, int]) -> None:
    digits = Decimal(in_currency(amount, unit[0])).as_tuple()
    assert isinstance(digits.exponent, int)
    assert int(Decimal((digits.sign, digits.digits, digits.exponent + unit[1]))) == amount


@pytest.mark.parametrize(
    ("amount", "unit", "words"),
    [
        (1, "euros", "the unit is 'euros'; the units of the platform are 'cents' and 'millicents'"),
        ("12,50", "cents", "the amount is '12,50'; it must be a number of cents"),
        (None, "cents", "the amount is None"),
        (True, "cents", "the amount is True"),
        (float("nan"), "cents", "the amount is nan"),
        ("Infinity", "cents", "the amount is 'Infinity'"),
        ({"secret": "hidden"}, "cents", "the amount is an object; it"),
        (10**28 + 1, "cents", "more digits than can be kept exactly"),
        ("0." + "1" * 29, "millicents", "more digits than can be kept exactly"),
    ],
)
def test_in_currency_refuses(amount: Any, unit: str, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        in_currency(amount, unit)
    assert words in str(refused.value)


# --- The currency ----------------------------------------------------------------------------------


class Wallets(FakeClient):
    """An account that counts how often its wallet is read."""

    def __init__(self, currency: str | None = "EUR", refusal: Exception | None = None) -> None:
        super().__init__()
        self.currency, self.refusal, self.reads = currency, refusal, 0

    def wallet(self, seconds: float | None = None) -> m.Wallet:
        self.reads += 1
        assert seconds is not None and seconds < 10  # a price is no reason to wait
        if self.refusal:
            raise self.refusal
        return super().wallet(seconds)


def price(client: FakeClient, amount: str | None = "1.5") -> str | None:
    """Return a price as a new task writes it."""
    task = task_of(SERVICE, client, id="s")
    exact = None if amount is None else Decimal(amount)
    assert format_price(task, exact) == format_price(task, exact)
    return format_price(task, exact)


def test_a_price_has_its_currency_which_a_task_reads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUN_FOLDER, raising=False)
    client = Wallets()
    assert price(client) == "1.50 EUR"
    assert client.reads == 1
    assert price(client) == "1.50 EUR" and client.reads == 2  # another task, elsewhere
    for odd in ("\x1b[31m", "99 EUR", "  ", "x" * 9):
        assert price(Wallets(odd)) == "1.50", "nothing steers a terminal, or reads as another price"


@pytest.mark.parametrize("refusal", [None, AccessDenied("no", 403)])
def test_the_tasks_of_a_run_read_it_once_for_each_account(
    refusal: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    client, other = Wallets(refusal=refusal), Wallets("USD")
    other.account_key = "other"
    for _round in range(3):
        assert price(client) == ("1.50" if refusal else "1.50 EUR")
        assert price(other) == "1.50 USD"
    assert (client.reads, other.reads) == (1, 1)


# --- Budgets ---------------------------------------------------------------------------------------


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
