# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service a task is about: by id, by name, by where it is and where an earlier run moved it to."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.target import identify
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """Two projects, and how often a service was read by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_a", "a")
        self.add_project("prj_b", "b")
        self.add_service("svc_web", "web", projectId="prj_a")
        self.reads: list[str] = []

    def service(self, id: str) -> Any:
        self.reads.append(id)
        return super().service(id)


@pytest.fixture
def account() -> Account:
    return Account()


def test_a_service_is_found_by_its_name_and_project(account: Account) -> None:
    found = identify(task_of(SERVICE, account, name="web", project="a"))
    assert found.id == "svc_web"
    assert found.project is not None and found.project.id == "prj_a"
    assert found.destination is None and found.home is found.project
    assert identify(task_of(SERVICE, account, name="web")).home is None


@pytest.mark.parametrize(
    "given", [{"name": "db"}, {"name": "web", "project": "b"}, {"name": "web", "family": "GAME"}]
)
def test_a_service_that_is_not_there_has_no_id(account: Account, given: dict[str, Any]) -> None:
    assert identify(task_of(SERVICE, account, **given)).id is None


def test_an_id_is_enough_by_itself(account: Account) -> None:
    """It is read by the task anyway; a second look would cost a call."""
    assert identify(task_of(SERVICE, account, id="svc_web")).id == "svc_web"
    assert account.reads == []


@pytest.mark.parametrize("wrong", [{"name": "db"}, {"family": "GAME"}, {"project": "b"}])
def test_an_id_does_not_win_over_what_contradicts_it(account: Account, wrong: dict[str, Any]) -> None:
    right: dict[str, Any] = {"name": "web", "family": "APP", "project": "a"}
    assert identify(task_of(SERVICE, account, id="svc_web", **right)).id == "svc_web"
    with pytest.raises(Invalid, match="nothing was done"):
        identify(task_of(SERVICE, account, id="svc_web", **wrong))


def test_the_id_of_a_service_that_is_gone_contradicts_nothing(account: Account) -> None:
    assert identify(task_of(SERVICE, account, id="svc_9", name="web", state="absent")).id == "svc_9"


def test_a_service_to_move_may_be_moved_already(account: Account) -> None:
    given: dict[str, Any] = {"id": "svc_web", "project": "a", "new_project": "b"}
    target = identify(task_of(SERVICE, account, **given))
    assert target.home is target.destination
    assert target.home is not None and target.home.id == "prj_b"
    account.service_records["svc_web"]["projectId"] = "prj_b"
    assert identify(task_of(SERVICE, account, **given)).id == "svc_web"
    account.service_records["svc_web"]["projectId"] = "prj_default"
    with pytest.raises(Invalid, match="nothing was done"):
        identify(task_of(SERVICE, account, **given))
    assert identify(task_of(SERVICE, account, id="svc_web", name="web", new_project="b")).id == "svc_web"


@pytest.mark.parametrize(
    ("home", "found"), [("prj_a", "svc_web"), ("prj_b", "svc_web"), ("prj_default", None)]
)
def test_a_name_is_looked_for_where_a_service_is_and_where_it_is_moved_to(
    account: Account, home: str, found: str | None
) -> None:
    account.service_records["svc_web"]["projectId"] = home
    task = task_of(SERVICE, account, name="web", project="a", new_project="b")
    assert identify(task).id == found


def test_a_name_without_a_project_is_looked_for_everywhere(account: Account) -> None:
    account.add_service("svc_other", "web", projectId="prj_b")
    with pytest.raises(Ambiguous, match=r"svc_web in .*svc_other in"):
        identify(task_of(SERVICE, account, name="web", new_project="b"))


@pytest.mark.parametrize("order", [1, -1])
def test_a_move_to_where_the_name_is_taken_is_refused(account: Account, order: int) -> None:
    """Two services of one name: which of them was meant cannot be told from there on."""
    account.add_service("svc_other", "web", projectId="prj_b")
    account.service_records = dict(list(account.service_records.items())[::order])
    task = task_of(SERVICE, account, name="web", project="a", new_project="b")
    with pytest.raises(Ambiguous, match="has a service named 'web' too") as error:
        identify(task)
    assert error.value.details["ids"] == ["svc_web", "svc_other"]


def test_a_move_to_where_the_service_is_moves_nothing(account: Account) -> None:
    assert identify(task_of(SERVICE, account, name="web", project="a", new_project="a")).id == "svc_web"


# --- Projects that are not there --------------------------------------------------------------------


def test_a_deletion_does_not_move(account: Account) -> None:
    with pytest.raises(Invalid, match="new_project moves a service and state: absent deletes it"):
        identify(task_of(SERVICE, account, name="web", new_project="b", state="absent"))


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("given", [{"name": "web"}, {"id": "svc_9"}])
def test_what_was_in_a_project_that_is_gone_is_gone(
    account: Account, given: dict[str, Any], check_mode: bool
) -> None:
    task = task_of(SERVICE, account, check_mode, project="gone", state="absent", **given)
    target = identify(task)
    assert (target.id, target.project) == (given.get("id"), None)
    assert account.reads == ([given["id"]] if "id" in given else []), "a name is no id to read"
    assert task.warnings == []


def test_a_service_that_is_there_is_not_taken_for_gone_with_its_project(account: Account) -> None:
    with pytest.raises(NoSuchItem, match="unknown project 'gone'"):
        identify(task_of(SERVICE, account, id="svc_web", project="gone", state="absent"))


@pytest.mark.parametrize("option", ["project", "new_project"])
def test_an_unknown_project_is_refused_outside_check_mode(account: Account, option: str) -> None:
    with pytest.raises(NoSuchItem, match="unknown project 'gone'"):
        identify(task_of(SERVICE, account, name="web", **dict[str, Any]({option: "gone"})))


def test_check_mode_foresees_a_project_that_the_play_creates(account: Account) -> None:
    task = task_of(SERVICE, account, True, name="web", project="coming")
    target = identify(task)
    assert target.id is None and target.project is not None
    assert not target.project.id and target.project.name == "coming"
    assert "only if the play makes it" in task.warnings[0]
