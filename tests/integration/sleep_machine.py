# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine on which the role `sleep_schedule` is installed, in a folder, and the sandbox behind it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import BackupMachine

NIGHTS: dict[str, Any] = {"name": "nights", "project": "shop", "awake": [], "wait_timeout": 20}
"""A plan whose services sleep at all times, whatever the clock of this machine says."""


class SleepMachine(BackupMachine):
    """The same with the command ``hosted-sleep``."""

    role = "sleep_schedule"
    program = "hosted-sleep"

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        super().__init__(folder, sandbox)
        self.plan = NIGHTS

    def statuses(self) -> dict[str, str]:
        """Return the status of each service by its name."""
        items = self.sandbox.api("GET", "/api/resources").json()["items"]
        return {item["name"]: item["status"] for item in items}
