# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing of the collection is deprecated by the newest ansible-core that is installed, which masks our
secrets.

That is the one of this environment, or a newer one of `.build/matrix`: `make test-matrix ARGS="--only next"`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.version import Version

from cases import NAMES, cases
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import INVENTORY, REPOSITORY, Ansible, Run
from integration.warm import Programs

pytestmark = pytest.mark.night

SECRETS_API = Version("2.22.0b1")
"""The first ansible-core that masks what plugins tell it to."""
READING = """\
- hosts: survival
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: >-
          {{ lookup('hosted.services.database_url', 'db') is string }} {{ hosted_id }}
          {{ 1060 | hosted.services.to_currency('millicents') }}
          {{ {'host': 'x', 'port': 1, 'username': 'u'} | hosted.services.sftp_url }}
    - hosted.services.service_info: {id: "{{ hosted_id }}"}
      delegate_to: localhost
      vars: {hosted_in_process: false}
    - hosted.services.service: {id: "{{ hosted_id }}", state: absent}
      check_mode: "{{ 1 == 1 }}"
"""


def installed() -> dict[Version, Path]:
    """Return the environments that have an ansible-core, by its version."""
    environments = [*(REPOSITORY / ".build" / "matrix").glob("*"), Path(sys.prefix)]
    found = [
        (path, info) for path in environments for info in path.glob("lib/*/site-packages/ansible_core-*")
    ]
    return {Version(info.name.split("-")[1].removesuffix(".dist")): path for path, info in found}


NEWEST = max(installed())


@pytest.fixture
def newest(ansible: Ansible) -> Ansible:
    """The newest ansible-core, which shows what it deprecates."""
    programs = installed()[NEWEST] / "bin"
    playbook, python = str(programs / "ansible-playbook"), str(programs / "python")
    ansible.programs = Programs(playbook, str(programs / "ansible-inventory"), python, playbook)
    ansible.inventory.write_text(INVENTORY.format(python=python))
    ansible.environment |= {
        "ANSIBLE_DEPRECATION_WARNINGS": "true",
        "ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost",
    }
    return ansible


def deprecated(run: Run) -> list[str]:
    told = [line for line in run.output.splitlines() if "deprecat" in line.lower()]
    return told + [
        f"{outcome.action}: deprecations" for outcome in run.outcomes if "deprecations" in outcome.result
    ]


def test_no_module_uses_what_is_deprecated(newest: Ansible) -> None:
    """Each runs inside the controller, where its action is imported; some fail for want of what they name."""
    tasks: list[dict[str, Any]] = [
        {f"hosted.services.{name}": cases(name)["sample_args"][0]} for name in NAMES
    ]
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "ignore_errors": True,
        "check_mode": True,
        "tasks": tasks,
    }
    run = newest.playbook(json.dumps([play])).succeed()
    assert len(run.outcomes) >= len(NAMES) and deprecated(run) == []


def test_no_other_plugin_does(newest: Ansible, sandbox: Sandbox) -> None:
    """The inventory, the lookups, the filters, the callback and a module as a module."""
    services = [{"name": "survival", "product": "minecraft"}, {"name": "db", "product": "postgresql"}]
    sandbox.seed({"services": services})
    path = newest.folder / "account.hosted.yml"
    path.write_text("plugin: hosted.services.inventory\n")
    newest.inventory = path
    run = newest.playbook(READING).succeed()
    assert deprecated(run) == [] and "COST, AS PREDICTED BY CHECK MODE" in run.stdout


@pytest.mark.skipif(NEWEST < SECRETS_API, reason="no ansible-core 2.22 is installed, which masks secrets")
def test_secrets_that_come_from_the_platform_are_masked(newest: Ansible, sandbox: Sandbox) -> None:
    """Once a task has read them, wherever they are shown later. What is done with them is not changed."""
    sandbox.seed({"services": [{"name": "db", "product": "postgresql"}]})
    copy = newest.folder / "copy"
    run = newest.tasks(f"""
- hosted.services.database_info: {{service: db, return_secrets: true}}
  register: read
- ansible.builtin.debug: {{msg: "the URL is {{{{ read.database.connection.url }}}}"}}
- ansible.builtin.copy: {{content: "{{{{ read.database.connection.url }}}}", dest: {copy}, mode: "0600"}}
- ansible.builtin.debug: {{msg: "the token is {sandbox.token}"}}
""").succeed()
    assert copy.read_text() not in run.output and sandbox.token not in run.output
    assert run.output.count("REDACTED") >= 2 and "REDACTED" not in copy.read_text()
