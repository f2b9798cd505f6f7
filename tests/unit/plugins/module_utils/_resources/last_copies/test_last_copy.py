# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deletion with a last copy, on the sandbox over its real SFTP: verified, or nothing is deleted."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies import last_copy
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    CopyFolder,
    Manifest,
    entries_on_disk,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    FileContent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services import removal
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Remote
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import add, id_of, writes

Delete = Callable[..., dict[str, Any]]


def is_there(sandbox: Sandbox, name: str) -> bool:
    items = sandbox.api("GET", "/api/resources").json()["items"]
    return any(service["name"] == name for service in items)


def refused(sandbox: Sandbox, result: dict[str, Any], tmp_path: Path, name: str = "one") -> str:
    """Return the error of a task that deleted nothing, left no copy and claims none."""
    assert result.get("failed"), result
    assert writes(sandbox) == []
    assert is_there(sandbox, name)
    assert not result["changed"]
    assert "copy" not in result
    assert left(tmp_path) == []
    return str(result["msg"])


def left(tmp_path: Path) -> list[Path]:
    """Return what is in the folders of services."""
    return [path for folder in tmp_path.glob("keep/*") for path in folder.iterdir()]


def write(sandbox: Sandbox, name: str, path: str, text: str) -> None:
    """Change a file of a service, as whoever uses it does."""
    done = sandbox.api(
        "POST", f"/api/resources/{id_of(sandbox, name)}/files/write", {"path": path, "content": text}
    )
    assert done.ok
    sandbox.clear_journal()


def test_check_mode_says_what_would_be_copied_and_writes_nothing(
    sandbox: Sandbox, delete: Delete, tmp_path: Path
) -> None:
    result = delete("one", check_mode=True)
    assert result["changed"]
    copied = result["copy"]
    assert (copied["files"], copied["bytes"], copied["verified"]) == (1, 5, False)
    assert copied["path"].startswith(str(tmp_path / "keep" / "one-"))
    assert result["actions"][0].startswith("copy 1 file (5 bytes) of service 'one'")
    assert "content: 1 file (5 bytes)" in result["diff"]["after"]
    assert [*tmp_path.iterdir()] == []
    assert writes(sandbox) == []


def test_a_second_copy_shares_what_is_the_same(sandbox: Sandbox, delete: Delete, tmp_path: Path) -> None:
    """A deletion that failed left a copy; the next one has links to its files, and trusts none of them."""
    write(sandbox, "one", "same.txt", "same")
    write(sandbox, "one", "b.txt", "old")
    sandbox.fault("resources.delete", "status", status=403, count=1)
    first = delete("one")
    assert first["failed"] and first["changed"]
    assert first["copy"]["verified"]
    before = Path(first["copy"]["path"])
    write(sandbox, "one", "b.txt", "new")
    times = os.stat(before / "files" / "a.txt")
    (before / "files" / "a.txt").write_text("worst")  # the same size and time, damaged later
    os.utime(before / "files" / "a.txt", (times.st_atime, times.st_mtime))
    second = Path(delete("one")["copy"]["path"])
    assert before != second
    texts = {name: (second / "files" / name).read_text() for name in ("a.txt", "b.txt", "same.txt")}
    assert texts == {"a.txt": "first", "b.txt": "new", "same.txt": "same"}
    assert (before / "files" / "b.txt").read_text() == "old"
    inodes = [(copy / "files" / "same.txt").stat().st_ino for copy in (before, second)]
    assert inodes[0] == inodes[1]
    assert not is_there(sandbox, "one")


# --- What is refused ----------------------------------------------------------------------------------


def test_a_folder_that_cannot_be(sandbox: Sandbox, delete: Delete, tmp_path: Path) -> None:
    for path in (str(tmp_path / "no" / "where"), __file__):
        assert "Nothing was deleted" in refused(sandbox, delete("one", keep_copy=path), tmp_path)


def test_no_room_is_known_before(
    sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=4))
    message = refused(sandbox, delete("one", check_mode=True), tmp_path)
    assert "the copy has 5 bytes" in message and "has room for 4; make room" in message


# --- What goes wrong while it is copied ---------------------------------------------------------------


def meanwhile(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen while the copy is verified."""
    original = FileContent.verify

    def verify(own: FileContent, folder: str) -> Any:
        happens()
        return original(own, folder)

    monkeypatch.setattr(FileContent, "verify", verify)


@pytest.mark.parametrize("status", ["COMPLETED", "PENDING"])
def test_a_backup_that_is_made_meanwhile_is_not_destroyed(
    status: str, sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy may take hours, and the nightly run makes its backups at its time."""
    meanwhile(monkeypatch, lambda: add(sandbox, "one", "nightly", status=status))
    result = delete("one")
    assert result["failed"] and "has 1 backup (nightly), which would be destroyed with it" in result["msg"]
    assert writes(sandbox) == [] and is_there(sandbox, "one")
    assert result["copy"]["verified"] and Path(result["copy"]["path"]).is_dir()
    assert delete("one", delete_backups=True)["changed"] and not is_there(sandbox, "one")


@pytest.mark.parametrize("change", ["new.txt", "a.txt"])
def test_a_file_that_changes_while_it_is_verified(
    change: str, sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list is read last of all, so that a file which came or grew in between is seen."""
    original = FileContent._check_unchanged

    async def check(own: FileContent) -> None:
        write(sandbox, "one", change, "more than before")
        await original(own)

    monkeypatch.setattr(FileContent, "_check_unchanged", check)
    message = refused(sandbox, delete("one"), tmp_path)
    assert f"these are not as they were: {change}" in message.replace("., ", "")


def test_a_disk_that_loses_what_was_written(
    sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is compared with its list after it was compared with the service."""
    original = FileContent.verify

    def verify(own: FileContent, folder: str) -> Any:
        found = original(own, folder)
        Path(folder, "files", "a.txt").write_text("fIrst")
        return found

    monkeypatch.setattr(FileContent, "verify", verify)
    message = refused(sandbox, delete("one"), tmp_path)
    assert "the copy on the disk is not what was written: files/a.txt" in message


@pytest.mark.parametrize("step", ["fsync", "rename", "utime"])
def test_a_disk_that_is_full_or_broken(
    step: str, sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*__: Any, **___: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, broken)
    message = refused(sandbox, delete("one"), tmp_path)
    assert "o space left on" in message


# --- Runs that are killed -----------------------------------------------------------------------------

PLACES: dict[str, tuple[Any, str]] = {
    "before anything": (CopyFolder, "begin"),
    "before the files": (FileContent, "write"),
    "in the middle of the files": (Remote, "pull"),
    "before it is on the disk": (last_copy, "flush_tree"),
    "before it is verified": (FileContent, "verify"),
    "before the list": (Manifest, "write"),
    "before the list is compared": (last_copy, "check_copy"),
    "before it has its name": (CopyFolder, "place"),
    "before the deletion": (removal, "delete_service"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_run_that_is_killed(
    place: str, sandbox: Sandbox, delete: Delete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is deleted, nothing half is taken for a copy, and the next run finishes the work."""
    child = os.fork()
    if child == 0:
        try:
            owner, name = PLACES[place]
            monkeypatch.setattr(owner, name, lambda *__, **___: os.kill(os.getpid(), signal.SIGKILL))
            delete("one")
        finally:
            os._exit(1)
    __, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert is_there(sandbox, "one")
    assert writes(sandbox) == []
    whole = [path for path in left(tmp_path) if not path.name.startswith(".partial-")]
    assert len(whole) == (place == "before the deletion")
    for path in whole:
        listed = json.loads((path / "manifest.json").read_text())["entries"]
        there = {entry.path: entry.sha256 for entry in entries_on_disk(str(path))}
        del there["manifest.json"]
        assert {entry["path"]: entry["sha256"] for entry in listed} == there
    copy = Path(delete("one")["copy"]["path"])
    assert not is_there(sandbox, "one")
    assert sorted(left(tmp_path)) == sorted([*whole, copy])
    assert (copy / "files" / "a.txt").read_text() == "first"
