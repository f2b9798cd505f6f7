# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets: windows whose tasks fail, and runs that are killed.

FLEET_KILLS is after how many of a run's requests it is killed, as `12,20` or as a range `1-40`.
"""

from __future__ import annotations

import json
import subprocess
import time
from typing import Any
from urllib.parse import quote

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.killing import kill_points, kill_run, kill_tasks_after
from integration.warm import COLD

pytestmark = pytest.mark.night

SERVICES: list[dict[str, Any]] = [
    {"name": "db", "product": "postgresql", "project": "shop"},
    {"name": "web", "product": "minecraft", "project": "shop", "environment": {"URL": "${db.URL}"}},
    {"name": "game", "product": "minecraft", "project": "shop"},
    {"name": "idle", "product": "minecraft", "project": "shop", "state": "stopped"},
]
RAN = {"db", "web", "game"}


def task(state: str, **given: Any) -> str:
    options = {"name": "window", "project": "shop", "batch_size": 1, "healthy_for": 0, "wait_interval": 0.2}
    return f"- name: Go\n  hosted.services.fleet: {json.dumps({**options, 'state': state, **given})}\n"


def run(ansible: Ansible, state: str, **given: Any) -> dict[str, Any]:
    return ansible.tasks(task(state, **given)).succeed()["Go"].result


def signals(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Return the signals that were sent so far, in their order: the service, and the signal."""
    names = {one["id"]: one["name"] for one in sandbox.api("GET", "/api/resources").json()["items"]}
    return [
        (names[line["path"].split("/")[3]], line["body"]["signal"])
        for line in sandbox.journal("resources.power")
        if line["status"]
    ]


def running(sandbox: Sandbox) -> set[str]:
    listed = {one["id"]: one["name"] for one in sandbox.api("GET", "/api/resources").json()["items"]}
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={quote(','.join(listed))}").json()
    return {listed[id] for id, one in metrics.items() if one and one["state"] == "running"}


@pytest.mark.parametrize("point", [*kill_points("FLEET_KILLS", "16,22,27")])
def test_a_window_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """Stopped in order, and what ran before the first run is brought back; twice where metrics lag."""
    sandbox.seed({"services": SERVICES})
    kill_tasks_after(ansible, sandbox, point, task("stopped"))
    run(ansible, "stopped")
    assert running(sandbox) == set()
    stops = [name for name, signal in signals(sandbox) if signal == "stop"]
    assert set(stops) == RAN and stops.index("web") < stops.index("db")
    kill_tasks_after(ansible, sandbox, point, task("started"))
    run(ansible, "started")
    assert running(sandbox) == RAN
    starts = [name for name, signal in signals(sandbox) if signal == "start"]
    assert set(starts) == RAN and starts.index("db") < starts.index("web")
    sandbox.clear_journal()
    assert not run(ansible, "started")["changed"] and sandbox.writes() == []


def window(ansible: Ansible) -> dict[str, Any]:
    """Return the variables of a window that says when it is open, and stays so until it may go on."""
    opened, go_on = (ansible.folder / name for name in ("opened", "go-on"))
    (ansible.folder / "upgrade.yml").write_text(
        f"- name: Say that the window is open\n  ansible.builtin.copy: {{content: x, dest: '{opened}'}}\n"
        f"- name: Upgrade\n  ansible.builtin.wait_for: {{path: '{go_on}', sleep: 1, timeout: 120}}\n"
    )
    return {
        "fleet_name": "window",
        "fleet_state": "window",
        "fleet_project": "shop",
        "fleet_tasks": str(ansible.folder / "upgrade.yml"),
        "fleet_healthy_for": 0,
    }


def wait_until_open(ansible: Ansible) -> None:
    """Wait until a window is open, and forget that it was."""
    opened, end = ansible.folder / "opened", time.monotonic() + 120
    while not opened.exists():
        assert time.monotonic() < end
        time.sleep(0.1)
    opened.unlink()


WINDOW = "- ansible.builtin.import_playbook: hosted.services.fleet"


def test_a_window_holds_its_fleet_until_it_is_killed(ansible: Ansible, sandbox: Sandbox) -> None:
    """Whatever another run would do meanwhile. The next window runs the tasks again, and starts what ran."""
    sandbox.seed({"services": SERVICES})
    given = window(ansible)
    path = ansible.folder / "killed.yml"
    path.write_text(WINDOW)
    command = [COLD.playbook, "-i", str(ansible.inventory), str(path), "-e", json.dumps(given)]
    with subprocess.Popen(
        command, env=ansible.environment, cwd=ansible.folder, stdout=subprocess.DEVNULL
    ) as killed:
        wait_until_open(ansible)
        sandbox.clear_journal()
        (ansible.folder / "other.yml").write_text("- name: Do other work\n  ansible.builtin.debug: {}\n")
        second = ansible.playbook(
            WINDOW, variables={**given, "fleet_tasks": str(ansible.folder / "other.yml")}
        )
        started = ansible.tasks(task("started"))
        kill_run(ansible.folder, killed.pid)
    assert sandbox.writes() == [] and running(sandbox) == set()
    assert not [each for each in second.outcomes if each.name == "Do other work"]
    for refused in (second, started):
        assert refused.rc != 0
        assert "has stopped fleet 'window' and has not started it again" in refused.output
    (ansible.folder / "go-on").touch()
    ansible.playbook(WINDOW, variables=given).succeed()
    assert (ansible.folder / "opened").exists() and running(sandbox) == RAN


def test_a_window_whose_tasks_fail(ansible: Ansible, sandbox: Sandbox) -> None:
    """The services are brought back, and the play fails. Where there are none, nothing is stopped."""
    sandbox.seed({"services": SERVICES})
    given = window(ansible)
    (ansible.folder / "upgrade.yml").write_text(
        "- name: Upgrade\n  ansible.builtin.fail: {msg: the upgrade failed}\n  when: not ansible_check_mode\n"
    )
    missing = ansible.playbook(WINDOW, variables={**given, "fleet_tasks": "nosuch.yml"})
    assert missing.rc != 0 and "nosuch.yml, which is no file. Nothing was stopped" in missing.output
    assert sandbox.writes() == []
    checked = ansible.playbook(WINDOW, "--check", variables=given).succeed()
    assert sandbox.writes() == []
    assert checked["hosted.services.fleet : Say what is to be done"].result["msg"] == [
        "batch 1: game",
        "batch 2: web",
        "batch 3: db",
    ]
    failed = ansible.playbook(WINDOW, variables=given)
    assert failed.rc != 0 and "the upgrade failed" in failed.output
    assert running(sandbox) == RAN
    assert sorted(signals(sandbox)) == sorted((name, what) for name in RAN for what in ("start", "stop"))
