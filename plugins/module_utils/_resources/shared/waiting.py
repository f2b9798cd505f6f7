# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for the platform, and work in threads at the pace that the platform takes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from ..._api.client import Client
from ..._api.errors import NotSent
from .task_errors import WaitEnded

if TYPE_CHECKING:
    from .options import WaitOptions
    from .plan import Task

T = TypeVar("T")
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)
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
    diagnose: Callable[[], dict[str, Any]] = dict,
) -> T:
    """Read repeatedly until ``done``, with pauses that grow to ``wait_interval``.

    ``done`` may raise to end the wait. ``describe`` returns the current state for messages. ``longest_pause``
    is called before each pause, for waits that need shorter pauses at times. ``diagnose`` returns details for
    the error of a wait that ends without.

    :raises WaitEnded: after ``wait_timeout`` seconds, with the last state.
    """
    timeout, interval = task.options.wait_timeout, max(task.options.wait_interval, FIRST_PAUSE)
    begun, pause = time.monotonic(), FIRST_PAUSE
    try:
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
    except WaitEnded as error:
        error.details.update(diagnose())
        raise
    return value


def poll_for(seen: Callable[[], bool], seconds: float = QUIET_SECONDS) -> bool:
    """Poll until ``seen`` is true, for up to ``seconds``. Return whether it became true."""
    until = time.monotonic() + seconds
    while not seen():
        if time.monotonic() >= until:
            return False
        time.sleep(min(0.5, max(until - time.monotonic(), 0)))
    return True


# --- Threads ----------------------------------------------------------------------------------------

MAX_PARALLEL = 8
"""How many services are changed at the same time at most, if the task does not say otherwise."""
MOST_PARALLEL = 32
"""How many items are worked on at the same time at most, if nobody says otherwise."""
LONGEST_INTERVAL = 1.0
"""The most seconds between two calls, however many are refused."""
ASSUMED_LATENCY = 0.05
"""In seconds, for a platform that has refused the first calls."""
FAST_GROWTH, SLOW_GROWTH, NEAR = 0.003, 0.0001, 0.65
"""A rate that was cut grows by these parts with each item: fast until it is near the one that was too much,
then slowly, so that one call in hundreds is refused."""
FIRST_CUT = 8
"""The first refusal cuts the rate to this part: up to then nothing was known about the limit."""
PAUSE = 1.0
"""For so many seconds after a refusal nothing is sent."""


class Pace:
    """Says when the next request may be sent: as the specification shows no rate limit, a refusal tells it.

    Threads may share it. Times are in seconds of one clock.

    :param most: how many calls are under way at most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._cut_at = float("-inf")
        self._latency = float("inf")
        self._interval = self._refused_at = self._next_turn = 0.0
        self.over = False
        """Whether no other request may be sent, as the task is over."""

    def next_turn(self, now: float) -> float:
        """Return when the next request may be sent. It is then taken to be."""
        if self.over:
            raise NotSent("the task is over")
        with self._lock:
            if not self._interval:
                return now
            turn = max(now, self._next_turn)
            self._next_turn = turn + self._interval
            return turn

    def note_refusal(self, sent: float, now: float) -> None:
        """Slow down: the platform has refused a request as one too many (429)."""
        with self._lock:
            if sent <= self._cut_at:  # it was sent before slowing down could help it
                return
            self._cut_at = now + PAUSE
            self._next_turn = max(self._next_turn, self._cut_at)
            latency = ASSUMED_LATENCY if self._latency == float("inf") else self._latency
            times = 2 if self._interval else FIRST_CUT
            self._refused_at = self._interval or latency / self._most
            self._interval = min(times * self._refused_at, LONGEST_INTERVAL)

    def note(self, begun: float, ended: float) -> None:
        """Take account of an item that was done: when it began and ended."""
        with self._lock:
            self._latency = min(self._latency, ended - begun)
            if self._interval:
                far = self._interval * NEAR > self._refused_at
                self._interval /= 1 + (FAST_GROWTH if far else SLOW_GROWTH)


class Crew(Generic[K, R]):
    """Threads that work on items, each with connections of its own.

    What ends the task from outside, such as its ``timeout``, waits for no thread, as the end of a pool would:
    no other request is sent then.
    """

    def __init__(self, client: Client, most: int, work: Callable[[Client, K], R]) -> None:
        self._client, self._work, self._pace = client, work, Pace(most)
        self._idle = list[Client]()
        self._ended = SimpleQueue[K]()
        self.running = 0
        self.results = dict[K, R]()
        self.errors = dict[K, BaseException]()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        self._pace.over = kind is not None
        for client in self._idle if kind is None else ():
            client.close()

    def begin(self, item: K) -> None:
        """Work on an item in a thread."""
        client = self._idle.pop() if self._idle else self._client.clone()
        client.set_pace(self._pace.next_turn, lambda sent: self._pace.note_refusal(sent, time.monotonic()))
        threading.Thread(target=self._do, args=(client, item), daemon=True, name="hosted.services").start()
        self.running += 1

    def _do(self, client: Client, item: K) -> None:
        begun = time.monotonic()
        try:
            self.results[item] = self._work(client, item)
        except BaseException as error:  # raised again by the thread that waits for this one
            self.errors[item] = error
        self._pace.note(begun, time.monotonic())
        self._idle.append(client)
        self._ended.put(item)

    def next(self) -> K:
        """Wait until an item is done or has failed, and return it."""
        item = self._ended.get()
        self.running -= 1
        return item


def run_parallel(
    client: Client, items: Iterable[T], work: Callable[[Client, T], R], max_parallel: int | None = None
) -> list[R]:
    """Do ``work`` on every item; return the results in their order, or raise the first error."""
    todo = list(items)
    if len(todo) <= 1:
        return [work(client, item) for item in todo]
    most = min(max_parallel or MOST_PARALLEL, len(todo))
    with Crew[int, R](client, most, lambda own, index: work(own, todo[index])) as crew:
        for index in range(len(todo)):
            if crew.running == most:
                crew.next()
            if crew.errors:
                break
            crew.begin(index)
        while crew.running:
            crew.next()
    for index in sorted(crew.errors):
        raise crew.errors[index]
    return [crew.results[index] for index in range(len(todo))]
