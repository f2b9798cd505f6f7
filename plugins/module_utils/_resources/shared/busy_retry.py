# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that a busy service turns down for the moment: made again until it takes them.

Whether a service takes a call while it is at another one is not shown. What was refused was not done, and
may be asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ..._api.errors import Conflict, HostedError, Locked, RateLimited
from ..._api.values import ContainerState, ServiceStatus
from .account import Account
from .options import WaitOptions
from .plan import Task
from .restore_points import any_in_motion

LONGEST_PAUSE = 10.0


@dataclass(frozen=True, kw_only=True)
class QuietOptions(WaitOptions):
    """The options of a task that waits until nothing changes any more."""

    quiet_time: float = 30.0


def retry_while_busy(
    task: Task[WaitOptions],
    call: Callable[[], object],
    what: str,
    is_busy: Callable[[], bool],
    *,
    busy: bool = False,
) -> object:
    """Make a call, again while the service is busy, for up to ``wait_timeout``. Return its response.

    It is busy at 423, 425 and 429, and at a 409 if ``is_busy``: if the account shows something under way.
    ``busy`` tells whether it showed that before the call.

    :raises HostedError: the refusal; at once if the service is not busy, or nobody waits.
    """
    begun, pause = time.monotonic(), 0.5
    while True:
        try:
            return call()
        except (Conflict, Locked, RateLimited) as error:
            # What was under way may have ended between the refusal and the look.
            was_busy, busy = busy, not isinstance(error, Conflict) or is_busy()
            if not task.options.wait or not (busy or was_busy):
                raise
            spent, asked = time.monotonic() - begun, error.pause_asked or 0.0
            left = task.options.wait_timeout - spent
            if left <= 0 or asked > left:
                raise error.append(
                    f". It was retried for {spent:.0f} seconds; nothing was done. To wait longer, raise "
                    "wait_timeout"
                ) from None
            task.progress(f"{what} is not accepted yet, {spent:.0f} s: {error.message}")
            time.sleep(min(max(pause, asked), left))
            pause = min(pause * 1.5, max(task.options.wait_interval, 0.5), LONGEST_PAUSE)


def under_way(account: Account, service_id: str, *, container: bool = True) -> bool:
    """Tell whether the account shows a service at something that ends by itself.

    What cannot be read shows nothing. ``container`` tells whether its container's state counts, too.
    """

    def copies() -> bool:
        return any_in_motion(account.backups(service_id))

    def changes() -> bool:
        service = account.service(service_id)
        return service is not None and service.status in (ServiceStatus.PROVISIONING, ServiceStatus.DELETING)

    def moves() -> bool:
        metrics = account.metrics_of(service_id)
        return metrics is not None and metrics.state in ContainerState.PASSING

    for shown in (copies, changes, *([moves] if container else [])):
        with suppress(HostedError):
            if shown():
                return True
    return False
