# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Replaces the environment of an application if it differs (Applications, rule 7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._api import routes as r
from .._api.errors import AccessDenied, Locked, NotFoundResponse, Refused, TokenRejected
from .._api.models import App, ProjectGraph
from .._api.text import HIDDEN
from .applications.environment_rules import (
    EnvironmentOptions,
    aliases_used,
    check_references,
    given_variables,
    graphs_around,
    led,
    merged,
    refused,
)
from .applications.lookup import resolve_app
from .applications.records import AppRecords
from .shared.change import Change, Unseen, apply
from .shared.fingerprints import Fingerprints, lock_environment, state_folder
from .shared.pending import ENVIRONMENT as PENDING
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import EffectUnverified

ANOTHER = "(another value)"
TO_CHECK = "references that the platform checks"
NOT_KNOWN = "not known here: the platform does not show it"
OF_THE_CALL = (AccessDenied, NotFoundResponse, Locked)
"""Refusals that come before the environment is looked at. Any other one may be of a start with it."""


class EnvironmentResource(Resource[EnvironmentOptions]):
    """The environment of an application, by its slug."""

    result_key = "environment"

    def plan(self, task: Task[EnvironmentOptions]) -> Plan:
        """Plan a write, unless the environment is known to be the one last written."""
        options = task.options
        variables, secret = given_variables(options)
        environment = merged(variables, secret)
        app = resolve_app(task)
        graphs = graphs_around(task, app) if aliases_used(environment) else None
        if app.id and graphs:
            environment = led(task, app, environment, graphs[0])
        folder = state_folder(options.state_dir)
        if not task.check_mode:
            task.closing.enter_context(lock_environment(folder, app.slug, options.timeout))
        last = Fingerprints.read(folder, options.base_url, app.slug, app.id)
        return plan_replacement(task, app, environment, last, graphs)


ENVIRONMENT = EnvironmentResource()


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
            f"even if nothing differs. Keep the folder that {named} names between runs, as a cache of a CI "
            "job does"
        )
    write = Step(describe_changes(app, names, last), lambda: write_environment(task, app, environment, last))
    told = {TO_CHECK: unchecked} if unchecked else {}
    return Plan(result=result, steps=[write], before=before, after={**after, **told})


def describe_changes(app: App, names: Mapping[str, list[str]], last: Fingerprints) -> str:
    """Describe the changes in one sentence."""
    what = "; ".join(f"{kind} {', '.join(found)}" for kind, found in names.items() if found)
    if not last.known and app.digest is None:
        return f"set the environment of application {app.slug!r}"
    if not last.known:
        what = "what it was before is not known"
    return (
        f"replace the environment of application {app.slug!r}: {what or 'nothing differs, but force is set'}"
    )


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
        explained = refused(app, f"{error.message}{hint if names else ''}", **error.details)
        if not isinstance(error, OF_THE_CALL):
            raise EffectUnverified(
                f"{explained.message}. The platform may have replaced it all the same, and the application "
                "may not start with it; the next run writes it again",
                **explained.details,
            ) from None
        take_back()
        if before is not None:
            last.restore(before)
        if isinstance(error, TokenRejected):
            raise
        raise explained from None
    try:
        last.keep(environment)
    except OSError as error:
        task.warn(f"state_dir cannot be written to ({error}), so the next run writes the environment again")


def diff(
    environment: Mapping[str, str], secret: Mapping[str, Any], last: Fingerprints
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return both sides of the diff, by name. Earlier values are unknown."""
    names = last.differences(environment)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for name in sorted({*environment, *last.prints}):
        if name in environment:
            after[name] = HIDDEN if name in secret else environment[name]
        if name in last.prints:
            before[name] = ANOTHER if name in (*names["changed"], *names["removed"]) else after[name]
    return {"variables": before if last.known else NOT_KNOWN}, {"variables": after}
