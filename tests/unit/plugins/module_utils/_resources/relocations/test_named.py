# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which services the records of relocations name, how far each is, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import ServiceSummary
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.named import (
    needed_for,
    relocations_on,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

URL = "http://localhost:8080"
NOW = "2026-01-01T00:00:00Z"
MADE = {"new_id": "svc_2", "sent": NOW}


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StateDirOptions:
    """Options with a folder of their own."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    return StateDirOptions(base_url=URL, state_dir=str(tmp_path / "state"))  # type: ignore[arg-type]


def keep(options: StateDirOptions, phase: Phase, old_id: str = "svc_1", **facts: Any) -> Relocation:
    """Return the record of the relocation of survival that is kept."""
    record = Relocation.of(options, old_id)
    record.write(phase, **{"old_name": "survival", "new_name": "survival-2", **facts})
    return record


def why(options: StateDirOptions, id: str, name: str, *described: str) -> str | None:
    """Return what a service is needed for."""
    service = ServiceSummary(id=id, name=name, family="GAME", status="ACTIVE")
    return needed_for(options, described or ("survival",))(service)


UNDER_WAY = (Phase.ORDERED, Phase.STOPPED, Phase.SWITCHED, Phase.RETURNING)


@pytest.mark.parametrize("phase", UNDER_WAY)
def test_a_relocation_that_is_under_way_needs_both(phase: Phase, options: StateDirOptions) -> None:
    record = keep(options, phase, **MADE)
    for id, name in (("svc_1", "survival"), ("svc_2", "survival-2")):
        told = why(options, id, name)
        assert told and "is under way" in told and record.file.path in told
    assert why(options, "svc_3", "survival-2") is None


@pytest.mark.parametrize(
    ("phase", "facts", "left"),
    [
        (Phase.RELOCATED, {}, "svc_1"),
        (Phase.RETURNED, {}, "svc_2"),
        (Phase.FINISHED, {"deleting": "svc_1"}, "svc_1"),
        (Phase.FINISHED, {"deleting": "svc_2"}, "svc_2"),
    ],
)
def test_one_that_is_complete_says_which_is_in_service(
    phase: Phase, facts: dict[str, str], left: str, options: StateDirOptions
) -> None:
    keep(options, phase, **MADE, **facts)
    for id, name, other in (("svc_1", "survival", "survival-2"), ("svc_2", "survival-2", "survival")):
        told = why(options, id, name)
        wanted = "state: finished" if id == left else f"Write its name, {name!r}, in place of {other!r}"
        assert told and wanted in told


def test_a_service_that_was_only_ordered_is_known_by_its_name(options: StateDirOptions) -> None:
    keep(options, Phase.ORDERED, sent=NOW)
    assert why(options, "svc_2", "survival-2") and why(options, "svc_3", "other") is None
    keep(options, Phase.ORDERED, sent=None)
    assert why(options, "svc_2", "survival-2") is None and why(options, "svc_1", "survival")


@pytest.mark.parametrize(
    ("phase", "facts", "gone"),
    [
        (Phase.FINISHED, {**MADE, "deleting": "svc_1", "gone": True}, "survival"),
        (Phase.FINISHED, {**MADE, "deleting": "svc_2", "gone": True}, "survival-2"),
        (Phase.RETURNED, {}, "survival-2"),
    ],
)
def test_one_that_is_over_needs_what_is_in_service_while_the_other_is_described(
    phase: Phase, facts: dict[str, Any], gone: str, options: StateDirOptions
) -> None:
    keep(options, phase, **facts)
    id, name = ("svc_2", "survival-2") if gone == "survival" else ("svc_1", "survival")
    told = why(options, id, name, gone)
    assert told and f"Write its name, {name!r}, in place of {gone!r}" in told
    assert why(options, id, name, "lobby") is None


def test_what_was_relocated_once_more_is_told_by_its_own_relocation(options: StateDirOptions) -> None:
    keep(options, Phase.RELOCATED, **MADE)
    again = {"old_name": "survival-2", "new_name": "survival-3", "new_id": "svc_3"}
    keep(options, Phase.RELOCATED, "svc_2", **again)
    told = why(options, "svc_2", "survival-2")
    assert told and "state: finished" in told and "to 'survival-3'" in told


def test_the_collection_s_own_folder_counts_as_well(options: StateDirOptions) -> None:
    """The relocation may have been run without state_dir."""
    own = StateDirOptions(base_url=URL)
    keep(own, Phase.RELOCATED, **MADE)
    assert why(options, "svc_2", "survival-2") and why(own, "svc_2", "survival-2")
    assert len(relocations_on(own)) == 1
    other = StateDirOptions(base_url="http://localhost:1")
    assert why(other, "svc_2", "survival-2") is None


def test_a_record_that_was_not_begun_names_nothing(options: StateDirOptions) -> None:
    keep(options, Phase.NONE)
    assert why(options, "svc_1", "survival") is None


def test_a_damaged_record_is_an_error(options: StateDirOptions) -> None:
    record = keep(options, Phase.RELOCATED, **MADE)
    Path(record.file.path).write_text("{")
    with pytest.raises(Invalid, match="is damaged") as error:
        needed_for(options, ())
    assert record.file.path in error.value.message
