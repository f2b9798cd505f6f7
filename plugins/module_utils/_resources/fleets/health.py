# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a service is healthy: it has run for long enough, and responds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from ..._api.models import Service
from ..._api.probes import probe_tcp, probe_url
from ..._api.values import ContainerState
from ..services.view import read_diagnostics
from ..shared.identify import label
from ..shared.options import WaitOptions, option
from ..shared.plan import Task
from ..shared.task_errors import Invalid, WaitEnded
from ..shared.waiting import wait_until

LONGEST = 24 * 60 * 60.0
LOOKS = 2
"""How often in a row a container is seen stopped before it counts as crashed: metrics may lag."""


@dataclass(frozen=True, kw_only=True)
class ProbeOptions:
    """How to look whether a service responds: by a URL or a TCP connection."""

    url: str | None = None
    status: list[int] = option([200])
    tcp: bool = False
    timeout: float = 5.0


@dataclass(frozen=True, kw_only=True)
class HealthyOptions(WaitOptions):
    """For how long a container has to run to be healthy, and how to verify certificates."""

    healthy_for: float = 10.0

    @property
    def verify(self) -> bool | str:
        """How to verify the certificates of health checks, in the form of requests."""
        return self.ca_path or self.validate_certs if self.validate_certs else False


def check_probe(check: ProbeOptions) -> None:
    if (check.url is None) != check.tcp:
        raise Invalid("an entry of health_checks needs either url or tcp: true")
    if check.url is not None and urlsplit(check.url).scheme not in ("http", "https"):
        raise Invalid(f"url of health_checks is {check.url!r}; it must begin with http:// or https://")
    if not check.status:
        raise Invalid("status of health_checks is an empty list; name status codes, or leave it out for 200")
    if not 0 < check.timeout <= LONGEST:
        raise Invalid(f"timeout of health_checks is {check.timeout}; it must be more than 0 seconds")


@dataclass
class Health:
    """The health checks of one service."""

    task: Task[HealthyOptions]
    service: Service
    checks: Sequence[ProbeOptions]
    stopped: int = 0
    """How often in a row the container was seen stopped."""

    def wait(self) -> None:
        """Wait until the service is healthy; not for one that stops again."""
        goal = f"the health of {label(self.service)}"
        diagnose = partial(read_diagnostics, self.task, self.service.id)
        wait_until(self.task, self.problem, self.is_healthy, str, goal, diagnose=diagnose)

    def problem(self) -> str | None:
        """Return what is wrong with the service; ``None`` if it is healthy."""
        metrics, least = self.task.account.metrics_of(self.service.id), self.task.options.healthy_for
        state = None if metrics is None else metrics.state
        self.stopped = self.stopped + 1 if state == ContainerState.STOPPED else 0
        if metrics is None or state != ContainerState.RUNNING:
            return f"the container's state is {state or 'unknown: its node cannot be reached'}"
        seconds = metrics.uptime_seconds or 0
        if seconds < least:
            return f"it has run for {seconds} of {least:g} seconds"
        return next(filter(None, map(self.probe, self.checks)), None)

    def is_healthy(self, problem: str | None) -> bool:
        if self.stopped >= LOOKS:
            raise WaitEnded(f"{label(self.service)} stopped again after it was started")
        return problem is None

    def probe(self, check: ProbeOptions) -> str | None:
        address = self.service.address
        if not address and (check.url is None or "{address}" in check.url):
            return "it has no address"
        if check.url is None:
            return probe_tcp(str(address), check.timeout)
        url = check.url.replace("{address}", address or "")
        return probe_url(url, check.status, check.timeout, self.task.options.verify)
