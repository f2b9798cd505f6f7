# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keywords of a task are honoured inside the controller as a module would honour them.

Where a task cannot run as it is written, as behind SFTP, one sentence says what to do.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Run


def test_no_log(ansible: Ansible) -> None:
    """Nothing of a censored task is printed; of a failed one ansible-core prints the error all the same."""
    run = ansible.playbook(
        """
- hosts: localhost
  gather_facts: false
  tasks:
    - name: In secret
      hosted.services.project: {name: "{{ what }}"}
      no_log: true
      diff: true
    - name: In vain
      hosted.services.project: {id: unknown, name: "{{ what }}"}
      no_log: true
      ignore_errors: true
""",
        "-vvv",
        variables={"what": "hush-hush"},
    ).succeed()
    assert run["In secret"].result["changed"] is True
    assert run["In vain"].outcome == "failed"
    assert all("censored" in outcome.result for outcome in run.outcomes)
    assert "hush-hush" not in run.output + json.dumps([outcome.result for outcome in run.outcomes])


def test_environment(ansible: Ansible, sandbox: Sandbox) -> None:
    """`environment:` of a task, a block and a play reaches the options, and the next task does not see it."""
    run = ansible.tasks(
        f"""
- name: With the environment of the play alone
  hosted.services.project: {{name: games}}
  ignore_errors: true
- name: With its own environment
  hosted.services.project: {{name: games}}
  environment: {{HOSTED_SERVICES_TOKEN: "{sandbox.token}"}}
- name: After it
  hosted.services.project: {{name: games}}
  ignore_errors: true
""",
        f"environment: {{HOSTED_SERVICES_URL: '{sandbox.base_url}'}}\n",
        env={"HOSTED_SERVICES_URL": None, "HOSTED_SERVICES_TOKEN": None},
    ).succeed()
    assert run["With its own environment"].result["changed"] is True
    for name in ("With the environment of the play alone", "After it"):
        assert run[name].outcome == "failed"
        assert "token is not set" in run[name].message


HOSTS = """\
localhost ansible_connection=local
mute ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1 ansible_python_interpreter=/nowhere/python
"""


def test_where_a_task_runs(ansible: Ansible, sandbox: Sandbox) -> None:
    """A play over hosts without a Python works from here; a task that is sent elsewhere goes there."""
    ansible.inventory.write_text(HOSTS)
    run = ansible.playbook(
        """
- hosts: mute
  gather_facts: false
  become: true
  tasks:
    - name: From here
      hosted.services.project: {name: "{{ inventory_hostname }}"}
    - name: Sent here
      hosted.services.project: {name: "{{ inventory_hostname }}"}
      delegate_to: localhost
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Sent elsewhere
      hosted.services.project: {name: never}
      delegate_to: mute
      ignore_errors: true
      ignore_unreachable: true
"""
    )
    assert run["From here"].result["changed"] is True
    assert run["Sent here"].result["changed"] is False
    assert run["Sent elsewhere"].outcome in ("unreachable", "failed")
    assert [project["name"] for project in sandbox.api("GET", "/api/projects").json()] == ["default", "mute"]


KEPT = """
- name: Write
  hosted.services.environment: {slug: shop, variables: {A: '1'}}
- name: Order
  hosted.services.service:
    name: new
    product: postgresql
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
    state: started
    wait_interval: 0.2
"""


@BOTH_WAYS
@pytest.mark.parametrize("by", ["ansible.cfg", "environment"])
def test_where_the_collection_keeps_its_files(
    by: str, in_process: bool, ansible: Ansible, sandbox: Sandbox
) -> None:
    """Below the home that ansible.cfg names, or in the folder that the environment names."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    configuration = ansible.folder / "ansible.cfg"
    env: dict[str, str | None]
    if by == "ansible.cfg":
        with_home = configuration.read_text().replace("[defaults]", "[defaults]\nhome = {{CWD}}/mine")
        configuration.write_text(with_home)
        kept, env = ansible.folder / "mine" / "hosted_services", {"ANSIBLE_HOME": None}
    else:
        kept, env = ansible.folder / "mine", {"HOSTED_SERVICES_HOME": "mine"}
    run = ansible.tasks(KEPT, in_process=in_process, env=env).succeed()
    assert Path(run["Order"].result["secrets_file"]).parent == kept / "secrets"
    assert len(list((kept / "environments").glob("*.json"))) == 1
    assert {path.stat().st_mode & 0o777 for path in kept.iterdir()} == {0o700}
    assert not (ansible.folder / ".ansible" / "hosted_services").exists()


# --- Hosts behind SFTP, encrypted token files and become --------------------------------------------------


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
