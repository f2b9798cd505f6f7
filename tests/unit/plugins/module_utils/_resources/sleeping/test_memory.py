# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a service: what is written is read again, and what is damaged is as if it were not there."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
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
    ran=False,
    samples=(Sample(NOW, 1.5, 7), Sample(NOW, None, None)),
    saved=Saved(date(2026, 11, 23), date(2026, 11, 1), Decimal("1.234"), 20, (date(2026, 11, 5),)),
)


def memory(folder: Path, plan: str = "nights", id: str = "svc_1") -> Memory:
    """Return the memory of a service below a folder."""
    return Memory.of(str(folder), "https://example.com", plan, id)


@pytest.mark.parametrize("record", [FULL, Record()])
def test_what_is_written_is_read_again(tmp_path: Path, record: Record) -> None:
    """Only its owner may read it."""
    memory(tmp_path).write(record)
    assert memory(tmp_path).read() == record
    assert Path(memory(tmp_path).path).stat().st_mode & 0o777 == 0o600


def test_each_plan_remembers_its_own(tmp_path: Path) -> None:
    """So does each service."""
    memory(tmp_path).write(FULL)
    assert memory(tmp_path, plan="others").read() == Record()
    assert memory(tmp_path, id="svc_2").read() == Record()


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", '{"settled": 3, "ran": "yes"}', "[" * 9999])
def test_a_damaged_record_holds_nothing(tmp_path: Path, content: str) -> None:
    """The clock decides anew."""
    memory(tmp_path).write(FULL)
    Path(memory(tmp_path).path).write_text(content)
    assert memory(tmp_path).read() == Record()


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("keep", {"since": "soon", "until": "later"}),
        ("saved", {**(record_as_json(FULL)["saved"]), "amount": "NaN"}),
        ("delayed", {"awake": True}),
        ("samples", [["2026-11-23", "a", 1]]),
    ],
)
def test_a_damaged_part_does_not_take_the_others_along(tmp_path: Path, name: str, part: Any) -> None:
    """What was settled stays settled."""
    memory(tmp_path).write(FULL)
    path = Path(memory(tmp_path).path)
    path.write_text(json.dumps({**json.loads(path.read_text()), name: part}))
    found = memory(tmp_path).read()
    assert not getattr(found, name)
    assert found.settled == FULL.settled


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """And what to do about it."""
    (tmp_path / "sleep").write_text("a file")
    with pytest.raises(Invalid, match=r"cannot be kept in .*sleep"):
        memory(tmp_path).write(FULL)


def test_a_new_wish_begins_a_new_period() -> None:
    """Whatever was settled or delayed before does not count any more."""
    found = FULL.with_keep(None)
    assert (found.keep, found.settled, found.delayed) == (None, None, None)
    assert found.saved == FULL.saved
