# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys a release and verifies it; rolls back to the previous image.

A deploy is recorded on the controller before it is sent, and the record is removed once the deploy is
confirmed. Only the record shows an unconfirmed deploy: the list of applications may show an image as in
service whether it started or not, or the one before although its container was replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..._api.errors import (
    AccessDenied,
    CallOutcomeUnknown,
    Conflict,
    HostedError,
    Locked,
    NotFoundResponse,
    NotSent,
    Refused,
    ServerFailure,
    TokenRejected,
    Unprocessable,
)
from ..._api.models import App
from ..._api.values import ContainerState, ScanStatus, ServiceStatus
from ..services.view import read_state, shows_start_since
from ..shared.busy_retry import retry_while_busy, under_way
from ..shared.pending import AT_DEPLOY, DEPLOY
from ..shared.plan import Task
from ..shared.task_errors import EffectUnverified, Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, poll_for, wait_until
from .lookup import digest_in_service, never_deployed
from .records import AppRecords
from .releases import (
    Blocked,
    ReleaseOptions,
    await_verdict,
    check_verdict,
    find_release,
    read_declared,
)

T = TypeVar("T")
TRIES = 2
CERTAIN_SECONDS = 2.0
"""How much later than a call a start has to show to be after it: dates and uptimes are whole seconds."""
SHOWN_SECONDS = 3.0
"""For how long metrics may show a container as it was before it was restarted."""


class DeployFailed(HostedError):
    """The deploy failed: the version does not start, or the platform gave another reason.

    ``refused`` is true if the platform refused the call, so that it may not have touched the node; ``began``
    is false if it certainly has not. ``restarted`` says whether the container was restarted; it is empty if
    it was not. ``may_be_busy`` is true if the reason may be another deploy that the platform is at.
    """

    refused = False
    began = True
    restarted = ""
    may_be_busy = False

    @classmethod
    def after(cls, cause: Refused | ServerFailure) -> DeployFailed:
        """Return the failure for the error of a deploy call."""
        failed = cls(cause.message, **cause.details)
        failed.refused = isinstance(cause, Refused)
        failed.may_be_busy = isinstance(cause, (Conflict, Locked))
        failed.began = not isinstance(cause, (AccessDenied, NotFoundResponse, Locked))
        return failed


@dataclass
class Deployed:
    """A deploy of this run: the image that it put in service, and the last good one before.

    ``before`` is what was in service when it was sent. That and ``previous`` are read again then.
    """

    digest: str
    previous: str | None
    rolls_back: bool
    before: str | None = None


class Beginning:
    """What is in service, and what is recorded, when a deploy is sent."""

    def __init__(self, task: Task[ReleaseOptions], digest: str, deployed: Deployed | None) -> None:
        self.task, self.digest, self.deployed = task, digest, deployed
        self.begin()

    def begin(self) -> None:
        """Read what is in service, and record the deploy."""
        task, digest = self.task, self.digest
        self.app, self.time = task.account.app(task.options.slug), time.monotonic()
        self.sent = task.client.clock.now().timestamp()
        self.records, self.in_service = AppRecords.of(task, self.app.id), digest_in_service(self.app)
        before = self.records.last_good(self.in_service)
        self.take_back = write_record(task, lambda: self.records.note(DEPLOY, digest=digest, at=self.sent))
        # It replaces the container, so what waits for a start is in effect too (Applications, rule 5).
        self.clear = self.records.clearing()
        self.records.record_in_service(before)
        if self.deployed is not None:
            self.deployed.before, self.deployed.previous = self.in_service, before

    def begin_again(self) -> None:
        """Do so once more after a wait: another run may have deployed, and have cleared what was recorded."""
        if self.take_back is not None:
            write_record(self.task, self.take_back)
        self.begin()


def put_in_service(
    task: Task[ReleaseOptions],
    tag: str,
    digest: str,
    undecided: bool = False,
    deployed: Deployed | None = None,
) -> bool:
    """Deploy a release, verify that its image is in service, and update the records.

    :param undecided: whether its scan may still be running.
    :param deployed: where to tell what was in service before.
    :return: false if its image is in service, but it is unknown whether it runs.
    :raises Blocked: if its verdict forbids the deploy.
    :raises DeployFailed: if the version does not start.
    :raises EffectUnverified: if both responses were lost, or another version was deployed at the same time.
    :raises WaitEnded: if its scan is still running after ``wait_timeout``.
    """
    start = Beginning(task, digest, deployed)
    try:
        seen = roll_out(task, tag, start, undecided)
    except HostedError as error:
        if isinstance(error, DeployFailed) and error.began:
            error.restarted = restart_since(task, start.app, start.time)
        if start.take_back and not may_have_deployed(task, error, digest, start.in_service):
            write_record(task, start.take_back)
        raise
    if not seen:
        return False
    write_record(task, start.clear)
    start.records.record_deploy(digest)
    return True


def write_record(task: Task[ReleaseOptions], record: Callable[[], T]) -> T | None:
    """Write a record. If it cannot be written, warn and go on with the deploy."""
    try:
        return record()
    except Invalid as error:
        task.warn(f"{error.message}. What is not in effect after this task is not known to the next one")
        return None


def may_have_deployed(
    task: Task[ReleaseOptions], error: HostedError, digest: str, before: str | None
) -> bool:
    """Tell whether a failed deploy may have touched the node.

    A refusal because of the verdict has not. A version that does not start is also refused, and the platform
    may go on to show the image before. So after any other refusal, both a restart and the image decide.
    """
    if isinstance(error, (Blocked, WaitEnded, Refused, NotSent)):
        return error.effect_unknown
    if not isinstance(error, DeployFailed) or not error.refused:
        return True
    if not error.began:
        return False
    return before == digest or bool(error.restarted) or in_service_now(task, digest) != before


def restart_since(task: Task[ReleaseOptions], app: App, begun: float) -> str:
    """Say whether the container of an application was restarted since a deploy began; nothing if it was not.

    If the version does not start, the platform may run the one before again (Applications, rule 5). Only the
    uptime shows that, and a token for applications may not read it.
    """
    try:
        if poll_for(lambda: shows_start_since(task, str(app.id), begun), SHOWN_SECONDS):
            return "was restarted"
        is_known = running_for(task, app) is not None
    except HostedError:
        is_known = False
    return "" if is_known else "may have been restarted"


def in_service_now(task: Task[ReleaseOptions], otherwise: str | None) -> str | None:
    """Return the digest in service after a failure; ``otherwise`` if it cannot be read."""
    try:
        return digest_in_service(task.account.app(task.options.slug))
    except HostedError:
        return otherwise


def roll_out(task: Task[ReleaseOptions], tag: str, start: Beginning, undecided: bool) -> bool:
    """Deploy a release, and tell whether it was confirmed to run.

    If the response is lost, the image in service and a start since then tell whether it runs; the image alone
    tells whether the deploy happened. After a 5xx, it does not: a version that does not start may be shown as
    in service. If what runs does not show that it failed, the call is repeated, and the response to that
    decides, unless a gateway no longer waited for that one either.

    :return: false if the image is in service, but it is unknown whether it runs.
    """
    digest = start.digest
    for attempt in range(TRIES):
        last = attempt == TRIES - 1
        try:
            if attempt:
                deploy_again(task, tag, undecided)
            else:
                deploy_once(task, tag, undecided, start.begin_again)
            break
        except ServerFailure as error:
            with reading_after(tag, error):
                seen = digest_in_service(task.account.app(task.options.slug))
            if seen == digest and started_after(task, start.app, start.sent):
                break
            if seen not in (start.in_service, digest):
                raise EffectUnverified(f"{error.message}; meanwhile {seen} was put in service") from error
            if last or failed_to_start(task, start, seen):
                raise DeployFailed.after(error) from error
        except CallOutcomeUnknown as error:
            seen_to_run = look_after(task, tag, start, error, last)
            if seen_to_run is not None:
                return seen_to_run
    verify(task, tag, digest)
    return True


def look_after(
    task: Task[ReleaseOptions], tag: str, start: Beginning, error: CallOutcomeUnknown, last: bool
) -> bool | None:
    """Tell whether a deploy whose response was lost was confirmed; ``None`` if it is to be sent again.

    :raises EffectUnverified: if nothing came of it, and it was sent twice.
    """
    digest = start.digest
    with reading_after(tag, error):
        shown = wait_for_image(task, digest, QUIET_SECONDS / 2)
    if shown and started_after(task, start.app, start.sent):
        return True
    if shown and start.in_service != digest and not last:
        task.warn(
            f"the response to the deploy of release {tag!r} was lost ({error.message}); its image is in "
            "service, but whether it runs is not known, so the next run may deploy it again"
        )
        return False
    if last:
        raise EffectUnverified(
            f"whether release {tag!r} was deployed is unknown: {error.message}; {digest} is "
            f"{'shown as' if shown else 'not'} in service"
        ) from error
    return None


def deploy_again(task: Task[ReleaseOptions], tag: str, undecided: bool) -> None:
    """Call deploy after an attempt whose response was lost.

    :raises EffectUnverified: if the platform may still be at that one, or a gateway stopped waiting again.
    """
    try:
        deploy_once(task, tag, undecided)
    except DeployFailed as error:
        if error.may_be_busy:
            raise first_may_go_on(error, tag) from None
        error.began = True  # if not by this attempt, then maybe by the one before
        raise
    except (Refused, NotSent) as error:
        error.doubted()
        raise
    except ServerFailure as error:
        if error.timed_out:
            raise first_may_go_on(error, tag) from error
        raise


def first_may_go_on(last: HostedError, tag: str) -> EffectUnverified:
    """Return the error for a deploy that the platform may still be at, from that of the last attempt."""
    return EffectUnverified(
        f"{last.message}. The response to an earlier attempt to deploy release {tag!r} was lost, so the "
        "platform may still be at it. The next run deploys it again"
    )


def deploy_once(
    task: Task[ReleaseOptions],
    tag: str,
    undecided: bool = True,
    begin_again: Callable[[], None] = lambda: None,
) -> None:
    """Call deploy. While the platform refuses it because the scan is still running, wait and repeat it.

    Also waits for an application that is still being created and refuses its first deploy, and for one that
    is busy; not at the sight of its container, as that may be at this very deploy. If the release was
    ``undecided``, its verdict may have come just after the refusal, so the call is repeated once.

    :param begin_again: called after each wait, before the call is repeated.
    :raises Blocked: if the verdict forbids the deploy.
    :raises DeployFailed: if the platform refuses it for another reason.
    :raises WaitEnded: if there is no verdict in time, or the task does not wait.
    """
    until = time.monotonic() + task.options.wait_timeout
    again, sent = not undecided, False

    def send() -> None:
        nonlocal sent
        if sent:
            begin_again()
        sent = True
        task.client.deploy(task.options.slug, tag)

    def is_busy() -> bool:
        return under_way(task.account, str(task.account.app(task.options.slug).id), container=False)

    while True:
        try:
            return retry_while_busy(task, send, f"the deploy of release {tag!r}", is_busy)
        except TokenRejected:
            raise
        except Refused as error:
            by_verdict = isinstance(error, Unprocessable)
            come = (by_verdict and await_pending(task, tag, until, error)) or await_created(task, until)
            if not come and (again or not by_verdict):
                raise DeployFailed.after(error) from error
            again = True


def await_pending(task: Task[ReleaseOptions], tag: str, until: float, refusal: Refused) -> bool:
    """After a refused deploy, wait for the verdict if there is none yet. Tell whether there was none.

    :raises Blocked: if the verdict forbids the deploy.
    :raises WaitEnded: if there is no verdict in time, or the task does not wait.
    """
    slug = task.options.slug
    report = find_release(task, tag)
    if report is None:
        return False
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
        raise error from refusal
    return pending


def await_created(task: Task[ReleaseOptions], until: float) -> bool:
    """After a refused first deploy, wait until the application is created. Tell whether that happened.

    The specification does not show whether an application in ``PROVISIONING`` accepts its first deploy. It
    may even need one to become ``ACTIVE``, so the deploy is always tried first.
    """

    def waits(app: App) -> bool:
        return app.status == ServiceStatus.PROVISIONING and never_deployed(app)

    left = until - time.monotonic()
    if not waits(task.account.app(task.options.slug)) or not task.options.wait or left <= 0:
        return False
    try:
        wait_until(
            replace(task, options=replace(task.options, wait_timeout=left)),
            lambda: task.account.app(task.options.slug),
            lambda app: not waits(app),
            lambda app: f"its status is {app.status}",
            f"application {task.options.slug!r}",
        )
    except WaitEnded:
        return False
    return True


def wait_for_image(task: Task[ReleaseOptions], digest: str, seconds: float) -> bool:
    """Wait up to ``seconds`` for an image to be in service. Tell whether it is."""
    until = time.monotonic() + seconds
    while True:
        if digest_in_service(task.account.app(task.options.slug)) == digest:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.5)


@contextmanager
def reading_after(tag: str, lost: HostedError) -> Iterator[None]:
    """Let an error of what is read after a deploy without a clear response say that its outcome is unknown.

    :raises EffectUnverified: if what is in service cannot be read.
    """
    try:
        yield
    except HostedError as error:
        raise EffectUnverified(
            f"whether release {tag!r} was deployed is unknown: {lost.message}; what is in service cannot be "
            f"read: {error.message}. The next run deploys it again"
        ) from error


def verify(task: Task[ReleaseOptions], tag: str, digest: str) -> None:
    """Verify that the deployed image is in service.

    :raises EffectUnverified: naming the image that is in service instead.
    """
    if not wait_for_image(task, digest, QUIET_SECONDS / 2):
        seen = digest_in_service(task.account.app(task.options.slug))
        raise EffectUnverified(
            f"the platform accepted the deploy of release {tag!r}, but {seen} is in service, not {digest}. "
            "Was the tag moved, or another version deployed, at the same time?",
            digest=seen,
            changed=True,
        )


def started_after(task: Task[Any], app: App, sent: float) -> bool:
    """Tell whether the container of an application runs, and certainly was started after a call was sent.

    A token for applications may not read that.
    """
    try:
        uptime = running_for(task, app)
    except HostedError:
        return False
    now = task.client.clock.shown()
    return now is not None and uptime is not None and now.timestamp() - uptime >= sent + CERTAIN_SECONDS


def running_for(task: Task[Any], app: App) -> int | None:
    """Return for how many seconds the container of an application has run, if it runs and that is shown."""
    id = str(app.id)
    metrics = task.account.metrics_of(id)
    return metrics.uptime_seconds if metrics and metrics.state == ContainerState.RUNNING else None


def failed_to_start(task: Task[Any], start: Beginning, seen: str | None) -> bool:
    """Tell whether what runs shows that a deploy failed: nothing does, or what did before was started again.

    A token for applications may not read that.
    """
    id = str(start.app.id)
    try:
        state = read_state(task, id)
        if state == ContainerState.RUNNING:
            return seen != start.digest and shows_start_since(task, id, start.time)
    except HostedError:
        return False
    return state == ContainerState.STOPPED


def carried_out(task: Task[Any], app: App, digest: str) -> Callable[[], None] | None:
    """Return what records that a deploy is in effect whose outcome was not seen, if what runs shows that."""
    records = AppRecords.of(task, app.id)
    clear, sent = records.clearing(AT_DEPLOY), records.sent_at(digest)
    if sent is None or not started_after(task, app, sent):
        return None

    def note() -> None:
        write_record(task, clear)
        records.record_deploy(digest)

    return note


# --- After a failure ----------------------------------------------------------------------------------


def put_in_service_meanwhile(task: Task[ReleaseOptions], *own: str | None) -> str | None:
    """Return the image in service if somebody else has put it there; ``None`` if that is not certain.

    Whoever deployed it knows better what to run than a rollback would.

    :param own: the images that this task may have put in service, or found there.
    """
    digests = [digest for digest in own if digest is not None]
    try:
        seen = digest_in_service(task.account.app(task.options.slug))
        is_other = seen is not None and seen not in digests
    except HostedError:
        return None
    return seen if is_other else None


def describe_other(seen: str, rolls_back: bool) -> str:
    """Say that somebody else has put another image in service, so that it was left alone."""
    return f"{seen} was put in service meanwhile{', so nothing was rolled back' if rolls_back else ''}"


def why_nothing_rolls_back(failed: Deployed, other: str | None) -> str:
    """Say why there is no version to roll back to."""
    if other is not None:
        return describe_other(other, rolls_back=True)
    if failed.previous is None:
        return "There is no previous version to roll back to"
    return "The previous version is the same one, so there is nothing to roll back to"


def roll_back(
    task: Task[ReleaseOptions], failed: Deployed, other: str | None, runs: bool
) -> tuple[str, bool]:
    """Roll back to the previous image. Return a sentence on the outcome, and whether it is in service.

    Raises nothing, because the task ends with the failure of the deploy itself.

    :param other: what somebody else has put in service meanwhile, which is left alone.
    :param runs: whether the previous image runs if the platform shows it as in service. If that is not
        certain, it is deployed, which costs a restart at most.
    """
    previous = failed.previous
    if previous is None or other is not None or previous == failed.digest:
        return why_nothing_rolls_back(failed, other), False
    try:
        if runs and digest_in_service(task.account.app(task.options.slug)) == previous:
            return f"The previous version, {previous}, is in service", True
        tag = tag_of(task, previous)
        seen = put_in_service(task, tag, previous)
    except HostedError as error:
        return f"Rolling back to the previous version, {previous}, failed too: {error.message}", False
    if seen:
        return f"Rolled back to the previous version, {previous} (release {tag!r})", True
    return (
        f"The previous version, {previous} (release {tag!r}), is in service again, but whether it runs is "
        "not known, because the response to its deploy was lost. The next run deploys it again"
    ), True


def tag_of(task: Task[ReleaseOptions], digest: str) -> str:
    """Return a release's tag that names the image. If no tag does any more, declare it under a new one."""
    slug = task.options.slug
    for tag, release in read_declared(task.account, slug).items():
        if release.digest == digest:
            return tag
    tag = f"rollback-{digest.rpartition(':')[2][:12]}"
    task.client.declare_release(slug, tag, digest)
    return tag


def read_log_tail(task: Task[ReleaseOptions], most: int) -> list[str]:
    """Return the last ``most`` lines of the log. If it cannot be read, warn and return no lines."""
    try:
        return task.client.app_logs(task.options.slug)[-most:]
    except HostedError as error:
        task.warn(f"the log of application {task.options.slug!r} cannot be read: {error.message}")
        return []
