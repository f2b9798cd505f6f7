# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown only once is on disk, whole and for the owner alone, or in the result: never nowhere."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils.resources import secrets_file
from ansible_collections.hosted.services.plugins.module_utils.resources.plan import Task
from ansible_collections.hosted.services.plugins.module_utils.resources.problems import Invalid
from ansible_collections.hosted.services.plugins.module_utils.resources.service import SERVICE
from unit.plugins.fakes import FakeClient, task_of

CONTENT: dict[str, Any] = {
    "service_id": "svc_1",
    "secrets": [{"label": "Password", "value": "hunter2 \u00e9"}],
}


def kept(**options: Any) -> Task:
    task = task_of(SERVICE, FakeClient(), **options)
    secrets_file.keep(task, "svc_1", CONTENT, "the secrets of service 'web' (Password)")
    assert not any("hunter2" in warning for warning in task.warnings)
    return task


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def mode(path: Path | str) -> int:
    return os.stat(path).st_mode & 0o777


def test_they_go_to_the_file_that_the_user_named_and_not_into_the_result(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    old = os.umask(0)
    try:
        task = kept(secrets_dest=str(path))
    finally:
        os.umask(old)
    assert json.loads(path.read_text()) == CONTENT
    assert mode(path) == 0o600
    assert task.facts == {"secrets_file": str(path)}
    assert task.warnings == []
    assert os.listdir(tmp_path) == ["mine.json"]


def test_a_file_that_is_there_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("older")
    kept(secrets_dest=str(path))
    others = [name for name in os.listdir(tmp_path) if name != "mine.json"]
    assert [(tmp_path / name).read_text() for name in others] == ["older"]
    assert others[0].startswith("mine.json.")
    assert others[0].endswith("~")
    assert json.loads(path.read_text()) == CONTENT


def test_they_are_in_the_result_only_when_asked_for(home: Path, tmp_path: Path) -> None:
    assert kept(return_secrets=True).facts == {"secrets": CONTENT}
    assert not home.exists()
    path = tmp_path / "mine.json"
    both = kept(return_secrets=True, secrets_dest=str(path))
    assert both.facts == {"secrets": CONTENT, "secrets_file": str(path)}


def test_where_the_user_asked_for_neither_they_go_to_a_file_of_their_own(home: Path) -> None:
    task = kept()
    path = home / "hosted_services" / "secrets" / "svc_1.json"
    assert task.facts == {"secrets_file": str(path)}
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert json.loads(path.read_text()) == CONTENT
    assert "can be read only once" in task.warnings[0]


@pytest.mark.parametrize("id", ["../../etc/x", "/etc/x"])
def test_an_id_cannot_choose_the_folder(home: Path, id: str) -> None:
    assert secrets_file.default_path(id) == str(home / "hosted_services" / "secrets" / "x.json")


def test_where_no_file_can_be_written_they_are_in_the_result_after_all(tmp_path: Path) -> None:
    path = tmp_path / "gone" / "mine.json"
    task = kept(secrets_dest=str(path))
    assert task.facts == {"secrets": CONTENT}
    assert "They are in this result, and only there" in task.warnings[0]


def test_a_failure_half_way_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    path.write_text("older")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert kept(secrets_dest=str(path)).facts == {"secrets": CONTENT}
    assert os.listdir(tmp_path) == ["mine.json"]
    assert path.read_text() == "older"


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_ordered(tmp_path: Path) -> None:
    secrets_file.check_destination(None)
    secrets_file.check_destination(str(tmp_path / "new.json"))
    with pytest.raises(Invalid, match="is a directory"):
        secrets_file.check_destination(str(tmp_path))
    with pytest.raises(Invalid, match="does not exist; create it first"):
        secrets_file.check_destination(str(tmp_path / "gone" / "x.json"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_closed_to_us_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(Invalid, match="cannot be written to"):
            secrets_file.check_destination(str(tmp_path / "x.json"))
    finally:
        tmp_path.chmod(0o700)
