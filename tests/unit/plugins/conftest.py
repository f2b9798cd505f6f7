# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of several layers share."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._broker.server import MAX_IDLE_SECONDS, serve
from unit.plugins.planning import GUARD, watch
from unit.plugins.simulated_time import simulate


@pytest.fixture(scope="session", autouse=True)
def watched_plans() -> Iterator[None]:
    """Watch what every plan() does, in all tests of the plugins; pauses can be simulated."""
    with pytest.MonkeyPatch.context() as patch:
        simulate(patch)
        watch(patch)
        yield


@pytest.fixture(autouse=True)
def plans_only_read() -> Iterator[None]:
    """Fail a test in which a plan() waited or wrote."""
    GUARD.seen.clear()
    yield
    assert GUARD.seen == []


@pytest.fixture
def idle_seconds() -> float:
    """How long the broker keeps idle connections; a test may want less."""
    return MAX_IDLE_SECONDS


@pytest.fixture
def broker(idle_seconds: float) -> Iterator[str]:
    """Run a connection broker in a thread and return where it listens."""
    lifeline, end = os.pipe()
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = os.path.join(folder, "broker")  # pytest's own folders are too deep for a socket's address
        listener.bind(path)
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener, lifeline, idle_seconds))
        thread.start()
        yield path
        os.close(end)
        thread.join(5)
        assert not thread.is_alive(), "it ends with its lifeline"
    os.close(lifeline)
