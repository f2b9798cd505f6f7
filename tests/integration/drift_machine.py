# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `drift_schedule` is installed, in a folder, and the sandbox behind it."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, Run
from integration.backup_machine import BackupMachine
from integration.warm import COLD, programs

BLUEPRINTS: dict[str, dict[str, Any]] = {
    "games": {"project": "games", "services": {"world": {"product": "minecraft"}}},
    "shop": {"project": "shop", "services": {"db": {"product": "postgresql"}}},
}
INSTALL = """\
- hosts: localhost
  gather_facts: false
  roles: [hosted.services.drift_schedule]
"""


class DriftMachine(BackupMachine):
    """Folders in the place of /etc, /var/lib and so on, blueprints, and the command ``hosted-drift``."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        super().__init__(folder, sandbox)
        self.command = folder / "bin" / "hosted-drift"
        self.blueprints = folder / "blue prints"
        self.blueprints.mkdir()
        for name, contents in BLUEPRINTS.items():
            self.path(name).write_text(yaml.safe_dump(contents))
        self.plan: dict[str, Any] = {"name": "all", "blueprints": [str(self.blueprints / "*.yml")]}

    def path(self, name: str) -> Path:
        """Return the path of a blueprint."""
        return self.blueprints / f"{name}.yml"

    def install(self, *plans: dict[str, Any], without: str | None = None, **variables: Any) -> Run:
        """Run the role with these plans. One of the variables that are always given can be left out."""
        values = {
            "drift_schedule_plans": plans,
            "drift_schedule_base_url": self.sandbox.base_url,
            "drift_schedule_token": self.sandbox.token,
            "drift_schedule_user": getpass.getuser(),
            "drift_schedule_config_dir": str(self.folder / "etc"),
            "drift_schedule_state_dir": str(self.folder / "state"),
            "drift_schedule_bin_dir": str(self.folder / "bin"),
            "drift_schedule_unit_dir": str(self.folder / "units"),
            "drift_schedule_cron_dir": str(self.folder / "cron"),
            "drift_schedule_textfile_dir": str(self.folder / "metrics"),
            "drift_schedule_rules_dir": str(self.folder / "rules"),
            "drift_schedule_scheduler": "systemd",
            "drift_schedule_activate": False,
            "drift_schedule_jitter_minutes": 0,
            "drift_schedule_ansible_playbook": (programs() if self.warm else COLD).local_playbook,
            "drift_schedule_collections_path": COLLECTIONS,
            **variables,
        }
        values.pop(without or "", None)
        return self.ansible.playbook(INSTALL, variables=values)

    def report(self, plan: str = "all") -> dict[str, Any]:
        """Return the report of the last run of a plan."""
        found: dict[str, Any] = json.loads((self.folder / "state" / f"{plan}.json").read_text())
        return found

    def metrics(self, file: str = "hosted-drift-all.prom") -> dict[str, str]:
        """Return the values of a text file by name, and those of blueprints by name, file and kind."""
        found = {}
        for line in (self.folder / "metrics" / file).read_text().splitlines():
            if line and not line.startswith("#"):
                series, _space, value = line.rpartition(" ")
                name, _brace, labels = series.removeprefix("hosted_drift_").partition("{")
                blueprint = Path(labels.partition('file="')[2].partition('"')[0]).stem
                kind = labels.partition('kind="')[2].partition('"')[0]
                found[f"{name} {blueprint} {kind}".strip()] = value
        return found

    def add_service(self) -> None:
        """Order something by hand, which is not in the blueprint."""
        self.sandbox.seed({"services": [{"name": "cache", "product": "valkey", "project": "shop"}]})
