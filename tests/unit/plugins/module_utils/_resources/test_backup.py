# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups, their retention, and snapshots on a real server; tests/unit/data has their plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import backup
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_retention import (
    BACKUP_RETENTION,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import (
    add,
    backups,
    fail_pending_backups,
    id_of,
    run,
    writes,
)


def test_one_that_ends_as_failed_is_an_error(sandbox: Sandbox) -> None:
    """A backup that fails on the platform while it is waited for fails the task; a rerun makes it again."""
    sandbox.delays(backup=3600)
    with ThreadPoolExecutor() as pool:
        waiting = pool.submit(run, sandbox, BACKUP, services=["one"], name="n")
        while not backups(sandbox, "one"):
            assert not waiting.done(), waiting.result()
        fail_pending_backups(sandbox)
        result = waiting.result()
    assert "ended as FAILED" in result["msg"] and result["failed"] and result["changed"]
    assert result["services"][0]["backup"] is None
    sandbox.delays(backup=0)
    assert run(sandbox, BACKUP, services=["one"], name="n")["services"][0]["backup"]["status"] == "COMPLETED"
    assert len(backups(sandbox, "one")) == 1


@pytest.mark.parametrize("seconds", [0, 3], ids=["quick", "slow"])
def test_a_restore_whose_answer_is_lost_is_never_begun_twice(sandbox: Sandbox, seconds: int) -> None:
    """A quick one was over before anybody looked, and the service may have written since."""
    sandbox.profile(sandbox.control("GET", "/profile")["name"], delay="at once")
    add(sandbox, "one", "n")
    sandbox.delays(restore=seconds)
    sandbox.fault("backups.restore", "reset", when="after")
    result = run(sandbox, BACKUP, services=["one"], name="n", state="restored", confirm=True)
    assert writes(sandbox) == ["backups.restore"]
    assert ("is unknown" in result.get("msg", "")) is (seconds == 0)
    assert ("The call was not sent again" in result.get("msg", "")) is (seconds == 0)


def changed_since_backup(sandbox: Sandbox, **fill: str) -> str:
    """Let there be a backup of other files than there are now; return the id of the service."""
    sandbox.profile("plain", **fill)
    run(sandbox, BACKUP, services=["one"], name="n")
    one = id_of(sandbox, "one")
    sandbox.api("POST", f"/api/resources/{one}/files/write", {"path": "a.txt", "content": "second"})
    sandbox.clear_journal()
    return one


def content(sandbox: Sandbox, id: str) -> str:
    return str(sandbox.api("GET", f"/api/resources/{id}/files/contents?path=a.txt").json()["content"])


def test_a_restore_that_shows_late_is_waited_for(sandbox: Sandbox) -> None:
    """That it still is COMPLETED after the call does not mean that it is over."""
    one = changed_since_backup(sandbox, delay="a second late")
    sandbox.delays(restore_begins=1.5, restore=1.5)
    result = run(sandbox, BACKUP, services=["one"], name="n", state="restored", confirm=True)
    assert content(sandbox, one) == "first"
    assert result["changed"] and not result.get("failed") and not result.get("warnings"), result
    assert result["services"][0]["start_seen"] is True
    assert writes(sandbox) == ["backups.restore"]


def test_a_restore_that_is_over_before_it_is_seen_is_taken_for_done_with_a_warning(sandbox: Sandbox) -> None:
    """After the quiet time, which begins anew with whatever changes."""
    one = changed_since_backup(sandbox)
    sandbox.delays(restore=0)
    result = run(sandbox, BACKUP, services=["one"], name="n", state="restored", confirm=True)
    assert content(sandbox, one) == "first"
    assert result["changed"] and not result.get("failed")
    (warning,) = result["warnings"]
    assert "the start of the restore of service 'one'" in warning and "was not seen" in warning
    assert "for 2 seconds" in warning
    assert result["services"][0]["start_seen"] is False


@pytest.mark.parametrize("making_fails", [False, True])
def test_a_backup_whose_restore_failed_stays(sandbox: Sandbox, making_fails: bool) -> None:
    """It was complete once, and the new one of its name is of what the service holds now."""
    one = changed_since_backup(sandbox)
    sandbox.operator(f"services/{one}", restore_fails=True)
    failed = run(sandbox, BACKUP, services=["one"], name="n", state="restored", confirm=True)
    assert failed["failed"] and failed["changed"] and content(sandbox, one) == "second"
    assert "ended as FAILED" in failed["msg"] and "Check the files of the service" in failed["msg"]
    (old,) = backups(sandbox, "one")
    sandbox.operator(f"services/{one}", backup_fails=making_fails)
    sandbox.clear_journal()
    made = run(sandbox, BACKUP, services=["one"], name="n")
    assert writes(sandbox) == ["backups.create"] and bool(made.get("failed")) is making_fails
    statuses = {"FAILED"} if making_fails else {"FAILED", "COMPLETED"}
    assert {backup["status"] for backup in backups(sandbox, "one")} == statuses
    assert old["id"] in {backup["id"] for backup in backups(sandbox, "one")}
    assert f"backup 'n' ({old['id']}) of service 'one'" in made["warnings"][0]
    sandbox.operator(f"services/{one}", backup_fails=False)
    run(sandbox, BACKUP, services=["one"], name="n")
    sandbox.clear_journal()
    again = run(sandbox, BACKUP, services=["one"], name="n")
    assert not again["changed"] and not again.get("warnings") and writes(sandbox) == []
    ids = {backup["id"] for backup in backups(sandbox, "one")}
    assert old["id"] in ids and len(ids) == 2, "the one whose making failed was replaced"
    run(sandbox, BACKUP, services=["one"], name="n", state="absent")
    assert backups(sandbox, "one") == []


# --- What a platform may do that the specification does not show ---------------------------------------


def fill(sandbox: Sandbox, **points: str) -> None:
    """Let the platform of this run fill some points another way."""
    sandbox.profile("plain", **points)
    sandbox.clear_journal()


RESTORED = dict[str, Any](services=["one"], name="n", state="restored", confirm=True)


def test_a_restore_whose_failure_only_the_journal_tells_is_an_error(sandbox: Sandbox) -> None:
    """The backup is COMPLETED again, as after one that succeeded; it is not begun again."""
    one = changed_since_backup(sandbox, **{"restore.failed": "COMPLETED, with an event"})
    sandbox.operator(f"services/{one}", restore_fails=True)
    result = run(sandbox, BACKUP, **RESTORED)
    assert result["failed"] and result["changed"]
    assert "BACKUP_RESTORE_FAILED" in result["msg"] and "Check the files of the service" in result["msg"]
    assert content(sandbox, one) == "second"
    assert writes(sandbox) == ["backups.restore"]


@pytest.mark.parametrize("status", ["409", "423"])
def test_a_busy_service_is_waited_for(sandbox: Sandbox, status: str) -> None:
    """A backup right after a restore that goes on, and a restore right after a backup that does."""
    fill(sandbox, **{"refusal.copy_busy": status})
    add(sandbox, "one", "n")
    sandbox.delays(restore=1, backup=1)
    run(sandbox, BACKUP, **RESTORED, wait=False)
    result = run(sandbox, BACKUP, services=["one"], name="m")
    assert result["changed"] and not result.get("failed"), result
    assert [backup["status"] for backup in backups(sandbox, "one")] == ["COMPLETED"] * 2
    tried = [line["status"] for line in sandbox.journal("backups.create")]
    assert tried[0] == int(status) and tried[-1] == 201, "what was refused is asked for again"
    run(sandbox, BACKUP, services=["one"], name="o", wait=False)
    assert run(sandbox, BACKUP, **RESTORED)["changed"]
    tried = [line["status"] for line in sandbox.journal("backups.restore")]
    assert tried[0] == 200 and tried[1] == int(status) and tried[-1] == 200
    assert tried.count(200) == 2, "none is begun twice"


@pytest.mark.parametrize("status", ["409", "423"])
def test_a_backup_is_deleted_once_another_one_is_over(sandbox: Sandbox, status: str) -> None:
    """Which the task waits for as for a new backup; where it does not wait, it fails with the reason."""
    fill(sandbox, **{"refusal.service_busy": status})
    sandbox.delays(backup=5)
    add(sandbox, "one", "old")
    run(sandbox, BACKUP, services=["one"], name="new", wait=False)
    sandbox.clear_journal()
    gone = dict[str, Any](services=["one"], name="old", state="absent")
    result = run(sandbox, BACKUP, **gone, wait=False)
    reason = "Another operation is in progress" if status == "409" else "This resource is locked"
    assert result["failed"] and not result["changed"] and reason in result["msg"]
    assert writes(sandbox) == ["backups.delete"] and len(backups(sandbox, "one")) == 2
    result = run(sandbox, BACKUP, **gone, wait_timeout=60.0)
    assert result["changed"] and not result.get("failed"), result
    tried = [line["status"] for line in sandbox.journal("backups.delete")]
    assert tried[:-1] == [int(status)] * (len(tried) - 1) and tried[-1] == 200 and len(tried) > 2
    assert [(each["name"], each["status"]) for each in backups(sandbox, "one")] == [("new", "COMPLETED")]


def fifty(sandbox: Sandbox) -> None:
    """Let the service have as many backups as it may."""
    for number in range(50):
        add(sandbox, "one", f"n{number}", days=60 - number)
    sandbox.clear_journal()


def test_a_backup_that_goes_for_a_new_one_is_told(sandbox: Sandbox) -> None:
    """The task did not delete it, so that its user has to hear of it."""
    fill(sandbox, **{"backup.limit": "the oldest goes"})
    fifty(sandbox)
    result = run(sandbox, BACKUP, services=["one"], name="new")
    (warning,) = result["warnings"]
    assert "'n0'" in warning and "no longer on its list" in warning and "did not delete" in warning
    assert [gone["name"] for gone in result["services"][0]["vanished"]] == ["n0"]
    assert writes(sandbox) == ["backups.create"]


def outrun(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, name: str) -> None:
    """Let another task of this controller make a backup while this one waits for its turn."""

    @contextmanager
    def in_second_turn(subject: str, *given: Any) -> Iterator[bool]:
        assert sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'one')}/backups", {"name": name}).ok
        sandbox.clear_journal()
        yield True

    monkeypatch.setattr(backup, "one_at_a_time", in_second_turn)


@pytest.mark.parametrize("wait", [True, False])
def test_a_backup_of_another_task_is_no_change_of_this_one(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, wait: bool
) -> None:
    """It is in the result; the actions and the diff are of what was done."""
    outrun(monkeypatch, sandbox, "n")
    result = run(sandbox, BACKUP, services=["one"], name="n", wait=wait)
    (entry,), (made,) = result["services"], backups(sandbox, "one")
    assert writes(sandbox) == []
    assert (result["changed"], result["actions"], entry["changed"], entry["actions"]) == (
        False,
        [],
        False,
        [],
    )
    assert entry["backup"]["id"] == made["id"] and entry["backup"]["name"] == "n"
    assert result["diff"]["before"] == result["diff"]["after"]
    assert "another task made backup 'n'" in result["warnings"][0]


# --- Names that are much like another one -------------------------------------------------------------


# --- What others do between the plan and the deletion -------------------------------------------------


def meanwhile(
    monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, kind: str, act: Callable[[], object]
) -> None:
    """Let something happen between the list that the plan reads and the one before the first deletion."""
    read, reads = getattr(Account, kind), list[str]()

    def list_copies(account: Account, id: str) -> Any:
        reads.append(id)
        if len(reads) == 2:
            act()
            sandbox.clear_journal()
        return read(account, id)

    monkeypatch.setattr(Account, kind, list_copies)


def deleted_meanwhile(monkeypatch: pytest.MonkeyPatch, sandbox: Sandbox, place: int) -> None:
    """Let another run delete one of the backups of service `one` after the task has made its plan."""
    gone = f"/api/resources/{id_of(sandbox, 'one')}/backups/{backups(sandbox, 'one')[place]['id']}"
    meanwhile(monkeypatch, sandbox, "backups", lambda: sandbox.api("DELETE", gone))


NIGHTLY: dict[str, Any] = {"services": ["one"], "pattern": "nightly-*", "keep_last": 1}


def test_what_another_run_deleted_is_not_counted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither as a change, nor in the result or the diff."""
    for day in range(2):
        add(sandbox, "one", f"nightly-{day}", day + 0.5)
    deleted_meanwhile(monkeypatch, sandbox, 1)
    result = run(sandbox, BACKUP_RETENTION, **NIGHTLY)
    (entry,) = result["services"]
    assert writes(sandbox) == []
    assert [backup["name"] for backup in backups(sandbox, "one")] == ["nightly-0"]
    assert (result["changed"], result["actions"], entry["changed"], entry["actions"]) == (
        False,
        [],
        False,
        [],
    )
    assert (entry["kept"], entry["deleted"]) == (1, 0)
    assert [one["name"] for one in entry["plan"]] == ["nightly-0"]
    assert result["diff"]["before"] == result["diff"]["after"]


def test_a_rollback_is_never_sent_twice(sandbox: Sandbox) -> None:
    """When its answer is lost nobody knows, and the error says so."""
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.clear_journal()
    sandbox.fault("snapshots.rollback", "reset", when="after")
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    assert "is unknown" in result["msg"] and "The call was not sent again" in result["msg"]
    assert writes(sandbox) == ["snapshots.rollback"]


def test_a_rollback_that_goes_on_after_its_answer_is_waited_for(sandbox: Sandbox) -> None:
    """As long as the journal shows that something happened, the quiet time begins anew."""
    sandbox.profile("plain", delay="a second late")
    disk = id_of(sandbox, "disk")
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.api("POST", f"/api/resources/{disk}/files/write", {"path": "b.txt", "content": "later"})
    sandbox.delays(restore=1.5)
    result = run(sandbox, SNAPSHOT, services=["disk"], name="s", state="rolled_back", confirm=True)
    assert sandbox.api("GET", f"/api/resources/{disk}/files?directory=").json() == []
    assert result["changed"] and not result.get("warnings"), result
    assert result["services"][0]["start_seen"] is True


# --- What a platform may do that the specification does not show ---------------------------------------

BACK = dict[str, Any](services=["disk"], state="rolled_back", confirm=True)


def names(sandbox: Sandbox) -> list[str]:
    found = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'disk')}/snapshots").json()
    return [snapshot["name"] for snapshot in found]


def three(sandbox: Sandbox, **points: str) -> None:
    sandbox.profile("plain", **points)
    for name in ("first", "second", "third"):
        run(sandbox, SNAPSHOT, services=["disk"], name=name)
    sandbox.clear_journal()


@pytest.mark.parametrize("newer", POINTS["rollback.newer"].values)
def test_what_a_rollback_past_newer_snapshots_loses_is_told(sandbox: Sandbox, newer: str) -> None:
    three(sandbox, **{"rollback.newer": newer})
    result = run(sandbox, SNAPSHOT, **BACK, name="first", discard_newer=True)
    gone = [snapshot["name"] for snapshot in result["services"][0]["vanished"]]
    assert result["changed"] and gone == (["second", "third"] if newer == "deletes them" else [])
    warned = [line for line in result.get("warnings", []) if "no longer on its list" in line]
    assert len(warned) == (1 if gone else 0)
    assert run(sandbox, SNAPSHOT, **BACK, name=names(sandbox)[-1])["changed"], "the newest needs no consent"


def test_a_rollback_that_fails(sandbox: Sandbox) -> None:
    sandbox.profile("plain", delay="a second late")
    disk = id_of(sandbox, "disk")
    run(sandbox, SNAPSHOT, services=["disk"], name="s")
    sandbox.operator(f"services/{disk}", restore_fails=True)
    sandbox.clear_journal()
    result = run(sandbox, SNAPSHOT, **BACK, name="s")
    assert result["failed"] and "SNAPSHOT_ROLLBACK_FAILED" in result["msg"]
    assert result["changed"] and writes(sandbox) == ["snapshots.rollback"]
