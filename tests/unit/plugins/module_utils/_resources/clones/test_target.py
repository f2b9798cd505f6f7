# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where clones go, and what is remembered of them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Project
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    Member,
    Members,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import (
    CloneRecord,
    Target,
    check_members,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.clones.platform import original, source_of

GAME = original("Survival")
SOURCE = source_of(GAME)
NAMES = {"survival": "Survival-x"}


def options(folder: Path, **given: Any) -> CloneOptions:
    """Return the options of a task."""
    return CloneOptions(source="shop", project="copy", state_dir=str(folder), **given)  # type: ignore[arg-type]


def member(name: str, id: str = "svc_1", slug: str | None = None) -> Member:
    """Return something in the target project."""
    return Member(cast(Any, SimpleNamespace(id=id, name=name)), slug)


def check(folder: Path, *found: Member, record: CloneRecord | None = None, **given: Any) -> Target:
    """Check a project that holds this."""
    members = Members(Project(id="prj-copy", name="copy"), list(found))
    target = Target(record or CloneRecord(str(folder / "record")), members)
    task: Task[CloneOptions] = Task(cast(Any, None), options(folder, **given))
    check_members(task, SOURCE, NAMES, target)
    return target


def test_what_was_made_is_known_by_its_name_before_its_id_is(tmp_path: Path) -> None:
    """A run that was killed after an order finds it again, even if the platform changed its name."""
    record = CloneRecord.read(options(tmp_path), "copy")
    assert record.names == {} and not record.made(member("Survival-x"))
    record.source, record.names = "prj-shop", {"id-Survival": "Survival-x"}
    record.write()
    again = CloneRecord.read(options(tmp_path), "copy")
    assert again == record and again.path.startswith(str(tmp_path / "clones"))
    assert again.made(member("Survival-x")) and again.made(member("survival-x"))
    assert not again.made(member("other"))
    assert Path(again.path).stat().st_mode & 0o077 == 0


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


@pytest.mark.parametrize("name", ["Survival-x", "survival-X"])
def test_what_has_a_name_of_the_clone_is_taken_over_only_if_that_is_said(name: str, tmp_path: Path) -> None:
    for existing in ("refuse", "keep"):
        with pytest.raises(Invalid, match="existing: adopt takes it for the clone"):
            check(tmp_path, member(name), existing=existing)
    target = check(tmp_path, member(name), existing="adopt")
    assert target.there(SOURCE, NAMES)["survival"].id == "svc_1"


def test_an_application_is_no_service(tmp_path: Path) -> None:
    target = check(tmp_path, member("x", "svc_2", slug="Survival-x"), existing="keep")
    assert target.there(SOURCE, NAMES) == {}
    assert Target(target.record, None).there(SOURCE, NAMES) == {}


def test_what_was_made_keeps_its_name(tmp_path: Path) -> None:
    """Other rules do not order it once more: the platform cannot rename it."""
    record = CloneRecord("", names={"id-Survival": "Survival-x"}, ids={"id-Survival": "svc_1"})
    target = check(tmp_path, member("Survival-x"), record=record)
    assert target.there(SOURCE, {"survival": "Survival-other"})["survival"].name == "Survival-x"
