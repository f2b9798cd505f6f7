# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding projects and services by what the user calls them."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services import lookup
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient


def account() -> FakeClient:
    client = FakeClient()
    client.add_project("prj_1", "shop")
    client.add_project("shop", "a project whose id is another's name")
    client.add_service("a", "web", projectId="prj_1")
    client.add_service("b", "web", family="GAME")
    client.add_service("c", "web", status="DELETING")
    client.add_service("d", "db")
    return client


def find(name: str, project_id: str | None = None, family: str | None = None) -> list[str]:
    client = account()
    project = client.project(project_id) if project_id else None
    return [found.id for found in lookup.find_services(client, name, project, family)]  # type: ignore[arg-type]


def test_a_name_is_narrowed_by_project_and_family_and_never_means_what_is_being_deleted() -> None:
    assert find("web") == ["a", "b"]
    assert find("web", "prj_1") == ["a"]
    assert find("web", family="GAME") == ["b"]
    assert find("web", "prj_1", "GAME") == []
    assert find("we") == []


def test_a_project_that_is_gone_has_no_services() -> None:
    client = account()
    project = client.project("prj_1")
    del client.project_records["prj_1"]
    client.service_records["a"]["projectId"] = "prj_default"
    assert lookup.find_services(client, "web", project, None) == []  # type: ignore[arg-type]


def test_several_services_of_one_name_are_an_error_that_lists_their_ids() -> None:
    services = account().services()[:2]
    with pytest.raises(Ambiguous, match=r"2 services are named 'web': a, b\. Name one by id") as caught:
        lookup.only_service(services, "web")
    assert caught.value.details == {"ids": ["a", "b"]}


def test_one_service_and_none() -> None:
    service = account().services()[0]
    assert lookup.only_service([service], "web") is service
    assert lookup.only_service([], "web") is None


def test_an_id_wins_over_a_name() -> None:
    assert lookup.find_project(account(), "shop").id == "shop"  # type: ignore[arg-type]
    assert lookup.find_project(account(), "default").id == "prj_default"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("wanted", "hint"), [("shopp", "did you mean 'shop'"), ("zzz", 'there are: "a project whose')]
)
def test_an_unknown_project_comes_with_a_hint(wanted: str, hint: str) -> None:
    with pytest.raises(NoSuchItem, match=f"unknown project '{wanted}'; {hint}"):
        lookup.find_project(account(), wanted)  # type: ignore[arg-type]


def test_hints() -> None:
    assert lookup.near_miss("x", []) == "; there are none"
    many = lookup.near_miss("zzz", [f"name{number:02}" for number in range(12)])
    assert many.endswith("'name09' \u2026")
    assert "name10" not in many


def test_a_service_is_found_by_its_id_or_by_its_name_among_those_that_fit() -> None:
    everything = account().services()
    games = [service for service in everything if service.family == "GAME"]
    assert lookup.find_service(everything, games, "web").id == "b"
    assert lookup.find_service(everything, games, "b").id == "b"
    with pytest.raises(Invalid, match=r"service 'db' \(d\) is in another project or of another family"):
        lookup.find_service(everything, games, "d")
    with pytest.raises(Ambiguous, match="a, b"):
        lookup.find_service(everything, everything, "web")
    with pytest.raises(NoSuchItem, match="no service of id or name 'dbs'; there are: 'web'"):
        lookup.find_service(everything, games, "dbs")


def test_a_service_of_another_project_or_family_is_said_to_be_elsewhere() -> None:
    everything = account().services()
    games = [service for service in everything if service.family == "GAME"]
    with pytest.raises(NoSuchItem) as found:
        lookup.find_service(everything, games, "db")
    assert str(found.value).endswith("here; 'db' is in another project or of another family: d")


def test_the_full_form_decides_on_the_project_and_not_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the list of services is promised to show a new one at once."""
    client = account()
    project = client.project("prj_1")
    monkeypatch.setattr(client, "project", lambda id: pytest.fail("the page was read"))
    found = lookup.find_services(client, "web", project, None)  # type: ignore[arg-type]
    assert [service.id for service in found] == ["a"]
    client.service_records["b"]["projectId"] = "prj_1"
    client.service_records["a"]["projectId"] = "prj_default"
    found = lookup.find_services(client, "web", project, None)  # type: ignore[arg-type]
    assert [service.id for service in found] == ["b"]


def test_a_service_whose_project_is_not_told_is_not_taken_for_absent() -> None:
    client = account()
    client.service_records["b"]["projectId"] = None
    with pytest.raises(UnexpectedAnswer, match=r"does not show the project of service 'web' \(b\)"):
        lookup.find_services(client, "web", client.project("prj_1"), None)  # type: ignore[arg-type]


def test_ids_are_hints_where_there_are_no_names_and_are_called_ids() -> None:
    assert lookup.near_miss("zzz", ["web", "db"], ["svc_1"]) == "; there are: 'db', 'web'"
    assert lookup.near_miss("zzz", [], ["svc_1"]) == "; there are: id 'svc_1'"
    assert lookup.near_miss("svc_2", ["web"], ["svc_1"]) == "; did you mean 'svc_1'?"


def test_where_a_service_of_the_name_is_comes_with_family_project_and_id() -> None:
    client = account()
    service = client.services()[0]
    assert lookup.describe_location(client, service) == "APP service a in project 'shop'"  # type: ignore[arg-type]
    client.projects = refuse  # type: ignore[assignment]
    assert lookup.describe_location(client, service) == "APP service a"  # type: ignore[arg-type]


def refuse() -> None:
    """Stand in for a call that the platform refuses."""
    raise error_for_status("no", 403)


@pytest.mark.parametrize(("status", "home"), [("ACTIVE", "prj_1"), ("DELETING", None), ("DELETED", None)])
def test_a_service_that_is_being_deleted_is_in_no_project(status: str, home: str | None) -> None:
    client = account()
    client.service_records["a"].update(projectId="prj_1", status=status)
    assert lookup.project_id_of(client, "a") == home  # type: ignore[arg-type]
    assert lookup.project_id_of(client, "gone") is None  # type: ignore[arg-type]


def test_a_hint_names_services_that_have_a_name_of_those_that_fit_if_any_do() -> None:
    client = account()
    client.service_records["a"]["name"] = ""
    everything = client.services()
    nameless = [service for service in everything if not service.name]
    with pytest.raises(NoSuchItem, match=r"no service of id or name 'zzz'; there are: 'db', 'web'$"):
        lookup.find_service(everything, [], "zzz")
    with pytest.raises(NoSuchItem, match=r"no service of id or name 'zzz'; there are none$"):
        lookup.find_service(everything, nameless, "zzz")
