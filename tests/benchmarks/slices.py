# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play over many services in slices, as AWX distributes them over nodes, against one run of all.

``python slices.py ENVIRONMENT``: a virtual environment with ansible-runner, which `make bench-slices` makes.
Each slice is a job of ansible-runner with an inventory and a folder of its own. In alternation, all slices
run in parallel and share the cores of this machine, or one after the other, which gives each the whole
machine, as nodes of their own do. All have to leave the same account, and to order nothing twice.

Every ninth service is still to be ordered; the inventory knows the ids of the others. At the end, slices that
share one folder order under a budget that is too small for all.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from benchmarks.cost import Cost, measure, median
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from integration.awx_slices import Variables, end_state, write_slice

SERVICES, SLICES, ROUNDS, FORKS, LATENCY = 500, 4, 2, 20, 0.04
ORDER_EVERY = 9
PRICE = 10.74
"""What one of these services costs a month."""
ORDER = """\
- hosts: games
  gather_facts: false
  tasks:
    - hosted.services.service:
        name: "{{ inventory_hostname }}"
        project: shop
        product: minecraft
        host: node-paris-1
        dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
      when: hosted_service_id is not defined
      register: ordered
"""
PLAY = f"""\
{ORDER}
    - hosted.services.backup:
        service: "{{{{ hosted_service_id | default(ordered.service.id) }}}}"
        name: nightly
"""
BUDGETED = f"{ORDER}      ignore_errors: true\n"


class Bench:
    """Runs jobs of ansible-runner against a sandbox that answers late."""

    def __init__(self, environment: Path, folder: Path, sandbox: Sandbox, services: int) -> None:
        self.binaries, self.folder, self.sandbox = environment / "bin", folder, sandbox
        self.hosts = [f"game-{number:05}" for number in range(services)]
        self.missing = self.hosts[::ORDER_EVERY]
        self.jobs = 0

    def begin_anew(self) -> Variables:
        """Reset the account; return the hosts with what an inventory knows of them."""
        there = [host for host in self.hosts if host not in self.missing]
        services = [{"name": host, "product": "minecraft", "project": "shop"} for host in there]
        seed = {"balance_cents": 1_000_000_000, "services": services}
        ids = self.sandbox.reset(delays=NO_DELAYS, seed=seed)["services"]
        return {host: {"hosted_service_id": ids[host]} if host in ids else {} for host in self.hosts}

    @contextmanager
    def far_away(self) -> Iterator[None]:
        """Let the sandbox answer late, as long as jobs run."""
        self.sandbox.fault("*", "latency", latency=LATENCY, count=None)
        try:
            yield
        finally:
            self.sandbox.clear_faults()

    def job(self, play: str, hosts: Variables, number: int = 1, count: int = 1, **variables: str) -> Cost:
        """Run one slice of a job, or all of it; return what it took."""
        self.jobs += 1
        place = self.folder / f"job-{self.jobs}-{number}-of-{count}"
        for name in ("project", "inventory", "env"):
            (place / name).mkdir(parents=True)
        (place / "project" / "site.yml").write_text(play)
        write_slice(place / "inventory" / "hosts", "games", hosts, number, count)
        settings = {
            "ANSIBLE_HOME": str(place / "home"),
            "ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"],
            "HOSTED_SERVICES_URL": self.sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": self.sandbox.token,
            **variables,
        }
        (place / "env" / "envvars").write_text(yaml.safe_dump(settings))
        command = [str(self.binaries / "ansible-runner"), "run", str(place), "-p", "site.yml", "-q"]
        own = {"PATH": f"{self.binaries}:{os.environ['PATH']}", "PYTHONPATH": ""}
        return measure([*command, "--forks", str(FORKS)], {**os.environ, **own})[0]

    def whole(self) -> list[Cost]:
        """Run the play over all hosts."""
        hosts = self.begin_anew()
        with self.far_away():
            return told([self.job(PLAY, hosts)])

    def sliced(self, count: int, at_once: int) -> list[Cost]:
        """Run the play in slices, so many at the same time; return what each took."""
        hosts = self.begin_anew()
        with self.far_away(), ThreadPoolExecutor(at_once) as pool:
            jobs = [pool.submit(self.job, PLAY, hosts, number, count) for number in range(1, count + 1)]
            return told([job.result() for job in jobs])

    def check(self) -> dict[str, list[str]]:
        """Return the state of the account; end if anything was ordered twice, or not at all."""
        names = sorted(order["name"] for order in self.sandbox.ledger()["orders"])
        state = end_state(self.sandbox)
        if names != self.missing or not len(state["services"]) == len(state["backups"]) == len(self.hosts):
            sys.exit(
                f"{len(names)} orders, {len(state['services'])} services, {len(state['backups'])} backups"
            )
        return state

    def budget(self, count: int) -> str:
        """Order under a budget for half of the orders, in slices with one folder; tell what came of it."""
        hosts, running = self.begin_anew(), len(self.hosts) - len(self.missing)
        fits = len(self.missing) // 2
        limit = {
            "HOSTED_SERVICES_BUDGET": f"{PRICE * (running + fits) + 1:.2f}",
            "HOSTED_SERVICES_HOME": str(self.folder / "shared"),
        }
        numbers = range(1, count + 1)
        with self.far_away(), ThreadPoolExecutor(count) as pool:
            jobs = [pool.submit(self.job, BUDGETED, hosts, number, count, **limit) for number in numbers]
            took = max(job.result().seconds for job in jobs)
        orders = [order["name"] for order in self.sandbox.ledger()["orders"]]
        shares = [len(set(orders) & set(sorted(self.hosts)[number - 1 :: count])) for number in numbers]
        if not len(orders) == len(set(orders)) == fits:
            sys.exit(f"{len(orders)} services were ordered, and the budget was for {fits}")
        return f"{fits} of {len(self.missing)} orders fit, by slice {shares}, {took:.1f} s"


def told(costs: list[Cost]) -> list[Cost]:
    """Say what jobs took as soon as it is known: the whole takes long."""
    seconds = " ".join(f"{cost.seconds:.1f}" for cost in costs)
    print(f"  {seconds} s, processor {sum(cost.processor for cost in costs):.1f} s", file=sys.stderr)
    return costs


def report(name: str, rounds: Sequence[Sequence[Cost]], whole: Cost) -> None:
    """Print medians of what the fastest and the slowest slice took, and of the processor time of all."""
    slowest = statistics.median(max(cost.seconds for cost in costs) for costs in rounds)
    fastest = statistics.median(min(cost.seconds for cost in costs) for costs in rounds)
    processor = statistics.median(sum(cost.processor for cost in costs) for costs in rounds)
    line = f"  {name:<44} {fastest:6.1f} to {slowest:5.1f} s, {slowest / whole.seconds:4.2f} x the whole"
    print(f"{line}   processor, all: {processor:5.1f} s", flush=True)


def arguments() -> Any:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("environment", type=Path)
    parser.add_argument("--services", type=int, default=SERVICES)
    parser.add_argument("--slices", type=int, default=SLICES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser.parse_args()


def main() -> None:
    """Measure and print."""
    given = arguments()
    whole, parallel, alone = list[Cost](), list[list[Cost]](), list[list[Cost]]()
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        bench = Bench(given.environment.absolute(), Path(folder), sandbox, given.services)
        for turn in range(given.rounds):
            print(f"round {turn + 1} of {given.rounds}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
            whole += bench.whole()
            expected = bench.check()
            for costs, at_once in ((parallel, given.slices), (alone, 1)):
                costs.append(bench.sliced(given.slices, at_once))
                if bench.check() != expected:
                    sys.exit("the slices left another account than the run of all")
        spent = bench.budget(given.slices)
    every = median(whole)
    print(f"{given.services} services, {LATENCY * 1000:.0f} ms, {FORKS} forks, {os.cpu_count()} cores,")
    print(f"{given.rounds} rounds in alternation; no order twice, and the same account after all of them\n")
    print(f"  {'one run of all':<44} {every.seconds:15.1f} s   processor: {every.processor:5.1f} s")
    report(f"each of {given.slices} slices, in parallel on this machine", parallel, every)
    report(f"each of {given.slices} slices, alone on the machine", alone, every)
    print(f"  one budget, {given.slices} slices that share a folder: {spent}")


if __name__ == "__main__":
    main()
