# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is ordered twice: what is there under the name, wherever it went, is found before an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.namesakes import (
    check_namesakes,
    order_record,
    remember_order,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import likely_meant
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import calls, id_of, run, writes
from unit.plugins.module_utils._resources.platform import renaming as renamed

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"product": "minecraft", "host": "node-paris-1", "dimensions": SIZE}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what is remembered of orders apart."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))


@pytest.fixture
def platform(sandbox: Sandbox) -> Sandbox:
    """An account without services, whose clock stands still but between the steps of a test."""
    sandbox.reset(delays={"provision": 0, "start": 0})
    sandbox.clock(freeze=True)
    return sandbox


def create(platform: Sandbox, name: str) -> str:
    platform.clock(advance=60)
    platform.api("POST", "/api/projects", {"name": name})
    projects = platform.api("GET", "/api/projects").json()
    return next(str(project["id"]) for project in projects if project["name"] == name)


def order(
    platform: Sandbox, name: str = "survival", check_mode: bool = False, **given: Any
) -> dict[str, Any]:
    platform.clock(advance=60)
    platform.clear_journal()
    return run(platform, SERVICE, check_mode, **{**ORDER, "name": name, **given})


def ordered(platform: Sandbox) -> list[str]:
    return [entry["name"] for entry in platform.ledger()["orders"]]


def said(result: dict[str, Any]) -> str:
    return "\n".join(result.get("warnings", []))


def refused(platform: Sandbox, result: dict[str, Any]) -> bool:
    """Tell whether nothing was ordered and nothing else changed."""
    return (
        bool(result.get("failed")) and not result["changed"] and not set(writes(platform)) - {"order.quote"}
    )


# --- Names are what they are ----------------------------------------------------------------------------


def test_names_that_are_nearly_the_same_are_ordered_beside_each_other(platform: Sandbox) -> None:
    names = ["web-app", "webapp", "Web-App", "map 1", "map-1", "caché", "cache"]
    for check_mode in (True, False):
        for name in names:
            result = order(platform, name, check_mode)
            assert result["changed"] and "warnings" not in result
    assert not any(order(platform, name)["changed"] for name in names)
    assert ordered(platform) == names


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_project_gets_the_names_of_another_one(platform: Sandbox, check_mode: bool) -> None:
    create(platform, "production")
    create(platform, "staging")
    for name in ("web", "cache"):
        assert order(platform, name, project="production")["changed"]
    smaller = {**SIZE, "ram_gb": 2}
    for name in ("web", "cache"):
        result = order(platform, name, check_mode, project="staging", dimensions=smaller)
        assert result["changed"] and "warnings" not in result
    assert ordered(platform) == ["web", "cache"] * (1 if check_mode else 2)


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("there", [False, True])
def test_what_stays_in_another_project_is_told_with_the_ways_to_move_it(
    platform: Sandbox, check_mode: bool, there: bool
) -> None:
    """The play may have had the other project before."""
    create(platform, "shop")
    assert order(platform, project="shop")["changed"]
    if there or not check_mode:
        create(platform, "webshop")
    result = order(platform, check_mode=check_mode, project="webshop")
    (warning,) = [said for said in result["warnings"] if "unknown project" not in said]
    id = id_of(platform, "survival") if check_mode else ordered_ids(platform)[0]
    assert warning == (
        f"service 'survival' ({id}) of this product and size stays in project 'shop' and is billed; another "
        f"one is ordered. To move that one instead: hosted.services.service, id: {id} and new_project: "
        "'webshop'. To rename the project: hosted.services.project, name: 'shop' and new_name: 'webshop'"
    )
    assert not order(platform, project="shop").get("warnings")


def ordered_ids(platform: Sandbox) -> list[str]:
    return [entry["id"] for entry in sorted(platform.api("GET", "/api/resources").json()["items"],
                                            key=lambda entry: str(entry["createdAt"]))]  # fmt: skip


@pytest.mark.parametrize("given", [{}, {"state": "started"}])
def test_without_a_project_the_default_one_comes_first(platform: Sandbox, given: dict[str, Any]) -> None:
    assert order(platform)["changed"]
    create(platform, "staging")
    assert order(platform, project="staging", allow_duplicate_name=True)["changed"]
    result = order(platform, **given)
    assert not result["changed"] and result["service"]["id"] == ordered_ids(platform)[0]


@pytest.mark.parametrize("state", ["absent", "stopped", "restarted", "suspended", "resumed"])
def test_what_stops_or_deletes_is_not_guessed(platform: Sandbox, state: str) -> None:
    assert order(platform)["changed"]
    create(platform, "staging")
    assert order(platform, project="staging", allow_duplicate_name=True)["changed"]
    platform.clear_journal()
    result = run(platform, SERVICE, name="survival", state=state)
    assert result["failed"] and all(id in result["msg"] for id in ordered_ids(platform))
    assert writes(platform) == []


# --- The same playbook, run again -----------------------------------------------------------------------


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_service_whose_project_was_deleted_is_not_ordered_again(
    platform: Sandbox, check_mode: bool
) -> None:
    """It joined the default project, where the playbook does not look for it."""
    project = create(platform, "games")
    assert order(platform, project="games")["changed"]
    platform.api("DELETE", f"/api/projects/{project}")
    if not check_mode:  # which goes on without the project, as an earlier task may be about to create it
        create(platform, "games")
    result = order(platform, check_mode=check_mode, project="games")
    assert refused(platform, result)
    id = id_of(platform, "survival")
    assert (
        f"service 'survival' ({id}) was ordered for project 'games' and is in the default project"
        in result["msg"]
    )
    assert f"id: {id} and new_project: 'games'; or set allow_duplicate_name: true" in result["msg"]
    assert result["namesakes"] == [id]
    assert ordered(platform) == ["survival"]
    gone = run(platform, SERVICE, check_mode, name="survival", project="games", state="absent")
    assert not gone["changed"] and f"survival' ({id}), which was ordered as that, exists" in said(gone)
    if not check_mode:
        assert order(platform, project="games", allow_duplicate_name=True)["changed"]


def test_what_the_default_project_has_is_told_once(platform: Sandbox) -> None:
    """Services of a project that was deleted join it, and this controller may not have ordered them."""
    assert order(platform)["changed"]
    create(platform, "games")
    for check_mode in (True, False):
        result = order(platform, project="games", check_mode=check_mode)
        (warning,) = result["warnings"]
        assert result["changed"] and "which services of a deleted project join" in warning
    assert "warnings" not in order(platform, project="games")
    assert ordered(platform) == ["survival"] * 2


def test_an_order_reads_the_services_to_plan_right_before_it_is_sent_and_after_it(platform: Sandbox) -> None:
    """Services may come between the plan and the order; those that came up with it are told."""
    create(platform, "staging")
    assert order(platform)["changed"]
    kept = ("resources.list", "projects.list", "order.quote", "order.create")
    assert [route for route in calls(platform) if route in kept] == [
        "resources.list", "order.quote", "resources.list", "order.create", "resources.list",
    ]  # fmt: skip


def test_a_namesake_of_another_product_is_another_service(platform: Sandbox) -> None:
    assert order(platform, product="factorio")["changed"]
    create(platform, "games")
    assert order(platform, project="games")["changed"]
    assert len(ordered(platform)) == 2


def test_numbers_are_told_apart(platform: Sandbox) -> None:
    for name in ("shop 1.1", "shop 11", "shop 1"):
        assert order(platform, name)["changed"]
    assert len(ordered(platform)) == 3


NAMED_BY: dict[str, Callable[[str], str]] = {
    "cut": lambda name: name[:8],
    "prefix": lambda name: f"acme/{name}",
    "suffix": lambda name: f"{name}-1",
    "HTML": lambda name: name.replace("&", "&amp;"),
    "own": lambda name: "server 4711",
}
RENAMED = "Tom & Jerry"


@pytest.fixture
def renaming(platform: Sandbox, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a platform whose answers show the name in another form."""
    with renamed(platform, RENAMED, NAMED_BY[request.param](RENAMED)) as url:
        yield url


@pytest.mark.parametrize("renaming", NAMED_BY, indirect=True)
def test_a_name_that_the_platform_changes_as_it_likes_is_not_ordered_again(
    platform: Sandbox, renaming: str
) -> None:
    first = order(platform, RENAMED, base_url=renaming)
    assert "the platform named the new service" in said(first) + first.get("msg", "")
    for check_mode in (True, False):
        again = order(platform, RENAMED, check_mode, base_url=renaming)
        assert refused(platform, again)
        assert id_of(platform, RENAMED) in again["msg"] and "Nothing was ordered" in again["msg"]
    assert ordered(platform) == [RENAMED]
    assert refused(platform, order(platform, RENAMED, base_url=renaming, allow_duplicate_name=True))
    assert ordered(platform) == [RENAMED]


@pytest.mark.parametrize("others", [0, 9, 19])
def test_a_task_that_changes_nothing_reads_nothing_twice(platform: Sandbox, others: int) -> None:
    """However many services there are, and wherever."""
    create(platform, "games")
    assert order(platform, project="games")["changed"]
    platform.seed({"services": [{"name": f"n{n}", "product": "bucket"} for n in range(others)]})
    platform.clock(advance=3600)
    order(platform, project="games", state="started")
    found = ["projects.list", "resources.list", "resources.get"]
    assert calls(platform) == [*found, "resources.metrics"]
    for resource, given, more in (
        (FILE_INFO, {"service": "survival", "path": ""}, "files.list"),
        (BACKUP, {"services": ["survival"], "name": "gone", "state": "absent"}, "backups.list"),
    ):
        platform.clear_journal()
        assert not run(platform, resource, project="games", **given)["changed"]
        assert calls(platform)[: len(found) + 1] == [*found, more]
    platform.clear_journal()
    run(platform, BACKUP, project="games", name="gone", state="absent")
    assert calls(platform) == [
        "projects.list",
        "resources.list",
        "projects.get",
        "resources.get",
        "backups.list",
    ]


# --- Slips of the pen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_near_miss_is_named_in_check_mode(platform: Sandbox, state: str) -> None:
    order(platform)
    assert "did you mean 'survival'?" in said(order(platform, "survivla", True, state=state))
    assert "warnings" not in order(platform, "survivla", state=state)
    assert "warnings" not in order(platform, check_mode=True, state=state)


@pytest.mark.parametrize(
    ("wanted", "names", "meant"),
    [
        ("survivla", ["creative", "survival"], "survival"),
        ("Survivla", ["survival", "survivel"], None),
        ("web-1", ["web-2"], None),
        ("worker-12345", ["worker-12346"], None),
        ("shop-eu", ["shop-us"], None),
        ("web-app", ["webapp", "Web-App"], None),
        ("game-server-eu", ["game-server-usa"], None),
        ("game-sevrer-eu", ["game-server-eu", "game-server-us"], "game-server-eu"),
        ("staging-db", ["production-db"], None),
        ("caché", ["cache"], None),
        ("database", ["databases-main"], None),
        ("db", [], None),
    ],
)
def test_a_slip_is_told_from_a_series_and_a_family_of_names(
    wanted: str, names: list[str], meant: str | None
) -> None:
    assert likely_meant(wanted, names) == meant


# --- What stops an order, and what is only told ---------------------------------------------------------


def checked(account: FakeClient, **given: Any) -> None:
    """Check an order of a service named `web` of product `nginx`."""
    task = task_of(SERVICE, account, **{"name": "web", "product": "nginx", **given})
    check_namesakes(task, None, account.services())


@pytest.mark.parametrize(
    ("name", "product", "stops"),
    [("web", "nginx", True), ("Web", "nginx", False), ("database", "nginx", False), ("web", "apache", False)],
)
def test_only_a_namesake_of_the_product_tells_its_family(name: str, product: str, stops: bool) -> None:
    account = FakeClient()
    account.add_service("svc_1", name, product={"slug": product})
    if not stops:
        checked(account, family="GAME")
        return
    with pytest.raises(Invalid, match=r"is of family APP, not GAME\. Nothing was ordered") as error:
        checked(account, family="GAME")
    assert error.value.details["namesakes"] == ["svc_1"]


# --- Nothing to delete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [None, "games"])
def test_what_this_controller_ordered_by_the_name_is_told_when_there_is_nothing_to_delete(
    place: str | None,
) -> None:
    account = FakeClient()
    account.add_project("prj_games", "games")
    account.add_service("svc_1", "server-7")
    task = task_of(SERVICE, account, state="absent", name="web", project=place)
    project = next((each for each in account.projects() if each.name == place), None)
    remember_order(task, project, "svc_1")
    assert not SERVICE.plan(task).changed
    (said,) = task.warnings
    assert "service 'server-7' (svc_1), which was ordered as that, exists and was left alone" in said


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "svc_1"}, "service 'web' (svc_1) exists: 'svc_1' is its id, not its name"),
        ({"id": "web"}, "service 'web' (svc_1) exists: 'web' is its name, not its id"),
        ({"name": "Web"}, None),
        ({"name": "web", "family": "GAME"}, None),
        ({"name": "web", "project": "games"}, None),
        ({"name": "databsae"}, None),
        ({"id": "9", "name": "web"}, None),
    ],
)
def test_a_deletion_of_nothing_says_only_what_is_surely_wrong(
    given: dict[str, Any], told: str | None
) -> None:
    account = FakeClient()
    account.add_service("svc_1", "web")
    account.add_service("x-2", "database")
    task = task_of(SERVICE, account, state="absent", **given)
    assert not SERVICE.plan(task).changed
    assert (told or "") in "".join(task.warnings) and len(task.warnings) == (1 if told else 0)


# --- A wrong family -------------------------------------------------------------------------------------


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_service_of_another_family_is_not_doubled(platform: Sandbox, check_mode: bool) -> None:
    """The product decides the family, so a family that differs is a slip, on this run and on the next."""
    assert order(platform)["changed"]
    result = order(platform, check_mode=check_mode, family="COMPUTE")
    assert refused(platform, result)
    assert "is of family GAME, not COMPUTE" in result["msg"]
    assert ordered(platform) == ["survival"]


@pytest.mark.parametrize("given", [{}, {"allow_duplicate_name": True}])
def test_a_wrong_family_costs_one_order_at_most(platform: Sandbox, given: dict[str, Any]) -> None:
    """Which family a product has is known only once it is ordered."""
    assert order(platform, family="COMPUTE", **given)["failed"]
    for _retry in range(3):
        assert order(platform, family="COMPUTE", **given)["failed"]
    assert ordered(platform) == ["survival"]


# --- Two tasks at once ----------------------------------------------------------------------------------


def test_tasks_of_one_controller_order_a_name_one_after_the_other(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the forks of a play over several hosts do: all plan an order before the first one places it."""
    forks, place = Barrier(4, timeout=300), Ordering.place

    def place_together(ordering: Ordering) -> str:
        forks.wait()
        return place(ordering)

    monkeypatch.setattr(Ordering, "place", place_together)
    with ThreadPoolExecutor(forks.parties) as pool:
        results = list(pool.map(lambda _fork: order(platform), range(forks.parties)))
    assert ordered(platform) == ["survival"]
    assert sum("appeared before it was ordered" in said(result) for result in results) == 3


# --- What is remembered of an order ---------------------------------------------------------------------


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_a_damaged_record_holds_nothing_and_is_replaced(content: str) -> None:
    account = FakeClient()
    account.add_service("svc_1", "server-7")
    task = task_of(SERVICE, account, name="web", product="nginx")
    remember_order(task, None, "svc_1")
    Path(order_record(task, None).path).write_text(content)
    check_namesakes(task, None, account.services())
    remember_order(task, None, "svc_1")
    with pytest.raises(Invalid, match=r"'server-7' \(svc_1\) is what an earlier order of 'web' became"):
        check_namesakes(task, None, account.services())


def test_a_record_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "hosted_services").write_text("no folder")
    task = task_of(SERVICE, FakeClient(), name="web")
    remember_order(task, None, "svc_1")
    (warning,) = task.warnings
    assert "what was ordered cannot be kept in" in warning
    assert warning.endswith("Without that, a later run may order another service")
