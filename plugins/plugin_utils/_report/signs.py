# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The conditions of services and verdicts on releases: each has a word, a color and a shape of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...module_utils._api.values import ContainerState, ScanStatus, ServiceStatus

SHAPES = {
    "disc": "M8 2a6 6 0 1 0 0 12a6 6 0 1 0 0-12z",
    "square": "M3 3h10v10h-10zM5 5v6h6v-6z",
    "bars": "M3 2h4v12h-4zM9 2h4v12h-4z",
    "play": "M4 2l10 6l-10 6z",
    "cross": "M4 1.5l4 4l4-4l2.5 2.5l-4 4l4 4l-2.5 2.5l-4-4l-4 4l-2.5-2.5l4-4l-4-4z",
    "diamond": "M8 0.5l7.5 7.5l-7.5 7.5l-7.5-7.5zM7.2 4v5h1.6v-5zM7.2 10.2v1.6h1.6v-1.6z",
    "ring": "M8 1a7 7 0 1 0 0 14a7 7 0 1 0 0-14zM8 3.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 1 1 0-9z",
    "check": "M2 8l2.2-2.2l2.6 2.6l5-5l2.2 2.2l-7.2 7.2z",
    "triangle": "M8 1l7.5 13.5h-15zM7.2 6v4h1.6v-4zM7.2 11.2v1.6h1.6v-1.6z",
    "dots": "M1 6.5h3.5v3.5h-3.5zM6.3 6.5h3.5v3.5h-3.5zM11.5 6.5h3.5v3.5h-3.5z",
}
"""Each drawn in a square of 16 units."""


@dataclass(frozen=True)
class Sign:
    """How something is: in a word, a color and a shape."""

    word: str
    tone: str
    """The class of its color: good, warn, bad, calm or dim."""
    shape: str


STATES = {
    ContainerState.RUNNING: Sign("running", "good", "disc"),
    ContainerState.STOPPED: Sign("stopped", "warn", "square"),
    ContainerState.STARTING: Sign("starting", "calm", "play"),
    ContainerState.STOPPING: Sign("stopping", "calm", "play"),
    ContainerState.INSTALLING: Sign("installing", "calm", "play"),
}
STATUSES = {
    ServiceStatus.PROVISIONING: Sign("being created", "calm", "play"),
    ServiceStatus.AWAITING_ADMIN: Sign("awaits platform", "bad", "diamond"),
    ServiceStatus.SUSPENDED: Sign("suspended", "calm", "bars"),
    ServiceStatus.FAILED: Sign("failed", "bad", "cross"),
}
NOTHING_KNOWN = Sign("state unknown", "dim", "ring")
VERDICTS: Mapping[str | None, Sign] = {
    None: Sign("verdict unknown", "dim", "ring"),
    ScanStatus.PASSED: Sign("passed", "good", "check"),
    ScanStatus.WARNED: Sign("warned", "warn", "triangle"),
    ScanStatus.BLOCKED: Sign("blocked", "bad", "cross"),
    ScanStatus.PENDING: Sign("scan is running", "calm", "dots"),
    ScanStatus.FAILED: Sign("not analyzed", "dim", "ring"),
}
LEVELS = {
    "critical": Sign("now", "bad", "diamond"),
    "warning": Sign("soon", "warn", "triangle"),
    "notice": Sign("when there is time", "calm", "disc"),
}
FRESHNESS = {
    "fresh": Sign("fresh", "good", "check"),
    "stale": Sign("stale", "warn", "triangle"),
    "none": Sign("no backup", "bad", "ring"),
}


def sign_of(service: Mapping[str, Any]) -> Sign:
    """Return how a service is: by its status, or by the state of its container if it is active."""
    status = service["status"]
    if status == ServiceStatus.ACTIVE:
        return STATES.get(service["state"], NOTHING_KNOWN)
    return STATUSES.get(status, Sign(str(status).lower().replace("_", " "), "dim", "ring"))


def verdict_of(scan_status: str | None) -> Sign:
    """Return the verdict on a release."""
    return VERDICTS.get(scan_status, Sign(str(scan_status).lower(), "dim", "ring"))
