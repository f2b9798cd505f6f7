# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retention on a real server: how it deletes, and what others do between the plan and the deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.backup_retention import (
    BACKUP_RETENTION,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import (
    add,
    backups,
    fail_pending_backups,
    id_of,
    run,
    writes,
)


def test_the_list_is_read_again_before_each_deletion(sandbox: Sandbox) -> None:
    """One read for the plan, one for each deletion, and one to see that the copies are gone."""
    for day in range(4):
        add(sandbox, "one", f"nightly-{day}", day)
    sandbox.clear_journal()
    run(sandbox, BACKUP_RETENTION, services=["one"], pattern="nightly-*", keep_last=1)
    calls = [line["route"] for line in sandbox.journal() if line["route"].startswith("backups.")]
    assert calls == ["backups.list", *["backups.list", "backups.delete"] * 3, "backups.list"]


@pytest.mark.parametrize("status", ["409", "423"])
def test_what_a_busy_service_does_not_delete_is_told(sandbox: Sandbox, status: str) -> None:
    """The first refusal ends the task for this service, the others are thinned out; the next run goes on."""
    sandbox.profile("plain", **{"refusal.service_busy": status})
    for name in ("one", "two"):
        for day in (1, 2, 3):
            add(sandbox, name, f"nightly-{day}", day)
    add(sandbox, "one", "by hand", status="PENDING")
    sandbox.clear_journal()
    options = dict[str, Any](services=["one", "two"], pattern="nightly-*", keep_last=1)
    result = run(sandbox, BACKUP_RETENTION, **options)
    reason = "Another operation is in progress" if status == "409" else "This resource is locked"
    assert result["failed"] and reason in result["msg"]
    assert [service["changed"] for service in result["services"]] == [False, True]
    assert len(backups(sandbox, "one")) == 4 and len(backups(sandbox, "two")) == 1
    assert len(sandbox.journal("backups.delete")) == 3
    fail_pending_backups(sandbox)
    assert run(sandbox, BACKUP_RETENTION, **options)["changed"]
    assert len(backups(sandbox, "one")) == 2


def test_snapshots_that_cannot_be_listed_afterwards_are_deleted_all_the_same(sandbox: Sandbox) -> None:
    for name in ("auto-0", "auto-1"):
        run(sandbox, SNAPSHOT, services=["disk"], name=name)
    sandbox.fault("snapshots.list", "status", status=403, nth=3, count=None)
    result = run(sandbox, BACKUP_RETENTION, **AUTO)
    assert result["changed"] and not result.get("failed"), result


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


def test_only_what_the_task_deleted_is_counted(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that were to go, another run deleted one."""
    for day in range(3):
        add(sandbox, "one", f"nightly-{day}", day + 0.5)
    deleted_meanwhile(monkeypatch, sandbox, 1)
    result = run(sandbox, BACKUP_RETENTION, **NIGHTLY)
    (entry,) = result["services"]
    assert writes(sandbox) == ["backups.delete"]
    assert [backup["name"] for backup in backups(sandbox, "one")] == ["nightly-0"]
    assert result["changed"] and len(result["actions"]) == 1 and "'nightly-2'" in result["actions"][0]
    assert entry["deleted"] == 1


def test_a_deletion_whose_answer_was_lost_is_counted(sandbox: Sandbox) -> None:
    """The copy is gone, and this task deleted it."""
    for day in range(2):
        add(sandbox, "one", f"nightly-{day}", day + 0.5)
    sandbox.fault("backups.delete", "reset", when="after")
    result = run(sandbox, BACKUP_RETENTION, **NIGHTLY)
    assert result["changed"] and len(result["actions"]) == 1
    assert result["services"][0]["deleted"] == 1
    assert [backup["name"] for backup in backups(sandbox, "one")] == ["nightly-0"]


AUTO: dict[str, Any] = {"services": ["disk"], "kind": "snapshots", "pattern": "auto-*", "keep_last": 1}
