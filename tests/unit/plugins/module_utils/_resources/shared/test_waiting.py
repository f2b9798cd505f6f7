# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting, on a clock that does not wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConnectionFailed
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import wait_until
from unit.plugins.fakes import Clock, FakeClient, task_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def wait(read: Callable[[], Any], done: Callable[[Any], bool], **options: Any) -> Any:
    task = task_of(SERVICE, FakeClient(), **options)
    return wait_until(task, read, done, lambda value: f"it is at {value}", "the end")


def test_pauses_grow_to_the_interval(clock: Clock) -> None:
    values = iter(range(100))
    assert wait(lambda: next(values), lambda value: value == 40, wait_interval=5.0) == 40
    assert len(clock.pauses) == 40
    assert clock.pauses == sorted(clock.pauses)
    assert clock.pauses[0] == pytest.approx(0.1)
    assert clock.pauses[-1] == 5.0


@pytest.mark.parametrize("ready", [0.05, 0.6, 1.6, 3.2, 9.9, 17.0, 30.0, 61.0, 240.0, 599.0])
def test_the_end_is_noticed_within_a_second_or_a_tenth_of_the_wait(clock: Clock, ready: float) -> None:
    begun, reads = clock.now, []

    def read() -> float:
        reads.append(clock.now - begun)
        return reads[-1]

    wait(read, lambda passed: passed >= ready, wait_interval=5.0)
    assert reads[-1] - ready <= max(1.0, ready / 10)
    assert len(reads) <= 2 * doubling_reads(ready) + 1


def doubling_reads(ready: float) -> int:
    """Return how many reads a wait takes whose pauses double up to five seconds."""
    passed, pause, reads = 0.0, 0.1, 1
    while passed < ready:
        passed, pause, reads = passed + pause, min(2 * pause, 5.0), reads + 1
    return reads


@pytest.mark.parametrize("timeout", [0.5, 3.0, 60.0])
def test_the_wait_lasts_as_long_as_it_says_and_tells_what_was_seen_last(clock: Clock, timeout: float) -> None:
    begun = clock.now
    with pytest.raises(WaitEnded) as caught:
        wait(lambda: round(clock.now - begun, 1), lambda value: False, wait_timeout=timeout)
    assert clock.now - begun == pytest.approx(timeout)
    assert (
        f"gave up waiting for the end after {timeout:g} seconds; it is at {timeout}" in caught.value.message
    )


@pytest.mark.parametrize("error", [WaitEnded("failed"), ConnectionFailed("down")])
def test_an_error_ends_the_wait_at_once(clock: Clock, error: Exception) -> None:
    def read() -> None:
        raise error

    with pytest.raises(type(error)):
        wait(read, lambda value: False)
    assert clock.pauses == []
