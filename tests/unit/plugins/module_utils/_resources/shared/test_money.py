# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Amounts: exact, in currency units, with two decimals or as many as there are."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import (
    add_currency_units,
    format_amount,
    in_currency,
    rate_from,
    read_amount,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


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


@given(st.integers(min_value=0, max_value=10**15))
def test_no_digit_is_lost(millicents: int) -> None:
    text = format_amount(rate_from(millicents))
    assert text is not None
    assert Decimal(text) * 1000 == millicents


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
