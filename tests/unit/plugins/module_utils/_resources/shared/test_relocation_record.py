# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a relocation: what is kept survives, and what is damaged is not taken for nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import find_relocation
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.work import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    LeftOver,
    Phase,
    Relocation,
    known_relocations,
    left_over,
    successor_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
)

URL = "http://localhost:8080"
NOW = "2026-01-01T00:00:00Z"


@pytest.fixture
def options(tmp_path: Path) -> RelocateOptions:
    """Options with a folder of its own."""
    return RelocateOptions(service="survival", base_url=URL, state_dir=str(tmp_path))  # type: ignore[arg-type]


def written(options: RelocateOptions, id: str, **facts: Any) -> Relocation:
    """Return a record that is kept."""
    names, ids = {id: facts.pop("new_name", "survival-2")}, {id: facts.pop("new_id", None)}
    record = Relocation.of(options, id)
    made: dict[str, Any] = {"names": names, "ids": ids if ids[id] else {}}
    record.write(**{"phase": Phase.ORDERED, "old_name": "survival", **made, **facts})
    return record


def left(options: RelocateOptions) -> LeftOver:
    """Return what is left over, for sure and perhaps. No record of it is damaged."""
    doubts: list[str] = []
    found = left_over(options, doubts.append)
    assert doubts == []
    return found


def surely(options: RelocateOptions) -> set[str]:
    """Return the ids of what is left over for sure, if nothing else is in question."""
    found = left(options)
    assert found.perhaps == {}
    return set(found.surely)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"old_id": "svc_1", "phase": "other"}', '{"phase": "none"}']
)
def test_a_damaged_record_is_an_error(text: str, options: RelocateOptions) -> None:
    record = written(options, "svc_1")
    Path(record.path).write_text(text)
    with pytest.raises(Invalid, match="is damaged"):
        Relocation.of(options, "svc_1")
    assert find_relocation(options, "survival") is None


@pytest.mark.parametrize("wanted", ["svc_1", "svc_2", "survival", "survival-2"])
def test_a_relocation_is_found_by_both_services(wanted: str, options: RelocateOptions) -> None:
    written(options, "svc_1", new_id="svc_2")
    found = find_relocation(options, wanted)
    assert found is not None and found.old_id == "svc_1"


@pytest.mark.parametrize(
    ("phase", "id", "perhaps"),
    [
        (Phase.ORDERED, None, []),
        (Phase.STOPPED, None, []),
        (Phase.SWITCHED, None, ["svc_1"]),
        (Phase.RELOCATED, "svc_1", []),
        (Phase.RETURNING, None, ["svc_1", "svc_2"]),
        (Phase.RETURNED, "svc_2", []),
    ],
)
def test_one_service_is_left_over_from_the_switch_on(
    phase: Phase, id: str | None, perhaps: list[str], options: RelocateOptions
) -> None:
    """Until it is deleted. On the way it is only perhaps, as a run may be killed between any two steps."""
    record = written(options, "svc_1", new_id="svc_2", phase=phase)
    over = {id: "survival"} if id else {}
    assert left(options) == (over, dict.fromkeys(perhaps, "survival"))
    if id:
        record.write(Phase.FINISHED, deleting=id)
        assert left(options) == (over, {})
        record.write(gone=True)
        assert left(options) == ({}, {})


def test_what_is_left_over_is_known_from_both_folders_and_for_one_platform(
    options: RelocateOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    written(replace(options, state_dir=None), "svc_1", new_id="svc_2", phase=Phase.RELOCATED)
    written(options, "svc_3", new_id="svc_4", phase=Phase.RETURNED)
    written(replace(options, base_url="http://localhost:1"), "svc_5", new_id="svc_6", phase=Phase.RELOCATED)
    assert surely(options) == {"svc_1", "svc_4"}
    elsewhere = replace(options, state_dir=str(tmp_path / "other"))  # type: ignore[arg-type]
    assert surely(elsewhere) == {"svc_1"}


def test_a_service_that_was_moved_to_again_is_not_left_over(options: RelocateOptions) -> None:
    """Of a service that was moved on, both are."""
    first, second = "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"
    written(options, "svc_2", new_id="svc_1", phase=Phase.RELOCATED, since=second)
    written(options, "svc_1", new_id="svc_2", phase=Phase.RELOCATED, since=first)
    assert surely(options) == {"svc_2"}
    written(options, "svc_2", new_id="svc_3", phase=Phase.RELOCATED, since=second)
    assert surely(options) == {"svc_1", "svc_2"}


def test_a_damaged_record_is_told_and_takes_nothing_from_the_others(
    options: RelocateOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In either folder: which platform it is of is not known, nor which services it names."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    written(options, "svc_1", new_id="svc_2", phase=Phase.RELOCATED)
    own = replace(options, state_dir=None, base_url="http://localhost:1")
    damaged = [written(each, "svc_3", phase=Phase.RELOCATED).path for each in (options, own)]
    for path in damaged:
        Path(path).write_text("{")
    known = known_relocations(options)
    assert [each.old_id for each in known.relocations] == ["svc_1"]
    assert len(known.damaged) == len(damaged) == 2
    doubts: list[str] = []
    assert set(left_over(options, doubts.append).surely) == {"svc_1"}
    for path, doubt in zip(damaged, doubts, strict=True):
        assert f"the record of a relocation is in {path!r}, which cannot be read: it is damaged" in doubt
        assert "may be resumed" in doubt and "Restore it from a backup" in doubt


def test_what_is_in_the_place_of_what_a_relocation_left_over(options: RelocateOptions) -> None:
    """By its id, or by its name once it is gone, and through a second relocation."""
    written(options, "1", phase=Phase.STOPPED, new_id="2", project_id="p")
    assert successor_of(options, bool, "1", "survival") is None, "it is on its way"
    written(options, "1", phase=Phase.SWITCHED, new_id="2", project_id="p")
    assert successor_of(options, bool, "1", "survival") is not None, "the new one is in service"
    written(options, "1", phase=Phase.RELOCATED, new_id="2", project_id="p")
    found = successor_of(options, bool, "1", "survival", "p")
    assert found is not None and (found.id, found.name, found.left_id) == ("2", "survival-2", "1")
    assert successor_of(options, bool, None, "survival") == found
    assert successor_of(options, bool, "another", "survival") is None
    assert successor_of(options, bool, None, "survival", "another project") is None
    again: dict[str, Any] = {"old_name": "survival-2", "new_name": "survival-3", "project_id": "p"}
    written(options, "2", phase=Phase.RELOCATED, new_id="3", **again)
    assert successor_of(options, bool, "1", "survival") == found._replace(id="3", name="survival-3")
    written(options, "2", phase=Phase.RETURNED, new_id="3", **again)
    assert successor_of(options, bool, "1", "survival") == found
    back = successor_of(options, bool, "3", "survival-3")
    assert back is not None and back.id == "2"
    written(options, "9", phase=Phase.RELOCATED, new_id="8", project_id="staging")
    with pytest.raises(Ambiguous, match="Name one by its id"):
        successor_of(options, bool, None, "survival")
    assert successor_of(options, lambda id: id == "2", None, "survival") == found
