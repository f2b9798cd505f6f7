# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Last copies of services in a play: restored from what is left when they are gone."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    DIRECTORY,
    FILE,
    LINK,
    Entry,
    Manifest,
)
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible
from integration.test_blueprint_killed import register_key

ROOT = Path(__file__).parents[2]
GAME = {"product": "minecraft", "project": "games"}


def names(sandbox: Sandbox) -> set[str]:
    return {service["name"] for service in sandbox.api("GET", "/api/resources").json()["items"]}


@pytest.mark.night
@pytest.mark.skipif(not shutil.which("jq"), reason="jq is not installed")
def test_the_documented_command_gives_files_the_permissions_of_the_service(tmp_path: Path) -> None:
    odd = "files/it's a $HOME"
    modes = {"files": "0755", odd: "0555", f"{odd}/run.sh": "0750", "files/a": "0444"}
    for folder in ("files", odd):
        (tmp_path / folder).mkdir(mode=0o700)
    for file in (f"{odd}/run.sh", "files/a"):
        (tmp_path / file).touch(mode=0o600)
    (tmp_path / "files/link").symlink_to("a")
    entries = [Entry(path, DIRECTORY, mode=mode) for path, mode in sorted(modes.items())]
    dump = [Entry("files/link", LINK, target="a", mode="0777"), Entry("database.dump", FILE)]
    Manifest({}, "files", "2026-11-23T02:15:00Z", [*entries, *dump]).write(str(tmp_path))
    guide = (ROOT / "docs/guides/last-copies.md").read_text()
    [command] = re.findall(r"^jq .*manifest\.json \| sh$", guide, re.MULTILINE)
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert {path: f"{(tmp_path / path).stat().st_mode & 0o7777:04o}" for path in modes} == modes


@BOTH_WAYS
def test_several_in_a_play_and_one_of_them_again(
    in_process: bool, ansible: Ansible, sandbox: Sandbox, tmp_path: Path
) -> None:
    """What cannot be copied is kept, and keeps nothing else; what is gone is ordered from its description."""
    sandbox.seed({
        "projects": ["games"],
        "services": [
            {"name": "one", **GAME, "files": {"a.txt": "first", "{{ odd }}/b": "b"}},
            {"name": "metal", "product": "dedicated", "host": "node-metal-1"},
            {"name": "two", **GAME, "files": {"a.txt": "second"}},
        ],
    })  # fmt: skip
    register_key(sandbox, tmp_path)
    tasks = f"""
- name: Delete
  hosted.services.service:
    name: "{{{{ item }}}}"
    state: absent
    keep_copy: keep
    private_key_file: {tmp_path}/key
    known_hosts: {tmp_path}/known_hosts
    wait_interval: 0.2
  loop: [one, metal, two]
  ignore_errors: true
"""
    done = ansible.tasks(tasks, in_process=in_process)
    results = done.items("Delete")
    assert [bool(item.failed) for item in results] == [False, True, False]
    assert names(sandbox) == {"metal"}
    copies = [item.result["copy"] for item in (results[0], results[2])]
    assert [(copy["kind"], copy["files"], copy["bytes"]) for copy in copies] == [
        ("files", 2, 6),
        ("files", 1, 6),
    ]
    assert all(copy["verified"] for copy in copies)
    first = Path(copies[0]["path"])
    assert (first / "files" / "{{ odd }}" / "b").read_text() == "b"
    described = yaml.safe_load((first / "service.yml").read_text())
    assert described[0]["hosted.services.service"]["project"] == "games"
    again = ansible.tasks(f"- ansible.builtin.include_tasks: {first}/service.yml\n").succeed()
    assert again["Order service one again"].result["changed"]
    assert names(sandbox) == {"metal", "one"}
