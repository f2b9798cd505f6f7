# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a recovery goes: never onto what it did not make, unless that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Document
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.rules import names_of
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    Target,
    find_target,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
)
from unit.plugins.fakes import FakeClient
from unit.plugins.module_utils._resources.recoveries.platform import member
from unit.plugins.module_utils._resources.recoveries.test_options import options


def target(record: RecoveryRecord, *overwrite: str) -> Target:
    """Return a project with a service that was there before."""
    there = {"world": member("world")}
    return Target(record, there, frozenset({"svc_world", "svc_live"}), frozenset(overwrite))


def test_what_was_there_before_is_not_written_to() -> None:
    """Nor is a service that took its place meanwhile. One that is new is the recovery's own."""
    found = target(RecoveryRecord("nowhere"))
    assert found.kept == {"world"} and not found.lacks_content("world") and found.lacks_content("lobby")
    for key, id in (("world", "svc_world"), ("lobby", "svc_live")):
        with pytest.raises(Invalid, match="this recovery did not make it"):
            found.check_may_write(key, id)
    found.check_may_write("lobby", "svc_new")


def test_what_it_made_is_written_to_until_it_is_restored() -> None:
    record = RecoveryRecord("nowhere", ids={"world": "svc_world"})
    found = target(record)
    assert found.is_own("world") and found.lacks_content("world") and found.kept == set()
    found.check_may_write("world", "svc_world")
    record.restored["world"] = {"id": "svc_world"}
    assert not found.lacks_content("world")


def test_what_is_named_is_overwritten() -> None:
    found = target(RecoveryRecord("nowhere", restored={"world": {"id": "svc_world"}}), "world")
    assert found.lacks_content("world") and found.kept == set()
    found.check_may_write("world", "svc_world")
    with pytest.raises(Invalid, match="this recovery did not make it"):
        found.check_may_write("world", "svc_live")


def test_what_it_did_not_bring_is_known() -> None:
    """All that is there if it is overwritten, also by a run that was cut off."""
    record = RecoveryRecord("nowhere", ids={"world": "svc_world"})
    assert not target(record).holds_anything("world")
    assert target(record, "world", "lobby").holds_anything("world")
    assert not target(record, "world", "lobby").holds_anything("lobby")
    record.lacking["svc_world"] = [["2026-11-20T03:00:00+00:00", None]]
    assert target(record).holds_anything("world")


# --- The project --------------------------------------------------------------------------------------

FILE = read_contents(
    Document(
        {
            "project": "shop",
            "was": "old-shop",
            "services": {"world": {"name": "Survival"}},
            "applications": {"web": {"slug": "acme-web"}},
        },
        "",
    )
)
DRILL: dict[str, Any] = {"project": "shop-drill", "drill": True}


class Account(FakeClient):
    """An account with what it may hold of a project."""

    def __init__(self, project: str | None = None) -> None:
        super().__init__()
        self.applications: list[App] = []
        if project:
            self.add_project("prj_1", project)

    def apps(self) -> list[App]:
        """Return the applications."""
        return self.applications

    def add(self, id: str, name: str, project: str = "prj_1", slug: str | None = None) -> None:
        """Add a service, or an application with a slug."""
        self.add_service(id, name, projectId=project)
        if slug:
            self.applications.append(App(id=id, name=name, slug=slug, status="ACTIVE"))


def go_to(account: Account, record: RecoveryRecord | None = None, **given: Any) -> Target:
    """Return where a recovery goes."""
    own = options(**given)
    task: Task[Any] = Task(cast(Any, account), own)
    return find_target(task, FILE, names_of(own, FILE), record or RecoveryRecord("nowhere"))


def test_nothing_stands_for_what_is_gone() -> None:
    """What else is in the account was there before."""
    account = Account()
    account.add("svc_1", "Survival", "prj_default")
    target = go_to(account)
    assert target.there == {} and target.known == {"svc_1"} and target.overwrite == set()


def test_what_stands_for_an_entry_is_known_by_its_id_and_else_by_its_name() -> None:
    """An application is no service, whatever it is called."""
    account = Account("shop")
    account.add("svc_1", "renamed")
    account.add("svc_2", "Survival")
    account.add("svc_3", "acme-web")
    account.add("svc_4", "web", slug="acme-web")
    for record, id in (
        (RecoveryRecord("nowhere", ids={"world": "svc_1", "web": "svc_4"}), "svc_1"),
        (RecoveryRecord("nowhere", ids={"world": "gone"}), "svc_2"),
        (RecoveryRecord("nowhere", ids={"world": "svc_4"}), "svc_2"),
    ):
        target = go_to(account, record, existing="keep")
        assert {key: each.id for key, each in target.there.items()} == {"world": id, "web": "svc_4"}


def test_of_two_services_the_one_of_the_very_name_stands_for_an_entry() -> None:
    """Its content is replaced, so nothing is guessed."""
    account = Account("shop")
    account.add("svc_1", "SURVIVAL")
    account.add("svc_2", "Survival")
    assert go_to(account, overwrite=["Survival"]).there["world"].id == "svc_2"
    account.add("svc_3", "Survival")
    with pytest.raises(Ambiguous, match="may be 'Survival' of the blueprint: svc_2, svc_3"):
        go_to(account, overwrite=["Survival"])


@pytest.mark.parametrize("project", [None, "shop-2"])
def test_what_it_made_is_not_ordered_again_where_it_is_elsewhere(project: str | None) -> None:
    """Somebody moved it, or renamed or deleted its project; it is billed. What is gone is ordered again."""
    account = Account(project or "shop")
    account.add("svc_1", "Survival", project="prj_default")
    record = RecoveryRecord("nowhere", project_id="prj_1", ids={"world": "svc_1", "web": "svc_gone"})
    record.ids["no longer in the file"] = "svc_2"
    account.add("svc_2", "Former", project="prj_default")
    with pytest.raises(
        Invalid, match=r"made 'Survival' \(APP service svc_1 in project 'default'\)"
    ) as refused:
        go_to(account, record, project=project)
    assert "Nothing was ordered" in str(refused.value)
    account.service_records["svc_1"]["projectId"] = "prj_1"
    assert go_to(account, record, project=project).there["world"].id == "svc_1"


def test_the_project_of_the_very_name_is_taken() -> None:
    account = Account("SHOP")
    account.add("svc_1", "Survival")
    assert go_to(account).there == {}


def test_what_is_there_is_refused_unless_it_is_said_what_becomes_of_it() -> None:
    account = Account("shop")
    account.add("svc_1", "Survival")
    account.add("svc_9", "other")
    with pytest.raises(Invalid, match=r"^service 'Survival' \(svc_1\) is there, and this recovery did not"):
        go_to(account)
    assert go_to(account, existing="keep").kept == {"world"}
    assert go_to(account, overwrite=["Survival"]).overwrite == {"world"}
    assert go_to(account, RecoveryRecord("nowhere", ids={"world": "svc_1"})).kept == set()
    with pytest.raises(Invalid, match="overwrite names 'other'"):
        go_to(account, overwrite=["other"])


def test_a_name_that_is_an_id_is_refused() -> None:
    with pytest.raises(Invalid, match="project is 'prj_1', the id of project 'shop'"):
        go_to(Account("shop"), project="prj_1")


def test_a_slug_that_an_application_of_another_project_has_is_refused() -> None:
    account = Account("shop")
    account.add("svc_1", "web", "prj_default", slug="acme-web")
    with pytest.raises(Invalid, match="applications 'acme-web' in other projects, and slugs are unique"):
        go_to(account)
    account = Account("shop")
    account.add("svc_1", "web", slug="acme-web")
    go_to(account, existing="keep")


@pytest.mark.parametrize("project", [None, "shop", "old-shop"])
def test_a_drill_is_never_in_the_project_itself(project: str | None) -> None:
    with pytest.raises(Invalid, match=r"must not be in project 'shop' itself; .* such as shop-drill"):
        go_to(Account(), project=project, drill=True)
    go_to(Account(), project=project)


@pytest.mark.parametrize("drill", [True, False])
def test_a_drill_and_what_is_meant_to_last_are_kept_apart(drill: bool) -> None:
    record = RecoveryRecord("nowhere", drill=drill, names={"world": "Survival"})
    was = "a drill" if drill else "a recovery that is meant to last"
    said = f"project 'shop-drill' was made by {was}; set drill: {'true' if drill else 'false'}, or"
    with pytest.raises(Invalid, match=said):
        go_to(Account(), record, project="shop-drill", drill=not drill)
    go_to(Account(), record, project="shop-drill", drill=drill)
    go_to(Account(), RecoveryRecord("nowhere", drill=drill), project="shop-drill", drill=not drill)


def test_a_drill_goes_only_where_a_drill_has_been_or_nothing_is() -> None:
    """An empty project is somebody's as well: the drill deletes it."""
    made = RecoveryRecord("nowhere", drill=True, project_id="prj_1", ids={"world": "svc_1"})
    account = Account("shop-drill")
    assert go_to(account, made, **DRILL).there == {}
    account.add("svc_1", "Survival")
    assert go_to(account, made, **DRILL).there["world"].id == "svc_1"
    for record in (RecoveryRecord("nowhere"), replace(made, project_id="prj_0")):
        with pytest.raises(Invalid, match="project 'shop-drill' exists, and no drill from this controller"):
            go_to(account, record, **DRILL)
    go_to(account, replace(made, project_id=None), **DRILL)
    account.add("svc_2", "mine")
    with pytest.raises(Invalid, match=r"has service 'mine' \(svc_2\), which the drill did not make"):
        go_to(account, made, **DRILL)
    assert go_to(account, project="shop-drill", existing="keep").there["world"].id == "svc_1"
