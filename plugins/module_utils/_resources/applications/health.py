# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks that an application responds, after its deploy and in each run that changes nothing.

The platform waits until the container stands up (Applications, rule 5). Whether the application in it works,
only a request to it tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..._api.errors import HostedError
from ..._api.models import App
from ..._api.probes import probe_url, problem_of_url
from ..shared.options import option
from ..shared.pending import DEPLOY
from ..shared.plan import Step, Task
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import wait_until
from .records import AppRecords
from .rollout import Deployed, describe_other, put_in_service_meanwhile, roll_back, write_record

ADDRESS = "{address}"
"""What stands for the application's own address in a URL."""
REQUEST_SECONDS = 10.0
"""How long one request may take. An application that hangs is requested again."""
MAX_SECONDS = 24 * 60 * 60.0


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    """What to request of an application, and which responses are healthy ones."""

    url: str
    status: list[int] = option([200])
    timeout: float = 60.0
    interval: float = 2.0
    validate_certs: bool = True

    def check(self) -> None:
        """Check the values, before anything is called."""
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
        """Return the URL to request, with the address of the application where that belongs."""
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
    """Return the step that checks an application; none if there is nothing to check.

    :param deployed: what this run deployed, if anything.
    """
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
    url, records, take_back = check.url_of(app), AppRecords.of(task, app.id), None
    if deployed:
        take_back = write_record(task, lambda: records.note(DEPLOY, digest=deployed.digest, at=None))
    reason = await_healthy(task, check, url)
    outcome, rollback = "It stays in service", {}
    # If somebody else has put another one in service since, that is left alone, and so are its records.
    other = (
        put_in_service_meanwhile(task, deployed.digest, deployed.previous) if deployed and reason else None
    )
    if take_back and (reason is None or other):
        write_record(task, take_back)
    if reason is None:
        return
    if deployed and deployed.rolls_back:
        outcome, restored = roll_back(task, deployed, other, runs=True)
        rollback = {"rollback": outcome, "rolled_back": restored}
        if other is None:
            records.record_failure(deployed.digest)
    elif other:
        outcome = describe_other(other, rolls_back=False)
    raise Unhealthy(
        f"application {app.slug!r} runs, but is not healthy: {reason}. {outcome}",
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
