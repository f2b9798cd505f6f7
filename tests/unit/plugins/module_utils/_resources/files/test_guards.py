# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a mirror refuses to do before anything is changed."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.files import guards
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import PLAYBOOK_FOLDER
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import ROOT, Kind
from unit.plugins.fakes import FakeClient, options_of, task_of

PUSH: dict[str, Any] = {"direction": "push", "src": "/srv/site", "dest": "www"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a current folder of this test's own."""
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(PLAYBOOK_FOLDER, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def check(**given: Any) -> None:
    """Check the options of a mirror."""
    guards.check_options(SFTP_SYNC.read_options(options_of(SFTP_SYNC, {**PUSH, **given})))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"max_delete": -1}, "max_delete is -1; it must be 0 or more"),
        ({"src": "/"}, "root of this machine"),
        ({"src": "~"}, "your home folder"),
        ({"src": "/srv//"}, "looks like a longer path with an empty variable"),
        ({"delete": True, "src": "/srv/"}, "looks like a longer path with an empty variable"),
        ({"delete": True, "dest": "www//"}, "looks like a longer path with an empty variable"),
        ({"delete": True, "dest": "./"}, "looks like a longer path with an empty variable"),
        ({"exclude": ["a", ""]}, "item 2 of exclude is ''"),
        ({"include": [""]}, "item 1 of include is ''"),
        *(
            ({"exclude": ["*.log", pattern]}, "item 2 of exclude is ")
            for pattern in ("/", "./", ".", "//", "../data.db", "a/../b", "deep//b.db", "deep//")
        ),
        *(({"src": src}, "looks like a longer path") for src in ("sites//public", "sites/.")),
        *(
            ({"delete": True, "dest": dest}, "write '")
            for dest in ("world/", "a//b", "world/.", "/world", "/")
        ),
        ({"direction": "pull", "src": "world//"}, "looks like a longer path"),
    ],
)
def test_what_an_empty_variable_leads_to_is_refused(given: dict[str, Any], complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        check(**given)


@pytest.mark.parametrize(
    ("dest", "found"),
    [
        ("/", "is the root of this machine"),
        ("~", "is your home folder"),
        ("~/..", "is above the folder of the playbook"),
        ("playbooks", "is the folder of the playbook"),
        (".", "is the current directory"),
    ],
)
def test_a_pull_deletes_in_no_home_and_no_project(
    dest: str, found: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("playbooks", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv(PLAYBOOK_FOLDER, str(tmp_path / "playbooks"))
    monkeypatch.chdir(tmp_path / "here")
    place = str(tmp_path / dest) if dest == "playbooks" else dest
    with pytest.raises(Invalid, match=f"which {found}"):
        check(direction="pull", src="www", dest=place, delete=True)
    check(direction="pull", src="www", dest=place)
    check(direction="pull", src="www", dest=str(home / "copy"), delete=True)


def test_a_current_folder_that_is_gone_protects_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    os.rmdir(tmp_path / "gone")
    assert [what for what, _folder in guards.protected_folders()] == [
        "the root of this machine",
        "your home folder",
    ]


# --- Deletions --------------------------------------------------------------------------------------


def tree(*paths: str, root: Kind = Kind.DIRECTORY) -> Any:
    """Return a tree with some entries."""
    return SimpleNamespace(entries={ROOT: SimpleNamespace(kind=root), **dict.fromkeys(paths)})


def deletions(source: Any, *, extra: tuple[str, ...], in_the_way: tuple[str, ...] = (), **given: Any) -> None:
    """Check what a mirror would delete."""
    task = task_of(SFTP_SYNC, FakeClient(), **{**PUSH, **given})
    changes: Any = SimpleNamespace(in_the_way=dict.fromkeys(in_the_way), extra=dict.fromkeys(extra))
    guards.check_deletions(task, source, changes)


def test_an_empty_source_does_not_empty_the_target() -> None:
    with pytest.raises(Invalid, match="is empty, and delete: true would delete 2 entries") as error:
        deletions(tree(), extra=("b",), in_the_way=("a",))
    assert error.value.details["would_delete"] == ["a", "b"]
    with pytest.raises(Invalid, match="is empty after include and exclude, and"):
        deletions(tree(), extra=("b",), exclude=["x"])
    deletions(tree(), extra=("b",), allow_empty_source=True)
    deletions(tree(), extra=())
    deletions(tree("a"), extra=("b",))
    deletions(tree(root=Kind.FILE), extra=("b",))


@pytest.mark.parametrize(("limit", "refused"), [(None, False), (3, False), (2, False), (1, True), (0, True)])
def test_no_more_is_deleted_than_the_user_foresaw(limit: int | None, refused: bool) -> None:
    def act() -> None:
        deletions(tree("a"), extra=("b",), in_the_way=("c",), max_delete=limit)

    if not refused:
        act()
        return
    with pytest.raises(Invalid, match=f"would delete 2 entries of dest 'www', and max_delete is {limit}"):
        act()


@pytest.mark.parametrize(
    ("given", "idle", "deletes", "warned"),
    [
        ({"delete": True}, ["*.db"], True, True),
        ({"delete": False}, ["*.db"], True, False),
        ({"delete": True, "delete_excluded": True}, ["*.db"], True, False),
        ({"delete": True}, [], True, False),
        ({"delete": True}, ["*.db"], False, False),
    ],
)
def test_a_pattern_that_protects_nothing_is_told(
    given: dict[str, bool], idle: list[str], deletes: bool, warned: bool
) -> None:
    task = task_of(SFTP_SYNC, FakeClient(), **PUSH, **given)
    patterns: Any = SimpleNamespace(unused=idle)
    changes: Any = SimpleNamespace(extra={"old": None} if deletes else {}, in_the_way={})
    guards.warn_of_idle_patterns(task, patterns, changes)
    assert any("'*.db' matched nothing" in warning for warning in task.warnings) is warned
