# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of a copy: whatever is damaged on the disk, the copy does not count."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    MANIFEST,
    Entry,
    Manifest,
    check_copy,
    entries_on_disk,
    read_manifest,
)
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import TransferFailed

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
    found = Manifest({"id": "svc_1"}, "files", "2026-01-01T00:00:00Z", entries, left_out).complete()
    found.write(str(copy))
    return found


def test_it_comes_back_as_it_was(copy: Path, manifest: Manifest) -> None:
    check_copy(str(copy), manifest)
    assert read_manifest(str(copy)) == manifest
    assert (manifest.files, manifest.bytes) == (3, 6)
    assert (copy / MANIFEST).stat().st_mode & 0o777 == 0o600
    paths = {entry.path for entry in manifest.entries}
    assert os.fsdecode(b"files/" + ODD) in paths
    assert Entry("files/link", "link", target="../../../etc/passwd") in manifest.entries


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


@pytest.mark.parametrize("change", [{"path": "a", "size": "1"}, {"path": "a", "more": 1}, {"path": 5}])
def test_an_entry_that_is_none(change: dict[str, Any], copy: Path, manifest: Manifest) -> None:
    """Nothing is read into what was not written."""
    content = json.loads((copy / MANIFEST).read_text())
    content["entries"][0] |= change
    (copy / MANIFEST).write_text(json.dumps(content))
    with pytest.raises(TransferFailed, match="it is damaged"):
        read_manifest(str(copy))


def test_a_list_that_is_another(copy: Path, manifest: Manifest) -> None:
    content = json.loads((copy / MANIFEST).read_text())
    (copy / MANIFEST).write_text(json.dumps({**content, "bytes": 7}))
    with pytest.raises(TransferFailed, match="does not add up"):
        check_copy(str(copy), manifest)
    (copy / MANIFEST).write_text(json.dumps({**content, "made_at": "later"}))
    with pytest.raises(TransferFailed, match="not the one that was written"):
        check_copy(str(copy), manifest)
    for change in ("{}", '{"kind": "files"}', '{"format": 2}'):
        (copy / MANIFEST).write_text(change)
        with pytest.raises(TransferFailed, match=r"no list manifest\.json of format 1"):
            check_copy(str(copy), manifest)
