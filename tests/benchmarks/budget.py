# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much longer a play of 500 tasks takes with the cost callback and a budget.

The same play runs with and without them, in alternation. Every tenth task orders a service on an account that
is reset before each run, and so commits money; the others read one. Each run starts a new process. The ratio
is the median of those of each round, because a machine that does other work as well is not equally fast in
each. Processor time, of ansible-playbook and its workers, depends less on other work.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from hosted_sandbox.testing import Sandbox

TASKS = 500
ROUNDS = 3
ORDER_EVERY = 10
GOAL_RATIO = 1.05
GUARDED = {
    "ANSIBLE_CALLBACKS_ENABLED": "hosted.services.cost",
    "HOSTED_SERVICES_BUDGET": "{account: 100000, run: 100000}",
}
ORDER = """\
    - hosted.services.service:
        name: game-{number}
        product: minecraft
        host: node-paris-1
        preset: preset-small
        secrets_dest: {folder}/secrets-{number}
"""
READ = """\
    - hosted.services.service_info:
        name: game-0
"""


def write_play(folder: Path, tasks: int) -> Path:
    """Write a play with this many tasks."""
    lines = [
        (READ if number % ORDER_EVERY else ORDER).format(number=number, folder=folder)
        for number in range(tasks)
    ]
    path = folder / "play.yml"
    path.write_text("- hosts: localhost\n  gather_facts: false\n  tasks:\n" + "".join(lines))
    return path


def processor_time() -> float:
    """Return the seconds that the processors have worked for programs that this one has started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(play: Path, sandbox: Sandbox, tasks: int, **more: str) -> tuple[float, float]:
    """Run the play on an empty account; return how long it took, and its processor time."""
    sandbox.reset()
    sandbox.delays(provision=0, start=0)
    environment = {
        **os.environ,
        "HOSTED_SERVICES_URL": sandbox.base_url,
        "HOSTED_SERVICES_TOKEN": sandbox.token,
        "HOSTED_SERVICES_HOME": str(play.parent / "home"),
        "ANSIBLE_LOCALHOST_WARNING": "false",
        "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        **more,
    }
    begun, worked = time.perf_counter(), processor_time()
    done = subprocess.run(
        ["ansible-playbook", str(play)], env=environment, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begun, processor_time() - worked
    orders = len(sandbox.ledger()["orders"])
    if done.returncode or orders != -(-tasks // ORDER_EVERY):
        sys.exit(f"{orders} services were ordered:\n{done.stdout[-2000:]}{done.stderr}")
    return took


def report(name: str, rounds: list[tuple[float, float]]) -> float:
    """Print the medians of the rounds, with and without callback and budget; return that of the ratios."""
    guarded, bare = (statistics.median(each) for each in zip(*rounds, strict=True))
    ratio = statistics.median(with_guard / without for with_guard, without in rounds)
    print(f"  {name}: {guarded:.1f} s with callback and budget, {bare:.1f} s without, {ratio:.3f} x")
    return ratio


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    rounds = list[tuple[tuple[float, float], tuple[float, float]]]()
    with tempfile.TemporaryDirectory() as place, Sandbox() as sandbox:
        play = write_play(Path(place), chosen.tasks)
        for turn in range(chosen.rounds):
            print(f"    round {turn + 1} of {chosen.rounds}", file=sys.stderr)
            bare = run(play, sandbox, chosen.tasks)
            rounds.append((run(play, sandbox, chosen.tasks, **GUARDED), bare))
    print(f"{chosen.tasks} tasks, {chosen.rounds} rounds, load {os.getloadavg()[0]:.1f}")
    ratio = report("time", [(guarded[0], bare[0]) for guarded, bare in rounds])
    report("processor time", [(guarded[1], bare[1]) for guarded, bare in rounds])
    print(f"  goal: at most {GOAL_RATIO} x: {'reached' if ratio <= GOAL_RATIO else 'MISSED'}")


if __name__ == "__main__":
    main()
