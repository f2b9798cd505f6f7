# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do next: each matter when it is one, and not otherwise."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import SshKey
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.advice import advice_of
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.measures import Measures
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import Span

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
MONEY = {"balance": "20.00", "days_left": 90, "monthly": "5.00", "runs_out_on": "2027-01-01"}
SERVICE = {"id": "s", "name": "db", "status": "ACTIVE", "state": "running", "monthly": "5.00",
           "failure_reason": None, "disk": None, "is_free": False, "free_expires_at": None}  # fmt: skip
ROW = {"id": "s", "name": "db", "freshness": "fresh", "age_hours": 5, "last_failed": False}


def matters(
    *,
    money: dict[str, Any] | None = None,
    service: dict[str, Any] | None = None,
    row: dict[str, Any] | None = None,
    drill: dict[str, Any] | None = None,
    apps: list[dict[str, Any]] | None = None,
    keys: list[SshKey] | None = None,
    **measures: Any,
) -> list[dict[str, Any]]:
    """Return all matters, for an account in which all else is well."""
    found = {
        "currency": "EUR",
        "money": {**MONEY, **(money or {})},
        "services": [{**SERVICE, **(service or {})}],
        "backups": {"services": [{**ROW, **(row or {})}], "max_age": "26h", "drill": drill},
        "applications": apps,
    }
    return advice_of(found, Facts(keys=keys), Measures(AS_OF, Span(hours=26, text="26h"), **measures))


def advice(**given: Any) -> dict[str, list[str]]:
    """Return the details of all matters by their kind."""
    told = matters(**given)
    return {matter["kind"]: [subject["detail"] for subject in matter["subjects"]] for matter in told}


def test_there_is_nothing_to_do_if_all_is_well() -> None:
    assert advice() == {}


@pytest.mark.parametrize(
    ("money", "said"),
    [
        ({"days_left": 29}, "20.00 EUR lasts until 2027-01-01 at today's rate"),
        ({"balance": "-3.00", "days_left": None}, "-3.00 EUR is below zero"),
    ],
)
def test_a_balance_that_runs_out_is_told(money: dict[str, Any], said: str) -> None:
    assert advice(money=money) == {"balance": [said]}


def test_services_go_some_time_after_the_balance_is_below_zero() -> None:
    [told] = matters(money={"balance": "-3.00", "days_left": None})
    assert told["do"] == (
        "Top up the balance: the platform deletes the services a while after it falls below zero; how long "
        "it waits is not shown"
    )


@pytest.mark.parametrize(
    "money", [{"days_left": 30}, {"days_left": 2, "monthly": "0.00"}, {"days_left": None}]
)
def test_a_balance_that_lasts_is_not(money: dict[str, Any]) -> None:
    assert advice(money=money) == {}


@pytest.mark.parametrize(
    ("service", "expected"),
    [
        ({"status": "FAILED", "failure_reason": "no room"}, {"failed": ["no room"]}),
        ({"status": "FAILED"}, {"failed": ["the platform gives no reason"]}),
        ({"status": "AWAITING_ADMIN"}, {"awaiting_admin": ["the platform's team has to act"]}),
        ({"state": "stopped"}, {"stopped_billed": ["5.00 EUR a month"]}),
        ({"state": "stopped", "monthly": "0.00"}, {}),
        ({"state": "stopped", "monthly": None}, {}),
        ({"state": None}, {}),
        ({"state": "stopped", "status": "SUSPENDED"}, {}),
        ({"disk": {"percent": 80, "size_gb": 10}}, {"disk": ["80 % of 10 GB"]}),
        ({"disk": {"percent": 79, "size_gb": 10}}, {}),
    ],
)
def test_services_that_need_a_look(service: dict[str, Any], expected: dict[str, list[str]]) -> None:
    assert advice(service=service) == expected


FREE = {"monthly": "0.00", "is_free": True}


@pytest.mark.parametrize(
    ("service", "told"),
    [
        ({"free_expires_at": "2026-12-03T09:29:59.999Z"}, True),
        ({"free_expires_at": "2026-12-03T09:30:00.000Z"}, False),
        ({"free_expires_at": "2026-12-03T11:29:59+02:00"}, True),
        ({"free_expires_at": "2026-11-19T09:29:00.000Z"}, True),
        ({"free_expires_at": "2026-12-01T00:00:00.000Z", "is_free": None}, True),
        ({"free_expires_at": "2026-12-01T00:00:00.000Z", "is_free": False}, False),
        ({"free_expires_at": "2026-12-01T00:00:00.000Z", "status": "DELETING"}, False),
        ({"free_expires_at": "2026-12-01T00:00:00.000Z", "status": "DELETED"}, False),
        ({"free_expires_at": "2026-12-01T00:00:00.000Z", "status": "SUSPENDED"}, True),
        ({"free_expires_at": "9999-12-31T23:59:59.999Z"}, False),
        ({"free_expires_at": "soon"}, False),
        ({"free_expires_at": ""}, False),
        ({}, False),
    ],
)
def test_a_free_time_that_ends_soon_is_told(service: dict[str, Any], told: bool) -> None:
    date = service.get("free_expires_at")
    assert advice(service={**FREE, **service}) == ({"free_ends": [f"free until {date}"]} if told else {})


@pytest.mark.parametrize(("days", "told"), [(0, False), (11, False), (12, True), (10**12, True)])
def test_how_soon_a_free_time_has_to_end_is_chosen(days: int, told: bool) -> None:
    service = {**FREE, "free_expires_at": "2026-12-01T00:00:00.000Z"}
    assert ("free_ends" in advice(service=service, free_days=days)) is told


def test_what_to_do_before_a_free_time_ends() -> None:
    [told] = matters(service={**FREE, "free_expires_at": "2026-12-01T00:00:00.000Z"})
    assert told["level"] == "warning" and [each["name"] for each in told["subjects"]] == ["db"]
    assert told["do"] == (
        "Copy off the platform what must stay, and check what these cost once they are not free: they may be "
        "billed, suspended, or deleted with their backups"
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"freshness": "none", "age_hours": None}, {"no_backup": ["no backup"]}),
        ({"freshness": "none", "last_failed": True}, {"no_backup": ["no backup; the last one failed"]}),
        (
            {"freshness": "stale", "age_hours": 50},
            {"stale_backup": ["the newest is 2 days old, and at most 26h is wanted"]},
        ),
        ({"last_failed": True}, {"failed_backup": ["the newest good one is 5 h old"]}),
    ],
)
def test_backups_that_need_a_look(row: dict[str, Any], expected: dict[str, list[str]]) -> None:
    assert advice(row=row) == expected


def test_a_stale_backup_whose_last_one_failed_is_told_once() -> None:
    found = advice(row={"freshness": "stale", "age_hours": 30, "last_failed": True})
    assert found == {
        "stale_backup": ["the newest is 30 h old, and at most 26h is wanted; the last one failed"]
    }


def key(id: str, used: str | None, **fields: Any) -> SshKey:
    """Return an SSH key whose name and fingerprint are its id."""
    given = {"id": id, "name": id, "fingerprint": f"SHA256:{id}", "lastUsedAt": used, **fields}
    return SshKey.model_validate(given)


def test_keys_that_nobody_knows_and_keys_that_were_never_used() -> None:
    keys = [
        key("old", None),
        key("known", "2026-11-01T00:00:00.000Z"),
        key("strange", "2026-11-01T00:00:00.000Z"),
    ]
    assert advice(keys=keys) == {"unused_key": ["SHA256:old, never used"]}
    assert advice(keys=keys, known_keys=frozenset({"SHA256:known", "SHA256:old"})) == {
        "unknown_key": ["SHA256:strange, in use"],
        "unused_key": ["SHA256:old, never used"],
    }
    assert advice(keys=keys, known_keys=frozenset())["unknown_key"] == [
        "SHA256:known, in use", "SHA256:old, never used", "SHA256:strange, in use",
    ]  # fmt: skip


def test_a_key_without_a_name_is_named_by_its_id() -> None:
    [unused] = matters(keys=[key("old", None), key("k1", None, name=None)])
    assert [subject["name"] for subject in unused["subjects"]] == ["k1", "old"]


def test_drift_counts_and_what_is_unknown_does_not() -> None:
    compared = {
        "file": "a.yml",
        "error": None,
        "differences": [{"drift": True, "line": "x"}, {"drift": False, "line": "y"}],
    }
    assert advice(drift=[compared]) == {"drift": ["x"]}
    assert advice(drift=[{"file": "b.yml", "error": "broken", "differences": []}]) == {
        "not_compared": ["broken"]
    }


def test_a_drill_that_failed_is_urgent() -> None:
    drill = {"service": "drill", "finished": "2026-11-01T00:00:00Z", "restored": False}
    assert advice(drill=drill) == {"drill": ["failed on 2026-11-01T00:00:00Z"]}
    assert advice(drill={**drill, "restored": True}) == {}
    [unnamed] = matters(drill={**drill, "service": None})
    assert unnamed["subjects"][0]["name"] == "Restore drill"


def test_blocked_releases_name_what_mends_them() -> None:
    flaw = {
        "id": "CVE-1",
        "package": "runc",
        "version": "1.0",
        "fix_version": "1.1",
        "reason": None,
        "severity": None,
    }
    releases = [
        {"tag": "v2", "in_service": False, "scan_status": "BLOCKED", "blocking": [flaw]},
        {"tag": "v1", "in_service": True, "scan_status": "BLOCKED", "blocking": []},
    ]
    app = {"id": "a", "slug": "web", "scan_status": "BLOCKED", "releases": releases}
    assert advice(apps=[app]) == {
        "blocked_in_service": ["v1: the scan does not name the flaw"],
        "blocked_release": ["v2: CVE-1 in runc 1.0, fixed in 1.1"],
    }
    unknown = {**app, "releases": None}
    assert list(advice(apps=[unknown])) == ["blocked_in_service"]
