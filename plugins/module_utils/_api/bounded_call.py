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


def run_bounded(seconds: float, call: Callable[[], T]) -> T:
    """Make a call in a thread and return its result, or raise its exception.

    Socket timeouts bound each read, not their sum, and do not bound name resolution at all. A daemon thread
    can be abandoned whatever it waits for; those of ``concurrent.futures`` cannot: Python joins them on exit.

    :raises TimeoutError: after ``seconds``. The abandoned thread ends with its own socket timeouts.
    """
    outcomes: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run() -> None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:  # the caller raises it in its own thread
            outcomes.put((None, error))

    threading.Thread(target=run, daemon=True, name="hosted.services").start()
    try:
        value, error = outcomes.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    result: T = value
    return result
