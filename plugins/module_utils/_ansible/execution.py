# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a task: turns its options into a plan, applies the plan, and returns the result.

The action plugins and the modules both call :func:`execute` and return its result unchanged, so that both
ways of running a task give the same result.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from .._api.client import Client
from .._api.connection import Connection
from .._api.errors import HostedError
from .._api.libraries import require
from .._api.session import Session
from .._api.text import HIDDEN, PRIVATE_KEY, Redactor, tell_secrets
from .._resources.services.commitments import BudgetGuard
from .._resources.shared import runner
from .._resources.shared.connecting import connection
from .._resources.shared.currency import currency_of, format_price
from .._resources.shared.effects import Effects
from .._resources.shared.options import is_carried
from .._resources.shared.plan import Plan, Resource, Task
from .._resources.shared.run_memory import foresee
from .diff import as_diff, describe_subject
from .options import argument_spec, check_waiting

USER_IN_URL = re.compile(r"//.*@")
"""Matches the user name and password in a URL. They are rejected, but must not be shown either."""
COLLECTION_PATH = os.path.join("hosted", "services", "plugins")
SHORTEST_SECRET = 4
"""Shorter secrets match by chance, and redacting them everywhere would reveal them."""


@dataclass
class RunContext:
    """What differs between running a task in the controller and as a module."""

    check_mode: bool = False
    diff: bool = False
    progress: Callable[[str], None] = lambda line: None
    log: Callable[[str], None] = lambda line: None
    connect: Callable[[Connection, Callable[[str], None]], Client] = field(
        default=lambda settings, log: Client(Session(settings, log))
    )


def execute(resource: Resource, options: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Run a task and return its result in Ansible's form. Any exception becomes a failed result."""
    result: dict[str, Any] = {"changed": False}
    warnings: list[str] = []
    task: Task | None = None
    client: Any = None
    redact: Redactor | None = None
    never_shown = never_shown_values(resource, options)
    tell_secrets([*never_shown, *values_called_secret(resource, options)])
    try:
        require()
        check_waiting(options)
        if resource.needs_api(options):
            settings = connection(options, resource.name)
            warnings += settings.warnings
            client = context.connect(settings, context.log)
            client.hide(partial(secrets_of, resource, options))
        redact = redactor_of(resource.redacted_values(options))
        progress = redacting(context.progress, redact)
        task = Task(client, resource.read_options(options), context.check_mode, progress, warnings)
        task.guard = guard = BudgetGuard(task)
        if client is not None:
            client.on_commit = guard.committing
            client.report_pauses(progress)
        with task.closing:
            with task.planning():
                plan = resource.plan(task)
                guard.expect(plan)
            add_plan(resource, plan, task, context, result)
            if context.check_mode:
                foresee(resource, task, plan)
                raise_foreseen_failure(plan, result)
            else:
                apply_and_report(resource, plan, task, context, result)
    except HostedError as error:
        result.update(without_secrets(resource, options, failed_result(error)))
        if task is not None:
            result["changed"] |= task.effects.changed_before(error)
            result.update(without_secrets(resource, options, left_open(task.effects)))
    except Exception as error:  # a defect of the collection
        result.update(defect_result(error))
    if task is not None:
        result.update(task.effects.facts)
    if warnings:
        result["warnings"] = without_secrets(resource, options, warnings)
    result["invocation"] = {"module_args": shown_options(resource, options)}
    shown: dict[str, Any] = map_strings(result, redact) if redact else result
    return map_strings(shown, partial(without_values, never_shown)) if never_shown else shown


def left_open(effects: Effects) -> dict[str, list[str]]:
    """Return the actions of a failed task that the platform has not finished, or may not have begun."""
    open_actions = {"unfinished": effects.begun, "unconfirmed": effects.unknown}
    return {key: actions for key, actions in open_actions.items() if actions}


def add_plan(
    resource: Resource, plan: Plan, task: Task[Any], context: RunContext, result: dict[str, Any]
) -> None:
    """Add the plan's result, actions, cost and diff to ``result``."""
    result.update({resource.result_key: plan.result, "changed": plan.changed, "actions": plan.actions})
    result.pop("cost", None)  # that of the plan as it was before its steps
    if plan.cost is not None:
        result["cost"] = plan.cost.as_dict(currency_of(task), plan.moves)
    if context.diff:
        subject = describe_subject(resource.name, vars(task.options), plan)
        result["diff"] = as_diff(plan, subject, partial(format_price, task))


def raise_foreseen_failure(plan: Plan, result: dict[str, Any]) -> None:
    """Raise what branches of a plan are refused for, as the run itself would after the others."""
    error = plan.failure() if plan.failure else None
    if error is not None:
        result.pop("diff", None)
        raise error


def add_cost(plan: Plan, task: Task[Any], state: Any, result: dict[str, Any]) -> None:
    """Put into ``result`` what was done to the price, if anything was, also when a later step failed."""
    effects = task.effects
    cost = None if plan.cost is None else effects.cost(plan.cost)
    if cost is None and plan.moves:
        result.pop("cost", None)
    elif cost is not None:
        shown = state.get("id") if isinstance(state, dict) else None
        id = cost.service_id or effects.facts.get("service_id") or shown
        done = [*effects.moves, *effects.unsure_moves]
        result["cost"] = replace(cost, service_id=id).as_dict(currency_of(task), done)


def apply_and_report(
    resource: Resource, plan: Plan, task: Task, context: RunContext, result: dict[str, Any]
) -> None:
    """Apply the plan. If a step raises, ``result`` holds the steps done and the state that they left."""
    effects = task.effects
    try:
        runner.apply_plan(plan, task)
        now = plan.reread() if effects.actions and plan.reread is not None else plan.result
        add_plan(
            resource, plan, task, context, result
        )  # a step may have found more or less to do than planned
        result.update({resource.result_key: now, "changed": effects.changed, "actions": effects.actions})
        add_cost(plan, task, now, result)
    except Exception:
        result.pop("diff", None)
        left = state_after_failure(plan, effects)
        result.update({"changed": effects.changed, "actions": effects.actions, resource.result_key: left})
        add_cost(plan, task, left, result)
        raise


def state_after_failure(plan: Plan, effects: Effects) -> Any:
    """Return the current state after a failed task; ``None`` if nothing was done or it cannot be read."""
    if not effects.actions or plan.reread is None:
        return None
    try:
        return plan.reread()
    except Exception:  # must not replace the error that is being reported
        return None


def failed_result(error: HostedError) -> dict[str, Any]:
    """Return an error as a failed result."""
    return {"failed": True, "msg": error.message, **error.details}


def defect_result(error: Exception) -> dict[str, Any]:
    """Return an unexpected exception as a failed result: its type and where it was raised.

    Its message is left out, because it may hold secrets, such as the headers of a request.
    """
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{os.path.basename(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames]
    ours = [
        place for place, frame in zip(places, frames, strict=True) if COLLECTION_PATH in frame.filename
    ] or places
    return {
        "failed": True,
        "msg": f"this is a defect of the collection: {type(error).__name__} at {ours[-1]}. Its text is not "
        "shown, as it may hold secrets. Please report it with the places that are in this result",
        "places": places,
    }


def secrets_of(resource: Resource, options: Mapping[str, Any]) -> set[str]:
    """Return the values of the secret options that are long enough to be redacted."""
    names = hidden_options(resource, argument_spec(resource)) - resource.secret_options
    pasted = [value for value in options.values() if holds_private_key(value)]
    found = [*map(options.get, names), resource.secret_values(options), *pasted]
    return {value for value in string_values(found) if len(value) >= SHORTEST_SECRET}


def never_shown_values(resource: Resource, options: Mapping[str, Any]) -> list[str]:
    """Return the values of ``no_log`` options, the longest first: no result holds them."""
    names = hidden_options(resource, argument_spec(resource)) - resource.secret_options
    found = {value for value in string_values([*map(options.get, names)]) if len(value) >= SHORTEST_SECRET}
    return sorted(found, key=len, reverse=True)


def values_called_secret(resource: Resource, options: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values of the options that are secret by their name: in others, most are common words."""
    return string_values(
        [options.get(name) for name in resource.secret_options if name.startswith("secret_")]
    )


def without_values(values: Sequence[str], text: str) -> str:
    """Return a text with each of these values redacted, as they are."""
    for value in values:
        text = text.replace(value, HIDDEN)
    return text


def redactor_of(values: Iterable[str]) -> Redactor | None:
    """Return what redacts values in a text; ``None`` if there are none."""
    secrets = {value for value in values if len(value) >= SHORTEST_SECRET}
    return Redactor(secrets) if secrets else None


def redacting(show: Callable[[str], None], redact: Redactor | None) -> Callable[[str], None]:
    """Return a function that shows a line after it was redacted."""
    return (lambda line: show(redact(line))) if redact else show


def without_secrets(resource: Resource, options: Mapping[str, Any], said: Any) -> Any:
    """Return ``said``, text or nested data for the user, with the values of secret options redacted."""
    secrets = secrets_of(resource, options)
    return map_strings(said, Redactor(secrets)) if secrets else said


def holds_private_key(value: Any) -> bool:
    """Tell whether the value of an option is a private key, in whichever option it was pasted."""
    return isinstance(value, str) and PRIVATE_KEY in value


def string_values(value: Any) -> Iterator[str]:
    """Yield every string and number inside ``value``, as a string."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from string_values(item)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def map_strings(value: Any, redact: Callable[[str], str]) -> Any:
    """Return ``value`` with ``redact`` applied to every string in it."""
    if isinstance(value, dict):
        return {key: map_strings(item, redact) for key, item in value.items()}
    if isinstance(value, list):
        return [map_strings(item, redact) for item in value]
    return redact(value) if isinstance(value, str) else value


def hidden_options(resource: Resource, spec: Mapping[str, Any]) -> set[str]:
    """Return the names of the options whose values are never shown."""
    return {name for name, option in spec.items() if option.get("no_log")} | resource.secret_options


def shown_options(resource: Resource, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with secret values hidden.

    Values of unknown options are hidden, too: the name may be a misspelled secret option.
    """
    spec = argument_spec(resource)
    aliases = {alias for option in spec.values() for alias in option.get("aliases", ())}
    plain = {*spec, *aliases} - hidden_options(resource, spec)

    def is_hidden(name: str, value: Any) -> bool:
        return holds_private_key(value) or (name not in plain and value not in (None, {}, []))

    shown = {
        name: HIDDEN if is_hidden(name, value) else value
        for name, value in options.items()
        if not is_carried(name)
    }
    if isinstance(shown.get("base_url"), str):
        shown["base_url"] = USER_IN_URL.sub("//", shown["base_url"])
    return shown
