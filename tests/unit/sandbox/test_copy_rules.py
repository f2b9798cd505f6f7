# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a platform may hold against a new copy, each way that the specification leaves open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

Order = Callable[..., str]


def _post(sandbox: Sandbox, path: str, name: str | None = None) -> Any:
    return sandbox.api("POST", path, None if name is None else {"name": name})


@pytest.mark.parametrize(("value", "status"), [("not refused", 201), ("409", 409), ("423", 423)])
def test_a_busy_service(sandbox: Sandbox, order: Order, value: str, status: int) -> None:
    sandbox.profile("plain", **{"refusal.copy_busy": value})
    sandbox.clock(freeze=True)
    base = f"/api/resources/{order()}/backups"
    backup = _post(sandbox, base, "a").json()["id"]
    sandbox.delays(restore=5)
    assert _post(sandbox, f"{base}/{backup}/restore").status_code == 200
    assert _post(sandbox, base, "b").status_code == status
    sandbox.clock(advance=5)
    assert _post(sandbox, base, "c").status_code == 201


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


@pytest.mark.parametrize(
    ("value", "end"),
    [("it goes on", "COMPLETED"), ("it fails", "FAILED")],
)
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


@pytest.mark.parametrize(("value", "count"), [("it is made", 51), ("the oldest goes", 50)])
def test_a_limit_of_backups(sandbox: Sandbox, order: Order, value: str, count: int) -> None:
    sandbox.profile("plain", **{"backup.limit": value})
    key = order()
    for day in range(50):
        sandbox.operator(f"services/{key}/backups", name=str(day), created_at=f"2020-01-01T00:00:{day:02}Z")
    base = f"/api/resources/{key}/backups"
    assert _post(sandbox, base, "new").status_code == 201
    names = [backup["name"] for backup in sandbox.api("GET", base).json()]
    assert len(names) == count and ("0" in names) == (value != "the oldest goes")


@pytest.mark.parametrize("value", ["nothing", "deletes them"])
def test_a_rollback_past_newer_snapshots(sandbox: Sandbox, order: Order, value: str) -> None:
    sandbox.profile("plain", **{"rollback.newer": value})
    base = f"/api/resources/{order('linux', 'box')}/snapshots"
    for name in ("a", "b"):
        _post(sandbox, base, name)
    assert _post(sandbox, f"{base}/a/rollback").status_code == 200
    left = [shot["name"] for shot in sandbox.api("GET", base).json()]
    assert left == (["a"] if value == "deletes them" else ["a", "b"])


@pytest.mark.parametrize("value", ["FAILED", "COMPLETED, with an event"])
def test_a_restore_that_fails(sandbox: Sandbox, order: Order, value: str) -> None:
    sandbox.profile("plain", **{"restore.failed": value})
    key = order()
    sandbox.operator(f"services/{key}", restore_fails=True)
    base = f"/api/resources/{key}/backups"
    _post(sandbox, f"{base}/{_post(sandbox, base, 'a').json()['id']}/restore")
    (backup,) = sandbox.api("GET", base).json()
    types = [event["type"] for event in sandbox.api("GET", f"/api/resources/{key}/events").json()["items"]]
    assert backup["status"] == value.partition(",")[0]
    assert "BACKUP_RESTORE_FAILED" in types
