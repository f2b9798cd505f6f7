# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A list of services that ends early without saying so, where the projects' own counts do not tell either."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    NotFoundResponse,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Project
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Drift,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    Observer,
    Reading,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state_file import (
    new_state,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    read_members,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.service_info import SERVICE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services.all_services import (
    all_services,
    may_be_cut,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.listing import (
    ServiceQuery,
    read_listing,
    read_project,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.lookup import find_services
from ansible_collections.hosted.services.plugins.module_utils._resources.services.spending import (
    read_holdings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import calls, run, writes

CUT = {"list.length": "50", "project.count": "those that are ACTIVE"}
LISTED = 50


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


@pytest.fixture
def cut(sandbox: Sandbox) -> Sandbox:
    """A platform that lists the first of its services, and counts those that run."""
    first = [{"name": f"n{number}", "product": "bucket"} for number in range(LISTED)]
    last = {"name": "last", "product": "minecraft", "project": "web", "status": "SUSPENDED"}
    sandbox.reset(seed={"services": [*first, last]}, values=CUT)
    assert len(sandbox.api("GET", "/api/resources").json()["items"]) == LISTED
    sandbox.clear_journal()
    return sandbox


def client_of(sandbox: Sandbox) -> Client:
    return Client(Session(Connection(base_url=sandbox.base_url, token=sandbox.token)))


@pytest.mark.parametrize("count", [10, 20, 25, 50, 64, 100, 128, 200, 500, 512, 1000])
def test_what_may_be_a_page(count: int) -> None:
    assert may_be_cut(count)


@pytest.mark.parametrize("count", [0, 1, 5, 8, 9, 11, 51, 55, 99, 129, 2000, 10000])
def test_what_is_no_page(count: int) -> None:
    assert not may_be_cut(count)


def test_a_list_that_is_no_page_takes_one_call(sandbox: Sandbox) -> None:
    assert len(all_services(client_of(sandbox))) == 6
    assert calls(sandbox) == ["resources.list"]


def test_a_project_that_is_not_empty_is_not_deleted(cut: Sandbox) -> None:
    result = run(cut, PROJECT, name="web", state="absent")
    assert result["failed"] and "has 1 service," in result["msg"]
    assert writes(cut) == []


@pytest.mark.parametrize("selection", [{"project": "web"}, {"family": "GAME"}, {"services": ["last"]}])
def test_all_that_a_selection_means_is_backed_up(cut: Sandbox, selection: dict[str, Any]) -> None:
    result = run(cut, BACKUP, name="nightly", **selection, wait=False)
    assert result["changed"]
    assert writes(cut) == ["backups.create"]


@pytest.mark.parametrize("selection", [{}, {"project": "web"}, {"name": "last"}])
def test_all_services_are_told(cut: Sandbox, selection: dict[str, Any]) -> None:
    result = run(cut, SERVICE_INFO, **selection)
    assert [service["name"] for service in result["services"]][-1] == "last"


def test_all_services_are_watched(cut: Sandbox) -> None:
    observer = Observer(client_of(cut), Reading(backup_interval=0), lambda client, path: Drift(path))
    seen = observer.observe(new_state(), datetime.now(UTC))
    assert seen.services and [each.name for each in seen.services.values()][-1] == "last"
    assert observer.problems == []


@pytest.mark.parametrize("query", [ServiceQuery(), ServiceQuery(projects=("web",))])
def test_all_services_are_hosts(cut: Sandbox, query: ServiceQuery) -> None:
    found = read_listing(client_of(cut), query).services
    assert ("last", "web") in [(service["name"], service["project"]) for service in found]


def test_one_service_is_found_by_its_name(cut: Sandbox) -> None:
    assert run(cut, FILE_INFO, service="last", path="")["files"] == []


def test_one_that_a_page_shows_and_that_is_gone_is_left_out(cut: Sandbox) -> None:
    cut.profile("plain", **CUT, **{"deleted.read": "status DELETED"})
    client = client_of(cut)
    last = next(service for service in all_services(client) if service.name == "last")
    cut.api("DELETE", f"/api/resources/{last.id}")
    assert len(all_services(client)) == LISTED


# --- A gateway that answers with 404, where what is left out counts as not there ----------------------------


def from_project(client: Client, web: Project) -> list[str]:
    return [service["name"] for service in read_project(client, web, ServiceQuery()).services]


def from_listing(client: Client, web: Project) -> list[str]:
    found = read_listing(client, ServiceQuery(), certain=True).services
    return [service["name"] for service in found if service["project_id"] == web.id]


def from_members(client: Client, web: Project) -> list[str]:
    members = read_members(client, web.id)
    return [member.name for member in members.found] if members else []


READERS = [from_project, from_listing, from_members]


def refuse(monkeypatch: pytest.MonkeyPatch, method: str, refused: Callable[[int], bool]) -> list[int]:
    """Have some calls answered with 404, by their number. Return a list that grows with each call."""
    read, made, numbers = getattr(Client, method), list[int](), count()

    def answer(client: Client, *ids: str) -> Any:
        number = next(numbers)
        made.append(number)
        if refused(number):
            if ids:
                return None
            raise error_for_status("GET /api/projects: not found", 404)
        return read(client, *ids)

    monkeypatch.setattr(Client, method, answer)
    return made


@pytest.mark.parametrize("method", ["projects", "project", "service"])
@pytest.mark.parametrize("read", READERS)
def test_one_404_leaves_nothing_out(
    cut: Sandbox,
    read: Callable[[Client, Project], list[str]],
    method: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The list of projects and the page of one that it shows are there; the service is read again."""
    client = client_of(cut)
    web = next(project for project in client.projects() if project.name == "web")
    made = refuse(monkeypatch, method, lambda number: False)
    assert read(client, web) == ["last"]
    for failing in range(len(made)):
        with monkeypatch.context() as patched:
            refuse(patched, method, lambda number, failing=failing: number == failing)  # type: ignore[misc]
            try:
                assert read(client, web) == ["last"], failing
            except NotFoundResponse:
                assert method == "projects"


@pytest.mark.parametrize(
    ("method", "message"),
    [("project", "lists project "), ("service", "service 'last' .* cannot be read")],
)
@pytest.mark.parametrize("read", READERS)
def test_what_is_shown_and_cannot_be_read_is_an_error(
    cut: Sandbox,
    read: Callable[[Client, Project], list[str]],
    method: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = client_of(cut)
    web = next(project for project in client.projects() if project.name == "web")
    refuse(monkeypatch, method, lambda number: True)
    with pytest.raises(UnexpectedAnswer, match=message):
        read(client, web)


def test_one_404_leaves_no_service_without_a_backup(cut: Sandbox) -> None:
    cut.fault("resources.get", "status", status=404, count=1)
    assert run(cut, BACKUP, name="nightly", family="GAME", wait=False)["changed"]
    assert writes(cut) == ["backups.create"]


@pytest.mark.parametrize("status", [404, 400])
def test_projects_that_are_refused_for_once_leave_no_service_without_a_backup(
    cut: Sandbox, status: int
) -> None:
    """Only a token that may not read them does without what is beyond the end of the list."""
    cut.fault("projects.list", "status", status=status, count=1)
    result = run(cut, BACKUP, name="nightly", family="GAME", wait=False)
    assert result["failed"] and f"the list of {LISTED} services may end early" in result["msg"]
    assert writes(cut) == []
    cut.fault("projects.list", "status", status=403, count=1)
    assert not run(cut, BACKUP, name="nightly", family="GAME", wait=False)["changed"]
    assert run(cut, BACKUP, name="nightly", family="GAME", wait=False)["changed"]


@pytest.mark.parametrize(
    ("route", "nth", "message"),
    [
        ("projects.list", 2, f"the list of {LISTED} services may end early"),
        ("projects.get", 1, "so its services are unknown"),
    ],
)
def test_a_project_is_not_taken_for_empty(cut: Sandbox, route: str, nth: int, message: str) -> None:
    """Its service would move to another one, with its place in the network."""
    cut.fault(route, "status", status=404, nth=nth, count=1 if nth > 1 else None)
    result = run(cut, PROJECT, name="web", state="absent")
    assert result["failed"] and message in result["msg"]
    assert writes(cut) == []


def refuse_pages(monkeypatch: pytest.MonkeyPatch, status: int, is_refused: Callable[[str], bool]) -> None:
    """Refuse to show some projects, by their names. With 404, they count as deleted."""
    read = Client.project

    def answer(client: Client, id: str) -> Any:
        name = next(project.name for project in client.projects() if project.id == id)
        if not is_refused(name):
            return read(client, id)
        if status == NOT_FOUND:
            return None
        raise error_for_status(f"GET /api/projects/{id}: not yours", status)

    monkeypatch.setattr(Client, "project", answer)


NOT_FOUND = 404
EMPTY: dict[str, Any] = {"name": "empty", "state": "absent"}


@pytest.fixture
def beside(cut: Sandbox) -> Sandbox:
    """The platform with a project that is empty, beside that with the service beyond the end of the list."""
    cut.api("POST", "/api/projects", {"name": "empty"})
    cut.clear_journal()
    return cut


@pytest.mark.parametrize("given", [EMPTY, {**EMPTY, "force": True}])
@pytest.mark.parametrize("status", [403, 404])
def test_the_page_of_another_project_does_not_keep_one_that_is_empty(
    beside: Sandbox, given: dict[str, Any], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token may never read that, or it was deleted since it was listed."""
    refuse_pages(monkeypatch, status, lambda name: name != "empty")
    assert run(beside, PROJECT, **given)["changed"]
    assert writes(beside) == ["projects.delete"]


def test_a_page_that_is_refused_keeps_no_project_where_the_list_is_whole(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then each service tells by itself where it is."""
    sandbox.api("POST", "/api/projects", {"name": "empty"})
    refuse_pages(monkeypatch, 403, lambda name: True)
    assert run(sandbox, PROJECT, **EMPTY)["changed"]
    result = run(sandbox, PROJECT, name="web", state="absent")
    assert result["failed"] and "services, which would join the default project" in result["msg"]


def test_what_the_page_of_another_project_shows_late_does_not_keep_one_that_is_empty(
    beside: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "service", lambda number: True)
    assert run(beside, PROJECT, **EMPTY)["changed"]
    assert writes(beside) == ["projects.delete"]


def test_a_project_is_emptied_and_deleted_though_its_page_is_late(
    cut: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is gone by its id is waited for, as its page may show it for a while."""
    client = client_of(cut)
    web = next(project for project in client.projects() if project.name == "web")
    late = client.project(web.id)
    assert late is not None
    assert run(cut, SERVICE, id=late.resources[0].id, state="absent", delete_backups=True)["changed"]
    read, shown = Client.project, [late] * 4

    def answer(client: Client, id: str) -> Any:
        return shown.pop() if shown and id == web.id else read(client, id)

    monkeypatch.setattr(Client, "project", answer)
    assert run(cut, PROJECT, name="web", state="absent")["changed"]
    assert writes(cut)[-1:] == ["projects.delete"] and shown == []


def test_what_a_page_shows_and_nobody_can_read_keeps_its_project(
    cut: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gateway may send 404 for a service that is there."""
    refuse(monkeypatch, "service", lambda number: True)
    result = run(cut, PROJECT, name="web", state="absent")
    assert result["failed"] and "service 'last'" in result["msg"] and "cannot be read" in result["msg"]
    assert "so project 'web' may not be empty" in result["msg"]
    assert writes(cut) == []
    assert run(cut, PROJECT, name="web", state="absent", force=True)["changed"]
    assert writes(cut) == ["projects.delete"]


@pytest.mark.parametrize("status", [403, 404])
def test_a_project_whose_own_page_is_refused_is_deleted_by_force_only(
    cut: Sandbox, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its own page tells whether it is empty."""
    refuse_pages(monkeypatch, status, lambda name: name == "web")
    result = run(cut, PROJECT, name="web", state="absent")
    assert result["failed"] and re.search("may end early|its services are unknown", result["msg"])
    assert writes(cut) == []
    assert run(cut, PROJECT, name="web", state="absent", force=True)["changed"]
    assert writes(cut) == ["projects.delete"]


@pytest.mark.parametrize("project", [None, "web"])
def test_no_blueprint_lacks_what_is_beyond_the_end_of_the_list(cut: Sandbox, project: str | None) -> None:
    """Prune would delete what the file lacks."""
    cut.fault("resources.get", "status", status=404, count=None)
    result = run(cut, BLUEPRINT_INFO, project=project)
    assert result["failed"] and "service 'last'" in result["msg"] and "cannot be read" in result["msg"]


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("projects", f"list of {LISTED} services may end early, and the projects, .* cannot be read: GET"),
        ("project", "lists project "),
    ],
)
def test_what_is_left_out_is_not_taken_for_free(
    cut: Sandbox, method: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(cut)
    assert "last" in [holding.name for holding in read_holdings(client, each=False).values()]
    refuse(monkeypatch, method, lambda number: True)
    with pytest.raises((NotFoundResponse, UnexpectedAnswer), match=message):
        read_holdings(client, each=False)


@pytest.mark.parametrize("reads", [0, 1])
def test_one_that_only_its_page_shows_is_still_paid(
    cut: Sandbox, monkeypatch: pytest.MonkeyPatch, reads: int
) -> None:
    """The list, which ends before it, does not tell that it is gone. What is just deleted may count, too."""
    client = client_of(cut)
    refuse(monkeypatch, "service", lambda number: number >= reads)
    assert "last" in [holding.name for holding in read_holdings(client, each=False).values()]


@pytest.mark.parametrize("check_mode", [True, False])
def test_nothing_is_resumed_on_a_budget_that_may_be_spent_already(cut: Sandbox, check_mode: bool) -> None:
    id = next(service.id for service in all_services(client_of(cut)) if service.name == "last")
    cut.clear_journal()
    cut.fault("projects.get", "status", status=404, count=None)
    result = run(cut, SERVICE, check_mode, id=id, state="resumed", budget={"account": "1000"})
    assert result["failed"] and "a budget is set, and what the account costs cannot be read" in result["msg"]
    assert writes(cut) == []


ORDER = {
    **{"name": "last", "product": "minecraft", "project": "web", "host": "node-paris-1"},
    "dimensions": {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10},
}


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("given", [ORDER, {"name": "last", "state": "absent"}])
def test_a_page_that_cannot_be_read_stops_what_it_may_show_to_be_wrong(
    cut: Sandbox, given: dict[str, Any], check_mode: bool
) -> None:
    """It has the service, which would be ordered again, or be reported as gone while it is billed."""
    cut.fault("projects.get", "status", status=404, count=None)
    result = run(cut, SERVICE, check_mode, **given)
    assert result["failed"] and "so its services are unknown. Run this again" in result["msg"]
    assert writes(cut) == []


@pytest.mark.parametrize("check_mode", [True, False])
def test_one_beyond_the_end_of_the_list_is_not_ordered_again_as_an_allowed_duplicate(
    cut: Sandbox, check_mode: bool
) -> None:
    """Such a task uses one of exactly the name in its project. Each run would order one more."""
    result = run(cut, SERVICE, check_mode, **ORDER, allow_duplicate_name=True)
    assert result["failed"] and "the list is incomplete. Nothing was done" in result["msg"]
    assert not set(writes(cut)) - {"order.quote"}


# --- A name that one of the list has, and one beyond its end ------------------------------------------------


@pytest.fixture
def twins(sandbox: Sandbox) -> Sandbox:
    """A platform that lists the service ``db`` of one project, and not that of another."""
    first = [{"name": f"n{number}", "product": "bucket"} for number in range(LISTED - 1)]
    pair = [{"name": "db", "product": "minecraft", "project": project} for project in ("test", "shop")]
    sandbox.reset(seed={"services": [*first, *pair]}, values=CUT)
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    assert [service["name"] for service in listed].count("db") == 1
    sandbox.clear_journal()
    return sandbox


def ids_of_twins(sandbox: Sandbox) -> dict[str, str]:
    """Return the id of each service that is named ``db``, by its project."""
    records = sandbox.control("GET", "/state")["records"]
    projects = {project["id"]: project["name"] for project in records["project"]}
    return {projects[each["project_id"]]: each["id"] for each in records["service"] if each["name"] == "db"}


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(
    ("resource", "given"),
    [(FILE, {"service": "db", "path": "x", "content": "y"}), (SERVICE, {"name": "db", "state": "absent"})],
)
def test_a_name_that_another_has_beyond_the_end_of_the_list_is_not_chosen(
    *, twins: Sandbox, resource: Resource, given: dict[str, Any], check_mode: bool
) -> None:
    result = run(twins, resource, check_mode, **given)
    assert result["failed"] and "2 services are named 'db'" in result["msg"]
    assert set(result["ids"]) == set(ids_of_twins(twins).values())
    assert writes(twins) == []


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize(
    ("route", "message"),
    [
        ("projects.list", "may end early, and the projects, .*, cannot be read: .* by its id"),
        ("projects.get", "lists project .* its services are unknown"),
    ],
)
def test_nothing_is_deleted_by_a_name_that_another_may_have(
    twins: Sandbox, route: str, message: str, check_mode: bool
) -> None:
    twins.fault(route, "status", status=404, count=None)
    result = run(twins, SERVICE, check_mode, name="db", state="absent", delete_backups=True)
    assert result["failed"] and re.search(message, result["msg"])
    assert writes(twins) == []
    listed = next(each for each in twins.api("GET", "/api/resources").json()["items"] if each["name"] == "db")
    assert run(twins, SERVICE, check_mode, id=listed["id"], state="absent", delete_backups=True)["changed"]


def test_a_name_to_order_by_is_looked_for_on_the_pages_that_there_are(twins: Sandbox) -> None:
    """What cannot be read is looked for again before an order."""
    twins.fault("projects.get", "status", status=404, count=None)
    assert len(find_services(client_of(twins), "db", None, None)) == 1


@pytest.mark.parametrize("project", ["test", "shop"])
def test_the_project_tells_the_two_apart(twins: Sandbox, project: str) -> None:
    wanted = ids_of_twins(twins)[project]
    assert run(twins, FILE, service="db", project=project, path="x", content="y")["changed"]
    assert run(twins, SERVICE, name="db", project=project, state="suspended", wait=False)["changed"]
    sent = [line["path"] for line in twins.journal() if line["method"] != "GET"]
    assert len(sent) == 2 and all(f"/{wanted}/" in path for path in sent)


@pytest.mark.parametrize("project", ["test", "shop"])
def test_one_404_lets_none_of_the_two_count_as_gone(
    twins: Sandbox, project: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list does not show the other one, so it does not tell whether it is gone."""
    client = client_of(twins)
    home = next(each for each in client.projects() if each.name == project)
    for failing in range(4):
        with monkeypatch.context() as patched:
            refuse(patched, "service", lambda number, failing=failing: number == failing)  # type: ignore[misc]
            found = find_services(client, "db", home, None, certain=True)
            assert [each.id for each in found] == [ids_of_twins(twins)[project]], failing


def test_an_id_of_the_list_takes_no_look_at_the_projects(twins: Sandbox) -> None:
    assert run(twins, FILE_INFO, service=ids_of_twins(twins)["test"], path="")["files"] == []
    assert not {"projects.list", "projects.get"} & set(calls(twins))


def test_only_services_of_the_name_are_read(twins: Sandbox) -> None:
    """There may be thousands beyond the end of the list."""
    twins.reset(seed={"services": [{"name": f"n{n}", "product": "bucket"} for n in range(60)]}, values=CUT)
    twins.clear_journal()
    run(twins, FILE_INFO, service="n1", path="")
    assert calls(twins).count("resources.get") == 1, "the service itself"
