# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sums of a run: each service from its first rate to its last, nothing unknown in a sum."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ansible_collections.hosted.services.plugins.plugin_utils._cost.entries import HIDDEN, Entry, Origin
from ansible_collections.hosted.services.plugins.plugin_utils._cost.summary import summarize

REAL, CHECK = Origin("Order", "localhost", "service"), Origin("Try", "localhost", "service", check_mode=True)


def entry(
    service: str, move: str, before: str | None, after: str | None, origin: Origin = REAL, **more: Any
) -> Entry:
    """Return a move of a service whose id is its name in capitals."""
    amounts = [None if amount is None else Decimal(amount) for amount in (before, after)]
    given = {"service_id": service.upper(), "currency": "EUR", **more}
    reason = "no price" if None in amounts else None
    return Entry(
        origin, service, moves=(move,), before=amounts[0], after=amounts[1], **{"reason": reason, **given}
    )


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


def test_what_a_role_predicted_and_then_did_is_told_once() -> None:
    new: dict[str, Any] = {"service_id": None}
    predicted, made = entry("a", "order", "0", "2", CHECK, **new), entry("a", "order", "0", "2")
    assert [each["check_mode"] for each in summarize([predicted, made])] == [False]
    assert [each["check_mode"] for each in summarize([made, predicted])] == [False, True]


def test_new_services_of_one_name_in_two_projects_stay_apart() -> None:
    """A task that names no project finds the one that an earlier task orders, if there is only one."""
    new: dict[str, Any] = {"service_id": None}
    shop = entry("a", "order", "0", "2", CHECK, **new, project="shop")
    later = entry("a", "order", "0", "3", CHECK, **new)
    blog = entry("a", "order", "0", "5", CHECK, **new, project="blog")
    assert places(shop, later, blog) == [("shop", "3.00"), ("blog", "5.00")]
    assert places(shop, blog, shop) == [("shop", "2.00"), ("blog", "5.00")]
    assert places(shop, blog, later) == [("shop", "2.00"), ("blog", "5.00"), (None, "3.00")]
    assert only(shop, blog)["totals"][0]["monthly_after"] == "7.00"


def places(*entries: Entry) -> list[tuple[str | None, str]]:
    """Return the project of each row, and what it costs afterwards."""
    return [(row["project"], row["monthly_after"]) for row in only(*entries)["services"]]


def test_currencies_are_not_mixed() -> None:
    found = only(entry("a", "order", "0", "1"), entry("b", "order", "0", "2", currency="USD"))
    totals = [(total["currency"], total["monthly_after"]) for total in found["totals"]]
    assert totals == [("EUR", "1.00"), ("USD", "2.00")]


def test_the_balance_is_the_last_and_its_days_are_the_fewest_that_quotes_tell() -> None:
    quotes = [(Decimal(10), 30), (Decimal(9), 40), (None, None)]
    orders = [
        entry(name, "order", "0", "1", balance=balance, days_covered=days)
        for name, (balance, days) in zip("abc", quotes, strict=True)
    ]
    [total] = only(*orders)["totals"]
    assert (total["balance"], total["days_covered"]) == ("9.00", 30)


def test_a_summary_tells_all_that_is_known() -> None:
    order = entry("a", "order", "0", "2", balance=Decimal(9), min_balance=Decimal(1), days_covered=5)
    resize = entry("b", "resize", "5", "4")
    run = only(order, resize, entry("c", "delete", "1", None), Entry(REAL, reason=HIDDEN))
    assert run["check_mode"] is False
    assert run["totals"] == [
        {
            "currency": "EUR",
            "monthly_before": "5.00",
            "monthly_after": "6.00",
            "monthly_change": "1.00",
            "due_today": "1.00",
            "balance": "9.00",
            "days_covered": 5,
        }
    ]
    place = {"task": "Order", "host": "localhost"}
    assert run["not_priced"] == [
        {**place, "service": "c", "service_id": "C", "actions": ["delete"], "reason": "no price"},
        {**place, "service": None, "service_id": None, "actions": [], "reason": HIDDEN},
    ]
    [bare] = only(resize)["totals"]
    assert (bare["due_today"], bare["balance"]) == (None, None)
