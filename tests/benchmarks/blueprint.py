# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast blueprints are: the check of a large project, and many orders on a platform that is far away.

The check is compared with the same calls made bare, on as many connections; the orders with the same services
as tasks in a loop. Both run in alternation on accounts that are reset before each run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import requests

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import MAX_PARALLEL
from hosted_sandbox.testing import Sandbox

SERVICES, ORDERS, LATENCY, ROUNDS = 1000, 40, 0.04, 3
MOST_CALLS_BEYOND = 5
GOAL_CHECK, GOAL_ORDERS = 1.3, 5.0
PRODUCT = {"product": "minecraft", "host": "node-paris-1"}
SIZE = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 5}
SEEDED_SIZE = {"cpuCores": 1, "ramGb": 1, "storageGb": 5}
LOOP = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - hosted.services.project: {name: big}
    - hosted.services.service: {name: "{{ item }}", project: big, product: minecraft, host: node-paris-1,
        dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 5}}
      loop: %s
"""
BLUEPRINT_PLAY = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - hosted.services.blueprint: {blueprint: %s}
"""


def described(services: int) -> dict[str, Any]:
    """Return a blueprint of this many services."""
    defaults = {"services": {**PRODUCT, "dimensions": SIZE}}
    return {"project": "big", "defaults": defaults, "services": {f"s{n}": {} for n in range(services)}}


# --- Checking ---------------------------------------------------------------------------------------


def check(sandbox: Sandbox, services: int) -> float:
    """Return how long a check takes that finds nothing to do."""
    # The action sets it for each task.
    os.environ.setdefault("ANSIBLE_HOME", os.path.expanduser("~/.ansible"))
    options = {name: option.get("default") for name, option in argument_spec(BLUEPRINT).items()}
    options |= {"base_url": sandbox.base_url, "token": sandbox.token, "blueprint": described(services)}
    sandbox.clear_journal()
    begun = time.perf_counter()
    result = execute(BLUEPRINT, options, RunContext(check_mode=True))
    took = time.perf_counter() - begun
    calls = len(sandbox.journal())
    if result.get("failed") or result["changed"] or calls > services + MOST_CALLS_BEYOND:
        sys.exit(f"{calls} calls: {result.get('msg') or result['actions'][:3]}")
    return took


def read_bare(sandbox: Sandbox) -> float:
    """Return how long the same calls take without the collection, on as many connections."""
    local = threading.local()

    def read(path: str) -> Any:
        if not hasattr(local, "session"):
            local.session = requests.Session()
            local.session.trust_env = False
            local.session.headers.update(sandbox.headers)
        return local.session.get(sandbox.base_url + path, timeout=60).json()

    begun = time.perf_counter()
    read("/api/projects")
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        items = read("/api/resources")["items"]
        list(pool.map(read, (f"/api/resources/{item['id']}" for item in items)))
    return time.perf_counter() - begun


def measure_check(sandbox: Sandbox, services: int, rounds: int) -> None:
    """Measure the check of a project in which everything is as described."""
    sandbox.reset()
    seeded = {**PRODUCT, "project": "big", "dimensions": SEEDED_SIZE}
    sandbox.seed({"services": [{"name": f"s{n}", **seeded} for n in range(services)]})
    found = [(check(sandbox, services), read_bare(sandbox)) for _round in range(rounds)]
    report(
        f"check of {services} services",
        "the bare calls",
        [(ours, bare, ours / bare) for ours, bare in found],
        f"at most {GOAL_CHECK} x",
        lambda ratio: ratio <= GOAL_CHECK,
    )
    measure_terraform(sandbox, services, rounds)


def measure_terraform(sandbox: Sandbox, services: int, rounds: int) -> None:
    """Measure the check beside a plan of Terraform, or OpenTofu, of as many resources that call nobody."""
    program = shutil.which("terraform") or shutil.which("tofu")
    if program is None:
        print("terraform plan: not compared, neither terraform nor tofu is installed")
        return
    with tempfile.TemporaryDirectory() as folder:
        resources = {f"s{n}": {"input": f"s{n}"} for n in range(services)}
        Path(folder, "main.tf.json").write_text(json.dumps({"resource": {"terraform_data": resources}}))

        def run(*arguments: str) -> float:
            begun = time.perf_counter()
            subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)
            return time.perf_counter() - begun

        run("init")
        run("apply", "-auto-approve")
        found = [(check(sandbox, services), run("plan", "-detailed-exitcode")) for _round in range(rounds)]
    ours, theirs = (statistics.median(each) for each in zip(*found, strict=True))
    print(f"check of {services} services: {ours:.1f} s, {Path(program).name} plan of as many {theirs:.1f} s")


# --- Ordering ---------------------------------------------------------------------------------------


def order(sandbox: Sandbox, folder: Path, play: str, orders: int) -> float:
    """Return how long a play takes that orders services on an empty account, each call with a latency."""
    sandbox.reset()
    sandbox.delays(provision=0, start=0)
    sandbox.fault("*", "latency", latency=LATENCY, count=None)
    path = folder / "play.yml"
    path.write_text(play)
    environment = {
        **os.environ,
        "HOSTED_SERVICES_URL": sandbox.base_url,
        "HOSTED_SERVICES_TOKEN": sandbox.token,
        "HOSTED_SERVICES_HOME": str(folder / "home"),
    }
    begun = time.perf_counter()
    done = subprocess.run(
        ["ansible-playbook", str(path)], env=environment, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begun
    sandbox.clear_faults()
    ordered = len(sandbox.ledger()["orders"])
    if done.returncode or ordered != orders:
        sys.exit(f"{ordered} services were ordered:\n{done.stdout[-2000:]}{done.stderr}")
    return took


def measure_orders(sandbox: Sandbox, orders: int, rounds: int) -> None:
    """Measure the orders of a blueprint, and the same as tasks in a loop."""
    loop = LOOP % json.dumps([f"s{n}" for n in range(orders)])
    blueprint = BLUEPRINT_PLAY % json.dumps(described(orders))
    found = []
    with tempfile.TemporaryDirectory() as place:
        for _round in range(rounds):
            ours = order(sandbox, Path(place), blueprint, orders)
            tasks = order(sandbox, Path(place), loop, orders)
            found.append((ours, tasks, tasks / ours))
    report(
        f"{orders} orders at {LATENCY * 1000:.0f} ms",
        "tasks in a loop",
        found,
        f"at least {GOAL_ORDERS} x faster",
        lambda ratio: ratio >= GOAL_ORDERS,
    )


def report(what: str, other: str, rounds: list[tuple[float, float, float]], goal: str, reached: Any) -> None:
    """Print the medians of the rounds, and whether the goal is reached."""
    ours, theirs, ratio = (statistics.median(each) for each in zip(*rounds, strict=True))
    print(f"{what}: {ours:.1f} s, {other} {theirs:.1f} s, {ratio:.2f} x")
    print(f"  goal: {goal}: {'reached' if reached(ratio) else 'MISSED'}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--services", type=int, default=SERVICES)
    parser.add_argument("--orders", type=int, default=ORDERS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    with Sandbox() as sandbox:
        measure_check(sandbox, chosen.services, chosen.rounds)
        measure_orders(sandbox, chosen.orders, chosen.rounds)


if __name__ == "__main__":
    main()
