# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From options to a result: the one place where a plan is made, shown or carried out.

Both ways of running a task, inside the controller and as a module, call :func:`execute` and pass on what
it returns. So their results are the same.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .._api.client import Client
from .._api.connection import Connection
from .._api.errors import OF_A_CALL, HostedError
from .._api.libraries import require
from .._api.session import Session
from .._api.text import HIDDEN, Redactor
from .._resources.shared.plan import Plan, Resource, Task, carry_out_step
from .diff import as_diff
from .options import argument_spec, check_waiting, connection

USER_IN_URL = re.compile(r"//.*@")
"""A user name and a password in a URL, which are refused but must not be shown either."""
OURS = os.path.join("hosted", "services", "plugins")
SHORTEST_SECRET = 4
"""Shorter ones come up by chance, and hiding them everywhere would tell what they are."""


@dataclass
class Surroundings:
    """What the way of running a task brings along."""

    check_mode: bool = False
    diff: bool = False
    progress: Callable[[str], None] = lambda line: None
    log: Callable[[str], None] = lambda line: None
    connect: Callable[[Connection, Callable[[str], None]], Client] = field(
        default=lambda settings, log: Client(Session(settings, log))
    )


def execute(resource: Resource, options: Mapping[str, Any], around: Surroundings) -> dict[str, Any]:
    """Run a task and return its result, as Ansible wants it. Errors become a failed result, defects too."""
    result: dict[str, Any] = {"changed": False}
    task: Task | None = None
    client: Any = None
    try:
        require()
        check_waiting(options)
        if resource.needs_api(options):
            client = around.connect(connection(options, resource.name), around.log)
            client.hide(partial(secrets_of, resource, options))
        task = Task(client, resource.read_options(options), around.check_mode, around.progress)
        with task.closing:
            plan = resource.plan(task)
            describe(resource, plan, around, result)
            if not around.check_mode:
                carry_out(resource, plan, result, around.progress, client)
    except HostedError as error:
        result.update(without_secrets(resource, options, failure(error)))
        result["changed"] |= left_half_way(error, client)
    except Exception as error:  # one that nobody foresaw
        result.update(defect(error))
    if task is not None:
        result.update(task.facts)
        if task.warnings:
            result["warnings"] = without_secrets(resource, options, task.warnings)
    result["invocation"] = {"module_args": shown_options(resource, options)}
    return result


def left_half_way(error: HostedError, client: Any) -> bool:
    """Tell whether a call failed after others had changed something. Other errors say themselves what was."""
    return isinstance(error, OF_A_CALL) and client is not None and bool(client.carried_out)


def describe(resource: Resource, plan: Plan, around: Surroundings, result: dict[str, Any]) -> None:
    """Put into ``result`` what the plan says."""
    result[resource.result_key] = plan.result
    result["changed"] = plan.changed
    result["actions"] = [step.summary for step in plan.steps]
    if plan.cost is not None:
        result["cost"] = plan.cost.as_dict()
    if around.diff:
        result["diff"] = as_diff(plan)


def carry_out(
    resource: Resource,
    plan: Plan,
    result: dict[str, Any],
    progress: Callable[[str], None] = lambda line: None,
    client: Any = None,
) -> None:
    """Make the plan's calls. When one raises, ``result`` tells how far it came, not what was wished."""
    done: list[str] = []
    try:
        for number, step in enumerate(plan.steps, 1):
            if number > 1:
                progress(f"step {number} of {len(plan.steps)}: {step.summary}")
            carry_out_step(step, done, client)
        result["actions"] = done
        if done and plan.reread is not None:
            result[resource.result_key] = plan.reread()
        if done and plan.had_effect is not None:
            result["changed"] = plan.had_effect()
        if "diff" in result:  # a step may have found that there is less to do
            result["diff"] = as_diff(plan)
    except Exception:
        result.pop("diff", None)
        result.update({"changed": bool(done), "actions": done, resource.result_key: as_left(plan, done)})
        raise


def as_left(plan: Plan, done: Sequence[str]) -> Any:
    """Return the noun as a failed task has left it; nothing where that cannot be read."""
    if not done or plan.reread is None:
        return None
    try:
        return plan.reread()
    except Exception:  # the first error is the one to tell
        return None


def failure(error: HostedError) -> dict[str, Any]:
    """Return what an error says."""
    return {"failed": True, "msg": error.message, **error.details}


def defect(error: Exception) -> dict[str, Any]:
    """Return what is said of an error that is a mistake of the collection: its kind and place, in one line.

    Its text is left out, because it may hold whatever was at hand, such as the headers of a request.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
    ours = [place for place, frame in zip(places, frames, strict=True) if OURS in frame.filename] or places
    return {
        "failed": True,
        "msg": f"this is a defect of the collection: {type(error).__name__} at {ours[-1]}. Its text is not "
        "shown, as it may hold secrets. Please report it with the places that are in this result",
        "places": places,
    }


def secrets_of(resource: Resource, options: Mapping[str, Any]) -> set[str]:
    """Return the secrets among the options, so far as they are long enough to be hidden."""
    names = hidden_options(resource, argument_spec(resource))
    values = {value for name in names for value in string_values(options.get(name))}
    return {value for value in values if len(value) >= SHORTEST_SECRET}


def without_secrets(resource: Resource, options: Mapping[str, Any], said: Any) -> Any:
    """Return what is said to the user without the secrets of the options, wherever it was taken from."""
    secrets = secrets_of(resource, options)
    return replaced(said, Redactor(secrets)) if secrets else said


def string_values(value: Any) -> Iterator[str]:
    """Yield every text and number inside ``value``."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from string_values(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def replaced(value: Any, redact: Callable[[str], str]) -> Any:
    """Return ``value`` with every text inside it as ``redact`` returns it."""
    if isinstance(value, dict):
        return {key: replaced(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [replaced(item, redact) for item in value]
    return redact(value) if isinstance(value, str) else value


def hidden_options(resource: Resource, spec: Mapping[str, Any]) -> set[str]:
    """Return the names of the options whose values are never shown."""
    return {name for name, option in spec.items() if option.get("no_log")} | resource.secret_options


def shown_options(resource: Resource, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options without the secrets among them.

    The value of a name that is no option is hidden too: it may be that of a secret with a slip in it.
    """
    spec = argument_spec(resource)
    aliases = {alias for option in spec.values() for alias in option.get("aliases", ())}
    plain = {*spec, *aliases} - hidden_options(resource, spec)
    shown = {
        name: value if name in plain or value in (None, {}, []) else HIDDEN for name, value in options.items()
    }
    if isinstance(shown.get("base_url"), str):
        shown["base_url"] = USER_IN_URL.sub("//", shown["base_url"])
    return shown
