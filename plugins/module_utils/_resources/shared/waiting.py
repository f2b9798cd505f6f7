# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for the platform, and determines the effect of calls whose response was lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..._api.errors import CallOutcomeUnknown, HostedError, Refused, UnexpectedAnswer
from .options import WaitOptions
from .plan import Task
from .task_errors import Ambiguous, EffectUnverified, WaitEnded

T = TypeVar("T")

QUIET_SECONDS = 10.0
"""How long a list is watched for something new after a call whose outcome is open."""
FIRST_PAUSE = 0.1
GROWTH = 4
LONGEST_DELAY, DELAY_SHARE = 1.0, 0.1
"""The pause, in seconds or as a share of the time waited so far: the larger of both is noticed too late."""
START_PAUSE = 2.0
"""The longest pause between two looks for the start of something, which may be over soon after it."""


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


@dataclass
class Transition(Generic[T]):
    """What was observed of an operation that a call started.

    ``began`` tells whether it was seen in progress, ``moved`` whether anything changed at all. ``last`` is
    the last observation.
    """

    last: T
    began: bool = False
    moved: bool = False


def wait_through(
    task: Task[WaitOptions],
    read: Callable[[], T],
    under_way: Callable[[T], bool],
    describe: Callable[[T], str],
    goal: str,
    *,
    before: T,
    quiet: float,
) -> Transition[T]:
    """Wait until an operation that a call started was seen to begin and end.

    The platform may show the beginning late or never. So the operation counts as over if it was seen
    ``under_way`` and no longer is, or if nothing changed for ``quiet`` seconds; the caller then warns.
    ``before`` is the observation before the call. ``under_way`` may raise to end the wait.

    :raises WaitEnded: after ``wait_timeout`` seconds, with the last state.
    """
    passage = Transition(before)
    still_since = time.monotonic()

    def over(now: T) -> bool:
        nonlocal still_since
        if now != passage.last:
            passage.last, passage.moved, still_since = now, True, time.monotonic()
        if under_way(now):
            passage.began = True
            return False
        return passage.began or time.monotonic() - still_since >= quiet

    def longest_pause() -> float:
        if passage.began:
            return float(task.options.wait_interval)
        left = still_since + quiet - time.monotonic()  # so that the quiet time is not overstayed
        return max(min(START_PAUSE, left), FIRST_PAUSE)

    wait_until(task, read, over, describe, goal, longest_pause=longest_pause)
    return passage


def poll_for(seen: Callable[[], bool], seconds: float = QUIET_SECONDS) -> bool:
    """Poll until ``seen`` is true, for up to ``seconds``. Return whether it became true."""
    until = time.monotonic() + seconds
    while not seen():
        if time.monotonic() >= until:
            return False
        time.sleep(min(0.5, max(until - time.monotonic(), 0)))
    return True


def await_removal(task: Task, is_listed: Callable[[], bool], what: str) -> None:
    """Wait until a list does not show what was deleted: the next task would delete it again.

    How soon it does is not shown. A list that cannot be read is no reason to fail: the deletion is done.
    """
    with suppress(HostedError):
        if not poll_for(lambda: not is_listed()):
            task.warn(f"the platform still lists {what} {QUIET_SECONDS:g} seconds after the deletion")


def wait_for_new(find: Callable[[], T | None], seconds: float = QUIET_SECONDS) -> T | None:
    """Poll a list for a new item; ``None`` if it does not appear in time.

    Only ``/api/resources`` is documented to show new items at once (Ordering).
    """
    found: list[T | None] = [None]

    def shown() -> bool:
        found[0] = find()
        return found[0] is not None

    poll_for(shown, seconds)
    return found[0]


def adopt(
    find_new: Callable[[], Sequence[T]], what: str, cause: HostedError, seconds: float | None = None
) -> T:
    """Find the one item that a call with an unknown outcome created. Never repeats the call.

    ``find_new`` returns the matching items that did not exist before the call. ``seconds`` is for how long to
    look, :data:`QUIET_SECONDS` if not given.

    :raises EffectUnverified: if none appears in time, or the list cannot be read.
    :raises Ambiguous: if there are several.
    """
    seconds = QUIET_SECONDS if seconds is None else seconds
    try:
        found = wait_for_new(lambda: find_new() or None, seconds) or ()
    except HostedError as error:
        raise EffectUnverified(
            f"whether {what} was created is unknown: {cause.message}; reading the list failed too: "
            f"{error.message}. Check the account before you run this again"
        ) from cause
    if len(found) > 1:
        ids = [getattr(item, "id", str(item)) for item in found]
        raise Ambiguous(
            f"the response to creating {what} was lost, and {len(found)} new ones exist: "
            f"{', '.join(ids)}. The call was not sent again; delete the extra ones",
            ids=ids,
        ) from cause
    if not found:
        raise EffectUnverified(
            f"whether {what} was created is unknown: {cause.message}. It did not show up on the list "
            f"within {seconds:g} seconds, and the call was not sent again. Running this again is "
            "safe once you have checked that the list does not contain it"
        ) from cause
    return found[0]


def create(
    call: Callable[[], T],
    find_new: Callable[[], Sequence[Any]],
    what: str,
    task: Task,
    seconds: float | None = None,
) -> tuple[T | None, Any]:
    """Make a call that creates an item, once. Return the response, and the item adopted if it was lost."""
    try:
        return call(), None
    except (CallOutcomeUnknown, UnexpectedAnswer) as error:
        adopted = adopt(find_new, what, error, seconds)
        task.effects.wrote()
        task.warn(
            f"the response to creating {what} was lost ({error.message}); the one that appeared was adopted"
        )
        return None, adopted


def act(
    task: Task,
    call: Callable[[], object],
    reached: Callable[[], bool],
    what: str,
    tries: int = 2,
    *,
    quiet: float | None = None,
) -> None:
    """Make a call that sets something in motion; when its outcome is open, look before trying once more.

    With one of ``tries`` it is not sent again: for what may have been over before the first look, and would
    do harm when done twice. ``quiet`` is for how many seconds to look, half of :data:`QUIET_SECONDS` if not
    given.

    :raises EffectUnverified: when the last try ends open too and nothing shows that it worked.
    """
    error: HostedError | None = None
    for _attempt in range(tries):
        try:
            error = try_call(call, is_retry=error is not None)
        except HostedError as stopped:
            if error is None:
                raise
            raise EffectUnverified(
                f"whether {what} was carried out is unknown: {error.message}. The call was not sent again: "
                f"{stopped.message}"
            ) from stopped
        if error is None:
            return
        if check_until(reached, what, error, QUIET_SECONDS / 2 if quiet is None else quiet):
            task.effects.wrote()  # what fails after this is to know that something was done
            return
        if isinstance(error, Refused):
            raise error
    again = ". The call was not sent again" if tries == 1 else ""
    said = "" if error is None else error.message
    raise EffectUnverified(f"whether {what} was carried out is unknown: {said}{again}") from error


def try_call(call: Callable[[], object], is_retry: bool) -> HostedError | None:
    """Make a call. Return its error if the platform may have acted, in a retry on the attempt before it.

    :raises Refused: if it certainly did not.
    """
    try:
        call()
        return None
    except CallOutcomeUnknown as error:
        return error
    except Refused as error:
        if is_retry and error.nothing_done:
            return error.doubted()
        if error.nothing_done:
            raise
        return error


def check_until(reached: Callable[[], bool], what: str, cause: HostedError, seconds: float) -> bool:
    """Look for up to ``seconds`` whether a call had its effect.

    :raises EffectUnverified: if that cannot be read either.
    """
    try:
        return poll_for(reached, seconds)
    except HostedError as error:
        raise EffectUnverified(
            f"whether {what} was carried out is unknown: {cause.message}; looking failed too: {error.message}"
        ) from cause
