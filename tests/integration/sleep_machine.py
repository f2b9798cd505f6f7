# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `sleep_schedule` is installed, in a folder, and the sandbox behind it."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, Run
from integration.backup_machine import BackupMachine
from integration.warm import COLD, programs

NIGHTS: dict[str, Any] = {"name": "nights", "project": "shop", "awake": [], "wait_timeout": 20}
"""A plan whose services sleep at all times, whatever the clock of this machine says."""
INSTALL = """\
- hosts: localhost
  gather_facts: false
  roles: [hosted.services.sleep_schedule]
"""


class SleepMachine(BackupMachine):
    """Folders in the place of /etc, /var/lib and so on, and the command ``hosted-sleep``."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        super().__init__(folder, sandbox)
        self.command = folder / "bin" / "hosted-sleep"

    def install(self, *plans: dict[str, Any], without: str | None = None, **variables: Any) -> Run:
        """Run the role with these plans. One of the variables that are always given can be left out."""
        values = {
            "sleep_schedule_plans": plans,
            "sleep_schedule_base_url": self.sandbox.base_url,
            "sleep_schedule_token": self.sandbox.token,
            "sleep_schedule_user": getpass.getuser(),
            "sleep_schedule_config_dir": str(self.folder / "etc"),
            "sleep_schedule_state_dir": str(self.folder / "state"),
            "sleep_schedule_bin_dir": str(self.folder / "bin"),
            "sleep_schedule_unit_dir": str(self.folder / "units"),
            "sleep_schedule_cron_dir": str(self.folder / "cron"),
            "sleep_schedule_textfile_dir": str(self.folder / "metrics"),
            "sleep_schedule_rules_dir": str(self.folder / "rules"),
            "sleep_schedule_scheduler": "systemd",
            "sleep_schedule_activate": False,
            "sleep_schedule_ansible_playbook": (programs() if self.warm else COLD).local_playbook,
            "sleep_schedule_collections_path": COLLECTIONS,
            **variables,
        }
        values.pop(without or "", None)
        return self.ansible.playbook(INSTALL, variables=values)

    def report(self, plan: str = "nights") -> dict[str, Any]:
        """Return the report of the last run of a plan."""
        found: dict[str, Any] = json.loads((self.folder / "state" / f"{plan}.json").read_text())
        return found

    def metrics(self, plan: str = "nights") -> dict[str, str]:
        """Return the values of a plan's metrics by name, and those of services by name and service."""
        return self.read_metrics(f"hosted-sleep-{plan}.prom")

    def metrics_of_plans(self) -> dict[str, str]:
        """Return what the installation has written for Prometheus."""
        return self.read_metrics("hosted-sleep.prom")

    def read_metrics(self, file: str) -> dict[str, str]:
        """Return the values of a text file by name, and those of services by name and service."""
        lines = (self.folder / "metrics" / file).read_text().splitlines()
        found = {}
        for line in lines:
            if not line.startswith("#"):
                series, _space, value = line.rpartition(" ")
                name, _brace, labels = series.removeprefix("hosted_sleep_").partition("{")
                service = labels.partition('service="')[2].partition('"')[0]
                found[f"{name} {service}".strip()] = value
        return found

    def statuses(self) -> dict[str, str]:
        """Return the status of each service by its name."""
        items = self.sandbox.api("GET", "/api/resources").json()["items"]
        return {item["name"]: item["status"] for item in items}
