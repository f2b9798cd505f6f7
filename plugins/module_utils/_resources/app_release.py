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

from .._api.errors import (
    CallOutcomeUnknown,
    HostedError,
    Interrupted,
    Refused,
    TokenRejected,
)
from .._api.models import App, ScanReport
from .._api.values import SEVERITIES, ScanStatus
from .applications.lookup import resolve_app
from .applications.records import AppRecords
from .applications.release_list import DeclaredReleases, read_declared
from .applications.releases import (
    QUICK_SCAN_SECONDS,
    Blocked,
    FoundRelease,
    ReleaseOptions,
    await_verdict,
    check_verdict,
    find_current,
    lists_only,
    may_name_image,
    objections,
    scan_of,
    scan_view,
)
from .applications.repository import check_pushed, pushed_digest
from .services.lookup import expect_created
from .shared.options import option, required
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task, after_waiting
from .shared.task_errors import EffectUnverified, Invalid, NoSuchItem
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
        found = find_current(task, app) if app.id else None
        current = found.report if found else None
        if not found or not current or current.digest != options.digest:
            check_image(task, app)
            return plan_declaration(task, app, current)
        settle = plan_nothing
        if not task.check_mode and not is_known_to_be_declared(task, app, found):
            settle = partial(plan_confirmation, app=app, declared=found.declared)
        if current.scan_status != ScanStatus.PENDING or not options.wait or task.check_mode:
            return settle(task, current)
        report = current
        return after_waiting(
            f"wait for the verdict on {describe_release(task)}",
            lambda: await_verdict(task, report, options.tag, deadline(task)),
            lambda judged: settle(task, judged),
            until=Plan(result=to_result(task, report)),
        )


APP_RELEASE = AppReleaseResource()


def is_known_to_be_declared(task: Task[AppReleaseOptions], app: App, found: FoundRelease) -> bool:
    """Tell whether a release whose scan shows the image is declared as it for certain.

    The scan may be that of the image that was pushed under the tag last. So it takes the record of a
    declaration, a list that shows the tag for this image only, or a tag that names another one in the
    registry.
    """
    tag, digest = task.options.tag, task.options.digest
    if AppRecords.of(task, app.id).declared().get(tag) == digest:
        return True
    if lists_only(task, found.declared, digest):
        return True
    return pushed_digest(task, tag) not in (None, digest)


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
    """Check that the image was pushed, before anything is written.

    In check mode, an earlier task of the play is assumed to push it, unless ``pushed`` is set. Then it is
    looked for also if the application does not exist yet, which would be ordered and paid for without one.
    """
    if not app.id and not task.options.pushed:
        return
    try:
        check_pushed(task, app, task.options.digest, f"{describe_release(task)} was not declared")
    except NoSuchItem as error:
        if task.options.pushed:
            raise
        expect_created(task, error, task.options.digest)


def plan_declaration(task: Task[AppReleaseOptions], app: App, current: ScanReport | None) -> Plan:
    """Plan the declaration of a new tag, or of a tag that named another image."""
    tag, digest = task.options.tag, task.options.digest
    summary = f"declare {describe_release(task)} as {digest}"
    if current is not None:
        summary += f" in place of {current.digest}"
    steps = [Step(summary, lambda: declare(task, app, current))]
    if task.options.wait:
        what = f"wait for the verdict on release {tag!r}"
        steps.append(Step(what, lambda: await_release_verdict(task), changes=False))
    return Plan(
        result=to_result(task, pending_scan(task)),
        steps=steps,
        reread=lambda: to_result(task, read_scan(task)),
        before={"tag": tag, "digest": current.digest} if current else {},
        after={"tag": tag, "digest": digest},
    )


def declare(task: Task[AppReleaseOptions], app: App, current: ScanReport | None) -> None:
    """Declare the release, and record it.

    :raises Invalid: if the platform refuses it.
    """
    slug, tag, digest = task.options.slug, task.options.tag, task.options.digest
    what, records = describe_release(task), AppRecords.of(task, app.id)

    def new_ones() -> list[ScanReport]:
        found = find_current(task, app)
        if found.report is None or found.report.digest != digest:
            return []
        is_new = current is None and tag in found.declared.by_tag
        return [found.report] if is_new or is_known_to_be_declared(task, app, found) else []

    records.record_declared(tag, None)
    try:
        adopted = create(lambda: task.client.declare_release(slug, tag, digest), new_ones, what, task)[1]
    except TokenRejected:
        raise
    except Refused as error:
        raise Invalid(
            f"{what} was not declared: {error.message}. {declaration_advice(digest, current)}",
            **error.details,
        ) from None
    if adopted is None:
        records.record_declared(tag, digest)
    await_listing(task)


def await_listing(task: Task[AppReleaseOptions]) -> None:
    """Wait until the list shows what was declared: else the next task takes it for undeclared, or unmoved.

    How soon it does is not shown. Nothing is waited for from a list that cannot be read: the declaration is
    made.
    """
    slug, digest = task.options.slug, task.options.digest

    def is_listed() -> bool:
        declared = read_declared(task.client, slug)
        return task.options.tag in declared.by_tag and may_name_image(task, declared, digest)

    with suppress(HostedError):
        if not poll_for(is_listed):
            task.warn(
                f"{describe_release(task)} was declared as {digest}, but {QUIET_SECONDS:g} seconds later the "
                "list of releases does not show it so. Another controller may take it for undeclared"
            )


def plan_confirmation(
    task: Task[AppReleaseOptions], current: ScanReport, app: App, declared: DeclaredReleases
) -> Plan:
    """Plan to declare a release that may also be only pushed, as far as the task can know.

    Its scan does not tell: a platform may show that of any image that was pushed. To declare a tag once more
    as what it names changes nothing. Whether it named another image before is not known, so it counts as a
    change, and is recorded, so that the next run does not do it again. A refusal is no failure, whatever its
    status, because the release may be declared already.
    """
    slug, tag, digest = task.options.slug, task.options.tag, task.options.digest
    records, plan = AppRecords.of(task, app.id), plan_nothing(task, current)

    def shows_it() -> bool:
        return tag not in declared.by_tag and tag in read_declared(task.client, slug).by_tag

    def confirm() -> object:
        records.record_declared(tag, None)
        try:
            task.client.declare_release(slug, tag, digest)
        except TokenRejected:
            raise
        except CallOutcomeUnknown as error:
            if not shows_it():
                raise EffectUnverified(
                    f"{doubt_about(task, error)}. Run this again: it is declared then"
                ) from error
        except Refused as error:
            if not shows_it():
                task.warn(doubt_about(task, error))
                return NOTHING_DONE
        else:
            records.record_declared(tag, digest)
        return None

    summary = f"declare {describe_release(task)} as {digest}; whether it was is not shown"
    plan.before = {"tag": tag}
    plan.steps = [Step(summary, confirm)]
    plan.reread = lambda: to_result(task, read_scan(task))
    return plan


def doubt_about(task: Task[AppReleaseOptions], error: HostedError) -> str:
    """Return that a release was not seen to be declared once more, so that what it names is unknown."""
    return (
        f"{describe_release(task)} could not be declared once more ({error.message}). Whether it names "
        f"{task.options.digest} is not known: the platform's list of releases does not tell, and the scan "
        "may be that of an image that was only pushed"
    )


def declaration_advice(digest: str, current: ScanReport | None) -> str:
    """Return advice on a declaration that was refused with an undocumented status."""
    pushed = (
        f"Was the image {digest} pushed to this application's repository? hosted.services.app_image pushes "
        "one and returns its digest"
    )
    if current is None:
        return pushed
    taken = f"The tag names {current.digest} now; where the platform lets no tag move, declare a new one"
    return f"{taken}. {pushed}"


def await_release_verdict(task: Task[AppReleaseOptions]) -> None:
    """Wait for the verdict on the release.

    :raises NoSuchItem: if the platform does not show the release that it accepted.
    :raises Blocked: if ``fail_on`` rejects the verdict.
    """
    tag, digest = task.options.tag, task.options.digest
    report = await_verdict(task, pending_scan(task), tag, deadline(task))
    if report.digest != digest:
        raise NoSuchItem(
            f"the platform accepted the declaration, but release {tag!r} names {report.digest}, not {digest}"
        )
    check_limits(task, report)


def read_scan(task: Task[AppReleaseOptions]) -> ScanReport:
    """Return the current scan report; a pending one if the platform does not respond yet."""
    try:
        report = scan_of(task.client, task.options.slug, task.options.tag, QUICK_SCAN_SECONDS)
    except Interrupted:
        report = None
    return report or pending_scan(task)


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
