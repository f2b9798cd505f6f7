# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing an image into service for certain, and bringing the one before back.

A deploy is noted on the controller before it is sent, and taken off once it is seen to succeed. The list of
applications shows an image as the one in service whether it started or not, so only the note tells.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from ..._api.errors import (
    CallOutcomeUnknown,
    HostedError,
    Interrupted,
    NotSent,
    Refused,
    ServerFailure,
    TokenRejected,
    Unprocessable,
)
from ..._api.models import App, ScanReport
from ..._api.values import ScanStatus, ServiceStatus
from ..shared.pending import DEPLOY, ENVIRONMENT
from ..shared.plan import Task
from ..shared.task_errors import EffectUnverified, Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, wait_until
from .lookup import digest_in_service, log_lines, need_app, never_deployed
from .records import WRITE, AppRecords
from .release_list import read_declared
from .releases import GLANCE, Blocked, ReleaseOptions, all_releases, await_verdict, check_verdict, scan_of
from .repository import tag_image
from .running import current_app

TRIES = 2


class DeployFailed(HostedError):
    """The platform did not bring a version into service: it does not start, or another reason was given.

    ``refused`` tells that the platform refused the call, so that it may not have touched the node.
    """

    refused = False

    @classmethod
    def after(cls, cause: Refused | ServerFailure) -> DeployFailed:
        """Return the failure that a call to deploy ended in."""
        failed = cls(cause.message, **cause.details)
        failed.refused = isinstance(cause, Refused)
        return failed


def put_in_service(task: Task[ReleaseOptions], tag: str, digest: str, undecided: bool = False) -> None:
    """Deploy a release, verify that its image is the one in service, and keep the records of it.

    ``undecided`` tells that its analysis may still run.

    :raises Blocked: when the platform refuses it for its verdict.
    :raises DeployFailed: when the version does not come up.
    :raises EffectUnverified: when two answers were lost, or another version was deployed meanwhile.
    """
    app = current_app(task, digest)
    records, in_service = AppRecords.of(task, app.id), digest_in_service(app)
    known = records.outstanding()
    written = known.get(ENVIRONMENT, {}).get(WRITE)
    before = last_good(records, in_service)
    keep(task, lambda: records.note(DEPLOY, digest=digest))
    records.seen(before)
    try:
        seen = roll_out(task, tag, digest, in_service, undecided)
    except HostedError as failure:
        error = told_apart(task, failure, digest, in_service)
        if DEPLOY not in known and not begun(task, error, digest, in_service):
            keep(task, lambda: records.clear(DEPLOY))
        if error is failure:
            raise
        raise error from failure
    if not seen:
        return
    if records.outstanding().get(ENVIRONMENT, {}).get(WRITE) == written:  # nothing was written meanwhile
        keep(task, lambda: records.clear(ENVIRONMENT))
    keep(task, lambda: records.clear(DEPLOY))
    records.deployed(digest)


def told_apart(
    task: Task[ReleaseOptions], error: HostedError, digest: str, before: str | None
) -> HostedError:
    """Return the failure for what it is. A lifted release may still show BLOCKED when it does not start.

    A blocked one never comes into service.
    """
    if isinstance(error, Blocked) and before != digest and in_service_now(task, before, digest) == digest:
        return DeployFailed(error.details["reason"])
    return error


def last_good(records: AppRecords, in_service: str | None) -> str | None:
    """Return the image in service, or the one before it where that was not seen to come up."""
    failed = records.outstanding().get(DEPLOY, {}).get("digest")
    if in_service is None or failed != in_service:
        return in_service
    return next((digest for digest in reversed(records.images()) if digest != failed), None)


def keep(task: Task[ReleaseOptions], record: Callable[[], None]) -> None:
    """Write a record. A controller that keeps no files is no reason not to deploy."""
    try:
        record()
    except Invalid as error:
        task.warn(f"{error.message}. What is not in effect after this task is not known to the next one")


def begun(task: Task[ReleaseOptions], error: HostedError, digest: str, before: str | None) -> bool:
    """Tell whether a deploy that failed may have touched the node.

    The platform's refusal of a verdict does not. After another refusal, what is in service tells: a version
    that does not start is refused as well.
    """
    if isinstance(error, (Blocked, WaitEnded, Refused, NotSent)):
        return False
    refused = isinstance(error, DeployFailed) and error.refused
    return before == digest or not refused or in_service_now(task, digest, digest) != before


def in_service_now(task: Task[ReleaseOptions], otherwise: str | None, wanted: str) -> str | None:
    """Return the image in service after a failure; something else where that cannot be read."""
    try:
        return digest_in_service(current_app(task, wanted))
    except HostedError:
        return otherwise


def roll_out(task: Task[ReleaseOptions], tag: str, digest: str, before: str | None, undecided: bool) -> bool:
    """Deploy a release, and tell whether it was seen to come up.

    When the answer is lost, what is in service tells whether it was deployed. After an error of the server
    that cannot tell: a version that does not start may be in service all the same. Where the platform says
    what went wrong, that is its answer. Where a gateway says no more than the status, the call is made once
    more, which harms nothing, and the answer to that counts.
    """
    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        try:
            deploy_once(task, tag, undecided)
            break
        except ServerFailure as error:
            seen = digest_in_service(current_app(task, digest))
            if seen not in (before, digest):
                raise EffectUnverified(f"{error.message}; meanwhile {seen} was put in service") from error
            if last or error.explained:
                raise DeployFailed.after(error) from error
        except CallOutcomeUnknown as error:
            if comes_into_service(task, digest, QUIET_SECONDS / 2) and before != digest:
                task.warn(
                    f"the answer to the deploy of release {tag!r} was lost ({error.message}); its image is "
                    "in service, but whether it runs is not known, so the next run deploys it again"
                )
                return False
            if last:
                raise EffectUnverified(
                    f"whether release {tag!r} was deployed is unknown: {error.message}; {digest} is not in "
                    "service"
                ) from error
    verify(task, tag, digest)
    return True


def deploy_once(task: Task[ReleaseOptions], tag: str, undecided: bool = True) -> None:
    """Make the call; while the platform says that the analysis is still running, wait and make it again.

    An application may not take its first deploy before it is created, which is waited for as well. A release
    that was ``undecided`` before the call may have got its verdict just after the refusal.

    :raises Blocked: when the verdict forbids it.
    :raises DeployFailed: when the platform refuses for another reason.
    """
    until = time.monotonic() + task.options.wait_timeout
    again = not undecided
    while True:
        try:
            return task.client.deploy(task.options.slug, tag)
        except TokenRejected:
            raise
        except Refused as error:
            by_verdict = isinstance(error, Unprocessable)
            come = (by_verdict and await_pending(task, tag, until, error)) or await_created(task, until)
            if not come and (again or not by_verdict):
                raise DeployFailed.after(error) from error
            again = True


def await_pending(task: Task[ReleaseOptions], tag: str, until: float, refusal: Refused) -> bool:
    """After a refused deploy, tell whether the verdict is still missing, and wait for it.

    :raises Blocked: when the verdict was the reason.
    :raises WaitEnded: when there is no verdict in time, or the user does not wait.
    """
    slug = task.options.slug
    try:
        report = scan_of(task.client, slug, tag, min(GLANCE, max(until - time.monotonic(), 1.0)))
    except Interrupted:
        report = ScanReport.model_construct(tag=tag, scan_status=ScanStatus.PENDING)
    if report is None:
        if not read_declared(task.client, slug, tag).has(tag):
            return False
        report = ScanReport.model_construct(
            tag=tag, scan_status=ScanStatus.PENDING
        )  # refused while the analysis runs
    pending = report.scan_status == ScanStatus.PENDING
    if pending:
        if not task.options.wait or time.monotonic() >= until:
            raise WaitEnded(
                f"release {tag!r} of application {slug!r} was not deployed: its analysis is still running. "
                "Run this again later, or wait longer (wait, wait_timeout)"
            )
        report = await_verdict(task, report, tag, until)
    try:
        check_verdict(slug, tag, report)
    except Blocked as error:
        error.details["reason"] = refusal.message
        raise
    return pending


def await_created(task: Task[ReleaseOptions], until: float) -> bool:
    """After a refused first deploy, wait while the application is being created, and tell whether it was.

    Whether one that is PROVISIONING takes its first deploy is not shown: it may become ACTIVE by that only.
    """

    def waits(app: App) -> bool:
        return app.status == ServiceStatus.PROVISIONING and never_deployed(app)

    left = until - time.monotonic()
    if not waits(need_app(task)) or not task.options.wait or left <= 0:
        return False
    try:
        wait_until(
            replace(task, options=replace(task.options, wait_timeout=left)),
            lambda: need_app(task),
            lambda app: not waits(app),
            lambda app: f"its status is {app.status}",
            f"application {task.options.slug!r}",
        )
    except WaitEnded:
        return False
    return True


def comes_into_service(task: Task[ReleaseOptions], digest: str, seconds: float) -> bool:
    """Tell whether an image is in service, or gets there within some seconds."""
    until = time.monotonic() + seconds
    while True:
        if digest_in_service(current_app(task, digest)) == digest:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.5)


def verify(task: Task[ReleaseOptions], tag: str, digest: str) -> None:
    """Make sure that the platform runs what it said it would."""
    if not comes_into_service(task, digest, QUIET_SECONDS / 2):
        seen = digest_in_service(current_app(task, digest))
        raise EffectUnverified(
            f"the platform accepted the deploy of release {tag!r}, but {seen} is in service, not {digest}. "
            "Was the tag moved, or another version deployed, at the same time?",
            digest=seen,
        )


# --- After a failure ----------------------------------------------------------------------------------


def bring_back(task: Task[ReleaseOptions], previous: str | None, failed: str) -> tuple[str, bool]:
    """Bring the image back that was in service before. Return what came of it, and whether it is there.

    Nothing is raised: the failure of the deploy itself is what the task ends with.
    """
    if previous is None:
        return "There is no version before to bring back", False
    if previous == failed:
        return "The version before is the same one, so there is nothing to bring back", False
    try:
        if digest_in_service(current_app(task, previous)) == previous:
            return f"The version before, {previous}, is in service", True
        tag = tag_of(task, previous)
        put_in_service(task, tag, previous)
    except HostedError as error:
        return f"Bringing back the version before, {previous}, failed too: {error.message}", False
    return f"The version before, {previous} (release {tag!r}), was brought back", True


def tag_of(task: Task[ReleaseOptions], digest: str) -> str:
    """Return a tag that names the image. Where its own has moved on, it is declared under another name."""
    slug = task.options.slug
    for release in reversed(all_releases(task, slug)):
        if release.digest == digest:
            return release.tag
    tag = f"rollback-{digest.rpartition(':')[2][:12]}"
    tag_image(task, tag, digest)
    task.client.declare_release(slug, tag, digest)
    return tag


def last_lines(task: Task[ReleaseOptions], most: int) -> list[str]:
    """Return the last log lines; none when they cannot be read, as a failure is being reported already."""
    try:
        return log_lines(task.client.app_logs(task.options.slug), most)
    except HostedError as error:
        task.warn(f"the log of application {task.options.slug!r} cannot be read: {error.message}")
        return []
