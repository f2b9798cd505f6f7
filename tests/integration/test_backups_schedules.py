# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups` between systemd and cron: one of them runs a plan, and never both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from integration.backup_machine import NIGHTLY, BackupMachine
from sandbox.testing import Sandbox

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


def test_from_systemd_to_cron_and_back(machine: BackupMachine) -> None:
    """A timer is stopped and disabled while its unit is still there; one of somebody else runs on."""
    systemd = Systemd(machine)
    settings: dict[str, Any] = {"backups_activate": True, "backups_booted_by_systemd": str(systemd.state)}
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
