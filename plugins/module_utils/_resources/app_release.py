# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declares releases, and waits for the verdict of their scan (Applications, Scan status)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from .._api.errors import HostedError, Refused, TokenRejected
from .._api.models import App, Release, ScanReport
from .._api.values import SEVERITIES, ScanStatus
from .applications.lookup import resolve_app
from .applications.releases import (
    Blocked,
    ReleaseOptions,
    await_verdict,
    check_verdict,
    declaration,
    pending_scan,
    scan_view,
)
from .applications.repository import open_repository
from .shared.change import Change, apply
from .shared.options import option, required
from .shared.plan import Plan, Resource, Step, Task, after_waiting
from .shared.task_errors import Invalid, NoSuchItem

PUSHES = "hosted.services.app_image pushes one and returns its digest"


@dataclass(frozen=True, kw_only=True)
class AppReleaseOptions(ReleaseOptions):
    digest: str = required(selects=True)
    pushed: bool = False
    fail_on: list[Literal["blocked", "warned", "failed", "critical", "high", "medium", "low"]] = option(
        ["blocked"]
    )


class AppReleaseResource(Resource[AppReleaseOptions]):
    result_key = "release"

    def plan(self, task: Task[AppReleaseOptions]) -> Plan:
        options = task.options
        app = resolve_app(task)
        current = task.account.release(options.slug, options.tag) if app.id else None
        declare = declaration(options.slug, options.tag, options.digest)
        if current is None or current.digest != options.digest:
            check_image(task, app, f"{declare.what} was not declared")
            return plan_declaration(task, current, declare)
        if current.scan_status != ScanStatus.PENDING or not options.wait or task.check_mode:
            return plan_nothing(task, current)
        return after_waiting(
            f"wait for the verdict on {declare.what}",
            lambda: await_verdict(task, current),
            partial(plan_nothing, task),
            until=Plan(result=to_result(task, current)),
        )


APP_RELEASE = AppReleaseResource()


def plan_nothing(task: Task[AppReleaseOptions], current: ScanReport) -> Plan:
    check_limits(task, current)
    managed = {"tag": task.options.tag, "digest": current.digest, "verdict": current.scan_status}
    return Plan(result=to_result(task, current), before=managed, after=managed)


def to_result(task: Task[AppReleaseOptions], report: ScanReport) -> dict[str, Any]:
    return {**scan_view(report), "slug": task.options.slug, "tag": task.options.tag}


def check_image(task: Task[AppReleaseOptions], app: App, refusal: str) -> None:
    """Check that the image was pushed, if ``pushed`` says so: before its application is ordered and paid for.

    Else check mode assumes that an earlier task of the play pushes it, and a run leaves that to the platform,
    as it does where the registry cannot be reached.
    """
    digest, pushed = task.options.digest, task.options.pushed
    if not pushed and not (app.id and task.check_mode):
        return
    try:
        repository = open_repository(task, app.slug)
        # Where there is no application, a registry may deny access in place of a 404.
        with nullcontext() if app.id else suppress(Refused):
            if repository.digest_of(digest) is not None:
                return
    except HostedError as error:
        task.progress(f"whether {digest} was pushed cannot be looked up here: {error.message}")
        return
    refusal += f": {repository.name} holds no image {digest}. {PUSHES}"
    if not app.id:
        refusal += (
            f". There is no application {app.slug!r} yet either: correct the slug, or create it and push the "
            "image first"
        )
    missing = NoSuchItem(refusal)
    if pushed:
        raise missing
    task.expect_created(missing, digest)


def plan_declaration(task: Task[AppReleaseOptions], current: ScanReport | None, declare: Change) -> Plan:
    options, pending = task.options, pending_scan(task.options.tag, task.options.digest)
    release = Release(tag=options.tag, digest=options.digest)
    summary = f"declare {declare.what} as {options.digest}"
    if current is not None:
        summary += f" in place of {current.digest}"
    plan = Plan(
        result=to_result(task, pending),
        steps=[Step(summary, lambda: make(task, declare))],
        reread=lambda: to_result(task, task.account.scan(release, options.slug)),
        before={"tag": options.tag, "digest": current.digest} if current else {},
        after={"tag": options.tag, "digest": options.digest},
    )
    if options.wait:
        what = f"wait for the verdict on release {options.tag!r}"
        wait = Step(what, lambda: check_limits(task, await_verdict(task, pending)), changes=False)
        plan.steps = [*plan.steps, wait]
    return plan


def make(task: Task[AppReleaseOptions], declare: Change) -> None:
    try:
        apply(task, declare)
    except TokenRejected:
        raise
    except Refused as error:
        raise Invalid(
            f"{declare.what} was not declared: {error.message}. Was the image {task.options.digest} pushed "
            f"to this application's repository? {PUSHES}",
            **error.details,
        ) from None


def check_limits(task: Task[AppReleaseOptions], report: ScanReport) -> None:
    options = task.options
    found = [*objections(report, options.fail_on)]
    limits = [name for name in SEVERITIES if name in options.fail_on]
    if report.scan_status == ScanStatus.FAILED and limits and not found:
        task.warn(
            f"the analysis of release {options.tag!r} did not complete, so whether it has flaws of severity "
            f"{', '.join(limits)} is not known. Add failed to fail_on to refuse such a release"
        )
    if not found:
        return
    if "blocked" in options.fail_on:
        try:
            check_verdict(options.slug, report)
        except Blocked as error:
            error.details["release"] = to_result(task, report)
            raise error.append(". fail_on: [] goes on to deploy one that was lifted") from None
    raise Blocked(
        f"release {options.tag!r} of application {options.slug!r} is not wanted by fail_on: "
        f"{', '.join(found)}",
        release=to_result(task, report),
        scan=scan_view(report),
    )


def objections(report: ScanReport, fail_on: list[Any]) -> Iterator[str]:
    """Yield what in a report the user does not want: verdicts, and severities that it has or leaves out."""
    if report.scan_status.lower() in fail_on:
        yield f"its verdict is {report.scan_status}"
    counts = (report.scan_verdict and report.scan_verdict.counts) or {}
    for name in (name for name in SEVERITIES if name in fail_on):
        count = counts.get(name.capitalize())
        if count:
            yield f"it has {count} {name} flaw{'s' if count > 1 else ''}"
        elif count is None and report.scan_status in (ScanStatus.WARNED, ScanStatus.BLOCKED):
            yield f"its scan does not count its {name} flaws"
