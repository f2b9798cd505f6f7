# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same work on many items, in as many threads as help, each thread with connections of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Generic, TypeVar

from ..._api.client import Client
from ..._api.errors import HostedError, RateLimited
from .pace import Pace

T = TypeVar("T")
R = TypeVar("R")

MAX_PARALLEL = 8
"""How many services are changed at the same time at most, if the task does not say otherwise."""
MOST_PARALLEL = 32
"""How many items are worked on at most where nobody says so; fewer while the platform fails: see pace."""


def run_parallel(
    client: Client, items: Iterable[T], work: Callable[[Client, T], R], max_parallel: int | None = None
) -> list[R]:
    """Do ``work`` on every item; return the results in the order of the items, or raise the first error.

    :param max_parallel: how many items are worked on at the same time; by default :data:`MOST_PARALLEL`.
    """
    todo = list(items)
    if len(todo) <= 1:
        return [work(client, item) for item in todo]
    return Crew(client, todo, work, min(max_parallel or MOST_PARALLEL, len(todo))).run()


class Crew(Generic[T, R]):
    """Threads that take items in order. A thread more is started when the pace allows it, or one ends."""

    def __init__(
        self, client: Client, todo: Sequence[T], work: Callable[[Client, T], R], max_parallel: int
    ) -> None:
        self._client, self._todo, self._work = client, todo, work
        self._pace = Pace(max_parallel)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._running = 0
        self._next = 0
        self._results: dict[int, R] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self) -> list[R]:
        """Work on all items; return the results, or raise the error of the first item that has one."""
        with self._lock:
            self._start_threads()
        try:
            for thread in self._threads:  # grows meanwhile
                thread.join()
        except BaseException:
            self._next = len(self._todo)
            raise
        for index in sorted(self._errors):
            raise self._errors[index]
        return [self._results[index] for index in range(len(self._todo))]

    def _start_threads(self) -> None:
        left = 0 if self._errors else len(self._todo) - self._next
        wanted = min(self._pace.limit, self._running + left)
        while self._running < wanted:
            self._running += 1
            thread = threading.Thread(target=self._work_off, daemon=True, name="hosted.services")
            self._threads.append(thread)
            thread.start()

    def _work_off(self) -> None:
        """Work on items until there are no more, one has failed, or fewer threads are better."""
        try:
            with closing(clone_in_pace(self._client, self._pace)) as client:
                while (index := self._take()) is not None:
                    self._work_on(client, index)
        except BaseException as error:  # raised again by the thread that waits for this one
            self._errors.setdefault(len(self._todo), error)

    def _work_on(self, client: Client, index: int) -> None:
        begun = time.monotonic()
        try:
            self._results[index] = self._work(client, self._todo[index])
        except BaseException as error:  # raised again, too
            self._errors[index] = error
        self._pace.note(begun, time.monotonic())
        with self._lock:
            self._start_threads()

    def _take(self) -> int | None:
        """Return the index of the next item; ``None`` if this thread is to end."""
        with self._lock:
            if self._errors or self._next >= len(self._todo) or self._running > self._pace.limit:
                self._running -= 1
                return None
            self._next += 1
            return self._next - 1


def clone_in_pace(client: Client, pace: Pace) -> Client:
    """Return a client for another thread, whose requests wait for their turn and slow down others."""

    def slow_down(error: HostedError, sent: float) -> None:
        pace.note_setback(sent, time.monotonic(), refused=isinstance(error, RateLimited))

    clone = client.clone()
    clone.set_pace(pace.next_turn, slow_down)
    return clone
