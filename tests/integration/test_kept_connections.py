# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connections outlive the task that made them, not the run; nothing else about a run is different."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.killing import processes_of
from integration.tls import Authority, TlsFront, port_of, running
from integration.warm import COLD

PATIENCE = 300.0
"""Seconds in which a process that is about to end has ended, on a busy machine too."""
FOUR_READS = """
- name: One
  hosted.services.project_info:
- name: Two
  hosted.services.account_info:
- name: Items
  hosted.services.project: {name: games}
  loop: [1, 2]
"""


@pytest.fixture
def ansible(ansible: Ansible) -> Ansible:
    """Started cold: here, the processes of a run are known by their home."""
    ansible.programs = COLD
    return ansible


@pytest.fixture
def front(sandbox: Sandbox, ansible: Ansible, tmp_path: Path) -> Iterator[TlsFront]:
    """A server that speaks TLS and counts its connections, where every task finds it."""
    authority = Authority(tmp_path, "authority")
    front = TlsFront(authority.issue("server"), port_of(sandbox))
    sandbox.api("POST", "/api/projects", {"name": "games"})
    ansible.environment["HOSTED_SERVICES_URL"] = f"https://localhost:{front.port}"
    ansible.environment["HOSTED_SERVICES_CA_PATH"] = str(authority.path)
    with running(front):
        yield front


def wait_for_processes(home: Path, count: int) -> int:
    """Wait until so many processes are of a run; return how many are when patience ends."""
    deadline = time.monotonic() + PATIENCE
    while len(found := [*processes_of(home)]) != count and time.monotonic() < deadline:
        time.sleep(0.1)
    return len(found)


def end(run: subprocess.Popen[str], sent: signal.Signals) -> None:
    """Send a signal until a run has ended: one that meets Ansible in the wrong place is lost."""
    deadline = time.monotonic() + PATIENCE
    while run.poll() is None and time.monotonic() < deadline:
        run.send_signal(sent)
        with suppress(subprocess.TimeoutExpired):
            run.wait(5)


def test_the_tasks_of_a_run_share_a_connection(ansible: Ansible, front: TlsFront) -> None:
    ansible.tasks(FOUR_READS).succeed()
    assert front.connections == 1
    assert wait_for_processes(ansible.folder, 0) == 0


def test_it_can_be_turned_off(ansible: Ansible, front: TlsFront) -> None:
    ansible.tasks(FOUR_READS, keywords="vars: {hosted_keep_connections: false}").succeed()
    assert front.connections == 3, "one a task; the items of a loop share theirs"


@pytest.mark.night
def test_each_item_has_the_environment_that_it_names(ansible: Ansible, front: TlsFront) -> None:
    """The proxy of one item must not be ignored because another item has a connection already.

    No proxy is used for an address that is known to be this machine's; 0.0.0.0 is reached without being one.
    """
    loop = f"""
- name: Both
  hosted.services.account_info:
    base_url: https://0.0.0.0:{front.port}
    validate_certs: false
    retries: 0
  environment: {{https_proxy: "{{{{ item }}}}", no_proxy: other.example}}
  loop: ["", "http://127.0.0.1:9"]
"""
    direct, proxied = ansible.tasks(loop).items("Both")
    assert direct.outcome == "ok"
    assert proxied.outcome == "failed" and "by way of the proxy" in proxied.result["msg"]
    assert front.connections == 1


@pytest.mark.night
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_run_that_is_killed(
    ansible: Ansible, front: TlsFront, sent: signal.Signals
) -> None:
    """A worker may go on to the end of its task, which is Ansible's way; the broker ends after both."""
    play = ansible.folder / "killed.yml"
    tasks = "    - hosted.services.account_info:\n    - ansible.builtin.pause: {seconds: 600}\n"
    play.write_text(f"- hosts: localhost\n  gather_facts: false\n  tasks:\n{tasks}")
    with subprocess.Popen(
        ["ansible-playbook", "-i", str(ansible.inventory), str(play)],
        env=ansible.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if "[ansible.builtin.pause]" in line:
                break
        assert wait_for_processes(ansible.folder, 3) == 3, "the run, its broker and the worker that pauses"
        workers = subprocess.run(["pgrep", "-P", str(run.pid)], check=True, capture_output=True, text=True)
        end(run, sent)
        for worker in map(int, workers.stdout.split()):
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    assert wait_for_processes(ansible.folder, 0) == 0


def test_what_one_item_did_is_not_said_of_the_next(ansible: Ansible, sandbox: Sandbox) -> None:
    """The items of a loop share what speaks to the platform, but not what became of their calls."""
    sandbox.fault("projects.list", "status", status=400, nth=3, count=None)
    loop = "- name: Both\n  hosted.services.project: {name: '{{ item }}'}\n  loop: [one, two]\n"
    first, second = ansible.tasks(loop).items("Both")
    assert first.result["changed"] and first.outcome == "ok"
    assert second.failed and second.result["changed"] is False
