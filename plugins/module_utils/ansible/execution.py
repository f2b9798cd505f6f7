# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options to a result: the one place where a plan is made, shown or carried out.

Both ways of running a task, inside the controller and as a module, call :func:`execute` and pass on what
it returns. So their results are the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..api.client import Client
from ..api.connection import Connection
from ..api.errors import HostedError
from ..api.libraries import require
from ..api.text import HIDDEN
from ..api.transport import Transport
from ..resources.plan import Plan, Resource, Task
from .diff import as_diff
from .options import CONNECTION, connection

USER_IN_URL = re.compile(r"//.*@")
"""A user name and a password in a URL, which are refused but must not be shown either."""


@dataclass
class Surroundings:
    """What the way of running a task brings along."""

    check_mode: bool = False
    diff: bool = False
    progress: Callable[[str], None] = lambda line: None
    log: Callable[[str], None] = lambda line: None
    connect: Callable[[Connection, Callable[[str], None]], Client] = field(
        default=lambda settings, log: Client(Transport(settings, log))
    )


def execute(resource: Resource, options: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """Run a task and return its result, as Ansible wants it. Errors become a failed result."""
    result: dict[str, Any] = {"changed": False}
    task = None
    try:
        require()
        client: Any = None
        if resource.needs_api(options):
            client = around.connect(connection(options), around.log)
        task = Task(client, options, around.check_mode, around.progress)
        with task.closing:
            plan = resource.plan(task)
            describe(resource, plan, around, result)
            if not around.check_mode:
                carry_out(resource, plan, result)
    except HostedError as error:
        result.update({"failed": True, "msg": error.message, **error.details})
    if task is not None:
        result.update(task.facts)
        if task.warnings:
            result["warnings"] = task.warnings
    result["invocation"] = {"module_args": shown_options(resource, options)}
    return result


def describe(resource: Resource, plan: Plan, around: Surroundings, result: dict[str, Any]) -> None:
    """Put into ``result`` what the plan says."""
    result[resource.noun] = plan.result
    result["changed"] = plan.changed
    result["actions"] = [step.summary for step in plan.steps]
    if plan.cost is not None:
        result["cost"] = plan.cost.as_dict()
    if around.diff:
        result["diff"] = as_diff(plan)


def carry_out(resource: Resource, plan: Plan, result: dict[str, Any]) -> None:
    """Make the plan's calls. When one raises, ``result`` tells how far it came, not what was wished."""
    done: list[str] = []
    try:
        for step in plan.steps:
            step.run()
            done.append(step.summary)
        if done and plan.reread is not None:
            result[resource.noun] = plan.reread()
        if done and plan.had_effect is not None:
            result["changed"] = plan.had_effect()
    except HostedError:
        result.pop("diff", None)
        result.update({"changed": bool(done), "actions": done, resource.noun: as_left(plan, done)})
        raise


def as_left(plan: Plan, done: Sequence[str]) -> Any:
    """Return the noun as a failed task has left it; nothing where that cannot be read."""
    if not done or plan.reread is None:
        return None
    try:
        return plan.reread()
    except HostedError:
        return None


def shown_options(resource: Resource, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without the secrets among them."""
    spec = {**CONNECTION, **resource.options}
    hidden = {name for name, option in spec.items() if option.get("no_log")} | resource.secret_options
    shown = {
        name: HIDDEN if name in hidden and value not in (None, {}, []) else value
        for name, value in options.items()
    }
    if isinstance(shown.get("base_url"), str):
        shown["base_url"] = USER_IN_URL.sub("//", shown["base_url"])
    return shown
