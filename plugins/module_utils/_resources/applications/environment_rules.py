# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates environments before anything is sent (Applications, rule 7; Cross-service references)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..._api.errors import Refused
from ..._api.models import App, ProjectGraph
from ..shared.aliases import aliases_of, duplicate_aliases
from ..shared.identify import near_miss
from ..shared.options import StateDirOptions, names_given, option
from ..shared.plan import Task
from ..shared.relocation_record import successor_of
from ..shared.task_errors import Invalid, NoSuchItem
from .lookup import OnAppOptions

VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REFERENCE = re.compile(r"\$\{([a-z0-9][a-z0-9-]*)\.([A-Z][A-Z0-9_]*)\}")
"""Matches a reference: an alias, and a field in capitals. Only the platform looks at others in braces."""
MAX_VARIABLES = 100
RESERVED_VARIABLE = "PORT"
KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a dictionary"}


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions(OnAppOptions, StateDirOptions):
    """The options of a task that replaces an application's environment."""

    variables: dict[str, Any] | None = option(None, selects=True)
    secret_variables: dict[str, Any] | None = option(None, no_log=False, selects=True, secret=True)
    clear: bool = False
    force: bool = False
    project: str | None = option(None, selects=True)


def given_variables(options: EnvironmentOptions) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the plain and the secret variables. An empty environment requires ``clear``.

    Otherwise an empty variable of the play would remove the whole environment.
    """
    variables, secret = options.variables, options.secret_variables
    named = {"variables": variables, "secret_variables": secret}
    if options.clear:
        given = names_given(**named)
        if given:
            raise Invalid(f"clear removes every variable, so {' and '.join(given)} cannot be given with it")
        return {}, {}
    if not variables and not secret:
        raise Invalid(
            "neither variables nor secret_variables holds a variable, and the environment is replaced as a "
            "whole. Give the variables, or set clear: true to remove them all"
        )
    for name, value in named.items():
        if value is not None and not value:
            raise Invalid(
                f"{name} is an empty dictionary, and the environment is replaced as a whole: every variable "
                "that is not given is removed. Give the variables, or leave the option out (omit)"
            )
    return variables or {}, secret or {}


def merged(variables: Mapping[str, Any], secret: Mapping[str, Any]) -> dict[str, str]:
    """Merge plain and secret variables, and check all rules that need no call. Errors never quote a value.

    Only the user knows which text a value is that is none: whether ``yes`` or ``True`` is right.
    """
    both = sorted(variables.keys() & secret.keys())
    if both:
        raise Invalid(f"{', '.join(both)}: in variables and in secret_variables; give each variable once")
    empty = sorted(name for name, value in secret.items() if isinstance(value, str) and not value.strip())
    if empty:
        raise Invalid(
            f"{', '.join(empty)}: empty among the secret variables, as from a variable that is not set; give "
            "a value. One that is empty on purpose is no secret: write it with the plain variables"
        )
    environment = {**variables, **secret}
    if len(environment) > MAX_VARIABLES:
        raise Invalid(
            f"the environment has {len(environment)} variables; at most {MAX_VARIABLES} are allowed"
        )
    for name, value in environment.items():
        check_name(name)
        if not isinstance(value, str):
            kind = "empty" if value is None else KINDS.get(type(value), f"of type {type(value).__name__}")
            raise Invalid(
                f"the value of the variable {name} is {kind}; it must be a string: put it in quotes in the "
                "playbook"
            )
    return environment


def check_name(name: Any) -> None:
    """Check the name of a variable."""
    if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} is not a valid variable name: use only ASCII letters, digits and underscores, and do "
            "not begin with a digit"
        )
    if name == RESERVED_VARIABLE:
        raise Invalid(
            f"the variable {RESERVED_VARIABLE} is reserved: the platform sets it from the published port"
        )


# --- References ---------------------------------------------------------------------------------------


def references(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each reference as ``(variable, alias, field)``."""
    for name, value in environment.items():
        for alias, field in REFERENCE.findall(value):
            yield name, alias, field


def aliases_used(environment: Mapping[str, str]) -> set[str]:
    """Return the aliases that an environment refers to."""
    return {alias for _variable, alias, _field in references(environment)}


def redirected(value: str, aliases: Mapping[str, str]) -> str:
    """Return a value whose references name other aliases where ``aliases`` has one."""
    return REFERENCE.sub(lambda found: f"${{{aliases.get(found[1], found[1])}.{found[2]}}}", value)


def graphs_around(task: Task[EnvironmentOptions], app: App) -> list[ProjectGraph] | None:
    """Return the graph of the application's project; ``None`` if the token cannot read it.

    An application that does not exist yet may join any project, unless the task names one.
    """
    account = task.account

    def ids(graph: ProjectGraph) -> Iterator[str | None]:
        return (node.id for node in graph.nodes or [])

    if app.id:
        found = account.project_of_app(app, account.graph, ids)
        return None if found is None else [found]
    wanted = task.options.project
    try:
        projects = [account.project(wanted)] if wanted else account.projects()
        return [account.graph(project.id) for project in projects]
    except (NoSuchItem, Refused):
        return None


def led(
    task: Task[EnvironmentOptions], app: App, environment: dict[str, str], graph: ProjectGraph
) -> dict[str, str]:
    """Return an environment that refers to what is in the place of what a relocation left over.

    Warns of references to an alias that several services of the project have.
    """
    used, aliases, instead = aliases_used(environment), aliases_of(graph), dict[str, str]()
    for alias in sorted(duplicate_aliases(graph) & used):
        task.warn(
            f"several services of the project have the alias {alias!r}; which of them the environment of "
            f"application {app.slug!r} refers to is not documented"
        )
    for id, alias in {} if task.composition.copies else aliases.items():
        place = successor_of(task.options, aliases.__contains__, id, "") if alias in used else None
        if place is not None:
            instead[alias] = aliases[place.id]
            task.warn(
                f"{place.told}, so the environment of application {app.slug!r} refers to that. Write "
                f"{instead[alias]!r} in its references to {alias!r}"
            )
    return {name: redirected(value, instead) for name, value in environment.items()}


def check_references(
    task: Task[EnvironmentOptions],
    app: App,
    environment: Mapping[str, str],
    graphs: list[ProjectGraph] | None,
) -> tuple[list[str], list[str]]:
    """Check that references designate neighbors. Return those that only the platform can check, and aliases.

    The latter are those of no neighbor: in check mode, the play may create one that is missing. Without
    ``graphs``, only the platform can check anything.
    """
    used = list(references(environment))
    known = {alias for graph in graphs or () for id, alias in aliases_of(graph).items() if id != app.id}
    unknown = [each for each in used if each[1] not in known]
    for name, alias, field in unknown if graphs is not None else ():
        complaint = f"{name} refers to ${{{alias}.{field}}}, but {alias!r} is no neighbor in its project"
        task.expect_created(refused(app, complaint + near_miss(alias, known)), alias)
    unchecked = sorted({f"${{{alias}.{field}}}" for _variable, alias, field in unknown})
    return unchecked, sorted({alias for _name, alias, _f in unknown}) if graphs is not None else []


def refused(app: App, complaint: str, **details: Any) -> Invalid:
    """Return the error for an environment that this collection or the platform refuses."""
    return Invalid(f"the environment of application {app.slug!r} was refused: {complaint}", **details)
