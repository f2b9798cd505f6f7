# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about services and applications, one poll after the other."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from unit.plugins.module_utils._resources.account_events.polls import Polls, app, entry, service, types

APP = service(family="APP")
RUNS: dict[str, Any] = {"states": {"s1": "running"}}
STOPPED: dict[str, Any] = {"states": {"s1": "stopped"}}


def stopped_by_itself(polls: Polls, number: int, minutes: float = 1) -> list[int]:
    """Let a service run and stop, and return how often it has stopped as the event says."""
    polls.see(service(), **RUNS, minutes=minutes)
    events = polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_START", number)]})
    return [event["stops"] for event in events if event["type"] == "service_stopped"]


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


def look(polls: Polls, shown: App, **seen: Any) -> list[dict[str, Any]]:
    """Poll while an application runs, and return the events."""
    return polls.see(APP, **RUNS, apps={"s1": shown}, **seen)


def test_a_deploy_that_changed_nothing_may_be_in_the_journal() -> None:
    polls = Polls()
    assert look(polls, app()) == []
    polls.see(APP, states={"s1": "starting"}, entries={"s1": [entry("POWER_START", 1)]}, apps={"s1": app()})
    [event] = look(polls, app(), entries={"s1": [entry("DEPLOY_FAILED", 2)]})
    assert event["type"] == "deploy_failed"
    assert look(polls, app()) == []


def test_a_verdict_that_was_there_before_may_be_left_out() -> None:
    polls = Polls(report_existing=False)
    assert look(polls, app(verdict="BLOCKED")) == []
    assert types(look(polls, app(verdict="PASSED"))) == ["verdict_lifted"]
    assert types(look(polls, app(verdict="BLOCKED"))) == ["release_blocked"]
