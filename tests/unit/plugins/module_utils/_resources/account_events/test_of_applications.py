# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about applications, one poll after the other."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
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


def test_a_deploy_that_changed_nothing_may_be_in_the_journal() -> None:
    polls = deployed()
    polls.see(APP, states={"s1": "starting"}, entries={"s1": [entry("POWER_START", 1)]}, apps={"s1": app()})
    [event] = look(polls, app(), entries={"s1": [entry("DEPLOY_FAILED", 2)]})
    assert event["type"] == "deploy_failed"
    assert look(polls, app()) == []


def test_a_verdict_that_was_there_before_may_be_left_out() -> None:
    polls = Polls(report_existing=False)
    assert look(polls, app(verdict="BLOCKED")) == []
    assert types(look(polls, app(verdict="PASSED"))) == ["verdict_lifted"]
    assert types(look(polls, app(verdict="BLOCKED"))) == ["release_blocked"]
