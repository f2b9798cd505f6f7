# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relative paths: what is read is looked for as copy does, what is written begins at the playbook."""

from __future__ import annotations

from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
SEED = {
    "services": [
        {"name": "web", "product": "minecraft", "files": {"data/a.txt": "from the service"}},
        {"name": "other", "product": "minecraft"},
    ]
}
PLAY = """
- hosts: localhost
  gather_facts: false
  roles: [ours]
  module_defaults:
    hosted.services.sftp_sync: {service: web, password: "{{ password }}", host_key_checking: "off"}
  tasks:
    - name: A key
      hosted.services.ssh_key: {name: me, public_key_file: mine.pub}
    - name: A file
      hosted.services.file: {service: web, path: conf/app.ini, src: app.ini}
    - name: In the background
      hosted.services.file: {service: web, path: conf/again.ini, src: app.ini}
      async: 60
      poll: 1
    - name: With a token of its own
      hosted.services.account_info: {token_file: token.txt}
      environment: {HOSTED_SERVICES_TOKEN: ""}
    - name: A password
      hosted.services.sftp_password: {service: other, secrets_dest: written/secret.json}
    - name: Push
      hosted.services.sftp_sync: {src: site, dest: www}
    - name: Push again
      hosted.services.sftp_sync: {src: site, dest: www}
    - name: Pull
      hosted.services.sftp_sync: {direction: pull, src: data, dest: fetched}
    - name: Pull one
      hosted.services.sftp_sync: {direction: pull, src: data/a.txt, dest: one/}
    - name: Nowhere
      hosted.services.file: {service: web, path: a, src: nowhere.ini}
      ignore_errors: true
"""
ROLE = """
- name: A file of the role
  hosted.services.file: {service: web, path: role.ini, src: role.ini}
"""
FILES = {
    "files/mine.pub": KEY,
    "files/app.ini": "from files",
    "app.ini": "from the folder of the play",
    "files/site/index.html": "pushed",
    "roles/ours/tasks/main.yml": ROLE,
    "roles/ours/files/role.ini": "from the role",
    "role.ini": "from the play",
    "written/other": "",
}


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ansible-playbook is started in, which holds nothing."""
    return tmp_path_factory.mktemp("elsewhere")


def content(sandbox: Sandbox, id: str, path: str) -> str:
    answer = sandbox.api("GET", f"/api/resources/{id}/files/contents?path={path}").json()
    return str(answer["content"])


@BOTH_WAYS
def test_paths_begin_beside_the_playbook_or_the_role(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    """What is read is looked for in `files` first; nothing is in the folder that ansible-playbook runs in."""
    id = sandbox.seed(SEED)["services"]["web"]
    password = sandbox.api("POST", f"/api/resources/{id}/sftp/password").json()["password"]
    for name, text in {**FILES, "token.txt": sandbox.token}.items():
        (ansible.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (ansible.folder / name).write_text(text)
    (elsewhere / "nowhere.ini").write_text("not this one")
    variables = {"password": password}
    run = ansible.playbook(PLAY, in_process=in_process, folder=elsewhere, variables=variables).succeed()
    assert content(sandbox, id, "conf/app.ini") == "from files"
    assert content(sandbox, id, "conf/again.ini") == "from files"
    assert content(sandbox, id, "role.ini") == "from the role"
    assert content(sandbox, id, "www/index.html") == "pushed"
    assert [key["name"] for key in sandbox.api("GET", "/api/users/me/ssh-keys").json()] == ["me"]
    assert run["With a token of its own"].result["account"]["email"]
    assert run["Push again"].result["changed"] is False
    for name in ("fetched/a.txt", "one/a.txt"):
        assert (ansible.folder / name).read_text() == "from the service"
    assert (ansible.folder / "written" / "secret.json").is_file()
    assert f"src '{ansible.folder / 'nowhere.ini'}' cannot be read" in run["Nowhere"].message
    assert [path.name for path in elsewhere.iterdir()] == ["nowhere.ini"]
