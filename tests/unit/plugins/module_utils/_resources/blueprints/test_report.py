# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One price for all parts."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.report import (
    Report,
    with_label,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Cost, Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Step
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.blueprints.test_parts import Account, parts_of


def priced(part: Part, before: str | None, after: str | None) -> None:
    """Let a part change the price."""
    rates = tuple(None if each is None else Decimal(each) for each in (before, after))
    step = Step(
        "order",
        lambda: None,
        move=Move("order", rates[1]),
        commitment=Commitment("order", part.name, rates[1]),
    )
    part.plan = Plan(result={"id": f"id-{part.key}"}, steps=[step], cost=Cost(rates[0], rates[1]))
    part.result = part.plan.result


def report(check_mode: bool = True) -> Report:
    """Return the report on three parts, the second of which has no known price."""
    parts = parts_of(Account(), {"a": (), "b": (), "c": ()}, check_mode)
    parts.task.memory["currency"] = None
    for part, amounts in zip(parts.found, (("0", "1.50"), (None, "2"), ("4", "1")), strict=True):
        priced(part, *amounts)
    return Report(parts.task, parts.found)


def total(found: Report) -> dict[str, Any]:
    """Return the price of all parts together."""
    found.tell_price()
    cost: dict[str, Any] = found.task.effects.facts["cost"]
    return cost


def test_the_sum_names_what_it_leaves_out() -> None:
    cost = total(report())
    assert (cost["monthly_before"], cost["monthly_after"], cost["monthly_change"]) == (
        "4.00",
        "2.50",
        "-1.50",
    )
    assert cost["unpriced"] == ["thing 'b'"]
    assert [line["monthly_after"] for line in cost["lines"]] == ["1.50", "2.00", "1.00"]


def test_each_part_has_its_own_price() -> None:
    entries = report().entries()
    assert [entry["cost"]["moves"] for entry in entries] == [["order"]] * 3
    assert [entry["cost"]["service_id"] for entry in entries] == ["id-a", "id-b", "id-c"]


def test_what_was_not_done_costs_nothing() -> None:
    found = report(check_mode=False)
    found.tell_price()
    assert "cost" not in found.task.effects.facts
    assert [entry["cost"] for entry in found.entries()] == [None] * 3
    effects = found.parts[0].task.effects
    effects.finish("order", Move("order", Decimal("1.50")))
    assert total(found)["monthly_after"] == "1.50"


def test_a_part_that_was_never_planned_has_no_actions() -> None:
    """One that another part holds up: there is nothing to tell of it yet."""
    parts = parts_of(Account(), {"a": ()}, check_mode=True)
    [entry] = Report(parts.task, parts.found).entries()
    assert entry["actions"] == [] and not entry["changed"]


def test_a_diff_holds_what_differs() -> None:
    parts = parts_of(Account(there=["a"]), {"a": (), "b": ["a"]}, check_mode=True)
    parts.make_plans()
    plan = Plan(result=[])
    Report(parts.task, parts.found).update(plan)
    assert (plan.before, plan.after) == ({}, {"thing 'b' key": "b"})


def test_what_one_part_makes_was_not_there_before_another_part_of_it() -> None:
    """Such as a service that is ordered, and started once it was restored."""
    parts = parts_of(Account(), {"a": (), "b": ()})
    first, second = parts.found
    second.name, second.key = first.name, first.key
    first.plan = Plan(result={}, before={}, after={"status": "ACTIVE", "state": "stopped"})
    second.plan = Plan(result={}, before={"state": "stopped"}, after={"state": "running"})
    plan = Plan(result=[])
    Report(parts.task, parts.found).update(plan)
    assert (plan.before, plan.after) == ({}, {"thing 'a' status": "ACTIVE", "thing 'a' state": "running"})
    first.plan = Plan(
        result={}, before={"state": "running", "size": 1}, after={"state": "stopped", "size": 2}
    )
    Report(parts.task, parts.found).update(plan)
    assert plan.before == {"thing 'a' state": "running", "thing 'a' size": 1}
    assert plan.after == {"thing 'a' state": "running", "thing 'a' size": 2}


def test_each_line_of_a_diff_says_whose_it_is() -> None:
    """Also of what is empty, and of the parts of a value."""
    size = {"cpu_cores": 2, "ram_gb": 4}
    assert with_label("service 'db'", {"dimensions": size, "public": False, "command": None}) == {
        "service 'db' dimensions cpu_cores": 2,
        "service 'db' dimensions ram_gb": 4,
        "service 'db' public": False,
        "service 'db' command": None,
    }
    assert with_label("file", "text") == {"file": "text"} and with_label("file", "") == {}


def refused(*keys: str) -> dict[str, Any]:
    """Return what the result says when these of three parts cannot be planned."""
    parts = parts_of(Account(), {"a": (), "b": (), "c": ()})
    for part in parts.found:
        if part.key in keys:
            part.error = Invalid(f"{part.key} is full", choices=[f"more {part.key}"])
    error = Report(parts.task, parts.found).refusal()
    return {} if error is None else {"msg": error.message, **error.details}


def test_a_refusal_has_what_a_single_cause_brought_along() -> None:
    """As the module of that part would tell it, for plays that decide by it."""
    told = refused("b")
    assert "1 part of the" in told["msg"] and "thing 'b': b is full" in told["msg"]
    assert told["choices"] == ["more b"] and [part["key"] for part in told["parts"]] == ["b"]


def test_a_refusal_for_two_causes_has_the_facts_of_neither() -> None:
    """Whose they are could not be told."""
    told = refused("a", "c")
    assert "2 parts of the" in told["msg"] and "thing 'a': a is full\n- thing 'c': c is full" in told["msg"]
    assert "choices" not in told and [part["key"] for part in told["parts"]] == ["a", "c"]


def test_what_can_be_planned_is_not_refused() -> None:
    assert refused() == {}
