# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a drill has made is deleted, also if nobody got to note its ids; everything else stays."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, ProjectGraph
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.removal import Deleters
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.record import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.removal import (
    removal_parts,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.recoveries.platform import Recover, record_of, recovering
from unit.plugins.module_utils._resources.recoveries.test_options import options

OF_DRILL = {"product": "minecraft", "project": "shop-drill"}


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """An account without the project."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


def test_what_was_ordered_right_before_a_kill_is_deleted(sandbox: Sandbox, recover: Recover) -> None:
    """The names were noted before the order, and the project did not exist then."""
    record = record_of(sandbox, "shop-drill")
    record.drill = True
    record.names = {"world": "Survival-drill", "lobby": "lobby-drill"}
    with record.ordering("world", PlatformClock()):
        sandbox.seed({"services": [{**OF_DRILL, "name": "Survival-drill"}]})
    gone = recover(state="absent", project="shop-drill")
    assert not gone.get("failed"), gone["msg"]
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert not record_of(sandbox, "shop-drill").known


def test_of_two_that_came_up_with_a_lost_order_none_is_deleted(sandbox: Sandbox, recover: Recover) -> None:
    """One may be somebody else's."""
    record = record_of(sandbox, "shop-drill")
    record.drill, record.names = True, {"world": "Survival-drill", "lobby": "lobby-drill"}
    for key in record.names:
        with record.ordering(key, PlatformClock()), suppress(Interrupted):
            raise Interrupted("lost")
    theirs = {**OF_DRILL, "product": "factorio", "files": {"important.txt": "mine"}}
    sandbox.seed(
        {
            "services": [{**OF_DRILL, "name": name} for name in record.names.values()]
            + [{**theirs, "name": "Survival-drill"}]
        }
    )
    kept = recover(state="absent", project="shop-drill")
    assert not kept.get("failed"), kept["msg"]
    names = [each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]]
    assert sorted(names) == ["Survival-drill", "Survival-drill"]
    assert "were created when one of that name was ordered" in " ".join(kept["warnings"])


@pytest.mark.night
@pytest.mark.real_time
def test_a_drill_is_not_forgotten_while_an_order_may_still_be_carried_out(
    sandbox: Sandbox, recover: Recover
) -> None:
    """The platform acted late on an order whose response was lost, while the drill was deleted."""
    record = record_of(sandbox, "shop-drill")
    record.drill, record.names = True, {"world": "Survival-drill"}
    with record.ordering("world", PlatformClock()), suppress(Interrupted):
        raise Interrupted("lost")
    sandbox.seed({"projects": ["shop-drill"]})
    late = Timer(2, lambda: sandbox.seed({"services": [{**OF_DRILL, "name": "Survival-drill"}]}))
    late.start()
    kept = recover(state="absent", project="shop-drill")
    late.join()
    assert kept["failed"] and "'Survival-drill'" in kept["msg"] and "appeared late" in kept["msg"]
    assert not recover(state="absent", project="shop-drill").get("failed")
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert sandbox.api("GET", "/api/resources").json()["items"] == []
    assert not record_of(sandbox, "shop-drill").known


def test_a_namesake_of_a_service_whose_id_is_known_stays(sandbox: Sandbox, recover: Recover) -> None:
    record = record_of(sandbox, "shop-drill")
    record.drill = True
    record.names, record.ids = {"world": "Survival"}, {"world": "svc_gone"}
    record.write()
    sandbox.seed({"services": [{"name": "Survival", "product": "minecraft", "project": "shop-drill"}]})
    kept = recover(state="absent", project="shop-drill")
    assert "project 'shop-drill' stays" in " ".join(kept["warnings"]) and not kept["changed"]
    assert set(ids_of(sandbox, "shop-drill")) == {"Survival"}


def test_a_project_that_nobody_knows_is_left_alone(sandbox: Sandbox, recover: Recover) -> None:
    sandbox.seed({"services": [{"name": "mine", "product": "minecraft", "project": "shop-drill"}]})
    sandbox.clear_journal()
    left = recover(state="absent", project="shop-drill")
    assert not left["changed"] and sandbox.writes() == []
    assert "project 'shop-drill' has service 'mine'" in left["warnings"][0]
    assert "no drill from this controller made it. Nothing was deleted" in left["warnings"][0]


def test_what_somebody_moved_stays_and_is_told(sandbox: Sandbox, recover: Recover) -> None:
    """The services of a project that was deleted by hand are in the default project."""
    own = {"project": "shop-drill", "drill": True, "rename": {"suffix": "-drill"}}
    assert not recover(**own).get("failed")
    [project] = [each for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop-drill"]
    sandbox.api("DELETE", f"/api/projects/{project['id']}")
    kept = recover(state="absent", project="shop-drill")
    assert kept["failed"] and "'Survival-drill'" in kept["msg"] and record_of(sandbox, "shop-drill").known
    assert "is in another project by now and stays" in " ".join(kept["warnings"]) and not kept["changed"]
    names = {each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    assert {"Survival-drill", "lobby-drill"} <= names


# --- What is going to be deleted ------------------------------------------------------------------------


class Account(FakeClient):
    """An account with a drill of two services, one of which refers to the other."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_1", "shop-drill")
        self.add_service("svc_1", "db", projectId="prj_1")
        self.add_service("svc_2", "web", projectId="prj_1")

    def apps(self) -> list[App]:
        """Return the application."""
        return [App(id="svc_2", name="web", slug="acme-web", status="ACTIVE")]

    def project_graph(self, id: str) -> ProjectGraph:
        """Return the reference."""
        return ProjectGraph.model_validate({"edges": [{"from": "svc_2", "to": "svc_1", "through": ["DB"]}]})


def parts_of(account: Account, **facts: Any) -> tuple[list[Part], list[str]]:
    """Return what is deleted of a drill that is remembered so, and the warnings."""
    record = RecoveryRecord("nowhere", **{"drill": True, "project_id": "prj_1", **facts})
    task: Task[Any] = Task(cast(Any, account), options(project="shop-drill", state="absent"))
    parts = removal_parts(task, "shop-drill", record, Deleters(SERVICE, PROJECT))
    return parts, task.warnings


def asked(part: Part) -> dict[str, Any]:
    """Return what a module is asked for, without what all parts share."""
    named = ("id", "name", "project", "state", "delete_backups")
    return {name: value for name, value in part.arguments(part).items() if name in named}


def test_each_service_is_deleted_by_its_id_after_those_that_refer_to_it() -> None:
    [web, db, project], warnings = parts_of(Account(), ids={"db": "svc_1", "web": "svc_2"})
    absent = {"project": "prj_1", "state": "absent", "delete_backups": True}
    assert asked(web) == {**absent, "id": "svc_2", "name": "web"}
    assert asked(db) == {**absent, "id": "svc_1", "name": "db"}
    assert (web.section, db.section, project.section) == ("applications", "services", "project")
    assert (web.resource, project.resource) == (SERVICE, PROJECT)
    assert (web.needs, db.needs, project.needs) == ([], [web], [web, db])
    assert asked(project) == {"id": "prj_1", "state": "absent"} and warnings == []
    assert web.late and db.late, "the platform is read right before"


def test_what_the_drill_did_not_make_keeps_the_project() -> None:
    account = Account()
    account.add_service("svc_3", "mine", projectId="prj_1")
    parts, [warning] = parts_of(account, ids={"db": "svc_1"})
    assert [asked(part)["id"] for part in parts] == ["svc_1"]
    assert warning.startswith(
        "project 'shop-drill' stays: it has service 'mine' (svc_3), application 'acme-web'"
    )


def test_what_was_moved_is_named_and_stays() -> None:
    """What is gone, or was never the drill's, is not."""
    account = Account()
    account.service_records["svc_1"]["projectId"] = "prj_default"
    account.add_service("svc_3", "mine")
    parts, [warning] = parts_of(account, ids={"db": "svc_1", "web": "svc_2", "old": "svc_gone"})
    assert [part.section for part in parts] == ["applications", "project"]
    assert warning.startswith("the drill made 'db' (svc_1), which is in another project by now and stays")


def test_a_drill_whose_project_is_gone_deletes_nothing() -> None:
    """Neither another project of its name, nor what was in it."""
    account = Account()
    parts, [warning] = parts_of(account, project_id="prj_0", ids={"db": "svc_1"})
    assert parts == [] and "the drill made 'db' (svc_1)" in warning
    del account.project_records["prj_1"]
    parts, warnings = parts_of(account, project_id=None, names={"db": "other"})
    assert (parts, warnings) == ([], [])


def test_only_drills_are_deleted() -> None:
    account = Account()
    with pytest.raises(Invalid, match="a recovery that is meant to last, so nothing was deleted"):
        parts_of(account, drill=False)
    parts, warnings = parts_of(account, drill=False, project_id=None)
    assert parts == [] and "no drill from this controller made it" in warnings[0]


def test_only_an_order_whose_response_was_lost_is_watched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """That may take a minute, so it is told; what is known by its id is not waited for."""
    clock, account, told = Clock(monkeypatch), Account(), list[str]()
    facts: dict[str, Any] = {"names": {"late": "lobby"}, "sent": {"late": account.clock.now().isoformat()}}
    ids = {"db": "svc_1", "web": "svc_2"}
    for lost, known in (({}, ids), (facts, {**ids, "late": "svc_gone"})):
        project = parts_of(account, ids=known, **lost)[0][-1]
        project.task.progress = told.append
        project.prepare(project)
    assert told == [] and clock.pauses == []
    project = parts_of(account, ids=ids, **facts)[0][-1]
    project.task.progress = told.append

    def appear() -> None:
        account.add_service("svc_9", "lobby", projectId="prj_1")

    clock.then = [lambda: None, appear]
    with pytest.raises(Invalid, match=r"service 'lobby' \(svc_9\) appeared late, from an order whose"):
        project.prepare(project)
    [line] = told
    assert line.startswith("watching for up to ") and len(clock.pauses) == 2
