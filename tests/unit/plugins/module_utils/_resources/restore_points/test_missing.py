# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies that went though nobody deleted them."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points import missing
from unit.plugins.fakes import FakeClient, task_of

SERVICE = m.Service.model_construct(id="svc_1", name="web")


def backup(id: str, day: int | None = 1, name: str = "n") -> m.Backup:
    """Return a backup of a day."""
    made = f"2026-03-{day:02}T00:00:00Z" if day else None
    return m.Backup.model_construct(id=id, name=name, created_at=made, status="COMPLETED")


def test_what_is_missing_is_told_apart_by_id_and_snapshots_by_name() -> None:
    before = [backup("a"), backup("b")]
    assert missing.missing_from(before, [backup("b"), backup("c")]) == [before[0]]
    snapshots = [m.Snapshot.model_construct(id=None, name=name) for name in ("s", "t")]
    assert missing.missing_from(snapshots, snapshots[1:]) == snapshots[:1]


@pytest.mark.parametrize(("count", "words"), [(1, "1 backup of"), (2, "2 backups of"), (7, "and 2 more")])
def test_what_went_is_told(count: int, words: str) -> None:
    task = task_of(BACKUP, FakeClient(), services=["web"], name="n")
    missing.warn_of_missing(task, "backup", SERVICE, "a backup", [])
    assert task.warnings == []
    gone = [backup(str(number), None, f"n{number}") for number in range(count)]
    missing.warn_of_missing(task, "backup", SERVICE, "a backup", gone)
    assert words in task.warnings[0] and "'n0' of unknown date" in task.warnings[0]
    assert ("2 more" in task.warnings[0]) is (count > 5)
