# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random plays under a budget, run by ansible-playbook, and judged by what the sandbox has billed.

Nearly all runs are forks of a process that has imported Ansible and the collection (`integration/warm`); a
share starts anew. A seed gives the same play again; how its parallel tasks meet is up to the machine.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, read_outcome
from integration.warm import COLD, PLACE, WHOLE, programs
from money.budget_judge import Done, Evidence, PlatformClock, Verdict, judge, moment_of
from money.budget_plays import MODES, BudgetPlay, RunOf, draw_play

COLD_SHARE = 0.02
PLAY_SECONDS = 300
HERE = Path(__file__).resolve().parent
PLUGINS = HERE / "callback_plugins"
SPEED = {"faults": 20, "killed": 20}
"""How much faster the clocks run in a mode: pauses after lost responses take seconds otherwise.

The sandbox's clock runs as fast as that of the collection: what a platform shows late is waited for.
"""
DELAYS = {"provision": 0.05, "start": 0.02, "stop": 0.02, "resume": 0.05, "delete": 0.02}
QUIET_SECONDS = 0.4
"""For how long a killed run must have sent nothing, so that it has ended."""


@dataclass
class Result:
    """What came of a play."""

    seed: int
    profile: str
    mode: str = ""
    tasks: int = 0
    failed: int = 0
    seconds: float = 0.0
    verdict: Verdict = field(default_factory=Verdict)
    error: str = ""

    @property
    def problems(self) -> list[str]:
        """What is wrong."""
        told = [f"commitment above the budget: {text}" for text in self.verdict.breaches]
        told += [f"refusal of what fits: {text}" for text in self.verdict.wrong_refusals]
        return [*told, *([f"the play could not be run: {self.error}"] if self.error else [])]


@dataclass(frozen=True)
class Started:
    """A run of ansible-playbook on its way, and where it notes its results."""

    run: RunOf
    process: subprocess.Popen[str]
    results: Path

    def outcomes(self) -> Iterator[Outcome]:
        """Yield what its callback noted. A line that a kill cut off is left out."""
        for line in self.results.read_text().splitlines():
            with suppress(json.JSONDecodeError):
                yield read_outcome(line)


class Stage:
    """A sandbox and a folder of the controller, on which one play after the other is run."""

    def __init__(self, sandbox: Sandbox, folder: Path, guarded: bool = True, planted: str = "") -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.guarded = guarded
        """Whether the plays have their budgets."""
        self.planted = planted
        """A defect of the guard that is planted (callback_plugins/planted.py)."""

    def run(self, play: BudgetPlay, profile: str = "plain") -> Result:
        """Run a play from the beginning, and judge it."""
        begun = time.monotonic()
        result = Result(play.seed, profile, play.mode)
        self.begin(play, profile)
        with tempfile.TemporaryDirectory(dir=self.folder) as home:
            turn = Turn(self, play, Path(home))
            try:
                evidence = turn.evidence()
            except subprocess.TimeoutExpired as error:
                result.error = str(error)
            else:
                result.verdict = judge(evidence)
                result.tasks, result.failed = len(evidence.done), sum(done.failed for done in evidence.done)
        result.seconds = time.monotonic() - begun
        return result

    def begin(self, play: BudgetPlay, profile: str) -> None:
        """Let the sandbox begin anew. Its default project is the oldest, which tells it from the others."""
        now = datetime.now(UTC)
        self.sandbox.reset(profile=profile, delays=DELAYS, clock=(now - timedelta(seconds=10)).isoformat())
        self.sandbox.clock(set=now.isoformat(), rate=speed_of(play))
        self.sandbox.seed(play.account)


def speed_of(play: BudgetPlay) -> int:
    """Return how fast the clocks of the collection and of the sandbox run in a play."""
    return SPEED.get(play.mode, 1)


class Turn:
    """One play on a stage."""

    def __init__(self, stage: Stage, play: BudgetPlay, home: Path) -> None:
        self.stage = stage
        self.play = play
        self.sandbox = stage.sandbox
        self.ansible = Ansible(home, stage.sandbox)
        self.playbook = COLD.playbook if play.cold else self.ansible.programs.playbook
        self.started: list[Started] = []
        self.done: list[Done] = []

    def evidence(self) -> Evidence:
        """Run the play, and return what it left behind."""
        projects = {
            each["id"]: each["name"] for each in items(self.sandbox.api("GET", "/api/projects").json())
        }
        self.sandbox.clear_journal()
        if self.play.faults:
            self.sandbox.control("POST", "/faults", {"faults": [dict(fault) for fault in self.play.faults]})
        begun = time.time() * 1000
        clock = moment_of(self.sandbox.clock()["now"])
        killed = self.run()
        self.settle()
        return Evidence(
            self.play,
            self.sandbox.ledger(),
            self.sandbox.journal(),
            projects,
            self.done,
            begun,
            PlatformClock(clock, begun, speed_of(self.play)),
            len(self.started) if len(self.play.runs) == 1 else 1,
            killed,
        )

    def run(self) -> bool:
        """Run the play in its mode. Return whether a run was killed."""
        first = [self.start(run) for run in self.play.runs]
        killed = bool(self.play.killed_at) and self.kill(first[0])
        self.finish(first)
        if killed:
            self.settle()
        if killed or self.play.resumes_at:
            later = ["--start-at-task", self.play.resumes_at] if self.play.resumes_at else []
            self.finish([self.start(self.play.runs[0], *later)])
        return killed

    def start(self, run: RunOf, *arguments: str) -> Started:
        """Start a run of its own playbook, with the budget where the play has it."""
        number, folder, limits = len(self.started), self.ansible.folder, self.play.limits
        guarded = self.stage.guarded
        playbook, results = folder / f"play-{number}.yml", folder / f"results-{number}.json"
        inventory = folder / f"hosts-{number}.ini"
        budget = limits.at("option") if guarded else {}
        playbook.write_text(run.playbook({"budget": budget} if budget else {}))
        results.touch()
        local = f"ansible_connection=local ansible_python_interpreter={self.ansible.programs.python}"
        hosts = ["localhost", *run.inventory().split()]
        inventory.write_text("".join(f"{host} {local}\n" for host in hosts))
        variables: dict[str, Any] = {"hosted_in_process": False} if run.as_module else {}
        if guarded and limits.at("variable"):
            variables["hosted_budget"] = limits.at("variable")
        command = [
            self.playbook,
            "-i",
            str(inventory),
            str(playbook),
            "-f",
            "50",
            "-e",
            json.dumps(variables),
        ]
        with (folder / f"output-{number}").open("w") as output:
            process = subprocess.Popen(
                [*command, *arguments],
                env=self.environment(results),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self.started.append(Started(run, process, results))
        return self.started[-1]

    def environment(self, results: Path) -> dict[str, str]:
        """Return the environment of a run."""
        budget = self.play.limits.at("environment") if self.stage.guarded else {}
        plugins = f"{HERE.parent / 'integration' / 'callback_plugins'}:{PLUGINS}"
        return {
            **self.ansible.environment,
            "RESULTS_FILE": str(results),
            "ANSIBLE_CALLBACK_PLUGINS": plugins,
            "ANSIBLE_CALLBACKS_ENABLED": "results_file,planted",
            "PLANTED_SPEED": str(speed_of(self.play)),
            "PLANTED_DEFECT": self.stage.planted,
            **({"HOSTED_SERVICES_BUDGET": json.dumps(budget)} if budget else {}),
        }

    def kill(self, started: Started) -> bool:
        """Kill a run at a request, unless it ends before. Return whether it was killed."""
        while started.process.poll() is None:
            if len(self.sandbox.journal()) >= self.play.killed_at:
                started.process.kill()
                return True
            time.sleep(0.01)
        return False

    def finish(self, started: Sequence[Started]) -> None:
        """Wait for runs, and take in their results."""
        for each in started:
            try:
                each.process.wait(PLAY_SECONDS)
            except subprocess.TimeoutExpired:
                each.process.kill()
                each.process.wait()
                raise
            self.done += done_by(each)

    def settle(self) -> None:
        """Wait until nobody sends anything any more."""
        if not self.play.killed_at:
            return
        seen, since = -1, time.monotonic()
        while time.monotonic() - since < QUIET_SECONDS:
            now = len(self.sandbox.journal())
            if now != seen:
                seen, since = now, time.monotonic()
            time.sleep(0.05)


def done_by(started: Started) -> Iterator[Done]:
    """Yield what became of each task of a run, unit by unit."""
    changes = {change.title: change for change in started.run.changes}
    for outcome in started.outcomes():
        if outcome.is_item is not started.run.looped or outcome.name not in changes:
            continue
        unit = str(outcome.result["item"]) if outcome.is_item else outcome.host
        if outcome.outcome == "skipped":
            continue
        yield Done(
            started.run, changes[outcome.name], unit, outcome.begun * 1000, outcome.ended * 1000,
            outcome.failed, outcome.message,
        )  # fmt: skip


def items(found: Any) -> list[dict[str, Any]]:
    """Return the entries of a list, whichever shape it has."""
    return (
        found if isinstance(found, list) else next(part for part in found.values() if isinstance(part, list))
    )


# --- Many plays ---------------------------------------------------------------------------------------


def sources() -> str:
    """Name the sources that are run: results of others do not count."""
    places = [
        Path(WHOLE, PLACE, "plugins"),
        HERE,
        HERE.parent / "sandbox",
    ]
    files = sorted(path for place in places for path in place.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def kept(log: Path | None, version: str) -> dict[int, Result]:
    """Return the results of an earlier series of the same sources."""
    if log is None or not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    mine = [line for line in lines if line.pop("sources") == version]
    return {line["seed"]: Result(**{**line, "verdict": Verdict(**line["verdict"])}) for line in mine}


def keep(log: Path | None, version: str, result: Result) -> None:
    """Write a result down, for a series that is resumed."""
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a") as file:
            file.write(json.dumps({"sources": version, **asdict(result)}) + "\n")


def series(plays: Sequence[tuple[int, str]], workers: int, **options: Any) -> Iterator[Result]:
    """Run plays, given by seed and profile, several at a time; yield what comes of each."""
    programs()  # before there are threads, or each would start servers of its own
    with ThreadPoolExecutor(workers) as pool, tempfile.TemporaryDirectory(prefix="budget-") as folder:
        stages = [Stage(Sandbox(), Path(folder), **options) for _worker in range(workers)]
        left, running = list(reversed(plays)), dict[Future[Result], Stage]()
        try:
            while left or running:
                while left and stages:
                    (seed, profile), stage = left.pop(), stages.pop()
                    running[pool.submit(stage.run, draw_play(seed, COLD_SHARE), profile)] = stage
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    stages.append(running.pop(future))
                    yield future.result()
        finally:
            for stage in [*stages, *running.values()]:
                stage.sandbox.stop()


def figures(results: Sequence[Result]) -> Iterator[str]:
    """Yield the figures, one line each."""
    verdicts = [result.verdict for result in results]
    yield (
        f"{len(results)} plays, {sum(result.tasks for result in results)} tasks, "
        f"{sum(verdict.commitments for verdict in verdicts)} commitments, "
        f"{sum(verdict.refusals for verdict in verdicts)} refusals"
    )
    modes = Counter(result.mode for result in results)
    yield ", ".join(f"{modes[mode]} {mode}" for mode in MODES)
    yield f"{sum(len(verdict.breaches) for verdict in verdicts)} commitments above a budget"
    yield f"{sum(len(verdict.wrong_refusals) for verdict in verdicts)} refusals of what fits"
    yield f"{sum(verdict.cautious for verdict in verdicts)} refusals in doubt, after a fault"
    yield f"{sum(bool(result.error) for result in results)} plays that did not end"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the plays that have no result yet, print what is wrong with any, and the figures of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--profiles", nargs="+", default=["plain"], help="gap profiles, which take turns")
    parser.add_argument("--workers", type=int, default=2 * (os.cpu_count() or 1))
    parser.add_argument(
        "--log", type=Path, help="where results are kept; a series that is broken off goes on"
    )
    parser.add_argument("--seconds", type=float, help="start no more plays after so many seconds")
    parser.add_argument(
        "--defect", default="", choices=("", "blind", "stale", "stingy"), help="plant one in the guard"
    )
    parser.add_argument("--without-budget", action="store_true", help="to see how many plays break theirs")
    given = parser.parse_args(arguments)
    profiles = given.profiles
    version, begun = (
        f"{sources()} {' '.join(given.profiles)} {given.without_budget} {given.defect}",
        time.monotonic(),
    )
    wanted = range(given.seed, given.seed + given.runs)
    found = {seed: result for seed, result in kept(given.log, version).items() if seed in wanted}
    left = [(seed, profiles[seed % len(profiles)]) for seed in wanted if seed not in found]
    for result in series(left, given.workers, guarded=not given.without_budget, planted=given.defect):
        found[result.seed] = result
        keep(given.log, version, result)
        tell(result)
        if len(found) % 100 == 0:
            print(f"{len(found)} of {given.runs} plays", file=sys.stderr, flush=True)
        if given.seconds and time.monotonic() - begun > given.seconds:
            break
    print(f"sources {version}, {time.monotonic() - begun:.0f} s")
    print("\n".join(figures(list(found.values()))))
    return 1 if any(result.problems for result in found.values()) else 0


def tell(result: Result) -> None:
    """Print what is wrong with a play, and how to run it again."""
    if result.problems:
        print(f"{draw_play(result.seed, COLD_SHARE)}")
        print(f'  again: make test-budget ARGS="--seed {result.seed} --runs 1 --profiles {result.profile}"')
        print("\n".join(f"  {problem}" for problem in result.problems), flush=True)


if __name__ == "__main__":
    sys.exit(main())
