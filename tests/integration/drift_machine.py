# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `drift_schedule` is installed, in a folder, and the sandbox behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import BackupMachine

BLUEPRINTS: dict[str, dict[str, Any]] = {
    "games": {"project": "games", "services": {"world": {"product": "minecraft"}}},
    "shop": {"project": "shop", "services": {"db": {"product": "postgresql"}}},
}


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
        """Return the path of a blueprint."""
        return self.blueprints / f"{name}.yml"

    def add_service(self) -> None:
        """Order something by hand, which is not in the blueprint."""
        self.sandbox.seed({"services": [{"name": "cache", "product": "valkey", "project": "shop"}]})
