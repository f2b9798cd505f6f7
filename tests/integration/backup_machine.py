# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `backups` is installed, in a folder, and the sandbox that it backs up."""

from __future__ import annotations

import getpass
import json
import os
import stat
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, PLAY_SECONDS, Ansible, Run, read_outcome
from integration.warm import COLD, programs

NIGHTLY: dict[str, Any] = {"name": "nightly", "project": "web", "keep": {"last": 2}, "wait_timeout": 20}
INSTALL = """\
- hosts: localhost
  gather_facts: false
  roles: [hosted.services.backups]
"""


MADE = ("bin", "units", "cron", "metrics", "rules")


@dataclass(frozen=True)
class Installed:
    """What the role left on a machine that was new: folders, files with their modes, and how the run went."""

    folders: dict[str, int]
    files: dict[str, tuple[int, str]]
    stdout: str
    outcomes: list[str]

    @classmethod
    def on(cls, machine: BackupMachine, run: Run) -> Installed:
        """Read it."""
        names = {path: str(path.relative_to(machine.folder)) for path in machine.paths()}
        return cls(
            {name: stat.S_IMODE(path.stat().st_mode) for path, name in names.items() if path.is_dir()},
            {
                name: (stat.S_IMODE(path.stat().st_mode), machine.anywhere(path.read_text()))
                for path, name in names.items()
                if path.is_file()
            },
            machine.anywhere(run.stdout),
            [machine.anywhere(json.dumps(vars(outcome))) for outcome in run.outcomes],
        )

    def copy_to(self, machine: BackupMachine) -> Run:
        """Leave the same on another machine, with that one's folder in all places; return the run."""
        for name, mode in self.folders.items():
            (machine.folder / name).mkdir(exist_ok=True)
            (machine.folder / name).chmod(mode)
        for name, (mode, text) in self.files.items():
            (machine.folder / name).write_text(machine.here(text))
            (machine.folder / name).chmod(mode)
        outcomes = [read_outcome(machine.here(line)) for line in self.outcomes]
        return Run(0, machine.here(self.stdout), "", outcomes)


# The role takes seconds, and most tests install the same plan on a machine of their own. So what it leaves on
# a new machine is copied to the next new machine with the same variables. Any other installation runs it.
INSTALLED: dict[str, Installed] = {}


class BackupMachine:
    """Folders in the place of /etc, /var/lib and so on."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.ansible = Ansible(folder, sandbox)
        for name in MADE:
            (folder / name).mkdir()
        self.command = folder / "bin" / "hosted-backup"
        self.zone = "UTC"
        self.warm = True
        """Whether its runs start warm. They must not if a test looks at processes or kills them."""
        self.copies = True
        """Whether an installation may be a copy."""
        self.shelves: list[Path] = []
        """The folders of off-site copies."""

    def install(self, *plans: dict[str, Any], without: str | None = None, **variables: Any) -> Run:
        """Run the role with these plans. One of the variables that are always given can be left out."""
        values = {
            "backups_plans": plans,
            "backups_base_url": self.sandbox.base_url,
            "backups_token": self.sandbox.token,
            "backups_user": getpass.getuser(),
            "backups_config_dir": str(self.folder / "etc"),
            "backups_state_dir": str(self.folder / "state"),
            "backups_bin_dir": str(self.folder / "bin"),
            "backups_unit_dir": str(self.folder / "units"),
            "backups_cron_dir": str(self.folder / "cron"),
            "backups_textfile_dir": str(self.folder / "metrics"),
            "backups_rules_dir": str(self.folder / "rules"),
            "backups_scheduler": "systemd",
            "backups_activate": False,
            "backups_ansible_playbook": (programs() if self.warm else COLD).local_playbook,
            "backups_collections_path": COLLECTIONS,
        }
        values.update(variables)
        values.pop(without or "", None)
        told = self.anywhere(json.dumps([values, self.ansible.environment, self.zone], sort_keys=True))
        offsite = [plan["offsite"] for plan in plans if "offsite" in plan]
        self.shelves = [Path(where["dest"]) for where in offsite]
        elsewhere = any(where.keys() - {"dest", "databases"} for where in offsite)  # keys, for one
        elsewhere |= any(shelf.parent != self.folder for shelf in self.shelves)
        if elsewhere or not (self.copies and self.is_new()):
            return self.run_role(values)
        if told in INSTALLED:
            return INSTALLED[told].copy_to(self)
        run = self.run_role(values)
        if run.rc == 0:
            INSTALLED[told] = Installed.on(self, run)
        return run

    def run_role(self, values: dict[str, Any]) -> Run:
        """Run the role with these variables."""
        return self.ansible.playbook(INSTALL, variables=values, env={"TZ": self.zone})

    def is_new(self) -> bool:
        """Whether nothing was installed or put here yet."""
        return sorted(self.paths()) == sorted(self.folder / name for name in MADE)

    def paths(self) -> list[Path]:
        """Return the paths of whatever is in the folders of the machine, and of the folders."""
        folders = [*(self.folder / name for name in (*MADE, "etc", "state")), *self.shelves]
        return [path for folder in folders if folder.exists() for path in (folder, *folder.rglob("*"))]

    def anywhere(self, text: str) -> str:
        """Return a text as it would be for any machine."""
        return text.replace(str(self.folder), "<folder>")

    def here(self, text: str) -> str:
        """Return such a text as it is for this machine."""
        return text.replace("<folder>", str(self.folder))

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
