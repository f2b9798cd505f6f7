# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of costs: what a task adds to it, its sums, and how it is written."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.plugin_utils._cost.summary import (
    HIDDEN,
    MONEY_MODULES,
    UNCONFIRMED,
    UNPRICED,
    Entry,
    Origin,
    read_result,
    summarize,
    write_table,
)
from ansible_collections.hosted.services.scripts.architecture import PLUGINS


def cost_of(after: str | None = "10.74", **fields: Any) -> dict[str, Any]:
    """Return a ``cost`` as results have it."""
    amounts = {"monthly_before": "0.00", "monthly_after": after, "currency": "EUR"}
    return {**amounts, "moves": ["order"], "service": "web", "service_id": "s1", **fields}


def read(result: dict[str, Any], module: str = "service", failed: bool = False) -> list[Entry]:
    """Return the entries of a result."""
    return list(read_result(result, Origin("Order", "localhost", module, failed=failed)))


def test_each_service_of_a_task_over_many_is_read() -> None:
    services = [{"cost": cost_of(service="a")}, {"cost": None}, {"cost": cost_of(service="b")}]
    assert [each.cost["service"] for each in read({"services": services}, "sleep_plan")] == ["a", "b"]
    parts = {"cost": cost_of(service="a"), "parts": [{"cost": cost_of(service="b")}]}
    assert [each.cost["service"] for each in read(parts, "blueprint")] == ["a", "b"]


@pytest.mark.parametrize(
    ("result", "failed", "named"),
    [({"changed": True}, False, 1), ({"changed": False}, False, 0), ({"changed": False}, True, 1)],
)
def test_a_hidden_result_is_named_if_it_may_have_moved_money(
    result: dict[str, Any], failed: bool, named: int
) -> None:
    censored = {**result, "censored": "hidden"}
    assert [each.reason for each in read(censored, failed=failed)] == [HIDDEN] * named
    assert read(censored, module="project", failed=failed) == []


def test_what_is_not_known_is_never_zero() -> None:
    [unpriced], [unconfirmed] = (
        read({"cost": cost_of(after=None), "unconfirmed": unconfirmed}) for unconfirmed in ([], ["order it"])
    )
    assert (unpriced.reason, unconfirmed.reason) == (UNPRICED, UNCONFIRMED)


def test_the_modules_that_move_money_are_those_whose_cost_may_hold_a_move() -> None:
    found = set()
    for path in (PLUGINS / "modules").glob("*.py"):
        text = path.read_text().partition('RETURN = r"""')[2].partition('"""')[0]
        documented = yaml.safe_load(text) or {}
        many = documented.get("services") or documented.get("parts") or {}
        cost = (many.get("contains") or {}).get("cost") or documented.get("cost")
        if cost and "C(moves) is always empty" not in str(cost["description"]):
            found.add(path.stem)
    assert found == MONEY_MODULES


REAL, CHECK = Origin("Order", "localhost", "service"), Origin("Try", "localhost", "service", check_mode=True)


def entry(
    service: str, move: str, before: str | None, after: str | None, origin: Origin = REAL, **more: Any
) -> Entry:
    """Return a move of a service whose id is its name in capitals."""
    platform = more.pop("platform", None)
    amounts = {"monthly_before": before, "monthly_after": after, "currency": "EUR"}
    cost = {"service": service, "service_id": service.upper(), "moves": [move], **amounts, **more}
    return Entry(origin, cost, platform, "no price" if None in (before, after) else None)


def only(*entries: Entry) -> dict[str, Any]:
    """Return the summary of entries of one kind."""
    [summary] = summarize(entries)
    return summary


def test_the_same_service_seen_twice_counts_from_its_first_rate_to_its_last() -> None:
    found = only(
        entry("a", "order", "0", "10.74"),
        entry("b", "resume", "1.70", "10.74"),
        entry("a", "resize", "10.74", "14.98"),
        entry("b", "delete", "10.74", "0"),
    )
    assert [
        (row["service"], row["monthly_before"], row["monthly_after"], row["monthly_change"])
        for row in found["services"]
    ] == [("a", "0.00", "14.98", "14.98"), ("b", "1.70", "0.00", "-1.70")]
    [total] = found["totals"]
    assert (total["monthly_change"], total["monthly_before"]) == ("13.28", "1.70")
    assert found["services"][0]["actions"] == ["order", "resize"]


def test_what_has_no_price_is_named_and_in_no_sum() -> None:
    hidden = Entry(REAL, reason=HIDDEN)
    found = only(entry("a", "order", "0", None), entry("b", "order", "0", "1"), hidden)
    gaps = [(each["service"], each["reason"]) for each in found["not_priced"]]
    assert gaps == [("a", "no price"), (None, HIDDEN)]
    assert found["totals"][0]["monthly_after"] == "1.00"
    assert (found["services"][0]["monthly_after"], found["services"][0]["monthly_change"]) == (None, None)


def test_check_mode_is_apart_and_names_tell_new_services_apart() -> None:
    new: dict[str, Any] = {"service_id": None, "min_balance": Decimal("0.36"), "days_covered": 9}
    done, predicted = summarize(
        [
            entry("a", "order", "0", "2", CHECK, **new),
            entry("a", "order", "0", "3", CHECK, **new),
            entry("a", "order", "0", "3", CHECK, **new, platform="https://other"),
            entry("b", "delete", "5", "0"),
        ]
    )
    assert (done["check_mode"], predicted["check_mode"]) == (False, True)
    [total] = done["totals"]
    assert (total["monthly_change"], total["due_today"]) == ("-5.00", None)
    [total] = predicted["totals"]
    assert (total["monthly_after"], total["due_today"]) == ("6.00", "0.72")
    assert predicted["services"][0]["actions"] == ["order"]
    # What a role predicted and then did is told once.
    first, made = entry("a", "order", "0", "2", CHECK, service_id=None), entry("a", "order", "0", "2")
    assert [each["check_mode"] for each in summarize([first, made])] == [False]
    assert [each["check_mode"] for each in summarize([made, first])] == [False, True]


def test_new_services_of_one_name_in_two_projects_stay_apart() -> None:
    """A task that names no project finds the one that an earlier task orders, if there is only one."""
    new: dict[str, Any] = {"service_id": None}
    shop = entry("a", "order", "0", "2", CHECK, **new, project="shop")
    later = entry("a", "order", "0", "3", CHECK, **new)
    blog = entry("a", "order", "0", "5", CHECK, **new, project="blog")

    def places(*entries: Entry) -> list[tuple[str | None, str]]:
        return [(row["project"], row["monthly_after"]) for row in only(*entries)["services"]]

    assert places(shop, later, blog) == [("shop", "3.00"), ("blog", "5.00")]
    assert places(shop, blog, shop) == [("shop", "2.00"), ("blog", "5.00")]
    assert places(shop, blog, later) == [("shop", "2.00"), ("blog", "5.00"), (None, "3.00")]
    assert only(shop, blog)["totals"][0]["monthly_after"] == "7.00"
    cells = [line.split("  ")[0] for line in write_table(only(shop, blog, later))[1:4]]
    assert cells == ["a (project shop)", "a (project blog)", "a"]


def test_the_balance_is_the_last_and_its_days_are_the_fewest_that_quotes_tell() -> None:
    quotes = [(Decimal(10), 30), (Decimal(9), 40), (None, None)]
    orders = [
        entry(name, "order", "0", "1", balance=balance, days_covered=days)
        for name, (balance, days) in zip("abc", quotes, strict=True)
    ]
    [total] = only(*orders)["totals"]
    assert (total["balance"], total["days_covered"]) == ("9.00", 30)


def test_a_table() -> None:
    quote: dict[str, Any] = {"balance": "500", "min_balance": "0.36", "days_covered": 100}
    order = entry("web", "order", "0", "14.98", moves=["order", "resize"], **quote)
    odd = entry("a\x1b[31m", "delete", None, "0", currency=None)
    [summary] = summarize([order, odd, Entry(REAL, reason=HIDDEN)])
    assert write_table(summary) == [
        "service          action         monthly before      after      change",
        "web              order, resize        0.00 EUR  14.98 EUR  +14.98 EUR",
        "a\\x1b[31m        delete                unknown       0.00     unknown",
        "sum for a month                       0.00 EUR  14.98 EUR  +14.98 EUR",
        "Needed today for the first day of the orders: 0.36 EUR.",
        "Balance when the last quote was read: 500.00 EUR.",
        "By the quotes, the balance covers 100 days.",
        "Not priced, and in no sum:",
        "  - task 'Order' on localhost: delete a\\x1b[31m; no price",
        "  - task 'Order' on localhost; its result is hidden by no_log",
    ]
