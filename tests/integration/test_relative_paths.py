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
SEED = {"services": [{"name": "web", "product": "minecraft", "files": {"data/a.txt": "from the service"}}]}
PLAY = """
- hosts: localhost
  gather_facts: false
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
      hosted.services.sftp_password: {service: web, secrets_dest: written/secret.json}
"""
ROLE = """
- name: A file of the role
  hosted.services.file: {service: web, path: role.ini, src: role.ini}
"""


@pytest.fixture
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that ansible-playbook is started in, which holds nothing."""
    return tmp_path_factory.mktemp("elsewhere")


def content(sandbox: Sandbox, id: str, path: str) -> str:
    """Return the text of a file on a service."""
    answer = sandbox.api("GET", f"/api/resources/{id}/files/contents?path={path}").json()
    return str(answer["content"])


@BOTH_WAYS
def test_sources_are_found_in_files_beside_the_playbook(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    id = sandbox.seed(SEED)["services"]["web"]
    (ansible.folder / "files").mkdir()
    (ansible.folder / "written").mkdir()
    (ansible.folder / "files" / "mine.pub").write_text(KEY)
    (ansible.folder / "files" / "app.ini").write_text("from files")
    (ansible.folder / "app.ini").write_text("from the folder of the play")
    (ansible.folder / "token.txt").write_text(sandbox.token)
    run = ansible.playbook(PLAY, in_process=in_process, folder=elsewhere).succeed()
    assert content(sandbox, id, "conf/app.ini") == "from files"
    assert content(sandbox, id, "conf/again.ini") == "from files"
    assert [key["name"] for key in sandbox.api("GET", "/api/users/me/ssh-keys").json()] == ["me"]
    assert run["With a token of its own"].result["account"]["email"]
    assert (ansible.folder / "written" / "secret.json").is_file()
    assert list(elsewhere.iterdir()) == []


@BOTH_WAYS
def test_a_role_brings_its_files_along(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    id = sandbox.seed(SEED)["services"]["web"]
    role = ansible.folder / "roles" / "ours"
    for name in ("tasks", "files"):
        (role / name).mkdir(parents=True)
    (role / "tasks" / "main.yml").write_text(ROLE)
    (role / "files" / "role.ini").write_text("from the role")
    (ansible.folder / "role.ini").write_text("from the play")
    play = "- hosts: localhost\n  gather_facts: false\n  roles: [ours]\n"
    ansible.playbook(play, in_process=in_process, folder=elsewhere).succeed()
    assert content(sandbox, id, "role.ini") == "from the role"


@BOTH_WAYS
def test_a_mirror_begins_and_ends_beside_the_playbook(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    """Not in the folder that ansible-playbook was started in."""
    id = sandbox.seed(SEED)["services"]["web"]
    password = sandbox.api("POST", f"/api/resources/{id}/sftp/password").json()["password"]
    (ansible.folder / "files" / "site").mkdir(parents=True)
    (ansible.folder / "files" / "site" / "index.html").write_text("pushed")
    options = f"service: web, password: '{password}', host_key_checking: 'off'"
    tasks = f"""
- name: Push
  hosted.services.sftp_sync: {{{options}, src: site, dest: www}}
- name: Push again
  hosted.services.sftp_sync: {{{options}, src: site, dest: www}}
- name: Pull
  hosted.services.sftp_sync: {{{options}, direction: pull, src: data, dest: fetched}}
- name: Pull one
  hosted.services.sftp_sync: {{{options}, direction: pull, src: data/a.txt, dest: one/}}
"""
    run = ansible.tasks(tasks, in_process=in_process, folder=elsewhere).succeed()
    assert content(sandbox, id, "www/index.html") == "pushed"
    assert run["Push again"].result["changed"] is False
    assert (ansible.folder / "fetched" / "a.txt").read_text() == "from the service"
    assert (ansible.folder / "one" / "a.txt").read_text() == "from the service"
    assert list(elsewhere.iterdir()) == []


@BOTH_WAYS
@pytest.mark.parametrize("dest", ["./{{ archive }}", "{{ playbook_dir }}", ".", "{{ playbook_dir }}/.."])
def test_a_mirror_does_not_delete_the_project(
    in_process: bool, dest: str, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    sandbox.seed(SEED)
    (ansible.folder / "vault.yml").write_text("precious")
    options = f"service: web, password: x, direction: pull, src: data, delete: true, dest: '{dest}'"
    run = ansible.tasks(
        f"- name: Pull\n  hosted.services.sftp_sync: {{{options}}}\n  vars: {{archive: ''}}\n",
        in_process=in_process,
        folder=elsewhere,
    )
    assert run["Pull"].outcome == "failed"
    assert "the folder of the playbook" in run["Pull"].message
    assert (ansible.folder / "vault.yml").read_text() == "precious"


@BOTH_WAYS
def test_a_source_that_is_nowhere_is_named_with_the_folder_of_the_play(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, elsewhere: Path
) -> None:
    sandbox.seed(SEED)
    (elsewhere / "app.ini").write_text("not this one")
    run = ansible.tasks(
        "- name: Nowhere\n  hosted.services.file: {service: web, path: a, src: app.ini}\n",
        in_process=in_process,
        folder=elsewhere,
    )
    assert run["Nowhere"].outcome == "failed"
    assert f"src '{ansible.folder / 'app.ini'}' cannot be read" in run["Nowhere"].message
