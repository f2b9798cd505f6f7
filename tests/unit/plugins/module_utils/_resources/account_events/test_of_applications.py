# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about applications, one poll after the other."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Event
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Observation,
)
from unit.plugins.module_utils._resources.account_events.polls import Polls, app, entry, service, types

APP = service(family="APP")


def look(polls: Polls, shown: App, state: str | None = "running", **seen: Any) -> list[dict[str, Any]]:
    """Poll, and return the events."""
    return polls.see(APP, states={"s1": state}, apps={"s1": shown}, **seen)


def deployed() -> Polls:
    """Return an account with an application that runs."""
    polls = Polls()
    assert look(polls, app()) == []
    return polls


def test_a_deploy_is_done_once_its_container_runs() -> None:
    polls = deployed()
    assert look(polls, app("shop@2"), "starting") == []
    [event] = look(polls, app("shop@2"))
    assert (event["type"], event["image"], event["previous_image"]) == ("deploy_done", "shop@2", "shop@1")
    assert event["verified"]
    assert look(polls, app("shop@2")) == []


def test_a_deploy_whose_container_stops_has_failed() -> None:
    polls = deployed()
    [event] = look(polls, app("shop@2"), "stopped", entries={"s1": [entry("DEPLOYED")]})
    assert (event["type"], event["image"]) == ("deploy_failed", "shop@2")
    assert look(polls, app("shop@2"), "stopped", entries={"s1": []}) == []
    done, back = look(polls, app("shop@1"))
    assert (done["type"], back["type"], back["after"]) == ("deploy_done", "service_back", "deploy_failed")


def test_a_deploy_that_metrics_show_late_has_not_failed() -> None:
    """Its entry is in the journal before the container of the new image is in the metrics."""
    polls = deployed()
    fresh = [Event(id="fresh", type="DEPLOYED", at=polls.now.isoformat())]
    assert look(polls, app("shop@2"), "stopped", entries={"s1": fresh}, minutes=0.1) == []
    assert look(polls, app("shop@2"), "stopped", entries={"s1": []}, minutes=0.1) == []
    [event] = look(polls, app("shop@2"), minutes=0.1)
    assert (event["type"], event["verified"]) == ("deploy_done", True)


def test_a_deploy_that_nobody_sees_run_is_told_in_the_end() -> None:
    polls = deployed()
    assert look(polls, app("shop@2"), None) == []
    assert look(polls, app("shop@2"), None, minutes=5) == []
    [event] = look(polls, app("shop@2"), None, minutes=6)
    assert (event["type"], event["verified"]) == ("deploy_done", False)


def test_a_deploy_that_changed_nothing_may_be_in_the_journal() -> None:
    polls = deployed()
    polls.see(APP, states={"s1": "starting"}, entries={"s1": [entry("POWER_START", 1)]}, apps={"s1": app()})
    [event] = look(polls, app(), entries={"s1": [entry("DEPLOY_FAILED", 2)]})
    assert event["type"] == "deploy_failed"
    assert look(polls, app()) == []


def test_old_entries_of_a_journal_are_no_news() -> None:
    polls = Polls()
    old = [entry("DEPLOY_FAILED", 1), entry("POWER_STOP", 2)]
    assert look(polls, app(), "stopped", entries={"s1": old}) == []


def test_a_verdict_that_was_there_before_may_be_left_out() -> None:
    polls = Polls(report_existing=False)
    assert look(polls, app(verdict="BLOCKED")) == []
    assert types(look(polls, app(verdict="PASSED"))) == ["verdict_lifted"]
    assert types(look(polls, app(verdict="BLOCKED"))) == ["release_blocked"]


def test_a_token_for_applications_shows_deploys() -> None:
    polls = Polls()
    polls.take(Observation(limited=True, apps={"s1": app()}))
    [event] = polls.take(Observation(limited=True, apps={"s1": app("shop@2")}))
    assert (event["type"], event["verified"]) == ("deploy_done", False)
