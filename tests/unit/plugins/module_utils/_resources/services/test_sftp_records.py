# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SFTP access is remembered until a service changes or the record is too old."""

from __future__ import annotations

import json
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.services.sftp_records import (
    SftpRecords,
)

ACCESS = {"host": "paris.example.com", "port": 2022, "user": "srv-1"}
DAY = 86400.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    return tmp_path


def service(id: str = "s1", status: str = "ACTIVE", sftp: Any = None) -> dict[str, Any]:
    return {"id": id, "status": status, "sftp": sftp}


def remember(*services: dict[str, Any], max_age: float = DAY) -> SftpRecords:
    records = SftpRecords("account", max_age)
    records.keep(services)
    return records


def left_of(*services: dict[str, Any], max_age: float = DAY, **how: Any) -> list[str]:
    """Return the ids of the services that have to be read."""
    return [each["id"] for each in SftpRecords("account", max_age, **how).fill(services)]


def test_what_was_read_is_not_read_again() -> None:
    remember(service(sftp=ACCESS))
    known, new = service(), service("s2")
    assert left_of(known, new) == ["s2"]
    assert known["sftp"] == ACCESS


def test_a_service_without_access_is_read_each_time() -> None:
    """It may have been refused for a moment, and its host would lack it for as long as it is remembered."""
    remember(service(sftp=ACCESS), service("s2", sftp=None))
    assert left_of(service(), service("s2")) == ["s2"]
    SftpRecords("account", DAY, reread=True).keep([service(sftp=None)])
    assert left_of(service()) == ["s1"], "the access of before is gone"


def test_another_status_is_read_again() -> None:
    remember(service(sftp=ACCESS))
    assert left_of(service(status="SUSPENDED")) == ["s1"]


def test_everything_may_be_read_again() -> None:
    remember(service(sftp=ACCESS))
    assert left_of(service(), reread=True) == ["s1"]
    moved = {**ACCESS, "host": "berlin.example.com"}
    SftpRecords("account", DAY, reread=True).keep([service(sftp=moved)])
    found = service()
    assert left_of(found) == []
    assert found["sftp"] == moved


@pytest.mark.parametrize(("age", "left"), [(0, []), (DAY - 60, []), (DAY + 60, ["s1"]), (-60, ["s1"])])
def test_a_record_lasts_for_its_age(age: float, left: list[str]) -> None:
    """One of the future was written before the clock was set back."""
    path = Path(remember(service(sftp=ACCESS)).path)
    content = json.loads(path.read_text())
    content["s1"]["at"] = time.time() - age
    path.write_text(json.dumps(content))
    assert left_of(service()) == left


def test_others_are_kept_until_they_are_too_old() -> None:
    """The next run may have other filters."""
    remember(service(sftp=ACCESS))
    remember(service("s2", sftp=ACCESS))
    assert left_of(service(), service("s2")) == []


def test_accounts_have_records_of_their_own() -> None:
    remember(service(sftp=ACCESS))
    assert SftpRecords("another", DAY).fill([service()]) != []


def test_nothing_is_written_without_an_age(home: Path) -> None:
    remember(service(sftp=ACCESS), max_age=0)
    assert list(home.iterdir()) == []


def test_the_file_is_for_its_owner_alone() -> None:
    path = Path(remember(service(sftp=ACCESS)).path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"s1": null}',
        '{"s1": []}',
        '{"s1": {"status": "ACTIVE", "at": "now", "access": HERE}}',
        '{"s1": {"status": "ACTIVE", "at": 9e99, "access": HERE}}',
        '{"s1": {"status": "ACTIVE", "at": 1, "access": {"host": "a"}}}',
        '{"s1": {"status": "ACTIVE", "at": NaN, "access": HERE}}',
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_as_none(content: str) -> None:
    path = Path(remember(service(sftp=ACCESS)).path)
    path.write_text(content.replace("HERE", json.dumps(ACCESS)))
    assert left_of(service()) == ["s1"]


@pytest.mark.parametrize(
    "access",
    [
        {"host": "paris.example.com"},
        {**ACCESS, "host": None},
        {**ACCESS, "host": 5},
        {**ACCESS, "port": 0},
        {**ACCESS, "port": "2022"},
        {**ACCESS, "password": "x"},
    ],
)
def test_a_record_that_names_no_whole_access_is_as_none(access: dict[str, Any]) -> None:
    path = Path(remember(service(sftp=ACCESS)).path)
    content = json.loads(path.read_text())
    content["s1"]["access"] = access
    path.write_text(json.dumps(content))
    assert left_of(service()) == ["s1"]
