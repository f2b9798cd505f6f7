# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play over an inventory host: its variables lead to its files, without API, token or delegation."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible

NO_API = {"HOSTED_SERVICES_URL": None, "HOSTED_SERVICES_TOKEN": None}
PLAY = """
- hosts: survival
  gather_facts: false
  tasks:
    - name: Push
      hosted.services.sftp_sync:
        src: "{{ playbook_dir }}/site"
        dest: www
        known_hosts: "{{ playbook_dir }}/known_hosts"
    - name: Push as another
      hosted.services.sftp_sync:
        host: "{{ ansible_host }}"
        port: "{{ ansible_port }}"
        username: nobody
        password: wrong
        src: "{{ playbook_dir }}/site"
        dest: www
        known_hosts: "{{ playbook_dir }}/known_hosts"
      ignore_errors: true
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Push from nowhere
      hosted.services.sftp_sync:
        src: "{{ playbook_dir }}/site"
        dest: www
      ignore_errors: true
"""
WITHOUT_ADDRESS = """
- hosts: survival
  gather_facts: false
  tasks:
    - name: Push
      hosted.services.sftp_sync: &sync
        src: "{{ playbook_dir }}/site"
        dest: www
        delete: true
        known_hosts: "{{ playbook_dir }}/known_hosts"
      ignore_errors: true
    - name: Push, delegated
      hosted.services.sftp_sync: *sync
      delegate_to: localhost
      ignore_errors: true
    - name: Pin, delegated
      hosted.services.sftp_host_key:
        known_hosts: "{{ playbook_dir }}/known_hosts"
      delegate_to: localhost
      ignore_errors: true
"""
CUT_SHORT = """
- hosts: survival
  gather_facts: false
  vars: {customer: ""}
  tasks:
    - name: Push
      hosted.services.sftp_sync:
        src: "{{ item }}"
        dest: www
        known_hosts: "{{ playbook_dir }}/known_hosts"
      loop: ["sites/{{ customer }}", "sites//{{ customer }}", "sites/{{ customer }}/."]
      delegate_to: localhost
      ignore_errors: true
"""


def add_host(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> str:
    """Add a service whose host leads to its files, and return its id."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    key = {"name": "test", "public_key": (tmp_path / "key.pub").read_text()}
    service = {"name": "survival", "product": "minecraft"}
    seed = {"delays": {"provision": 0}, "ssh_keys": [key], "services": [service]}
    id: str = sandbox.seed(seed)["services"]["survival"]
    access = sandbox.api("GET", f"/api/resources/{id}/sftp").json()
    variables = {
        "ansible_host": access["host"],
        "ansible_port": access["port"],
        "ansible_user": "{{ access_user }}",
        "access_user": access["username"],
        "ansible_ssh_private_key_file": tmp_path / "key",
    }
    line = " ".join(f"{name}={str(value)!r}" for name, value in variables.items())
    ansible.inventory.write_text(f"{ansible.inventory.read_text()}survival {line}\n")
    sandbox.clear_journal()
    return id


def test_the_host_of_the_play_is_meant(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    id = add_host(ansible, sandbox, tmp_path)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("welcome\n")
    run = ansible.playbook(PLAY, env=NO_API).succeed()
    assert run["Push"].result["sftp_sync"]["created"] == [".", "index.html"]
    assert not sandbox.journal()
    assert "refused the login with the password" in run["Push as another"].message
    assert run["Push from nowhere"].message == "one of the following is required: service, host"
    found = sandbox.api("GET", f"/api/resources/{id}/files/contents?path=www/index.html").json()
    assert found["content"] == "welcome\n"


def test_a_service_without_an_address_is_on_no_other_machine(
    ansible: Ansible, sandbox: Sandbox, tmp_path: Path
) -> None:
    """An inventory that could not read its SFTP access sets no address, and Ansible fills in another one."""
    id = add_host(ansible, sandbox, tmp_path)
    written = ansible.inventory.read_text()
    address = f"ansible_host='{sandbox.api('GET', f'/api/resources/{id}/sftp').json()['host']}'"
    assert address in written
    ansible.inventory.write_text(written.replace(address, f"hosted_service_id={id}"))
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("welcome\n")
    run = ansible.playbook(WITHOUT_ADDRESS, env=NO_API).succeed()
    for task in ("Push", "Push, delegated", "Pin, delegated"):
        assert "survival has no ansible_host" in run[task].message
    assert "www" not in sandbox.api("GET", f"/api/resources/{id}/files").text
    assert not (tmp_path / "known_hosts").exists(), "nobody was asked for a key"


@pytest.mark.parametrize("in_process", [True, False], ids=["in_process", "as_module"])
@pytest.mark.parametrize("mode", [["--check"], []], ids=["check", "apply"])
def test_a_relative_source_that_was_cut_short_is_refused(
    mode: list[str], in_process: bool, ansible: Ansible, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The folder of one customer, without the name of the customer, is that of all of them."""
    id = add_host(ansible, sandbox, tmp_path)
    (tmp_path / "files" / "sites" / "public").mkdir(parents=True)
    (tmp_path / "files" / "sites" / "public" / "index.html").write_text("of another customer\n")
    run = ansible.playbook(CUT_SHORT, *mode, env=NO_API, in_process=in_process)
    listed = sandbox.api("GET", f"/api/resources/{id}/files").text
    assert "www" not in listed
    messages = [one.get("msg", "") for one in run["Push"].result["results"]]
    for message, given in zip(messages, ("sites/", "sites//", "sites//."), strict=True):
        assert message.startswith(f"src is {given!r}, which looks like a longer path with an empty variable")
        assert "write 'sites' to copy all" in message
