# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where copies go: into no folder of somebody else, whatever the service is called."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    MANIFEST,
    Manifest,
    check_copy,
    check_folder,
    entries_on_disk,
    folder_name,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import TransferFailed


def test_a_link_is_followed_once_and_one_to_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to("disk")
    (tmp_path / "nowhere").symlink_to("unmounted/disk")
    assert check_folder(str(tmp_path / "link"), "web", "svc_1").root == str(tmp_path / "disk")
    with pytest.raises(Invalid, match=r"does not exist\. Is a disk not mounted"):
        check_folder(str(tmp_path / "nowhere"), "web", "svc_1")


def test_a_missing_parent_a_file_and_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid, match="does not exist"):
        check_folder(str(tmp_path / "a" / "b"), "web", "svc_1")
    with pytest.raises(Invalid, match="is no folder"):
        check_folder(str(tmp_path / "file"), "web", "svc_1")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(Invalid, match="cannot be written to by this user"):
        check_folder(str(tmp_path), "web", "svc_1")
    with pytest.raises(Invalid, match=f"'{tmp_path}' cannot be written to by this user"):
        check_folder(str(tmp_path / "keep"), "web", "svc_1")


def test_the_folder_of_the_collection_is_made_with_those_above_it(tmp_path: Path) -> None:
    folder = check_folder(str(tmp_path / "a" / "b" / "last_copies"), "web", "svc_1", own=True)
    assert [*tmp_path.iterdir()] == []
    partial = Path(folder.begin())
    assert partial.parent == tmp_path / "a" / "b" / "last_copies" / "web-svc_1"
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid, match=f"'{tmp_path}/file' is no folder"):
        check_folder(str(tmp_path / "file" / "b" / "last_copies"), "web", "svc_1", own=True)


@pytest.mark.parametrize("kind", ["link", "file", "of another user"])
def test_what_somebody_else_put_in_its_place(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "web-svc_1"
    if kind == "link":
        place.symlink_to("/tmp")
    elif kind == "file":
        place.write_text("")
    else:
        place.mkdir()
        monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(Invalid, match="is not a folder of this user"):
        check_folder(str(tmp_path), "web", "svc_1")


def test_names_and_ids_that_are_no_names_of_files_stay_apart() -> None:
    names = [folder_name("web", id) for id in ("a/b", "a_b", "a\nb", "../b", "x" * 200, "x" * 201, "\ud800")]
    names += [folder_name(name, "svc_1") for name in ("../../etc/passwd", "\n\x1b[2J", "...", "a" * 300)]
    assert len(set(names)) == len(names)
    assert all("/" not in name and ".." not in name and len(name.encode()) < 200 for name in names)


# --- The list of a copy: whatever is damaged on the disk, the copy does not count -------------------------

ODD = b"not-utf8-\xff"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy with something of everything."""
    (tmp_path / "files" / "deep").mkdir(parents=True)
    (tmp_path / "files" / "a.txt").write_text("aaa")
    (tmp_path / "files" / "deep" / "line\nbreak").write_text("")
    (tmp_path / "files" / "link").symlink_to("../../../etc/passwd")
    with open(os.fsencode(tmp_path / "files") + b"/" + ODD, "wb") as file:
        file.write(b"odd")
    return tmp_path


@pytest.fixture
def manifest(copy: Path) -> Manifest:
    """The list that goes with it."""
    entries = [*entries_on_disk(str(copy))]
    left_out = [{"path": "s", "reason": "r"}]
    found = Manifest({"id": "svc_1"}, "files", "2026-01-01T00:00:00Z", entries, left_out)
    found.write(str(copy))
    return found


DAMAGES: dict[str, Callable[[Path], object]] = {
    "files/a.txt": lambda copy: (copy / "files" / "a.txt").write_text("aab"),
    "files/b.txt": lambda copy: (copy / "files" / "b.txt").write_text("more"),
    "files/deep/line\\nbreak": lambda copy: (copy / "files" / "deep" / "line\nbreak").unlink(),
    "files/link": lambda copy: os.replace(copy / "files" / "a.txt", copy / "files" / "link"),
    "files/deep": lambda copy: (copy / "files" / "deep").rename(copy / "files" / "elsewhere"),
}


@pytest.mark.parametrize("named", DAMAGES)
def test_damage_on_the_disk_is_named(named: str, copy: Path, manifest: Manifest) -> None:
    DAMAGES[named](copy)
    with pytest.raises(TransferFailed, match="on the disk is not what was written") as caught:
        check_copy(str(copy), manifest)
    assert named in caught.value.message


def test_a_list_that_is_another(copy: Path, manifest: Manifest) -> None:
    content = json.loads((copy / MANIFEST).read_text())
    for change in (json.dumps({**content, "made_at": "later"}, indent=2), "{}", "\xff"):
        (copy / MANIFEST).write_text(change)
        with pytest.raises(TransferFailed, match="not the one that was written"):
            check_copy(str(copy), manifest)
