# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery remembers: what it made, what it has begun to replace, and what it has restored."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import Member
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from unit.plugins.module_utils._resources.recoveries.platform import member


def read(folder: Path) -> RecoveryRecord:
    """Return the record of a project."""
    options = StateDirOptions(
        base_url="https://platform.example.com", token="x", state_dir=FilePath(str(folder))
    )
    return RecoveryRecord.read(options, "shop")


def recognizes(record: RecoveryRecord, member: Member) -> bool:
    """Tell whether a service is taken for one that the recovery made."""
    record.recognize([member])
    return record.made(member)


def test_it_is_there_in_the_next_run(tmp_path: Path) -> None:
    record, world = read(tmp_path), member("world")
    assert not record.known and not record.made(world)
    record.drill = True
    record.names["world"] = "world"
    record.note("prj_1", {})
    assert not recognizes(read(tmp_path), world), "nothing was ordered yet"
    with record.ordering("world", PlatformClock()):
        assert recognizes(read(tmp_path), world), "it was ordered, so a run that was killed may have made it"
        assert "world" in read(tmp_path).touched
    record.begin("world", world.id)
    assert read(tmp_path).begun == {"world": world.id} and not read(tmp_path).has_restored(world)
    record.end("world", world.id)
    again = read(tmp_path)
    assert again.has_restored(world) and again.project_id == "prj_1" and again.drill
    assert not again.has_restored(other()) and not again.has_restored(None)
    assert not again.made(other()), "its id is known by now, so a namesake is another one"


def other() -> Member:
    """Return a service of the same name."""
    return member("world", id="svc_other")


def test_what_is_gone_makes_room_for_another(tmp_path: Path) -> None:
    record = read(tmp_path)
    record.names["world"] = "world"
    record.begin("world", "svc_world")
    record.end("world", "svc_world")
    assert not recognizes(record, other())
    with record.ordering("world", PlatformClock()):
        assert not record.ids and not record.begun and not record.restored
        assert recognizes(record, other())


def test_it_knows_when_services_lacked_their_content(tmp_path: Path) -> None:
    """One that was ordered never had any; one that was overwritten had some until then."""
    record, before = read(tmp_path), datetime.now(UTC)
    with record.ordering("world", PlatformClock()):
        pass
    record.note_id("world", "svc_1")
    record.begin("world", "svc_1")
    record.begin("lobby", "svc_2")
    begun = record.touched["lobby"]
    record.touched["lobby"] = datetime(2099, 1, 1, tzinfo=UTC)
    assert read(tmp_path).unfilled() == {"svc_1": [(None, None)], "svc_2": [(begun, None)]}
    record.begin("lobby", "svc_2")
    assert record.unfilled()["svc_2"] == [(begun, None)], "nor did it when that was continued"
    record.end("lobby", "svc_2")
    [(since, until)] = read(tmp_path).unfilled()["svc_2"]
    assert since == begun and until and before < until <= datetime.now(UTC)
    record.begin("lobby", "svc_2")
    again = record.touched["lobby"]
    assert read(tmp_path).unfilled()["svc_2"] == [(since, until), (again, None)]


def test_what_is_left_without_content_on_purpose_counts_from_then_on(tmp_path: Path) -> None:
    record = read(tmp_path)
    record.note_id("world", "svc_1")
    record.leave(["svc_1"])
    [(since, until)] = read(tmp_path).unfilled()["svc_1"]
    assert since is None and until is not None
    record.leave(["svc_1"])
    with record.ordering("world", PlatformClock()):
        assert read(tmp_path).unfilled() == {"svc_1": [(since, until)]}, "nor does that change"
