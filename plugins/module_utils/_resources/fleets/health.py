# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a service is healthy: it has run for long enough, and responds."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..._api.models import Metrics, Service
from ..._api.probes import probe_tcp, probe_url
from ..._api.values import ContainerState
from ..services.view import with_diagnostics
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import wait_until
from .options import HealthyOptions, ProbeOptions

LOOKS = 2
"""How often in a row a container is seen stopped before it counts as crashed: metrics may lag."""


@dataclass
class Watch:
    """What was seen of a container so far."""

    least: float
    running_since: float | None = None
    stopped: int = 0

    def problem(self, metrics: Metrics | None, moment: float) -> str | None:
        """Return why a container does not count as running for long enough; ``None`` if it does.

        Its uptime decides, or without one for how long it was seen running.
        """
        state = None if metrics is None else metrics.state
        if state != ContainerState.RUNNING or metrics is None:
            self.running_since = None
            self.stopped = self.stopped + 1 if state == ContainerState.STOPPED else 0
            return f"the container's state is {state or 'unknown: its node cannot be reached'}"
        self.stopped = 0
        self.running_since = moment if self.running_since is None else self.running_since
        uptime = metrics.uptime_seconds
        seconds = moment - self.running_since if uptime is None else float(uptime)
        if seconds >= self.least:
            return None
        return f"it has run for {seconds:.0f} of {self.least:g} seconds"


@dataclass
class Health:
    """The health checks of one service."""

    task: Task[HealthyOptions]
    service: Service
    checks: Sequence[ProbeOptions]
    watch: Watch = field(init=False)

    def __post_init__(self) -> None:
        """Begin to watch."""
        self.watch = Watch(self.task.options.healthy_for)

    def wait(self) -> None:
        """Wait until the service is healthy.

        :raises WaitEnded: if it is not within ``wait_timeout``, or stops.
        """
        goal = f"the health of {label(self.service)}"
        with_diagnostics(
            self.task,
            self.service.id,
            lambda: wait_until(self.task, self.problem, self.is_healthy, str, goal),
        )

    def problem(self) -> str | None:
        """Return what is wrong with the service; ``None`` if it is healthy."""
        metrics = self.task.account.metrics_of(self.service.id)
        problem = self.watch.problem(metrics, time.monotonic())
        for check in self.checks:
            problem = problem or self.probe(check)
        return problem

    def is_healthy(self, problem: str | None) -> bool:
        """Tell whether the wait is over.

        :raises WaitEnded: if the container has stopped, so that waiting does not help.
        """
        if self.watch.stopped >= LOOKS:
            raise WaitEnded(f"{label(self.service)} stopped again after it was started")
        return problem is None

    def probe(self, check: ProbeOptions) -> str | None:
        """Return what is wrong by one check."""
        address = self.service.address
        if check.url is None:
            return probe_tcp(address, check.timeout) if address else "it has no address"
        if "{address}" in check.url and not address:
            return "it has no address"
        url = check.url.replace("{address}", address or "")
        return probe_url(url, check.status, check.timeout, self.task.options.verify)
