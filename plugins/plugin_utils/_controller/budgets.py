# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collect the budget of a task from all places that may set one. Each of them holds.

Unlike the settings of the connection, the nearest does not win: a guard that a nearer setting raises is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.playbook.task import Task

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    ENVIRONMENT,
    VARIABLE,
    Budget,
    read_budget,
)
from ansible_collections.hosted.services.plugins.plugin_utils._controller.values import untagged

GROUP = "group/hosted.services.all"
"""The name in ``module_defaults`` of the group of all modules."""
INVENTORY_VARIABLE = "hosted_inventory_budget"
VARIABLES = (VARIABLE, INVENTORY_VARIABLE, "hosted_held_budget")
"""Those of users, of the inventory file and of the rulebook hold_orders: one would hide the others."""


def with_budget(
    arguments: dict[str, Any],
    task: Task,
    environments: Sequence[Mapping[str, Any]],
    variables: Mapping[str, Any],
    template: Callable[[Any], Any],
) -> dict[str, Any]:
    """Return the arguments of a task with the limits of all places in the option ``budget``.

    A module that runs elsewhere finds there what the controller's variables and environment set.

    :raises Invalid: if one of them is not a budget.
    """
    found = [(ENVIRONMENT, each[ENVIRONMENT]) for each in environments if ENVIRONMENT in each]
    found += [(name, template(variables[name])) for name in VARIABLES if name in variables]
    for level in task.module_defaults or ():  # Ansible passes on the nearest one only
        for name in (task.resolved_action, GROUP):
            defaults = template(level[name]) if level and name in level else None
            if isinstance(defaults, Mapping) and "budget" in defaults:
                found.append(("budget of module_defaults", template(defaults["budget"])))
    if "budget" in arguments:
        found.append(("budget", arguments["budget"]))
    budget = Budget()
    for source, value in found:
        budget = budget.with_limits_of(read_budget(untagged(value), source))
    return {**arguments, "budget": budget.as_option()} if found else arguments
