# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines on which a role for plans is installed, in a folder, and the sandbox behind them."""

from __future__ import annotations

import getpass
import json
import os
import re
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, PLAY_SECONDS, Ansible, Run
from integration.warm import COLD, programs

NIGHTLY: dict[str, Any] = {"name": "nightly", "project": "web", "keep": {"last": 2}, "wait_timeout": 20}
NIGHTS: dict[str, Any] = {"name": "nights", "project": "shop", "awake": [], "wait_timeout": 20}
"""A plan whose services sleep at all times, whatever the clock of this machine says."""
BLUEPRINTS: dict[str, dict[str, Any]] = {
    "games": {"project": "games", "services": {"world": {"product": "minecraft"}}},
    "shop": {"project": "shop", "services": {"db": {"product": "postgresql"}}},
}
INSTALL = """\
- hosts: {hosts}
  gather_facts: false
  roles: [hosted.services.{role}]
"""
MADE = ("bin", "units", "cron", "metrics", "rules")
FOLDERS = {
    "config": "etc",
    "state": "state",
    "bin": "bin",
    "unit": "units",
    "cron": "cron",
    "textfile": "metrics",
    "rules": "rules",
}
"""What the roles call their folders, and where they are on these machines."""
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
OF_ALL = ("plan", "project", "service_id", "currency")
"""Labels that tell no two series of a plan apart."""


class BackupMachine:
    """Folders in the place of /etc, /var/lib and so on, and the command ``hosted-backup``."""

    role = "backups"
    program = "hosted-backup"

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.ansible = Ansible(folder, sandbox)
        for name in MADE:
            (folder / name).mkdir(exist_ok=True)
        self.command = folder / "bin" / self.program
        self.plan: dict[str, Any] = NIGHTLY
        self.zone = "UTC"
        self.warm = True
        """Whether its runs start warm. They must not if a test looks at processes or kills them."""

    def values(self, folder: Path) -> dict[str, Any]:
        """Return the variables that are always given, for a machine that is this folder."""
        given = {
            "base_url": self.sandbox.base_url,
            "token": self.sandbox.token,
            "user": getpass.getuser(),
            **{f"{name}_dir": str(folder / path) for name, path in FOLDERS.items()},
            "scheduler": "systemd",
            "activate": False,
            "ansible_playbook": (programs() if self.warm else COLD).local_playbook,
            "collections_path": COLLECTIONS,
        }
        return {f"{self.role}_{name}": value for name, value in given.items()}

    def install(self, *plans: dict[str, Any], without: str | None = None, **variables: Any) -> Run:
        """Run the role with these plans. One of the variables that are always given can be left out."""
        values = {**self.values(self.folder), f"{self.role}_plans": plans, **variables}
        values.pop(without or "", None)
        play = INSTALL.format(hosts="localhost", role=self.role)
        return self.ansible.playbook(play, variables=values, env={"TZ": self.zone})

    def refusals(self, *cases: Mapping[str, Any]) -> list[str]:
        """Run the role with each of some variables, on a machine of its own; return why it was refused.

        On none of them may anything be written.
        """
        hosts: dict[str, dict[str, Any]] = {}
        for number, case in enumerate(cases):
            folder = self.folder / f"machine{number}"
            for name in MADE:
                (folder / name).mkdir(parents=True)
            python = {"ansible_connection": "local", "ansible_python_interpreter": programs().python}
            hosts[folder.name] = {**python, **self.values(folder), **case}
        inventory = self.folder / "machines.yml"
        inventory.write_text(yaml.safe_dump({"all": {"hosts": hosts}}))
        play = INSTALL.format(hosts="machine*", role=self.role)
        run = self.ansible.playbook(play, "-i", str(inventory))
        # A forecast runs a playbook of its own, on another host.
        failed = [each for each in run.outcomes if each.failed and each.host in hosts]
        assert {each.host for each in failed} == set(hosts), run.output
        assert [path for name in hosts for path in contents(self.folder / name)] == []
        return ["\n".join(each.message for each in failed if each.host == name) for name in hosts]

    def contents(self) -> dict[str, str]:
        return contents(self.folder)

    def report(self, plan: str | None = None) -> dict[str, Any]:
        path = self.folder / "state" / f"{plan or self.plan['name']}.json"
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    def metrics(self, file: str | None = None) -> dict[str, float]:
        """Return the values of a text file, by the names of metrics, and by those and what labels say."""
        path = self.folder / "metrics" / (file or f"{self.program}-{self.plan['name']}.prom")
        found = {}
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                series, _space, value = line.rpartition(" ")
                name, _brace, labels = series.partition("{")
                name = name.removeprefix(self.program.replace("-", "_") + "_")
                said = [text for label, text in LABEL.findall(labels) if label not in OF_ALL]
                found[name] = found[" ".join([name, *(Path(text).stem for text in said)])] = float(value)
        return found

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start the installed command in a process group of its own, with nothing of this environment."""
        return subprocess.Popen(
            [self.command, *arguments],
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8", "TZ": self.zone},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run the installed command; return its exit code and what it printed."""
        process = self.start(*arguments)
        output, _nothing = process.communicate(timeout=PLAY_SECONDS)
        return process.returncode, output

    def good(self, *arguments: str) -> str:
        """Run the command, which has to end well; return what it printed."""
        code, output = self.run(*arguments)
        assert code == 0, output
        return output

    def bad(self, *arguments: str) -> str:
        """Run the command, which has to fail, and not to step aside; return what it printed."""
        code, output = self.run(*arguments)
        assert code not in (0, 75), output
        return output

    def backups(self, service_id: str) -> list[dict[str, Any]]:
        """Return the backups that the platform has of a service, the oldest first."""
        found = self.sandbox.api("GET", f"/api/resources/{service_id}/backups").json()
        return sorted(found, key=lambda backup: str(backup["createdAt"]))

    def delete_backups(self, service_id: str) -> None:
        """Delete all backups of a service, and wait until the list, which may lag, shows none."""
        for backup in self.backups(service_id):
            self.sandbox.api("DELETE", f"/api/resources/{service_id}/backups/{backup['id']}")
        while self.backups(service_id):
            time.sleep(0.1)

    def names(self, service_id: str) -> list[str]:
        """Return their names."""
        return [str(backup["name"]) for backup in self.backups(service_id)]


class DriftMachine(BackupMachine):
    """The same with blueprints and the command ``hosted-drift``."""

    role = "drift_schedule"
    program = "hosted-drift"

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        super().__init__(folder, sandbox)
        self.blueprints = folder / "blue prints"
        self.blueprints.mkdir(exist_ok=True)
        for name, blueprint in BLUEPRINTS.items():
            self.path(name).write_text(yaml.safe_dump(blueprint))
        self.plan = {"name": "all", "blueprints": [str(self.blueprints / "*.yml")]}

    def path(self, name: str) -> Path:
        return self.blueprints / f"{name}.yml"

    def add_service(self) -> None:
        """Order something by hand, which is not in the blueprint."""
        self.sandbox.seed({"services": [{"name": "cache", "product": "valkey", "project": "shop"}]})


class SleepMachine(BackupMachine):
    """The same with the command ``hosted-sleep``."""

    role = "sleep_schedule"
    program = "hosted-sleep"

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        super().__init__(folder, sandbox)
        self.plan = NIGHTS

    def statuses(self) -> dict[str, str]:
        items = self.sandbox.api("GET", "/api/resources").json()["items"]
        return {item["name"]: item["status"] for item in items}


MACHINES = {kind.role: kind for kind in (BackupMachine, DriftMachine, SleepMachine)}
"""The machines by their roles."""


def contents(folder: Path) -> dict[str, str]:
    """Return all files that a role may touch on the machine that is this folder, with what they hold."""
    paths = [path for name in FOLDERS.values() for path in (folder / name).rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


# --- What else runs on a machine ------------------------------------------------------------------------

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
    """A stand-in for systemd that a role starts and stops timers of."""

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


def processes(machine: BackupMachine, *names: str) -> str:
    """Return a folder as /proc is where these processes run."""
    folder = machine.folder / "-".join(["processes", *names])
    for number, name in enumerate(names):
        (folder / str(number)).mkdir(parents=True)
        (folder / str(number) / "comm").write_text(f"{name}\n")
    return str(folder)


def tool(folder: Path, name: str, text: str) -> str:
    """Put a program in front of those of the machine, and return the search path with it."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o700)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
