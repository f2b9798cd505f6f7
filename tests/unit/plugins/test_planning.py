# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A plan() that waits or writes is noticed in all tests, and no failed task is taken for an unchanged one."""

from __future__ import annotations

import time
from collections.abc import Callable

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


FAILED = {"failed": True, "changed": False, "msg": "it broke"}


@pytest.mark.parametrize("read", [lambda result: result["changed"], lambda result: result.get("changed")])
def test_whether_a_failed_task_changed_something_is_not_told(read: Callable[[Result], object]) -> None:
    with pytest.raises(AssertionError, match="the task failed: it broke"):
        read(Result(FAILED))


@pytest.mark.parametrize("key", ["failed", "msg"])
def test_it_is_told_to_a_test_that_expects_the_failure(key: str) -> None:
    result = Result(FAILED)
    assert result[key] and not result["changed"]
    result = Result(FAILED)
    assert key in result and not result["changed"]
    result = Result(FAILED)
    assert result.get(key) and not result["changed"]


def test_a_failure_may_be_told_beside_the_result() -> None:
    with pytest.raises(AssertionError, match="the task failed"):
        Result({"changed": False}, failed=True)["changed"]


def test_a_task_that_succeeded_is_read_as_it_is() -> None:
    assert Result({"changed": True})["changed"]
    assert not Result({"changed": False, "failed": False}).get("changed")
