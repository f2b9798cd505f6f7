# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing an image into service for certain, and bringing the one before back."""

from __future__ import annotations

import time

from ..api.errors import HostedError, Interrupted, OpenOutcome, Refused, ServerFailure
from ..api.models import ScanReport
from .apps import digest_in_service, log_lines, need_app
from .plan import Task
from .problems import OutcomeUnknown, WaitEnded
from .releases import GLANCE, PENDING, all_releases, await_verdict, check_verdict, scan_of
from .waiting import QUIET_SECONDS

TRIES = 2


class DeployFailed(HostedError):
    """The platform did not bring a version into service: it does not start, or another reason was given."""


def put_in_service(task: Task, tag: str, digest: str) -> None:
    """Deploy a release and verify that its image is the one in service.

    When the answer is lost, what is in service tells whether it worked. After an error of the server that
    cannot tell: a version that does not start may be in service all the same. So the call is made once more,
    which harms nothing, and its answer counts.

    :raises DeployFailed: when the version does not come up.
    :raises OutcomeUnknown: when two answers were lost, or another version was deployed meanwhile.
    """
    before = digest_in_service(need_app(task))
    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        try:
            deploy_once(task, tag)
            break
        except ServerFailure as error:
            seen = digest_in_service(need_app(task))
            if seen not in (before, digest):
                raise OutcomeUnknown(f"{error.message}; meanwhile {seen} was put in service") from error
            if last:
                raise DeployFailed(error.message, **error.details) from error
        except OpenOutcome as error:
            if comes_into_service(task, digest, QUIET_SECONDS / 2) and before != digest:
                task.warn(
                    f"the answer to the deploy of release {tag!r} was lost ({error.message}); its image is "
                    "in service"
                )
                return
            if last:
                raise OutcomeUnknown(
                    f"whether release {tag!r} was deployed is unknown: {error.message}; {digest} is not in "
                    "service"
                ) from error
    verify(task, tag, digest)


def deploy_once(task: Task, tag: str) -> None:
    """Make the call; while the platform says that the analysis is still running, wait and make it again.

    :raises Blocked: when the verdict forbids it.
    :raises DeployFailed: when the platform refuses for another reason.
    """
    until = time.monotonic() + task.options["wait_timeout"]
    again = False
    while True:
        try:
            return task.client.deploy(task.options["slug"], tag)
        except Refused as error:
            if error.status == 401:
                raise
            was_pending = error.status == 422 and await_pending(task, tag, until)
            if not was_pending and (again or error.status != 422):
                raise DeployFailed(error.message, status=error.status) from error
            again = True  # the verdict may have come just after the refusal


def await_pending(task: Task, tag: str, until: float) -> bool:
    """After a refused deploy, tell whether the verdict is still missing, and wait for it.

    :raises Blocked: when the verdict was the reason.
    :raises WaitEnded: when there is no verdict in time, or the user does not wait.
    """
    slug = task.options["slug"]
    try:
        report = scan_of(task.client, slug, tag, min(GLANCE, max(until - time.monotonic(), 1.0)))
    except Interrupted:
        report = ScanReport.model_construct(tag=tag, scan_status=PENDING)
    if report is None:
        return False
    pending = report.scan_status == PENDING
    if pending:
        if not task.options["wait"] or time.monotonic() >= until:
            raise WaitEnded(
                f"release {tag!r} of application {slug!r} was not deployed: its analysis is still running. "
                "Run this again later, or wait longer (wait, wait_timeout)"
            )
        report = await_verdict(task, report, tag, until)
    check_verdict(slug, tag, report)
    return pending


def comes_into_service(task: Task, digest: str, seconds: float) -> bool:
    """Tell whether an image is in service, or gets there within some seconds."""
    until = time.monotonic() + seconds
    while True:
        if digest_in_service(need_app(task)) == digest:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.5)


def verify(task: Task, tag: str, digest: str) -> None:
    """Make sure that the platform runs what it said it would."""
    if not comes_into_service(task, digest, QUIET_SECONDS / 2):
        seen = digest_in_service(need_app(task))
        raise OutcomeUnknown(
            f"the platform accepted the deploy of release {tag!r}, but {seen} is in service, not {digest}. "
            "Was the tag moved, or another version deployed, at the same time?",
            digest=seen,
        )


# --- After a failure ----------------------------------------------------------------------------------


def bring_back(task: Task, previous: str | None, failed: str) -> tuple[str, bool]:
    """Bring the image back that was in service before. Return what came of it, and whether it is there.

    Nothing is raised: the failure of the deploy itself is what the task ends with.
    """
    if previous is None:
        return "There is no version before to bring back", False
    if previous == failed:
        return "The version before is the same one, so there is nothing to bring back", False
    try:
        if digest_in_service(need_app(task)) == previous:
            return f"The version before, {previous}, is in service", True
        tag = tag_of(task, previous)
        put_in_service(task, tag, previous)
    except HostedError as error:
        return f"Bringing back the version before, {previous}, failed too: {error.message}", False
    return f"The version before, {previous} (release {tag!r}), was brought back", True


def tag_of(task: Task, digest: str) -> str:
    """Return a tag that names the image. Where its own has moved on, it is declared under another name."""
    slug = task.options["slug"]
    for release in reversed(all_releases(task.client, slug)):
        if release.digest == digest:
            return release.tag
    tag = f"rollback-{digest.rpartition(':')[2][:12]}"
    task.client.declare_release(slug, tag, digest)
    return tag


def last_lines(task: Task, most: int) -> list[str]:
    """Return the last log lines; none when they cannot be read, as a failure is being reported already."""
    try:
        return log_lines(task.client.app_logs(task.options["slug"]), most)
    except HostedError as error:
        task.warn(f"the log of application {task.options['slug']!r} cannot be read: {error.message}")
        return []
