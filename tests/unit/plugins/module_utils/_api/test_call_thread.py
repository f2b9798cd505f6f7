# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that can be given up."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.call_thread import CallThread


def test_one_thread_makes_all_calls() -> None:
    """To begin a thread for each costs a third of a call."""
    thread = CallThread()
    threads = {thread.run(5, threading.get_ident) for __ in range(3)}
    assert len(threads) == 1
    assert threading.get_ident() not in threads
    thread.stop()


def test_what_a_call_raises_is_raised() -> None:
    """Whatever it is, and the next call is made all the same."""
    thread = CallThread()
    with pytest.raises(KeyboardInterrupt):
        thread.run(5, interrupt)
    assert thread.run(5, lambda: 1) == 1
    thread.stop()


def interrupt() -> None:
    """Raise what is not an Exception."""
    raise KeyboardInterrupt


def test_a_late_outcome_is_that_of_no_other_call() -> None:
    """A call that was given up goes on aside; what becomes of it is told to nobody, and its thread ends."""
    thread, go_on, late = CallThread(), threading.Event(), []

    def slow() -> str:
        late.append(threading.current_thread())
        go_on.wait(20)
        return "late"

    with pytest.raises(TimeoutError):
        thread.run(0.05, slow)
    assert thread.run(5, lambda: "next") == "next"
    go_on.set()
    late[0].join(5)
    assert not late[0].is_alive()
    assert thread.run(5, lambda: "last") == "last"
    thread.stop()
    thread.stop()
