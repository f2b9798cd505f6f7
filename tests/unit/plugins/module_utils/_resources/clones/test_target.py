# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of clones; tests/unit/data/clone/target.yml has where they go."""

from __future__ import annotations

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
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    Member,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import (
    CloneRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient


def options(folder: Path, **given: Any) -> CloneOptions:
    """Return the options of a task."""
    return CloneOptions(source="shop", project="copy", state_dir=str(folder), **given)  # type: ignore[arg-type]


def member(name: str, id: str = "svc_1", slug: str | None = None) -> Member:
    """Return something in the target project."""
    return Member(cast(Any, SimpleNamespace(id=id, name=name, created_at=None)), slug)


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


def test_another_project_has_another_record(tmp_path: Path) -> None:
    record = CloneRecord.read(options(tmp_path), "copy")
    record.source = "prj-shop"
    record.write()
    assert CloneRecord.read(options(tmp_path), "other").source is None


def test_a_record_that_cannot_be_written_stops_the_clone(tmp_path: Path) -> None:
    record = CloneRecord.read(options(tmp_path), "copy")
    (tmp_path / "clones").write_text("a file")
    with pytest.raises(Invalid, match=r"what the clone made cannot be kept in .*state_dir"):
        record.write()


def test_nobody_else_reads_the_folder_of_records(tmp_path: Path) -> None:
    """It is made once, and stays."""
    record = CloneRecord.read(options(tmp_path), "copy")
    record.write()
    record.write()
    assert (tmp_path / "clones").stat().st_mode & 0o777 == 0o700
