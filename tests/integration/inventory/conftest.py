# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-inventory as a user runs it: a file, a token in the environment, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.warm import programs


@dataclass(frozen=True)
class Listed:
    """What ansible-inventory said."""

    rc: int
    stdout: str
    stderr: str
    hosts: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)

    @property
    def output(self) -> str:
        """All that a person would have seen, on one line."""
        return " ".join((self.stdout + self.stderr).split())

    def of(self, name: str) -> dict[str, Any]:
        """Return the variables of the one host whose service has this name."""
        found = [host for host in self.hosts.values() if host.get("hosted_name") == name]
        assert len(found) == 1, f"{len(found)} hosts are of a service {name!r}:\n{self.stdout}"
        return found[0]


def unmarked(value: dict[str, Any]) -> Any:
    """Return the string in an object that marks it as one that is no template, and others as they are."""
    return value.get("__ansible_unsafe", value)


class Inventory:
    """A file of the inventory plugin in the folder of `ansible`, and what comes of it."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox) -> None:
        self.ansible = ansible
        self.base_url = sandbox.base_url
        self.path = ansible.folder / "hosted.yml"
        # The address is in the file alone.
        del ansible.environment["HOSTED_SERVICES_URL"]
        ansible.inventory = self.path

    def write(self, **options: Any) -> Path:
        """Write the file; `None` takes an option away."""
        given = {"plugin": "hosted.services.inventory", "base_url": self.base_url, **options}
        self.path.write_text(json.dumps({name: value for name, value in given.items() if value is not None}))
        return self.path

    def run(self, *arguments: str, env: Mapping[str, str | None] | None = None) -> Listed:
        """Run ansible-inventory, so that a file that cannot be read is an error."""
        strict = {"ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED": "true", **(env or {})}
        done = self.ansible.program(programs().inventory, "-i", self.path, *arguments, env=strict)
        return Listed(done.returncode, done.stdout, done.stderr)

    def list(self, *arguments: str, **options: Any) -> Listed:
        """Write the file and list the inventory; it has to succeed, and to be silent beside the list."""
        listed = self.listed(*arguments, **options)
        assert listed.stderr == ""
        return listed

    def listed(self, *arguments: str, env: Mapping[str, str | None] | None = None, **options: Any) -> Listed:
        """Write the file and list the inventory; it has to succeed."""
        self.write(**options)
        run = self.run("--list", *arguments, env=env)
        assert run.rc == 0, run.output
        content = json.loads(run.stdout, object_hook=unmarked)
        hosts = content.pop("_meta")["hostvars"]
        groups = {name: group["hosts"] for name, group in content.items() if group.get("hosts")}
        return Listed(run.rc, run.stdout, run.stderr, hosts, groups)

    def refusals(self, cases: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        """Write a file for each of some cases, of which one run reads none; return why, without a secret."""
        paths = [self.path.with_name(f"{turn}.hosted.yml") for turn in range(len(cases))]
        for path, options in zip(paths, cases, strict=True):
            given = {"plugin": "hosted.services.inventory", "base_url": self.base_url, **options}
            path.write_text(json.dumps(given))
        sources = [part for path in paths for part in ("-i", path)]
        run = self.ansible.program(programs().inventory, *sources, "--list", "-vvvv")
        assert '"hostvars": {}' in run.stdout and "Traceback" not in run.stdout + run.stderr
        assert self.ansible.environment["HOSTED_SERVICES_TOKEN"] not in run.stdout + run.stderr
        told = re.split(r"Unable to parse (\S+) as an inventory source", run.stderr)
        found = dict(zip(told[1::2], told[::2], strict=False))
        return [found[str(path)] for path in paths]

    def refused(self, env: Mapping[str, str | None] | None = None, **options: Any) -> str:
        """Write the file and return why it is refused, in one clear way and without a secret."""
        self.write(**options)
        run = self.run("--list", "-vvvv", env=env)
        assert run.rc != 0, run.output
        assert "Traceback" not in run.output
        assert self.ansible.environment["HOSTED_SERVICES_TOKEN"] not in run.output
        return run.output


@pytest.fixture
def inventory(ansible: Ansible, sandbox: Sandbox) -> Inventory:
    return Inventory(ansible, sandbox)
