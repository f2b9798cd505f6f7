# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finding projects and services by what the user calls them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Project, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import lookup
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of


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


def test_a_project_is_found_by_what_is_the_id_or_the_name_of_one_alone() -> None:
    """Else a task would delete in one project what was meant in the other."""
    with pytest.raises(Ambiguous, match="'shop' is the id of one project and the name of another") as caught:
        lookup.find_project(account(), "shop")  # type: ignore[arg-type]
    assert "shop" in caught.value.details["ids"] and len(caught.value.details["ids"]) == 2
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


def test_a_hint_names_services_that_have_a_name_of_those_that_fit_if_any_do() -> None:
    client = account()
    client.service_records["a"]["name"] = ""
    everything = client.services()
    nameless = [service for service in everything if not service.name]
    with pytest.raises(NoSuchItem, match=r"no service of id or name 'zzz'; there are: 'db', 'web'$"):
        lookup.find_service(everything, [], "zzz")
    with pytest.raises(NoSuchItem, match=r"no service of id or name 'zzz'; there are none$"):
        lookup.find_service(everything, nameless, "zzz")


# --- What an earlier task of the play would create ------------------------------------------------------


def test_a_project_that_is_there_is_found_in_check_mode_too() -> None:
    for check_mode in (False, True):
        task = task_of(SERVICE, account(), check_mode, id="a")
        assert lookup.resolve_project(task, "prj_1").name == "shop"
        assert task.warnings == []


def test_a_missing_project_is_an_error_outside_check_mode() -> None:
    task = task_of(SERVICE, account(), id="a")
    with pytest.raises(NoSuchItem, match="unknown project 'shopp'"):
        lookup.resolve_project(task, "shopp")
    assert task.warnings == []


@pytest.mark.parametrize(
    ("wanted", "warning"),
    [
        ("shopp", "unknown project 'shopp'; did you mean 'shop'? That is right only if the play makes it"),
        ("zzz", "'default', 'shop'. That is right only if the play makes it before this task"),
    ],
)
def test_check_mode_takes_a_missing_project_for_one_to_come(wanted: str, warning: str) -> None:
    task = task_of(SERVICE, account(), True, id="a")
    project = lookup.resolve_project(task, wanted)
    assert not project.id and project.name == wanted
    (said,) = task.warnings
    assert warning in said


def test_a_project_to_come_has_no_services_and_none_is_read() -> None:
    client = account()
    client.service = lambda id: pytest.fail("a service was read")  # type: ignore[method-assign]
    project = Project.model_construct(id=None, name="soon")
    assert lookup.in_project(client, client.services(), project) == []  # type: ignore[arg-type]


# --- An id, and what else the task says -----------------------------------------------------------------


def check(**given: Any) -> None:
    """Check what a task says beside the id of service `web` of family APP in project `shop`."""
    service = account().service("a")
    assert service is not None
    lookup.check_id_matches(service, **given)


@pytest.mark.parametrize("project_ids", [[], ["prj_1"], ["prj_default", "prj_1"]])
def test_what_agrees_with_the_id_or_is_not_said_passes(project_ids: list[str]) -> None:
    projects = [Project(id=id, name=f"project {id}") for id in project_ids]
    check(projects=projects)
    check(name="web", family="APP", projects=projects)


@pytest.mark.parametrize(
    ("given", "option", "known", "wanted"),
    [
        ({"name": "db"}, "name", "web", "db"),
        ({"name": "web", "family": "GAME"}, "family", "APP", "GAME"),
        (
            {"projects": [Project(id="prj_2", name="games"), Project(id="prj_3", name="more")]},
            "project",
            "prj_1",
            "games",
        ),
    ],
)
def test_what_contradicts_the_id_is_named(
    given: dict[str, Any], option: str, known: str, wanted: str
) -> None:
    with pytest.raises(Invalid) as error:
        check(**given)
    assert error.value.message == (
        f"the id is that of service 'web' (a) with {option} '{known}', but the task says {option} "
        f"'{wanted}'; nothing was done. Correct the id or the {option}, or leave the {option} out"
    )


@pytest.mark.parametrize(
    ("created", "sent", "is_it"),
    [
        ("2026-11-20T03:00:05.000Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T02:59:00Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T02:58:59Z", "2026-11-20T03:00:00+00:00", False),
        ("2026-11-20T03:10:00Z", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T03:10:01Z", "2026-11-20T03:00:00+00:00", False),
        (None, "2026-11-20T03:00:00+00:00", True),
        ("yesterday", "2026-11-20T03:00:00+00:00", True),
        ("2026-11-20T03:00:00Z", None, False),
    ],
)
def test_a_service_came_up_with_an_order(created: str | None, sent: str | None, is_it: bool) -> None:
    """The clocks of two of its machines may differ, and it may not say when a service was created."""
    assert lookup.came_up(created, sent) is is_it


@pytest.mark.parametrize(
    ("offered", "fine"), [(None, True), (["backups"], True), (["files"], False), ([], False)]
)
def test_a_service_offers_it_or_the_task_is_refused(offered: list[str] | None, fine: bool) -> None:
    service = Service.model_construct(id="s", name="web", status="SUSPENDED", capabilities=offered)
    if fine:
        lookup.check_service_offers(service, "backups", "has no backups")
        return
    with pytest.raises(Invalid, match="does not offer 'backups' while its status is SUSPENDED") as error:
        lookup.check_service_offers(service, "backups", "has no backups")
    assert error.value.details == {"capabilities": offered}
    assert error.value.message.endswith(", ".join(offered or []) or "nothing")
