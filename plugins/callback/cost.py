# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: cost
type: aggregate
short_description: Show what a run does to the monthly price
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - At the end of a run, shows a table with each service whose price a task changed, the action, the monthly price
    before and after, and the change, with the sum. In check mode, shows what the run would change.
  - Also shows the balance data from the quotes of orders.
  - Lists every task that changed an unknown price, for example because of C(no_log). Such a price is in no sum.
  - Makes no calls. Shows nothing if no task of the collection ran, and a single line if none changed a price.
requirements:
  - to be enabled, with C(callbacks_enabled = hosted.services.cost) in the section C([defaults]) of ansible.cfg
    or C(ANSIBLE_CALLBACKS_ENABLED=hosted.services.cost) in the environment
options:
  output_path:
    description:
      - File to write the costs to at the end of each run, as JSON. Its folder must exist. The file is replaced as a
        whole.
      - C(schema) is 1. C(runs) has one entry for changes that were made and one, with C(check_mode) true, for those of
        tasks in check mode. Each has C(services), C(totals) for each currency, and C(not_priced), the tasks with an
        unknown price. Amounts are strings in currency units, or null. C(runs) is empty if no price changed.
    type: path
    env:
      - name: HOSTED_SERVICES_COST_OUTPUT
    ini:
      - section: callback_hosted_services_cost
        key: output_path
notes:
  - In check mode, services that do not exist yet are known by their names. If a run would order services with the same
    name in two accounts of one platform, they count as one.
seealso:
  - module: hosted.services.service
  - module: hosted.services.app
  - module: hosted.services.quote
"""

import json
from collections.abc import Mapping
from typing import Any

from ansible import constants
from ansible.plugins.callback import CallbackBase

from ..module_utils._resources.shared.store import atomic_file
from ..plugin_utils._cost.summary import (
    COLLECTION,
    NOT_COLLECTED,
    NOTHING_MOVED,
    Entry,
    Origin,
    read_result,
    summarize,
    write_table,
)

ASYNC_STATUS = "ansible.builtin.async_status"
SCHEMA = 1
"""The version of the file. A new key does not change it; another meaning of one does."""
FOR_PROGRAMS = ("json", "jsonl", "null")
"""Callbacks for stdout that write no text for people."""


class CallbackModule(CallbackBase):
    """Collects what the tasks of a run do to the price, and shows it at the end."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "hosted.services.cost"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.entries: list[Entry] = []
        self.jobs: dict[tuple[str, str], Origin] = {}
        """The tasks in the background whose results nobody has read, by host and job."""
        self.ours = False
        self.shown: tuple[Entry, ...] | None = None

    def v2_runner_on_ok(self, result: Any) -> None:
        """Read the result of a task, or of all items of its loop. Ansible makes a warning of an error here."""
        self._read(result)

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """Read the result of a task or an attempt that failed: it may have moved money before."""
        self._read(result, failed=True)

    v2_runner_retry = v2_runner_on_failed  # the next attempt does not tell again what this one did

    def v2_playbook_on_stats(self, stats: Any) -> None:
        """Show the table, and write the file."""
        pending = [Entry(origin, reason=NOT_COLLECTED) for origin in self.jobs.values()]
        entries = (*self.entries, *pending)
        summaries = summarize(entries)
        if self.ours and entries != self.shown:
            self._show(summaries)
            self.shown = entries
        path = self.get_option("output_path")
        if path:
            with atomic_file(path) as file:
                json.dump({"schema": SCHEMA, "runs": summaries}, file, indent=2)

    def _read(self, result: Any, failed: bool = False) -> None:
        task, host = result.task, result.host.get_name()
        action = str(getattr(task, "resolved_action", None) or task.action)
        found: Mapping[str, Any] = result.result
        job, ended = found.get("ansible_job_id"), bool(found.get("finished"))
        background = (host, str(job))
        if action.startswith(COLLECTION):
            self.ours = True
            # Until ansible-core 2.20, what a template of the task gives is only in the fields.
            given = task.check_mode
            check_mode = given if isinstance(given, bool) else result.task_fields.get("check_mode")
            module = action.removeprefix(COLLECTION)
            origin = Origin(str(result.task_name), host, module, bool(check_mode), failed)
            if job and not ended and origin.moves_money:
                self.jobs[background] = origin
                return
        elif action == ASYNC_STATUS and job and ended and background in self.jobs:
            origin = self.jobs.pop(background)
        else:
            return
        self.entries += read_result(found, origin)

    def _show(self, summaries: list[dict[str, Any]]) -> None:
        # What is on stdout is read by a program, where its callback writes for one.
        stdout = str(constants.config.get_config_value("DEFAULT_STDOUT_CALLBACK"))
        aside = stdout.rpartition(".")[2] in FOR_PROGRAMS
        for summary in summaries:
            heading = "COST, AS PREDICTED BY CHECK MODE" if summary["check_mode"] else "COST"
            if aside:
                self._display.display(f"\n{heading}", stderr=True)
            else:
                self._display.banner(heading)
            for line in write_table(summary):
                self._display.display(line, stderr=aside)
        if not summaries:
            self._display.display(f"hosted.services.cost: {NOTHING_MOVED}", stderr=aside)
