# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where clones go, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    BadRequest,
    HostedError,
    Interrupted,
    RateLimited,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Project, Service
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    Member,
    Members,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import (
    CloneRecord,
    Target,
    check_members,
    check_own,
    check_target,
    recognize,
    warn_of_dropped,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient
from unit.plugins.module_utils._resources.clones.platform import original, source_of

GAME = original("Survival")
SOURCE = source_of(GAME)
NAMES = {"survival": "Survival-x"}


def options(folder: Path, **given: Any) -> CloneOptions:
    """Return the options of a task."""
    return CloneOptions(source="shop", project="copy", state_dir=str(folder), **given)  # type: ignore[arg-type]


def member(name: str, id: str = "svc_1", slug: str | None = None) -> Member:
    """Return something in the target project."""
    return Member(cast(Any, SimpleNamespace(id=id, name=name, created_at=None)), slug)


def check(folder: Path, *found: Member, record: CloneRecord | None = None, **given: Any) -> Target:
    """Check a project that holds this."""
    members = Members(Project(id="prj-copy", name="copy"), list(found))
    target = Target(record or CloneRecord(str(folder / "record")), members)
    task: Task[CloneOptions] = Task(cast(Any, None), options(folder, **given))
    check_members(task, SOURCE, NAMES, target)
    return target


def test_what_was_made_is_known_by_its_name_before_its_id_is(tmp_path: Path) -> None:
    """A run that was killed after an order finds it again."""
    record = CloneRecord.read(options(tmp_path), "copy")
    assert record.names == {} and not record.made(member("Survival-x"))
    record.source, record.names = "prj-shop", {"id-Survival": "Survival-x"}
    record.write()
    again = CloneRecord.read(options(tmp_path), "copy")
    assert again == record and again.path.startswith(str(tmp_path / "clones"))
    assert not again.recognize([member("Survival-x")])
    assert not again.made(member("Survival-x")), "nothing was ordered yet, so somebody else made it"
    with again.ordering("id-Survival", PlatformClock()):
        again = CloneRecord.read(options(tmp_path), "copy")
    assert not again.recognize([member("other"), member("Survival-x")])
    assert again.made(member("Survival-x")) and not again.made(member("other", "svc_2"))
    again.note_id("id-Survival", "svc_7")
    assert CloneRecord.read(options(tmp_path), "copy").ids == {"id-Survival": "svc_7"}
    assert again.sent == {} and not again.made(member("Survival-x"))
    assert Path(again.path).stat().st_mode & 0o077 == 0


def test_the_id_of_a_deleted_clone_does_not_hide_the_next_one(tmp_path: Path) -> None:
    """A run that was killed after it had ordered a clone anew finds that one."""
    record = CloneRecord(str(tmp_path / "record"), names={"id-Survival": "Survival-x"})
    record.note_id("id-Survival", "svc_gone")
    with record.ordering("id-Survival", PlatformClock()):
        again = CloneRecord(record.path, record.names, dict(record.ids), dict(record.sent))
    assert again.recognize([member("Survival-x")]) == [] and again.made(member("Survival-x"))


def test_of_several_that_came_up_with_an_order_none_is_taken(tmp_path: Path) -> None:
    """Somebody else may have made any of them."""
    record = CloneRecord(str(tmp_path / "record"), names={"id-Survival": "Survival-x"})
    record.sent["id-Survival"] = "2026-11-20T03:00:00Z"
    one, other = member("Survival-x", "svc_1"), member("Survival-x", "svc_2")
    assert record.recognize([one, other]) == [[one, other]]
    assert not record.made(one) and not record.made(other)
    other.service.created_at = "2026-11-20T03:11:00Z"
    assert record.recognize([one, other]) == []
    assert record.made(one) and not record.made(other)
    task: Task[CloneOptions] = Task(cast(Any, None), options(tmp_path))
    doubtful = CloneRecord("", names=record.names, sent=record.sent)
    other.service.created_at = None
    recognize(task, doubtful, Members(Project(id="prj-copy", name="copy"), [one, other]))
    assert "'Survival-x' (svc_1), service 'Survival-x' (svc_2) were created when" in task.warnings[0]


@pytest.mark.parametrize(
    ("error", "noted"),
    [(BadRequest("no", 400), False), (RateLimited("later"), False), (Interrupted("lost"), True)],
)
def test_an_order_that_came_to_nothing_for_sure_is_not_noted(
    error: HostedError, noted: bool, tmp_path: Path
) -> None:
    record = CloneRecord(str(tmp_path / "record.json"))
    with pytest.raises(type(error)), record.ordering("id-Survival", PlatformClock()):
        assert "id-Survival" in Path(record.path).read_text()
        raise error
    assert ("id-Survival" in Path(record.path).read_text()) is noted


def test_an_order_that_is_refused_leaves_the_note_of_one_that_was_lost(tmp_path: Path) -> None:
    """The platform may refuse it because the one that was lost is carried out by now."""
    record = CloneRecord(str(tmp_path / "record.json"), sent={"id-Survival": "2026-11-20T03:00:00Z"})
    with pytest.raises(BadRequest), record.ordering("id-Survival", PlatformClock()):
        assert record.sent["id-Survival"] != "2026-11-20T03:00:00Z"
        raise BadRequest("exists", 400)
    assert "2026-11-20T03:00:00Z" in Path(record.path).read_text()


@pytest.mark.parametrize(
    ("created", "taken"),
    [("2026-11-20T03:00:01Z", True), ("2026-11-20T03:11:00Z", False), ("2026-11-20T02:58:00Z", False)],
)
def test_what_appears_is_taken_if_it_came_up_with_a_lost_order(
    created: str, taken: bool, tmp_path: Path
) -> None:
    account = FakeClient()
    account.add_service("svc_1", "Survival-x", createdAt=created)
    record = CloneRecord(str(tmp_path / "record.json"), ids={"id-lobby": "svc_2"})
    assert not record.takes("id-Survival", "svc_1", cast(Any, account)), "nothing was ordered"
    record.sent["id-Survival"] = "2026-11-20T03:00:00Z"
    assert record.takes("id-Survival", "svc_1", cast(Any, account)) is taken
    assert record.ids.get("id-Survival") == ("svc_1" if taken else None)
    assert record.takes("id-lobby", "svc_2", cast(Any, account)), "it is known by its id"
    assert not record.takes("id-Survival", "svc_3", cast(Any, account)), "it is not listed"


def test_what_was_made_is_known_by_its_id_later(tmp_path: Path) -> None:
    """Another service of its name is not the clone."""
    record = CloneRecord("", names={"id-Survival": "Survival-x"}, ids={"id-Survival": "svc_1"})
    assert record.made(member("renamed", "svc_1"))
    assert not record.made(member("Survival-x", "svc_2"))


def test_another_project_has_another_record(tmp_path: Path) -> None:
    record = CloneRecord.read(options(tmp_path), "copy")
    record.source = "prj-shop"
    record.write()
    assert CloneRecord.read(options(tmp_path), "other").source is None


def test_a_damaged_record_is_none(tmp_path: Path) -> None:
    record = CloneRecord.read(options(tmp_path), "copy")
    record.write()
    Path(record.path).write_text("{")
    assert CloneRecord.read(options(tmp_path), "copy").names == {}


def test_a_record_that_cannot_be_written_stops_the_clone(tmp_path: Path) -> None:
    (tmp_path / "clones").write_text("a file")
    with pytest.raises(Invalid, match="state_dir cannot be written to"):
        CloneRecord.read(options(tmp_path), "copy").write()


def test_what_the_clone_did_not_make_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"service 'other' \(svc_1\), which the clone did not make"):
        check(tmp_path, member("other"))
    check(tmp_path, member("other"), existing="keep")


def test_what_has_a_name_of_the_clone_is_taken_over_only_if_that_is_said(tmp_path: Path) -> None:
    name = "Survival-x"
    for existing in ("refuse", "keep"):
        with pytest.raises(Invalid, match="existing: adopt takes it for the clone"):
            check(tmp_path, member(name), existing=existing)
    target = check(tmp_path, member(name), existing="adopt")
    assert target.there(SOURCE, NAMES)["survival"].id == "svc_1"


def test_an_application_is_no_service(tmp_path: Path) -> None:
    target = check(tmp_path, member("x", "svc_2", slug="Survival-x"), existing="keep")
    assert target.there(SOURCE, NAMES) == {}
    assert Target(target.record, None).there(SOURCE, NAMES) == {}


def test_what_the_source_has_dropped_is_told(tmp_path: Path) -> None:
    record = CloneRecord(str(tmp_path), ids={GAME.id: "svc_1", "id-dropped": "svc_2", "id-gone": "svc_3"})
    there = Members(Project(id="prj-copy", name="copy"), [member("Survival-x"), member("Old-x", "svc_2")])
    task: Task[CloneOptions] = Task(cast(Any, None), options(tmp_path))
    warn_of_dropped(task, SOURCE, Target(record, there))
    (warning,) = task.warnings
    assert "no longer has: " in warning and "Old-x" in warning and "Survival-x" not in warning


def test_what_was_made_keeps_its_name(tmp_path: Path) -> None:
    """Other rules do not order it once more: the platform cannot rename it."""
    record = CloneRecord("", names={"id-Survival": "Survival-x"}, ids={"id-Survival": "svc_1"})
    target = check(tmp_path, member("Survival-x"), record=record)
    assert target.there(SOURCE, {"survival": "Survival-other"})["survival"].name == "Survival-x"


def test_another_service_of_a_name_does_not_stand_for_what_was_made(tmp_path: Path) -> None:
    """The id decides, then the name."""
    record = CloneRecord("", ids={"id-Survival": "svc_2"})
    found = member("Survival-x", "svc_1"), member("renamed", "svc_2"), member("survival-X", "svc_3")
    target = check(tmp_path, *found, record=record, existing="adopt")
    assert target.of(GAME, "Survival-x") == found[1]
    target = Target(CloneRecord("", ids={"id-Survival": "gone"}), target.members)
    assert target.of(GAME, "survival-X") == found[2] and target.of(GAME, "Survival-x") == found[0]
    assert target.of(GAME, "SURVIVAL-x") is None


# --- The project --------------------------------------------------------------------------------------


WEB = original("acme-web", slug="acme-web")


class Account(FakeClient):
    """An account with the source, whose applications have slugs of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.project_records["prj_default"]["createdAt"] = "2026-01-01T00:00:00Z"
        self.add_project("prj-shop", "shop", createdAt="2026-02-01T00:00:00Z")
        self.applications: list[App] = []

    def apps(self) -> list[App]:
        """Return the applications."""
        return self.applications

    def add_app(self, id: str, slug: str, project: str) -> None:
        """Add an application."""
        self.add_service(id, slug, projectId=project)
        self.applications.append(App(id=id, slug=slug, status="ACTIVE"))


def go_to(
    account: Account, folder: Path, project: str = "copy", record: CloneRecord | None = None, **given: Any
) -> Target:
    """Check where a clone goes; return it."""
    own = CloneOptions(source="shop", project=project, state_dir=str(folder), **given)  # type: ignore[arg-type]
    names = {**NAMES, "acme-web": "acme-web-x"}
    task: Task[CloneOptions] = Task(cast(Any, account), own)
    return check_target(task, source_of(GAME, WEB), names, record or CloneRecord(""))


def test_a_project_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    target = go_to(Account(), tmp_path)
    assert target.members is None and target.found == ()


def test_what_was_made_in_a_project_that_was_renamed_is_not_made_again(tmp_path: Path) -> None:
    account = Account()
    account.add_project("prj-1", "COPY", createdAt="2026-03-01T00:00:00Z")
    account.add_service("svc_1", "Survival-x", projectId="prj-1")
    made = CloneRecord("", source="prj-shop", ids={"id-Survival": "svc_1"})
    account.add_project("prj-2", "copy", createdAt="2026-03-01T00:00:00Z")
    target = go_to(account, tmp_path)
    assert target.found == [] and target.members and target.members.project.id == "prj-2"
    with pytest.raises(Invalid, match=r"the clone made 'Survival-x' \(APP service svc_1 in project 'COPY'\)"):
        go_to(account, tmp_path, record=made)


def test_what_was_made_is_looked_for_wherever_it_is(tmp_path: Path) -> None:
    """What is gone or of another source is not there."""
    account = Account()
    account.add_service("svc_1", "Survival-x", projectId="prj_default")
    made = CloneRecord("", source="prj-shop", ids={"id-Survival": "svc_1", "id-acme-web": "svc_gone"})
    with pytest.raises(Invalid, match=r"Nothing was ordered\. Move it back with new_project") as refused:
        go_to(account, tmp_path, record=made)
    assert "in project 'default'" in str(refused.value) and "svc_gone" not in str(refused.value)
    go_to(account, tmp_path, record=CloneRecord("", ids={"id-acme-web": "svc_gone", "id-former": "svc_1"}))
    account.service_records["svc_1"]["status"] = "DELETING"
    go_to(account, tmp_path, record=made)


@pytest.mark.parametrize(
    ("project", "said"),
    [
        ("shop", "source and project are both 'shop'; a project cannot be cloned onto itself"),
        ("prj-shop", "source and project are both 'prj-shop'"),
        ("default", "project 'default' may be the default project of the account"),
        ("prj_default", "project is 'prj_default', the id of project 'default'; write its name"),
    ],
)
def test_where_a_clone_cannot_go(project: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=said):
        go_to(Account(), tmp_path, project)


def test_the_clone_of_another_project_is_not_written_to(tmp_path: Path) -> None:
    """Once that is deleted, its record says nothing any more."""
    account = Account()
    account.add_project("prj-1", "copy", createdAt="2026-03-01T00:00:00Z")
    other = CloneRecord("", source="prj-other", ids={"id-other": "svc_1"})
    assert go_to(account, tmp_path, record=other).found == []
    account.add_service("svc_1", "other", projectId="prj-1")
    with pytest.raises(Invalid, match="project 'copy' holds the clone of another project"):
        go_to(account, tmp_path, record=other)
    own = CloneRecord("", source="prj-shop", ids={"id-other": "svc_1"})
    assert len(go_to(account, tmp_path, record=own).found) == 1
    del account.project_records["prj-1"]
    assert go_to(account, tmp_path, record=other).members is None


def test_what_is_in_the_project_is_checked(tmp_path: Path) -> None:
    account = Account()
    account.add_project("prj-1", "copy", createdAt="2026-03-01T00:00:00Z")
    account.add_service("svc_1", "mine", projectId="prj-1")
    with pytest.raises(Invalid, match="which the clone did not make"):
        go_to(account, tmp_path)


def test_a_slug_that_an_application_of_another_project_has_is_refused(tmp_path: Path) -> None:
    """One of the project itself is that of the clone; the name of a service is no slug."""
    account = Account()
    account.add_app("svc_1", "acme-web-x", "prj-shop")
    with pytest.raises(Invalid, match="applications 'acme-web-x' in other projects, and slugs are unique"):
        go_to(account, tmp_path)
    account = Account()
    account.add_app("svc_1", "Survival-x", "prj-shop")
    go_to(account, tmp_path)
    account.add_project("prj-1", "copy", createdAt="2026-03-01T00:00:00Z")
    account.add_app("svc_2", "acme-web-x", "prj-1")
    made = CloneRecord("", source="prj-shop", ids={"id-acme-web": "svc_2"})
    assert go_to(account, tmp_path, record=made).found[0].slug == "acme-web-x"
    account = Account()
    account.add_app("svc_1", "acme-web-x", "prj-shop")
    account.add_project("prj-1", "copy", createdAt="2026-03-01T00:00:00Z")
    account.add_app("svc_2", "acme-web-former", "prj-1")
    go_to(account, tmp_path, record=made)  # what was made keeps its slug, so that it needs no other


# --- The record -----------------------------------------------------------------------------------------


def test_without_a_folder_of_the_user_records_are_in_that_of_the_collection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "own"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    unset = CloneOptions(source="shop", project="copy")
    assert CloneRecord.read(unset, "copy").path.startswith(str(tmp_path / "own" / "clones"))
    home = CloneRecord.read(options(Path("~/state")), "copy")
    assert home.path.startswith(str(tmp_path / "home" / "state" / "clones"))


def test_nobody_else_reads_the_folder_of_records(tmp_path: Path) -> None:
    """It is made once, and stays."""
    record = CloneRecord.read(options(tmp_path), "copy")
    record.write()
    record.write()
    assert (tmp_path / "clones").stat().st_mode & 0o777 == 0o700


@dataclass
class Noting(CloneRecord):
    """A record with something that is of no use to the next run."""

    scratch: object = field(default_factory=object, init=False)


def test_what_is_only_needed_now_is_not_kept(tmp_path: Path) -> None:
    Noting.read(options(tmp_path), "copy").write()
    kept = ["names", "ids", "sent", "source"]
    assert Noting.read(options(tmp_path), "copy").kept() == CloneRecord.kept() == kept


# --- What a write asks ------------------------------------------------------------------------------


@pytest.fixture
def writing() -> Task:
    """A task on a platform with one service, in the project of the clone."""

    def read(id: str) -> Service:
        return Service(id=id, name="copy", family="GAME", status="ACTIVE", project_id="prj-copy")

    return Task(cast(Any, SimpleNamespace(service=read)), Options())


def test_a_clone_in_its_project_may_be_written(writing: Task) -> None:
    assert check_own(writing, "svc_copy", "svc_source", "prj-copy").id == "svc_copy"


def test_the_source_may_not(writing: Task) -> None:
    with pytest.raises(Invalid, match="is the source of the clone; nothing was written to it"):
        check_own(writing, "svc_source", "svc_source", "prj-copy")


@pytest.mark.parametrize("project", [None, "prj-shop"])
def test_what_is_in_another_project_may_not(project: str | None, writing: Task) -> None:
    with pytest.raises(Invalid, match="is not in the project of the clone"):
        check_own(writing, "svc_copy", "svc_source", project)
