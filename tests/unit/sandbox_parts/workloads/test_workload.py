# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Containers of a service, and their clock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosted_sandbox.clock import SECOND
from hosted_sandbox.clock import Clock as SimulatedClock
from hosted_sandbox.workloads import Configuration, Workload
from hosted_sandbox.workloads.workload import KEPT_LINES


class Clock:
    """Milliseconds since the epoch."""

    def __init__(self) -> None:
        self.at = 0

    def __call__(self) -> int:
        return self.at

    def pass_seconds(self, seconds: float) -> None:
        self.at += round(seconds * 1000)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def workload(clock: Clock) -> Workload:
    return Workload(clock)


def made_of(**changes: Any) -> Configuration:
    settings: dict[str, Any] = {
        "command": ("/app/server", "--fast"),
        "architecture": "amd64",
        "node_architecture": "amd64",
    }
    return Configuration(**settings | changes)


def state(workload: Workload) -> str:
    """The state, of a type that does not let the checker conclude that it can never change."""
    return workload.state


def texts(workload: Workload) -> list[str]:
    return [line.partition(" ")[2] for line in workload.logs(KEPT_LINES)]


def test_stop_kills_after_the_grace_delay(workload: Workload, clock: Clock) -> None:
    workload.start(made_of(labels={"sandbox.stop_seconds": "60"}), dict)
    clock.pass_seconds(1)
    workload.stop()
    clock.pass_seconds(9.9)
    assert state(workload) == "stopping"
    clock.pass_seconds(0.1)
    assert state(workload) == "stopped"
    assert texts(workload)[-1] == "the process did not end in time and was killed"


@pytest.mark.parametrize(
    ("labels", "environment", "ready_after"),
    [
        ({"sandbox.start_seconds": "3"}, {}, 3),
        ({"sandbox.start_seconds": "3"}, {"SANDBOX_START_SECONDS": "5"}, 5),
        ({"sandbox.start_seconds": "soon"}, {}, 0.5),
        ({"sandbox.start_seconds": "inf"}, {}, 0.5),
        ({"sandbox.start_seconds": "-1"}, {}, 0.5),
    ],
)
def test_durations(
    workload: Workload, clock: Clock, labels: dict[str, str], environment: dict[str, str], ready_after: float
) -> None:
    workload.start(made_of(labels=labels, environment=environment), dict)
    clock.pass_seconds(ready_after - 0.1)
    assert state(workload) == "starting"
    clock.pass_seconds(0.1)
    assert state(workload) == "running"


def test_values_of_the_environment_are_not_logged(workload: Workload, clock: Clock) -> None:
    workload.start(made_of(environment={"TOKEN": "very-secret"}), dict)
    clock.pass_seconds(1)
    workload.stop()
    clock.pass_seconds(1)
    assert "very-secret" not in " ".join(workload.logs(KEPT_LINES))


@pytest.mark.parametrize("seconds", [0, 0.6, 5])
def test_a_life_is_taken_up_again(clock: Clock, seconds: float) -> None:
    workload = Workload(clock)
    workload.start(made_of(labels={"sandbox.crash_after": "2"}, environment={"A": "1"}), dict)
    clock.pass_seconds(seconds)
    again = Workload.from_dict(json.loads(json.dumps(workload.to_dict())), clock)
    assert again.to_dict() == workload.to_dict()
    assert again.configuration == workload.configuration
    clock.pass_seconds(10)
    assert (state(again), again.failure) == (state(workload), workload.failure)
    assert again.logs(KEPT_LINES) == workload.logs(KEPT_LINES)


def test_a_running_clock_is_advanced_by_however_little() -> None:
    """Time goes on while the clock is moved, and that is no move into the past."""
    clock = SimulatedClock()
    begun = clock.now()
    for _dummy in range(20_000):
        clock.advance(0.0001)
    assert clock.now() >= begun
    clock.run(0.0)
    before = clock.now()
    clock.advance(2 * SECOND)
    assert clock.now() == before + 2 * SECOND
    with pytest.raises(ValueError, match="cannot be moved back"):
        clock.advance(-1)
