# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A play over an inventory host: its variables lead to its files, without API, token or delegation."""

from __future__ import annotations

import getpass
import json
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible

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
DELEGATED = """
- hosts: {host}
  gather_facts: false
  tasks:
    - name: Push
      hosted.services.sftp_sync:
        src: "{{{{ playbook_dir }}}}/site"
        dest: www
        delete: true
        known_hosts: "{{{{ playbook_dir }}}}/known_hosts"
        timeout: 5
      delegate_to: "{{{{ item }}}}"
      loop: [localhost, bast]
      vars: {vars}
      ignore_errors: true
    - name: Pin
      hosted.services.sftp_host_key:
        known_hosts: "{{{{ playbook_dir }}}}/known_hosts"
        timeout: 5
      delegate_to: "{{{{ item }}}}"
      loop: [localhost, bast]
      vars: {vars}
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
        delete: "yes"
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


@BOTH_WAYS
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


class Delegating:
    """A service whose host is delegated to, as this machine is, and another one that is meant."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox, folder: Path) -> None:
        self.ansible, self.sandbox, self.folder = ansible, sandbox, folder
        self.delegate = add_host(ansible, sandbox, folder)
        with ansible.inventory.open("a") as inventory:
            inventory.write(
                "bast ansible_connection=local ansible_python_interpreter='{{ ansible_playbook_python }}'"
            )
            inventory.write(f" ansible_private_key_file={folder / 'key'}")
            for name, value in self.login(self.delegate).items():
                inventory.write(f" {name}={value}")
            inventory.write("\n")
        other = {"services": [{"name": "creative", "product": "minecraft"}]}
        self.own: str = sandbox.seed(other)["services"]["creative"]
        for id in (self.delegate, self.own):
            kept = {"path": "www/kept.txt", "content": "kept"}
            sandbox.api("POST", f"/api/resources/{id}/files/write", kept).raise_for_status()
        (folder / "site").mkdir()
        (folder / "site" / "index.html").write_text("welcome\n")

    def login(self, id: str) -> dict[str, Any]:
        """Return the variables that lead to the files of a service."""
        access = self.sandbox.api("GET", f"/api/resources/{id}/sftp").json()
        names = {"ansible_host": "host", "ansible_port": "port", "ansible_user": "username"}
        return {variable: access[name] for variable, name in names.items()}

    def run(
        self,
        host: str,
        known: dict[str, Any],
        *arguments: str,
        task: dict[str, Any] | None = None,
        **more: Any,
    ) -> list[str]:
        """Run the tasks on a host with these variables; return where each connection went, or why not."""
        written = self.ansible.inventory.read_text()
        line = " ".join(f"{name}={value}" for name, value in known.items())
        self.ansible.inventory.write_text(f"{written}{host} {line}\n")
        play = DELEGATED.format(host=host, vars=json.dumps(task or {}))
        run = self.ansible.playbook(play, *arguments, env=NO_API, **more)
        self.ansible.inventory.write_text(written)
        return [describe(item) for name in ("Push", "Pin") for item in run[name].result["results"]]

    def names(self, id: str) -> list[str]:
        """Return what is in the folder of a service that is pushed to."""
        listed = self.sandbox.api("GET", f"/api/resources/{id}/files?directory=www").json()
        return sorted(item["name"] for item in listed)


def describe(item: dict[str, Any]) -> str:
    """Return where a connection went, or what was said of it."""
    result = item.get("sftp_sync") or item.get("host_key")
    if not result:
        return str(item["msg"])
    return f"{result.get('username', '')}@{result['host']}:{result['port']}"


@pytest.fixture
def delegating(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> Delegating:
    return Delegating(ansible, sandbox, tmp_path)


@BOTH_WAYS
def test_a_delegated_task_works_on_the_host_of_the_play(in_process: bool, delegating: Delegating) -> None:
    """It takes neither address nor login of the machine that it runs on, which loses nothing."""
    run, own = partial(delegating.run, in_process=in_process), delegating.login(delegating.own)
    host, port, user = own.values()
    key, me = delegating.folder / "key", getpass.getuser()
    unnamed = run("127.0.0.2", {})
    assert all(f"cannot connect to {me}@127.0.0.2:22:" in said for said in unnamed[:2]), unnamed
    assert all("cannot connect to 127.0.0.2:22:" in said for said in unnamed[2:]), unnamed
    portless = run("nas", {"ansible_host": host})
    assert all(f"cannot connect to {me}@{host}:22:" in said for said in portless[:2]), portless
    userless = run("nas", {"ansible_host": host, "ansible_port": port, "hosted_service_id": delegating.own})
    assert all(f"{me}@{host}:{port} refused the login" in said for said in userless[:2]), userless
    assert str(key) not in userless[1], "that of the host delegated to"
    assert delegating.names(delegating.own) == ["kept.txt"]
    for known, arguments, task in (
        ({**own, "ansible_private_key_file": key}, [], {}),
        ({"ansible_host": host, "ansible_ssh_port": port}, ["-u", user, "--private-key", str(key)], {}),
        ({}, [], {**own, "ansible_private_key_file": str(key)}),
    ):
        meant = run("nas", known, *arguments, task=task)
        assert meant == [f"{user}@{host}:{port}"] * 2 + [f"@{host}:{port}"] * 2
        assert delegating.names(delegating.own) == ["index.html"]
    assert delegating.names(delegating.delegate) == ["kept.txt"]
