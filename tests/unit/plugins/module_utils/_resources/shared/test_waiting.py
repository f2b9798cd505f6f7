# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waiting on a clock that does not wait, the pace on platforms that are models, and threads."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import (
    FIRST_CUT,
    PAUSE,
    Pace,
    run_parallel,
    wait_until,
)
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


@pytest.mark.parametrize("timeout", [0.5, 3.0, 60.0])
def test_the_wait_lasts_as_long_as_it_says_and_tells_what_was_seen_last(clock: Clock, timeout: float) -> None:
    begun = clock.now
    with pytest.raises(WaitEnded) as caught:
        wait(lambda: round(clock.now - begun, 1), lambda value: False, wait_timeout=timeout)
    assert clock.now - begun == pytest.approx(timeout)
    assert (
        f"gave up waiting for the end after {timeout:g} seconds; it is at {timeout}" in caught.value.message
    )


# --- The pace --------------------------------------------------------------------------------------

LATENCY = 0.04


@dataclass
class Platform:
    """Answers calls after a latency. A bucket of tokens that fills at a rate limits how many it takes."""

    rate_limit: float = 0.0
    burst: float = float("inf")
    refused: int = 0
    calls: int = 0
    jitter: Random = field(default_factory=lambda: Random(1))

    def run(self, most: int, items: int) -> float:
        """Work on items; return how long that took. A refused call is sent again a second later."""
        pace = Pace(most)
        now, left, under_way = 0.0, items, 0
        events: list[tuple[float, str, float, float]] = []
        """When, what, when the item began, and when its request was sent."""
        tokens, filled = self.burst, 0.0
        while left or events:
            while left and under_way < most:
                left, under_way = left - 1, under_way + 1
                heapq.heappush(events, (now, "ready", now, 0.0))
            now, event, begun, sent = heapq.heappop(events)
            if event == "ready":
                heapq.heappush(events, (pace.next_turn(now), "send", begun, 0.0))
            elif event == "send":
                tokens, filled = min(self.burst, tokens + (now - filled) * self.rate_limit), now
                event = "refused" if tokens < 1 else "done"
                tokens -= event == "done"
                self.calls += 1
                self.refused += event == "refused"
                heapq.heappush(events, (now + LATENCY, event, begun, now))
            elif event == "refused":
                pace.note_refusal(sent, now)
                heapq.heappush(events, (now + 1 + self.jitter.random(), "ready", begun, 0.0))
            else:
                under_way -= 1
                pace.note(begun, now)
        return now


def test_a_platform_without_a_limit_is_not_waited_for() -> None:
    assert Platform().run(32, 3200) == pytest.approx(100 * LATENCY)


@pytest.mark.parametrize("rate_limit", [5, 20, 50, 100, 200, 400])
@pytest.mark.parametrize("burst", [1, 10, 100])
def test_a_rate_limit_is_met_once_in_a_hundred_calls_at_most(rate_limit: float, burst: float) -> None:
    """And most of what it allows is used."""
    platform = Platform(rate_limit, burst)
    seconds = platform.run(32, 10_000)
    assert platform.refused <= platform.calls / 100
    assert seconds <= 3 * 10_000 / rate_limit


def test_calls_of_the_same_moment_slow_down_once() -> None:
    pace = Pace(32)
    pace.note(0.0, 0.32)
    for _call in range(5):
        pace.note_refusal(0.5, 1.0)
    first = pace.next_turn(5.0)
    assert pace.next_turn(5.0) - first == pytest.approx(FIRST_CUT * 0.32 / 32)


# --- Threads ---------------------------------------------------------------------------------------


class Client:
    """Counts its clones and notes which were closed."""

    def __init__(self) -> None:
        self.clones: list[Client] = []
        self.closed = False

    def clone(self) -> Client:
        self.clones.append(Client())
        return self.clones[-1]

    def set_pace(self, next_turn: Any, on_refusal: Any) -> None:
        self.next_turn, self.on_refusal = next_turn, on_refusal

    def close(self) -> None:
        self.closed = True


def run(client: Client, items: list[int], work: Any, at_once: int = 4) -> list[Any]:
    return run_parallel(client, items, work, at_once)  # type: ignore[arg-type]


def test_no_two_threads_share_a_client() -> None:
    client = Client()
    used_now, seen, lock = set[int](), set[int](), threading.Lock()

    def work(used: Any, item: int) -> None:
        with lock:
            assert id(used) not in used_now
            used_now.add(id(used))
            seen.add(id(used))
        time.sleep(0.001)
        with lock:
            used_now.discard(id(used))

    run(client, list(range(50)), work)
    assert len(seen) <= 4 and id(client) not in seen


def test_an_error_is_raised_and_the_connections_are_closed() -> None:
    client = Client()

    def work(_client: Any, item: int) -> int:
        if item == 3:
            raise ValueError(item)
        return item

    with pytest.raises(ValueError, match="3"):
        run(client, list(range(6)), work)
    assert client.clones
    assert all(clone.closed for clone in client.clones)


def test_a_refusal_makes_all_threads_wait() -> None:
    """None sends at once but those that were about to, and no two send at the same moment."""
    client, turns = Client(), list[float]()
    refused = threading.Event()

    def work(used: Any, item: int) -> None:
        if item == 0:
            used.on_refusal(time.monotonic())
            refused.set()
        refused.wait(5)
        turns.append(used.next_turn(time.monotonic()))

    begun = time.monotonic()
    run(client, list(range(30)), work)
    assert min(turns) >= begun + PAUSE
    assert len(set(turns)) == 30
