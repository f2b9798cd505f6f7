# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading the services of an account, while others work on it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    Listing,
    ServiceQuery,
    read_listing,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    NoSuchItem,
)
from unit.plugins.fakes import Readable


class Platform(Readable):
    """A platform that answers what it was given, and keeps what it was asked."""

    def __init__(self, services: Sequence[dict[str, Any]], projects: dict[str, list[str]]) -> None:
        self.by_id = {
            service["id"]: {"name": service["id"], "family": "APP", "status": "ACTIVE", **service}
            for service in services
        }
        self.lists = projects
        self.homes: dict[str, str | None] = {}
        self.counts: dict[str, int] = {}
        self.failing: dict[str, Exception] = {}
        self.asked: list[tuple[str, str]] = []
        self.account_key = "account"

    def clone(self) -> Platform:
        return self

    def set_pace(self, next_turn: Any, on_refusal: Any) -> None:
        """Nothing is sent, and so nothing is refused."""

    def close(self) -> None:
        """There is no connection to close."""

    def _summary(self, id: str) -> m.ServiceSummary:
        return m.ServiceSummary.model_validate(self.by_id[id])

    def services(self) -> list[m.ServiceSummary]:
        self.asked.append(("services", ""))
        return [self._summary(id) for id in self.by_id]

    def projects(self) -> list[m.Project]:
        return [
            m.Project(id=id, name=f"project {id}", resource_count=self.counts.get(id, len(held)))
            for id, held in self.lists.items()
        ]

    def project(self, id: str) -> m.ProjectDetail | None:
        self.asked.append(("project", id))
        held = [self._summary(service) for service in self.lists[id]]
        return m.ProjectDetail(id=id, name=f"project {id}", resources=held)

    def service(self, id: str) -> m.Service | None:
        self.asked.append(("service", id))
        if id not in self.homes:
            return None
        return m.Service.model_validate({**self.by_id[id], "projectId": self.homes[id]})

    def sftp(self, id: str) -> m.SftpAccess:
        self.asked.append(("sftp", id))
        if id in self.failing:
            raise self.failing[id]
        return m.SftpAccess(host=f"{id}.example.com", port=22, username=f"user-{id}")


def read(platform: Platform, **wanted: Any) -> Listing:
    """Read the listing, and hold that a cache can keep it."""
    listing = read_listing(Account(cast(Client, platform)), ServiceQuery(**wanted))
    assert Listing(**json.loads(json.dumps(asdict(listing)))) == listing
    return listing


def homes(listing: Listing) -> dict[str, str | None]:
    """Return the project of each service."""
    return {service["id"]: service["project_id"] for service in listing.services}


def test_projects_come_from_the_lists() -> None:
    """A service that one project lists needs no call of its own; an empty project needs none either."""
    platform = Platform([{"id": "a"}, {"id": "b"}], {"1": ["a"], "2": ["b"], "3": []})
    listing = read(platform)
    assert homes(listing) == {"a": "1", "b": "2"}
    assert [service["project"] for service in listing.services] == ["project 1", "project 2"]
    assert sorted(platform.asked) == [("project", "1"), ("project", "2"), ("services", "")]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["a", "b", "c"]),
        ({"families": ("GAME",)}, ["b"]),
        ({"statuses": ("SUSPENDED",)}, ["c"]),
        ({"statuses": ("DELETING",)}, ["d"]),
        ({"names": ("w*", "!worker")}, ["a", "b"]),
        ({"families": ("APP",), "names": ("w*",), "projects": ("1",)}, ["a", "c"]),
    ],
)
def test_only_what_matches_is_listed_and_asked(wanted: dict[str, Any], found: list[str]) -> None:
    """What is being deleted has to be asked for by its status; of what does not match nothing is read."""
    platform = Platform(
        [
            {"id": "a", "name": "web"},
            {"id": "b", "name": "world", "family": "GAME"},
            {"id": "c", "name": "worker", "status": "SUSPENDED"},
            {"id": "d", "name": "gone", "status": "DELETING"},
        ],
        {"1": ["a", "b", "c", "d"]},
    )
    assert sorted(homes(read(platform, sftp=True, **wanted))) == found
    assert sorted(id for what, id in platform.asked if what == "sftp") == found


def test_unknown_project() -> None:
    """It is an error, with what may have been meant."""
    with pytest.raises(NoSuchItem, match="unknown project 'projct 1'; did you mean 'project 1'"):
        read(Platform([], {"1": []}), projects=("projct 1",))


def test_fields() -> None:
    """Fields that the specification does not show are left out: nobody knows what they hold."""
    service = {"id": "a", "secret": "s3cret", "product": {"slug": "x", "token": "s3cret"}}
    listing = read(Platform([{**service, "monthlyMillicents": 1060}], {"1": ["a"]}))
    assert listing.services[0]["monthly"] == "1.06"
    assert listing.services[0]["product"] == {"slug": "x", "name": None, "short_name": None}
    assert "s3cret" not in str(listing)


PRICES = {"monthlyMillicents": 1060, "pricing": {"monthlyMillicents": 1060, "billedMonthlyMillicents": 60}}


def test_the_rate_is_the_one_that_is_billed() -> None:
    """The list tells the full rate alone; a service that is not ACTIVE is asked itself, no other is."""
    platform = Platform(
        [{"id": "a", "status": "SUSPENDED", **PRICES}, {"id": "b", "monthlyMillicents": 1060}],
        {"1": ["a", "b"]},
    )
    platform.homes = {"a": "1"}
    rates = {s["id"]: (s["monthly"], s["monthly_full"]) for s in read(platform).services}
    assert rates == {"a": ("0.06", "1.06"), "b": ("1.06", "1.06")}
    assert [id for call, id in platform.asked if call == "service"] == ["a"]


@pytest.mark.parametrize(
    "error",
    [
        errors.AccessDenied("not this one", 403),
        errors.ServerFailure("broken", status=503),
        errors.Interrupted("reset"),
        errors.UnexpectedAnswer("no host"),
    ],
)
def test_sftp_fails_for_some(error: Exception) -> None:
    """One warning names them and counts the rest; the others are reached."""
    ids = [f"s{n}" for n in range(6)]
    platform = Platform([{"id": id} for id in ids], {"1": ids})
    platform.failing = dict.fromkeys(ids[:5], error)
    listing = read(platform, sftp=True)
    assert [service["sftp"] for service in listing.services] == [
        *[None] * 5,
        {"host": "s5.example.com", "port": 22, "user": "user-s5"},
    ]
    (warning,) = listing.warnings
    assert warning.startswith("the sftp of 5 of 6 services could not be read")
    assert warning.endswith(f"'s2' (s2): {error}; and 2 more")


@pytest.mark.parametrize(
    "error",
    [errors.ConnectionFailed("down"), errors.RateLimited("slow down"), errors.TokenRejected("no", 401)],
)
def test_sftp_fails_for_all(error: errors.HostedError) -> None:
    """What would go wrong with every service is an error at once."""
    platform = Platform([{"id": "a"}, {"id": "b"}], {"1": ["a", "b"]})
    platform.failing = {"a": error}
    with pytest.raises(type(error)):
        read(platform, sftp=True)


def test_sftp_host_that_is_an_option(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an SSH client would take for an option is not handed to it."""
    platform = Platform([{"id": "a"}], {"1": ["a"]})
    evil = m.SftpAccess(host="-oProxyCommand=x", port=22, username="u")
    monkeypatch.setattr(platform, "sftp", lambda id: evil)
    listing = read(platform, sftp=True)
    assert listing.services[0]["sftp"] is None
    assert "'-oProxyCommand=x'" in listing.warnings[0]


DAY = 86400.0


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    return tmp_path


def asked(platform: Platform, reread: bool = False) -> list[str]:
    """Return the ids of the services whose access is read from the platform."""
    platform.asked.clear()
    query = ServiceQuery(sftp=True, sftp_max_age=DAY)
    listing = read_listing(Account(cast(Client, platform)), query, reread)
    assert all(each["sftp"] for each in listing.services if each["id"] not in platform.failing)
    return sorted(id for what, id in platform.asked if what == "sftp")


def test_an_access_is_remembered_and_may_be_read_again() -> None:
    platform = Platform([{"id": "a"}, {"id": "b"}], {"1": ["a", "b"]})
    assert [asked(platform), asked(platform), asked(platform, reread=True)] == [["a", "b"], [], ["a", "b"]]
