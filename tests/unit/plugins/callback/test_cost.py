# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The callback: what it takes from the events of a run, and that it never stops one."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.callback.cost import ASYNC_STATUS, CallbackModule

COST = {
    "monthly_before": "0.00",
    "monthly_after": "10.74",
    "currency": "EUR",
    "moves": ["order"],
    "service": "web",
    "service_id": "s1",
}


class Terminal:
    """Notes what is displayed."""

    verbosity = 0

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.warnings: list[str] = []

    def display(self, line: str, stderr: bool = False) -> None:
        self.lines.append(line)

    def banner(self, line: str) -> None:
        self.lines.append(line)

    def warning(self, line: str) -> None:
        self.warnings.append(line)


class Run:
    """A run with the callback enabled."""

    def __init__(self, path: str | None = None) -> None:
        self.terminal = Terminal()
        self.callback = CallbackModule(display=self.terminal)
        vars(self.callback)["get_option"] = lambda name, hostvars=None: path

    def end(self) -> str:
        self.callback.v2_playbook_on_stats(None)
        return "\n".join(self.terminal.lines)


def result(found: Any, action: str = "hosted.services.service", check_mode: bool | str = False) -> Any:
    name = action.rpartition(".")[2]
    task = SimpleNamespace(action=name, resolved_action=action, check_mode=check_mode)
    host = SimpleNamespace(get_name=lambda: "localhost")
    return SimpleNamespace(
        task_name="Order", task=task, host=host, result=found, task_fields={"check_mode": bool(check_mode)}
    )


def test_nothing_is_said_if_no_task_is_ours_and_a_line_if_none_moves_money() -> None:
    run = Run()
    run.callback.v2_runner_on_ok(result({"changed": True, "cost": COST}, "ansible.builtin.command"))
    assert run.end() == ""
    run.callback.v2_runner_on_ok(result({"changed": False}, "hosted.services.service_info"))
    assert run.end() == "hosted.services.cost: No task changed what the services cost."


def test_what_failed_or_was_retried_counts_with_what_it_did() -> None:
    run = Run()
    run.callback.v2_runner_retry(result({"cost": COST}))
    run.callback.v2_runner_on_failed(result({"cost": {**COST, "service": "late", "service_id": "s2"}}), True)
    run.callback.v2_runner_on_failed(result({"msg": "refused"}))
    shown = run.end()
    assert "web" in shown and "late" in shown and "+21.48 EUR" in shown


@pytest.mark.parametrize("given", [True, "{{ rehearsal }}"])
def test_predictions_are_apart(given: bool | str) -> None:
    run = Run()
    run.callback.v2_runner_on_ok(result({"cost": COST}, check_mode=given))
    assert run.end().startswith("COST, AS PREDICTED BY CHECK MODE")


def test_a_job_in_the_background_counts_when_its_result_is_read() -> None:
    run = Run()
    for id in ("j1", "j2"):
        run.callback.v2_runner_on_ok(result({"ansible_job_id": id, "started": 1, "finished": 0}))
    run.callback.v2_runner_retry(result({"ansible_job_id": "j1", "finished": 0}, ASYNC_STATUS))
    run.callback.v2_runner_on_ok(result({"ansible_job_id": "j1", "finished": 1, "cost": COST}, ASYNC_STATUS))
    run.callback.v2_runner_on_ok(result({"ansible_job_id": "x", "finished": 1, "cost": COST}, ASYNC_STATUS))
    shown = run.end()
    assert shown.count("web") == 1 and shown.count("no task read its result") == 1


def test_the_file_is_written_in_any_case(tmp_path: Path) -> None:
    path = tmp_path / "cost.json"
    run = Run(str(path))
    run.end()
    assert json.loads(path.read_text()) == {"schema": 1, "runs": []}
    run.callback.v2_runner_on_ok(result({"cost": COST}))
    run.end()
    assert json.loads(path.read_text())["runs"][0]["totals"][0]["monthly_change"] == "10.74"
    assert list(tmp_path.iterdir()) == [path]
