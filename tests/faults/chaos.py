# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random runs: plays drawn from a seed, with a fault at every fifth call, judged by the oracle.

A run plays its tasks in a gap profile under faults, going on after failures; then cleanly, where all must
succeed and reach the state of a play that nothing disturbed; then once more, where nothing may change. A seed
gives the same tasks, faults and pauses again, as long as the same sources are run.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins import module_utils
from faults.matrix import CALLS, FAULTS
from faults.oracle import (
    BACKUP,
    CONVERGENCE,
    DEADLINE,
    DOUBLE,
    FORGOTTEN,
    KINDS,
    LAST_GOOD,
    SECRET,
    STATE,
    UNREPORTED,
    Problem,
    doubles,
    forgotten,
    violations,
)
from faults.runner import Fault, Ran, Runner, leave_memory_alone, runner
from faults.scenarios import ACCOUNT, GAME, GAME_SIZE, KEYS, ORDER
from faults.truth import IN_EFFECT, Truth
from hosted_sandbox.embedded import Embedded

Draw = random.Random
FAULTY = 0.2
"""The share of calls that suffer a fault."""
PIECE = 50
"""Runs that share a sandbox, and are lost when the machine goes down."""


@dataclass(frozen=True)
class Play:
    """A task of a play. One that is ``repeated`` changes something whenever it runs."""

    module: str
    options: Mapping[str, Any]
    repeated: bool = False


# --- What plays are made of: each of these works on things of its own, so that no two contradict ---------


def projects(draw: Draw) -> Iterator[Play]:
    """Draw a project to create, rename or delete."""
    yield draw.choice((
        Play("project", {"name": "new"}),
        Play("project", {"name": "spare", "new_name": "renamed"}),
        Play("project", {"name": "spare", "state": "absent"}),
    ))  # fmt: skip


def orders(draw: Draw) -> Iterator[Play]:
    """Draw one or two services to order."""
    for name in draw.sample(("blue", "green"), draw.randint(1, 2)):
        project = {"project": "games"} if draw.random() < 0.5 else {}
        if draw.random() < 0.5:
            yield Play(
                "service", {**ORDER, **project, "name": name, "secrets_dest": f"{{folder}}/{name}.json"}
            )
        else:
            state = draw.choice(("present", "started", "stopped", "suspended"))
            yield Play("service", {**GAME, **project, "name": name, "state": state})


def settings(draw: Draw) -> Iterator[Play]:
    """Draw another shape for a game server that runs."""
    wishes: dict[str, Any] = {"state": draw.choice(("present", "started", "stopped"))}
    if draw.random() < 0.5:
        wishes["dimensions"] = {**GAME_SIZE, "ram_gb": draw.randint(2, 8), "cpu_cores": draw.randint(1, 4)}
    if draw.random() < 0.5:
        wishes["public"] = draw.random() < 0.5
    if draw.random() < 0.5:
        wishes["command"] = draw.choice(("java -Xmx1g", "java -Xmx2g", ""))
    yield Play("service", {"name": "mc", **wishes})


def lives(draw: Draw) -> Iterator[Play]:
    """Draw a fate for services that do not run."""
    state = draw.choice(("present", "started", "stopped", "suspended", "restarted", "killed", "absent"))
    yield Play("service", {"name": "idle", "state": state}, repeated=state == "restarted")
    if draw.random() < 0.5:
        yield Play("service", {"name": "asleep", "state": draw.choice(("started", "suspended"))})


def apps(draw: Draw) -> Iterator[Play]:
    """Draw applications to create, releases to declare and deploy, and environments."""
    if draw.random() < 0.5:
        yield Play("app", {"slug": "fresh", "project": draw.choice((None, "games"))})
        yield environment(draw, "fresh")
    if draw.random() < 0.5:
        yield Play("app_release", {"slug": "shop", "tag": "v3", "digest": "{digest_v2}"})
        yield Play("app_deploy", {"slug": "shop", "tag": "v3", "rollback": draw.random() < 0.5})
    else:
        yield Play("app_deploy", {"slug": "shop", "tag": draw.choice(("v1", "v2"))})
    if draw.random() < 0.5:
        yield environment(draw, "shop")


def environment(draw: Draw, slug: str) -> Play:
    """Draw an environment for an application."""
    variables = {name: str(draw.randint(0, 9)) for name in draw.sample(("MODE", "DEBUG", "LEVEL"), 2)}
    if slug == "shop" and draw.random() < 0.3:  # the database is its neighbor
        variables["DATABASE_URL"] = "${db.URL}"
    secret = {"secret_variables": {"KEY": "s3cret-value"}} if draw.random() < 0.5 else {}
    options = {"slug": slug, "variables": variables, **secret}
    return Play("environment", {**options, "state_dir": "{folder}/state"})


def backups(draw: Draw) -> Iterator[Play]:
    """Draw backups to make, to delete and to thin out."""
    services = draw.choice((["mc"], ["mc", "box"]))
    yield Play("backup", {"services": services, "name": "now", "max_parallel": 1})
    if draw.random() < 0.5:
        yield Play("backup", {"services": ["mc"], "name": "nightly-1", "state": "absent"})
    if draw.random() < 0.7:
        options = {"services": ["mc"], "pattern": "nightly-*", "keep_last": draw.randint(1, 3)}
        yield Play("backup_retention", options)


def snapshots(draw: Draw) -> Iterator[Play]:
    """Draw a snapshot to take, and perhaps to go back to."""
    yield Play("snapshot", {"services": ["box"], "name": "clean"})
    if draw.random() < 0.5:
        options: dict[str, Any] = {"services": ["box"], "name": "clean", "state": "rolled_back"}
        options |= {"confirm": True, "quiet_time": 0.6}
        yield Play("snapshot", options, repeated=True)


def keys(draw: Draw) -> Iterator[Play]:
    """Draw a key to register, to replace or to remove."""
    yield draw.choice((
        Play("ssh_key", {"name": "desktop", "public_key": KEYS[1]}),
        Play("ssh_key", {"name": "laptop", "public_key": KEYS[1], "replace": True}),
        Play("ssh_key", {"name": "laptop", "state": "absent"}),
    ))  # fmt: skip


def files(draw: Draw) -> Iterator[Play]:
    """Draw files to write, make, rename and remove, or a backup to bring back in place of all that."""
    if draw.random() < 0.2:
        options: dict[str, Any] = {"services": ["mc"], "name": "nightly-4", "state": "restored"}
        options |= {"confirm": True, "quiet_time": 0.6}
        yield Play("backup", options, repeated=True)
        return
    yield Play(
        "file", {"service": "mc", "path": "server.properties", "content": f"motd={draw.randint(0, 9)}"}
    )
    if draw.random() < 0.5:
        yield Play("file", {"service": "mc", "path": "plugins/new", "state": "directory"})
    if draw.random() < 0.5:
        yield Play(
            "file", {"service": "mc", "path": "world/old.dat", "new_name": "x.dat", "state": "renamed"}
        )
    if draw.random() < 0.5:
        yield Play("file", {"service": "mc", "paths": ["world/level.dat"], "state": "absent"})


def passwords(draw: Draw) -> Iterator[Play]:
    """Draw an SFTP password, for the first time or another one."""
    always = draw.random() < 0.5
    options = {"service": "mc", "update_password": "always" if always else "on_create"}
    yield Play("sftp_password", {**options, "secrets_dest": "{folder}/password.json"}, repeated=always)


def statements(draw: Draw) -> Iterator[Play]:
    """Draw statements that lead to the same rows however often they are run."""
    options = {"service": "db", "read_only": False}
    table = "CREATE TABLE IF NOT EXISTS t (n INTEGER PRIMARY KEY)"
    yield Play("database_query", {**options, "query": table}, repeated=True)
    insert = {"query": "INSERT OR REPLACE INTO t VALUES (:n)", "params": {"n": draw.randint(0, 9)}}
    yield Play("database_query", {**options, **insert}, repeated=True)


PARTS: tuple[Callable[[Draw], Iterator[Play]], ...] = (
    projects, orders, settings, lives, apps, backups, snapshots, keys, files, passwords, statements,
)  # fmt: skip


def play_of(draw: Draw) -> list[Play]:
    """Draw a play of two to four parts."""
    return [task for part in draw.sample(PARTS, draw.randint(2, 4)) for task in part(draw)]


def faults_of(draw: Draw) -> dict[int, Fault]:
    """Draw which calls of a task suffer what."""
    names = list(FAULTS)
    return {call: FAULTS[draw.choice(names)] for call in range(1, CALLS + 1) if draw.random() < FAULTY}


# --- A run ---------------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What came of a run."""

    seed: int
    profile: str = "plain"
    tasks: int = 0
    calls: int = 0
    struck: int = 0
    failed: int = 0
    overrun: float = 0.0
    problems: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What the platform of this profile does not take even without a fault; such tasks are left out."""


class ChaosRun:
    """One seed on an account that is as it was at the beginning."""

    def __init__(self, work: Runner, begin: Truth, seed: int, profile: str = "plain") -> None:
        self.work = work
        self.begin = begin
        draw = random.Random(f"play {seed}")
        self.play = play_of(draw)
        self.faults = [faults_of(draw) for __ in self.play]
        self.outcome = Outcome(seed, profile)

    def restore(self) -> None:
        """Take platform and machine back to the beginning."""
        self.work.sandbox.control("PUT", "/state", self.begin.saved)
        self.work.clear_folder()

    def note(self, task: Play, problems: Iterator[Problem]) -> None:
        """Keep what the oracle says of a task."""
        self.outcome.problems += [(kind, f"{task}: {text}") for kind, text in problems]

    def run(self) -> Outcome:
        """Play undisturbed, then from the same beginning under faults, then cleanly until nothing changes.

        That is with the second clean run, or with the third where the first left something written that is
        not in effect yet, or wrote an environment again: nobody can know that it is the one in effect. The
        containers then run with what they would run with had nothing been disturbed.
        """
        random.seed(self.outcome.seed)  # the pauses before another try are drawn from the common source
        self.leave_out_what_is_refused()
        wanted = Truth.of(self.work.sandbox)
        in_effect = self.settled(wanted).in_effect
        self.restore()
        self.disturbed()
        cleaned = [self.clean(task) for task in self.play]
        rewritten = any(ran.module == "environment" and ran.changed for ran in cleaned)
        written = Truth.of(self.work.sandbox)
        if differences := written.differences(wanted, but=[IN_EFFECT]):
            self.outcome.problems.append((STATE, f"after a clean run: {differences}"))
        self.outcome.problems += forgotten(written, self.work.folder)
        if rewritten or any(written.unapplied()):  # a deploy before the environment has to run again
            for task in self.play:
                self.clean(task)
        for task in self.play:
            ran = self.clean(task)
            if ran.changed and not task.repeated:
                self.outcome.problems.append((CONVERGENCE, f"{task} still changes: {ran.result}"))
        if (runs := Truth.of(self.work.sandbox).in_effect) != in_effect:
            self.outcome.problems.append((STATE, f"in the end, {runs} run in place of {in_effect}"))
        return self.outcome

    def settled(self, wanted: Truth) -> Truth:
        """Return what there is once a play that left something not in effect is played again, undisturbed."""
        if any(wanted.unapplied()):
            for task in self.play:
                self.clean(task)
            return Truth.of(self.work.sandbox)
        return wanted

    def leave_out_what_is_refused(self) -> None:
        """Play undisturbed, and go on with what a platform of this profile takes: `plain` takes all.

        A task that changed something before it failed is no part of the state to reach: the play is repeated
        from the beginning without it.
        """
        changed_and_failed = True
        while changed_and_failed:
            self.restore()
            ran = [self.work.run(task.module, task.options) for task in self.play]
            for task, outcome in zip(self.play, ran, strict=True):
                if outcome.failed and self.outcome.profile == "plain":
                    message = f"{task} fails without a fault: {outcome.message}"
                    self.outcome.problems.append((CONVERGENCE, message))
                elif outcome.failed:
                    self.outcome.refused.append(f"{task.module}: {outcome.message}")
            taken = [not outcome.failed for outcome in ran]
            self.play = list(compress(self.play, taken))
            self.faults = list(compress(self.faults, taken))
            changed_and_failed = any(outcome.failed and outcome.changed for outcome in ran)
        self.outcome.tasks = len(self.play)

    def clean(self, task: Play) -> Ran:
        """Run a task without faults; it must succeed."""
        ran = self.work.run(task.module, task.options)
        if ran.failed:
            self.outcome.problems.append((CONVERGENCE, f"{task} fails without a fault: {ran.message}"))
        return ran

    def disturbed(self) -> None:
        """Run all tasks under faults, and let the oracle judge each."""
        before = self.begin
        for task, faults in zip(self.play, self.faults, strict=True):
            ran = self.work.run(task.module, task.options, faults)
            after = Truth.of(self.work.sandbox)
            self.note(task, violations(ran, before, after, self.work.folder))
            self.outcome.calls += len(ran.exchanges)
            self.outcome.struck += sum(exchange.number in faults for exchange in ran.exchanges)
            self.outcome.failed += ran.failed
            self.outcome.overrun = max(self.outcome.overrun, ran.overrun)
            before = after
        self.outcome.problems += doubles(self.begin, before)


def run_piece(profile: str, seeds: Sequence[int]) -> list[Outcome]:
    """Run some seeds on a sandbox of their own, in a gap profile."""
    with Embedded() as sandbox, runner(sandbox) as work:
        work.begin(ACCOUNT, profile)
        begin = Truth.of(sandbox)
        return [ChaosRun(work, begin, seed, profile).run() for seed in seeds]


def pieces(seeds: Sequence[int], profiles: Sequence[str]) -> Iterator[tuple[str, Sequence[int]]]:
    """Yield seeds that share a profile, some at a time. The profiles take turns."""
    for turn, profile in enumerate(profiles):
        mine = [seed for seed in seeds if seed % len(profiles) == turn]
        for at in range(0, len(mine), PIECE):
            yield profile, mine[at : at + PIECE]


# --- Many runs, in pieces ------------------------------------------------------------------------------


def sources() -> str:
    """Name the sources that are run: results of others do not count."""
    tests = Path(__file__).parent.parent
    places = [Path(next(iter(module_utils.__path__))), tests / "faults", tests / "sandbox"]
    files = sorted(path for place in places for path in place.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]


def kept(log: Path, version: str) -> dict[int, Outcome]:
    """Return the outcomes of earlier pieces of the same sources."""
    if not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    return {line["seed"]: Outcome(**line) for line in lines if line.pop("sources") == version}


def keep(log: Path, version: str, outcomes: Sequence[Outcome]) -> None:
    """Write outcomes down, for a run that is resumed."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a") as file:
        file.writelines(json.dumps({"sources": version, **asdict(outcome)}) + "\n" for outcome in outcomes)


FIGURES = {
    "double orders": DOUBLE,
    "services billed and not reported": UNREPORTED,
    "lost backups": BACKUP,
    "deletions of the last good backup": LAST_GOOD,
    "lost one-time secrets that were received": SECRET,
    "changes that are not in effect and forgotten": FORGOTTEN,
    "tasks over a deadline by more than 5 s": DEADLINE,
}


def figures(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Yield the figures, one line each."""
    kinds = Counter(kind for outcome in outcomes for kind, __ in outcome.problems)
    calls, struck = (sum(getattr(o, name) for o in outcomes) for name in ("calls", "struck"))
    tasks, failed = (sum(getattr(o, name) for o in outcomes) for name in ("tasks", "failed"))
    yield f"{len(outcomes)} runs, {tasks} tasks, {calls} calls, of which {struck} struck by a fault"
    yield f"{tasks - failed} tasks succeeded under faults, {failed} failed and told the truth about it"
    yield from (f"  {kinds[kind]:>6} {name}" for name, kind in FIGURES.items())
    yield from (f"  {kinds[kind]:>6} {kind}" for kind in KINDS if kind not in FIGURES.values())
    stuck = sum(any(kind in (CONVERGENCE, STATE) for kind, __ in o.problems) for o in outcomes)
    yield f"  {100 * (len(outcomes) - stuck) / max(len(outcomes), 1):.2f} % converged on a clean run"
    refused = Counter(text for outcome in outcomes for text in outcome.refused)
    if refused:
        yield f"  {refused.total()} tasks left out, as the platform of their profile does not take them:"
        yield from (f"  {count:>6} {text[:200]}" for text, count in refused.most_common(20))
    yield f"  {max((o.overrun for o in outcomes), default=0):.1f} s is the longest time over a deadline"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds that have no outcome yet, print what is wrong with any, and the figures of all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1, help="the first one")
    parser.add_argument("--profiles", nargs="+", default=["plain"], help="gap profiles")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--log", type=Path, help="where outcomes are kept; a run that is broken off goes on")
    given = parser.parse_args(arguments)
    profiles = given.profiles
    version, begun = f"{sources()} {' '.join(given.profiles)}", time.monotonic()
    wanted = range(given.seed, given.seed + given.runs)
    done = kept(given.log, version) if given.log else {}
    found = {seed: done[seed] for seed in wanted if seed in done}
    left = [seed for seed in wanted if seed not in found]
    with ProcessPoolExecutor(given.workers, initializer=leave_memory_alone) as pool:
        tasks = [pool.submit(run_piece, *piece) for piece in pieces(left, profiles)]
        for piece in as_completed(tasks):
            outcomes = piece.result()
            if given.log:
                keep(given.log, version, outcomes)
            found |= {outcome.seed: outcome for outcome in outcomes}
            print(f"{len(found)} of {given.runs} runs", file=sys.stderr, flush=True)
    bad = [outcome for __, outcome in sorted(found.items()) if outcome.problems]
    for outcome in bad:
        again = f'make test-chaos ARGS="--seed {outcome.seed} --runs 1 --profiles {outcome.profile}"'
        print(f"seed {outcome.seed} (again: {again}):")
        print("\n".join(f"  {kind}: {text}" for kind, text in outcome.problems))
    print(f"sources {version}, seeds {wanted.start} to {wanted.stop - 1}, {time.monotonic() - begun:.0f} s")
    print("\n".join(figures(list(found.values()))))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
