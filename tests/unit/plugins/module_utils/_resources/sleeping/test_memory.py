# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a service: what is written is read again, and what is damaged is as if it were not there."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.load import Sample
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Due,
    Keep,
    Memory,
    Record,
    Saved,
    record_as_json,
)

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
FULL = Record(
    settled=Due(False, "2026-11-23T19:00:00Z"),
    keep=Keep(NOW, NOW),
    delayed=(Due(True, "always"), NOW),
    held=("bkp_1", NOW),
    ran=False,
    samples=(Sample(NOW, 1.5, 7), Sample(NOW, None, None)),
    saved=Saved(date(2026, 11, 23), date(2026, 11, 1), Decimal("1.234"), 20, (date(2026, 11, 5),)),
)


def memory(folder: Path, plan: str = "nights", id: str = "svc_1") -> Memory:
    """Return the memory of a service below a folder."""
    return Memory.of(str(folder), "https://example.com", plan, id)


def remember(folder: Path, record: Record) -> None:
    """Write a record, whatever was there."""
    memory(folder).update(lambda _found: record)


@pytest.mark.parametrize("record", [FULL, Record()])
def test_what_is_written_is_read_again(tmp_path: Path, record: Record) -> None:
    """Only its owner may read it."""
    remember(tmp_path, record)
    assert memory(tmp_path).read() == record
    assert Path(memory(tmp_path).path).stat().st_mode & 0o777 == 0o600


def test_each_plan_remembers_its_own(tmp_path: Path) -> None:
    """So does each service."""
    remember(tmp_path, FULL)
    assert memory(tmp_path, plan="others").read() == Record()
    assert memory(tmp_path, id="svc_2").read() == Record()


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", '{"settled": 3, "ran": "yes"}', "[" * 9999])
def test_a_damaged_record_holds_nothing(tmp_path: Path, content: str) -> None:
    """The clock decides anew."""
    remember(tmp_path, FULL)
    Path(memory(tmp_path).path).write_text(content)
    assert memory(tmp_path).read() == Record()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("keep", {"since": "soon", "until": "later"}),
        ("saved", {**(record_as_json(FULL)["saved"]), "amount": "NaN"}),
        ("delayed", {"awake": True}),
        ("held", {"backup": "bkp_1"}),
        ("samples", [["2026-11-23", "a", 1]]),
    ],
)
def test_a_damaged_part_does_not_take_the_others_along(tmp_path: Path, name: str, part: Any) -> None:
    """What was settled stays settled."""
    remember(tmp_path, FULL)
    path = Path(memory(tmp_path).path)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: part}))
    found = memory(tmp_path).read()
    assert not getattr(found, name)
    assert found.settled == FULL.settled


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """And what to do about it."""
    (tmp_path / "sleep").write_text("a file")
    with pytest.raises(Invalid, match=r"cannot be kept in .*sleep"):
        remember(tmp_path, FULL)


def test_a_new_wish_begins_a_new_period() -> None:
    """Whatever was settled or delayed before does not count any more."""
    found = FULL.with_keep(None)
    assert (found.keep, found.settled, found.delayed) == (None, None, None)
    assert found.saved == FULL.saved


def test_what_two_runs_change_at_once_is_kept_of_both(tmp_path: Path) -> None:
    """Each part as the run left it that changed it; of a part that both changed, the later."""
    before = Record(settled=Due(True, "morning"), samples=(Sample(NOW, 1.0, 1),), ran=True)
    other = replace(before, ran=False, samples=())
    after = replace(before, settled=Due(False, "evening"), samples=(Sample(NOW, 2.0, 2),))
    remember(tmp_path, other)
    memory(tmp_path).update(lambda found: found.with_changes(before, after))
    assert memory(tmp_path).read() == replace(after, ran=False)


OLD, NEW = Keep(NOW, NOW), Keep(NOW, NOW + timedelta(hours=2))


@pytest.mark.parametrize(
    ("before", "after", "found", "expected"),
    [
        (OLD, OLD, NEW, NEW),
        (OLD, None, NEW, NEW),
        (OLD, None, OLD, None),
        (NEW, NEW, None, None),
        (None, None, NEW, NEW),
    ],
)
def test_a_wish_of_another_run_stays(
    before: Keep | None, after: Keep | None, found: Keep | None, expected: Keep | None
) -> None:
    """So does its release, also if the wish that this run knew is over by now."""
    changed = Record(keep=found).with_changes(Record(keep=before), Record(keep=after, ran=True))
    assert changed == Record(keep=expected, ran=True)
