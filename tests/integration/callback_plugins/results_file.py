# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the result of every task to a file, one JSON object a line, for tests to look at as data."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: results_file
type: aggregate
short_description: Write the result of every task to a file
description:
  - Appends the result of every task and of every item of a loop to the file that E(RESULTS_FILE) names.
"""


class CallbackModule(CallbackBase):
    """Notes what Ansible tells its callbacks, secrets of no_log tasks already taken out."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "results_file"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        self._begun: dict[tuple[str, str], float] = {}

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """Note when a task begins on a host."""
        self._begun[host.get_name(), task._uuid] = time.time()

    def _note(self, outcome: str, result: Any, is_item: bool = False) -> None:
        line = {
            "name": result.task.get_name(),
            "action": result.task.resolved_action or result.task.action,
            "host": result.host.get_name(),
            "outcome": outcome,
            "is_item": is_item,
            "result": result.result,
            "begun": self._begun[result.host.get_name(), result.task._uuid],
            "ended": time.time(),
        }
        with open(os.environ["RESULTS_FILE"], "a", encoding="utf-8") as file:
            file.write(json.dumps(line, default=str) + "\n")

    def v2_runner_on_ok(self, result: Any) -> None:
        self._note("ok", result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._note("failed", result)

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._note("skipped", result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._note("unreachable", result)

    def v2_runner_item_on_ok(self, result: Any) -> None:
        self._note("ok", result, is_item=True)

    def v2_runner_item_on_failed(self, result: Any) -> None:
        self._note("failed", result, is_item=True)
