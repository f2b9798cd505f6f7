# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task costs, measured against what Ansible itself costs, as ratios within one run.

Every contestant runs the same play of TASKS tasks against the same sandbox, in alternation, ROUNDS times.
The time of a play that skips its one task is taken off, so what is left is the cost of the tasks alone.
That time is taken off two contestants whose ratio is wanted, so it is measured more often than the rest.
"""

from __future__ import annotations

import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hosted_sandbox.testing import Sandbox
from integration.tls import Authority, TlsFront, port_of, running

TASKS = 40
ROUNDS = 5
STARTS = 3
"""How often a round measures what it costs to start."""
MODULE_TASKS = 10
"""The module way is slow enough to be measured on fewer tasks."""

GOAL_RATIO = 1.5
GOAL_STARTUP = 0.12


@dataclass(frozen=True)
class Contestant:
    """A play: a task repeated, and extra variables."""

    name: str
    task: str
    count: int = TASKS
    variables: tuple[str, ...] = ()
    repeats: int = 1
    tls: bool = False

    def play(self) -> str:
        """Return the playbook."""
        head = "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
        return head + f"    - {self.task}\n" * self.count


OWN_CONNECTIONS = ("-e", "hosted_keep_connections=false")
PROJECT = "hosted.services.project: {name: bench}"
SKIPPED = "\n      when: false"
CONTESTANTS = (
    Contestant(
        "a play whose one task is skipped", f"ansible.builtin.debug: {{}}{SKIPPED}", 1, repeats=STARTS
    ),
    Contestant("the same with a task of the collection", f"{PROJECT}{SKIPPED}", 1, repeats=STARTS),
    Contestant("ansible.builtin.debug", "ansible.builtin.debug: {msg: bench}"),
    Contestant("hosted.services.project", PROJECT),
    Contestant("the same, each with its own connection", PROJECT, variables=OWN_CONNECTIONS),
    Contestant("hosted.services.project over TLS", PROJECT, tls=True),
    Contestant("the same over TLS, each its own connection", PROJECT, variables=OWN_CONNECTIONS, tls=True),
    Contestant(
        "hosted.services.project, the module way", PROJECT, MODULE_TASKS, ("-e", "hosted_in_process=false")
    ),
)
EMPTY, LOADED, DEBUG, PROJECT_TASKS, *OTHERS = CONTESTANTS


def main() -> None:
    """Measure and print."""
    with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
        sandbox.api("POST", "/api/projects", {"name": "bench"})
        authority = Authority(Path(folder), "authority")
        front = TlsFront(authority.issue("server"), port_of(sandbox))
        environment = {
            # Whose Python keeps no bytecode compiles the collection in each run; few people's does.
            **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
            "HOSTED_SERVICES_URL": sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": sandbox.token,
            "HOSTED_SERVICES_CA_PATH": str(authority.path),
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        }
        over_tls = {**environment, "HOSTED_SERVICES_URL": f"https://localhost:{front.port}"}
        with running(front):
            seconds = measure(Path(folder), environment, over_tls)
    report({contestant: statistics.median(times) for contestant, times in seconds.items()})


def measure(folder: Path, plain: dict[str, str], over_tls: dict[str, str]) -> dict[Contestant, list[float]]:
    """Run every contestant in alternation and return the seconds that each run took."""

    def timed(path: Path, contestant: Contestant) -> float:
        return run(path, contestant, over_tls if contestant.tls else plain)

    plays = {contestant: folder / f"{number}.yml" for number, contestant in enumerate(CONTESTANTS)}
    for contestant, path in plays.items():
        path.write_text(contestant.play())
        timed(path, contestant)  # once to warm up
    seconds: dict[Contestant, list[float]] = {contestant: [] for contestant in CONTESTANTS}
    for turn in range(ROUNDS):
        print(f"round {turn + 1} of {ROUNDS}", file=sys.stderr)
        for contestant, path in plays.items():
            seconds[contestant] += [timed(path, contestant) for __ in range(contestant.repeats)]
    return seconds


def run(path: Path, contestant: Contestant, environment: dict[str, str]) -> float:
    """Return how long one run of a play takes."""
    command = ["ansible-playbook", str(path), *contestant.variables]
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    took = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return took


def report(median: dict[Contestant, float]) -> None:
    """Print the table."""
    startup = {DEBUG: median[EMPTY], **dict.fromkeys((PROJECT_TASKS, *OTHERS), median[LOADED])}
    each = {
        contestant: (median[contestant] - base) / contestant.count for contestant, base in startup.items()
    }
    print(f"\n{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores,")
    print(f"medians of {ROUNDS} runs in alternation, start-up taken off\n")
    for contestant, cost in each.items():
        ratio = cost / each[DEBUG]
        print(f"  {contestant.name:<44} {cost * 1000:7.1f} ms a task   {ratio:5.2f} x debug")
    added = median[LOADED] - median[EMPTY]
    print(f"\n  start-up {median[EMPTY]:.2f} s; the collection adds {added:.2f} s")
    verdict(f"a task costs at most {GOAL_RATIO} x debug", each[PROJECT_TASKS] / each[DEBUG] <= GOAL_RATIO)
    verdict(f"start-up grows by at most {GOAL_STARTUP} s", added <= GOAL_STARTUP)


def verdict(goal: str, reached: bool) -> None:
    """Print whether a goal was reached. The machine may be busy, so this is not an exit code."""
    print(f"  goal: {goal}: {'reached' if reached else 'MISSED'}")


if __name__ == "__main__":
    main()
