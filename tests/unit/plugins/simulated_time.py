# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Time that a pause moves on instead of waiting for it, for the plugins and for the sandboxes they talk to.

A task that waits 40 seconds for the platform takes no longer than its calls. Everything else is as in real
time: calls take what they take, and a sandbox's operations end when its own clock says so.
"""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from hosted_sandbox.testing import Sandbox


class SimulatedTime:
    """The monotonic clock and the pauses of this process, and all sandboxes that it has started."""

    def __init__(self) -> None:
        self.on = False
        self.sandboxes: list[Sandbox] = []
        self._real_sleep = time.sleep
        self._real_monotonic = time.monotonic
        self._ahead = 0.0
        self._lock = threading.Lock()

    def real(self) -> float:
        """Return the time that has passed without the simulated pauses."""
        return self._real_monotonic()

    def monotonic(self) -> float:
        """Return the time that has passed, pauses included."""
        return self.real() + self._ahead

    def sleep(self, seconds: float) -> None:
        """Move the time on; threads that pause at the same time do not add up."""
        if not self.on:
            self._real_sleep(seconds)
            return
        until = self.monotonic() + seconds
        with self._lock:
            left = until - self.monotonic()
            if left > 0:
                self._advance(left)

    def _advance(self, seconds: float) -> None:
        for sandbox in self.sandboxes:
            if rate := sandbox.clock()["rate"]:  # one that is frozen stays as it is
                sandbox.clock(advance=seconds * rate)
        self._ahead += seconds


TIME = SimulatedTime()


def simulate(patch: pytest.MonkeyPatch) -> None:
    """Let pauses and sandboxes follow TIME, which is real time until it is switched on."""
    enter, stop = Sandbox.__enter__, Sandbox.stop

    def noted_enter(sandbox: Sandbox) -> Sandbox:
        TIME.sandboxes.append(sandbox)
        return enter(sandbox)

    def noted_stop(sandbox: Sandbox) -> None:
        if sandbox in TIME.sandboxes:
            TIME.sandboxes.remove(sandbox)
        stop(sandbox)

    patch.setattr(Sandbox, "__enter__", noted_enter)
    patch.setattr(Sandbox, "stop", noted_stop)
    patch.setattr(asyncio.BaseEventLoop, "time", lambda loop: TIME.real())  # its timers wait for real
    patch.setattr(time, "sleep", TIME.sleep)
    patch.setattr(time, "monotonic", TIME.monotonic)
