# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a service: what is written is read again, and what is damaged is as if it were not there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.load import Sample
from ansible_collections.hosted.services.plugins.module_utils._resources.sleeping.memory import (
    Due,
    Keep,
    Memory,
    Saved,
    SleepRecord,
)

NOW = datetime(2026, 11, 23, 20, 0, tzinfo=UTC)
FULL = SleepRecord(
    settled=Due(False, "2026-11-23T19:00:00Z"),
    keep=Keep(NOW, NOW),
    delayed=(Due(True, "always"), NOW),
    held=("bkp_1", NOW),
    ran=False,
    samples=(Sample(NOW, 1.5, 7),),
    saved=Saved(date(2026, 11, 23), date(2026, 11, 1), Decimal("1.234"), 20),
)


OF: dict[str, Any] = {"plan": "nights", "service": "svc_1"}


def memory(folder: Path, plan: str = "nights", id: str = "svc_1") -> Memory:
    """Return the memory of a service below a folder."""
    return Memory.of(str(folder), "https://example.com", plan, id)


def remember(folder: Path, record: SleepRecord) -> None:
    """Write a record, whatever was there."""
    memory(folder).update(lambda _found: record)


@pytest.mark.parametrize("record", [FULL, SleepRecord()])
def test_what_is_written_is_read_again(tmp_path: Path, record: SleepRecord) -> None:
    """Only its owner may read it."""
    remember(tmp_path, record)
    assert memory(tmp_path).read() == replace(record, **OF)
    assert Path(memory(tmp_path).record.path).stat().st_mode & 0o777 == 0o600


def test_what_two_runs_change_at_once_is_kept_of_both(tmp_path: Path) -> None:
    """Each part as the run left it that changed it; of a part that both changed, the later."""
    before = SleepRecord(settled=Due(True, "morning"), samples=(Sample(NOW, 1.0, 1),), ran=True)
    other = replace(before, ran=False, samples=())
    after = replace(before, settled=Due(False, "evening"), samples=(Sample(NOW, 2.0, 2),))
    remember(tmp_path, other)
    memory(tmp_path).update(lambda found: found.with_changes(before, after))
    assert memory(tmp_path).read() == replace(after, ran=False, **OF)


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
    changed = SleepRecord(keep=found).with_changes(
        SleepRecord(keep=before), SleepRecord(keep=after, ran=True)
    )
    assert changed == SleepRecord(keep=expected, ran=True)
