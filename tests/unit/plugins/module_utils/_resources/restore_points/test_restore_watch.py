# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a restore is watched, and what is told of it: nobody may take a failure for a success."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.restore_points.restore_watch import (
    Observation,
    RestoreTrace,
    describe_observation,
    observe_restore,
    quiet_seconds,
    trace_of,
    warn_unseen,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import Transition
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

    def metrics(self, ids: list[str]) -> dict[str, m.Metrics | None]:
        if not self.readable:
            raise Interrupted("lost")
        return super().metrics(ids)


def watched(client: FakeClient) -> Any:
    """Return a task that waits."""
    return task_of(BACKUP, client, services=["web"], name="n", quiet_time=30.0, wait_timeout=600.0)


def test_a_look_shows_the_container_and_the_newest_event() -> None:
    seen = observe_restore(watched(Account("made", "restored")), SERVICE, "RESTORING")
    assert seen == Observation("RESTORING", "running", "e2")
    assert observe_restore(watched(Account()), SERVICE, None, seen) == Observation(None, "running", "")


def test_what_cannot_be_read_is_taken_to_be_as_it_was() -> None:
    client = Account("made")
    client.readable = False
    last = Observation("RESTORING", "starting", "e1")
    seen = observe_restore(watched(client), SERVICE, "COMPLETED", last)
    assert seen == Observation("COMPLETED", "starting", "e1")
    assert observe_restore(watched(client), SERVICE, "COMPLETED") == Observation("COMPLETED")


@pytest.mark.parametrize(
    ("sight", "said"),
    [
        (Observation("RESTORING", "stopped"), "the backup is RESTORING, the container stopped"),
        (Observation("RESTORING"), "the backup is RESTORING"),
        (Observation(None, "stopped"), "the platform does not show how far it is, the container stopped"),
    ],
)
def test_where_things_stand_is_said(sight: Observation, said: str) -> None:
    assert describe_observation(sight) == said


def test_a_start_that_was_not_seen_is_told() -> None:
    task = watched(Account())
    warn_unseen(task, WHAT, "the backup stayed COMPLETED")
    [warning] = task.warnings
    assert f"the start of {WHAT} was not seen: the backup stayed COMPLETED for 30 seconds" in warning


def trace(
    client: Account,
    event: str | None,
    *,
    states: tuple[str | None, str] = ("running", "running"),
    seen: bool = True,
) -> tuple[RestoreTrace, list[str]]:
    """Return what a restore left behind, and the warnings; ``event`` is the newest one before it."""
    task = watched(client)
    before, last = Observation(None, states[0], event), Observation(None, states[1])
    return trace_of(task, SERVICE, WHAT, before, Transition(last), seen=seen), task.warnings


@pytest.mark.parametrize("kind", ["backup.restore_failed", "RollbackError"])
def test_an_event_of_a_failure_is_one(kind: str) -> None:
    with pytest.raises(WaitEnded, match=f"{WHAT} failed: the journal has {kind} since") as caught:
        trace(Account("made", "other", kind, "started"), "e1")
    assert caught.value.details["events"] == ["started", kind, "other"]


@pytest.mark.parametrize("kind", ["backup.restored", "deploy.failed"])
def test_other_events_are_none(kind: str) -> None:
    assert trace(Account("backup.restore_failed", kind), "e1") == (RestoreTrace(True, [kind]), [])


def test_a_journal_that_is_not_known_says_nothing() -> None:
    client = Account("backup.restore_failed")
    assert trace(client, None) == (RestoreTrace(True, None), [])
    client.readable = False
    assert trace(client, "e1") == (RestoreTrace(True, None), [])


@pytest.mark.parametrize("seen", [True, False])
def test_a_journal_that_gained_nothing_is_told_where_the_start_was_seen(seen: bool) -> None:
    found, warnings = trace(Account("made"), "e1", seen=seen)
    assert found == RestoreTrace(seen, [])
    assert ["nothing in the journal" in warning for warning in warnings] == [True] * seen


STARTED = "state: started of hosted.services.service starts it"
STOPPED = "state: stopped of hosted.services.service stops it"


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("running", "stopped", f"ran before {WHAT}, and is stopped now; {STARTED}"),
        ("stopped", "running", f"was stopped before {WHAT}, and is running now; {STOPPED}"),
        ("stopped", "starting", f"was stopped before {WHAT}, and is starting now; {STOPPED}"),
        ("running", "running", None),
        ("stopped", "stopped", None),
        ("stopped", "unknown", None),
        ("starting", "running", None),
        (None, "running", None),
    ],
)
def test_a_container_that_stops_or_starts_with_a_restore_is_told(
    before: str | None, after: str, told: str | None
) -> None:
    __, warnings = trace(Account("made", "backup.restored"), "e1", states=(before, after))
    assert warnings == ([f"service 'web' (svc_1) {told}"] if told else [])


@pytest.mark.parametrize(
    ("quiet", "timeout", "seconds"), [(30.0, 600.0, 30.0), (30.0, 20.0, 10.0), (0.0, 20.0, 0.0)]
)
def test_a_short_wait_makes_the_quiet_time_shorter(quiet: float, timeout: float, seconds: float) -> None:
    assert quiet_seconds(task_of(BACKUP, FakeClient(), quiet_time=quiet, wait_timeout=timeout)) == seconds
