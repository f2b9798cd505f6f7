# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that can be given up."""

from __future__ import annotations

import threading

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.bounded_call import run_bounded


def test_what_a_call_raises_is_raised() -> None:
    """Whatever it is."""
    with pytest.raises(KeyboardInterrupt):
        run_bounded(5, interrupt)
    assert run_bounded(5, lambda: 1) == 1


def interrupt() -> None:
    """Raise what is not an Exception."""
    raise KeyboardInterrupt


def test_a_late_outcome_is_that_of_no_other_call() -> None:
    """A call that was given up goes on aside; what becomes of it is told to nobody, and its thread ends."""
    go_on, late = threading.Event(), []

    def slow() -> str:
        late.append(threading.current_thread())
        go_on.wait(20)
        return "late"

    with pytest.raises(TimeoutError):
        run_bounded(0.05, slow)
    assert run_bounded(5, lambda: "next") == "next"
    go_on.set()
    late[0].join(5)
    assert not late[0].is_alive()
    assert run_bounded(5, lambda: "last") == "last"
