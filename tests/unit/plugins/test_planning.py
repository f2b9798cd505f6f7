# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard that all tests of the plugins run under notices a plan() that waits or writes."""

from __future__ import annotations

import time

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.responses import wait_for_retry
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import power
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from unit.plugins.fakes import Clock, FakeClient, task_of
from unit.plugins.planning import GUARD


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_service("s")
    return client


def noticed() -> list[str]:
    """Return what the guard has seen, and forget it."""
    seen = list(GUARD.seen)
    GUARD.seen.clear()
    return seen


def test_a_plan_that_writes_is_noticed(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(power, "plan_power", lambda task, view, changes: task.client.suspend("s"))
    SERVICE.plan(task_of(SERVICE, client, id="s"))
    assert noticed() == ["suspend is sent while a task plans"]


@pytest.mark.parametrize("with_clock", [True, False])
def test_a_plan_that_waits_is_noticed(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, with_clock: bool
) -> None:
    if with_clock:
        Clock(monkeypatch)
    monkeypatch.setattr(
        power, "plan_power", lambda task, view, changes: waiting.poll_for(lambda: False, 0.01)
    )
    SERVICE.plan(task_of(SERVICE, client, id="s"))
    assert "poll_for pauses while a task plans" in noticed()[0]


def test_a_read_that_is_retried_is_not_the_plans_own_pause(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    monkeypatch.setattr(
        power, "plan_power", lambda task, view, changes: wait_for_retry(2.0, "busy", lambda line: None)
    )
    SERVICE.plan(task_of(SERVICE, client, id="s"))
    assert noticed() == [] and clock.pauses == [1.0, 1.0]


def test_what_steps_do_and_what_tests_do_is_their_own_affair(client: FakeClient) -> None:
    for step in SERVICE.plan(task_of(SERVICE, client, id="s", state="suspended", wait=False)).steps:
        step.run()
    time.sleep(0)
    assert noticed() == []
    assert ("suspend", "s") in client.calls
