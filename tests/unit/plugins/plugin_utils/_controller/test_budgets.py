# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The budget of a task: every place that sets one is heard."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ansible.playbook.task import Task

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._controller.budgets import (
    budget_sources,
    with_budget,
)

ACTION = "hosted.services.service"


def task_with(*levels: dict[str, Any]) -> Task:
    return cast(Task, SimpleNamespace(module_defaults=list(levels), resolved_action=ACTION))


def test_all_places_are_heard() -> None:
    task = task_with(
        {"group/hosted.services.all": {"budget": 5}, "group/others": {"budget": 1}},
        {ACTION: {"budget": "{{ six }}"}, "hosted.services.app": {"budget": 2}},
        {ACTION: "{{ all_defaults }}"},
    )
    environments = [{"HOSTED_SERVICES_BUDGET": "3"}, {}, {"HOSTED_SERVICES_BUDGET": "4"}]
    variables = {"hosted_budget": 7, "hosted_inventory_budget": 8, "hosted_held_budget": 10}
    values: dict[Any, Any] = {"{{ six }}": 6, "{{ all_defaults }}": {"budget": 9}}
    found = budget_sources(task, environments, variables, lambda value: values.get(str(value), value))
    assert [str(value) for __, value in found] == ["3", "4", "7", "8", "10", "5", "6", "9"]
    arguments = with_budget({"name": "web", "budget": {"run": 1, "account": 100}}, found)
    assert arguments == {"name": "web", "budget": {"account": "3.00", "run": "1.00"}}


def test_a_budget_of_the_play_does_not_hide_that_of_the_rulebook() -> None:
    variables = {"hosted_budget": {"account": 200, "run": 20}, "hosted_held_budget": {"run": 0}}
    found = budget_sources(task_with(), [], variables, lambda value: value)
    assert with_budget({"name": "web"}, found)["budget"] == {"account": "200.00", "run": "0.00"}


@pytest.mark.parametrize("value", [None, "", {}])
def test_a_place_with_nothing_in_it_is_named(value: Any) -> None:
    with pytest.raises(Invalid, match="hosted_budget is"):
        with_budget({"name": "web"}, [("hosted_budget", value)])


@pytest.mark.parametrize("levels", [None, [], [{}], [{"hosted.services.app": {"budget": 2}}]])
def test_where_nothing_is_set_there_is_no_budget(levels: Any) -> None:
    """Defaults may hold anything else, or be no mapping at all."""
    bare = SimpleNamespace(module_defaults=levels, resolved_action=ACTION)
    assert budget_sources(cast(Task, bare), [{}], {"other": 1}, lambda value: value) == []
    for other in ({"name": "web"}, None, "budget"):
        assert budget_sources(task_with({ACTION: other}), [], {}, lambda value: value) == []
