# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `backups` is installed, in a folder, and the sandbox that it backs up."""

from __future__ import annotations

import getpass
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, Ansible, Run

NIGHTLY: dict[str, Any] = {"name": "nightly", "project": "web", "keep": {"last": 2}, "wait_timeout": 20}
INSTALL = """\
- hosts: localhost
  gather_facts: false
  roles: [hosted.services.backups]
"""


class BackupMachine:
    """Folders in the place of /etc, /var/lib and so on."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.ansible = Ansible(folder, sandbox)
        for name in ("bin", "units", "cron", "metrics", "rules"):
            (folder / name).mkdir()
        self.command = folder / "bin" / "hosted-backup"
        self.zone = "UTC"

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
            "backups_ansible_playbook": str(Path(sys.executable).parent / "ansible-playbook"),
            "backups_collections_path": COLLECTIONS,
        }
        values.update(variables)
        values.pop(without or "", None)
        return self.ansible.playbook(INSTALL, variables=values, env={"TZ": self.zone})

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
        output, _nothing = process.communicate(timeout=120)
        return process.returncode, output

    def backups(self, service_id: str) -> list[dict[str, Any]]:
        """Return the backups that the platform has of a service, the oldest first."""
        found = self.sandbox.api("GET", f"/api/resources/{service_id}/backups").json()
        return sorted(found, key=lambda backup: str(backup["createdAt"]))

    def names(self, service_id: str) -> list[str]:
        """Return their names."""
        return [str(backup["name"]) for backup in self.backups(service_id)]
