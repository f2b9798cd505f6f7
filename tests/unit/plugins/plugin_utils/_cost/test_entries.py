# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What results say of the price, read as callbacks get them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.plugin_utils._cost.entries import (
    HIDDEN,
    MONEY_MODULES,
    UNCONFIRMED,
    UNPRICED,
    Entry,
    Origin,
    read_result,
)
from ansible_collections.hosted.services.scripts.architecture import PLUGINS


def cost_of(after: str | None = "10.74", **fields: Any) -> dict[str, Any]:
    """Return a ``cost`` as results have it."""
    amounts = {"monthly_before": "0.00", "monthly_after": after, "currency": "EUR"}
    return {**amounts, "moves": ["order"], "service": "web", "service_id": "s1", **fields}


def read(result: dict[str, Any], module: str = "service", failed: bool = False) -> list[Entry]:
    """Return the entries of a result."""
    return list(read_result(result, Origin("Order", "localhost", module, failed=failed)))


def test_a_move_is_read_with_its_amounts() -> None:
    arguments = {"module_args": {"base_url": "https://one"}}
    [entry] = read(
        {
            "cost": cost_of(project="shop", balance="5.00", min_balance="0.36", days_covered=7),
            "invocation": arguments,
        }
    )
    assert (entry.service, entry.service_id, entry.platform) == ("web", "s1", "https://one")
    assert entry.project == "shop"
    assert (entry.before, entry.after) == (Decimal(0), Decimal("10.74"))
    assert (entry.balance, entry.min_balance) == (Decimal(5), Decimal("0.36"))
    assert entry.moves == ("order",) and entry.days_covered == 7
    assert entry.currency == "EUR" and entry.reason is None


def test_each_service_of_a_task_over_many_is_read() -> None:
    services = [{"cost": cost_of(service="a")}, {"cost": None}, {"cost": cost_of(service="b")}]
    found = read({"services": services}, "sleep_plan")
    assert [(each.service, each.after) for each in found] == [
        ("a", Decimal("10.74")),
        ("b", Decimal("10.74")),
    ]


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
    assert (unpriced.after, unpriced.reason) == (None, UNPRICED)
    assert (unconfirmed.after, unconfirmed.reason) == (None, UNCONFIRMED)


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


def test_each_part_of_a_task_over_many_is_read_beside_its_own_cost() -> None:
    result = {"cost": cost_of(service="a"), "parts": [{"cost": cost_of(service="b")}]}
    assert [each.service for each in read(result, "blueprint")] == ["a", "b"]
