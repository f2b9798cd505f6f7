# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: how they are written, that all of them hold, and what fits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    Budget,
    Commitment,
    Holding,
    Limits,
    ProjectLimit,
    find_excess,
    read_budget,
    with_commitment,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def amounts(**limits: Any) -> Budget:
    return read_budget(limits, "budget")


@pytest.mark.parametrize(
    "value",
    [200, "200", 200.0, "200.00", {"account": 200}, '{"account": 200}', "account: 200", "{account: '200'}"],
)
def test_an_amount_is_the_limit_of_the_account(value: Any) -> None:
    assert read_budget(value, "budget") == Budget(account=Decimal(200))


def test_a_text_keeps_the_digits_of_its_amounts() -> None:
    assert read_budget("{account: 010, run: 1.10}", "budget") == Budget(Decimal(10), {}, Decimal("1.10"))


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


def test_of_each_kind_the_lowest_counts() -> None:
    one = amounts(account=200, projects={"shop": 50, "web": 10})
    other = amounts(run=20, account=300, projects={"shop": 40, "db": 5})
    assert one.with_limits_of(other) == other.with_limits_of(one)
    merged = one.with_limits_of(other)
    assert merged == amounts(account=200, run=20, projects={"shop": 40, "web": 10, "db": 5})
    assert read_budget(merged.as_option(), "budget") == merged
    assert not Budget() and merged


SHOP = ProjectLimit("shop", "p1", Decimal(10))


def held(monthly: str | None, key: str = "one", project: str | None = "p1") -> Holding:
    home = frozenset([project]) if project else None
    return Holding(key, key, None if monthly is None else Decimal(monthly), home)


def of(*holdings: Holding) -> dict[str, Holding]:
    return {holding.key: holding for holding in holdings}


def ordered(monthly: str | None, project: str | None = "p1") -> Commitment:
    return Commitment(
        "order", "it", None if monthly is None else Decimal(monthly), name="it", project=project
    )


def resized(monthly: str | None, before: str | None = None, **more: Any) -> Commitment:
    price = None if monthly is None else Decimal(monthly)
    old = None if before is None else Decimal(before)
    return Commitment("resize", "one", price, id="one", project="p1", before=old, **more)


@pytest.mark.parametrize(
    ("holdings", "commitment", "over"),
    [
        ([held("4")], ordered("6"), None),
        ([held("4")], ordered("6.001"), Decimal("0.001")),
        ([held("4"), held("3", "two")], resized("7"), None),
        ([held("4"), held("3", "two")], resized("7.5"), Decimal("0.5")),
        ([held("40")], resized("39", "40"), None),
        ([held("40")], resized(None, shrinks=True), None),
        ([held("40")], ordered("0"), None),
        ([held(None, "two")], Commitment("suspend", "one", None, id="one"), None),
        ([held(None, "two")], Commitment("delete", "one", Decimal(0), id="one"), None),
    ],
)
def test_what_fits_the_account_and_the_project(
    holdings: list[Holding], commitment: Commitment, over: Decimal | None
) -> None:
    for limits in (Limits(account=Decimal(10)), Limits(projects=[SHOP])):
        excess = find_excess(limits, commitment, of(*holdings), Decimal(0))
        assert (excess and excess.over) == over


@pytest.mark.parametrize(
    "limits", [Limits(account=Decimal(100)), Limits(projects=[SHOP]), Limits(run=Decimal(9))]
)
def test_an_unknown_price_never_fits(limits: Limits) -> None:
    excess = find_excess(limits, ordered(None), {}, Decimal(0))
    assert excess is not None and excess.over is None and excess.adds is None


def test_an_unknown_rate_counts_against_the_commitment() -> None:
    excess = find_excess(Limits(account=Decimal(100)), ordered("1"), of(held(None)), Decimal(0))
    assert excess is not None and excess.unpriced == ["'one' (one)"]
    elsewhere = of(held(None, project="p2"))
    assert find_excess(Limits(projects=[SHOP]), ordered("1"), elsewhere, Decimal(0)) is None
    anywhere = of(held("9.5", project=None))
    assert find_excess(Limits(projects=[SHOP]), ordered("1"), anywhere, Decimal(0)) is not None


def test_a_run_adds_up() -> None:
    limits = Limits(run=Decimal(10))
    assert find_excess(limits, ordered("4"), {}, Decimal(6)) is None
    excess = find_excess(limits, ordered("4"), {}, Decimal("6.5"))
    assert excess is not None and (excess.scope, excess.over) == ("this run", Decimal("0.5"))
    assert find_excess(limits, resized("14", "10"), {}, Decimal(6)) is None


def test_a_move_raises_the_project_that_it_leads_to() -> None:
    move = Commitment("move", "one", Decimal(6), id="one", project="p1")
    there = of(held("6", project="p2"), held("5", "two"))
    excess = find_excess(Limits(account=Decimal(1), projects=[SHOP]), move, there, Decimal(0))
    assert excess is not None and (excess.scope, excess.over) == ("project 'shop'", Decimal(1))
    assert find_excess(Limits(projects=[SHOP]), move, of(held("6"), held("5", "two")), Decimal(0)) is None
    unknown = of(held("6", project=None), held("3", "two"))
    assert find_excess(Limits(projects=[SHOP]), move, unknown, Decimal(0)) is None


def test_commitments_follow_each_other() -> None:
    holdings = with_commitment(of(held("4")), ordered("6"))
    assert sum(holding.monthly or 0 for holding in holdings.values()) == 10
    holdings = with_commitment(holdings, ordered("7"))
    holdings = with_commitment(holdings, resized("5"))
    assert sum(holding.monthly or 0 for holding in holdings.values()) == 12
    assert list(with_commitment(holdings, Commitment("delete", "one", Decimal(0), id="one"))) == [
        ordered("7").key
    ]


def test_a_template_as_the_name_of_a_project_is_refused() -> None:
    """Ansible does not render it, so the limit would be that of no project."""
    with pytest.raises(Invalid, match="renders no template in a key"):
        read_budget({"projects": {"{{ shop }}": 15}}, "budget")
