# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a restore is watched, and what is told of it: nobody may take a failure for a success.

And copies that went though nobody deleted them.
"""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.resources import (
    Observation,
    RestoreTrace,
    missing_from,
    observe_restore,
    quiet_seconds,
    trace_of,
    warn_of_missing,
    warn_unseen,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from unit.plugins.fakes import FakeClient, task_of

SERVICE = m.Service.model_construct(id="svc_1", name="web")
WHAT = "the restore of 'web'"


class Account(FakeClient):
    """A service with a journal: the types of its events, the oldest first."""

    def __init__(self, *types: str) -> None:
        super().__init__()
        self.add_service("svc_1")
        self.journal = [m.Event(id=f"e{number}", type=kind) for number, kind in enumerate(types, 1)]
        self.readable = True

    def events(self, id: str, limit: int | None = None) -> list[m.Event]:
        if not self.readable:
            raise Interrupted("lost")
        return self.journal[::-1][:limit]


def watched(client: FakeClient) -> Any:
    """Return a task that waits."""
    return task_of(BACKUP, client, services=["web"], name="n", quiet_time=30.0, wait_timeout=600.0)


def test_a_look_shows_the_newest_event() -> None:
    seen = observe_restore(watched(Account("made", "restored")), SERVICE, "RESTORING")
    assert seen == Observation("RESTORING", "e2")
    assert observe_restore(watched(Account()), SERVICE, None, seen) == Observation(None, "")


def test_what_cannot_be_read_is_taken_to_be_as_it_was() -> None:
    client = Account("made")
    client.readable = False
    last = Observation("RESTORING", "e1")
    seen = observe_restore(watched(client), SERVICE, "COMPLETED", last)
    assert seen == Observation("COMPLETED", "e1")
    assert observe_restore(watched(client), SERVICE, "COMPLETED") == Observation("COMPLETED")


def test_a_start_that_was_not_seen_is_told() -> None:
    task = watched(Account())
    warn_unseen(task, WHAT, "the backup stayed COMPLETED")
    [warning] = task.warnings
    assert f"the start of {WHAT} was not seen: the backup stayed COMPLETED for 30 seconds" in warning


def trace(client: Account, event: str | None) -> RestoreTrace:
    """Return what a restore left behind; ``event`` is the newest one before it."""
    return trace_of(watched(client), SERVICE, WHAT, Observation(None, event), seen=True)


def test_an_event_of_a_failure_is_one() -> None:
    kind = "BACKUP_RESTORE_FAILED"
    with pytest.raises(WaitEnded, match=f"{WHAT} failed: the journal has {kind} since") as caught:
        trace(Account("made", "other", kind, "started"), "e1")
    assert caught.value.details["events"] == ["started", kind, "other"]


def test_other_events_are_none() -> None:
    """Nor is an old failure."""
    kind = "BACKUP_RESTORED"
    assert trace(Account("BACKUP_RESTORE_FAILED", kind), "e1") == RestoreTrace(True, [kind])


def test_a_journal_that_is_not_known_says_nothing() -> None:
    client = Account("backup.restore_failed")
    assert trace(client, None) == RestoreTrace(True, None)
    client.readable = False
    assert trace(client, "e1") == RestoreTrace(True, None)


@pytest.mark.parametrize(
    ("quiet", "timeout", "seconds"), [(30.0, 600.0, 30.0), (30.0, 20.0, 10.0), (0.0, 20.0, 0.0)]
)
def test_a_short_wait_makes_the_quiet_time_shorter(quiet: float, timeout: float, seconds: float) -> None:
    assert quiet_seconds(task_of(BACKUP, FakeClient(), quiet_time=quiet, wait_timeout=timeout)) == seconds


# --- Copies that disappear ---------------------------------------------------------------------------


def backup(id: str, day: int | None = 1, name: str = "n") -> m.Backup:
    """Return a backup of a day."""
    made = f"2026-03-{day:02}T00:00:00Z" if day else None
    return m.Backup.model_construct(id=id, name=name, created_at=made, status="COMPLETED")


def test_what_is_missing_is_told_apart_by_id_and_snapshots_by_name() -> None:
    before = [backup("a"), backup("b")]
    assert missing_from(before, [backup("b"), backup("c")]) == [before[0]]
    snapshots = [m.Snapshot.model_construct(id=None, name=name) for name in ("s", "t")]
    assert missing_from(snapshots, snapshots[1:]) == snapshots[:1]


@pytest.mark.parametrize(("count", "words"), [(1, "1 backup of"), (2, "2 backups of"), (7, "and 2 more")])
def test_what_went_is_told(count: int, words: str) -> None:
    task = task_of(BACKUP, FakeClient(), services=["web"], name="n")
    warn_of_missing(task, "backup", SERVICE, "a backup", [])
    assert task.warnings == []
    gone = [backup(str(number), None, f"n{number}") for number in range(count)]
    warn_of_missing(task, "backup", SERVICE, "a backup", gone)
    assert words in task.warnings[0] and "'n0' of unknown date" in task.warnings[0]
    assert ("2 more" in task.warnings[0]) is (count > 5)
