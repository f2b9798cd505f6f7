# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job of AWX in slices: the state of one run and no second order, whoever gets there first.

Each slice is an ansible-playbook of its own, and all of them run in parallel. With a folder of its own it is
like one on another execution node; slices that share ``HOSTED_SERVICES_HOME`` are like those on one node.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run, begin_anew
from integration.awx_slices import end_state, write_slice
from integration.test_budgets import PRICE, WHAT, orders, rate

pytestmark = pytest.mark.night

HOSTS = [f"game-{number}" for number in range(8)]
THERE = HOSTS[::2]
"""The hosts whose services are there already; the others order theirs."""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
ACCOUNT = f"""
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Project
      hosted.services.project: {{name: shop}}
    - name: Key
      hosted.services.ssh_key: {{name: laptop, public_key: {KEY}}}
"""
GAMES = """
- hosts: games
  gather_facts: false
  tasks:
    - name: Order its own
      hosted.services.service:
        name: "{{ inventory_hostname }}"
        project: shop
        product: minecraft
        host: node-paris-1
        dimensions: {cpu_cores: "{{ cores }}", ram_gb: 4, storage_gb: 20}
        state: started
        wait_interval: 0.2
      register: game
    - name: Back up
      hosted.services.backup: {service: "{{ game.service.id }}", name: nightly, wait_interval: 0.2}
"""
ONE_FOR_ALL = f"""
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Order for all
      hosted.services.service: {{name: proxy, {WHAT}}}
"""
Slices = Callable[..., list[Run]]


def fill(sandbox: Sandbox) -> None:
    """Begin anew with an account that has half of the services."""
    begin_anew(sandbox)
    sandbox.seed({"services": [{"name": name, "product": "minecraft", "project": "shop"} for name in THERE]})


@pytest.fixture
def slices(tmp_path: Path, sandbox: Sandbox) -> Slices:
    """Run a play in slices, all in parallel; one slice is a run of all hosts."""
    runs: Counter[int] = Counter()

    def start(count: int, number: int, play: str, home: Path | None, variables: dict[str, Any]) -> Run:
        folder = tmp_path / f"{number}-of-{count}-{runs[count]}"
        folder.mkdir()
        job = Ansible(folder, sandbox)
        values = {host: {"cores": 2 if host in HOSTS[:4] else 3} for host in HOSTS}
        job.inventory = write_slice(folder / "hosts", "games", values, number, count)
        job.environment["HOSTED_SERVICES_HOME"] = str(home or folder / "home")
        return job.playbook(play, variables=variables)

    def run(count: int, play: str, home: Path | None = None, **variables: Any) -> list[Run]:
        runs[count] += 1
        with ThreadPoolExecutor(count) as pool:
            jobs = [
                pool.submit(start, count, number, play, home, variables) for number in range(1, count + 1)
            ]
        return [job.result().succeed() for job in jobs]

    return run


def test_slices_leave_what_one_run_leaves(slices: Slices, sandbox: Sandbox) -> None:
    """Every slice runs the play over localhost; what is unique on the platform is made once all the same."""
    fill(sandbox)
    slices(1, ACCOUNT + GAMES)
    expected = end_state(sandbox)
    assert len(expected["services"]) == len(expected["backups"]) == len(HOSTS)
    assert expected["keys"] == ["laptop"]

    fill(sandbox)
    runs = slices(4, ACCOUNT + GAMES)
    assert end_state(sandbox) == expected
    assert sorted(orders(sandbox)) == [host for host in HOSTS if host not in THERE]
    worked_on = [each.host for run in runs for each in run.outcomes if each.name == "Order its own"]
    assert sorted(worked_on) == HOSTS
    assert not any(run[task].failed for run in runs for task in ("Project", "Key"))

    sandbox.clear_journal()
    slices(4, ACCOUNT + GAMES)
    assert sandbox.writes() == [] and end_state(sandbox) == expected


def test_slices_of_one_node_order_what_belongs_to_the_account_once(
    slices: Slices, sandbox: Sandbox, tmp_path: Path
) -> None:
    runs = slices(4, ONE_FOR_ALL, tmp_path / "shared")
    assert orders(sandbox) == ["proxy"] and rate(sandbox) == PRICE
    assert sorted(run["Order for all"].result["changed"] for run in runs) == [False, False, False, True]
    assert len({run["Order for all"].result["service"]["id"] for run in runs}) == 1
