# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task over many services: which it takes, and that one that fails stops no other."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.backup_info import BACKUP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    Operation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan
from ansible_collections.hosted.services.plugins.module_utils._resources.snapshot import SNAPSHOT
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import add, backups, calls, id_of, run, writes


def test_one_that_fails_does_not_stop_the_others(sandbox: Sandbox) -> None:
    """What fails before and during the work is told apart by service; the others are backed up."""
    two = id_of(sandbox, "two")
    sandbox.fault("backups.create", "status", status=400)
    result = run(sandbox, BACKUP, services=["nobody", "one", two, "metal", "twin"], name="n", max_parallel=1)
    assert result["failed"] and result["changed"]
    entries = {entry["service"]: entry for entry in result["services"]}
    assert list(entries) == ["nobody", "one", "two", "metal", "twin"]
    assert "there is no service of id or name 'nobody'" in entries["nobody"]["msg"]
    assert "does not offer 'backups'" in entries["metal"]["msg"]
    assert "2 services are named 'twin'" in entries["twin"]["msg"]
    assert entries["two"]["backup"]["status"] == "COMPLETED"
    assert result["msg"].startswith("4 of 5 services failed. service 'nobody': ")
    assert result["actions"] == entries["two"]["actions"]
    assert [backup["name"] for backup in backups(sandbox, "two")] == ["n"]


def test_check_mode_fails_where_the_task_would(sandbox: Sandbox) -> None:
    """The others are planned, and nothing is written."""
    result = run(sandbox, BACKUP, True, services=["one", "metal"], name="n")
    assert result["failed"] and result["changed"]
    assert [entry["changed"] for entry in result["services"]] == [True, False]
    assert writes(sandbox) == []


def test_a_project_brings_along_what_offers_backups(sandbox: Sandbox) -> None:
    """The rest is skipped with a warning that says why."""
    result = run(sandbox, BACKUP, project="web", name="n")
    assert not result.get("failed"), result
    skipped = {entry["service"] for entry in result["services"] if entry["skipped"]}
    assert skipped == {"metal"}
    assert len(result["actions"]) == 4
    assert "skipped: service 'metal'" in result["warnings"][0]


@pytest.mark.parametrize("more", [1, 3, 30])
def test_services_that_are_skipped_are_told_together(sandbox: Sandbox, more: int) -> None:
    """In one warning, however many there are; the result tells of each why it was skipped."""
    sandbox.seed(
        {
            "services": [
                {"name": f"metal-{n}", "product": "dedicated", "project": "web", "host": "node-metal-1"}
                for n in range(more)
            ]
        }
    )
    result = run(sandbox, BACKUP_INFO, project="web")
    (warning,) = result["warnings"]
    assert warning.startswith(f"skipped {more + 1} services that have no backups")
    skipped = {entry["service"]: entry["msg"] for entry in result["services"] if entry["skipped"]}
    assert skipped.keys() == {"metal", *(f"metal-{n}" for n in range(more))}
    for name, why in skipped.items():
        assert name in warning and "does not offer 'backups' while its status is ACTIVE" in why


def test_a_service_that_is_named_twice_is_one(sandbox: Sandbox) -> None:
    """By name and by id it is the same service."""
    result = run(sandbox, BACKUP, services=["one", id_of(sandbox, "one")], name="n")
    assert len(result["services"]) == 1
    assert len(backups(sandbox, "one")) == 1


def test_capabilities_are_those_of_the_moment(sandbox: Sandbox) -> None:
    """A suspended service does not offer what it offers when it is active."""
    sandbox.profile(sandbox.control("GET", "/profile")["name"], **{"suspended.capabilities": "logs"})
    sandbox.operator(f"services/{id_of(sandbox, 'one')}", status="SUSPENDED")
    result = run(sandbox, BACKUP, services=["one"], name="n")
    assert "while its status is SUSPENDED" in result["msg"]
    assert writes(sandbox) == []


def fresh(sandbox: Sandbox, name: str) -> str:
    """Order a service in project `web` and return its id."""
    projects = {project["name"]: project["id"] for project in sandbox.api("GET", "/api/projects").json()}
    size = {"cpuCores": 1, "ramGb": 1, "storageGb": 10}
    order = {"productSlug": "linux", "hostId": "node-paris-1", "dimensions": size, "name": name}
    answer = sandbox.api("POST", "/api/order", {**order, "projectId": projects["web"]})
    return str(answer.json()["instanceId"])


@pytest.mark.parametrize("given", [{"services": ["fresh"], "project": "web"}, {"project": "web"}])
def test_a_service_that_the_page_of_its_project_does_not_show_yet_is_not_missed(
    sandbox: Sandbox, given: dict[str, Any]
) -> None:
    """Only the list of services is promised to show a new one at once."""
    sandbox.delays(project_page=3600, provision=0)
    id = fresh(sandbox, "fresh")
    result = run(sandbox, SNAPSHOT, **given, name="n")
    assert id in [entry["service_id"] for entry in result["services"] if not entry["skipped"]], result
    assert [s["name"] for s in sandbox.api("GET", f"/api/resources/{id}/snapshots").json()] == ["n"]


def test_a_service_that_a_page_still_shows_after_it_was_moved_is_left_alone(sandbox: Sandbox) -> None:
    sandbox.delays(project_page=3600)
    other = sandbox.api("POST", "/api/projects", {"name": "other"}).json()["id"]
    assert sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'one')}/project", {"projectId": other}).ok
    result = run(sandbox, BACKUP, project="web", name="n")
    (entry,) = (entry for entry in result["services"] if entry["service"] == "one")
    assert entry["skipped"] and "is in another project by now" in entry["msg"]
    assert backups(sandbox, "one") == []
    assert len(backups(sandbox, "two")) == 1


def test_a_restore_that_breaks_off_half_way_has_changed_its_service(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call was made and its end was not seen; the service of the other call is as it was."""
    for name in ("one", "two"):
        add(sandbox, name, "n")
    read, two = Client.backups, id_of(sandbox, "two")

    def refuse_afterwards(client: Client, id: str) -> Any:
        if "backups.restore" in calls(sandbox):
            raise error_for_status("no", 403)
        return read(client, id)

    def refuse(client: Client, service_id: str, backup_id: str) -> None:
        if service_id == two:
            raise error_for_status("no", 403)
        restore(client, service_id, backup_id)

    restore = Client.restore_backup
    monkeypatch.setattr(Client, "backups", refuse_afterwards)
    monkeypatch.setattr(Client, "restore_backup", refuse)
    wish: dict[str, Any] = {
        "services": ["two", "one"],
        "name": "n",
        "state": "restored",
        "confirm": True,
        "max_parallel": 1,
    }
    result = run(sandbox, BACKUP, **wish)
    assert result["failed"] and result["changed"]
    assert {entry["service"]: entry["changed"] for entry in result["services"]} == {"one": True, "two": False}
    assert result["actions"] == []


def test_what_cannot_be_done_for_one_is_done_for_the_others_unless_a_noun_says_otherwise() -> None:
    """A restore does: half of the services of a project would be of another day."""
    assert Operation("backups", "backups", lambda task, service: Plan(result=None), {}).all_or_none is False
