# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits until a service is healthy: it has run for long enough, and responds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..._api.models import Service
from ..._api.probes import probe_tcp, probe_url
from ..._api.values import ContainerState
from ..services.view import wait_for
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from .options import HealthyOptions, ProbeOptions

LOOKS = 2
"""How often in a row a container is seen stopped before it counts as crashed: metrics may lag."""


@dataclass
class Health:
    """The health checks of one service."""

    task: Task[HealthyOptions]
    service: Service
    checks: Sequence[ProbeOptions]
    stopped: int = 0
    """How often in a row the container was seen stopped."""

    def wait(self) -> None:
        """Wait until the service is healthy."""
        goal = f"the health of {label(self.service)}"
        wait_for(self.task, self.service.id, self.problem, self.is_healthy, str, goal=goal)

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
        """Tell whether the wait is over."""
        if self.stopped >= LOOKS:
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
