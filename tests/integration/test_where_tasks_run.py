# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts behind SFTP, encrypted token files and become: a task works, or one sentence says what to do."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Run


def over_sftp_host(ansible: Ansible, sandbox: Sandbox, keywords: dict[str, Any], **more: Any) -> Run:
    """Ask where the files of an inventory's host are, as one task, called `Act`."""
    sandbox.seed({"services": [{"name": "survival", "product": "minecraft"}]})
    inventory = ansible.folder / "inventory"
    inventory.mkdir()
    options = {"plugin": "hosted.services.inventory", "base_url": sandbox.base_url}
    (inventory / "hosted.yml").write_text(json.dumps(options))
    python = f"ansible_python_interpreter={sys.executable}"
    (inventory / "more.ini").write_text(f"localhost ansible_connection=local {python}\n")
    ansible.inventory = inventory
    task = {"name": "Act", "hosted.services.sftp_info": {}, "register": "job", **keywords}
    tasks = [task]
    if keywords.get("poll") == 0:
        status = {"ansible.builtin.async_status": {"jid": "{{ job.ansible_job_id }}"}}
        until = {"register": "l", "until": "l is finished", "delay": 1, "retries": 30}
        tasks.append({"name": "Look", **status, "delegate_to": "localhost", **until})
    return ansible.playbook(json.dumps([{"hosts": "survival", "tasks": tasks}]), **more)


@pytest.mark.parametrize("case", ["async", "as a module"])
def test_no_module_is_sent_to_a_host_behind_sftp(case: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """There is no Python. Before, it ended in an error of SSH, or of a shell that is not there."""
    keywords = {"async": 60, "poll": 1} if case == "async" else {}
    run = over_sftp_host(ansible, sandbox, keywords, in_process=case == "async")
    assert run["Act"].outcome == "failed"
    assert "survival is reached over SFTP, where there is no Python" in run["Act"].message
    assert "Add delegate_to: localhost" in run["Act"].message


def test_what_the_sentence_says_works(ansible: Ansible, sandbox: Sandbox) -> None:
    """The task runs in the background here, on the service of the host."""
    keywords = {"async": 60, "poll": 0, "delegate_to": "localhost"}
    run = over_sftp_host(ansible, sandbox, keywords).succeed()
    assert run["Look"].result["sftp"]["username"]


@BOTH_WAYS
def test_a_token_file_may_be_encrypted(in_process: bool, ansible: Ansible, sandbox: Sandbox) -> None:
    """In tasks, in either way, and in lookups, and is not shown. Without the password a sentence says so."""
    (ansible.folder / "password").write_text("hush\n")
    (ansible.folder / "token").write_text(f"{sandbox.token}\n")
    encrypted = ansible.program("ansible-vault", "encrypt", "--vault-password-file", "password", "token")
    assert encrypted.returncode == 0, encrypted.stderr
    lookup = "lookup('hosted.services.registry_credentials', token_file=playbook_dir ~ '/token').host"
    tasks = f"""
- name: Act
  hosted.services.account_info: {{token_file: token}}
  ignore_errors: true
- name: Look up
  ansible.builtin.debug: {{msg: "{{{{ {lookup} }}}}"}}
  ignore_errors: true
"""
    env = {"HOSTED_SERVICES_TOKEN": None}
    right = {**env, "ANSIBLE_VAULT_PASSWORD_FILE": str(ansible.folder / "password")}
    run = ansible.tasks(tasks, env=right, in_process=in_process)
    assert [run[name].outcome for name in ("Act", "Look up")] == ["ok", "ok"], run.output
    assert sandbox.token not in run.output
    run = ansible.tasks(tasks, env=env, in_process=in_process)
    for name in ("Act", "Look up"):
        assert "is encrypted with ansible-vault and cannot be decrypted" in run[name].message


@BOTH_WAYS
def test_become_has_no_effect_on_the_controller(in_process: bool, ansible: Ansible) -> None:
    """A play for machines says become; the platform has no users to become, and there may be no sudo here."""
    task = "- name: Act\n  hosted.services.account_info: {}\n"
    env = {"ANSIBLE_BECOME_EXE": "/no/sudo"}
    ansible.tasks(task, "become: true\n", in_process=in_process, env=env).succeed()
