# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `sandbox` apart from its life, which molecule's scenario tells: seeds, errors, packages."""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from hosted_sandbox import __version__
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible, Run

PORTS = ("sandbox_port", "sandbox_control_port", "sandbox_sftp_port", "sandbox_registry_port")
SEED = {"projects": ["web"]}
#: The package, for a Python that has its requirements but not itself.
SOURCES = REPOSITORY / "tests" / "sandbox"
#: Stands in for Python: its environments lead to the real one, and what pip is asked for goes into a file.
FAKE_PYTHON = """#!/bin/sh
case "$1 $2" in
"-m venv") for last; do :; done; mkdir -p "$last/bin" && cp "$0" "$last/bin/python" ;;
"-m pip") shift 2; echo "$@" >> "{log}"; for last; do :; done; [ "$last" != no-such-package ] ;;
*) exec "{python}" "$@" ;;
esac
"""


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for __ in range(count)]
        return [listener.getsockname()[1] for listener in listeners]


class Role:
    """Plays of the role with variables of its own."""

    def __init__(self, ansible: Ansible) -> None:
        self.ansible = ansible
        self.folder = ansible.folder / "sandbox"
        self.variables: dict[str, Any] = {
            **dict(zip(PORTS, free_ports(len(PORTS)), strict=True)),
            "sandbox_folder": str(self.folder),
            "sandbox_data_dir": str(ansible.folder / "data"),
            "sandbox_python": sys.executable,
            "sandbox_venv": False,
            "sandbox_seed": SEED,
        }

    def play(self, *arguments: str, **variables: Any) -> Run:
        """Run the role and show its fact."""
        return self.ansible.playbook(
            "- hosts: localhost\n  gather_facts: false\n  roles: [hosted.services.sandbox]\n"
            f"  environment: {{PYTHONPATH: {SOURCES}}}\n"
            "  tasks:\n    - name: Facts\n      ansible.builtin.debug: {var: sandbox_facts}\n",
            *arguments,
            variables={**self.variables, **variables},
        )

    @property
    def control(self) -> str:
        """The address of the control port."""
        return f"http://127.0.0.1:{self.variables['sandbox_control_port']}"

    def facts(self) -> dict[str, Any]:
        """Return what the running sandbox says of itself; `{}` when none runs."""
        try:
            found: dict[str, Any] = requests.get(self.control + "/", timeout=10).json()
        except requests.ConnectionError:
            return {}
        return found

    def projects(self) -> list[str]:
        """Return the names of the projects on it, without the default one."""
        facts = self.facts()
        headers = {"Authorization": f"Bearer {facts['tokens']['full']}"}
        answer = requests.get(facts["base_url"] + "/api/projects", headers=headers, timeout=10)
        return [project["name"] for project in answer.json()][1:]

    def create(self, name: str) -> None:
        facts = self.facts()
        headers = {"Authorization": f"Bearer {facts['tokens']['full']}"}
        answer = requests.post(
            facts["base_url"] + "/api/projects", json={"name": name}, headers=headers, timeout=10
        )
        assert answer.ok, answer.text


@pytest.fixture
def role(ansible: Ansible) -> Iterator[Role]:
    """The role, on ports that are free; whatever it started is stopped."""
    role = Role(ansible)
    yield role
    facts = role.facts()
    if facts:
        os.kill(facts["pid"], signal.SIGKILL)


def changes(run: Run) -> int:
    return sum(
        bool(outcome.result.get("changed")) for outcome in run.succeed().outcomes if not outcome.is_item
    )


def test_it_is_started_once(role: Role) -> None:
    role.play(sandbox_data_dir="").succeed()
    assert changes(role.play(sandbox_data_dir="")) == 0
    assert role.projects() == ["web"]


@pytest.mark.night
def test_check_mode_says_and_does_nothing(role: Role) -> None:
    """It says what would change in every state, and changes nothing."""
    assert changes(role.play("--check")) > 0
    assert role.facts() == {}
    assert not role.folder.exists()
    assert changes(role.play("--check", sandbox_state="stopped")) == 0
    role.play().succeed()
    role.create("kept")
    before = role.facts()
    assert changes(role.play("--check")) == 0
    for state in ("stopped", "reset"):
        assert changes(role.play("--check", sandbox_state=state)) > 0
    assert changes(role.play("--check", sandbox_profile="terse")) > 0
    assert role.facts() == before
    assert role.projects() == ["web", "kept"]


@pytest.mark.night
def test_an_error_is_the_sandbox_s_own(role: Role, sandbox: Sandbox) -> None:
    """A port that is taken, a seed that makes no sense, a profile that is none."""
    taken = int(sandbox.base_url.rpartition(":")[2])
    run = role.play(sandbox_port=taken)
    assert run.rc != 0
    assert f"the sandbox cannot start: 127.0.0.1 port {taken}: Address already in use" in run.output
    run = role.play(sandbox_data_dir="", sandbox_seed={"colour": "red"})
    assert run.rc != 0
    assert "the seed makes no sense" in run.output
    run = role.play(sandbox_profile="loud")
    assert run.rc != 0
    assert "unknown profile 'loud'; known: plain, terse" in run.output
    assert "Traceback" not in run.output
    assert role.facts() == {}


@pytest.mark.night
def test_what_is_installed(role: Role, tmp_path: Path) -> None:
    """The package comes from the index, or from the play's path.

    Installed once, and again when the package has changed, which restarts the sandbox. An earlier package is
    another one as well, as is one whose installation failed.
    """
    python, log = tmp_path / "python", tmp_path / "pip.log"
    python.write_text(FAKE_PYTHON.format(python=sys.executable, log=log))
    python.chmod(0o755)
    wheel = tmp_path / "hosted_sandbox-1-py3-none-any.whl"
    wheel.write_bytes(b"first")
    fake = {"sandbox_venv": True, "sandbox_python": str(python)}

    assert changes(role.play(**fake)) > 0
    assert changes(role.play(**fake)) == 0
    first = role.facts()["pid"]
    role.play(**fake, sandbox_package=str(wheel)).succeed()
    wheel.write_bytes(b"second")
    role.play(**fake, sandbox_package=str(wheel), sandbox_pip_args=["--no-index"]).succeed()
    role.play(**fake, sandbox_package=str(SOURCES)).succeed()
    assert role.facts()["pid"] != first
    assert changes(role.play(**fake)) > 0
    assert role.play(**fake, sandbox_package="no-such-package").rc != 0
    assert changes(role.play(**fake)) > 0
    assert changes(role.play(**fake)) == 0
    installed = [line.partition("--force-reinstall ")[2] for line in log.read_text().splitlines()]
    assert installed == [
        f"hosted-sandbox=={__version__}", str(wheel), f"--no-index {wheel}", f"--editable {SOURCES}",
        f"hosted-sandbox=={__version__}", "no-such-package", f"hosted-sandbox=={__version__}",
    ]  # fmt: skip
    assert len([*(role.folder / "venv").glob("installed-*")]) == 1
