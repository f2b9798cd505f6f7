# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A deletion takes no copies along that nobody gave up, whatever the platform can tell of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import removal
from ansible_collections.hosted.services.plugins.module_utils._resources.services.removal import (
    check_active,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.target import Target
from ansible_collections.hosted.services.plugins.module_utils._resources.services.view import View
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Step
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.secret_notes import (
    ORDERED,
    seconds_since_call,
    subject_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.secrets_file import (
    keep_secrets,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import QUIET_SECONDS
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import add, id_of, run, writes


def remove(sandbox: Sandbox, name: str, check_mode: bool = False, **given: Any) -> dict[str, Any]:
    sandbox.clear_journal()
    return run(sandbox, SERVICE, check_mode, id=id_of(sandbox, name), state="absent", **given)


def is_there(sandbox: Sandbox, name: str) -> bool:
    return any(s["name"] == name for s in sandbox.api("GET", "/api/resources").json()["items"])


def kept(sandbox: Sandbox, name: str, result: dict[str, Any]) -> bool:
    """Tell whether a refusal left the service alone: no call that changes anything, and it is still there."""
    return bool(result.get("failed")) and writes(sandbox) == [] and is_there(sandbox, name)


@pytest.mark.parametrize("status", ["PROVISIONING", "AWAITING_ADMIN"])
@pytest.mark.parametrize("check_mode", [False, True])
def test_what_cannot_be_listed_counts_as_there(sandbox: Sandbox, status: str, check_mode: bool) -> None:
    """A service that is resumed may pass PROVISIONING; capabilities are missing then, backups are not.

    Another one of its product shows that it never had snapshots.
    """
    add(sandbox, "one", "nightly")
    sandbox.operator(f"services/{id_of(sandbox, 'one')}", status=status)
    result = remove(sandbox, "one", check_mode)
    assert kept(sandbox, "one", result)
    assert f"may have backups, but they cannot be listed while its status is {status}" in result["msg"]
    assert "Run this again once it is ACTIVE, or set delete_backups: true" in result["msg"]


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
        SERVICE.plan(replace(task, composed=True))


def test_an_application_that_was_never_deployed_is_deleted(sandbox: Sandbox) -> None:
    """It never became ACTIVE, so nothing of it can have been backed up; one that shows an image may have."""
    sandbox.seed(
        {"apps": [{"slug": "acme-web"}, {"slug": "acme-shop", "images": [{"tag": "v1"}], "deployed": "v1"}]}
    )
    for name in ("acme-web", "acme-shop"):
        sandbox.operator(f"services/{id_of(sandbox, name)}", status="PROVISIONING")
    assert remove(sandbox, "acme-web")["changed"]
    assert kept(sandbox, "acme-shop", remove(sandbox, "acme-shop"))


@pytest.mark.parametrize(("remembered", "kinds"), [(True, "backups"), (False, "backups and snapshots")])
def test_what_a_service_offered_when_it_was_active_tells_what_it_may_have(
    sandbox: Sandbox, remembered: bool, kinds: str
) -> None:
    """Nothing else does where there is no other service of its product."""
    sandbox.profile("plain", **{"suspended.capabilities": "logs"})
    sandbox.seed({"services": [{"name": "only", "product": "mariadb"}]})
    id = id_of(sandbox, "only")
    if remembered:
        assert run(sandbox, SERVICE, id=id, state="suspended")["changed"]
    else:
        sandbox.operator(f"services/{id}", status="SUSPENDED")
    refused = remove(sandbox, "only")
    assert kept(sandbox, "only", refused) and f"may have {kinds}, but" in refused["msg"]
    sandbox.profile("plain")
    result = remove(sandbox, "only")
    assert result["changed"] if remembered else "may have snapshots, but" in result["msg"]


def test_the_explicit_word_deletes_what_cannot_be_listed(sandbox: Sandbox) -> None:
    sandbox.operator(f"services/{id_of(sandbox, 'one')}", status="AWAITING_ADMIN")
    assert remove(sandbox, "one", delete_backups=True)["changed"]
    assert not is_there(sandbox, "one")


@pytest.mark.parametrize("status", ["COMPLETED", "RESTORING", "PENDING"])
def test_a_backup_counts_in_every_status_but_failed(sandbox: Sandbox, status: str) -> None:
    add(sandbox, "one", "nightly", status=status)
    result = remove(sandbox, "one")
    assert kept(sandbox, "one", result)
    assert result["backups"] == ["nightly"]
    assert "has 1 backup (nightly), which would be destroyed with it" in result["msg"]
    assert remove(sandbox, "one", delete_backups=True)["changed"]


def test_a_failed_backup_alone_holds_nothing(sandbox: Sandbox) -> None:
    add(sandbox, "one", "nightly", status="FAILED")
    assert remove(sandbox, "one")["changed"]
    assert not is_there(sandbox, "one")


@pytest.mark.parametrize("sign", [{"completedAt": "2026-11-01T02:00:00.000Z"}, {"sizeBytes": 1}])
def test_a_backup_whose_restore_failed_holds_the_deletion(sign: dict[str, Any]) -> None:
    """It was complete before, so it may hold data; `backup` keeps such a one, too."""
    client = FakeClient()
    client.add_service("s")
    client.backup_records["s"] = [{"id": "b", "name": "nightly", "status": "FAILED", **sign}]
    with pytest.raises(Invalid, match=r"has 1 backup \(nightly\)"):
        SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))
    carry_out(SERVICE.plan(task_of(SERVICE, client, id="s", state="absent", delete_backups=True)))
    assert client.calls == [("delete_service", "s")]


def test_snapshots_count_as_backups_do(sandbox: Sandbox) -> None:
    disk = id_of(sandbox, "disk")
    sandbox.api("POST", f"/api/resources/{disk}/snapshots", {"name": "before-upgrade"})
    result = remove(sandbox, "disk")
    assert kept(sandbox, "disk", result)
    assert result["snapshots"] == ["before-upgrade"]
    assert "1 snapshot (before-upgrade)" in result["msg"]
    assert remove(sandbox, "disk", delete_backups=True)["changed"]


def test_what_an_active_service_does_not_offer_it_does_not_have(sandbox: Sandbox) -> None:
    """A whole machine has neither backups nor snapshots, and nothing is asked for them."""
    assert remove(sandbox, "metal")["changed"]
    assert not [line for line in sandbox.journal() if line["route"].endswith(("backups", "snapshots"))]


@pytest.mark.parametrize("status", [400, 403, 404, 409, 422])
@pytest.mark.parametrize("route", ["settings.get", "backups.list", "snapshots.list"])
def test_a_failed_creation_is_deleted_whatever_its_routes_refuse(
    sandbox: Sandbox, route: str, status: int
) -> None:
    """How routes refuse a service that never came to be is not shown; it never held anything to copy."""
    sandbox.operator(f"services/{id_of(sandbox, 'one')}", status="FAILED", reason="no node")
    sandbox.fault(route, "status", status=status)
    result = remove(sandbox, "one")
    assert result["changed"] and not result.get("failed"), result
    assert not is_there(sandbox, "one")


@pytest.mark.parametrize("route", ["backups.list", "snapshots.list"])
def test_a_list_that_cannot_be_read_stops_the_deletion_of_any_other(sandbox: Sandbox, route: str) -> None:
    sandbox.fault(route, "status", status=403)
    assert kept(sandbox, "disk", remove(sandbox, "disk"))
    sandbox.clear_faults()
    sandbox.fault(route, "status", status=500)
    assert kept(sandbox, "disk", remove(sandbox, "disk", retries=0))


def test_a_failed_creation_with_a_backup_on_its_list_is_kept() -> None:
    client = FakeClient()
    client.add_service("s", status="FAILED", capabilities=[])
    client.backup_records["s"] = [{"id": "b", "name": "nightly", "status": "COMPLETED"}]
    with pytest.raises(Exception, match=r"1 backup \(nightly\)"):
        SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))
    assert client.calls == []


# --- What deletable: false means ------------------------------------------------------------------------


def marked() -> FakeClient:
    client = FakeClient()
    client.add_service("s")
    client.setting_records["s"]["deletable"] = False
    return client


def test_the_platform_decides_on_what_it_says_is_not_deletable() -> None:
    """The specification allows a deletion in any state and gives the flag no meaning."""
    client = marked()
    task = task_of(SERVICE, client, id="s", state="absent")
    carry_out(SERVICE.plan(task))
    assert client.calls == [("delete_service", "s")]
    assert task.warnings == []


def test_a_refusal_cites_the_flag() -> None:
    client = marked()

    def refuse() -> None:
        raise Conflict("DELETE: no", 409)

    client.before["delete_service"] = refuse
    with pytest.raises(Conflict) as refused:
        carry_out(SERVICE.plan(task_of(SERVICE, client, id="s", state="absent")))
    assert refused.value.message == "DELETE: no. The settings of service 'web' (s) say deletable: false"


def test_check_mode_tells_of_the_flag_alone() -> None:
    client = FakeClient()
    client.add_service("s")
    task = task_of(SERVICE, client, check_mode=True, id="s", state="absent")
    assert SERVICE.plan(task).changed and task.warnings == []


def test_check_mode_tells_of_the_flag() -> None:
    task = task_of(SERVICE, marked(), check_mode=True, id="s", state="absent")
    assert SERVICE.plan(task).changed
    assert "say deletable: false; the platform may refuse" in task.warnings[0]


# --- What else the task says ----------------------------------------------------------------------------


@pytest.mark.parametrize("other", [{"product": "factorio"}, {"host": "node-frankfurt-1"}])
@pytest.mark.parametrize("check_mode", [False, True])
def test_a_product_or_a_host_that_contradicts_stops_a_deletion(
    sandbox: Sandbox, other: dict[str, str], check_mode: bool
) -> None:
    result = remove(sandbox, "one", check_mode, **other)
    assert kept(sandbox, "one", result)
    assert f"not '{next(iter(other.values()))}'" in result["msg"]


def test_an_id_of_which_nothing_is_left_is_absent_without_a_word(sandbox: Sandbox) -> None:
    result = run(sandbox, SERVICE, id="00000000-dead-beef-0000-000000000000", state="absent")
    assert not result["changed"] and not result.get("warnings")


@pytest.mark.parametrize("gone", [True, False])
def test_what_somebody_else_deletes_meanwhile_is_deleted(gone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """While its last copy is taken."""
    client = FakeClient()
    record = client.add_service("s")

    def leave() -> None:
        record.update(status="DELETING", capabilities=[])
        if gone:
            client.service_records.clear()

    kept = removal.Kept(Step("copy it", leave, changes=False), {})
    monkeypatch.setattr(client, "snapshots", None)
    task = task_of(SERVICE, client, id="s", state="absent", wait=False)
    carry_out(removal.plan_removal(task, Target("s"), lambda task, view: kept))
    assert client.calls == [("delete_service", "s")]


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


def test_a_list_of_applications_that_keeps_a_deleted_one_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The deletion is done, so it is no failure."""
    clock, client = Clock(monkeypatch), FakeClient()
    client.add_service("s")
    listed = m.App.model_construct(id="s", slug="web", status="ACTIVE")
    monkeypatch.setattr(client, "apps", lambda: [listed])
    task = task_of(SERVICE, client, id="s", state="absent")
    carry_out(SERVICE.plan(task))
    [warning] = task.warnings
    assert "still lists" in warning and "'web'" in warning and sum(clock.pauses) >= QUIET_SECONDS


def test_a_deletion_that_is_not_waited_for_ends_with_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, client = Clock(monkeypatch), FakeClient()
    client.add_service("s")
    client.after["delete_service"] = lambda: client.service_records.update(
        s=FakeClient().add_service("s", status="DELETING")
    )
    carry_out(SERVICE.plan(task_of(SERVICE, client, id="s", state="absent", wait=False)))
    assert client.calls == [("delete_service", "s")] and clock.pauses == []


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


def test_what_is_shown_as_deleted_is_not_deleted_again() -> None:
    client = FakeClient()
    client.add_service("s", status="DELETED")
    assert not SERVICE.plan(task_of(SERVICE, client, id="s", state="absent")).steps


def test_a_service_that_is_there_is_read_once() -> None:
    class Reads(FakeClient):
        reads = 0

        def service(self, id: str) -> Any:
            self.reads += 1
            return super().service(id)

    client = Reads()
    client.add_service("s")
    SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))
    assert client.reads == 1


def test_a_refusal_lists_the_kinds_of_copies_that_are_there() -> None:
    client = FakeClient()
    client.add_service("s", capabilities=["backups", "snapshots"])
    client.snapshot_records["s"] = [{"id": "p", "name": "before"}]
    with pytest.raises(Invalid, match=r"has 1 snapshot \(before\)") as error:
        SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))
    assert error.value.details == {"snapshots": ["before"]}


@pytest.mark.parametrize(("number", "named"), [(5, "(0, 1, 2, 3, 4)"), (6, "(0, 1, 2, 3, 4, …)")])
def test_a_refusal_names_the_first_copies(number: int, named: str) -> None:
    client = FakeClient()
    client.add_service("s")
    client.backup_records["s"] = [
        {"id": f"b{one}", "name": str(one), "status": "COMPLETED"} for one in range(number)
    ]
    with pytest.raises(Invalid) as error:
        SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))
    assert f"has {number} backups {named}, which would be destroyed" in error.value.message


def note_left_by_delete(client: FakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Delete service `s`; tell whether the note of an order of its name that was killed just now is left."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    task = task_of(SERVICE, client, id="s", state="absent")
    subject = subject_of(ORDERED, "web")
    with pytest.raises(KeyboardInterrupt), keep_secrets(task, subject, "the secrets"):
        raise KeyboardInterrupt
    assert seconds_since_call(task, subject) < float("inf")
    carry_out(SERVICE.plan(task))
    assert client.calls == [("delete_service", "s")]
    return seconds_since_call(task, subject) < float("inf")


def dates(minutes: float) -> dict[str, str]:
    """Return the dates of a service that was created so many minutes ago."""
    return {"createdAt": (datetime.now(UTC) - timedelta(minutes=minutes)).isoformat()}


@pytest.mark.parametrize("shown", ["not at all", "without a moment", "new"])
def test_the_note_of_an_order_goes_with_its_service(
    shown: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing is left that its secrets would be looked for, and the next order of the name need not wait."""
    client = FakeClient()
    known: Any = {"createdAt": None} if shown == "without a moment" else dates(0)
    own: dict[str, Any] = {} if shown == "not at all" else {"dates": known}
    client.add_service("s", **own)
    client.add_service("other", "db")
    client.add_service("gone", "web", status="DELETING")
    assert not note_left_by_delete(client, tmp_path, monkeypatch)


def test_the_note_of_an_order_may_be_on_another_service_of_the_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    client = FakeClient()
    client.add_service("s")
    client.add_service("t", projectId="prj_prod")
    assert note_left_by_delete(client, tmp_path, monkeypatch)


def test_the_note_of_an_order_may_be_on_one_that_is_still_to_appear(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A service that was there before the order is not what it made; the next order has to wait for that."""
    client = FakeClient()
    client.add_service("s", dates=dates(5))
    assert note_left_by_delete(client, tmp_path, monkeypatch)


@pytest.mark.parametrize(("own", "others", "left"), [(0, 5, False), (5, 0, True), (0, 0.5, True)])
def test_the_note_of_an_order_is_on_the_newer_one_of_two_of_a_name(
    own: float, others: float, left: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It goes with that one: nothing would remove it later. If they are as old, it may be on either."""
    client = FakeClient()
    client.add_service("s", dates=dates(own), createdAt=dates(own)["createdAt"])
    client.add_service("t", projectId="prj_prod", createdAt=dates(others)["createdAt"])
    assert note_left_by_delete(client, tmp_path, monkeypatch) is left


def test_a_list_that_cannot_be_read_after_the_deletion_keeps_the_note(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The deletion is done, so it is no failure."""
    client = FakeClient()
    client.add_service("s")

    def fail() -> Any:
        raise Conflict("no list", 409)

    def gone() -> None:
        client.add_service("s", status="DELETED")
        monkeypatch.setattr(client, "services", fail)

    client.after["delete_service"] = gone
    assert note_left_by_delete(client, tmp_path, monkeypatch)


def test_a_service_that_does_not_tell_what_it_offers_is_asked_for_its_copies() -> None:
    client = FakeClient()
    client.add_service("s", capabilities=None)
    client.backup_records["s"] = [{"id": "b", "name": "nightly", "status": "COMPLETED"}]
    with pytest.raises(Invalid, match=r"has 1 backup \(nightly\)"):
        SERVICE.plan(task_of(SERVICE, client, id="s", state="absent"))


def view(status: str) -> View:
    client = FakeClient()
    client.add_service("svc_1", "web", status=status)
    service = client.service("svc_1")
    assert service is not None
    return View(service)


def test_an_active_service_can_be_copied() -> None:
    check_active(view("ACTIVE"))


@pytest.mark.parametrize(
    ("status", "way"),
    [
        ("SUSPENDED", "To go on, resume it first (state: resumed), or delete it without a copy"),
        ("FAILED", "there is nothing to copy: delete it without a copy"),
        ("PROVISIONING", "To go on, run this again once it is ACTIVE, or delete it without a copy"),
        ("NEWLY_INVENTED", "To go on, run this again once it is ACTIVE, or delete it without a copy"),
    ],
)
def test_another_one_is_told_its_status_and_what_to_do(status: str, way: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_active(view(status))
    message = caught.value.message
    assert message.startswith(f"keep_copy cannot copy service 'web' (svc_1): its status is {status}")
    assert message.endswith(way) and message.count("without a copy") == 1
