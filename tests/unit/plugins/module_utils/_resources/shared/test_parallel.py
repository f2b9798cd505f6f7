# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Work side by side: in order, each thread with a client of its own, the first error raised."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import (
    PAUSE,
    run_parallel,
)


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
