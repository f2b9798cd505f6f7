# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The matrix: every scenario, every call that it makes, every kind of fault, once or for good.

A cell runs its task with that fault, then cleanly, then cleanly once more. The oracle judges the first
run; the second one must reach the state of a run that nothing disturbed, and the third must change nothing.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from faults.oracle import CONVERGENCE, STATE, Problem, doubles, uncopied_deletions, violations
from faults.runner import REFUSED, Fault, Ran, Runner, leave_memory_alone, runner
from faults.scenarios import SCENARIOS, Scenario
from faults.truth import IN_EFFECT, Truth
from hosted_sandbox.embedded import Embedded

FAULTS: dict[str, Fault] = {
    "connection refused": REFUSED,
    "reset before": {"kind": "reset"},
    "reset after": {"kind": "reset", "when": "after"},
    "no answer, not done": {"kind": "no_answer"},
    "no answer, done": {"kind": "no_answer", "when": "after"},
    "slow drip": {"kind": "drip"},
    "429": {"kind": "status", "status": 429},
    "429 with Retry-After": {"kind": "status", "status": 429, "retry_after": 3},
    **{f"{status}, not done": {"kind": "status", "status": status} for status in (500, 502, 503, 504)},
    **{
        f"{status}, done": {"kind": "status", "status": status, "when": "after"}
        for status in (500, 502, 503, 504)
    },
    "cut-off JSON": {"kind": "truncated"},
    "HTML, not done": {"kind": "html"},
    "HTML, done": {"kind": "html", "when": "after"},
}  # fmt: skip
TWINS = {name: name.replace(", done", ", not done") for name in FAULTS if name.endswith(", done")}
"""Whether the platform acted first makes no difference to a read: one of the two is enough there."""

LASTING: dict[str, Fault] = {
    "reset after, for good": {"kind": "reset", "when": "after"},
    "503, not done, for good": {"kind": "status", "status": 503},
}
"""These befall the call and all that come after it: nothing can be looked up any more."""
CALLS = 120
"""How many calls of a task can be struck; none makes more."""


@dataclass(frozen=True)
class Cell:
    """One task with one fault at one of its calls, or from one of its calls on."""

    scenario: Scenario
    call: int
    route: str
    fault: str

    @property
    def faults(self) -> dict[int, Fault]:
        """What befalls which call."""
        if self.fault in LASTING:
            return dict.fromkeys(range(self.call, CALLS + 1), LASTING[self.fault])
        return {self.call: FAULTS[self.fault]}

    def __str__(self) -> str:
        return f"{self.scenario.name} | call {self.call}: {self.route} | {self.fault}"


@dataclass(frozen=True)
class Verdict:
    """What became of a cell."""

    cell: str
    fault: str
    failed: bool
    problems: Sequence[Problem]
    overrun: float


class Bench:
    """One scenario on the bench: the state it begins with, and what it does when nothing disturbs it."""

    def __init__(self, work: Runner, scenario: Scenario, profile: str = "plain") -> None:
        self.work = work
        self.scenario = scenario
        work.prepare(scenario, profile)
        self.before = Truth.of(work.sandbox)
        self.local = work.folder.with_name("template")
        shutil.rmtree(self.local, ignore_errors=True)
        shutil.copytree(work.folder, self.local)
        self.undisturbed = work.run(scenario.module, scenario.options)
        assert not self.undisturbed.failed, f"{scenario.name}: {self.undisturbed.message}"
        self.after = Truth.of(work.sandbox)

    def restore(self) -> None:
        """Take platform and machine back to the beginning."""
        self.work.sandbox.control("PUT", "/state", self.before.saved)
        shutil.rmtree(self.work.folder)
        shutil.copytree(self.local, self.work.folder)

    def cells(self) -> Iterator[Cell]:
        """Yield every cell of this scenario."""
        for exchange in self.undisturbed.exchanges:
            for fault in FAULTS:
                if exchange.writes or TWINS.get(fault) not in FAULTS:
                    yield Cell(self.scenario, exchange.number, str(exchange.route), fault)
            for fault in LASTING:
                yield Cell(self.scenario, exchange.number, str(exchange.route), fault)

    def run(self) -> Ran:
        """Run the task cleanly."""
        return self.work.run(self.scenario.module, self.scenario.options)

    def judge(self, cell: Cell) -> Verdict:
        """Run a cell and return what the oracle says."""
        self.restore()
        struck = self.work.run(self.scenario.module, self.scenario.options, cell.faults)
        after = Truth.of(self.work.sandbox)
        problems = [*violations(struck, self.before, after, self.work.folder), *doubles(self.before, after)]
        if not struck.failed:
            problems += self.success(struck, after)
        problems += self.convergence()
        return Verdict(str(cell), cell.fault, struck.failed, problems, struck.overrun)

    def success(self, ran: Ran, after: Truth) -> Iterator[Problem]:
        """Yield what is wrong with a task that says it succeeded."""
        differences = after.differences(self.after)
        if differences:
            yield Problem(STATE, f"after success: {differences}")
        if ran.changed != self.undisturbed.changed:
            yield Problem(STATE, f"succeeded with changed: {ran.changed}, not {self.undisturbed.changed}")
        happens = self.scenario.happens
        if happens and after.events[happens] <= self.before.events[happens]:
            yield Problem(STATE, f"succeeded, but {happens} never happened")

    def convergence(self) -> Iterator[Problem]:
        """Yield what is wrong with a clean run after it, and with the one after that."""
        again = self.run()
        yield from uncopied_deletions(again)
        after = Truth.of(self.work.sandbox)
        if again.failed:
            yield Problem(CONVERGENCE, f"a clean run fails: {again.message}")
            return
        differences = after.differences(self.after)
        if self.scenario.repeated:  # whatever else it makes anew in every run, the containers are the same
            differences = {kind: found for kind, found in differences.items() if kind == IN_EFFECT}
        if differences:
            yield Problem(CONVERGENCE, f"a clean run leads elsewhere: {differences}")
        if self.scenario.repeated:
            return
        last = self.run()
        if last.failed or last.changed:
            yield Problem(CONVERGENCE, f"the run after the clean one is not unchanged: {last.result}")


def verdicts(
    scenarios: Iterable[Scenario], chosen: Callable[[Cell], bool], profile: str = "plain"
) -> Iterator[Verdict]:
    """Run the chosen cells of some scenarios on a sandbox of their own, in a gap profile."""
    with Embedded() as sandbox, runner(sandbox) as work:
        for scenario in scenarios:
            bench = Bench(work, scenario, profile)
            for cell in bench.cells():
                if chosen(cell):
                    yield bench.judge(cell)


def sample(share: float, seed: int) -> Callable[[Cell], bool]:
    """Choose a share of the cells, always the same ones for a seed."""
    return lambda cell: random.Random(f"{seed} {cell}").random() < share


def run_scenario(name: str, share: float, seed: int, profile: str) -> list[Verdict]:
    """Run one scenario, in a process of its own."""
    scenario = next(scenario for scenario in SCENARIOS if scenario.name == name)
    return list(verdicts([scenario], sample(share, seed), profile))


def figures(found: Sequence[Verdict], seconds: float) -> Iterator[str]:
    """Yield the figures of a run, one line each."""
    bad = [verdict for verdict in found if verdict.problems]
    kinds = [*FAULTS, *LASTING]
    yield f"{len(SCENARIOS)} scenarios, {len(kinds)} faults, {len(found)} cells in {seconds:.0f} s"
    yield "  fault                         cells   succeeded  told truth  violations"
    count: Mapping[str, Counter[str]] = {fault: Counter() for fault in kinds}
    for verdict in found:
        count[verdict.fault]["bad" if verdict.problems else "failed" if verdict.failed else "ok"] += 1
    for fault, numbers in count.items():
        row = [numbers.total(), numbers["ok"], numbers["failed"], numbers["bad"]]
        yield f"  {fault:<24} " + "  ".join(f"{number:>10}" for number in row)
    overrun = max((verdict.overrun for verdict in found), default=0)
    yield f"longest time over a deadline: {max(overrun, 0):.1f} s"
    yield f"{len(bad)} violations of the oracle"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix, or a part of it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="scenarios whose name holds this text")
    parser.add_argument("--share", type=float, default=1.0, help="which share of the cells, chosen by --seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--profile", default="plain", help="the gap profile")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    wanted = [scenario for scenario in SCENARIOS if given.only in scenario.name]
    for scenario in [scenario for scenario in wanted if scenario.missing]:
        wanted.remove(scenario)
        print(f"{scenario.name}: left out, because this machine lacks {scenario.missing}")
    names = [scenario.name for scenario in wanted]
    begun = time.monotonic()
    found: list[Verdict] = []
    with ProcessPoolExecutor(given.workers, initializer=leave_memory_alone) as pool:
        part = (given.share, given.seed, given.profile)
        tasks: list[Any] = [pool.submit(run_scenario, name, *part) for name in names]
        for name, task in zip(names, tasks, strict=True):
            mine = task.result()
            found += mine
            print(f"{name}: {len(mine)} cells, {sum(bool(v.problems) for v in mine)} bad", flush=True)
            for verdict in mine:
                for problem in verdict.problems:
                    print(f"  {verdict.cell}\n      {problem}", flush=True)
    print("\n".join(figures(found, time.monotonic() - begun)))
    return 1 if not found or any(verdict.problems for verdict in found) else 0


if __name__ == "__main__":
    sys.exit(main())
