# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deletion takes no copies along that nobody gave up, whatever the platform can tell of them."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Conflict
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import journal
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Composition
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes


def test_a_part_of_a_larger_task_is_not_told_to_resume_what_that_suspended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = FakeClient()
    client.add_service("svc_1", "one", "PROVISIONING", family="GAME")

    def refuse(id: str) -> None:
        raise Conflict("not now", 409)

    monkeypatch.setattr(client, "backups", refuse)
    task = task_of(SERVICE, client, id="svc_1", state="absent")
    with pytest.raises(Invalid, match=r"PROVISIONING\. Nothing was deleted\. Set delete_backups: true"):
        SERVICE.plan(replace(task, composition=Composition(part=True)))


def test_a_suspension_remembers_what_the_service_offered(sandbox: Sandbox) -> None:
    """Nothing else tells what it may have where there is no other service of its product."""
    sandbox.profile("plain", **{"suspended.capabilities": "logs"})
    sandbox.seed({"services": [{"name": "only", "product": "mariadb"}]})
    id = id_of(sandbox, "only")
    assert run(sandbox, SERVICE, id=id, state="suspended")["changed"]
    sandbox.clear_journal()
    refused = run(sandbox, SERVICE, id=id, state="absent")
    assert refused["failed"] and "may have backups, but" in refused["msg"] and writes(sandbox) == []
    sandbox.profile("plain")
    assert run(sandbox, SERVICE, id=id, state="absent")["changed"]


# --- Waiting ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wait", "check_mode", "waits"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_a_service_that_is_being_deleted_is_waited_for_if_that_is_wanted(
    monkeypatch: pytest.MonkeyPatch, wait: bool, check_mode: bool, waits: bool
) -> None:
    clock, client = Clock(monkeypatch), FakeClient()
    client.add_service("s", status="DELETING")
    clock.then = [client.service_records.clear]
    plan = SERVICE.plan(task_of(SERVICE, client, check_mode, id="s", state="absent", wait=wait))
    assert not plan.changed and client.calls == [] and clock.pauses == []
    assert bool(plan.steps) is waits
    if not check_mode:
        carry_out(plan)
    assert bool(clock.pauses) is waits and client.calls == []


@pytest.mark.parametrize("end", ["gone", "DELETED"])
def test_a_deletion_is_waited_for_until_the_service_is_gone(
    monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """The next task may order one of its name."""
    clock, client = Clock(monkeypatch), FakeClient()
    client.add_service("s")

    def show(status: str) -> None:
        client.add_service("s", status=status)

    client.after["delete_service"] = lambda: show("DELETING")
    clock.then = [lambda: None, client.service_records.clear if end == "gone" else lambda: show("DELETED")]
    carry_out(SERVICE.plan(task_of(SERVICE, client, id="s", state="absent")))
    assert client.calls == [("delete_service", "s")] and len(clock.pauses) == 2


def note_left_by_delete(
    client: FakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float = 3600
) -> bool:
    """Delete service `s`; tell whether the note is left of an order of its name that was killed back then."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    task = task_of(SERVICE, client, id="s", state="absent")
    place, subject = task.options.base_url, "service:web"
    journal.begin(place, subject, journal.Entry("the secrets", time.time() - age))
    carry_out(SERVICE.plan(task))
    assert client.calls == [("delete_service", "s")]
    return bool(journal.opened(place, subject))


@pytest.mark.parametrize(("other", "age", "left"), [("db", 60, False), ("db", 30, True), ("web", 3600, True)])
def test_the_note_of_an_order_goes_with_its_service(
    other: str, age: float, left: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It may be on another one of the name, or on one that is still to appear: an order waits for that."""
    client = FakeClient()
    client.add_service("s")
    client.add_service("other", other, projectId="prj_prod")
    client.add_service("gone", "web", status="DELETING")
    assert note_left_by_delete(client, tmp_path, monkeypatch, age) is left
