# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what callback `cost` announces is what the sandbox bills: random plays over 30 days of its clock.

The tasks run in this process, with the collection's clock in hand, and the callback's own code sums their
results. A seed gives the same plays again, in every profile.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ansible_collections.hosted.services.plugins.plugin_utils._cost.summary import (
    Origin,
    read_result,
    summarize,
)
from faults.runner import Ran, Runner, leave_memory_alone, runner
from hosted_sandbox.embedded import Embedded
from hosted_sandbox.testing import SandboxClient
from money.judge import TOLERANCE, Difference, Judge
from money.plays import SEED, MoneyTask, Play, plays

DAYS = 30
DAY = 24 * 3600
SETTLED = 5.0
"""Simulated seconds after which the platform has done what a task did not wait for."""
Announcement = Sequence[Mapping[str, Any]]


@dataclass
class Outcome:
    """What came of a series of plays."""

    seed: int
    profile: str
    plays: int = 0
    tasks: int = 0
    failed: int = 0
    announced: int = 0
    unpriced: int = 0
    services: int = 0
    largest: float = 0.0
    """The cents by which the bill of one service is off."""
    problems: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return (
            f"{self.profile}, seed {self.seed}: {self.plays} plays, "
            f"{self.tasks} tasks, {self.failed} failed, "
            f"{self.announced} announcements ({self.unpriced} without a price), {self.services} services; "
            f"largest difference {self.largest:.3f} cents, {len(self.problems)} problems"
        )


def moment(sandbox: SandboxClient) -> int:
    """Return the sandbox's time in milliseconds."""
    return round(datetime.fromisoformat(sandbox.clock()["now"]).timestamp() * 1000)


class History:
    """A series of plays on one account, from its beginning to the bill."""

    def __init__(
        self, sandbox: SandboxClient, seed: int, profile: str, play: Callable[[Play], Announcement]
    ) -> None:
        self.sandbox = sandbox
        self.play = play
        self.judge = Judge()
        self.outcome = Outcome(seed, profile)

    def run(self, count: int, days: float = DAYS) -> Outcome:
        """Run the plays, and judge them."""
        self.judge.begin(self.sandbox.ledger(), moment(self.sandbox))
        for play in plays(self.outcome.seed, count, days * DAY):
            self.run_play(play)
        self.judge_bill()
        self.outcome.announced, self.outcome.unpriced = self.judge.announced, self.judge.unpriced
        return self.outcome

    def run_play(self, play: Play) -> None:
        """Run a play, and compare the rates that it announced with those that are billed after it."""
        begun = moment(self.sandbox)
        announced = self.play(play)
        self.sandbox.clock(advance=SETTLED)
        ended, ledger = moment(self.sandbox), self.sandbox.ledger()
        for difference in self.judge.hear(announced, begun, ended, ledger):
            tasks = play.naming(name_of(difference))
            self.note(f"after play {play.number}: {difference}; its tasks: {tasks}")
        self.outcome.plays += 1
        self.outcome.tasks += len(play.tasks)
        self.sandbox.clock(advance=play.pause)

    def judge_bill(self) -> None:
        """Compare the bill of each service with what was announced for it."""
        found = list(self.judge.end(self.sandbox.ledger(), moment(self.sandbox)))
        self.outcome.services = len(found)
        self.outcome.largest = max((float(difference.cents) for difference in found), default=0.0)
        for difference in found:
            if difference.cents > TOLERANCE:
                self.note(f"in the end: {difference}")

    def note(self, text: str) -> None:
        """Keep what is wrong, with what it takes to see it again."""
        self.outcome.problems.append(f"{self.outcome.profile}, seed {self.outcome.seed}, {text}")


def name_of(difference: Difference) -> str:
    """Return the name of the service that a difference is about."""
    return difference.service.partition(" (")[0]


class Announcer:
    """Runs plays in this process, and tells what the callback makes of their results."""

    def __init__(self, work: Runner) -> None:
        self.work = work
        self.failed = 0

    def __call__(self, play: Play) -> Announcement:
        """Run a play."""
        ran = [(task, self.work.run(task.module, task.options)) for task in play.tasks]
        self.failed += sum(each.failed for _task, each in ran)
        entries = [entry for task, each in ran for entry in self.entries(task, each)]
        announced: Announcement = summarize(entries)
        return announced

    def entries(self, task: MoneyTask, ran: Ran) -> Iterator[Any]:
        """Yield what the callback reads from a result."""
        origin = Origin(task=str(task), host="localhost", module=task.module, failed=ran.failed)
        yield from read_result(ran.result, origin)


def begin(sandbox: SandboxClient, profile: str) -> None:
    """Let a sandbox begin anew with the account before the first play, and its clock stand still."""
    delays = dict.fromkeys(("provision", "start", "stop", "resume", "delete"), 0.25)
    sandbox.reset(clock="2026-03-01T00:00:00Z", delays=delays, seed=dict(SEED), profile=profile)
    sandbox.clock(freeze=True)


def run_history(seed: int, profile: str, count: int, days: float = DAYS) -> Outcome:
    """Run plays on a sandbox of their own."""
    with Embedded() as sandbox, runner(sandbox) as work:
        return run_on(work, seed, profile, count, days)


def run_on(work: Runner, seed: int, profile: str, count: int, days: float = DAYS) -> Outcome:
    """Run plays on a sandbox that begins anew for them."""
    begin(work.sandbox, profile)
    work.clear_folder()
    announcer = Announcer(work)
    outcome = History(work.sandbox, seed, profile, announcer).run(count, days)
    outcome.failed = announcer.failed
    return outcome


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a series of plays in each profile, print the figures of each, and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="plays in each profile")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profiles", nargs="+", default=["plain"], help="gap profiles")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    begun, outcomes = time.monotonic(), []
    with ProcessPoolExecutor(given.workers, initializer=leave_memory_alone) as pool:
        series = [pool.submit(run_history, given.seed, profile, given.runs) for profile in given.profiles]
        for one in series:
            outcomes.append(one.result())
            print("\n".join([str(outcomes[-1]), *outcomes[-1].problems]), flush=True)
    largest = max(outcome.largest for outcome in outcomes)
    print(f"largest difference of all: {largest:.3f} cents; {time.monotonic() - begun:.0f} s")
    return 1 if any(outcome.problems for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
