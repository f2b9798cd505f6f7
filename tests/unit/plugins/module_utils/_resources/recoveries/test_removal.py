# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drills whose runs were killed are deleted; tests/unit/data/recover/drill.yml has what else is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import removal_parts
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient
from unit.plugins.module_utils._resources.recoveries.platform import Recover, options, record_of, recovering

OF_DRILL = {"product": "minecraft", "project": "shop-drill"}


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """An account without the project."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


def test_what_was_ordered_right_before_a_kill_is_deleted(sandbox: Sandbox, recover: Recover) -> None:
    """The names were noted before the order, and the project did not exist then."""
    record = record_of(sandbox, "shop-drill")
    record.drill = True
    record.names = {"world": "Survival-drill", "lobby": "lobby-drill"}
    with record.ordering("world", PlatformClock()):
        sandbox.seed({"services": [{**OF_DRILL, "name": "Survival-drill"}]})
    gone = recover(state="absent", project="shop-drill")
    assert not gone.get("failed"), gone["msg"]
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert not record_of(sandbox, "shop-drill").known


@pytest.mark.night
@pytest.mark.real_time
def test_a_drill_is_not_forgotten_while_an_order_may_still_be_carried_out(
    sandbox: Sandbox, recover: Recover
) -> None:
    """The platform acted late on an order whose response was lost, while the drill was deleted."""
    record = record_of(sandbox, "shop-drill")
    record.drill, record.names = True, {"world": "Survival-drill"}
    with record.ordering("world", PlatformClock()), suppress(Interrupted):
        raise Interrupted("lost")
    sandbox.seed({"projects": ["shop-drill"]})
    late = Timer(2, lambda: sandbox.seed({"services": [{**OF_DRILL, "name": "Survival-drill"}]}))
    late.start()
    kept = recover(state="absent", project="shop-drill")
    late.join()
    assert kept["failed"] and "'Survival-drill'" in kept["msg"] and "appeared late" in kept["msg"]
    assert not recover(state="absent", project="shop-drill").get("failed")
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert sandbox.api("GET", "/api/resources").json()["items"] == []
    assert not record_of(sandbox, "shop-drill").known


def deletion_of(account: FakeClient, **facts: Any) -> Part:
    """Return what deletes the project of a drill that is remembered so."""
    record = RecoveryRecord("nowhere", drill=True, project_id="prj_1", **facts)
    task: Task[Any] = Task(cast(Any, account), options(project="shop-drill", state="absent"))
    return removal_parts(task, "shop-drill", record)[-1]


def test_only_an_order_whose_response_was_lost_is_watched_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """That may take a minute, so it is told; what is known by its id is not waited for."""
    clock, account, told = Clock(monkeypatch), FakeClient(), list[str]()
    account.add_project("prj_1", "shop-drill")
    account.add_service("svc_1", "db", projectId="prj_1")
    facts: dict[str, Any] = {"names": {"late": "lobby"}, "sent": {"late": account.clock.now().isoformat()}}
    ids = {"db": "svc_1"}
    for lost, known in (({}, ids), (facts, {**ids, "late": "svc_gone"})):
        project = deletion_of(account, ids=known, **lost)
        project.task.progress = told.append
        project.prepare(project)
    assert told == [] and clock.pauses == []
    project = deletion_of(account, ids=ids, **facts)
    project.task.progress = told.append

    def appear() -> None:
        account.add_service("svc_9", "lobby", projectId="prj_1")

    clock.then = [lambda: None, appear]
    with pytest.raises(Invalid, match=r"service 'lobby' \(svc_9\) appeared late, from an order whose"):
        project.prepare(project)
    [line] = told
    assert line.startswith("watching for up to ") and len(clock.pauses) == 2
