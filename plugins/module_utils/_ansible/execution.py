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
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

from .._api.client import Client
from .._api.connection import Connection
from .._api.errors import ConfigurationError, HostedError
from .._api.libraries import MISSING, require, yaml
from .._api.text import HIDDEN, PRIVATE_KEY, Redactor, printable, shortened, tell_secrets
from .._resources.shared import journal, runner
from .._resources.shared.account import Reads
from .._resources.shared.budget import Guard
from .._resources.shared.connecting import connection
from .._resources.shared.money import currency_of, format_amount, format_price
from .._resources.shared.plan import Plan, Resource, Task
from .._resources.shared.run_memory import foresee
from .options import argument_spec

USER_IN_URL = re.compile(r"//.*@")
"""Matches the user name and password in a URL. They are rejected, but must not be shown either."""
COLLECTION_PATH = os.path.join("hosted", "services", "plugins")
SHORTEST_SECRET = 4
"""Shorter secrets match by chance, and redacting them everywhere would reveal them."""
UNFOLDED = float("inf")
"""A value of a diff stays in one line: folded, a secret in it would not be found, and so not redacted."""
NAMING_OPTIONS = ("slug", "services", "service", "name", "id")
"""The options that name what a task works on, the most telling first."""


@dataclass
class RunContext:
    """What differs between running a task in the controller and as a module."""

    check_mode: bool = False
    diff: bool = False
    progress: Callable[[str], None] = lambda line: None
    log: Callable[[str], None] = lambda line: None
    connect: Callable[[Connection, Callable[[str], None]], Client] = Client


def execute(resource: Resource, options: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Run a task and return its result in Ansible's form. Any exception becomes a failed result."""
    result: dict[str, Any] = {"changed": False}
    nothing: Any = None
    task, secrets = Task(nothing, nothing, context.check_mode), Secrets(resource, options)
    effects = task.effects
    try:
        if MISSING:
            require()
        run_task(task, secrets, context, result)
    except HostedError as error:
        # what the platform has not finished, and what it may not have begun
        left_open = {"unfinished": effects.begun, "unconfirmed": effects.unknown}
        named = {key: actions for key, actions in left_open.items() if actions}
        result.update(secrets.without({"failed": True, "msg": error.message, **error.details, **named}))
        result["changed"] |= effects.changed_before(error)
    except Exception as error:  # a defect of the collection
        result.update(defect_result(error))
    result.update(effects.facts)
    if task.warnings:
        result["warnings"] = secrets.without(task.warnings)
    result["invocation"] = {"module_args": shown_options(resource, options)}
    shown: dict[str, Any] = secrets.hide(result)
    return shown


def run_task(task: Task, secrets: Secrets, context: RunContext, result: dict[str, Any]) -> None:
    """Make the plan, add it to ``result``, and apply it or, in check mode, let later tasks know of it."""
    resource, options = secrets.resource, secrets.options
    for name in ("wait_timeout", "wait_interval", "quiet_time"):
        value = options.get(name)
        if value is not None and not 0 <= value < float("inf"):
            raise ConfigurationError(f"{name} is {value:g}; it must be a number of seconds of 0 or more")
    task.options = resource.read_options(options)
    if resource.secret_options and (redacted := resource.redacted_values(options)):
        secrets.redact = Redactor(texts_in(redacted))
    task.progress = lambda line: context.progress(secrets.hide(line))
    task.guard = guard = Guard(task)
    if resource.needs_api(options):
        settings = connection(task.options, resource.name)
        task.warnings += settings.warnings
        secrets.token = settings.token
        task.client = client = context.connect(settings, context.log)
        client.redactor, client.on_pause = secrets.without, task.progress
        # A plan may add a budget, when clients for threads have been cloned.
        client.on_commit = lambda own, made: guard.committing(own, made) if guard.budgets else nullcontext()
        task.tell = partial(journal.note, module=resource.name, redact=secrets.hide, warn=task.warn)
    with task.closing:
        task.reads = Reads()
        plan = resource.plan(task)
        if plan.steps and guard.budgets:
            guard.expect(plan)
        task.reads.kept = False
        add_plan(resource, plan, task, context, result)
        if context.check_mode:
            foresee(resource, task, plan)
            if plan.failure and (error := plan.failure()):  # as the run itself would after the other branches
                result.pop("diff", None)
                raise error
        elif plan.steps or plan.failure:
            apply_and_report(resource, plan, task, context, result)


def add_plan(
    resource: Resource, plan: Plan, task: Task[Any], context: RunContext, result: dict[str, Any]
) -> None:
    """Add the plan's result, actions, cost and diff to ``result``."""
    actions = plan.actions
    result.update({resource.result_key: plan.result, "changed": bool(actions), "actions": actions})
    result.pop("cost", None)  # that of the plan as it was before its steps
    if plan.cost is not None:
        result["cost"] = plan.cost.as_dict(currency_of(task), plan.moves)
    if context.diff:
        given = plan.subject or next(filter(None, map(vars(task.options).get, NAMING_OPTIONS)), "")
        names = ", ".join(map(str, given)) if isinstance(given, list) else given
        subject = f"{resource.name.replace('_', ' ')} {names}".rstrip()
        result["diff"] = as_diff(plan, shortened(printable(subject)), partial(format_price, task))


def apply_and_report(
    resource: Resource, plan: Plan, task: Task, context: RunContext, result: dict[str, Any]
) -> None:
    """Apply the plan. If a step raises, ``result`` holds what was done, its cost and the state after it."""
    effects, now, failed = task.effects, None, None
    try:
        runner.apply_plan(plan, task)
        now = plan.reread() if effects.actions and plan.reread is not None else plan.result
        # A step may have found more or less to do than planned.
        add_plan(resource, plan, task, context, result)
    except Exception as error:
        failed = error
        result.pop("diff", None)
        if effects.actions and plan.reread is not None:
            with suppress(Exception):  # which must not replace the error that is being reported
                now = plan.reread()
    changed = bool(effects.actions) and not effects.nothing_changed
    result.update({resource.result_key: now, "changed": changed, "actions": effects.actions})
    cost = None if plan.cost is None else effects.cost(plan.cost)
    if cost is not None:
        shown = now.get("id") if isinstance(now, dict) else None
        id = cost.service_id or effects.facts.get("service_id") or shown
        done = [*effects.moves, *effects.unsure_moves]
        result["cost"] = replace(cost, service_id=id).as_dict(currency_of(task), done)
    elif plan.moves:  # none of which was made
        result.pop("cost", None)
    if failed is not None:
        raise failed


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


def as_diff(plan: Plan, subject: str, price: Callable[[Decimal], str | None]) -> dict[str, str]:
    """Return the diff of a plan in Ansible's form. Ansible writes "before: " and "after: " into its header.

    ``price`` writes an amount; it is called only if there is a difference to show.
    """
    if plan.before == plan.after:
        text = as_yaml(plan.before, format_amount)
        return {"before": text, "after": text}
    diff = {"before": as_yaml(plan.before, price), "after": as_yaml(plan.after, price)}
    return {**diff, "before_header": subject, "after_header": subject}


def as_yaml(state: Mapping[str, Any] | str, price: Callable[[Decimal], str | None]) -> str:
    """Return ``state`` as YAML, with its keys in order; text as it is. ``price`` writes its amounts."""

    def shown(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: shown(item) for key, item in value.items()}
        return price(value) if isinstance(value, Decimal) else value

    if isinstance(state, str) or not state:
        return printable(str(state or ""))
    how: Any = {"sort_keys": False, "default_flow_style": False, "allow_unicode": True, "width": UNFOLDED}
    return printable(yaml.safe_dump(shown(state), **how))


class Secrets:
    """The secret values among the options of a task, and what is said without them."""

    def __init__(self, resource: Resource, options: Mapping[str, Any]) -> None:
        """Tell Ansible of what is secret by its name: of other options, most values are common words."""
        self.resource, self.options, self.token = resource, options, ""
        hidden = {name for name, option in argument_spec(resource).items() if option.get("no_log")}
        given = [str(options[name]) for name in hidden - resource.secret_options if options.get(name)]
        self.never_shown = sorted(
            (text for text in given if len(text) >= SHORTEST_SECRET), key=len, reverse=True
        )
        """What no result holds, the longest first."""
        self.redact: Redactor | None = None
        """Redacts other values that no key of a result hides."""
        self._redact_all: Redactor | None = None
        named = {name: options.get(name) for name in resource.secret_options if name.startswith("secret_")}
        tell_secrets([*self.never_shown, *(texts_in(named, shortest=1) if any(named.values()) else ())])

    def hide(self, said: Any) -> Any:
        """Return text or nested data without what is never shown."""
        if isinstance(said, dict):
            return {key: self.hide(item) for key, item in said.items()}
        if isinstance(said, list):
            return [self.hide(item) for item in said]
        if not isinstance(said, str):
            return said
        said = self.redact(said) if self.redact else said  # first, as these values may hold the others
        for value in self.never_shown:
            said = said.replace(value, HIDDEN)
        return said

    def without(self, said: Any) -> Any:
        """Return text or nested data for the user without any secret, in any encoding.

        They are collected for the first message: most tasks have none.
        """
        if self._redact_all is None:
            plain = [each for each in self.options.values() if isinstance(each, str) and PRIVATE_KEY in each]
            found = texts_in([*self.never_shown, self.resource.secret_values(self.options), *plain])
            self._redact_all = Redactor([self.token, *found])
        return self._redact_all(said)


def texts_in(value: Any, shortest: int = SHORTEST_SECRET) -> set[str]:
    """Return the strings and numbers inside ``value``, as strings, that have so many characters."""
    found, left = set[str](), [value]
    while left:
        each = left.pop()
        if isinstance(each, Mapping):
            left += each.values()
        elif isinstance(each, (list, tuple)):
            left += each
        elif each is not None and not isinstance(each, bool) and len(text := str(each)) >= shortest:
            found.add(text)
    return found


def shown_options(resource: Resource, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with secret values hidden.

    Values of unknown options are hidden, too: the name may be a misspelled secret option.
    """
    spec, shown = argument_spec(resource), dict[str, Any]()
    for name, value in options.items():
        if name.startswith("_"):  # which no user sets
            continue
        known = resource.aliases.get(name, name)
        is_plain = known in spec and not spec[known].get("no_log") and known not in resource.secret_options
        is_hidden = (not is_plain and value not in (None, {}, [])) or (
            isinstance(value, str) and PRIVATE_KEY in value
        )
        shown[name] = HIDDEN if is_hidden else value
    if isinstance(shown.get("base_url"), str):
        shown["base_url"] = USER_IN_URL.sub("//", shown["base_url"])
    return shown
