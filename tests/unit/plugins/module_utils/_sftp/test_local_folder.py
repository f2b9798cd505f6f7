# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a tree of this machine. That no link is followed, the tests with hostile servers and users show."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import local_folder
from ansible_collections.hosted.services.plugins.module_utils._sftp.local_folder import LocalFolder
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import Kind, TreeEntry


def test_a_tree_of_this_machine_is_read_to_its_end_and_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "web" / "inner").mkdir(parents=True)
    (tmp_path / "web" / "inner" / "c.txt").touch()
    (tmp_path / "link").symlink_to("web")
    os.mkfifo(tmp_path / "pipe")
    skipped: list[tuple[str, str]] = []
    found = LocalFolder(str(tmp_path)).tree(Patterns(), lambda path, why: skipped.append((path, why)))
    assert sorted(found.entries) == ["", "link", "web", "web/inner", "web/inner/c.txt"]
    assert (found.entries["link"].kind, found.entries["link"].target) == (Kind.LINK, "web")
    assert skipped == [("pipe", "it is neither a file, a directory nor a link")]
    assert found.left_out == {"pipe"}


def test_what_is_removed_while_a_tree_is_read_is_not_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "gone", "z"):
        (tmp_path / name).touch()
    read = local_folder.entry_at

    def entry(folder: int, name: str, info: os.stat_result) -> TreeEntry:
        if name == "gone":
            raise FileNotFoundError(name)
        return read(folder, name, info)

    monkeypatch.setattr(local_folder, "entry_at", entry)
    assert sorted(LocalFolder(str(tmp_path)).tree(Patterns(), lambda path, why: None).entries) == [
        "",
        "a",
        "z",
    ]
