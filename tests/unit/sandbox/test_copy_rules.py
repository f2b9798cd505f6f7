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
    sandbox.profile("plain", **{"refusal.copy_busy": value, "restore.shown": "never"})
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
    ("value", "answer", "end"),
    [
        ("it goes on", 200, "COMPLETED"),
        ("it fails", 200, "FAILED"),
        ("the suspension is refused", 409, "COMPLETED"),
    ],
)
def test_a_suspension_while_a_backup_is_in_progress(
    sandbox: Sandbox, order: Order, value: str, answer: int, end: str
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
        assert _post(sandbox, f"/api/resources/{key}/suspend").status_code == answer
        sandbox.clock(advance=60)
        state = sandbox.control("GET", "/state")["records"]["backup"]
        [found] = [each["status"] for each in state if each["service_id"] == key]
        assert found == end


@pytest.mark.parametrize(
    ("value", "status", "after"),
    [("not refused", 201, None), ("429 with Retry-After", 429, "3"), ("429", 429, None), ("409", 409, None)],
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


@pytest.mark.parametrize(("value", "count"), [("it is made", 51), ("the oldest goes", 50), ("refused", 50)])
def test_a_limit_of_backups(sandbox: Sandbox, order: Order, value: str, count: int) -> None:
    sandbox.profile("plain", **{"backup.limit": value})
    key = order()
    for day in range(50):
        sandbox.operator(f"services/{key}/backups", name=str(day), created_at=f"2020-01-01T00:00:{day:02}Z")
    base = f"/api/resources/{key}/backups"
    assert _post(sandbox, base, "new").status_code == (409 if value == "refused" else 201)
    names = [backup["name"] for backup in sandbox.api("GET", base).json()]
    assert len(names) == count and ("0" in names) == (value != "the oldest goes")


def test_a_snapshot_is_listed_late_or_with_a_status(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    base = f"/api/resources/{order('linux', 'box')}/snapshots"
    sandbox.delays(snapshot=5)
    values = ("later", "at once, with a status", "at once, not complete yet")
    for value, name in zip(values, "abc", strict=True):
        sandbox.profile("plain", **{"snapshot.listed": value})
        assert _post(sandbox, base, name).status_code == 201
        early = {shot["name"]: shot.get("status") for shot in sandbox.api("GET", base).json()}
        assert early.get(name) == ("PENDING" if name == "b" else None) and (name in early) == (name != "a")
        assert _post(sandbox, f"{base}/{name}/rollback").status_code == 409
        sandbox.clock(advance=5)
        assert name in [shot["name"] for shot in sandbox.api("GET", base).json()]
        assert _post(sandbox, f"{base}/{name}/rollback").status_code == 200


@pytest.mark.parametrize("listed", ["at once", "at once, with a status"])
def test_the_operator_lets_snapshots_fail_where_they_have_a_status(
    sandbox: Sandbox, order: Order, listed: str
) -> None:
    sandbox.profile("plain", **{"snapshot.listed": listed})
    sandbox.clock(freeze=True)
    key = order("linux", "box")
    base, shown = f"/api/resources/{key}/snapshots", listed != "at once"
    for name, fails in (("bad", True), ("good", False)):
        sandbox.operator(f"services/{key}", snapshot_fails=fails)
        _post(sandbox, base, name)
        sandbox.clock(advance=5)
    found = {shot["name"]: shot.get("status") for shot in sandbox.api("GET", base).json()}
    assert found == ({"bad": "FAILED", "good": "COMPLETED"} if shown else {"bad": None, "good": None})
    assert _post(sandbox, f"{base}/good/rollback").status_code == 200
    assert _post(sandbox, f"{base}/bad/rollback").status_code == (409 if shown else 200)


@pytest.mark.parametrize("listed", ["later", "at once, not complete yet"])
def test_a_snapshot_that_fails_is_gone_where_it_has_no_status(
    sandbox: Sandbox, order: Order, listed: str
) -> None:
    sandbox.profile("plain", **{"snapshot.listed": listed})
    sandbox.clock(freeze=True)
    sandbox.delays(snapshot=5)
    key = order("linux", "box")
    base = f"/api/resources/{key}/snapshots"
    sandbox.operator(f"services/{key}", snapshot_fails=True)
    assert _post(sandbox, base, "bad").status_code == 201
    assert len(sandbox.api("GET", base).json()) == (0 if listed == "later" else 1)
    assert _post(sandbox, f"{base}/bad/rollback").status_code == 409
    sandbox.clock(advance=5)
    assert sandbox.api("GET", base).json() == []
    assert _post(sandbox, f"{base}/bad/rollback").status_code == 404


@pytest.mark.parametrize("value", ["nothing", "deletes them", "refused"])
def test_a_rollback_past_newer_snapshots(sandbox: Sandbox, order: Order, value: str) -> None:
    sandbox.profile("plain", **{"rollback.newer": value, "snapshot.children": "the removal is refused"})
    base = f"/api/resources/{order('linux', 'box')}/snapshots"
    for name in ("a", "b"):
        _post(sandbox, base, name)
    assert sandbox.api("DELETE", f"{base}/a").status_code == 409
    assert _post(sandbox, f"{base}/a/rollback").status_code == (409 if value == "refused" else 200)
    left = [shot["name"] for shot in sandbox.api("GET", base).json()]
    assert left == (["a"] if value == "deletes them" else ["a", "b"])


@pytest.mark.parametrize(
    ("value", "before", "after"),
    [
        ("as before", "start", "running"),
        ("stopped", "start", "stopped"),
        ("running", "stop", "running"),
        ("as before", "stop", "stopped"),
    ],
)
def test_the_power_after_a_rollback(
    sandbox: Sandbox, order: Order, value: str, before: str, after: str
) -> None:
    sandbox.profile("plain", **{"rollback.power": value})
    key = order("linux", "box")
    sandbox.api("POST", f"/api/resources/{key}/power", {"signal": before})
    _post(sandbox, f"/api/resources/{key}/snapshots", "a")
    _post(sandbox, f"/api/resources/{key}/snapshots/a/rollback")
    assert sandbox.api("GET", f"/api/resources/metrics?ids={key}").json()[key]["state"] == after


@pytest.mark.parametrize("value", ["FAILED", "COMPLETED, with an event", "COMPLETED"])
def test_a_restore_that_fails(sandbox: Sandbox, order: Order, value: str) -> None:
    sandbox.profile("plain", **{"restore.failed": value, "restore.event": "when it ends"})
    key = order()
    sandbox.operator(f"services/{key}", restore_fails=True)
    base = f"/api/resources/{key}/backups"
    _post(sandbox, f"{base}/{_post(sandbox, base, 'a').json()['id']}/restore")
    (backup,) = sandbox.api("GET", base).json()
    types = [event["type"] for event in sandbox.api("GET", f"/api/resources/{key}/events").json()["items"]]
    assert backup["status"] == value.partition(",")[0]
    assert ("BACKUP_RESTORE_FAILED" in types) == (value != "COMPLETED")
    assert "BACKUP_RESTORED" not in types
