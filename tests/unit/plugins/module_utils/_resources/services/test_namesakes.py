# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is ordered twice: what is there under the name, wherever it went, is found before an order."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Project
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import namesakes
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import same_name
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import calls, id_of, run, writes

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"product": "minecraft", "host": "node-paris-1", "dimensions": SIZE}


@pytest.fixture
def platform(sandbox: Sandbox, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    """An account without services, whose clock stands still but between the steps of a test."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
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
    assert "it is in project 'default', which is the default project as far as can be told" in result["msg"]
    assert f"Either set id: {id} and new_project: games, to move it" in result["msg"]
    assert "or set allow_duplicate_name: true, to order another one" in result["msg"]
    assert result["namesakes"] == [id]
    assert ordered(platform) == ["survival"]


def test_the_explicit_word_orders_another_one(platform: Sandbox) -> None:
    assert order(platform)["changed"]
    create(platform, "games")
    assert refused(platform, order(platform, project="games"))
    result = order(platform, project="games", allow_duplicate_name=True)
    assert result["changed"] and "one more is ordered" in said(result)
    assert not order(platform, project="games", allow_duplicate_name=True)["changed"]
    assert ordered(platform) == ["survival"] * 2


def test_a_service_that_the_page_of_its_project_does_not_show_yet_is_not_ordered_again(
    platform: Sandbox,
) -> None:
    create(platform, "games")
    platform.delays(project_page=36000)
    assert order(platform, project="games")["changed"]
    result = order(platform, project="games")
    assert not result["changed"] and not result.get("failed"), result
    assert ordered(platform) == ["survival"]


def test_a_new_and_empty_project_says_nothing_of_a_service_that_is_older(platform: Sandbox) -> None:
    """Projects are told apart by ids: one that was created anew is another one, under the old name."""
    create(platform, "old")
    assert order(platform, project="old")["changed"]
    create(platform, "new")
    result = order(platform, project="new")
    assert refused(platform, result)
    assert "it is in project 'old', while project 'new' came after it and is empty" in result["msg"]


def test_the_first_service_of_a_new_project_does_not_open_the_way_for_doubles(platform: Sandbox) -> None:
    """As where a project was renamed by hand, and the play makes another one under the old name."""
    project = create(platform, "games")
    for name in ("survival", "creative"):
        assert order(platform, name, project="games")["changed"]
    platform.api("PATCH", f"/api/projects/{project}", {"name": "spiele"})
    create(platform, "games")
    assert order(platform, "lobby", project="games")["changed"]
    for name in ("survival", "creative"):
        assert refused(platform, order(platform, name, project="games"))
    assert ordered(platform) == ["survival", "creative", "lobby"]


def test_a_namesake_in_another_named_project_is_a_warning(platform: Sandbox) -> None:
    create(platform, "staging")
    create(platform, "production")
    assert order(platform, project="staging")["changed"]
    result = order(platform, project="production")
    assert result["changed"]
    assert f"exists in another project (id {id_of(platform, 'survival')}); one more is ordered" in said(
        result
    )
    assert "set its id and new_project" in said(result)
    assert ordered(platform) == ["survival"] * 2


def test_an_order_reads_the_projects_once_and_the_services_twice(platform: Sandbox) -> None:
    """Services may come between the plan and the order. A namesake in another project needs no more calls."""
    create(platform, "staging")
    assert order(platform)["changed"]
    reads = calls(platform)
    quoted, placed = reads.index("order.quote"), reads.index("order.create")
    assert reads[:placed].count("projects.list") == 1
    assert "resources.list" in reads[:quoted] and "resources.list" in reads[quoted:placed]


def test_a_namesake_of_another_product_is_another_service(platform: Sandbox) -> None:
    assert order(platform, product="factorio")["changed"]
    create(platform, "games")
    assert order(platform, project="games")["changed"]
    assert len(ordered(platform)) == 2


@pytest.mark.parametrize("given", [{}, {"project": "games"}])
def test_a_name_that_the_platform_normalised_is_not_ordered_again(
    platform: Sandbox, given: dict[str, Any]
) -> None:
    platform.profile("plain", **{"service.name": "single spaces"})
    create(platform, "games")
    first = order(platform, "my  server", **given)
    assert "the platform named the new service 'my server', not 'my  server'" in said(first)
    again = order(platform, "my  server", **given)
    assert refused(platform, again)
    assert "differs from 'my  server' only in what a platform may change in a name" in again["msg"]
    assert ordered(platform) == ["my server"]


def test_an_order_whose_answer_is_lost_is_known_by_a_normalised_name(platform: Sandbox) -> None:
    platform.profile("plain", **{"service.name": "single spaces"})
    platform.fault("order.create", "reset", when="after")
    result = order(platform, "my  server")
    assert result["changed"] and result["service"]["name"] == "my server"
    assert ordered(platform) == ["my server"]


def test_a_name_that_the_next_run_would_not_find_fails_the_task(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform may cut names, say. The order is placed, but no schedule must go on to place another one."""
    monkeypatch.setattr(namesakes, "same_name", lambda one, other: one == other)
    platform.profile("plain", **{"service.name": "single spaces"})
    result = order(platform, "my  server")
    assert result["failed"] and result["changed"]
    assert result["service_id"] == id_of(platform, "my server")
    assert "by the other name it will not be found, and another one would be ordered" in result["msg"]


SPELLINGS = ["My Game Server EU no 1", "my-game-server-eu-no-1", "My Game_Server (EU), no. 1!"]


@pytest.mark.parametrize("other", SPELLINGS)
def test_names_that_differ_in_punctuation_alone_are_alike(other: str) -> None:
    assert same_name("My Game_Server (EU) no. 1", other)
    assert not same_name("My Game_Server (EU) no. 2", other)
    assert not same_name("!", "?")


# --- Slips of the pen -----------------------------------------------------------------------------------


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_near_miss_is_named_where_an_order_would_be_placed(platform: Sandbox, check_mode: bool) -> None:
    order(platform)
    id = id_of(platform, "survival")
    result = order(platform, "survivla", check_mode)
    assert result["changed"]
    assert (
        f"there is no service named 'survivla', so one is ordered; did you mean 'survival' ({id})?"
        in said(result)
    )
    platform.clear_journal()
    assert "did you mean" not in said(order(platform))


@pytest.mark.parametrize(
    ("name", "given", "warning"),
    [
        ("survivla", {}, "no service named 'survivla'; did you mean 'survival'? Nothing was deleted"),
        (
            "survival",
            {"family": "APP"},
            "APP, but GAME service 'survival' exists (id {id}) and was left alone",
        ),
        (
            "survival",
            {"project": "games"},
            "'games', but GAME service 'survival' exists (id {id})",
        ),
        ("survival", {"project": "gone"}, "in project 'gone', but GAME service 'survival' exists (id {id})"),
        ("creative", {}, None),
    ],
)
@pytest.mark.parametrize("check_mode", [True, False])
def test_a_deletion_of_what_is_not_there_names_what_is(
    platform: Sandbox, name: str, given: dict[str, Any], warning: str | None, check_mode: bool
) -> None:
    order(platform)
    create(platform, "games")
    platform.clear_journal()
    result = run(platform, SERVICE, check_mode, name=name, state="absent", **given)
    assert not result["changed"] and not result.get("failed"), result
    assert writes(platform) == []
    warnings = result.get("warnings", [])
    assert len(warnings) == (1 if warning else 0)
    assert (warning or "").format(id=id_of(platform, "survival")) in said(result)


@pytest.mark.parametrize(
    ("wanted", "names", "slip"),
    [
        ("survivla", ["creative", "survival"], "survival"),
        ("Postgres", ["postgresql"], "postgresql"),
        ("web-1", ["web-2"], None),
        ("web10", ["web1"], None),
        ("shop-123", ["shop-main"], None),
        ("shop-12345", ["shop-1234x"], "shop-1234x"),
        ("shop-eu", ["shop-us"], None),
        ("staging-db", ["production-db"], None),
        ("db", [], None),
    ],
)
def test_a_slip_is_told_from_a_series(wanted: str, names: list[str], slip: str | None) -> None:
    assert namesakes.similar_name(wanted, names) == slip


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("my server", "My  Server", True),
        ("my server", "my-server", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("web1", "web-1", False),
        ("web", "wed", False),
    ],
)
def test_what_a_platform_may_make_of_a_name(one: str, other: str, same: bool) -> None:
    assert same_name(one, other) is same


def test_the_default_project_is_taken_to_be_the_oldest() -> None:
    projects = [
        Project(id="b", name="b", created_at="2026-02-01T00:00:00.000Z"),
        Project(id="a", name="a", created_at="2026-01-01T00:00:00.000Z"),
    ]
    assert namesakes.oldest_projects(projects) == {"a"}
    assert namesakes.oldest_projects([*projects, Project(id="c", name="c")]) == {"a", "c"}


# --- A wrong family -------------------------------------------------------------------------------------


@pytest.mark.parametrize("check_mode", [False, True])
def test_a_service_of_another_family_is_not_doubled(platform: Sandbox, check_mode: bool) -> None:
    """The product decides the family, so a family that differs is a slip, on this run and on the next."""
    assert order(platform)["changed"]
    result = order(platform, check_mode=check_mode, family="COMPUTE")
    assert refused(platform, result)
    assert "is of family GAME, not COMPUTE" in result["msg"]
    assert ordered(platform) == ["survival"]


def test_a_wrong_family_costs_one_order_at_most(platform: Sandbox) -> None:
    """Which family a product has is known only once it is ordered."""
    assert order(platform, family="COMPUTE")["failed"]
    for _retry in range(3):
        assert order(platform, family="COMPUTE")["failed"]
    assert ordered(platform) == ["survival"]


# --- Two tasks at once ----------------------------------------------------------------------------------


def test_tasks_of_one_controller_order_a_name_one_after_the_other(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the forks of a play over several hosts do: all plan an order before the first one places it."""
    forks, place = Barrier(4, timeout=60), Ordering.place

    def place_together(ordering: Ordering) -> str:
        forks.wait()
        return place(ordering)

    monkeypatch.setattr(Ordering, "place", place_together)
    with ThreadPoolExecutor(forks.parties) as pool:
        results = list(pool.map(lambda _fork: order(platform), range(forks.parties)))
    assert ordered(platform) == ["survival"]
    assert sum("appeared before it was ordered" in said(result) for result in results) == 3
