# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for the platform, until something is seen."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from .options import WaitOptions
from .plan import Task
from .task_errors import WaitEnded

T = TypeVar("T")

QUIET_SECONDS = 10.0
"""How long a list is watched for something new after a call whose outcome is open."""
FIRST_PAUSE = 0.1
GROWTH = 4
LONGEST_DELAY, DELAY_SHARE = 1.0, 0.1
"""The pause, in seconds or as a share of the time waited so far: the larger of both is noticed too late."""


def wait_until(
    task: Task[WaitOptions],
    read: Callable[[], T],
    done: Callable[[T], bool],
    describe: Callable[[T], str],
    goal: str,
    *,
    longest_pause: Callable[[], float] | None = None,
) -> T:
    """Read repeatedly until ``done``, with pauses that grow to ``wait_interval``.

    A pause is at most one second, or a tenth of the time waited so far, so that the end is noticed soon.

    ``done`` may raise to end the wait. ``describe`` returns the current state for messages. ``longest_pause``
    is called before each pause, for waits that need shorter pauses at times.

    :raises WaitEnded: after ``wait_timeout`` seconds, with the last state.
    """
    timeout, interval = task.options.wait_timeout, task.options.wait_interval
    interval = max(interval, FIRST_PAUSE)
    begun, pause = time.monotonic(), FIRST_PAUSE
    while not done(value := read()):
        last, took = describe(value), time.monotonic() - begun
        task.progress(f"waiting for {goal}: {last}, {took:.0f} s")
        if took >= timeout:
            raise WaitEnded(
                f"gave up waiting for {goal} after {timeout:g} seconds; {last}. "
                "Raise wait_timeout to wait longer; nothing that was begun is undone"
            )
        longest = longest_pause() if longest_pause else interval
        longest = min(longest, interval, max(LONGEST_DELAY, DELAY_SHARE * took))
        time.sleep(min(pause, longest, timeout - took))  # the last look is at the very end
        pause *= GROWTH
    return value


def poll_for(seen: Callable[[], bool], seconds: float = QUIET_SECONDS) -> bool:
    """Poll until ``seen`` is true, for up to ``seconds``. Return whether it became true."""
    until = time.monotonic() + seconds
    while not seen():
        if time.monotonic() >= until:
            return False
        time.sleep(min(0.5, max(until - time.monotonic(), 0)))
    return True
