# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fleets: the role by its molecule scenario, windows whose tasks fail, and runs that are killed.

FLEET_KILLS is after how many of a run's requests it is killed, as `12,20` or as a range `1-40`.
"""

from __future__ import annotations

import json
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PROFILE, Ansible
from integration.killing import kill_play_after, kill_points, kill_run
from integration.warm import COLD

pytestmark = pytest.mark.night

SERVICES: list[dict[str, Any]] = [
    {"name": "db", "product": "postgresql", "project": "shop"},
    {"name": "web", "product": "minecraft", "project": "shop", "environment": {"URL": "${db.URL}"}},
    {"name": "game", "product": "minecraft", "project": "shop"},
    {"name": "idle", "product": "minecraft", "project": "shop", "state": "stopped"},
]
RAN = {"db", "web", "game"}
LATENCY = 0.05
PLAY = "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - "


def task(state: str, **given: Any) -> str:
    """Return a task on the fleet."""
    options = {"name": "window", "project": "shop", "batch_size": 1, "healthy_for": 0, "wait_interval": 0.2}
    return f"hosted.services.fleet: {json.dumps({**options, 'state': state, **given})}\n"


def run(ansible: Ansible, state: str, **given: Any) -> dict[str, Any]:
    """Run a task on the fleet to its end, and return its result."""
    return ansible.tasks(f"- name: Go\n  {task(state, **given)}").succeed()["Go"].result


def signals(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Return the signals that were sent so far, in their order: the service, and the signal."""
    names = {one["id"]: one["name"] for one in sandbox.api("GET", "/api/resources").json()["items"]}
    return [
        (names[line["path"].split("/")[3]], line["body"]["signal"])
        for line in sandbox.journal("resources.power")
        if line["status"]
    ]


def running(sandbox: Sandbox) -> set[str]:
    """Return the names of the services that run."""
    listed = {one["id"]: one["name"] for one in sandbox.api("GET", "/api/resources").json()["items"]}
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={quote(','.join(listed))}").json()
    return {listed[id] for id, one in metrics.items() if one and one["state"] == "running"}


@pytest.mark.parametrize(("state", "sent"), [("stopped", "stop"), ("restarted", "restart")])
def test_a_service_that_somebody_restarts_is_no_stopped_one(
    ansible: Ansible, sandbox: Sandbox, state: str, sent: str
) -> None:
    """It runs again in a moment, so it is stopped or restarted like the others, and started at the end."""
    sandbox.profile(PROFILE, delay="at once")
    sandbox.delays(stop=3, start=0)
    sandbox.seed({"services": [{"name": "web", "product": "minecraft", "project": "shop"}]})
    service = sandbox.api("GET", "/api/resources").json()["items"][0]["id"]
    sandbox.api("POST", f"/api/resources/{service}/power", {"signal": "restart"})
    sandbox.clear_journal()
    done = run(ansible, state)
    assert done["changed"] and signals(sandbox) == [("web", sent)]
    assert running(sandbox) == (set() if state == "stopped" else {"web"})
    run(ansible, "started")
    assert running(sandbox) == {"web"}


@pytest.mark.parametrize("point", [*kill_points("FLEET_KILLS", "16,22,27")])
def test_a_window_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """Stopped in order, and what ran before the first run is brought back; twice where metrics lag."""
    sandbox.seed({"services": SERVICES})
    sandbox.fault("*", "latency", latency=LATENCY, count=None)
    kill_play_after(ansible, sandbox, point, PLAY + task("stopped"))
    sandbox.clear_faults()
    run(ansible, "stopped")
    assert running(sandbox) == set()
    stops = [name for name, signal in signals(sandbox) if signal == "stop"]
    assert set(stops) == RAN and stops.index("web") < stops.index("db")
    sandbox.clear_journal()
    sandbox.fault("*", "latency", latency=LATENCY, count=None)
    kill_play_after(ansible, sandbox, point, PLAY + task("started"))
    sandbox.clear_faults()
    run(ansible, "started")
    assert running(sandbox) == RAN
    starts = [name for name, signal in signals(sandbox) if signal == "start"]
    assert set(starts) == RAN and starts.index("db") < starts.index("web")
    sandbox.clear_journal()
    assert not run(ansible, "started")["changed"] and sandbox.writes() == []


@pytest.mark.parametrize("point", [*kill_points("FLEET_KILLS", "18,26")])
def test_a_restart_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """The next run does only what is left, and the one after it begins anew."""
    sandbox.profile(PROFILE, delay="at once")
    sandbox.seed({"services": SERVICES})
    sandbox.fault("*", "latency", latency=LATENCY, count=None)
    kill_play_after(ansible, sandbox, point, PLAY + task("restarted"))
    sandbox.clear_faults()
    run(ansible, "restarted")
    assert sorted(signals(sandbox)) == sorted((name, "restart") for name in RAN)
    run(ansible, "restarted")
    assert len(signals(sandbox)) == 2 * len(RAN)


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


def test_a_second_window_leaves_the_first_one_alone(ansible: Ansible, sandbox: Sandbox) -> None:
    """Whether it would stop or start: nothing runs before the tasks of the first one are through."""
    sandbox.seed({"services": SERVICES})
    given = window(ansible)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(ansible.playbook, WINDOW, variables=given)
        wait_until_open(ansible)
        sandbox.clear_journal()
        (ansible.folder / "other.yml").write_text("- name: Do other work\n  ansible.builtin.debug: {}\n")
        second = ansible.playbook(
            WINDOW, variables={**given, "fleet_tasks": str(ansible.folder / "other.yml")}
        )
        tasks = [
            ansible.tasks(f"- name: Go\n  {task(state)}") for state in ("stopped", "started", "restarted")
        ]
        untouched, up = sandbox.writes(), running(sandbox)
        (ansible.folder / "go-on").touch()
        first.result().succeed()
    assert untouched == [] and up == set()
    assert not [each for each in second.outcomes if each.name == "Do other work"]
    for refused in (second, *tasks):
        assert refused.rc != 0
        assert "has stopped fleet 'window' and has not started it again" in refused.output
    assert running(sandbox) == RAN
    assert sorted(signals(sandbox)) == sorted((name, "start") for name in RAN)


def test_a_window_goes_on_after_a_kill_in_its_tasks(ansible: Ansible, sandbox: Sandbox) -> None:
    """The run that held it is no more, so the next one runs the tasks again and starts what ran."""
    sandbox.seed({"services": SERVICES})
    path = ansible.folder / "killed.yml"
    path.write_text(WINDOW)
    command = [COLD.playbook, "-i", str(ansible.inventory), str(path), "-e", json.dumps(window(ansible))]
    with subprocess.Popen(
        command, env=ansible.environment, cwd=ansible.folder, stdout=subprocess.DEVNULL
    ) as killed:
        wait_until_open(ansible)
        kill_run(ansible.folder, killed.pid)
    assert running(sandbox) == set()
    (ansible.folder / "go-on").touch()
    ansible.playbook(WINDOW, variables=window(ansible)).succeed()
    assert (ansible.folder / "opened").exists() and running(sandbox) == RAN


def test_a_window_whose_tasks_fail(ansible: Ansible, sandbox: Sandbox) -> None:
    """The services are brought back, and the play fails. Where there are none, nothing is stopped."""
    sandbox.seed({"services": SERVICES})
    (ansible.folder / "tasks.yml").write_text(
        "- name: Upgrade\n  ansible.builtin.fail: {msg: the upgrade failed}\n  when: not ansible_check_mode\n"
    )
    given = {
        "fleet_name": "upgrade",
        "fleet_state": "window",
        "fleet_project": "shop",
        "fleet_tasks": str(ansible.folder / "tasks.yml"),
        "fleet_healthy_for": 0,
    }
    play = "- ansible.builtin.import_playbook: hosted.services.fleet"
    missing = ansible.playbook(play, variables={**given, "fleet_tasks": "nosuch.yml"})
    assert missing.rc != 0 and "nosuch.yml, which is no file. Nothing was stopped" in missing.output
    assert sandbox.writes() == []
    checked = ansible.playbook(play, "--check", variables=given).succeed()
    assert sandbox.writes() == []
    assert checked["hosted.services.fleet : Say what is to be done"].result["msg"] == [
        "batch 1: game",
        "batch 2: web",
        "batch 3: db",
    ]
    failed = ansible.playbook(play, variables=given)
    assert failed.rc != 0 and "the upgrade failed" in failed.output
    assert running(sandbox) == RAN
    assert sorted(signals(sandbox)) == sorted((name, what) for name in RAN for what in ("start", "stop"))


def test_a_switch_given_as_text_is_a_switch(ansible: Ansible, sandbox: Sandbox) -> None:
    """A command line gives text: "false" resumes nothing, and a window starts only what ran."""
    asleep = {"name": "asleep", "product": "minecraft", "project": "shop", "status": "SUSPENDED"}
    sandbox.seed({"services": [*SERVICES, asleep]})
    given = {"fleet_name": "night", "fleet_project": "shop", "fleet_healthy_for": 0}
    texts = ["-e", "fleet_only_what_ran=false", "-e", "fleet_resume=false"]
    started = ansible.playbook(WINDOW, *texts, variables={**given, "fleet_state": "started"}).succeed()
    assert sandbox.journal("resources.resume") == []
    assert signals(sandbox) == [("idle", "start")]
    assert "asleep" in str(started["hosted.services.fleet : Say what is to be done"].result["msg"])
    sandbox.reset()
    sandbox.seed({"services": SERVICES})
    (ansible.folder / "upgrade.yml").write_text("- name: Upgrade\n  ansible.builtin.debug: {}\n")
    held = {**given, "fleet_state": "window", "fleet_tasks": str(ansible.folder / "upgrade.yml")}
    ansible.playbook(WINDOW, *texts, variables=held).succeed()
    assert running(sandbox) == RAN
    assert {name for name, _signal in signals(sandbox)} == RAN
