# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that ends between a call and its end is told of by the next one, and what was done is noted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import journal
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.journal import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.secrets_file import (
    warn_of_lost_secrets,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    UNFINISHED,
    Record,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.interruptions import ended, fill_disk, struck
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
    return list((home / "hosted_services" / "journal").glob("*.json"))


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
    entry = json.loads(note.read_text())
    note.write_text(json.dumps({**entry, "at": entry["at"] - 60}))  # until then, it may be carried out
    run(sandbox, SERVICE, name="db", state="absent")
    assert notes(home) == [], "there is nothing to miss any more"


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
    """Nor that a killed run could not be told of, if only the result is to have it."""
    home.write_text("a file stands where the folder belongs")
    given = ORDER if resource is SERVICE else {"service": "one"}
    result = run(sandbox, resource, check_mode, **given)
    assert result["failed"] and not result["changed"]
    assert "could not be kept in" in result["msg"] and "Nothing was sent" in result["msg"]
    assert (writes(sandbox), orders(sandbox)) == ([], [])
    assert run(sandbox, resource, check_mode, **given, return_secrets=True)["failed"]


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


# --- Entries without a platform ---------------------------------------------------------------------

WHAT = "the one-time secrets of service 'db'"


@pytest.fixture
def task() -> Task[Any]:
    return task_of(SERVICE, FakeClient(), name="db")


def entry_on(subject: str, age: float = 0, **given: Any) -> Record[Entry]:
    return journal.begin(None, subject, Entry(WHAT, time.time() - age, **given))


def test_an_entry_is_on_its_subject_alone() -> None:
    """There may be several, of runs in parallel."""
    old, new = entry_on("service:db", 5), entry_on("service:db")
    other = entry_on("service:web")
    assert list(journal.opened(None, "service:db")) == [old, new], "the oldest first"
    journal.close(None, "service:db", but=new)
    assert list(journal.opened(None, "service:db")) == [new]
    journal.close(None, "service:db")
    assert journal.opened(None, "service:db") == {}
    assert list(journal.opened(None, "service:web")) == [other]


def test_entries_of_an_age_are_closed() -> None:
    """Younger ones stay, also if a clock was set back."""
    entries = {age: entry_on("service:db", age) for age in (-100, 50, 100)}
    journal.close(None, "service:db", age=60)
    assert set(journal.opened(None, "service:db")) == {entries[-100], entries[50]}


def test_an_entry_names_what_a_killed_run_left_in_the_folder(task: Task[Any], home: Path) -> None:
    """A run that is killed while it writes secrets leaves a file that has them, perhaps."""
    entry_on("service:db")
    left = home / "hosted_services" / "secrets" / f".svc_1.json.x{UNFINISHED}"
    left.parent.mkdir()
    left.write_text("{}")
    warn_of_lost_secrets(task, "service:db")
    (warning,) = task.warnings
    assert f"Look into {left} first, which a killed run left" in warning


@pytest.mark.parametrize("content", ["", "[]", "{", "[" * 100_000])
def test_a_damaged_entry_is_never_taken_for_none(sandbox: Sandbox, home: Path, content: str) -> None:
    """Nothing is ordered by its name, and what to do about it is said."""
    path = entry_on_sandbox(sandbox, "service:db").path
    Path(path).write_text(content)
    failed = run(sandbox, SERVICE, **ORDER)
    assert failed["failed"] and f"{path!r}, which cannot be read" in failed["msg"]
    assert "then remove the file" in failed["msg"] and orders(sandbox) == []
    assert run(sandbox, SERVICE, **{**ORDER, "name": "web"})["changed"], "other names are ordered"


def entry_on_sandbox(sandbox: Sandbox, subject: str) -> Record[Entry]:
    return journal.begin(sandbox.base_url, subject, Entry(WHAT, time.time()))


# --- The history -----------------------------------------------------------------------------------


def told(sandbox: Sandbox, **given: Any) -> Any:
    """Return the history that a report tells, up to an hour from now."""
    until = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    return run(sandbox, REPORT_INFO, as_of=until, **given)["report"]["history"]


def line(at: str, change: str = "start it") -> dict[str, str]:
    return {"at": at, "change": change}


def add(folder: Path, line: dict[str, str]) -> None:
    journal.add_line(f"{folder}/{line['at']:.7}.jsonl", json.dumps(line))


def changes(folder: Path) -> list[str]:
    texts = [file.read_text() for file in sorted(folder.glob("*.jsonl"))]
    return [json.loads(text)["change"] for text in "\n".join(texts).split("\n") if text]


def test_a_report_tells_what_was_done_by_whom_and_what_it_costs(sandbox: Sandbox) -> None:
    run(sandbox, PROJECT, name="staging")
    run(sandbox, SERVICE, check_mode=True, **ORDER)
    ordered = run(sandbox, SERVICE, **ORDER, project="staging")
    run(sandbox, SERVICE, **ORDER, project="staging")
    made, order = told(sandbox)
    assert (made["module"], made["change"], made["outcome"]) == (
        "project",
        "create project 'staging'",
        "done",
    )
    assert "monthly_after" not in made and "@" in made["who"]
    assert order["change"] == f"{ordered['actions'][0]} in project 'staging'"
    assert order["monthly_after"] == ordered["cost"]["monthly_after"]
    assert told(sandbox, project="staging") is None


def test_what_was_refused_is_no_change_and_what_may_have_been_made_is_told_as_that(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "status", status=403)
    assert run(sandbox, PROJECT, name="refused")["failed"]
    sandbox.fault("sftp.password", "reset", when="after", count=None)
    assert run(sandbox, SFTP_PASSWORD, service="one", retries=0)["failed"]
    sandbox.clear_faults()
    (unknown,) = told(sandbox)
    assert (unknown["module"], unknown["outcome"]) == ("sftp_password", "unknown")


def test_a_secret_is_in_no_line(sandbox: Sandbox, home: Path) -> None:
    """Here somebody pasted the token into a name."""
    assert run(sandbox, PROJECT, name=f"of {sandbox.token}")["changed"]
    (file,) = (home / "hosted_services" / "history").rglob("*.jsonl")
    assert "create project 'of " in file.read_text() and sandbox.token not in file.read_text()
    assert [path.stat().st_mode & 0o777 for path in (file, file.parent)] == [0o600, 0o700]


def test_a_history_that_cannot_be_written_is_told_and_stops_nothing(sandbox: Sandbox, home: Path) -> None:
    (home / "hosted_services").mkdir(mode=0o700, parents=True)
    (home / "hosted_services" / "history").write_text("a file stands where the folder belongs")
    done = run(sandbox, PROJECT, name="staging")
    assert done["changed"] and not done.get("failed")
    assert "is not in the history of this controller" in done["warnings"][0]


def test_lines_of_old_months_go(tmp_path: Path) -> None:
    folder = tmp_path / "account"
    for at in (
        "2025-09-30T00:00:00Z",
        "2025-10-01T00:00:00Z",
        "2025-11-01T00:00:00Z",
        "2026-11-30T00:00:00Z",
    ):
        add(folder, line(at, at))
    assert changes(folder) == ["2025-11-01T00:00:00Z", "2026-11-30T00:00:00Z"]


def test_an_old_file_that_cannot_go_costs_no_line(tmp_path: Path) -> None:
    """Nor does one that another task removes in the same moment."""
    folder = tmp_path / "account"
    (folder / "2020-01.jsonl").mkdir(parents=True)
    folder.chmod(0o700)
    add(folder, line("2026-11-30T00:00:00Z", "made"))
    assert "made" in (folder / "2026-11.jsonl").read_text()


def test_tasks_in_parallel_share_the_file(tmp_path: Path) -> None:
    lines = [line("2026-11-30T00:00:00Z", f"{number}") for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda each: add(tmp_path / "account", each), lines))
    assert sorted(map(int, changes(tmp_path / "account"))) == list(range(200))


def test_no_end_of_a_task_harms_the_other_lines(tmp_path: Path) -> None:
    """Killed at each call of the system, and with a disk that is full from there on."""
    for number in count(1):
        folder = tmp_path / f"killed {number}"
        if not ended(lambda folder=folder: add(folder, line("2026-11-30T00:00:00Z")), number):  # type: ignore[misc]
            break
        add(folder, line("2026-11-30T00:00:01Z", "after"))
        assert changes(folder)[-1] == "after" or "after" in changes(folder)
    for number in count(1):
        folder = tmp_path / f"full {number}"
        try:
            if not struck(
                lambda folder=folder: add(folder, line("2026-11-30T00:00:00Z")),  # type: ignore[misc]
                number,
                fill_disk,
            ):
                break
        except OSError:
            add(folder, line("2026-11-30T00:00:01Z", "after"))
            assert "after" in changes(folder)


def test_damaged_lines_are_left_out(sandbox: Sandbox, home: Path) -> None:
    run(sandbox, PROJECT, name="staging")
    (file,) = (home / "hosted_services" / "history").rglob("*.jsonl")
    damage: Sequence[str] = ("", "{", "[]", "3", '{"at": 5}', "\x00")
    file.write_text("\n".join([*damage, file.read_text(), *damage]))
    assert [each["change"] for each in told(sandbox)] == ["create project 'staging'"]
