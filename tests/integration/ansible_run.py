# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run playbooks as a user does, with ansible-playbook, and read their results as data."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration import warm
from integration.warm import programs
from unit.plugins.results import Result

HERE = Path(__file__).resolve().parent
TARGETS = HERE / "targets"
REPOSITORY = HERE.parents[1]
COLLECTIONS = warm.four_folders()
PLAY_SECONDS = 1800

PROFILE = os.environ.get("SANDBOX_PROFILE", "plain")
BOTH_WAYS = pytest.mark.parametrize(
    "in_process", [True, pytest.param(False, marks=pytest.mark.night)], ids=["in_process", "as_module"]
)
"""In the controller and as a module. In the gate, test_targets runs one module of each family both ways."""
DELAYS = {"provision": 0.2, "start": 0.2, "stop": 0.2, "resume": 0.2, "delete": 0.2}

# Ansible looks a thousand times a second whether a task has ended, which costs a tenth of a run.
CONFIGURATION = f"""\
[defaults]
callback_plugins = {HERE / "callback_plugins"}
callbacks_enabled = results_file
roles_path = {TARGETS}
internal_poll_interval = 0.01
retry_files_enabled = false
nocolor = true

[connection]
pipelining = true
"""
INVENTORY = "localhost ansible_connection=local ansible_python_interpreter={python}\n"


@dataclass(frozen=True)
class Outcome:
    """What became of a task, or of one item of its loop: `ok`, `failed`, `skipped` or `unreachable`.

    `begun` and `ended` are by the machine's clock, as are the times in the sandbox's journal.
    """

    name: str
    action: str
    host: str
    outcome: str
    is_item: bool
    result: Result
    begun: float
    ended: float

    @property
    def failed(self) -> bool:
        """Whether the task failed. Who asks may then read from its result what it changed all the same."""
        self.result.get("failed")
        return self.outcome == "failed"

    @property
    def message(self) -> str:
        """The error, or whatever else the task said."""
        return str(self.result.get("msg", ""))


@dataclass(frozen=True)
class Run:
    """A run of ansible-playbook: its exit code, what it printed, and every result."""

    rc: int
    stdout: str
    stderr: str
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def output(self) -> str:
        """All that a person would have seen."""
        return self.stdout + self.stderr

    def __getitem__(self, name: str) -> Outcome:
        """Return what became of the one task of this name."""
        found = [outcome for outcome in self.outcomes if outcome.name == name and not outcome.is_item]
        assert len(found) == 1, f"{len(found)} tasks are named {name!r} in:\n{self.output}"
        return found[0]

    def items(self, name: str) -> list[Outcome]:
        """Return what became of each item of a loop."""
        return [outcome for outcome in self.outcomes if outcome.name == name and outcome.is_item]

    def succeed(self) -> Run:
        """Return the run itself once it is clear that it ended well."""
        assert self.rc == 0, self.output
        return self


def read_outcome(line: str) -> Outcome:
    """Return what the callback noted of a task."""
    fields = json.loads(line)
    return Outcome(**{**fields, "result": Result(fields["result"], failed=fields["outcome"] == "failed")})


def begin_anew(sandbox: Sandbox, profile: str = PROFILE) -> None:
    """Forget all that happened on the platform, and fill the gaps of its documentation by a profile."""
    sandbox.reset(delays=DELAYS, profile=profile)
    sandbox.clear_faults()
    sandbox.clear_journal()


def play_of(tasks: str, keywords: str = "") -> str:
    """Return a play of tasks, given as YAML, over localhost. `keywords` are further lines of the play."""
    play = "- hosts: localhost\n  gather_facts: false\n" + indent(keywords, "  ")
    return f"{play.rstrip()}\n  tasks:\n{indent(tasks, '    ')}"


class Ansible:
    """Runs playbooks in a folder of their own, against a sandbox, with nobody's settings but its own."""

    def __init__(self, folder: Path, sandbox: Sandbox) -> None:
        self.folder = folder
        self.inventory = folder / "hosts.ini"
        self.inventory.write_text(INVENTORY.format(python=programs().python))
        configuration = folder / "ansible.cfg"
        configuration.write_text(CONFIGURATION)
        self._runs = 0
        self.programs = programs()
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PWD": "/",  # what a program leaves that changes the folder without a shell
            "ANSIBLE_CONFIG": str(configuration),
            "ANSIBLE_HOME": str(folder / ".ansible"),
            "ANSIBLE_ASYNC_DIR": str(folder / ".ansible" / "async"),
            "ANSIBLE_COLLECTIONS_PATH": COLLECTIONS,
            "HOSTED_SERVICES_URL": sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": sandbox.token,
        }

    def tasks(self, tasks: str, keywords: str = "", **options: Any) -> Run:
        return self.playbook(play_of(tasks, keywords), **options)

    def playbook(
        self,
        playbook: str,
        *arguments: str,
        in_process: bool = True,
        env: Mapping[str, str | None] | None = None,
        variables: Mapping[str, Any] | None = None,
        folder: Path | None = None,
    ) -> Run:
        """Run a playbook, given as YAML, from a folder. In `env` None takes a variable away."""
        self._runs += 1
        path = self.folder / f"play-{self._runs}.yml"
        path.write_text(playbook)
        results = self.folder / f"results-{self._runs}.json"
        results.touch()
        values = {**(variables or {}), **({} if in_process else {"hosted_in_process": False})}
        command: list[str | Path] = [self.programs.playbook, "-i", self.inventory, path]
        done = self.program(
            *command,
            "-e",
            json.dumps(values),
            *arguments,
            env={"RESULTS_FILE": str(results), **(env or {})},
            folder=folder,
        )
        outcomes = [read_outcome(line) for line in results.read_text().splitlines()]
        return Run(done.returncode, done.stdout, done.stderr, outcomes)

    def program(
        self, *command: str | Path, env: Mapping[str, str | None] | None = None, folder: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of Ansible's from a folder. In `env` None takes a variable away."""
        environment = {**self.environment, **(env or {})}
        return subprocess.run(
            command,
            env={name: value for name, value in environment.items() if value is not None},
            cwd=folder or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PLAY_SECONDS,
            check=False,
        )
