# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the environment of an application if it differs (Applications, rule 7)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .._api import routes as r
from .._api.errors import AccessDenied, Locked, NotFoundResponse, Refused, TokenRejected
from .._api.models import App, ProjectGraph
from .._api.text import HIDDEN
from .applications.lookup import OnAppOptions, aliases_used, merged, redirected, references, resolve_app
from .applications.releases import AppRecords
from .shared.change import Change, Unseen, apply
from .shared.identify import aliases_of, near_miss
from .shared.options import StateDirOptions, names_given, option
from .shared.pending import ENVIRONMENT as PENDING
from .shared.pending import Fingerprints, Prints, record_of
from .shared.plan import Plan, Resource, Step, Task
from .shared.relocation_record import successor_of
from .shared.store import Record
from .shared.task_errors import EffectUnverified, Invalid, NoSuchItem

ANOTHER = "(another value)"
TO_CHECK = "references that the platform checks"
NOT_KNOWN = "not known here: the platform does not show it"
OF_THE_CALL = (AccessDenied, NotFoundResponse, Locked)
"""Refusals that come before the environment is looked at. Any other one may be of a start with it."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentOptions(OnAppOptions, StateDirOptions):
    variables: dict[str, Any] | None = option(None, selects=True)
    secret_variables: dict[str, Any] | None = option(None, no_log=False, selects=True, secret=True)
    clear: bool = False
    force: bool = False
    project: str | None = option(None, selects=True)


class EnvironmentResource(Resource[EnvironmentOptions]):
    result_key = "environment"

    def plan(self, task: Task[EnvironmentOptions]) -> Plan:
        options = task.options
        variables, secret = given_variables(options)
        environment = merged(variables, secret)
        app = resolve_app(task)
        graphs = graphs_around(task, app) if aliases_used(environment) else None
        if app.id and graphs:
            environment = led(task, app, environment, graphs[0])
        record = record_of(options, app.slug)
        if not task.check_mode:
            keep_others_waiting(task, record)
        last = Fingerprints.at(record, app.id)
        return plan_replacement(task, app, environment, last, graphs)


ENVIRONMENT = EnvironmentResource()


def keep_others_waiting(task: Task[EnvironmentOptions], record: Record[Prints]) -> None:
    folder = os.path.dirname(record.path)
    try:
        task.closing.enter_context(record.held(task.options.timeout))
    except TimeoutError:
        raise Invalid(
            f"another run is still changing the environment of {task.options.slug!r} (lock in {folder!r}); "
            "run this again when it has ended"
        ) from None
    except OSError as error:
        raise Invalid(f"state_dir {folder!r} cannot be used: {error.strerror or error}") from None


def given_variables(options: EnvironmentOptions) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the plain and the secret variables. An empty variable of the play clears no environment."""
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


def plan_replacement(
    task: Task[EnvironmentOptions],
    app: App,
    environment: Mapping[str, str],
    last: Fingerprints,
    graphs: list[ProjectGraph] | None,
) -> Plan:
    """Plan to write the environment, if needed. ``graphs`` are those of the projects it may refer to."""
    unchecked, missing = check_references(task, app, environment, graphs)
    names, secret = last.differences(environment), task.options.secret_variables or {}
    outstanding = AppRecords.of(task, app.id).outstanding()
    unchanged = last.known and not any(names.values()) and not task.options.force
    result = {
        "slug": app.slug,
        "variables": dict(task.options.variables or {}),
        "secret_variables": sorted(secret),
        "known_before": last.known,
        "pending_deploy": sorted({*outstanding, *([] if unchanged else [PENDING])}),
        "unchecked_references": unchecked,
        "missing_neighbors": missing,
        **names,
    }
    before, after = diff(environment, secret, last)
    before = before if app.id else {}
    if unchanged:
        return Plan(result=result, before=before, after=after)
    if app.id and not last.known and app.digest and not task.composition.part:
        named = "state_dir" if task.options.state_dir else "HOSTED_SERVICES_HOME"
        task.warn(
            f"this controller has no record of the environment of application {app.slug!r}, so it is written "
            f"even if nothing differs. Keep the folder that {named} names between runs"
        )
    summary = describe_changes(app, names, last)
    write = Step(summary, lambda: write_environment(task, app, environment, last))
    told = {TO_CHECK: unchecked} if unchecked else {}
    return Plan(result=result, steps=[write], before=before, after={**after, **told})


def describe_changes(app: App, names: Mapping[str, list[str]], last: Fingerprints) -> str:
    if not last.known and app.digest is None:
        return f"set the environment of application {app.slug!r}"
    what = "; ".join(f"{kind} {', '.join(found)}" for kind, found in names.items() if found)
    what = what or "nothing differs, but force is set"
    told = what if last.known else "what it was before is not known"
    return f"replace the environment of application {app.slug!r}: {told}"


def write_environment(
    task: Task[EnvironmentOptions], app: App, environment: Mapping[str, str], last: Fingerprints
) -> None:
    """Replace the environment and store its fingerprints; a run that is killed meanwhile leaves none.

    First records that it is pending until the next deploy. The specification shows neither the status for an
    environment that breaks a rule nor that for an application that does not start with it.
    """
    what, body = f"the environment of application {app.slug!r}", {"environment": dict(environment)}
    write = Change(what=what, route=r.APP_ENVIRONMENT, ids={"slug": app.slug}, body=body, shown=Unseen())
    before = dict(last.prints) if last.known else None
    take_back = AppRecords.of(task, app.id).note(PENDING)
    last.forget()
    try:
        apply(task, write, wait=False)
    except Refused as error:
        if error.effect_unknown:
            raise
        names = ", ".join(sorted(map(repr, aliases_used(environment))))
        hint = f"; each alias that is referred to ({names}) must be a neighbor in its project"
        told = f"{what} was refused: {error.message}{hint if names else ''}"
        if not isinstance(error, OF_THE_CALL):
            raise EffectUnverified(
                f"{told}. The platform may have replaced it all the same, and the application may not start "
                "with it; the next run writes it again",
                **error.details,
            ) from None
        take_back()
        if before is not None:
            with suppress(Invalid):  # the refusal is told
                last.restore(before)
        if isinstance(error, TokenRejected):
            raise
        raise Invalid(told, **error.details) from None
    try:
        last.keep(environment)
    except Invalid as error:
        task.warn(f"{error.message}. Until then, each run writes the environment again")


def diff(
    environment: Mapping[str, str], secret: Mapping[str, Any], last: Fingerprints
) -> tuple[dict[str, Any], dict[str, Any]]:
    names = last.differences(environment)
    differ = {*names["changed"], *names["removed"]}
    after = {name: HIDDEN if name in secret else environment[name] for name in sorted(environment)}
    before = {name: ANOTHER if name in differ else after[name] for name in sorted(last.prints)}
    return {"variables": before if last.known else NOT_KNOWN}, {"variables": after}


def graphs_around(task: Task[EnvironmentOptions], app: App) -> list[ProjectGraph] | None:
    """Return the graph of the application's project; ``None`` if the token cannot read it.

    An application that does not exist yet may join any project, unless the task names one.
    """
    account = task.account
    if app.id:
        found = account.project_of_app(app, account.graph, lambda graph: (n.id for n in graph.nodes or []))
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
    counts = Counter(aliases.values())
    for alias in sorted(alias for alias in used if counts[alias] > 1):
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
    """Check that references designate neighbors.

    Return those that only the platform can check, and the aliases of neighbors that the play may create.
    """
    used = list(references(environment))
    known = {alias for graph in graphs or () for id, alias in aliases_of(graph).items() if id != app.id}
    unknown = [each for each in used if each[1] not in known]
    for name, alias, field in unknown if graphs is not None else ():
        complaint = f"{name} refers to ${{{alias}.{field}}}, but {alias!r} is no neighbor in its project"
        refused = f"the environment of application {app.slug!r} was refused: {complaint}"
        task.expect_created(Invalid(refused + near_miss(alias, known)), alias)
    unchecked = sorted({f"${{{alias}.{field}}}" for _variable, alias, field in unknown})
    return unchecked, sorted({alias for _name, alias, _f in unknown}) if graphs is not None else []
