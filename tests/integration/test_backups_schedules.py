# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups` between systemd and cron: one of them runs a plan, and never both."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTLY, BackupMachine

pytestmark = pytest.mark.night

SYSTEMCTL = """\
#!/bin/sh
# Notes what it is asked, and whether each unit is active, enabled, and on disk at that moment.
state={state}
unit=$2
there=gone; [ -e {units}/"$unit" ] && there=there
case $1 in
    start | stop | enable | disable) echo "$1 $unit $there" >>{log} ;;
    daemon-reload) echo "$1" >>{log} ;;
esac
case $1 in
    start) touch "$state/$unit.active" ;;
    stop) rm -f "$state/$unit.active" ;;
    enable) touch "$state/$unit.enabled" ;;
    disable) rm -f "$state/$unit.enabled" ;;
    is-enabled) [ -e "$state/$unit.enabled" ] && echo enabled && exit 0; echo disabled; exit 1 ;;
    show)
        active=inactive; [ -e "$state/$unit.active" ] && active=active
        printf 'Id=%s\\nLoadState=loaded\\nActiveState=%s\\nUnitFileState=disabled\\n' "$unit" "$active"
        ;;
esac
"""


class Systemd:
    """A stand-in for systemd that the role starts and stops timers of."""

    def __init__(self, machine: BackupMachine) -> None:
        tools, self.state = machine.folder / "tools", machine.folder / "systemd"
        self.log = machine.folder / "systemctl.log"
        tools.mkdir()
        self.state.mkdir()
        program = tools / "systemctl"
        units = machine.folder / "units"
        program.write_text(SYSTEMCTL.format(state=self.state, units=units, log=self.log))
        program.chmod(0o700)
        machine.ansible.environment["PATH"] = f"{tools}{os.pathsep}{machine.ansible.environment['PATH']}"

    def asked(self) -> list[str]:
        """Return what was asked since the last time."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.write_text("")
        return lines

    def units(self) -> list[str]:
        """Return what is active or enabled."""
        return sorted(path.name for path in self.state.iterdir())


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    """A machine on which nothing is installed yet."""
    return BackupMachine(tmp_path, sandbox)


def processes(machine: BackupMachine, *names: str) -> Path:
    """Return a folder as /proc is where these processes run."""
    folder = machine.folder / "-".join(["processes", *names])
    for number, name in enumerate(names):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "comm").write_text(f"{name}\n")
    return folder


def test_entries_that_no_daemon_reads_are_an_error(machine: BackupMachine) -> None:
    """Unless the machine is one that is not at work yet."""
    play = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: hosted.services.scheduled_plans, tasks_from: check_cron}
      vars:
        scheduled_plans_of: backups
        scheduled_plans_never: no backup would ever be made
        backups_processes: "{{ item.seen }}"
        backups_activate: "{{ item.activate | bool }}"
      loop: "{{ cases }}"
"""
    nobody, somebody = str(processes(machine, "sh", "cronut")), str(processes(machine, "sh", "crond"))
    fine = [{"seen": somebody, "activate": True}, {"seen": nobody, "activate": False}]
    run = machine.ansible.playbook(play, variables={"cases": fine}).succeed()
    assert run.stdout.count("No cron daemon runs on this machine") == 1
    for seen in (nobody, str(machine.folder / "none")):
        run = machine.ansible.playbook(play, variables={"cases": [{"seen": seen, "activate": True}]})
        assert run.rc != 0 and "no backup would ever be made" in run.stdout


def tool(folder: Path, name: str, text: str) -> str:
    """Put a program in front of those of the machine, and return the search path with it."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o700)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_programs_that_a_run_needs_are_looked_for(machine: BackupMachine) -> None:
    """With the options that it uses: others of that name may lack them."""
    play = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: hosted.services.scheduled_plans, tasks_from: check_programs}
      vars: {scheduled_plans_of: backups, backups_activate: "{{ at_work | bool }}"}
"""
    machine.ansible.playbook(play, variables={"at_work": True}).succeed()
    machine.ansible.environment["PATH"] = tool(machine.folder / "tools", "flock", "exit 1")
    machine.ansible.playbook(play, variables={"at_work": False}).succeed()
    run = machine.ansible.playbook(play, variables={"at_work": True})
    assert run.rc != 0 and "flock of util-linux and timeout of coreutils" in run.stdout


@pytest.mark.parametrize("code", [1, 71, 127])
def test_a_lock_that_cannot_be_taken_is_a_failure(
    machine: BackupMachine, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no other run, which alone lets this one step aside in silence."""
    machine.install(NIGHTLY).succeed()
    machine.sandbox.clear_journal()
    monkeypatch.setenv("PATH", tool(machine.folder / "tools", "flock", f"exit {code}"))
    ended, output = machine.run("run", "nightly", "--quiet")
    assert ended == 1 and f"cannot be locked (flock ended with exit code {code})" in output
    assert machine.sandbox.journal() == []
    monkeypatch.setenv("PATH", tool(machine.folder / "tools", "flock", "exit 75"))
    assert machine.run("run", "nightly", "--quiet") == (75, "")


def test_hooks_are_told_by_number(machine: BackupMachine) -> None:
    """What they say is in no line of a run, also when they fail; all of them are run."""
    play = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: hosted.services.backups, tasks_from: hooks}
      vars: {backups_hooks: on_failure, backups_hooks_told: {BACKUP_ERROR: "all of it"}}
"""
    log = machine.folder / "log"
    hooks = [
        f"echo $BACKUP_PLAN: $BACKUP_ERROR >>{log} # CANARY",
        "sh -c 'exit 3' CANARY",
        f"echo last >>{log}",
    ]
    plan = {**NIGHTLY, "on_failure": hooks}
    run = machine.ansible.playbook(play, "-vv", variables={"backups_plan": plan})
    assert run.rc != 0 and "hook 2 of on_failure ended with exit code 3" in run.stdout
    assert "CANARY" not in run.stdout
    assert log.read_text() == "nightly: all of it\nlast\n"
    fine = machine.ansible.playbook(play, variables={"backups_plan": NIGHTLY})
    assert fine.rc == 0, fine.stdout


def test_from_systemd_to_cron_and_back(machine: BackupMachine) -> None:
    """A timer is stopped and disabled while its unit is still there; one of somebody else runs on."""
    systemd = Systemd(machine)
    settings: dict[str, Any] = {"backups_activate": True, "backups_booted_by_systemd": str(systemd.state)}
    settings["backups_processes"] = str(processes(machine, "cron"))
    timer, foreign = "hosted-backup-nightly.timer", "hosted-backup-mine.timer"
    running = [f"{timer}.active", f"{timer}.enabled"]
    (machine.folder / "units" / foreign).write_text("[Timer]\n")
    (systemd.state / f"{foreign}.active").touch()
    machine.install(NIGHTLY, backups_scheduler="systemd", **settings).succeed()
    assert systemd.units() == [f"{foreign}.active", *running]
    systemd.asked()

    machine.install(NIGHTLY, backups_scheduler="cron", **settings).succeed()
    assert systemd.units() == [f"{foreign}.active"]
    assert sorted(systemd.asked()) == ["daemon-reload", f"disable {timer} there", f"stop {timer} there"]
    assert [path.name for path in (machine.folder / "units").iterdir()] == [foreign]
    assert [path.name for path in (machine.folder / "cron").iterdir()] == ["hosted-backup-nightly"]
    again = machine.install(NIGHTLY, backups_scheduler="cron", **settings).succeed()
    assert "changed=0 " in again.stdout

    machine.install(NIGHTLY, backups_scheduler="systemd", **settings).succeed()
    assert systemd.units() == [f"{foreign}.active", *running]
    assert list((machine.folder / "cron").iterdir()) == []

    machine.install(backups_state="absent", backups_scheduler="cron", **settings).succeed()
    assert systemd.units() == [f"{foreign}.active"]
    assert [path.name for path in (machine.folder / "units").iterdir()] == [foreign]


ZONES = ("America/New_York", "UTC", "Asia/Kolkata", "Europe/Paris", "Europe/Helsinki", "Africa/Cairo")
CHANGES = ("2026-03-08", "2026-03-29", "2026-04-24", "2026-10-25", "2026-10-30", "2026-11-01")
"""The days on which some of these put their clocks forward or back."""


def next_run(calendar: str, zone: str, after: str) -> str:
    """Return when systemd runs next what has this calendar, in the time of the zone."""
    done = subprocess.run(
        ["systemd-analyze", "calendar", f"--base-time={after}", calendar],
        env={"PATH": os.environ["PATH"], "TZ": zone, "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"Next elapse: \S+ (\S+ \S+)", done.stdout)
    assert found is not None, done.stdout
    return found[1]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="not installed: systemd-analyze")
def test_a_night_in_which_clocks_are_changed_has_its_run(machine: BackupMachine) -> None:
    """Systemd runs nothing at a time that a day does not have; so the usual one is one that every day has."""
    early = {**NIGHTLY, "name": "early", "at": "02:30"}
    run = machine.install(NIGHTLY, early).succeed()
    text = (machine.folder / "units" / "hosted-backup-nightly.timer").read_text()
    (calendar,) = re.findall(r"^OnCalendar=(.*)$", text, re.MULTILINE)
    assert next_run("*-*-* 02:30:00", "America/New_York", "2026-03-07 12:00") == "2026-03-09 02:30:00"
    for zone in ZONES:
        for day in CHANGES:
            before = datetime.fromisoformat(day) - timedelta(hours=12)
            assert next_run(calendar, zone, f"{before}") == f"{day} 04:00:00", zone
    assert "plan early runs at 02:30" in run.stdout and "plan nightly runs" not in run.stdout
