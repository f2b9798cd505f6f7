# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What large accounts cost, measured against the least that the same work can cost, in alternation.

The inventory is compared with a plugin that makes the same calls bare and knows the hosts beforehand; loops
and many hosts with ``ansible.builtin.debug``; backups of many services with the calls they need, divided by
how many are under way at once, times the latency.

Other work on the machine stretches what is spent in computing more than what is spent in waiting, so the
processor's time is measured as well. Memory is that of the largest process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import (
    MAX_PARALLEL,
    MOST_PARALLEL,
)
from benchmarks.cost import Cost, measure, median

HERE = Path(__file__).resolve().parent
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PROJECTS = 200
SIZES = [int(size) for size in os.environ.get("SIZES", "1000 10000").split()]
LATENCIES = (0.0, 0.04)
MANY = 500
PARTS = os.environ.get("PARTS", "inventory tasks backups").split()
NEEDED = 4
"""The calls of one backup: the service, for what it offers; the list before and after; the backup itself."""
GOAL = 1.3
GOAL_REMEMBERED = 1.1
DAY = 86400


@contextmanager
def stub(services: int, latency: float) -> Iterator[str]:
    """Serve an account of that many services and yield its URL."""
    command = [sys.executable, str(HERE / "stub.py"), str(services), str(PROJECTS), str(latency)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


class Bench:
    """Runs commands of Ansible in a folder against a stub."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "HOSTED_SERVICES_URL": url,
            "HOSTED_SERVICES_TOKEN": "bench",
            "HOSTED_SERVICES_HOME": str(folder / "home"),
            "ANSIBLE_INVENTORY_PLUGINS": str(HERE / "inventory_plugins"),
            "ANSIBLE_INVENTORY_ENABLED": "hosted.services.inventory,floor",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
            "ANSIBLE_DISPLAY_OK_HOSTS": "false",
            "ANSIBLE_STDOUT_CALLBACK": "minimal",
        }

    def run(self, *command: str) -> tuple[Cost, str]:
        """Return what a command took, and what it printed."""
        return measure(command, self.environment, self.folder)

    def listed(self, inventory: str) -> dict[str, Any]:
        """Return an inventory, without the objects that mark strings as no templates."""
        text = self.run("ansible-inventory", "-i", inventory, "--list")[1]
        found: dict[str, Any] = json.loads(text, object_hook=lambda each: each.get("__ansible_unsafe", each))
        return found

    def compare(self, contestants: Mapping[str, list[str]]) -> dict[str, Cost]:
        """Run the commands in alternation and return the medians."""
        taken: dict[str, list[Cost]] = {name: [] for name in contestants}
        for __ in range(ROUNDS):
            for name, command in contestants.items():
                taken[name].append(self.run(*command)[0])
        return {name: median(costs) for name, costs in taken.items()}

    def play(self, name: str, hosts: str, task: str, keywords: str = "") -> str:
        """Write a playbook of one task and return its name."""
        (self.folder / name).write_text(
            f"- hosts: {hosts}\n  gather_facts: false\n  tasks:\n    - {task}\n{keywords}"
        )
        return name


# --- The inventory ----------------------------------------------------------------------------------


def inventory(services: int, latency: float, connect_with: str) -> None:
    """Compare the inventory plugin with the floor."""
    with stub(services, latency) as url, tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), url)
        ours, floor = "account.hosted.yml", "account.floor.json"
        (bench.folder / ours).write_text(f"plugin: hosted.services.inventory\nconnect_with: {connect_with}\n")
        listed = bench.listed(ours)
        assert len(listed["_meta"]["hostvars"]) == services
        told = known(url, listed, services, connect_with)
        # Of both numbers the floor has the better one.
        told["at_once"] = MOST_PARALLEL if latency else MAX_PARALLEL
        (bench.folder / floor).write_text(json.dumps(told))
        if services == SIZES[0]:
            assert bench.listed(floor) == listed
        ask = ["--host", "service-0"]
        found = bench.compare(
            {
                "ours": ["ansible-inventory", "-i", ours, *ask],
                "floor": ["ansible-inventory", "-i", floor, *ask],
            }
        )
    line = f"inventory, {services:>6} services, {latency * 1000:.0f} ms, connect_with {connect_with}"
    show(line, found["ours"], found["floor"], GOAL)


def remembered(services: int, latency: float) -> None:
    """Compare an inventory whose SFTP access is remembered with one that has none."""
    with stub(services, latency) as url, tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), url)
        ours, without = "remembered.hosted.yml", "without.hosted.yml"
        for name, option in ((ours, f"sftp_max_age: {DAY}"), (without, "connect_with: none")):
            (bench.folder / name).write_text(f"plugin: hosted.services.inventory\n{option}\n")
        bench.run("ansible-inventory", "-i", ours, "--list")
        ask = ["--host", "service-0"]
        found = bench.compare({name: ["ansible-inventory", "-i", name, *ask] for name in (ours, without)})
    line = f"inventory, {services:>6} services, {latency * 1000:.0f} ms, SFTP remembered, and none"
    show(line, found[ours], found[without], GOAL_REMEMBERED)


def known(url: str, listed: dict[str, Any], services: int, connect_with: str) -> dict[str, Any]:
    """Return what the floor is told: the calls that the plugin makes, and what it makes of them."""
    meta = listed["_meta"]["hostvars"]
    groups = {name: group.get("hosts", []) for name, group in listed.items() if name not in ("all", "_meta")}
    member: dict[str, list[str]] = {host: [] for host in meta}
    for name, hosts in groups.items():
        for host in hosts:
            member[host].append(name)
    calls = [
        ["/api/projects"],
        [f"/api/projects/prj_{number}" for number in range(PROJECTS)],
        ["/api/resources"],
    ]
    if connect_with == "sftp":
        calls.append([f"/api/resources/srv_{number:06}/sftp" for number in range(services)])
    hosts_known = {host: (variables, member[host]) for host, variables in meta.items()}
    return {"url": url, "calls": calls, "groups": list(groups), "hosts": hosts_known}


# --- Tasks ------------------------------------------------------------------------------------------


def loops() -> None:
    """Compare a loop of many items, and a play over many hosts, with ``debug``."""
    with stub(MANY, 0) as url, tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), url)
        (bench.folder / "account.hosted.yml").write_text(
            "plugin: hosted.services.inventory\nconnect_with: none\n"
        )
        items = f'      loop: "{{{{ range({MANY}) | list }}}}"\n'
        account = ["-i", "account.hosted.yml", "--forks", "20"]
        task = "hosted.services.project: {name: project-0}"
        found = bench.compare(
            {
                "loop": ["ansible-playbook", bench.play("loop.yml", "localhost", task, items)],
                "debug loop": [
                    "ansible-playbook",
                    bench.play("debug-loop.yml", "localhost", "ansible.builtin.debug: {msg: x}", items),
                ],
                "hosts": ["ansible-playbook", *account, bench.play("hosts.yml", "family_*", task)],
                "debug hosts": [
                    "ansible-playbook",
                    *account,
                    bench.play("debug-hosts.yml", "family_*", "ansible.builtin.debug: {msg: x}"),
                ],
            }
        )
    show(f"a loop of {MANY} items, against debug", found["loop"], found["debug loop"])
    show(f"{MANY} hosts, 20 forks, against debug", found["hosts"], found["debug hosts"])


def backups() -> None:
    """Back up many services in one task, against the time that its calls need at the least."""
    latency = LATENCIES[-1]
    with stub(MANY, latency) as url, tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), url)
        ids = ", ".join(f"srv_{number:06}" for number in range(MANY))
        every = (
            f"hosted.services.backup: {{services: [{ids}], name: \"{{{{ lookup('pipe', 'date +%s%N') }}}}\"}}"
        )
        play = bench.play("backup.yml", "localhost", every)
        skipped = bench.play("skipped.yml", "localhost", every, "      when: false\n")
        found = bench.compare({"ours": ["ansible-playbook", play], "start-up": ["ansible-playbook", skipped]})
        calls = requests.get(f"{url}/calls", timeout=10).json() / ROUNDS / MANY
    what = f"{MANY} backups in one task, {calls:.1f} calls each, {latency * 1000:.0f} ms, no start-up"
    show(what, found["ours"] - found["start-up"], Cost(MANY * NEEDED / MAX_PARALLEL * latency, 0, 0), GOAL)


def show(what: str, ours: Cost, other: Cost, goal: float = 0) -> None:
    """Print a line of the table. The machine may be busy, so that a goal that is missed is no exit code."""
    line = f"  {what:<58} {ours.seconds:6.2f} s, {ours.seconds / other.seconds:4.2f} x {other.seconds:5.2f} s"
    line += f"   processor {ours.processor:5.2f} s"
    if other.processor:
        line += f", {ours.processor / other.processor:4.2f} x {other.processor:5.2f} s"
    line += f"   {ours.memory:3.0f} MB" + (f", {other.memory:3.0f} MB" if other.memory else "")
    if goal:
        line += f"   {'reached' if ours.seconds <= goal * other.seconds else 'MISSED'}"
    print(line, flush=True)


def main() -> None:
    """Measure and print."""
    print(f"medians of {ROUNDS} runs in alternation, start-up included, {os.cpu_count()} cores;")
    print(f"the goal of the inventory and of backups is {GOAL} x what they are compared with\n")
    if "backups" in PARTS:
        backups()
    if "tasks" in PARTS:
        loops()
    if "inventory" in PARTS:  # at the end, and the largest last: a peak of memory is passed on to what starts
        for services in sorted(SIZES):
            for latency in LATENCIES:
                for connect_with in ("none", "sftp"):
                    inventory(services, latency, connect_with)
                remembered(services, latency)


if __name__ == "__main__":
    main()
