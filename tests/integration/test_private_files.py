# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept on the controller is for its owner alone, whatever the umask and whoever was there before."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.event_watch import Watched, arguments, run_source
from integration.private_files import open_to_others

GAME = {"name": "survival", "product": "minecraft", "project": "web"}
SEED = {"projects": ["web"], "services": [GAME], "apps": [{"slug": "acme-shop", "project": "web"}]}
KEEP = """
- name: Keep a password
  hosted.services.sftp_password: {service: survival}
"""
REMEMBER = """
- name: Remember an environment
  hosted.services.environment:
    {slug: acme-shop, variables: {A: b}, state_dir: "{{ playbook_dir }}/c/d/state"}
"""
PIN = """
- name: Pin the key of a server
  hosted.services.sftp_sync:
    service: survival
    password: "{{ (lookup('file', secrets) | from_json).password }}"
    known_hosts: "{{ playbook_dir }}/e/f/known_hosts"
    src: "{{ playbook_dir }}/hosts.ini"
    dest: "www/"
  vars:
    secrets: "{{ query('fileglob', playbook_dir ~ '/a/b/home/secrets/*.json') | first }}"
"""
STRANGER = 65534


async def look(watched: Watched) -> None:
    """Look at a source that has made its files."""


@pytest.mark.parametrize("umask", [0o000, 0o077], ids=["open", "closed"])
def test_every_level_is_for_its_owner_alone(ansible: Ansible, sandbox: Sandbox, umask: int) -> None:
    sandbox.seed(SEED)
    cost, state = ansible.folder / "cost.json", ansible.folder / "g" / "h" / "state.json"
    env = {
        "HOSTED_SERVICES_HOME": str(ansible.folder / "a" / "b" / "home"),
        "ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost",
        "HOSTED_SERVICES_COST_OUTPUT": str(cost),
    }
    os.umask(umask)
    ansible.tasks(KEEP + REMEMBER + PIN, env=env).succeed()
    run_source(arguments(sandbox, ansible.folder, state_file=str(state)), look)
    for made in (cost, *(ansible.folder / top for top in "aceg")):
        assert open_to_others(made) == {}


def test_an_open_folder_of_an_earlier_version_is_closed(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.seed(SEED)
    home = ansible.folder / "home"
    home.mkdir()
    home.chmod(0o777)
    ansible.tasks(KEEP, env={"HOSTED_SERVICES_HOME": str(home)}).succeed()
    assert open_to_others(home) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_what_a_stranger_has_put_into_a_shared_folder_is_refused(ansible: Ansible, sandbox: Sandbox) -> None:
    """A folder, a link to a folder, a link in place of a lock, and keys of servers."""
    sandbox.seed(SEED)
    shared, target = ansible.folder / "shared", ansible.folder / "target"
    for folder, mode in ((shared, 0o1777), (target, 0o700), (shared / "folder", 0o755)):
        folder.mkdir()
        folder.chmod(mode)
    (shared / "link").symlink_to(target)
    (shared / "acme-shop.lock").symlink_to(target / "made")
    (shared / "known_hosts").touch()
    for trap in shared.iterdir():
        os.chown(trap, STRANGER, STRANGER, follow_symlinks=False)
    kept = ansible.folder / "a" / "b" / "home"

    def refused(task: str, part: str, place: Path, home: Path = kept) -> None:
        changed = task.replace(f"{{{{ playbook_dir }}}}/{part}", str(place))
        run = ansible.tasks(changed, env={"HOSTED_SERVICES_HOME": str(home)})
        assert "belongs to another user" in run.outcomes[-1].message, run.output

    refused(KEEP, "", shared, home=shared / "folder")
    refused(KEEP, "", shared, home=shared / "link")
    assert [line for line in sandbox.journal() if line["method"] != "GET"] == []
    ansible.tasks(KEEP, env={"HOSTED_SERVICES_HOME": str(kept)}).succeed()
    refused(REMEMBER, "c/d/state", shared / "link")
    refused(REMEMBER, "c/d/state", shared)
    refused(PIN, "e/f/known_hosts", shared / "known_hosts")
    assert [*target.iterdir(), *(shared / "folder").iterdir()] == []
