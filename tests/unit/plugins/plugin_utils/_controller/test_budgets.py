# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The budget of a task: every place that sets one is heard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, cast

from ansible.playbook.task import Task

from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import with_budget

ACTION = "hosted.services.service"


def limited(
    *levels: Any,
    arguments: dict[str, Any] | None = None,
    environments: Sequence[dict[str, str]] = (),
    variables: dict[str, Any] | None = None,
    template: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Return the budget of a task with defaults of so many levels."""
    task = cast(Task, SimpleNamespace(module_defaults=list(levels), resolved_action=ACTION))
    given = {"name": "web", **(arguments or {})}
    found = with_budget(given, task, environments, variables or {}, template)
    assert found["name"] == "web"
    return found.get("budget")


def test_all_places_are_heard_and_the_lowest_of_each_kind_counts() -> None:
    projects = [{"projects": {str(number): number}} for number in range(8)]
    values: dict[Any, Any] = {"{{ six }}": projects[6], "{{ all_defaults }}": {"budget": projects[7]}}
    found = limited(
        {"group/hosted.services.all": {"budget": projects[5]}, "group/others": {"budget": 1}},
        {ACTION: {"budget": "{{ six }}"}, "hosted.services.app": {"budget": 2}},
        {ACTION: "{{ all_defaults }}"},
        arguments={"budget": {"run": 1, "account": 100}},
        environments=[{"HOSTED_SERVICES_BUDGET": "3"}, {}, {"HOSTED_SERVICES_BUDGET": "{run: 4}"}],
        variables={
            "hosted_budget": projects[0],
            "hosted_inventory_budget": projects[1],
            "hosted_held_budget": projects[2],
        },
        template=lambda value: values.get(str(value), value),
    )
    limits = {str(number): f"{number}.00" for number in (0, 1, 2, 5, 6, 7)}
    assert found == {"account": "3.00", "run": "1.00", "projects": limits}


def test_a_budget_of_the_play_does_not_hide_that_of_the_rulebook() -> None:
    variables = {"hosted_budget": {"account": 200, "run": 20}, "hosted_held_budget": {"run": 0}}
    assert limited(variables=variables) == {"account": "200.00", "run": "0.00"}
