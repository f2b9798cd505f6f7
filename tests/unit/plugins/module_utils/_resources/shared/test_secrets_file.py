# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown only once is on disk, whole and for the owner alone, or in the result: never nowhere."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import (
    secrets_file,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

CONTENT: dict[str, Any] = {
    "service_id": "svc_1",
    "secrets": [{"label": "Password", "value": "hunter2 \u00e9"}],
}


def kept(call: Callable[[], None] = lambda: None, /, **options: Any) -> Task:
    """Make a call, and keep what it shows only once."""
    task = task_of(SERVICE, FakeClient(), **options)
    with (
        task.closing,
        secrets_file.keep_secrets(task, "service:web", "the one-time secrets of service 'web'") as place,
    ):
        call()
        place.write("svc_1", CONTENT, "the secrets of service 'web' (Password)")
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
    assert "hunter2 \u00e9" in path.read_text(), "people read it as well"
    assert mode(path) == 0o600
    assert task.effects.facts == {"secrets_file": str(path)}
    assert task.warnings == []
    assert sorted(os.listdir(tmp_path)) == ["home", "mine.json"]
    assert notes(tmp_path / "home") == []
    assert mode(tmp_path / "home" / "hosted_services") == 0o700


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    """A file in the place of a device, as of /dev/null, breaks the machine for every other program."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    (tmp_path / "target").write_text("older")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null"), Path("/dev/stdout")):
        with pytest.raises(Invalid, match="is a device, a link or a pipe"):
            kept(lambda: pytest.fail("the platform was asked"), secrets_dest=str(path))
    assert (tmp_path / "target").read_text() == "older"
    assert not Path("/dev/null").is_file()


def test_a_file_that_is_there_is_put_aside(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text("older")
    kept(secrets_dest=str(path))
    others = [name for name in os.listdir(tmp_path) if name not in ("home", "mine.json")]
    assert [(tmp_path / name).read_text() for name in others] == ["older"]
    assert others[0].startswith("mine.json.")
    assert others[0].endswith("~")
    assert json.loads(path.read_text()) == CONTENT


def test_they_are_in_the_result_only_when_asked_for(home: Path, tmp_path: Path) -> None:
    assert kept(return_secrets=True).effects.facts == {"secrets": CONTENT}
    assert files(home / "hosted_services" / "secrets") == []
    path = tmp_path / "mine.json"
    both = kept(return_secrets=True, secrets_dest=str(path))
    assert both.effects.facts == {"secrets": CONTENT, "secrets_file": str(path)}


def test_where_the_user_asked_for_neither_they_go_to_a_file_of_their_own(home: Path) -> None:
    task = kept()
    path = home / "hosted_services" / "secrets" / "svc_1.json"
    assert task.effects.facts == {"secrets_file": str(path)}
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)
    assert json.loads(path.read_text()) == CONTENT
    assert "can be read only once" in task.warnings[0]


def full(*arguments: Any, **named: Any) -> None:
    raise OSError(28, "No space left on device")


def test_a_failure_half_way_leaves_the_old_file_and_shows_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next task tells of it again: the note stays."""
    path = tmp_path / "mine.json"
    path.write_text("older")
    task = kept(lambda: monkeypatch.setattr(os, "fsync", full), secrets_dest=str(path))
    assert task.effects.facts == {}
    assert "They are lost: database_info with return_secrets" in task.warnings[0]
    assert sorted(os.listdir(tmp_path)) == ["home", "mine.json"]
    assert path.read_text() == "older"
    assert len(notes(home)) == 1


@pytest.mark.parametrize("given", ["secrets_dest", None])
def test_room_is_proved_before_the_platform_is_asked(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, given: str | None
) -> None:
    """A disk that is full, in the folder that the user named and in the default one."""
    monkeypatch.setattr(os, "fsync", full)
    options = {given: str(tmp_path / "mine.json")} if given else {}
    with pytest.raises(Invalid, match=r"could not be kept in .*: No space left on device\. Nothing was sent"):
        kept(lambda: pytest.fail("the platform was asked"), **options)
    assert files(tmp_path) == [], "the trial is removed"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def notes(home: Path) -> list[Path]:
    return sorted((home / "hosted_services" / "journal").glob("*"))


def test_a_place_that_cannot_be_written_is_refused_before_anything_is_ordered(tmp_path: Path) -> None:
    secrets_file.check_destination(str(tmp_path / "new.json"))
    with pytest.raises(Invalid, match="is a directory"):
        secrets_file.check_destination(str(tmp_path))
    with pytest.raises(Invalid, match="does not exist; create it first"):
        secrets_file.check_destination(str(tmp_path / "gone" / "x.csv"), "csv_dest")


@pytest.mark.night
@pytest.mark.real_time
def test_tasks_that_name_one_file_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    path = tmp_path / "kept" / "db.json"
    path.parent.mkdir()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda n: secrets_file.write_private(str(path), {"n": n}), range(200)))
    kept = [json.loads(file.read_text())["n"] for file in path.parent.iterdir()]
    assert sorted(kept) == list(range(200))


def test_what_goes_into_the_result_alone_is_on_disk_until_then(home: Path) -> None:
    """A run that is killed in between leaves the file, and a note that leads to it."""
    task = task_of(SERVICE, FakeClient(), return_secrets=True)
    what = "the one-time secrets of service 'web'"
    with task.closing:
        with secrets_file.keep_secrets(task, "service:web", what) as place:
            place.write("svc_1", CONTENT, "the secrets of service 'web'")
        (file,) = home.rglob("*not-returned*")
        assert mode(file) == 0o600 and json.loads(file.read_text())["secrets"] == CONTENT["secrets"]
        other = task_of(SERVICE, FakeClient(), return_secrets=True)
        secrets_file.warn_of_lost_secrets(other, "service:web")
        assert str(file) in other.warnings[0]
    assert not file.exists()
    last = task_of(SERVICE, FakeClient(), return_secrets=True)
    secrets_file.warn_of_lost_secrets(last, "service:web")
    assert last.warnings == []


def test_a_place_that_is_wrong_is_told_before_anything_is_asked_for(home: Path, tmp_path: Path) -> None:
    """In check mode too, and nothing is written."""
    secrets_file.check_folder(task_of(SERVICE, FakeClient()))
    assert not home.exists()
    with pytest.raises(Invalid, match="is a directory; name a file"):
        secrets_file.check_folder(task_of(SERVICE, FakeClient(), secrets_dest=str(tmp_path)))
    home.write_text("not a folder")
    home.chmod(0o700)
    with pytest.raises(Invalid, match="is no directory that can be written to"):
        secrets_file.check_folder(task_of(SERVICE, FakeClient()))


# --- What becomes of them where a place fails ------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "fails", "kept_at_all"),
    [
        ({"secrets_dest": "mine.json"}, (), True),
        ({}, (), True),
        ({"return_secrets": True}, (), True),
        ({"secrets_dest": "mine.json"}, ("mine.json",), True),
        ({"secrets_dest": "mine.json", "return_secrets": True}, ("mine.json", "svc_1.json"), True),
        ({"secrets_dest": "mine.json"}, ("mine.json", "svc_1.json"), False),
    ],
)
def test_whoever_keeps_secrets_learns_whether_that_worked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], fails: Any, kept_at_all: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    task = task_of(SERVICE, FakeClient(), **given)
    write = secrets_file.write_private

    def write_or_fail(path: str, content: dict[str, Any]) -> None:
        if os.path.basename(path) in fails:
            full()
        write(path, content)

    monkeypatch.setattr(secrets_file, "write_private", write_or_fail)
    with task.closing, secrets_file.keep_secrets(task, "service:web", "the secrets") as place:
        assert place.write("svc_1", CONTENT, "the secrets of service 'web'") is kept_at_all
    assert any("They are lost" in warning for warning in task.warnings) is not kept_at_all
    in_the_result = "They are only in the result, because return_secrets is set"
    assert any(in_the_result in warning for warning in task.warnings) is (len(fails) == 2 and kept_at_all)
    assert ("secrets" in task.effects.facts) is given.get("return_secrets", False)


@pytest.mark.parametrize(
    ("end", "stays"), [(None, False), (ValueError, False), (KeyboardInterrupt, True), (SystemExit, True)]
)
def test_what_was_not_returned_stays_on_disk(
    home: Path, end: type[BaseException] | None, stays: bool
) -> None:
    """A task that fails returns its secrets as well; one that is stopped returns nothing."""
    task = task_of(SERVICE, FakeClient(), return_secrets=True)

    def work() -> None:
        with task.closing:
            with secrets_file.keep_secrets(task, "service:web", "the secrets") as place:
                place.write("svc_1", CONTENT, "the secrets of service 'web'")
            if end is not None:
                raise end

    with pytest.raises(end) if end else nullcontext():
        work()
    assert bool(files(home / "hosted_services" / "secrets")) is stays
    assert bool(notes(home)) is stays


# --- Whatever goes wrong while they are written ----------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("hunter2"), RuntimeError("hunter2")])
def test_any_error_leads_to_the_default_place(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """The text of an error that is not of the system may hold the secrets."""
    write = secrets_file.write_private

    def fail(path: str, content: dict[str, Any]) -> None:
        if path.endswith("mine.json"):
            raise error
        write(path, content)

    monkeypatch.setattr(secrets_file, "write_private", fail)
    task = kept(secrets_dest=str(tmp_path / "mine.json"))
    path = home / "hosted_services" / "secrets" / "svc_1.json"
    assert task.effects.facts == {"secrets_file": str(path)}
    assert json.loads(path.read_text()) == CONTENT
    (warning,) = task.warnings
    assert f"mine.json: {type(error).__name__}. They were kept in {path} instead" in warning


def test_what_no_file_can_hold_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    secrets_file.write_private(str(path), {"value": "half \ud800\x9b é"})
    assert json.loads(path.read_text()) == {"value": "half \ud800\x9b é"} and r"\u009b é" in path.read_text()


# --- Names that are too long -----------------------------------------------------------------------------


@pytest.mark.parametrize("length", [229, 256])
@pytest.mark.parametrize("older", [True, False])
def test_a_name_too_long_to_be_put_aside_is_refused_before_anything_is_asked_for(
    tmp_path: Path, home: Path, length: int, older: bool
) -> None:
    path = tmp_path / ("x" * length)
    if older and length <= 255:
        path.write_text("older")
    with pytest.raises(Invalid, match=r"File name too long\. Nothing was sent"):
        kept(lambda: pytest.fail("the platform was asked"), secrets_dest=str(path))
    assert files(tmp_path) == ([path] if older and length <= 255 else [])


def test_the_longest_name_is_written_and_put_aside(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 228)
    path.write_text("older")
    assert kept(secrets_dest=str(path)).effects.facts == {"secrets_file": str(path)}
    assert json.loads(path.read_text()) == CONTENT
    assert sorted(file.read_text() == "older" for file in tmp_path.glob("x*")) == [False, True]


def test_the_trial_has_the_name_that_an_older_file_gets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system may refuse a name for its characters alone."""
    unlink, names = os.unlink, list[str]()

    def note(path: str, **options: Any) -> None:
        names.append(os.path.basename(path))
        unlink(path, **options)

    monkeypatch.setattr(os, "unlink", note)
    kept(secrets_dest=str(tmp_path / "mine.json"))
    assert re.fullmatch(r"mine\.json\.\d{8}T\d{6}Z\.[0-9a-f]{8}~", names[0])
    assert sorted(os.listdir(tmp_path)) == ["home", "mine.json"]


@pytest.mark.parametrize("id", ["\U0001f600" * 80, "x" * 300, "a\0b", "\ud800", "", "folder/", "../../etc/x"])
def test_any_id_has_a_default_file(home: Path, id: str) -> None:
    """Where the answer to an order names no service, its file has the name of the service."""
    path = secrets_file.default_path(id)
    assert os.path.dirname(path) == str(home / "hosted_services" / "secrets")
    assert secrets_file.default_path(id + "x") != path
    os.makedirs(os.path.dirname(path))
    for _again in range(2):
        secrets_file.write_private(path, CONTENT)
    assert json.loads(Path(path).read_text()) == CONTENT
