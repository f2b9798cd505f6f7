# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Picking services out of results: the criteria, how they add up, and what a result has to tell."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    parse_entry,
    select_services,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)


def service(id: str, name: str, family: str = "GAME", status: str = "ACTIVE", **more: Any) -> dict[str, Any]:
    return {"id": id, "name": name, "family": family, "status": status, **more}


SURVIVAL, CREATIVE = service("s1", "survival"), service("s2", "creative", status="SUSPENDED")
SHOP, DB, GONE = (
    service("s3", "shop", "APP"),
    service("s4", "db", "APP"),
    service("s5", "db", status="DELETING"),
)
OTHER_DB = service("s6", "db", "APP")
SERVICES = {"services": [SURVIVAL, CREATIVE, SHOP, DB, GONE], "changed": False}
ACCOUNT = {
    "projects": [
        {"id": "p1", "name": "games", "services": [SURVIVAL, CREATIVE, OTHER_DB]},
        {"id": "p2", "name": "web", "services": [SHOP, DB, GONE]},
        {"id": "p3", "name": "new", "services": []},
    ]
}


def picked(result: Any, **criteria: Any) -> list[str]:
    return [found["id"] for found in select_services(result, **criteria)]


@pytest.mark.parametrize(
    ("criteria", "ids"),
    [
        ({}, ["s1", "s2", "s3", "s4"]),
        ({"family": "GAME"}, ["s1", "s2"]),
        ({"family": ["GAME", "APP"], "status": "ACTIVE"}, ["s1", "s3", "s4"]),
        ({"status": ["SUSPENDED", "DELETING"]}, ["s2", "s5"]),
        ({"status": "NEW_OF_TOMORROW"}, []),
        ({"name": "s*"}, ["s1", "s3"]),
        ({"name": ["*", "!s*"]}, ["s2", "s4"]),
        ({"name": "S*"}, []),
        ({"services": ["shop", "s1"]}, ["s3", "s1"]),
        ({"services": "shop"}, ["s3"]),
        ({"services": ["survival", "s1"]}, ["s1"]),
        ({"services": ["survival", "creative"], "status": "ACTIVE"}, ["s1"]),
        ({"services": []}, []),
    ],
)
def test_criteria_of_a_result_of_services(criteria: dict[str, Any], ids: list[str]) -> None:
    assert picked(SERVICES, **criteria) == ids
    assert picked(SERVICES["services"], **criteria) == ids


def test_an_id_of_another_project_is_refused() -> None:
    with pytest.raises(Invalid, match=r"service 'survival' \(s1\) is in another project"):
        picked(ACCOUNT, project="web", services=["s1", "db"])


def test_results_that_tell_the_project_otherwise() -> None:
    """In full, as a service of its own, and as an inventory lists it."""
    whole = service("a", "x", details={"project_id": "p1"})
    assert picked([whole], project="p1") == ["a"]
    assert picked([service("a", "x", project_id="p1")], project="p1") == ["a"]
    assert picked([service("a", "x", project="web", project_id="p1")], project="web") == ["a"]
    assert picked([], project="web") == []


def test_what_a_record_holds_is_not_shown_by_accident() -> None:
    """As in a message or a traceback: a record of a database may hold its password."""
    assert "hunter2" not in repr(parse_entry(service("a", "x", password="hunter2")))


@pytest.mark.parametrize(
    ("result", "criteria", "error", "words"),
    [
        (SERVICES, {"services": "survivl"}, NoSuchItem, "did you mean 'survival'"),
        (SERVICES, {"services": "s9"}, NoSuchItem, "no service of id or name 's9'"),
        (ACCOUNT, {"services": "db"}, Ambiguous, "s6, s4"),
        (ACCOUNT, {"project": "wbe"}, NoSuchItem, "no project 'wbe'; did you mean 'web'"),
        (
            ACCOUNT,
            {"services": "nobody", "project": "games"},
            NoSuchItem,
            "there are: 'creative', 'db', 'survival'",
        ),
        (
            ACCOUNT,
            {"services": "shop", "project": "games"},
            NoSuchItem,
            "'shop' is in another project or of another family: s3",
        ),
        (SERVICES, {"project": "web"}, Invalid, r"does not show the project of service 'survival' \(s1\)"),
        (
            [service("a", "x", project_id="p1")],
            {"project": "web"},
            NoSuchItem,
            "no project 'web'; there are: id 'p1'",
        ),
        (SERVICES, {"family": "GAMES"}, Invalid, "unknown family 'GAMES'; did you mean 'GAME'"),
        (SERVICES, {"family": []}, Invalid, "family is an empty list"),
        (SERVICES, {"family": None}, Invalid, "family is null; give it a value, or leave it out"),
        (SERVICES, {"name": ""}, Invalid, "name must be a string or a list of strings, none of them empty"),
        (SERVICES, {"status": 5}, Invalid, "status must be a string"),
        (SERVICES, {"status": ["ACTIVE", 5]}, Invalid, "status must be a string or a list of strings"),
        (
            {"services": [{"id": "a", "family": "APP"}]},
            {"status": "ACTIVE"},
            Invalid,
            "does not show the status",
        ),
        (
            {"projects": [{"name": "web"}]},
            {},
            Invalid,
            r"'web' comes without its services.*include: \[services\]",
        ),
        ({"apps": []}, {}, Invalid, "no services in an object"),
        ("survival", {}, Invalid, "no services in a string"),
        (None, {}, Invalid, "no services in nothing"),
        (["survival"], {}, Invalid, "a string in the list is no service"),
        ([{"name": "x"}], {}, Invalid, "it has no id"),
    ],
)
def test_a_refusal_says_why(
    result: Any, criteria: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        select_services(result, **criteria)
