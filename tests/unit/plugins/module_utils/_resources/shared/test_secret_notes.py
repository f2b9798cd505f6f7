# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that ends between a call and the secrets on disk is told of by the next one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import secret_notes
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    UNFINISHED,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes

SIZE = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10}
ORDER: dict[str, Any] = {
    "name": "db",
    "product": "postgresql",
    "host": "node-paris-1",
    "dimensions": SIZE,
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox) -> Path:
    sandbox.clear_journal()
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def interrupted(monkeypatch: pytest.MonkeyPatch, route: r.Route[Any], work: Callable[[], Any]) -> None:
    """Let the platform carry out a call, and end the run before it sees the answer, as Ctrl-C does."""
    make = Client.send

    def make_and_end(client: Client, called: r.Route[Any], **given: Any) -> Any:
        answer = make(client, called, **given)
        if called is route:
            raise KeyboardInterrupt
        return answer

    with monkeypatch.context() as patched:
        patched.setattr(Client, "send", make_and_end)
        with pytest.raises(KeyboardInterrupt):
            work()


def notes(home: Path) -> list[Path]:
    return list((home / "hosted_services" / "secrets" / "unkept").glob("*"))


def said(result: dict[str, Any]) -> str:
    assert not result.get("failed"), result
    return "\n".join(result.get("warnings", []))


def orders(sandbox: Sandbox) -> list[str]:
    return [entry["name"] for entry in sandbox.ledger()["orders"]]


def test_an_order_that_was_interrupted_is_told_of_and_not_placed_again(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted(monkeypatch, r.ORDER, lambda: run(sandbox, SERVICE, **ORDER))
    (note,) = notes(home)
    for given in (ORDER, {"id": id_of(sandbox, "db")}):
        again = run(sandbox, SERVICE, **given)
        assert not again["changed"]
        assert "the one-time secrets of service 'db' may have been generated" in said(again)
        assert "database_info with return_secrets: true reads those of a database again" in said(again)
        assert f"Remove {note} to end this warning" in said(again)
    assert orders(sandbox) == ["db"]
    os.utime(note, (time.time() - 60,) * 2)  # until then, an order of the name may still be carried out
    run(sandbox, SERVICE, name="db", state="absent")
    assert notes(home) == [], "there is nothing to miss any more"


def test_an_order_that_ends_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    done = run(sandbox, SERVICE, **ORDER)
    assert notes(home) == []
    assert json.loads(Path(done["secrets_file"]).read_text())["secrets"]
    without = run(sandbox, SERVICE, **{**ORDER, "name": "web", "product": "linux"})
    assert "secrets_file" not in without
    assert notes(home) == []
    assert "may have been generated" not in said(run(sandbox, SERVICE, **ORDER))


def test_an_order_that_the_platform_refuses_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("order.create", "status", status=402)
    assert run(sandbox, SERVICE, **ORDER)["failed"]
    assert notes(home) == []


def test_an_order_that_came_to_nothing_is_told_of_until_the_next_one(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No service of the name was there when that was placed, so there are no secrets to miss."""
    monkeypatch.setattr(f"{Ordering.__module__}.BILLED_SECONDS", 0)
    sandbox.fault("order.create", "status", status=503, count=None)
    assert run(sandbox, SERVICE, **ORDER)["failed"]
    assert len(notes(home)) == 1
    sandbox.clear_faults()
    assert run(sandbox, SERVICE, **ORDER)["changed"]
    assert "may have been generated" not in said(run(sandbox, SERVICE, **ORDER))
    assert notes(home) == []


def test_an_answer_that_is_lost_is_told_of_at_once_and_leaves_no_note(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("order.create", "reset", when="after")
    assert "are lost too" in said(run(sandbox, SERVICE, **ORDER))
    assert (orders(sandbox), notes(home)) == (["db"], [])


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("resource", [SERVICE, SFTP_PASSWORD])
def test_nothing_is_asked_for_that_could_not_be_kept(
    sandbox: Sandbox, home: Path, resource: Any, check_mode: bool
) -> None:
    """The default place counts as the one that was named."""
    home.write_text("a file stands where the folder belongs")
    given = ORDER if resource is SERVICE else {"service": "one"}
    result = run(sandbox, resource, check_mode, **given)
    assert result["failed"] and not result["changed"]
    assert "could not be kept in" in result["msg"] and "Nothing was sent" in result["msg"]
    assert (writes(sandbox), orders(sandbox)) == ([], [])
    assert run(sandbox, resource, **given, return_secrets=True)["secrets"]


def test_a_password_that_was_interrupted_is_told_of_until_another_is_made(
    sandbox: Sandbox, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform says that there is a password, and nobody has it."""
    interrupted(monkeypatch, r.SFTP_PASSWORD, lambda: run(sandbox, SFTP_PASSWORD, service="one"))
    again = run(sandbox, SFTP_PASSWORD, service="one")
    assert not again["changed"]
    assert "set update_password: always to generate another password" in said(again)
    assert run(sandbox, SFTP_PASSWORD, service="one", update_password="always")["changed"]
    assert notes(home) == []
    assert "may have been generated" not in said(run(sandbox, SFTP_PASSWORD, service="one"))


def test_a_password_whose_answer_is_lost_is_told_of(sandbox: Sandbox, home: Path) -> None:
    sandbox.fault("sftp.password", "reset", when="after", count=None)
    assert run(sandbox, SFTP_PASSWORD, service="one", retries=0)["failed"]
    sandbox.clear_faults()
    assert "set update_password: always" in said(run(sandbox, SFTP_PASSWORD, service="one"))


# --- Notes without a platform -----------------------------------------------------------------------


@pytest.fixture
def task() -> Task[Any]:
    return task_of(SERVICE, FakeClient(), name="db")


def note_on(subject: str, **given: Any) -> secret_notes.SecretNote:
    note = secret_notes.SecretNote.of(None, subject)
    note.write("the one-time secrets of service 'db'", **given)
    return note


def test_a_note_tells_its_platform_and_is_for_the_owner_alone(home: Path) -> None:
    old = os.umask(0)
    try:
        note = secret_notes.SecretNote.of("https://API.example.com/", "service:db")
        note.write("the secrets")
    finally:
        os.umask(old)
    content = json.loads(Path(note.path).read_text())
    assert content["endpoint"] == "https://api.example.com:443"
    assert (content["subject"], content["what"]) == ("service:db", "the secrets")
    for folder in (Path(note.path).parent, Path(note.path).parent.parent):
        assert folder.stat().st_mode & 0o777 == 0o700
    other = secret_notes.SecretNote.of(None, "service:db")
    assert other.endpoint != note.endpoint and other.path != note.path


def test_a_note_is_one_of_its_subject_alone(task: Task[Any]) -> None:
    """There may be several, of runs in parallel."""
    notes = [note_on("service:db"), note_on("service:db")]
    note_on("service:web")
    assert secret_notes.notes_on(task, "service:db") == sorted(note.path for note in notes)
    secret_notes.remove_notes(task, "service:db", newest=notes[1])
    assert secret_notes.notes_on(task, "service:db") == [notes[1].path]
    secret_notes.remove_notes(task, "service:db")
    assert secret_notes.notes_on(task, "service:db") == []
    assert len(secret_notes.notes_on(task, "service:web")) == 1
    notes[0].remove()


def test_notes_of_an_age_are_removed(task: Task[Any]) -> None:
    """Younger ones stay, also if a clock was set back."""
    ages = {note_on("service:db").path: age for age in (-100, 50, 100)}
    for path, age in ages.items():
        os.utime(path, (time.time() - age, time.time() - age))
    left = {age: path for path, age in ages.items()}
    secret_notes.remove_notes(task, "service:db", min_age=60)
    assert secret_notes.notes_on(task, "service:db") == sorted([left[-100], left[50]])


@pytest.mark.parametrize(
    ("kind", "remedy"),
    [("service", "database_info with return_secrets: true"), ("sftp", "set update_password: always")],
)
def test_a_note_says_what_to_do(task: Task[Any], kind: str, remedy: str) -> None:
    note = note_on(f"{kind}:db")
    assert remedy in note.remedy
    secret_notes.warn_of_lost_secrets(task, f"{kind}:db")
    (warning,) = task.warnings
    assert "may have been generated on 2" in warning and "and never kept" in warning
    assert remedy in warning and f"Remove {note.path} to end" in warning


def test_a_note_names_what_a_killed_run_left_in_the_folder(task: Task[Any]) -> None:
    """A run that is killed while it writes secrets leaves a file that has them, perhaps."""
    note = note_on("service:db")
    left = Path(note.path).parent.parent / f".svc_1.json.x{UNFINISHED}"
    left.write_text("{}")
    secret_notes.warn_of_lost_secrets(task, "service:db")
    (warning,) = task.warnings
    assert f"Look into {left} first, which a killed run left" in warning
    left.unlink()
    note.remove()


def test_a_note_names_the_file_that_has_what_was_not_returned(task: Task[Any]) -> None:
    note = note_on("service:db", kept_in="/there/db.json")
    secret_notes.warn_of_lost_secrets(task, "service:db")
    (warning,) = task.warnings
    assert "is in /there/db.json" in warning and "Move that file to a safe place" in warning
    assert f"remove {note.path} to end this warning" in warning and "never kept" not in warning


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000])
def test_a_damaged_note_is_one(task: Task[Any], content: str) -> None:
    Path(note_on("service:db").path).write_text(content)
    secret_notes.warn_of_lost_secrets(task, "service:db")
    (warning,) = task.warnings
    assert "what the platform shows only once may have been generated on an unknown date" in warning


def test_the_last_call_counts_and_none_was_made_in_the_future(
    task: Task[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert secret_notes.seconds_since_call(task, "service:db") == float("inf")
    monkeypatch.setattr(time, "time", lambda: 1_000_000.0)
    for age in (300, 50, 70):
        os.utime(note_on("service:db").path, (0, 1_000_000 - age))
    assert secret_notes.seconds_since_call(task, "service:db") == 50
    os.utime(note_on("service:db").path, (0, 1_000_010))
    assert secret_notes.seconds_since_call(task, "service:db") == 0
