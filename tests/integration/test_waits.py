# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits end soon after the platform is ready, by the sandbox's clock, and look only as often as is needed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from faults.runner import Runner
from faults.scenarios import ACCOUNT, GAME
from hosted_sandbox.clock import SECOND, parse
from hosted_sandbox.workloads.workload import GRACE_SECONDS

LATE_SECONDS, LATE_SHARE = 1.0, 0.1
"""A wait may end so many seconds late, or by this share of what it took (docs/performance.md)."""
ROUNDING = 0.005
"""The clock of the sandbox counts milliseconds."""


@dataclass(frozen=True)
class Wait:
    """A task that waits for one thing, and the delay of the sandbox that says how long that takes."""

    module: str
    options: Mapping[str, Any]
    begins: str
    """The call that sets it in motion."""
    delay: str
    gaps: Mapping[str, str] = field(default_factory=dict)
    """Values of what the specification leaves open."""
    early: float = 0.0
    """For how many seconds nothing is to be seen of it yet."""


POWER = "POST /api/resources/{id}/power"
RESTORE = "POST /api/resources/{id}/backups/{backupId}/restore"
STARTED = {"name": "idle", "state": "started"}
STOPPED = {"name": "mc", "state": "stopped"}
RESUMED = {"name": "asleep", "state": "resumed"}
ABSENT = {"name": "idle", "state": "absent"}
COPY = {"service": "mc", "name": "now"}
RESTORED = {"service": "mc", "name": "nightly-4", "state": "restored", "confirm": True}
SLOWLY = {"delay": "a second late"}
WAITS = {
    "order": Wait("service", GAME, "POST /api/order", "provision"),
    "start": Wait("service", STARTED, POWER, "start"),
    "stop": Wait("service", STOPPED, POWER, "stop"),
    "deletion": Wait("service", ABSENT, "DELETE /api/resources/{id}", "delete", SLOWLY),
    "resume": Wait("service", RESUMED, "POST /api/resources/{id}/resume", "resume", SLOWLY),
    "backup": Wait("backup", COPY, "POST /api/resources/{id}/backups", "backup"),
    "restore": Wait("backup", RESTORED, RESTORE, "restore", {"delay": "at once"}),
    "restore, seen late": Wait(
        "backup", RESTORED, RESTORE, "restore", SLOWLY, ACCOUNT["delays"]["restore_begins"]
    ),
}


def call_of(line: Mapping[str, Any]) -> str:
    """Return the route of a line of the journal."""
    return f"{line['method']} {line['template']}"


def most_reads(seconds: float) -> int:
    """Return how often a task may read: at first more often, each second, and then at each tenth more.

    It also reads the same before it waits, and for its result.
    """
    longer = math.log(max(seconds, 10) / 10) / math.log(1 + LATE_SHARE)
    return 7 + math.ceil(min(seconds, 10) / LATE_SECONDS) + math.ceil(longer)


@pytest.mark.parametrize(
    ("name", "seconds"),
    [
        pytest.param(name, seconds, marks=[pytest.mark.night] if seconds in (0.3, 30.0) else [])
        for name in WAITS
        for seconds in (0.3, 4.0, 30.0, 250.0)
        if name != "stop" or seconds < GRACE_SECONDS  # it is killed then
    ],
)
def test_a_wait_ends_soon_after_the_platform_is_ready(name: str, seconds: float, work: Runner) -> None:
    wait = WAITS[name]
    work.begin({**ACCOUNT, "delays": {**ACCOUNT["delays"], wait.delay: seconds}})
    work.sandbox.profile("plain", **wait.gaps)
    work.sandbox.clear_journal()
    ran = work.run(wait.module, wait.options, wait_interval=3600)
    assert not ran.failed and ran.changed, ran.message
    lines = work.sandbox.journal()
    begun = next(number for number, line in enumerate(lines) if call_of(line) == wait.begins)
    took = (parse(lines[-1]["at"]) - parse(lines[begun]["at"])) / SECOND
    ready = seconds + wait.early
    assert ready <= took <= ready + max(LATE_SECONDS, LATE_SHARE * ready) + ROUNDING
    reads = Counter(map(call_of, lines[begun + 1 :]))
    assert max(reads.values()) <= most_reads(ready), reads
