# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The same work on many items, in as many threads as help, each thread with connections of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from ..._api.client import Client
from .pace import Pace

T = TypeVar("T")
R = TypeVar("R")

MAX_PARALLEL = 8
"""How many services are changed at the same time at most, if the task does not say otherwise."""
MOST_PARALLEL = 32
"""How many items are worked on at the same time at most, if nobody says otherwise."""


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
    """Threads that take items in order."""

    def __init__(
        self, client: Client, todo: Sequence[T], work: Callable[[Client, T], R], max_parallel: int
    ) -> None:
        self._client, self._todo, self._work, self._number = client, todo, work, max_parallel
        self._pace = Pace(max_parallel)
        self._left: SimpleQueue[int] = SimpleQueue()
        self._results: dict[int, R] = {}
        self._errors: dict[int, BaseException] = {}

    def run(self) -> list[R]:
        """Work on all items; return the results, or raise the error of the first item that has one."""
        for index in range(len(self._todo)):
            self._left.put(index)
        threads = [
            threading.Thread(target=self._work_off, daemon=True, name="hosted.services")
            for _each in range(self._number)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except BaseException:
            self._pace.over = True
            raise
        for index in sorted(self._errors):
            raise self._errors[index]
        return [self._results[index] for index in range(len(self._todo))]

    def _work_off(self) -> None:
        """Work on items until there are no more, or one has failed."""
        index = len(self._todo)
        try:
            with closing(clone_in_pace(self._client, self._pace)) as client:
                while not self._errors:
                    index = self._left.get_nowait()
                    begun = time.monotonic()
                    self._results[index] = self._work(client, self._todo[index])
                    self._pace.note(begun, time.monotonic())
        except Empty:
            pass
        except BaseException as error:  # raised again by the thread that waits for this one
            self._errors[index] = error


def clone_in_pace(client: Client, pace: Pace) -> Client:
    """Return a client for another thread, whose requests wait for their turn and slow down others."""

    clone = client.clone()
    clone.set_pace(pace.next_turn, lambda sent: pace.note_refusal(sent, time.monotonic()))
    return clone
