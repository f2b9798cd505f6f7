# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading services: which ones, which parts, and what a service does not offer."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    AccessDenied,
    ConnectionFailed,
    RateLimited,
    ServerFailure,
    TokenRejected,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session
from ansible_collections.hosted.services.plugins.module_utils._resources import service_info
from ansible_collections.hosted.services.plugins.module_utils._resources.service_info import SERVICE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    ServiceQuery,
    read_listing,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    NoSuchItem,
)
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_project("prj_1", "shop")
    client.add_service("a", "web")
    client.add_service("b", "web", family="GAME", projectId="prj_1", state=None)
    client.add_service("c", "db", status="SUSPENDED")
    client.add_service("d", "old", status="DELETING")
    return client


def read(client: FakeClient, **given: Any) -> list[dict[str, Any]]:
    plan = SERVICE_INFO.plan(task_of(SERVICE_INFO, client, **given))
    assert not plan.changed
    assert client.calls == []
    services: list[dict[str, Any]] = plan.result
    return services


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, ["a", "b", "c"]),
        ({"name": "web"}, ["a", "b"]),
        ({"name": "web", "family": "GAME"}, ["b"]),
        ({"project": "shop"}, ["b"]),
        ({"status": "SUSPENDED"}, ["c"]),
        ({"status": "DELETING"}, ["d"]),
        ({"id": "c"}, ["c"]),
        ({"name": "nothing"}, []),
    ],
)
def test_which_services(client: FakeClient, given: dict[str, Any], ids: list[str]) -> None:
    assert [service["id"] for service in read(client, **given)] == ids


def test_an_id_that_is_not_there_or_does_not_fit_is_an_error_and_a_project_is_empty(
    client: FakeClient,
) -> None:
    with pytest.raises(NoSuchItem, match="no service of id 'z'"):
        read(client, id="z")
    with pytest.raises(NoSuchItem, match="fits the other options"):
        read(client, id="a", family="GAME")
    assert read(client, project="gone") == []


def test_metrics_are_null_where_the_node_cannot_be_reached(client: FakeClient) -> None:
    found = {service["id"]: service["metrics"] for service in read(client, include=["metrics"], name="web")}
    assert found["a"]["state"] == "running"
    assert found["b"] is None


def test_parts_come_under_their_names_and_only_when_asked_for(client: FakeClient) -> None:
    client.clone = lambda: client  # type: ignore[method-assign]
    client.backup_records["a"] = [{"id": "bk", "name": "n", "status": "COMPLETED"}]
    service = read(client, id="a", include=["backups", "logs", "settings", "details"])[0]
    assert service["backups"][0]["id"] == "bk"
    assert service["logs"] == ["last line"]
    assert service["settings"]["network"]["is_public"] is False
    assert service["details"]["project_id"] == "prj_default"
    assert not {"backups", "logs", "settings", "details", "metrics"} & set(read(client, id="a")[0])


def refusing(client: FakeClient, ids: str, error: Exception) -> None:
    """Let the backups of these services fail."""

    def backups(id: str) -> list[m.Backup]:
        if id in ids:
            raise error
        return []

    client.clone = lambda: client  # type: ignore[method-assign]
    client.backups = backups  # type: ignore[method-assign]


def read_with_warnings(client: FakeClient, **given: Any) -> tuple[dict[str, Any], list[str]]:
    task = task_of(SERVICE_INFO, client, **given)
    services = {service["id"]: service for service in SERVICE_INFO.plan(task).result}
    return services, task.warnings


def test_what_a_service_does_not_offer_is_null(client: FakeClient) -> None:
    refusing(client, "a", error_for_status("not offered", 400))
    services, warnings = read_with_warnings(client, include=["backups"])
    assert [services[id]["backups"] for id in "abc"] == [None, [], []]
    assert warnings == []


@pytest.mark.parametrize(
    "error",
    [
        *(error_for_status("not here", status) for status in (404, 409, 422)),
        AccessDenied("not here", 403),
        ServerFailure("not here", status=503),
        UnexpectedAnswer("not here"),
    ],
)
def test_a_part_that_cannot_be_read_is_null_with_one_warning(client: FakeClient, error: Exception) -> None:
    """The other services, and the other parts, are there all the same."""
    refusing(client, "ac", error)
    services, warnings = read_with_warnings(client, include=["backups", "settings"])
    assert [services[id]["backups"] for id in "abc"] == [None, [], None]
    assert [bool(services[id]["settings"]) for id in "abc"] == [True, True, True]
    (warning,) = warnings
    assert warning.startswith(
        "the backups of 2 of 3 services could not be read, so it is null there: 'web' (a): "
    )
    assert warning.endswith("'db' (c): not here")


@pytest.mark.parametrize(
    "error", [TokenRejected("no", 401), ConnectionFailed("down"), RateLimited("slow down")]
)
def test_what_fails_for_the_whole_account_is_an_error(client: FakeClient, error: Exception) -> None:
    refusing(client, "a", error)
    with pytest.raises(type(error)):
        read_with_warnings(client, include=["backups"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"status": "ACTVE"},
            "status 'ACTVE' is neither documented nor that of a service; did you mean 'ACTIVE'?",
        ),
        ({"status": "active"}, "neither documented nor that of a service; did you mean 'ACTIVE'?"),
        ({"status": "XYZ"}, "status 'XYZ' is neither documented nor that of a service"),
        ({"name": "wbe"}, "no service is named 'wbe'; did you mean 'web'?"),
        ({"name": "db", "project": "shop"}, None),
        ({"name": "unlike"}, None),
        ({"status": "FAILED"}, None),
        ({"status": "MIGRATING"}, None),
    ],
)
def test_a_filter_that_looks_like_a_slip_is_told(
    client: FakeClient, given: dict[str, Any], said: str | None
) -> None:
    """Not refused: there may be other statuses, and a name may be asked for to see that it is gone."""
    client.add_service("e", "box", status="MIGRATING")
    services, warnings = read_with_warnings(client, **given)
    assert list(services) == (["e"] if given == {"status": "MIGRATING"} else [])
    assert [said in warning for warning in warnings if said] == ([True] if said else [])
    assert len(warnings) == (1 if said else 0)


@pytest.mark.parametrize("family", ["COMPUTE", "VIRTUAL_MACHINE", "DEDICATED", "BUCKET"])
def test_settings_of_a_family_that_has_none_are_not_asked_for(client: FakeClient, family: str) -> None:
    def refuse(id: str) -> Any:
        raise error_for_status("not offered", 422)

    client.settings = refuse  # type: ignore[method-assign]
    client.add_service("box", "box", family=family)
    assert read(client, id="box", include=["settings"])[0]["settings"] is None


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"log_lines": 0}, "log_lines is 0; it must be from 1 to 100"),
        ({"log_lines": 101}, "log_lines is 101; it must be from 1 to 100"),
        ({"max_events": 0}, "max_events is 0"),
        ({"usage_days": 0}, "usage_days is 0"),
        (
            {"time_zone": "Mars/Olympus", "include": ["billed_totals"]},
            "time_zone 'Mars/Olympus' is not",
        ),
        ({"time_zone": "../etc/passwd", "include": ["billed_totals"]}, "is not known here"),
    ],
)
def test_limits_are_held_before_anything_is_read(
    client: FakeClient, given: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(Invalid, match=complaint):
        read(client, **given)


@pytest.mark.parametrize(
    ("zone", "starts"),
    [
        (
            "UTC",
            [
                "2026-11-01T00:00:00.000Z",
                "2026-11-01T00:00:00.000Z",
                "2026-10-26T00:00:00.000Z",
                "2026-11-01T00:00:00.000Z",
            ],
        ),
        (  # 20:30 of the day before, which is in another month
            "America/New_York",
            [
                "2026-11-01T00:00:00.000Z",
                "2026-10-31T04:00:00.000Z",
                "2026-10-26T04:00:00.000Z",
                "2026-10-01T04:00:00.000Z",
            ],
        ),
        (  # 06:00, half an hour off the hours of UTC
            "Asia/Kolkata",
            [
                "2026-11-01T00:30:00.000Z",
                "2026-10-31T18:30:00.000Z",
                "2026-10-25T18:30:00.000Z",
                "2026-10-31T18:30:00.000Z",
            ],
        ),
    ],
)
def test_hour_day_week_and_month_begin_where_the_user_is(
    zone: str, starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime(2026, 11, 1, 0, 30, 15, 5, UTC).astimezone(tz)

    monkeypatch.setattr(service_info, "datetime", Frozen)
    assert list(service_info.period_starts(zone)) == starts


def test_a_month_begins_with_the_clock_that_it_began_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Local time was set forward the night before; the first of the month was in winter."""

    class Frozen(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            moment = datetime(2026, 3, 30, 8, 15, tzinfo=UTC).astimezone(tz)
            return moment if tz else moment.replace(tzinfo=None)

    monkeypatch.setenv("TZ", "Europe/Paris")
    time.tzset()
    try:
        monkeypatch.setattr(service_info, "datetime", Frozen)
        local = service_info.period_starts(None)
        assert local == service_info.period_starts("Europe/Paris")
        assert local[3] == "2026-02-28T23:00:00.000Z"
    finally:
        monkeypatch.undo()
        time.tzset()


NO_SFTP = pytest.mark.parametrize("status", ["400", "404"])
WITHOUT_FILES = {
    "services": [
        {"name": "bin", "product": "bucket", "project": "web"},
        {"name": "broken", "product": "minecraft", "project": "web", "status": "FAILED"},
    ]
}


@NO_SFTP
def test_services_without_sftp_do_not_hide_the_others(sandbox: Sandbox, status: str) -> None:
    sandbox.seed(WITHOUT_FILES)
    sandbox.profile("plain", **{"refusal.no_sftp": status})
    result = run(sandbox, SERVICE_INFO, project="web", include=["sftp"])
    assert not result.get("failed")
    found = {service["name"]: service["sftp"] for service in result["services"]}
    assert {name for name, sftp in found.items() if sftp is None} == {"metal", "bin", "broken"}
    assert all(found[name]["username"] for name in ("one", "two", "disk"))
    assert not result.get("warnings")


@NO_SFTP
def test_nor_do_they_in_an_inventory(sandbox: Sandbox, status: str) -> None:
    sandbox.seed(WITHOUT_FILES)
    sandbox.profile("plain", **{"refusal.no_sftp": status})
    session = Session(Connection(sandbox.base_url, sandbox.token))
    listing = read_listing(Client(session), ServiceQuery(sftp=True))
    assert {s["name"] for s in listing.services if not s["sftp"]} == {"metal", "bin", "broken"}
    assert not listing.warnings


def test_a_token_that_is_not_accepted_is_an_error_whatever_is_read(sandbox: Sandbox) -> None:
    sandbox.fault("sftp.get", "status", status=401, count=None)
    result = run(sandbox, SERVICE_INFO, project="web", include=["sftp"])
    assert result["failed"] and "401" in result["msg"]


def test_an_id_that_is_gone_hides_the_metrics_of_no_other(sandbox: Sandbox) -> None:
    gone = id_of(sandbox, "disk")
    services = [service["id"] for service in sandbox.api("GET", "/api/resources").json()["items"]]
    sandbox.api("DELETE", f"/api/resources/{gone}")
    connection = Connection(base_url=sandbox.base_url, token=sandbox.token)
    found = Client(Session(connection)).metrics(services)
    assert [id for id, metrics in found.items() if metrics is None] == [gone]
    assert len(found) == len(services)


@NO_SFTP
@pytest.mark.parametrize(
    "resource", [SFTP_INFO, SFTP_PASSWORD, SFTP_SYNC, SFTP_HOST_KEY], ids=lambda r: r.name
)
def test_what_needs_sftp_says_which_service_has_none(
    sandbox: Sandbox, tmp_path: Path, status: str, resource: Resource
) -> None:
    """Whatever the status, the reason is the platform's, and no password is made."""
    sandbox.profile("plain", **{"refusal.no_sftp": status})
    needs: dict[str, dict[str, Any]] = {
        "sftp_sync": {"src": str(tmp_path), "dest": "x"},
        "sftp_password": {"return_secrets": True},
        "sftp_host_key": {"known_hosts": str(tmp_path / "known")},
    }
    sandbox.seed(WITHOUT_FILES)
    sandbox.clear_journal()
    for service in ("metal", "bin", "broken"):
        result = run(sandbox, resource, service=service, **needs.get(resource.name, {}))
        assert result["failed"] and not result["changed"]
        assert f"{service!r}" in result["msg"] and "This resource has no SFTP access" in result["msg"]
        assert "token" not in result["msg"]
    assert writes(sandbox) == []
