# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: how they are written, that all of them hold, and what fits."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    Budget,
    Commitment,
    Excess,
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


@pytest.mark.parametrize("limits", [{"account": 0}, {"projects": {"shop": 0}}, {"run": 0}])
def test_a_limit_of_nothing_is_a_limit(limits: dict[str, Any]) -> None:
    budget = read_budget(limits, "budget")
    assert budget and read_budget(budget.as_option(), "budget") == budget
    assert budget.as_option().keys() == limits.keys()


def test_each_kind_of_limit_is_one() -> None:
    assert not Limits()
    assert Limits(account=Decimal(0)) and Limits(projects=[SHOP]) and Limits(run=Decimal(0))


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"rooms": 1, "halls": 2}, "budget has 'halls', 'rooms'; a budget has account, projects, run, and"),
        ({"projects": {True: 5}}, "a project of budget is True; give its id or its name"),
        ({"projects": {None: 5}}, "a project of budget is None"),
        ({"projects": {"shop": "x"}}, "project 'shop' of budget is 'x'"),
        ({"account": None}, "account of budget is null; give an amount"),
        ({"run": " [] "}, "run of budget is empty"),
        ({"run": {}}, "run of budget is {}"),
        ("{a", "budget is '{a', which is neither JSON nor YAML"),
    ],
)
def test_what_is_wrong_in_a_budget_is_named(value: Any, said: str) -> None:
    with pytest.raises(Invalid, match=re.escape(said)):
        read_budget(value, "budget")


def test_a_project_may_be_named_by_a_number() -> None:
    assert read_budget({"projects": {7: 5}}, "budget").projects == {"7": Decimal(5)}


def test_another_attempt_at_the_same_thing_has_the_same_key() -> None:
    """A project that is not there yet is known by its name."""
    assert resized("7").key == "one"
    assert ordered("7").key == "new it in p1" != ordered("7", None).key == "new it in the default"
    named = Commitment("order", "it", None, name="it", project_name="shop")
    assert named.key == "new it in shop" and named.home == frozenset(["shop"])
    assert Commitment("order", "it", None).key == "new None in the default"
    assert ordered("7").home == frozenset(["p1"]) and ordered("7", None).home is None


@pytest.mark.parametrize(
    ("commitment", "lowers"),
    [
        (resized("4", "4"), True),
        (resized("3", "4"), True),
        (resized("5", "4"), False),
        (resized(None, "4"), False),
        (resized("4"), False),
        (resized("9", "4", shrinks=True), False),
        (resized(None, "4", shrinks=True), True),
        (resized("4", shrinks=True), True),
        (Commitment("move", "one", Decimal(4), id="one", before=Decimal(4)), False),
        (Commitment("suspend", "one", None), True),
        (Commitment("delete", "one", None), True),
    ],
)
def test_what_certainly_adds_nothing(commitment: Commitment, lowers: bool) -> None:
    assert commitment.lowers is lowers


def test_what_a_commitment_adds_is_the_difference_to_what_runs() -> None:
    """The platform's rate counts, not the one that the plan saw. What lowers the rate adds nothing."""
    limits = Limits(run=Decimal(1))

    def adds(commitment: Commitment, *holdings: Holding) -> Decimal | None:
        excess = find_excess(limits, commitment, of(*holdings), Decimal(0))
        return excess.adds if excess else None

    assert adds(resized("9", "4"), held("6")) == 3
    assert adds(resized("9", "4")) == 5
    assert adds(resized("9"), held(None)) == 9
    assert adds(resized("9")) == 9
    assert adds(resized("5", "4"), held("7")) is None
    assert adds(Commitment("move", "one", Decimal(9), id="one", project="p2"), held("1")) is None


def test_an_excess_tells_what_counts_against_the_limit() -> None:
    """The part that the platform does not show yet is told apart."""
    running = replace(held("4", "two"), reserved=Decimal(3))
    excess = find_excess(Limits(account=Decimal(6)), ordered("5"), of(held("1"), running), Decimal(2))
    assert excess == Excess(
        "the account", Decimal(6), Decimal(5), Decimal(3), Decimal(2), Decimal(5), Decimal(4), []
    )
    excess = find_excess(Limits(run=Decimal(6)), ordered("5"), {}, Decimal(2))
    assert excess == Excess("this run", Decimal(6), None, Decimal(0), Decimal(2), Decimal(5), Decimal(1))


def test_the_first_limit_that_breaks_is_told() -> None:
    limits = Limits(Decimal(100), [replace(SHOP, most=Decimal(11)), SHOP], Decimal(1))
    excess = find_excess(limits, ordered("11"), {}, Decimal(0))
    assert excess is not None and excess.scope == "project 'shop'"
    limits = Limits(Decimal(10), [SHOP], Decimal(1))
    excess = find_excess(limits, ordered("11"), {}, Decimal(0))
    assert excess is not None and excess.scope == "the account"


def test_a_service_counts_for_the_project_that_it_joins_with_all_of_its_rate() -> None:
    """One that is resized where it is adds the difference; one whose project is not known adds all."""
    there = of(held("6", project="p2"), held("3", "two"))
    joins = Commitment("order", "one", Decimal(8), id="one", project="p1")
    excess = find_excess(Limits(projects=[SHOP]), joins, there, Decimal(0))
    assert excess is not None and (excess.running, excess.adds) == (Decimal(3), Decimal(8))
    unknown = of(held("6", project=None), held("3", "two"))
    excess = find_excess(Limits(projects=[SHOP]), resized("8"), unknown, Decimal(0))
    assert excess is not None and (excess.running, excess.adds) == (Decimal(3), Decimal(8))
    excess = find_excess(Limits(projects=[SHOP]), resized("8"), of(held("6"), held("3", "two")), Decimal(0))
    assert excess is not None and (excess.running, excess.adds) == (Decimal(9), Decimal(2))


def test_what_is_there_keeps_what_a_commitment_does_not_say() -> None:
    """A move changes the project alone; what is ordered gets the name that messages use if it has none."""
    moved = Commitment("move", "one", Decimal(9), id="one", project="p2")
    [holding] = with_commitment(of(held("4")), moved).values()
    assert (holding.monthly, holding.projects) == (Decimal(4), frozenset(["p2"]))
    grown = Commitment("resize", "one", Decimal(9), id="one")
    [holding] = with_commitment(of(held("4")), grown).values()
    assert (holding.monthly, holding.projects) == (Decimal(9), frozenset(["p1"]))
    [holding] = with_commitment({}, Commitment("order", "service 'x'", Decimal(1))).values()
    assert (holding.name, holding.label) == ("service 'x'", "\"service 'x'\" (new None in the default)")
    [holding] = with_commitment({}, ordered("4")).values()
    assert (holding.name, holding.monthly, holding.projects) == ("it", Decimal(4), frozenset(["p1"]))
