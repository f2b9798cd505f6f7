# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan() that waits or writes is noticed in all tests, and no failed task is taken for an unchanged one."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.responses import wait_for_retry
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import power
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from unit.plugins.fakes import Clock, FakeClient, task_of
from unit.plugins.planning import GUARD
from unit.plugins.results import Result


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_service("s")
    return client


def planned(client: FakeClient, monkeypatch: pytest.MonkeyPatch, act: Callable[[Any], object]) -> list[str]:
    """Return what the guard has seen of a plan that does something else, and let it forget it."""
    monkeypatch.setattr(power, "plan_power", lambda task, view, changes: act(task))
    SERVICE.plan(task_of(SERVICE, client, id="s"))
    seen = list(GUARD.seen)
    GUARD.seen.clear()
    return seen


def test_a_plan_that_writes_is_noticed(client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = planned(client, monkeypatch, lambda task: task.client.suspend("s"))
    assert seen == ["suspend is sent while a task plans"]


@pytest.mark.parametrize("with_clock", [True, False])
def test_a_plan_that_waits_is_noticed(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch, with_clock: bool
) -> None:
    if with_clock:
        Clock(monkeypatch)
    seen = planned(client, monkeypatch, lambda task: waiting.poll_for(lambda: False, 0.01))
    assert "poll_for pauses while a task plans" in seen[0]


def test_a_read_that_is_retried_is_not_the_plans_own_pause(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    seen = planned(client, monkeypatch, lambda task: wait_for_retry(2.0, "busy", lambda line: None))
    assert seen == [] and clock.pauses == [1.0, 1.0]


def test_what_steps_do_and_what_tests_do_is_their_own_affair(client: FakeClient) -> None:
    for step in SERVICE.plan(task_of(SERVICE, client, id="s", state="suspended", wait=False)).steps:
        step.run()
    time.sleep(0)
    assert GUARD.seen == []
    assert ("suspend", "s") in client.calls


@pytest.mark.parametrize("read", [lambda result: result["changed"], lambda result: result.get("changed")])
def test_whether_a_task_changed_something_is_told_if_it_succeeded(read: Callable[[Result], object]) -> None:
    """Or to a test that expects the failure; a failure may be told beside the result."""
    assert read(Result({"changed": True})) is True
    assert read(Result({"changed": False, "failed": False})) is False
    failed = {"failed": True, "changed": False, "msg": "it broke"}
    for result in (Result(failed), Result({"changed": False, "msg": "it broke"}, failed=True)):
        with pytest.raises(AssertionError, match="the task failed: it broke"):
            read(result)
    for key in ("failed", "msg"):
        for look in (Result.__getitem__, Result.__contains__, Result.get):
            result = Result(failed)
            assert look(result, key)
            assert read(result) is False
