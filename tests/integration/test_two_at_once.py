# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two controllers run the same play at the same time: no duplicate that can be avoided, none unreported.

A relay before the sandbox makes them meet: it holds a call back until the other one has come as far.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, Run
from integration.proxy_server import ProxyServer, running

pytestmark = pytest.mark.night

PATIENCE = 600
"""Seconds after which a call goes on although the other one did not come: a test then says so."""
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
PROJECT = "- name: Project\n  hosted.services.project: {name: games}\n"
APP = "- name: App\n  hosted.services.app: {slug: shop, wait_interval: 0.2}\n"
SSH_KEY = f"- name: Key\n  hosted.services.ssh_key: {{name: laptop, public_key: {KEY}}}\n"
ORDER = """
- name: Order
  hosted.services.service:
    name: new
    product: postgresql
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    secrets_dest: secrets.json
    wait_interval: 0.2
"""
Both = Callable[..., list[Run]]


class Relay(ProxyServer):
    """Passes calls on to the sandbox. ``before`` and ``after`` hold what is to happen at calls of a kind."""

    def __init__(self, sandbox: Sandbox) -> None:
        super().__init__(sandbox, refuse=self.hold)
        self.before: dict[str, Callable[[], Any]] = {}
        self.after: dict[str, Callable[[], Any]] = {}

    def hold(self, method: str, path: str, authorization: str, body: str) -> None:
        """Let what is to happen before a call happen; no call is refused."""
        self.before.get(f"{method} {path.partition('?')[0]}", lambda: None)()

    def carried_out(self, method: str, path: str) -> None:
        """Let what is to happen after a call happen."""
        self.after.get(f"{method} {path.partition('?')[0]}", lambda: None)()

    def meet_at(self, call: str) -> None:
        """Hold a call back until both controllers make it."""
        barrier = threading.Barrier(2, timeout=PATIENCE)

        def meet() -> None:
            with suppress(threading.BrokenBarrierError):
                barrier.wait()

        self.before[call] = meet

    def let_one_pass(self, first: str, until: str) -> None:
        """Hold the call ``first`` of one controller back until the other one has made the call ``until``."""
        passed, held = threading.Event(), threading.Lock()

        def hold() -> None:
            if held.acquire(blocking=False):
                passed.wait(PATIENCE)

        self.before[first], self.after[until] = hold, passed.set

    def part(self) -> None:
        """Hold nothing back any more."""
        self.before.clear()
        self.after.clear()


@pytest.fixture
def relay(sandbox: Sandbox) -> Iterator[Relay]:
    with running(Relay(sandbox)) as relay:
        yield relay


@pytest.fixture
def both(tmp_path: Path, sandbox: Sandbox, relay: Relay) -> Both:
    """Run the same tasks from two controllers at once, each with a home of its own."""
    controllers = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        controllers.append(Ansible(folder, sandbox))
        controllers[-1].environment["HOSTED_SERVICES_URL"] = relay.url

    def run(tasks: str, **env: str) -> list[Run]:
        with ThreadPoolExecutor(len(controllers)) as pool:
            return list(pool.map(lambda controller: controller.tasks(tasks, env=env), controllers))

    return run


def said(outcome: Outcome) -> str:
    return "\n".join(outcome.result.get("warnings", []))


@pytest.mark.parametrize(
    ("task", "path"),
    [(PROJECT, "/api/projects"), (APP, "/api/apps"), (SSH_KEY, "/api/users/me/ssh-keys")],
    ids=["project", "app", "ssh_key"],
)
def test_what_is_unique_is_made_once_and_both_succeed(
    task: str, path: str, both: Both, relay: Relay, sandbox: Sandbox
) -> None:
    """The platform refuses the second one; whoever sent it takes what the other made."""
    before = listed(sandbox, path)
    relay.meet_at(f"POST {path}")
    runs = both(task)
    assert [run.rc for run in runs] == [0, 0], runs[0].output + runs[1].output
    assert len(sandbox.journal(f"POST {path}")) == 2, "they did not meet"
    assert listed(sandbox, path) == before + 1
    relay.part()
    assert [run.outcomes[0].result["changed"] for run in both(task)] == [False, False]


def test_two_orders_in_the_same_moment_are_reported(both: Both, relay: Relay, sandbox: Sandbox) -> None:
    """The platform takes both, and nothing can prevent it; the one that comes second says so at once."""
    relay.meet_at("POST /api/order")
    runs = both(ORDER)
    assert [run.rc for run in runs] == [0, 0], runs[0].output + runs[1].output
    ordered = {order["service_id"] for order in sandbox.ledger()["orders"]}
    assert len(ordered) == 2, "they did not meet"
    results = [run["Order"].result for run in runs]
    assert ordered in [{result["service_id"], *result.get("namesakes", [])} for result in results]
    assert any("each is billed" in said(run["Order"]) for run in runs)
    relay.part()
    for run in both(ORDER):
        assert run["Order"].outcome == "failed"
        assert all(id in run["Order"].message for id in ordered)


def test_an_order_that_was_overtaken_is_not_placed(both: Both, relay: Relay, sandbox: Sandbox) -> None:
    """Just before it orders, a task looks once more: what appeared by then is taken."""
    relay.let_one_pass("POST /api/order/quote", until="POST /api/order")
    runs = both(ORDER)
    assert [run.rc for run in runs] == [0, 0], runs[0].output + runs[1].output
    assert len(sandbox.ledger()["orders"]) == 1
    assert any("appeared before it was ordered" in said(run["Order"]) for run in runs)


def test_two_runs_that_share_a_folder_order_once(both: Both, sandbox: Sandbox, tmp_path: Path) -> None:
    """As the slices of a job of AWX on one node do (docs/guides/awx-slices.md)."""
    runs = both(ORDER, HOSTED_SERVICES_HOME=str(tmp_path / "shared"))
    assert sorted(run["Order"].result["changed"] for run in runs) == [False, True]
    assert len(sandbox.ledger()["orders"]) == 1


def listed(sandbox: Sandbox, path: str) -> int:
    """Return how many items a list of the platform has."""
    answer = sandbox.api("GET", path).json()
    return len(answer["items"] if isinstance(answer, dict) else answer)
