# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Backups and snapshots, and what refuses them."""

from __future__ import annotations

from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order


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
    path = f"/api/resources/{key}/backups/{_create(sandbox, key)}"
    assert [(b["status"], b["completedAt"]) for b in _backups(sandbox, key)] == [("PENDING", None)]
    assert sandbox.api("POST", f"{path}/restore").status_code == 400
    assert sandbox.api("DELETE", path).status_code == 400
    sandbox.clock(advance=6)
    (made,) = _backups(sandbox, key)
    assert (made["status"], made["sizeBytes"]) == ("COMPLETED", 3)
    _write(sandbox, key, "two")
    assert sandbox.api("POST", f"{path}/restore").status_code == 200
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("RESTORING", "two")
    sandbox.clock(advance=6)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("COMPLETED", "one")
    _write(sandbox, key, "two")
    sandbox.profile("plain", delay="a second late")  # a restore shows late
    sandbox.delays(restore_begins=3)
    restored = _events(sandbox, key).count("BACKUP_RESTORED")
    assert sandbox.api("POST", f"{path}/restore").status_code == 200
    assert _backups(sandbox, key)[0]["status"] == "COMPLETED"
    assert _events(sandbox, key).count("BACKUP_RESTORED") == restored
    sandbox.clock(advance=3)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("RESTORING", "two")
    assert _events(sandbox, key).count("BACKUP_RESTORED") == restored + 1
    sandbox.clock(advance=5)
    assert (_backups(sandbox, key)[0]["status"], _read(sandbox, key)) == ("COMPLETED", "one")
    sandbox.profile("plain", delay="at once")
    assert sandbox.api("DELETE", path).status_code == 200
    assert _backups(sandbox, key) == []


def _events(sandbox: Sandbox, key: str) -> list[str]:
    return [event["type"] for event in sandbox.api("GET", f"/api/resources/{key}/events").json()["items"]]


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


@pytest.mark.parametrize(("value", "status"), [("not refused", 200), ("409", 409), ("423", 423)])
def test_what_else_a_busy_service_refuses(sandbox: Sandbox, order: Order, value: str, status: int) -> None:
    sandbox.profile("plain", **{"refusal.service_busy": value})
    sandbox.clock(freeze=True)
    sandbox.delays(backup=5)
    project = sandbox.api("POST", "/api/projects", {"name": "web"}).json()["id"]
    key = order()
    old = _create(sandbox, key)
    sandbox.clock(advance=5)
    _create(sandbox, key)
    calls: list[tuple[str, str, dict[str, Any] | None]] = [
        ("POST", "/power", {"signal": "stop"}),
        ("PUT", "/network", {"isPublic": False}),
        ("PUT", "/scale", {"cpuCores": 2, "ramGb": 8, "storageGb": 20}),
        ("PUT", "/deploy", {"command": "x"}),
        ("PUT", "/project", {"projectId": project}),
        ("DELETE", f"/backups/{old}", None),
    ]
    for expected in (status, 200)[: 1 if status == 200 else 2]:
        for method, path, body in calls:
            answer = sandbox.api(method, f"/api/resources/{key}{path}", body)
            assert answer.status_code == expected, path
        sandbox.clock(advance=5)


@pytest.mark.parametrize(("value", "end"), [("it goes on", "COMPLETED"), ("it fails", "FAILED")])
def test_a_suspension_while_a_backup_is_in_progress(
    sandbox: Sandbox, order: Order, value: str, end: str
) -> None:
    sandbox.profile("plain", **{"copy.suspended": value})
    sandbox.clock(freeze=True)
    sandbox.delays(backup=5, restore=5)
    for name in ("made", "restored"):
        key = order(name=name)
        backup = _create(sandbox, key)
        if name == "restored":
            sandbox.clock(advance=5)
            sandbox.api("POST", f"/api/resources/{key}/backups/{backup}/restore")
        assert sandbox.api("POST", f"/api/resources/{key}/suspend").status_code == 200
        sandbox.clock(advance=60)
        state = sandbox.control("GET", "/state")["records"]["backup"]
        assert [each["status"] for each in state if each["service_id"] == key] == [end]


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
    key = order()
    _create(sandbox, key)
    path = f"/api/resources/{key}/backups"
    answer = sandbox.api("POST", path, {"name": "b"})
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, after)
    sandbox.clock(advance=3)
    assert sandbox.api("POST", path, {"name": "c"}).status_code == 201


@pytest.mark.rule("delete", "capability-400")
def test_backups_belong_to_their_service(sandbox: Sandbox, order: Order) -> None:
    """Its database is in them, they go with it, and both kinds of copy need their capability."""
    key, other, bucket = order("postgresql", "db"), order(), order("bucket", "objects")
    query = f"/api/resources/{key}/database/query"
    sandbox.api("POST", query, {"sql": "CREATE TABLE t (a)"})
    backup = _create(sandbox, key)
    sandbox.api("POST", query, {"sql": "DROP TABLE t"})
    sandbox.api("POST", f"/api/resources/{key}/backups/{backup}/restore")
    assert sandbox.api("POST", query, {"sql": "SELECT * FROM t"}).status_code == 200
    assert sandbox.api("POST", f"/api/resources/{other}/backups/{backup}/restore").status_code == 404
    sandbox.api("DELETE", f"/api/resources/{key}")
    assert sandbox.api("GET", f"/api/resources/{key}/backups").status_code == 404
    assert sandbox.control("GET", "/state")["records"]["backup"] == []
    assert sandbox.api("GET", f"/api/resources/{other}/snapshots").status_code == 400
    assert sandbox.api("POST", f"/api/resources/{other}/snapshots", {"name": "s"}).status_code == 400
    assert sandbox.api("GET", f"/api/resources/{bucket}/backups").status_code == 400
