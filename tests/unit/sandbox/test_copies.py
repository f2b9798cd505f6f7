# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots, and what refuses them."""

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


@pytest.mark.rule("capability-400")
def test_both_need_their_capability(sandbox: Sandbox, order: Order) -> None:
    game, bucket = order(), order("bucket", "objects")
    assert sandbox.api("GET", f"/api/resources/{game}/snapshots").status_code == 400
    assert sandbox.api("POST", f"/api/resources/{game}/snapshots", {"name": "s"}).status_code == 400
    assert sandbox.api("GET", f"/api/resources/{bucket}/backups").status_code == 400


def _post(sandbox: Sandbox, path: str, name: str | None = None) -> Any:
    return sandbox.api("POST", path, None if name is None else {"name": name})


@pytest.mark.parametrize(("value", "status"), [("not refused", 200), ("409", 409), ("423", 423)])
def test_what_else_a_busy_service_refuses(sandbox: Sandbox, order: Order, value: str, status: int) -> None:
    sandbox.profile("plain", **{"refusal.service_busy": value})
    sandbox.clock(freeze=True)
    sandbox.delays(backup=5)
    project = _post(sandbox, "/api/projects", "web").json()["id"]
    base = f"/api/resources/{order()}"
    old = _post(sandbox, f"{base}/backups", "a").json()["id"]
    sandbox.clock(advance=5)
    _post(sandbox, f"{base}/backups", "b")
    size = {"cpuCores": 2, "ramGb": 8, "storageGb": 20}
    calls = {
        "/power": ("POST", {"signal": "stop"}),
        "/network": ("PUT", {"isPublic": False}),
        "/scale": ("PUT", size),
        "/deploy": ("PUT", {"command": "x"}),
        "/project": ("PUT", {"projectId": project}),
        f"/backups/{old}": ("DELETE", None),
    }
    for path, (method, body) in calls.items():
        assert sandbox.api(method, base + path, body).status_code == status, path
    sandbox.clock(advance=5)
    if status != 200:
        for path, (method, body) in calls.items():
            assert sandbox.api(method, base + path, body).status_code == 200, path


@pytest.mark.parametrize(("value", "end"), [("it goes on", "COMPLETED"), ("it fails", "FAILED")])
def test_a_suspension_while_a_backup_is_in_progress(
    sandbox: Sandbox, order: Order, value: str, end: str
) -> None:
    sandbox.profile("plain", **{"copy.suspended": value})
    sandbox.clock(freeze=True)
    sandbox.delays(backup=5, restore=5)
    for name in ("first", "second"):
        key = order(name=name)
        _post(sandbox, f"/api/resources/{key}/backups", "a")
        if name == "second":
            sandbox.clock(advance=5)
            [backup] = sandbox.api("GET", f"/api/resources/{key}/backups").json()
            _post(sandbox, f"/api/resources/{key}/backups/{backup['id']}/restore")
        assert _post(sandbox, f"/api/resources/{key}/suspend").status_code == 200
        sandbox.clock(advance=60)
        state = sandbox.control("GET", "/state")["records"]["backup"]
        [found] = [each["status"] for each in state if each["service_id"] == key]
        assert found == end


@pytest.mark.parametrize(
    ("value", "status", "after"),
    [("not refused", 201, None), ("429 with Retry-After", 429, "3"), ("429", 429, None)],
)
def test_a_backup_too_soon(
    sandbox: Sandbox, order: Order, value: str, status: int, after: str | None
) -> None:
    sandbox.profile("plain", **{"refusal.backup_pause": value})
    sandbox.clock(freeze=True)
    sandbox.delays(backup_pause=3)
    base = f"/api/resources/{order()}/backups"
    _post(sandbox, base, "a")
    answer = _post(sandbox, base, "b")
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, after)
    sandbox.clock(advance=3)
    assert _post(sandbox, base, "c").status_code == 201
