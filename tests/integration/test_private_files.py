# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept on the controller is for its owner alone, whatever the umask and whoever was there before."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import record_of
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible

GAME = {"name": "survival", "product": "minecraft", "project": "web"}
SEED = {"projects": ["web"], "services": [GAME], "apps": [{"slug": "acme-shop", "project": "web"}]}
KEEP = "- hosted.services.sftp_password: {service: survival}\n"
REMEMBER = """
- hosted.services.environment: {slug: acme-shop, variables: {A: b}, state_dir: "{{ playbook_dir }}/c/d/state"}
"""
PIN = """
- hosted.services.sftp_sync:
    service: survival
    password: "{{ (lookup('file', secrets) | from_json).password }}"
    known_hosts: "{{ playbook_dir }}/e/f/known_hosts"
    src: "{{ playbook_dir }}/hosts.ini"
    dest: "www/"
  vars:
    secrets: "{{ query('fileglob', playbook_dir ~ '/a/b/home/secrets/*.json') | first }}"
"""


def open_to_others(root: Path) -> dict[str, str]:
    """Return what is not for its owner alone, with its mode as `ls` shows it."""
    modes = {str(path): stat.filemode(path.lstat().st_mode) for path in (root, *root.rglob("*"))}
    return {path: shown for path, shown in modes.items() if shown not in ("drwx------", "-rw-------")}


def test_every_level_is_for_its_owner_alone(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.seed(SEED)
    home = ansible.folder / "a" / "b" / "home"
    os.umask(0)
    ansible.tasks(KEEP + REMEMBER + PIN, env={"HOSTED_SERVICES_HOME": str(home)}).succeed()
    for top in "ace":
        assert open_to_others(ansible.folder / top) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_what_a_stranger_has_put_into_a_shared_folder_is_refused(ansible: Ansible, sandbox: Sandbox) -> None:
    """A folder, a link to a folder, a link in place of a lock, and keys of servers."""
    sandbox.seed(SEED)
    shared, target = ansible.folder / "shared", ansible.folder / "target"
    for folder, mode in ((shared, 0o1777), (target, 0o700), (shared / "folder", 0o755)):
        folder.mkdir()
        folder.chmod(mode)
    (shared / "link").symlink_to(target)
    options = StateDirOptions(base_url=sandbox.base_url, state_dir=FilePath(str(shared)))
    Path(f"{record_of(options, 'acme-shop').path}.lock").symlink_to(target / "made")
    (shared / "known_hosts").touch()
    for trap in shared.iterdir():
        os.chown(trap, 65534, 65534, follow_symlinks=False)
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
