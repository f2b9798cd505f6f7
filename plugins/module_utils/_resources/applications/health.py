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
from ..._api.health import problem_of_url, why_unhealthy
from ..._api.models import App
from ..shared.options import option
from ..shared.plan import Step, Task
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import wait_until
from .lookup import require_app
from .rollout import roll_back


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    """What to request of an application, and which responses are healthy ones."""

    url: str | None = None
    path: str | None = None
    status: list[int] = option([200])
    timeout: float = 60.0
    interval: float = 2.0
    validate_certs: bool = True

    @property
    def expected(self) -> str:
        """The healthy statuses, for messages."""
        return " or ".join(str(status) for status in self.status)

    def check(self) -> None:
        """Check the values.

        :raises Invalid: with the value and the rule.
        """
        problem = self._problem()
        if problem is not None:
            raise Invalid(problem)

    def _problem(self) -> str | None:
        """Return the first thing that is wrong with the values."""
        if (self.url is None) == (self.path is None):
            return "health_check needs either url, or path for one at the application's own address"
        if self.url is not None and (wrong := problem_of_url(self.url)) is not None:
            return f"url {self.url.rpartition('@')[2]!r} of health_check {wrong}"
        if self.path is not None and not self.path.startswith("/"):
            return f"path {self.path!r} of health_check must begin with a slash"
        if not self.status or not all(100 <= status <= 599 for status in self.status):
            return f"status {self.status} of health_check must list HTTP statuses, from 100 to 599"
        if self.timeout <= 0 or self.interval <= 0:
            return f"timeout {self.timeout:g} or interval {self.interval:g} of health_check is not above 0"
        return None

    def url_of(self, app: App) -> str:
        """Return the URL to request.

        :raises Invalid: if the application has no address for a path.
        """
        if self.url is not None:
            return self.url
        if not app.address:
            raise Invalid(
                f"application {app.slug!r} has no address to request {self.path} at. Open it to the Internet "
                "(public: true), or set url in place of path"
            )
        return f"http://{app.address}{self.path}"


class Unhealthy(HostedError):
    """A release runs, and does not respond as its health check expects."""


@dataclass(frozen=True)
class Deployed:
    """A deploy that can be undone: the image that it put in service, and the last good one before."""

    digest: str
    previous: str | None


def health_steps(
    task: Task[Any], check: HealthCheck | None, slug: str, undo: Deployed | None = None
) -> list[Step]:
    """Return the step that checks an application; none if there is nothing to check.

    :param undo: the deploy to roll back if the application is not healthy.
    """
    if check is None:
        return []
    where = check.url or f"{check.path} at its address"
    summary = f"check that application {slug!r} responds to {where} with {check.expected}"
    return [Step(summary, lambda: ensure_healthy(task, check, undo), changes=False)]


def ensure_healthy(task: Task[Any], check: HealthCheck, undo: Deployed | None) -> None:
    """Wait until an application responds; if it does not in time, roll back if that is wanted, and fail.

    :raises Unhealthy: with the last response, and what is in service now.
    """
    app = require_app(task)
    url = check.url_of(app)
    reason = await_healthy(task, check, url)
    if reason is None:
        return
    details: dict[str, Any] = {"health_url": url, "reason": reason}
    sentences = [f"application {app.slug!r} runs, but is not healthy: {reason}"]
    if undo is not None:
        outcome, restored = roll_back(task, undo.previous, undo.digest)
        details.update({"rollback": outcome, "rolled_back": restored})
        sentences.append(outcome)
    else:
        sentences.append("It stays in service")
    raise Unhealthy(". ".join(sentences), **details)


def await_healthy(task: Task[Any], check: HealthCheck, url: str) -> str | None:
    """Request a URL until the response is a healthy one. Return what is wrong if it never is.

    Waits for as long as the check says, whatever the task's own options for waiting are.
    """
    verify: bool | str = (task.options.ca_path or True) if check.validate_certs else False
    patient = replace(
        task, options=replace(task.options, wait_timeout=check.timeout, wait_interval=check.interval)
    )
    last = ""

    def request() -> str | None:
        nonlocal last
        problem = why_unhealthy(url, check.status, verify)
        last = problem or ""
        return problem

    try:
        wait_until(patient, request, lambda problem: problem is None, str, f"{check.expected} from {url}")
    except WaitEnded:
        return f"{last} at {url} after {check.timeout:g} seconds; expected was status {check.expected}"
    return None
