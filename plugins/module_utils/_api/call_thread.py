# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes calls with a total timeout, whatever they wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")


class CallThread:
    """A reusable daemon thread that makes calls with a total timeout.

    Socket timeouts bound each read, not their sum, and do not bound name resolution at all. A daemon thread
    can be abandoned whatever it waits for. The threads of ``concurrent.futures`` cannot: Python joins them
    on exit.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], Any] | None] | None = None
        self._outcomes: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run(self, seconds: float, call: Callable[[], T]) -> T:
        """Run ``call`` in the thread and return its result, or raise its exception.

        :raises TimeoutError: after ``seconds``. The abandoned thread ends with its own socket timeouts.
        """
        if self._calls is None:
            self._calls, self._outcomes = SimpleQueue(), SimpleQueue()
            arguments = (self._calls, self._outcomes)
            threading.Thread(target=make_calls, args=arguments, daemon=True, name="hosted.services").start()
        self._calls.put(call)
        try:
            value, error = self._outcomes.get(timeout=seconds)
        except Empty:
            self.stop()  # its late outcome must not pass for that of the next call
            raise TimeoutError from None
        if error is not None:
            raise error
        result: T = value
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        if self._calls is not None:
            self._calls.put(None)
            self._calls = None


def make_calls(
    calls: SimpleQueue[Callable[[], Any] | None], outcomes: SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    """Make each call and queue its outcome, until ``None`` arrives."""
    while (call := calls.get()) is not None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:  # the caller raises it in its own thread
            outcomes.put((None, error))
