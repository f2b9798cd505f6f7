# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Last copies of real databases, and of services in a play: restored from what is left when they are gone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    DIRECTORY,
    FILE,
    LINK,
    Entry,
    Manifest,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    DumpContent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible
from integration.database_servers import DATABASE, PASSWORD, ROWS, Server, connect
from integration.test_blueprint_killed import register_key
from unit.plugins.module_utils._resources.platform import run

ROOT = Path(__file__).parents[2]
PAGE = 4096
"""The least room that a file takes."""
GAME = {"product": "minecraft", "project": "games"}


@pytest.fixture
def database(engine: Server, sandbox: Sandbox) -> Server:
    """A server that is the database of service ``db``."""
    sandbox.seed({"services": [{"name": "db", "product": engine.engine}]})
    connect(sandbox, "db", engine)
    return engine


def names(sandbox: Sandbox) -> set[str]:
    return {service["name"] for service in sandbox.api("GET", "/api/resources").json()["items"]}


def delete(
    sandbox: Sandbox, folder: Path, check_mode: bool = False, name: str = "db", **given: Any
) -> dict[str, Any]:
    """Delete the database or another service, with a last copy."""
    return run(sandbox, SERVICE, check_mode, name=name, state="absent", keep_copy=str(folder), **given)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for one page, which is full as soon as anything is copied to it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={PAGE}", "tmpfs", disk],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"this machine mounts no file system: {mounted.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def test_a_disk_that_fills_up_keeps_files(sandbox: Sandbox, small_disk: Path, tmp_path: Path) -> None:
    """Files that would fit by their bytes, and not by the blocks that they take."""
    files = {f"{number}.txt": "few" for number in range(PAGE // 100)}
    sandbox.seed({"projects": ["games"], "services": [{"name": "one", **GAME, "files": files}]})
    login: dict[str, Any] = {
        "private_key_file": register_key(sandbox, tmp_path),
        "known_hosts": str(tmp_path / "known_hosts"),
    }
    result = delete(sandbox, small_disk / "keep", name="one", **login)
    assert result["failed"] and not result["changed"] and "copy" not in result
    assert "service 'one'" in result["msg"] and "no space left on this machine" in result["msg"]
    assert "was not deleted, as there is no last copy of it" in result["msg"]
    assert sandbox.journal("resources.delete") == [] and "one" in names(sandbox)
    assert [*small_disk.glob("keep/*/*")] == []
    subprocess.run(["mount", "-o", "remount,size=16m", small_disk], check=True)
    copy = delete(sandbox, small_disk / "keep", name="one", **login)["copy"]
    assert copy["verified"] and copy["files"] == len(files)
    assert "one" not in names(sandbox)


@pytest.mark.night
def test_a_database_is_dumped_and_can_be_restored(
    database: Server, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that changes between its two dumps, by one row more, is kept."""
    expected = delete(sandbox, tmp_path / "keep", check_mode=True)
    assert expected["actions"][0].startswith("copy a dump of database 'shop' of service 'db'")
    assert [*tmp_path.iterdir()] == []
    verify = DumpContent.verify

    def meanwhile(own: DumpContent, folder: str) -> Any:
        database.sql("INSERT INTO orders VALUES (-1, 'in between');", DATABASE)
        return verify(own, folder)

    with monkeypatch.context() as patch:
        patch.setattr(DumpContent, "verify", meanwhile)
        result = delete(sandbox, tmp_path / "keep")
    assert result["failed"] and not result["changed"] and "copy" not in result
    assert "a second dump differs from the first one" in result["msg"]
    assert "db" in names(sandbox) and sandbox.journal("resources.delete") == []
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    result = delete(sandbox, tmp_path / "keep")
    assert "db" not in names(sandbox)
    copy = result["copy"]
    assert (copy["kind"], copy["files"], copy["verified"]) == ("dump", 1, True)
    file = "database.dump" if database.engine == "postgresql" else "database.sql.gz"
    folder = Path(copy["path"])
    assert sorted(os.listdir(folder)) == sorted([file, "manifest.json", "service.yml"])
    assert (folder / file).stat().st_size == copy["bytes"]
    assert (folder / file).stat().st_mode & 0o777 == 0o600
    database.restore(folder / file, "restored")
    assert database.sql("SELECT count(*) FROM orders;", "restored").strip() == str(ROWS + 1)
    for path in (found for found in tmp_path.rglob("*") if found.is_file()):
        assert PASSWORD.encode() not in path.read_bytes(), path
    assert PASSWORD not in str(result)


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
