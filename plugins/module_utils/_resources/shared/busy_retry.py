# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that a busy service turns down for the moment: made again until it takes them.

Whether a service takes a backup while another copy is made or brought back, and how many backups it takes
in which time, is not shown (Backups and snapshots, Limits). What was refused was not done, and may be asked
for again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from ..._api.errors import Conflict, HostedError, Locked, RateLimited, Refused
from .options import WaitOptions
from .plan import Task

OF_THE_MOMENT = re.compile(
    r"\b(busy|in progress|under ?way|running|locked|another|too (soon|early)|later|wait|pending|restoring)\b",
    re.IGNORECASE,
)
"""What a refusal speaks of that passes by itself."""
DONE = "(complete|completed|done|finished|ready)"
NOT_YET = re.compile(rf"\bnot ({DONE} yet|yet {DONE})\b", re.IGNORECASE)
"""What a refusal says that passes by itself, whatever its status. A bare "not completed" may be for good."""
OF_LIMITS = re.compile(r"\b(limit|max(imum)?|quota|too many|at most|no more)\b", re.IGNORECASE)
"""What a refusal speaks of that only a deletion changes."""
OF_NAMES = re.compile(
    r"\bname.*\b(exists?|existing|in use|unique|duplicate|(already|is|was) taken)\b|"
    r"\b(existing|unique|duplicate)\b.*\bname",
    re.IGNORECASE | re.DOTALL,
)
"""What a refusal speaks of that only another name changes."""
LONGEST_PAUSE = 10.0
NOTHING_STARTED = (
    "nothing was started. If the service is busy with another copy, or takes the next one only later, raise"
)
NOTHING_DELETED = "nothing was deleted. If the service is still busy with another copy, wait longer: raise"


@dataclass(frozen=True, kw_only=True)
class QuietOptions(WaitOptions):
    """The options of a task that asks again while a service is busy."""

    quiet_time: float = 30.0


def retry_while_busy(
    task: Task[QuietOptions],
    call: Callable[[], object],
    what: str,
    moving: Callable[[], bool],
    pointless: Callable[[], bool] = lambda: False,
    *,
    advice: str = NOTHING_STARTED,
) -> None:
    """Make a call that begins ``what``, again while the service is busy, for up to ``wait_timeout``.

    ``moving`` tells whether the service is seen at another copy; a refusal that does not say why is then
    taken for one of the moment. Where nothing shows that, it is asked again for the quiet time only: a
    platform may hide what it is at. ``pointless`` tells that the call need not be made any more. ``advice``
    goes with the last refusal, and ends before the option to raise.

    :raises HostedError: the refusal, once there is no hope left, or at once where nobody waits.
    """
    begun = time.monotonic()
    pause = 0.5
    while True:
        try:
            call()
            return
        except (Refused, RateLimited) as error:
            if not task.options.wait or not is_transient(error) or pointless():
                raise
            spent = time.monotonic() - begun
            wait = max(pause, error.retry_after or 0) if isinstance(error, RateLimited) else pause
            limit = limiting_option(task, error, moving)
            left = getattr(task.options, limit) - spent
            if left <= 0 or (isinstance(error, RateLimited) and wait > left):
                raise error.append(f". It was retried for {spent:.0f} seconds; {advice} {limit}") from None
            task.progress(f"{what} is not accepted yet, {spent:.0f} s: {error.message}")
            time.sleep(min(wait, left))
            pause = min(pause * 1.5, max(task.options.wait_interval, 0.5), LONGEST_PAUSE)


def delete_when_free(
    task: Task[QuietOptions], delete: Callable[[], object], what: str, moving: Callable[[], bool], busy: bool
) -> None:
    """Make a call that deletes a copy, again while the service is seen at another one.

    Only that counts: what is refused for good, such as a snapshot that another one is based on, may be so in
    words that speak of another one, too. ``busy`` tells whether the service was seen at one before.

    :raises HostedError: as :func:`retry_while_busy` does.
    """

    def pointless() -> bool:
        nonlocal busy
        before, busy = busy, moving()
        return not (before or busy)

    retry_while_busy(task, delete, what, moving, pointless, advice=NOTHING_DELETED)


def is_transient(error: Refused | RateLimited) -> bool:
    """Tell whether a refusal may be one of the moment."""
    if isinstance(error, (RateLimited, Locked)):
        return True
    if is_name_conflict(error):
        return False
    if not isinstance(error, Conflict):
        return bool(NOT_YET.search(error.message))
    return says_temporary(error) or not OF_LIMITS.search(error.message)


def is_name_conflict(error: HostedError) -> bool:
    """Tell whether a refusal says that a name is taken, which does not pass by itself."""
    return bool(OF_NAMES.search(error.message))


def says_temporary(error: HostedError) -> bool:
    """Tell whether a refusal says that it passes by itself."""
    return bool(OF_THE_MOMENT.search(error.message) or NOT_YET.search(error.message))


def limiting_option(
    task: Task[QuietOptions], error: Refused | RateLimited, moving: Callable[[], bool]
) -> str:
    """Return the option that says for how many seconds to ask again, from the first time on."""
    longest: float = task.options.wait_timeout
    if task.options.quiet_time >= longest or not isinstance(error, Conflict):
        return "wait_timeout"
    return "wait_timeout" if says_temporary(error) or moving() else "quiet_time"
