# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Declares releases, and waits for the verdict of their scan (Applications, Scan status)."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from .._api.errors import HostedError, Refused, TokenRejected
from .._api.models import App, ScanReport
from .._api.values import SEVERITIES, ScanStatus
from .applications.lookup import resolve_app
from .applications.releases import (
    Blocked,
    DeclaredRelease,
    ReleaseOptions,
    await_verdict,
    check_verdict,
    find_release,
    objections,
    read_declared,
    scan_of,
    scan_view,
)
from .applications.repository import check_pushed
from .shared.options import option, required
from .shared.plan import Plan, Resource, Step, Task, after_waiting
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import QUIET_SECONDS, create, poll_for


@dataclass(frozen=True, kw_only=True)
class AppReleaseOptions(ReleaseOptions):
    """The options of module app_release."""

    digest: str = required(selects=True)
    pushed: bool = False
    fail_on: list[Literal["blocked", "warned", "failed", "critical", "high", "medium", "low"]] = option(
        ["blocked"]
    )


class AppReleaseResource(Resource[AppReleaseOptions]):
    """A release, by the application's slug and the tag."""

    result_key = "release"

    def plan(self, task: Task[AppReleaseOptions]) -> Plan:
        """Plan the declaration of the tag if it does not name the image yet, and wait for the verdict."""
        options = task.options
        app = resolve_app(task)
        current = find_release(task, options.tag) if app.id else None
        if current is None or current.digest != options.digest:
            check_image(task, app)
            return plan_declaration(task, current)
        if current.scan_status != ScanStatus.PENDING or not options.wait or task.check_mode:
            return plan_nothing(task, current)
        return after_waiting(
            f"wait for the verdict on {describe_release(task)}",
            lambda: await_verdict(task, current, options.tag, deadline(task)),
            partial(plan_nothing, task),
            until=Plan(result=to_result(task, current)),
        )


APP_RELEASE = AppReleaseResource()


def plan_nothing(task: Task[AppReleaseOptions], current: ScanReport) -> Plan:
    """Return a plan without changes for an existing release, after checking ``fail_on``."""
    check_limits(task, current)
    managed = {"tag": task.options.tag, "digest": current.digest, "verdict": current.scan_status}
    return Plan(result=to_result(task, current), before=managed, after=managed)


def deadline(task: Task[AppReleaseOptions]) -> float:
    """Return the monotonic time at which the task stops waiting."""
    return time.monotonic() + float(task.options.wait_timeout)


def to_result(task: Task[AppReleaseOptions], report: ScanReport) -> dict[str, Any]:
    """Return the release with its scan."""
    return {**scan_view(report), "slug": task.options.slug, "tag": task.options.tag}


def pending_scan(task: Task[AppReleaseOptions]) -> ScanReport:
    """Return the scan report of a release that was just declared."""
    return ScanReport.model_construct(
        tag=task.options.tag, digest=task.options.digest, scan_status=ScanStatus.PENDING
    )


def describe_release(task: Task[AppReleaseOptions]) -> str:
    """Describe the release for messages."""
    return f"release {task.options.tag!r} of application {task.options.slug!r}"


def check_image(task: Task[AppReleaseOptions], app: App) -> None:
    """Check that the image was pushed, if ``pushed`` says so: before its application is ordered and paid for.

    Else check mode assumes that an earlier task of the play pushes it, and a run leaves that to the platform.
    """
    if not task.options.pushed and not (app.id and task.check_mode):
        return
    try:
        check_pushed(task, app, task.options.digest, f"{describe_release(task)} was not declared")
    except NoSuchItem as error:
        if task.options.pushed:
            raise
        task.expect_created(error, task.options.digest)


def plan_declaration(task: Task[AppReleaseOptions], current: ScanReport | None) -> Plan:
    """Plan the declaration of a new tag, or of a tag that named another image."""
    tag, digest = task.options.tag, task.options.digest
    summary = f"declare {describe_release(task)} as {digest}"
    if current is not None:
        summary += f" in place of {current.digest}"
    steps = [Step(summary, lambda: declare(task))]
    if task.options.wait:

        def await_it() -> None:
            check_limits(task, await_verdict(task, pending_scan(task), tag, deadline(task)))

        steps.append(Step(f"wait for the verdict on release {tag!r}", await_it, changes=False))
    return Plan(
        result=to_result(task, pending_scan(task)),
        steps=steps,
        reread=lambda: to_result(task, scan_of(task.account, task.options.slug, tag, digest)),
        before={"tag": tag, "digest": current.digest} if current else {},
        after={"tag": tag, "digest": digest},
    )


def declare(task: Task[AppReleaseOptions]) -> None:
    """Declare the release.

    :raises Invalid: if the platform refuses it.
    """
    slug, tag, digest = task.options.slug, task.options.tag, task.options.digest
    what = describe_release(task)

    def new_ones() -> list[DeclaredRelease]:
        listed = read_declared(task.account, slug).get(tag)
        return [listed] if listed is not None and listed.digest == digest else []

    try:
        create(lambda: task.client.declare_release(slug, tag, digest), new_ones, what, task)
    except TokenRejected:
        raise
    except Refused as error:
        raise Invalid(
            f"{what} was not declared: {error.message}. Was the image {digest} pushed to this application's "
            "repository? hosted.services.app_image pushes one and returns its digest",
            **error.details,
        ) from None
    with suppress(HostedError):  # it is declared, whether or not the list can be read
        if not poll_for(lambda: bool(new_ones())):
            task.warn(
                f"{what} was declared as {digest}, but {QUIET_SECONDS:g} seconds later the list of releases "
                "does not show it so. The next run may declare it again"
            )


def check_limits(task: Task[AppReleaseOptions], report: ScanReport) -> None:
    """Check a scan report against ``fail_on``.

    :raises Blocked: with the scan in its details.
    """
    found = objections(report, task.options.fail_on)
    limits = [name for name in SEVERITIES if name in task.options.fail_on]
    if report.scan_status == ScanStatus.FAILED and limits and not found:
        task.warn(
            f"the analysis of {describe_release(task)} did not complete, so whether it has flaws of severity "
            f"{', '.join(limits)} is not known. Add failed to fail_on to refuse such a release"
        )
    if not found:
        return
    if "blocked" in task.options.fail_on:
        try:
            check_verdict(task.options.slug, task.options.tag, report)
        except Blocked as error:
            error.details["release"] = to_result(task, report)
            error.append(". fail_on: [] goes on to deploy one that was lifted")
            raise
    raise Blocked(
        f"{describe_release(task)} is not wanted by fail_on: {', '.join(found)}",
        release=to_result(task, report),
        scan=scan_view(report),
    )
