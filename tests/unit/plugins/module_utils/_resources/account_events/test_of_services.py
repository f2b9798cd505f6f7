# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about services, one poll after the other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Observation,
)
from unit.plugins.module_utils._resources.account_events.polls import Polls, app, entry, service, types

RUNS: dict[str, Any] = {"states": {"s1": "running"}}
STOPPED: dict[str, Any] = {"states": {"s1": "stopped"}}


def stopped_by_itself(polls: Polls, number: int, minutes: float = 1) -> list[int]:
    """Let a service run and stop, and return how often it has stopped as the event says."""
    polls.see(service(), **RUNS, minutes=minutes)
    events = polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_START", number)]})
    return [event["stops"] for event in events if event["type"] == "service_stopped"]


@pytest.mark.parametrize("before", [RUNS, STOPPED])
def test_a_start_that_metrics_show_late_is_no_stop(before: dict[str, Any]) -> None:
    """The start is in the journal before the metrics show it."""
    polls = Polls()
    polls.see(service(), **before, entries={"s1": [entry("POWER_STOP")]})
    fresh = {"s1": [just_now(polls, "POWER_START")]}
    assert polls.see(service(), **STOPPED, entries=fresh, minutes=0.1) == []
    assert polls.see(service(), **STOPPED, entries={"s1": []}, minutes=0.1) == []
    assert polls.see(service(), **RUNS, minutes=0.1) == []


def test_a_restore_that_stops_a_service_is_no_stop() -> None:
    """The journal may tell of the restore when it ends, and the start comes after that."""
    polls = Polls()
    polls.see(service(), **RUNS)
    assert polls.see(service(), **STOPPED, entries={"s1": []}, restoring=frozenset({"s1"})) == []
    ended = {"s1": [just_now(polls, "BACKUP_RESTORED")]}
    assert polls.see(service(), **STOPPED, entries=ended, minutes=0.1) == []
    assert polls.see(service(), **STOPPED, entries={"s1": []}, minutes=0.1) == []
    assert polls.see(service(), **RUNS, minutes=0.1) == []


def test_a_service_that_a_restore_leaves_stopped_is_told() -> None:
    polls = Polls()
    polls.see(service(), **RUNS)
    assert polls.see(service(), **STOPPED, entries={"s1": []}, restoring=frozenset({"s1"})) == []
    assert types(polls.see(service(), **STOPPED, entries={"s1": []})) == ["service_stopped"]


def test_a_start_in_vain_is_told_after_a_while() -> None:
    polls = Polls()
    polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_STOP")]})
    fresh = {"s1": [just_now(polls, "POWER_START")]}
    assert polls.see(service(), **STOPPED, entries=fresh, minutes=0.1) == []
    assert polls.see(service(), **STOPPED, minutes=1) == [], "the journal was not read"
    [event] = polls.see(service(), **STOPPED, entries={"s1": []}, minutes=0.1)
    assert event["type"] == "service_stopped"
    assert polls.see(service(), **STOPPED, entries={"s1": []}) == []


def test_a_start_that_was_taken_back_is_no_news() -> None:
    polls = Polls()
    polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_STOP")]})
    fresh = {"s1": [just_now(polls, "POWER_START")]}
    assert polls.see(service(), **STOPPED, entries=fresh, minutes=0.1) == []
    assert polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_STOP", 3)]}) == []


def test_a_stop_soon_after_a_start_that_was_seen_is_told_at_once() -> None:
    polls = Polls()
    polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_STOP")]})
    fresh = {"s1": [just_now(polls, "POWER_START")]}
    assert polls.see(service(), **RUNS, entries=fresh, minutes=0.1) == []
    events = polls.see(service(), **STOPPED, entries={"s1": []}, minutes=0.1)
    assert types(events) == ["service_stopped"]


def just_now(polls: Polls, type: str) -> m.Event:
    """Return an entry of the moment of the last poll."""
    return m.Event(id="fresh", type=type, at=polls.now.isoformat())


def test_an_event_counts_the_stops_of_the_last_hour() -> None:
    polls = Polls()
    assert [stopped_by_itself(polls, number) for number in (1, 2, 3)] == [[1], [2], [3]]
    assert stopped_by_itself(polls, 4, minutes=59) == [2]
    assert stopped_by_itself(polls, 5, minutes=61) == [1]
    assert stopped_by_itself(polls, 6, minutes=-600) == [1], "the clock was set back"


def test_an_event_shows_what_the_journal_says() -> None:
    polls = Polls()
    polls.see(service(), **RUNS)
    [event] = polls.see(service(), **STOPPED, entries={"s1": [entry("INTERVENTION")]})
    assert event["journal"] == ["INTERVENTION"]
    assert event["service"] == {
        "id": "s1", "name": "name of s1", "family": "GAME", "status": "ACTIVE", "state": "stopped",
        "product": None,
    }  # fmt: skip


def test_trouble_that_was_there_before_may_be_left_out() -> None:
    assert types(Polls().see(service(status="FAILED"))) == ["service_failed"]
    polls = Polls(report_existing=False)
    assert polls.see(service(status="FAILED"), service("s2")) == []
    assert types(polls.see(service(status="FAILED"), service("s2", "FAILED"))) == ["service_failed"]


@pytest.mark.parametrize("status", ["FAILED", "AWAITING_ADMIN"])
def test_a_token_for_applications_shows_their_statuses(status: str) -> None:
    polls = Polls()
    limited: dict[str, Any] = {"services": None, "limited": True}
    polls.take(Observation(**limited, apps={"s1": app()}))
    [event] = polls.take(Observation(**limited, apps={"s1": app(status=status)}))
    assert event["type"] == f"service_{status.lower()}"
    assert types(polls.take(Observation(**limited, apps={"s1": app()}))) == ["service_back"]
