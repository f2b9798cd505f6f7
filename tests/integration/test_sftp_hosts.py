# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play over an inventory host: its variables lead to its files, without API, token or delegation."""

from __future__ import annotations

import subprocess
from pathlib import Path

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


def test_the_host_of_the_play_is_meant(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")], check=True)
    key = {"name": "test", "public_key": (tmp_path / "key.pub").read_text()}
    service = {"name": "survival", "product": "minecraft"}
    seed = {"delays": {"provision": 0}, "ssh_keys": [key], "services": [service]}
    id = sandbox.seed(seed)["services"]["survival"]
    access = sandbox.api("GET", f"/api/resources/{id}/sftp").json()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("welcome\n")
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
    run = ansible.playbook(PLAY, env=NO_API).succeed()
    assert run["Push"].result["sftp_sync"]["created"] == [".", "index.html"]
    assert not sandbox.journal()
    assert "refused the login with the password" in run["Push as another"].message
    assert run["Push from nowhere"].message == "one of the following is required: service, host"
    found = sandbox.api("GET", f"/api/resources/{id}/files/contents?path=www/index.html").json()
    assert found["content"] == "welcome\n"
