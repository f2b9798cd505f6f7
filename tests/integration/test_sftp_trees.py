# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many small files and a large one go over as they are, and a second run changes nothing.

Real plays, in both ways of running a task, against several servers. `make bench-sftp`
holds 2,000 files and one of 1 GiB to the same.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.session import WINDOW
from integration.ansible_run import Ansible
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.servers import Server

pytestmark = pytest.mark.night

FILES, FOLDERS = 300, 7
LINK = "folder-1/link"
SERVER = """
  gather_facts: false
  module_defaults:
    hosted.services.sftp_sync:
      host: "{{ server.host }}"
      port: "{{ server.port }}"
      username: "{{ server.username }}"
      private_key_file: "{{ server.private_key_file }}"
      known_hosts: "{{ playbook_dir }}/known_hosts"
"""
PLAY = f"""
- hosts: localhost{SERVER}
  tasks:
    - name: Push
      hosted.services.sftp_sync: &push {{src: "{{{{ playbook_dir }}}}/tree", dest: up}}
    - name: Push again
      hosted.services.sftp_sync: *push
    - name: Pull
      hosted.services.sftp_sync: &pull {{direction: pull, src: up, dest: "{{{{ playbook_dir }}}}/down"}}
    - name: Pull again
      hosted.services.sftp_sync: *pull
"""


@pytest.fixture
def target(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with servers.start(kind, tmp_path_factory.mktemp(kind)) as server:
        yield server


@pytest.fixture
def tree(ansible: Ansible) -> Path:
    """Small files in some folders, one larger than a server may send without waiting, and one with holes."""
    root = ansible.folder / "tree"
    for number in range(FILES):
        path = root / f"folder-{number % FOLDERS}" / f"file-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(os.urandom(number * 20))
    (root / "large").write_bytes(os.urandom(2 * WINDOW + 1))
    (root / "sparse").write_bytes(b"x" + bytes(2_000_000) + b"y" + bytes(1_000_000))
    (root / LINK).symlink_to("../folder-0/file-0")
    return root


def content(root: Path, modes: bool) -> dict[str, tuple[int, int, str]]:
    """Return the mode, where it is of interest, the time and a checksum of every file below a directory."""
    return {
        str(path.relative_to(root)): (
            path.stat().st_mode if modes else 0,
            int(path.stat().st_mtime),
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


@pytest.mark.parametrize(
    ("kind", "in_process"),
    [*((kind, True) for kind in servers.KINDS), ("openssh", False)],
)
def test_everything_arrives_and_stays(in_process: bool, ansible: Ansible, target: Server, tree: Path) -> None:
    run = ansible.playbook(PLAY, in_process=in_process, variables={"server": target.options}).succeed()
    links = target.kind != "rclone"  # which knows neither links nor permissions
    entries = FILES + FOLDERS + 3 + links
    for way in ("Push", "Pull"):
        assert len(run[way].result["sftp_sync"]["created"]) == entries
        again = run[f"{way} again"].result
        assert not again["changed"]
        assert again["sftp_sync"]["unchanged"] == entries
        assert again["sftp_sync"]["left_out"] == ([] if links or way == "Pull" else [LINK])
    assert sorted(path.name for path in target.root.iterdir()) == ["up"]
    wanted = content(tree, links)
    for root in (target.root / "up", ansible.folder / "down"):
        assert content(root, links) == wanted
        assert not links or os.readlink(root / LINK) == "../folder-0/file-0"
    log = target.root.parent / "sshd.log"
    if log.exists():
        assert log.read_text().count("Accepted publickey") == 4, "one login for each task"
