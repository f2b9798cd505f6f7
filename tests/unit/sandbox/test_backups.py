# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Backups and snapshots."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

Order = Callable[..., str]


def _write(sandbox: Sandbox, key: str, content: str) -> None:
    body = {"path": "save.dat", "content": content}
    assert sandbox.api("POST", f"/api/resources/{key}/files/write", body).status_code == 200


def _read(sandbox: Sandbox, key: str) -> Any:
    return sandbox.api("GET", f"/api/resources/{key}/files/contents?path=save.dat").json()["content"]


def _backups(sandbox: Sandbox, key: str) -> Any:
    return sandbox.api("GET", f"/api/resources/{key}/backups").json()


def _create(sandbox: Sandbox, key: str, name: str = "b") -> str:
    return str(sandbox.api("POST", f"/api/resources/{key}/backups", {"name": name}).json()["id"])


@pytest.mark.rule("backup-states", "backup-pending")
def test_a_backup_is_made_and_restored(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.delays(backup=5, restore=5)
    _write(sandbox, key, "one")
    backup = _create(sandbox, key)
    path = f"/api/resources/{key}/backups/{backup}"
    assert [(b["status"], b["completedAt"]) for b in _backups(sandbox, key)] == [("PENDING", None)]
    assert sandbox.api("POST", f"{path}/restore").status_code == 400
    assert sandbox.api("DELETE", path).status_code == 400
    sandbox.clock(advance=6)
    (made,) = _backups(sandbox, key)
    assert (made["status"], made["sizeBytes"]) == ("COMPLETED", 3)
    _write(sandbox, key, "two")
    assert sandbox.api("POST", f"{path}/restore").status_code == 200
    assert _backups(sandbox, key)[0]["status"] == "RESTORING"
    assert _read(sandbox, key) == "two"
    sandbox.clock(advance=6)
    assert _backups(sandbox, key)[0]["status"] == "COMPLETED"
    assert _read(sandbox, key) == "one"
    assert sandbox.api("DELETE", path).status_code == 200
    assert _backups(sandbox, key) == []


def _restorable(sandbox: Sandbox, order: Order, **fill: str) -> tuple[str, str]:
    """A service with a backup of other files than it has now, on a clock that stands still."""
    sandbox.clock(freeze=True)
    key = order()
    _write(sandbox, key, "one")
    backup = _create(sandbox, key)
    _write(sandbox, key, "two")
    sandbox.profile("plain", **fill)
    sandbox.delays(restore=5, restore_begins=3)
    assert sandbox.api("POST", f"/api/resources/{key}/backups/{backup}/restore").status_code == 200
    return key, backup


def _events(sandbox: Sandbox, key: str) -> list[str]:
    return [event["type"] for event in sandbox.api("GET", f"/api/resources/{key}/events").json()["items"]]


@pytest.mark.rule("backup-states")
def test_a_restore_shows_late(sandbox: Sandbox, order: Order) -> None:
    key, __ = _restorable(sandbox, order, **{"delay": "a second late"})
    assert _backups(sandbox, key)[0]["status"] == "COMPLETED"
    assert "BACKUP_RESTORED" not in _events(sandbox, key)
    sandbox.clock(advance=3)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("RESTORING", "two")
    assert "BACKUP_RESTORED" in _events(sandbox, key)
    sandbox.clock(advance=5)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("COMPLETED", "one")


@pytest.mark.rule("backup-states")
def test_the_operator_lets_restores_fail(sandbox: Sandbox, order: Order) -> None:
    key, __ = _restorable(sandbox, order)
    sandbox.operator(f"services/{key}", restore_fails=True)
    sandbox.clock(advance=5)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("FAILED", "two")


@pytest.mark.rule("snapshots")
def test_a_rollback_goes_on_after_its_answer(sandbox: Sandbox, order: Order) -> None:
    sandbox.profile("plain", delay="a second late")
    sandbox.clock(freeze=True)
    key = order("linux", "box")
    base = f"/api/resources/{key}/snapshots"
    _write(sandbox, key, "one")
    sandbox.api("POST", base, {"name": "first"})
    _write(sandbox, key, "two")
    sandbox.delays(restore=5)
    assert sandbox.api("POST", f"{base}/first/rollback").status_code == 200
    assert _read(sandbox, key) == "two" and "SNAPSHOT_ROLLED_BACK" in _events(sandbox, key)
    sandbox.clock(advance=5)
    assert _read(sandbox, key) == "one"


@pytest.mark.rule("backup-states")
def test_the_operator_adds_backups_of_any_kind(sandbox: Sandbox, order: Order) -> None:
    key = order()
    path = f"services/{key}/backups"
    sandbox.operator(path, name="old", created_at="2026-01-02T03:04:05Z")
    failed = sandbox.operator(path, name="bad", status="FAILED")["id"]
    found = [(backup["name"], backup["status"]) for backup in _backups(sandbox, key)]
    assert found == [("old", "COMPLETED"), ("bad", "FAILED")]
    assert _backups(sandbox, key)[0]["createdAt"] == "2026-01-02T03:04:05.000Z"
    assert sandbox.api("POST", f"/api/resources/{key}/backups/{failed}/restore").status_code == 400


@pytest.mark.rule("backup-states")
def test_the_operator_lets_backups_fail(sandbox: Sandbox, order: Order) -> None:
    key, other = order(), order(name="other")
    sandbox.operator(f"services/{key}", backup_fails=True)
    sandbox.clock(freeze=True)
    for service in (key, other):
        _create(sandbox, service)
    sandbox.clock(advance=1)
    assert [b["status"] for k in (key, other) for b in _backups(sandbox, k)] == ["FAILED", "COMPLETED"]
    sandbox.operator(f"services/{key}", backup_fails=False)
    _create(sandbox, key)
    sandbox.clock(advance=1)
    assert [b["status"] for b in _backups(sandbox, key)] == ["FAILED", "COMPLETED"]


@pytest.mark.rule("delete")
def test_backups_go_with_their_service(sandbox: Sandbox, order: Order) -> None:
    key, other = order(), order(name="other")
    backup = _create(sandbox, key)
    assert sandbox.api("POST", f"/api/resources/{other}/backups/{backup}/restore").status_code == 404
    sandbox.api("DELETE", f"/api/resources/{key}")
    assert sandbox.api("GET", f"/api/resources/{key}/backups").status_code == 404
    assert sandbox.control("GET", "/state")["records"]["backup"] == []


def test_a_database_is_in_its_backup(sandbox: Sandbox, order: Order) -> None:
    key = order("postgresql", "db")
    query = f"/api/resources/{key}/database/query"
    sandbox.api("POST", query, {"sql": "CREATE TABLE t (a)"})
    backup = _create(sandbox, key)
    sandbox.api("POST", query, {"sql": "DROP TABLE t"})
    sandbox.api("POST", f"/api/resources/{key}/backups/{backup}/restore")
    assert sandbox.api("POST", query, {"sql": "SELECT * FROM t"}).status_code == 200


@pytest.mark.rule("snapshots")
def test_snapshots(sandbox: Sandbox, order: Order) -> None:
    key = order("linux", "box")
    base = f"/api/resources/{key}/snapshots"
    _write(sandbox, key, "one")
    assert sandbox.api("POST", base, {"name": "first"}).status_code == 201
    assert sandbox.api("POST", base, {"name": "first"}).status_code == 400
    _write(sandbox, key, "two")
    sandbox.api("POST", base, {"name": "second"})
    found = sandbox.api("GET", base).json()
    assert [(s["name"], s["parent"]) for s in found] == [("first", None), ("second", "first")]
    assert sandbox.api("POST", f"{base}/first/rollback").status_code == 200
    assert _read(sandbox, key) == "one"
    assert sandbox.api("DELETE", f"{base}/first").status_code == 200
    assert [(s["name"], s["parent"]) for s in sandbox.api("GET", base).json()] == [("second", None)]
    assert sandbox.api("POST", f"{base}/first/rollback").status_code == 404


@pytest.mark.rule("snapshots")
def test_what_goes_with_a_rollback_is_listed_as_long(sandbox: Sandbox, order: Order) -> None:
    sandbox.profile("plain", **{"delay": "a second late", "rollback.newer": "deletes them"})
    base = f"/api/resources/{order('linux', 'box')}/snapshots"
    sandbox.clock(freeze=True)
    for name in ("first", "second", "third"):
        sandbox.api("POST", base, {"name": name})
    sandbox.clock(advance=1)
    assert sandbox.api("POST", f"{base}/first/rollback").status_code == 200
    assert sorted(shot["name"] for shot in sandbox.api("GET", base).json()) == ["first", "second", "third"]
    sandbox.clock(advance=1)
    assert [shot["name"] for shot in sandbox.api("GET", base).json()] == ["first"]


@pytest.mark.rule("capability-400")
def test_both_need_their_capability(sandbox: Sandbox, order: Order) -> None:
    game, bucket = order(), order("bucket", "objects")
    assert sandbox.api("GET", f"/api/resources/{game}/snapshots").status_code == 400
    assert sandbox.api("POST", f"/api/resources/{game}/snapshots", {"name": "s"}).status_code == 400
    assert sandbox.api("GET", f"/api/resources/{bucket}/backups").status_code == 400
