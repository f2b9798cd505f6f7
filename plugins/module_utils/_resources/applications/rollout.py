# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys a release, verifies it and checks that it responds; rolls back to the previous image.

A deploy is recorded on the controller before it is sent, and the record is removed once the deploy is
confirmed. Only the record shows an unconfirmed deploy: the list of applications may show an image as in
service whether it started or not, or the one before although its container was replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..._api import routes as r
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
from ..._api.probes import probe_url, problem_of_url
from ..._api.values import ContainerState, ScanStatus
from ..services.view import read_state, shows_start_since
from ..shared.change import Change, Unseen, apply, send
from ..shared.options import option
from ..shared.pending import AT_DEPLOY, DEPLOY
from ..shared.plan import Step, Task
from ..shared.task_errors import EffectUnverified, Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, poll_for, wait_until
from .releases import AppRecords, Blocked, ReleaseOptions, await_verdict, check_verdict, declaration

T = TypeVar("T")
CERTAIN_SECONDS = 2.0
"""How much later than a call a start has to show to be after it: dates and uptimes are whole seconds."""
SHOWN_SECONDS = 3.0
"""For how long metrics may show a container as it was before it was restarted."""
ADDRESS = "{address}"
"""What stands for the application's own address in a URL."""
REQUEST_SECONDS = 10.0
"""How long one request may take. An application that hangs is requested again."""
MAX_SECONDS = 24 * 60 * 60.0


class DeployFailed(HostedError):
    """The deploy failed: the version does not start, or the platform gave another reason."""

    refused = False
    """Whether the platform refused the call, so that it may not have touched the node."""
    began = True
    """False if it certainly has not."""
    restarted = ""
    """Whether the container was restarted, as a phrase; empty if it was not."""
    may_be_busy = False
    """Whether the reason may be another deploy that the platform is at."""
    now: str | None = None
    """What is in service after it."""
    touched = False
    """Whether what runs shows that it has touched the node."""

    @classmethod
    def after(cls, cause: Refused | ServerFailure) -> DeployFailed:
        failed = cls(cause.message, **cause.details)
        failed.refused = isinstance(cause, Refused)
        failed.may_be_busy = isinstance(cause, (Conflict, Locked))
        failed.began = not isinstance(cause, (AccessDenied, NotFoundResponse, Locked))
        return failed


@dataclass
class Deployed:
    """A deploy of this run: the image that it puts in service, and the last good one before.

    ``before`` is what was in service when it was sent. That and ``previous`` are read again then.
    """

    digest: str
    previous: str | None
    rolls_back: bool
    before: str | None = None


class Rollout:
    """A deploy on its way, with what was in service and what is recorded when it is sent."""

    def __init__(
        self, task: Task[ReleaseOptions], tag: str, deployed: Deployed, undecided: bool = False
    ) -> None:
        self.task, self.tag, self.slug = task, tag, task.options.slug
        self.deployed, self.digest = deployed, deployed.digest
        self.undecided = undecided
        """Whether the scan of the release may still be running."""
        self.sent = self.lost = False
        """Whether the call was made, and whether its response was lost."""
        self.begin()
        self.change = Change(
            what=f"the deploy of release {tag!r}",
            route=r.APP_DEPLOY,
            ids={"slug": self.slug},
            body={"tag": tag},
            shown=Unseen(),  # an image in service need not run: see look()
            at=self.id,
            container=False,
        )

    def begin(self) -> None:
        task, deployed = self.task, self.deployed
        app, self.begun = task.account.app(self.slug), time.monotonic()
        self.id, self.since = str(app.id), task.client.clock.now().timestamp()
        self.records = AppRecords.of(task, app.id)
        deployed.before, deployed.previous = app.digest, self.records.last_good(app.digest)
        note = {"digest": self.digest, "at": self.since}
        self.forget = write_record(task, lambda: self.records.note(DEPLOY, **note)) or (lambda: None)
        # It replaces the container, so what waits for a start is in effect too (Applications, rule 5).
        self.clear = self.records.clearing()
        self.records.record_in_service(deployed.previous)

    def before_each(self) -> None:
        """Begin anew before a call that follows a wait: another run may have deployed meanwhile."""
        if self.sent and not self.lost:
            write_record(self.task, self.forget)
            self.begin()
        self.sent = True

    def run(self) -> bool:
        """Deploy, verify that the image is in service, and update the records.

        Returns false if the image is in service, but it is unknown whether it runs. Raises DeployFailed if
        the version does not start.
        """
        try:
            seen = self.roll_out()
        except HostedError as error:
            if isinstance(error, DeployFailed):
                self.look_at_failure(error)
                acted = error.touched or not error.refused
            else:
                acted = error.effect_unknown or not isinstance(error, (Blocked, WaitEnded, Refused, NotSent))
            if not acted:
                write_record(self.task, self.forget)
            raise
        if seen:
            write_record(self.task, self.clear)
            self.records.record_deploy(self.digest)
        return seen

    def roll_out(self) -> bool:
        """Make the call, and once more if nothing tells what came of it. Tell whether it is seen to run."""
        while True:
            try:
                self.call()
            except CallOutcomeUnknown as error:
                seen = self.look(error)
                if seen is not None:
                    return seen
                self.lost = True
            else:
                break
        now = self.in_service(QUIET_SECONDS / 2)
        if now != self.digest:
            raise EffectUnverified(
                f"the platform accepted the deploy of release {self.tag!r}, but {now} is in service, not "
                f"{self.digest}. Was the tag moved, or another version deployed, at the same time?",
                digest=now,
                changed=True,
            )
        return True

    def call(self) -> None:
        """Call deploy. Nothing is known while the platform may be at an attempt whose response was lost."""
        try:
            self.call_until_ready()
        except HostedError as error:
            if not self.lost:
                raise
            if isinstance(error, DeployFailed):
                error.began = True  # if not by this attempt, then maybe by the one before
            elif isinstance(error, (Refused, NotSent)):
                error.doubted()
            busy = isinstance(error, DeployFailed) and error.may_be_busy
            if not busy and not (isinstance(error, ServerFailure) and error.timed_out):
                raise
            raise EffectUnverified(
                f"{error.message}. The response to an earlier attempt to deploy release {self.tag!r} was "
                "lost, so the platform may still be at it. The next run deploys it again"
            ) from error

    def call_until_ready(self) -> None:
        """Call deploy, again once the scan is done, which may be between a refusal and the look at it."""
        until, tried = time.monotonic() + self.task.options.wait_timeout, not self.undecided
        while True:
            try:
                send(self.task, self.change, self.before_each)
                return
            except TokenRejected:
                raise
            except Refused as error:
                judged = isinstance(error, Unprocessable)
                if not (judged and self.await_pending(until, error)) and (tried or not judged):
                    raise DeployFailed.after(error) from error
                tried = True

    def await_pending(self, until: float, refusal: Refused) -> bool:
        """After a refused deploy, wait for the verdict if there is none yet. Tell whether there was none."""
        report, left = self.task.account.release(self.slug, self.tag), until - time.monotonic()
        if report is None:
            return False
        pending = report.scan_status == ScanStatus.PENDING
        if pending and (left <= 0 or not self.task.options.wait):
            raise WaitEnded(
                f"release {self.tag!r} of application {self.slug!r} was not deployed: its analysis is still "
                "running. Run this again later, or wait longer (wait, wait_timeout)"
            )
        try:
            check_verdict(self.slug, await_verdict(self.task, report, left) if pending else report)
        except Blocked as error:
            error.details["reason"] = refusal.message
            raise error from refusal
        return pending

    def in_service(self, seconds: float = 0.0) -> str | None:
        until = time.monotonic() + seconds
        while (seen := self.task.account.app(self.slug).digest) != self.digest and time.monotonic() < until:
            time.sleep(0.5)
        return seen

    def look(self, error: CallOutcomeUnknown) -> bool | None:
        """Tell what came of a call without a clear response; ``None`` if it is to be made once more.

        If the response is lost, the image in service and a start since then tell whether it runs; the image
        alone tells whether the deploy happened. After a 5xx, it does not: a version that does not start may
        be shown as in service. Then the response to another call decides, unless what runs shows a failure.
        """
        doubt = f"whether release {self.tag!r} was deployed is unknown: {error.message}; "
        try:
            seen = self.in_service(0.0 if isinstance(error, ServerFailure) else QUIET_SECONDS / 2)
        except HostedError as failed:
            raise EffectUnverified(
                f"{doubt}what is in service cannot be read: {failed.message}. The next run deploys it again"
            ) from failed
        if seen == self.digest and started_after(self.task, self.id, self.since):
            return True
        if isinstance(error, ServerFailure):
            if seen not in (self.deployed.before, self.digest):
                raise EffectUnverified(f"{error.message}; meanwhile {seen} was put in service") from error
            if self.lost or self.failed_to_start(seen):
                raise DeployFailed.after(error) from error
        elif self.lost:
            shown = "shown as" if seen == self.digest else "not"
            raise EffectUnverified(f"{doubt}{self.digest} is {shown} in service") from error
        elif seen == self.digest != self.deployed.before:
            self.task.warn(
                f"the response to the deploy of release {self.tag!r} was lost ({error.message}); its image "
                "is in service, but whether it runs is not known, so the next run may deploy it again"
            )
            return False
        return None

    def failed_to_start(self, seen: str | None) -> bool:
        """Tell whether what runs shows a failure: nothing does, or what did before was started again."""
        with suppress(HostedError):  # a token for applications may not read that
            state = read_state(self.task, self.id)
            if state == ContainerState.RUNNING:
                return seen != self.digest and shows_start_since(self.task.account, self.id, self.begun)
            return state == ContainerState.STOPPED
        return False

    def restarted(self) -> str:
        """Say whether the container was restarted since the deploy began; nothing if it was not.

        Only the uptime shows that, and a token for applications may not read it.
        """
        with suppress(HostedError):
            if poll_for(lambda: shows_start_since(self.task.account, self.id, self.begun), SHOWN_SECONDS):
                return "was restarted"
            if running_for(self.task, self.id) is not None:
                return ""
        return "may have been restarted"

    def look_at_failure(self, error: DeployFailed) -> None:
        """Read what a failed deploy may have done to the node.

        A version that does not start is also refused, and the platform may go on to show the image before. So
        both a restart and the image decide.
        """
        before = self.deployed.before
        error.restarted = self.restarted() if error.began else ""
        error.now = in_service_now(self.task, before)
        same = error.now == before != self.digest and not error.restarted
        error.touched = error.began and not same


def write_record(task: Task[Any], record: Callable[[], T]) -> T | None:
    """Write a record. If it cannot be written, warn and go on with the deploy."""
    try:
        return record()
    except Invalid as error:
        task.warn(f"{error.message}. What is not in effect after this task is not known to the next one")
        return None


def running_for(task: Task[Any], id: str) -> int | None:
    """Return for how many seconds the container of an application has run, if it runs and that is shown."""
    metrics = task.account.metrics_of(id)
    return metrics.uptime_seconds if metrics and metrics.state == ContainerState.RUNNING else None


def started_after(task: Task[Any], id: str, sent: float) -> bool:
    """Tell whether the container of an application runs, and certainly was started after a call was sent."""
    with suppress(HostedError):  # a token for applications may not read that
        uptime, now = running_for(task, id), task.client.clock.shown()
        if now is not None and uptime is not None:
            return now.timestamp() - uptime >= sent + CERTAIN_SECONDS
    return False


def carried_out(task: Task[Any], app: App, digest: str) -> Callable[[], None] | None:
    """Return what records that a deploy is in effect whose outcome was not seen, if what runs shows that."""
    records = AppRecords.of(task, app.id)
    clear, sent = records.clearing(AT_DEPLOY), records.sent_at(digest)
    if sent is None or not started_after(task, str(app.id), sent):
        return None

    def note() -> None:
        write_record(task, clear)
        records.record_deploy(digest)

    return note


def in_service_now(task: Task[ReleaseOptions], otherwise: str | None) -> str | None:
    """Return the digest in service after a failure; ``otherwise`` if it cannot be read."""
    with suppress(HostedError):
        return task.account.app(task.options.slug).digest
    return otherwise


def take_back(
    task: Task[ReleaseOptions], failed: Deployed, other: str | None, runs: bool
) -> tuple[str, dict[str, Any]]:
    """Roll back if that is wanted. Return a sentence on the outcome, and what the details of the error say.

    ``other`` is what somebody else has put in service meanwhile, which is left alone.
    """
    outcome, restored = f"{other} was put in service meanwhile" if other else "", False
    if not failed.rolls_back:
        return outcome, {}
    if other:
        outcome += ", so nothing was rolled back"
    else:
        outcome, restored = roll_back(task, failed, runs)
    return outcome, {"rollback": outcome, "rolled_back": restored}


def roll_back(task: Task[ReleaseOptions], failed: Deployed, runs: bool) -> tuple[str, bool]:
    """Roll back to the previous image. Return a sentence on the outcome, and whether it is in service.

    Raises nothing, because the task ends with the failure of the deploy itself. Unless the previous image
    ``runs`` for certain if it is shown as in service, it is deployed, which costs a restart at most.
    """
    previous = failed.previous
    if previous is None or previous == failed.digest:
        told = "There is no previous version" if previous is None else "The previous version is the same one"
        return f"{told}, so there is nothing to roll back to", False
    try:
        if runs and task.account.app(task.options.slug).digest == previous:
            return f"The previous version, {previous}, is in service", True
        slug, releases = task.options.slug, task.account.releases(task.options.slug).values()
        tag = next((each.tag for each in releases if each.digest == previous), "")
        if not tag:  # it has moved
            tag = f"rollback-{previous.rpartition(':')[2][:12]}"
            apply(task, declaration(slug, tag, previous))
        seen = Rollout(task, tag, Deployed(previous, None, rolls_back=False)).run()
    except HostedError as error:
        return f"Rolling back to the previous version, {previous}, failed too: {error.message}", False
    if seen:
        return f"Rolled back to the previous version, {previous} (release {tag!r})", True
    return (
        f"The previous version, {previous} (release {tag!r}), is in service again, but whether it runs is "
        "not known, because the response to its deploy was lost. The next run deploys it again"
    ), True


# --- Health -------------------------------------------------------------------------------------------
# The platform waits until the container stands up (Applications, rule 5). Whether the application in it
# works, only a request to it tells: after its deploy, and in each run that changes nothing.


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    url: str
    status: list[int] = option([200])
    timeout: float = 60.0
    interval: float = 2.0
    validate_certs: bool = True

    def check(self) -> None:
        wrong = problem_of_url(self.url.replace(ADDRESS, "address.example:1"))
        if wrong is not None:
            shown = "url" if "@" in self.url else f"url {self.url!r}"
            raise Invalid(f"{shown} of health_check {wrong}")
        if not self.status or not all(100 <= status <= 599 for status in self.status):
            raise Invalid(f"status {self.status} of health_check must list HTTP statuses, from 100 to 599")
        for name, seconds in {"timeout": self.timeout, "interval": self.interval}.items():
            if not 0 < seconds <= MAX_SECONDS:
                raise Invalid(
                    f"{name} of health_check is {seconds:g}; it must be more than 0 and at most "
                    f"{MAX_SECONDS:g} seconds"
                )

    def url_of(self, app: App) -> str:
        if ADDRESS in self.url and not app.address:
            raise Invalid(
                f"application {app.slug!r} has no address for url {self.url!r} of health_check. Open it to "
                "the Internet (public: true), or write another URL"
            )
        return self.url.replace(ADDRESS, app.address or "")


class Unhealthy(HostedError):
    """A release runs, and does not respond as its health check expects."""


def health_steps(
    task: Task[Any], check: HealthCheck | None, slug: str, deployed: Deployed | None = None
) -> list[Step]:
    """Return the step that checks an application, and what this run ``deployed``; none without a check."""
    if check is None:
        return []
    summary = f"check that application {slug!r} responds at {check.url}"
    return [Step(summary, lambda: ensure_healthy(task, check, deployed), changes=False)]


def ensure_healthy(task: Task[Any], check: HealthCheck, deployed: Deployed | None) -> None:
    """Wait until an application responds; if it does not in time, roll back if that is wanted, and fail.

    Meanwhile a release that was deployed is recorded as not seen to succeed, so that nobody takes it for a
    good one to roll back to. A run that is killed while it waits leaves that.
    """
    app = task.account.app(task.options.slug)
    url, records, forget = check.url_of(app), AppRecords.of(task, app.id), None
    if deployed:
        forget = write_record(task, lambda: records.note(DEPLOY, digest=deployed.digest, at=None))
    reason = await_healthy(task, check, url)
    other = None
    if deployed and reason:
        # If somebody else has put another one in service since, that is left alone, and so are its records.
        seen = in_service_now(task, deployed.digest)
        other = None if seen in (deployed.digest, deployed.previous) else seen
    if forget and (reason is None or other):
        write_record(task, forget)
    if reason is None:
        return
    outcome, rollback = take_back(task, deployed, other, runs=True) if deployed else ("", {})
    if deployed and rollback and other is None:
        records.record_failure(deployed.digest)
    raise Unhealthy(
        f"application {app.slug!r} runs, but is not healthy: {reason}. {outcome or 'It stays in service'}",
        health_url=url,
        reason=reason,
        **rollback,
    )


def await_healthy(task: Task[Any], check: HealthCheck, url: str) -> str | None:
    """Request a URL until the response is a healthy one. Return what is wrong if it never is.

    Waits for as long as the check says, whatever the task's own options for waiting are.
    """
    if not check.validate_certs and url.startswith("https:"):
        task.warn("validate_certs of health_check is off: the certificate of the application was not checked")
    verify: bool | str = (task.options.ca_path or True) if check.validate_certs else False
    options = replace(task.options, wait_timeout=check.timeout, wait_interval=check.interval)
    problem: str | None = None

    def request() -> str | None:
        nonlocal problem
        problem = probe_url(url, check.status, REQUEST_SECONDS, verify)
        return problem

    try:
        wait_until(replace(task, options=options), request, lambda seen: seen is None, str, "its health")
    except WaitEnded:
        return f"{problem}, for {check.timeout:g} seconds"
    return None
