# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is ordered twice: what is there under the name, wherever it went, is found before an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Refused,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import Project, ServiceSummary
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import (
    given_names,
    namesakes,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.given_names import (
    GivenNames,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import same_name
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
    assert f"Either set id: {id} in place of name and new_project: games, to move it" in result["msg"]
    assert "or set allow_duplicate_name: true, to order another one" in result["msg"]
    assert result["namesakes"] == [id]
    assert ordered(platform) == ["survival"]


def test_the_explicit_word_orders_another_one(platform: Sandbox) -> None:
    assert order(platform)["changed"]
    create(platform, "games")
    assert refused(platform, order(platform, project="games"))
    result = order(platform, project="games", allow_duplicate_name=True)
    assert result["changed"] and "another one is ordered" in said(result)
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
    assert "it is in project 'old', while project 'new' is newer and is empty" in result["msg"]


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
    assert f"exists in another project (id {id_of(platform, 'survival')}); another one is ordered" in said(
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
def test_a_name_that_the_platform_normalized_is_not_ordered_again(
    platform: Sandbox, given: dict[str, Any]
) -> None:
    platform.profile("plain", **{"service.name": "single spaces"})
    create(platform, "games")
    first = order(platform, "my  server", **given)
    assert "the platform named the new service 'my server', not 'my  server'" in said(first)
    again = order(platform, "my  server", **given)
    assert refused(platform, again)
    assert "differs from 'my  server' only in characters that a platform may change" in again["msg"]
    assert ordered(platform) == ["my server"]


def test_a_name_that_the_platform_writes_in_lower_case_is_not_ordered_again(platform: Sandbox) -> None:
    platform.profile("plain", **{"service.name": "lower case"})
    assert "the platform named the new service 'server', not 'Server'" in said(order(platform, "Server"))
    assert refused(platform, order(platform, "Server"))
    assert ordered(platform) == ["server"]


@pytest.mark.parametrize(
    ("stored", "wanted"), [("Cafe", "Café"), ("nodejs shop", "node.js shop"), ("Johns world", "John's world")]
)
def test_a_name_without_its_accents_or_punctuation_is_not_ordered_again(
    platform: Sandbox, stored: str, wanted: str
) -> None:
    """As the platform may have stored it; each run would order one more."""
    assert order(platform, stored)["changed"]
    assert refused(platform, order(platform, wanted))
    assert order(platform, wanted, allow_duplicate_name=True)["changed"]
    assert ordered(platform) == [stored, wanted]


def test_numbers_are_told_apart(platform: Sandbox) -> None:
    for name in ("shop 1.1", "shop 11", "shop 1"):
        assert order(platform, name)["changed"]
    assert len(ordered(platform)) == 3


def test_an_order_whose_answer_is_lost_is_known_by_a_normalized_name(platform: Sandbox) -> None:
    platform.profile("plain", **{"service.name": "single spaces"})
    platform.fault("order.create", "reset", when="after")
    result = order(platform, "my  server")
    assert result["changed"] and result["service"]["name"] == "my server"
    assert ordered(platform) == ["my server"]


def test_a_name_that_the_next_run_would_not_find_fails_the_task(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A platform may cut names, say. The order is placed, but no schedule must go on to place another one."""
    monkeypatch.setattr(given_names, "may_be_one", lambda one, other: one == other)
    platform.profile("plain", **{"service.name": "single spaces"})
    result = order(platform, "my  server")
    assert result["failed"] and result["changed"]
    assert result["service_id"] == id_of(platform, "my server")
    assert "tasks that use the other name will not find it. This controller does not order" in result["msg"]


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
    order(platform, RENAMED, base_url=renaming, allow_duplicate_name=True)
    assert ordered(platform) == [RENAMED] * 2
    for check_mode in (True, False):  # the option stays in the playbook
        again = order(platform, RENAMED, check_mode, base_url=renaming, allow_duplicate_name=True)
        assert refused(platform, again)
    assert ordered(platform) == [RENAMED] * 2


@pytest.mark.parametrize("lost", [False, True])
@pytest.mark.parametrize("given", [{}, {"project": "games"}])
def test_a_task_that_allows_duplicates_orders_its_own_service_once(
    platform: Sandbox, given: dict[str, Any], lost: bool
) -> None:
    """It allows those of other projects. What its own order became is found by another name."""
    platform.profile("plain", **{"service.name": "lower case"})
    create(platform, "games")
    if given:
        assert order(platform, "Server")["changed"]
    before = ordered(platform)
    if lost:
        platform.fault("order.create", "reset", when="after")
    first = order(platform, "Server", **given, allow_duplicate_name=True)
    assert first["failed"] and first["changed"]
    assert "the platform named the new service 'server', not 'Server'" in first["msg"]
    assert "This controller does not order it again, but another controller would" in first["msg"]
    for check_mode in (True, False):
        again = order(platform, "Server", check_mode, **given, allow_duplicate_name=True)
        assert refused(platform, again)
        assert f"Use that name, or id: {first['service_id']}; or remove /" in again["msg"]
        assert again["namesakes"] == [first["service_id"]]
    assert ordered(platform) == [*before, "server"]
    assert not order(platform, "server", **given, allow_duplicate_name=True, id=first["service_id"])[
        "changed"
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_an_allowed_duplicate_is_remembered_before_anything_else_can_fail(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """What is killed right after the response has not seen how the platform named the service."""

    def killed(*_args: Any) -> str:
        raise KeyboardInterrupt

    if not kept:
        platform.profile("plain", **{"service.name": "lower case"})
    given: dict[str, Any] = {"project": "games", "allow_duplicate_name": True}
    create(platform, "games")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Ordering, "_identified", killed)
        order(platform, "Server", **given)
    again = order(platform, "Server", **given)
    assert ordered(platform) == ["Server" if kept else "server"]
    assert not again["changed"] if kept else refused(platform, again)


def interrupted(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any], sends: bool = True) -> None:
    """End a run before it sees the response to its order, or before it sends that."""
    send = Client.order

    def send_and_end(client: Client, body: dict[str, Any]) -> None:
        if sends:
            send(client, body)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Client, "order", send_and_end)
        work()


@pytest.mark.parametrize("allowed", [True, False])
@pytest.mark.parametrize("named", ["trimmed", "single spaces", "lower case", "escaped for HTML"])
def test_what_a_killed_run_ordered_is_not_ordered_again(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch, named: str, allowed: bool
) -> None:
    """The run did not see how the platform named the service, and only the note of its order is left."""
    platform.profile("plain", **{"service.name": named})
    create(platform, "games")
    given: dict[str, Any] = {"project": "games", "allow_duplicate_name": allowed, "name": " Tom  & Ann "}
    interrupted(monkeypatch, lambda: order(platform, **given))
    (made,) = ordered(platform)
    assert made != given["name"]
    for check_mode in (True, False, False):
        platform.clear_journal()
        again = run(platform, SERVICE, check_mode, **ORDER, **given)
        assert refused(platform, again), again
        assert again["namesakes"] == [id_of(platform, made)] and "Nothing was ordered" in again["msg"]
    assert ordered(platform) == [made]


def test_an_order_that_a_killed_run_did_not_send_is_sent_by_the_next_one(
    platform: Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Services that were there before, and those of other projects and products, are not taken for it."""
    platform.profile("plain", **{"service.name": "lower case"})
    create(platform, "games")
    assert order(platform, "server", project="games")["changed"]
    platform.clock(advance=60)
    given: dict[str, Any] = {"name": "Server", "project": "games", "allow_duplicate_name": True}
    interrupted(monkeypatch, lambda: order(platform, **given), sends=False)
    for others in ({"name": "server", "project": "default"}, {"name": "SERVER", "product": "linux"}):
        run(platform, SERVICE, **{**ORDER, **given, **others})
    assert ordered(platform) == ["server"] * 3
    assert len(list(tmp_path.rglob("unkept/*"))) == 1, "the note of the order that was not sent"
    run(platform, SERVICE, **ORDER, **given)
    assert ordered(platform) == ["server"] * 4


def test_what_the_task_ordered_and_was_moved_away_does_not_stop_another_order(platform: Sandbox) -> None:
    """As with a service that kept its name, which is not found there either."""
    platform.profile("plain", **{"service.name": "lower case"})
    create(platform, "games")
    order(platform, "Server", project="games", allow_duplicate_name=True)
    default = next(
        each["id"] for each in platform.api("GET", "/api/projects").json() if each["name"] != "games"
    )
    platform.api("PUT", f"/api/resources/{id_of(platform, 'server')}/project", {"projectId": default})
    order(platform, "Server", project="games", allow_duplicate_name=True)
    assert ordered(platform) == ["server"] * 2
    assert refused(platform, order(platform, "Server", project="games", allow_duplicate_name=True))


@pytest.mark.parametrize("renaming", ["cut", "prefix", "suffix", "HTML"], indirect=True)
def test_an_order_whose_response_is_lost_and_whose_name_is_changed_is_not_repeated(
    platform: Sandbox, renaming: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.5)
    platform.fault("order.create", "reset", when="after")
    lost = order(platform, RENAMED, base_url=renaming)
    assert lost["failed"] and "appeared since, which it may be" in lost["msg"]
    assert f"({id_of(platform, RENAMED)})" in lost["msg"]
    assert refused(platform, order(platform, RENAMED, base_url=renaming))
    assert ordered(platform) == [RENAMED]


@pytest.mark.parametrize("renaming", ["prefix"], indirect=True)
def test_a_lost_order_is_not_repeated_by_a_task_that_allows_duplicates(
    platform: Sandbox, renaming: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.5)
    platform.fault("order.create", "reset", when="after")
    given: dict[str, Any] = {"base_url": renaming, "allow_duplicate_name": True}
    lost = order(platform, RENAMED, **given)
    assert lost["failed"] and lost["msg"].endswith("The next run does not order while that exists")
    assert refused(platform, order(platform, RENAMED, **given))
    assert ordered(platform) == [RENAMED]


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
        f"there is no service named 'survivla', so one will be ordered; did you mean 'survival' ({id})?"
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
        ("game-server-eu", ["game-server-usa"], "game-server-usa"),
        ("game-2", ["game-1", "game-3", "game-4", "game-5", "game-6", "gamer-2"], "gamer-2"),
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


@pytest.mark.parametrize(("id", "told"), [("SVC_", True), ("svc", False), ("svc_x", False), ("web", True)])
def test_how_much_of_an_id_is_taken_for_a_slip(id: str, told: bool) -> None:
    client = FakeClient()
    client.add_service("svc_1")
    task = task_of(SERVICE, client, id=id, state="absent")
    assert not SERVICE.plan(task).changed
    assert bool(task.warnings) is told


# --- What stops an order, and what is only told ---------------------------------------------------------


LISTED = {"id": "svc_1", "name": "web", "family": "APP", "status": "ACTIVE"}


class Account(FakeClient):
    """A default project and a younger one, and how often projects and their pages were read."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_default", "default", createdAt=moment(days=900))
        self.add_project("prj_games", "games", createdAt=moment(days=300), resourceCount=1)
        self.reads: list[str] = []

    def projects(self) -> Any:
        self.reads.append("projects")
        return super().projects()

    def project(self, id: str) -> Any:
        self.reads.append(id)
        return super().project(id)


def moment(days: float) -> str:
    """Return when it was so many days ago."""
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def checked(account: Account, home: str | None = None, **given: Any) -> list[str]:
    """Check an order of a service named `web` of product `nginx`; return the warnings."""
    task = task_of(SERVICE, account, **{"name": "web", "product": "nginx", **given})
    project = next((one for one in FakeClient.projects(account) if one.id == home), None)
    namesakes.check_namesakes(task, project, account.services(), namesakes.KnownProjects(task))
    return task.warnings


def test_an_order_of_a_new_name_is_placed_without_a_word() -> None:
    account = Account()
    account.add_service("svc_1", "database")
    assert checked(account) == []


def test_a_slip_is_told_with_the_ids_of_that_name_alone() -> None:
    account = Account()
    account.add_service("svc_1", "webserver")
    account.add_service("svc_2", "webserver")
    account.add_service("svc_3", "database")
    (warning,) = checked(account, name="webserwer")
    assert "did you mean 'webserver' (svc_1, svc_2)?" in warning


def test_a_name_that_is_there_is_no_slip() -> None:
    account = Account()
    account.add_service("svc_1", "webserver", product={"slug": "apache"})
    account.add_service("svc_2", "webserwer")
    (warning,) = checked(account, name="webserver")
    assert "a service named 'webserver' exists" in warning


@pytest.mark.parametrize(
    ("name", "product", "stops"),
    [("web", "nginx", True), ("Web", "nginx", True), ("database", "nginx", False), ("web", "apache", False)],
)
def test_only_a_namesake_of_the_product_tells_its_family(name: str, product: str, stops: bool) -> None:
    account = Account()
    account.add_service("svc_1", name, product={"slug": product})
    if not stops:
        checked(account, family="GAME")
        return
    with pytest.raises(Invalid, match=r"is of family APP, not GAME\. Nothing was ordered") as error:
        checked(account, family="GAME")
    assert error.value.details["namesakes"] == ["svc_1"]


@pytest.mark.parametrize(
    ("home", "where", "moves"),
    [(None, "this", False), ("prj_default", "this", False), ("prj_games", "another", True)],
)
def test_a_warning_says_where_the_namesake_is(home: str | None, where: str, moves: bool) -> None:
    account = Account()
    account.add_service("svc_1", product={"slug": "apache"})
    (warning,) = checked(account, home)
    assert f"a service named 'web' exists in {where} project (id svc_1); another one is ordered" in warning
    assert ("set its id and new_project" in warning) is moves


@pytest.mark.parametrize(
    ("home", "way_out"),
    [
        (None, "id: svc_1 in place of name, to use it;"),
        ("prj_default", "id: svc_1 in place of name, to use it;"),
        ("prj_games", "id: svc_1 in place of name and new_project: games, to move it;"),
    ],
)
def test_the_way_out_moves_only_what_is_elsewhere(home: str | None, way_out: str) -> None:
    account = Account()
    account.add_service("svc_1", "Web")
    with pytest.raises(Invalid, match=f"Nothing was ordered. Either set {way_out}"):
        checked(account, home)


@pytest.mark.parametrize(
    ("project", "service", "count", "new"),
    [
        (10, 20, 0, True),
        (10, 20, None, True),
        (10, 20, 3, False),
        (0.9, 20, 3, True),
        (1.1, 20, 3, False),
        (20, 10, 0, False),
        (None, 10, 0, True),
        (None, 10, 3, False),
        (10, None, 0, True),
        (0.5, None, 3, False),
        (None, None, None, True),
    ],
)
def test_which_project_is_new_beside_a_service(
    project: float | None, service: float | None, count: int | None, new: bool
) -> None:
    """One that came after it and is empty or not a day old; where a date is missing, an empty one."""
    made = None if service is None else moment(service)
    other = ServiceSummary.model_validate({**LISTED, "createdAt": made})
    born = None if project is None else moment(project)
    games = Project.model_validate({"id": "p", "name": "games", "createdAt": born, "resourceCount": count})
    assert namesakes.is_newer_project(games, other) is new


def test_a_project_that_is_still_to_be_created_is_new() -> None:
    other = ServiceSummary.model_validate({**LISTED, "createdAt": moment(1)})
    assert namesakes.is_newer_project(Project(id="", name="games", resource_count=3), other)


def test_projects_are_read_again_only_for_one_that_is_not_among_them() -> None:
    account = Account()
    known = namesakes.KnownProjects(task_of(SERVICE, account, name="web"))
    assert {"prj_default", "prj_games"} == known.with_project("prj_games").keys()
    assert known.with_project("prj_default").keys() == known.with_project("prj_games").keys()
    assert account.reads == ["projects"]
    account.add_project("prj_new", "new")
    assert "prj_new" in known.with_project("prj_new")
    assert account.reads == ["projects"] * 2


@pytest.mark.parametrize(
    ("one", "other", "series"),
    [
        ("web-100", "web-200", True),
        ("web-100", "web-abc", False),
        ("web-abc", "web-100", False),
        ("shop-eu", "shop-us", True),
        ("shop-eu", "shop-usa", False),
        ("shop-usa", "shop-eu", False),
        ("web", "web-1", False),
        ("web-1", "web-1", True),
    ],
)
def test_members_of_a_series_differ_in_numbers_or_short_words(one: str, other: str, series: bool) -> None:
    assert namesakes.is_series(one, other) is series


def test_what_is_being_deleted_is_neither_a_namesake_nor_a_slip() -> None:
    account = Account()
    account.add_service("svc_1", "webserver", status="DELETING")
    assert checked(account, name="webserwer") == []
    assert checked(account, name="webserver", family="GAME") == []


def test_orders_of_names_that_a_platform_may_take_for_the_same_wait_for_each_other() -> None:
    assert namesakes.order_lock("My  Server") == namesakes.order_lock("my-server")
    assert namesakes.order_lock("web-1") != namesakes.order_lock("web-2")


@pytest.mark.parametrize(
    ("home", "reason"),
    [
        ("prj_new", "its name differs from 'web' only in characters that a platform may change"),
        ("prj_hidden", "its project prj_hidden is not on the list of projects"),
        ("prj_default", "it is in project 'default', which is the default project as far as can be told"),
        ("prj_games", "it is in project 'games', while project 'new' is newer and is empty"),
        ("prj_late", None),
    ],
)
def test_why_an_order_stops_depends_on_where_the_namesake_is(home: str, reason: str | None) -> None:
    """The order goes to project `new`; one that is younger than it cannot have lost its services to it."""
    account = Account()
    account.add_project("prj_new", "new", createdAt=moment(days=10))
    account.add_project("prj_late", "late", createdAt=moment(days=5))
    days = 1 if home == "prj_late" else 20
    account.add_service("svc_1", "Web", projectId=home, createdAt=moment(days=days))
    if reason is None:
        (warning,) = checked(account, "prj_new")
        assert "another one is ordered" in warning
        return
    with pytest.raises(Invalid) as error:
        checked(account, "prj_new")
    assert f"service 'Web' (svc_1) already exists: {reason}" in error.value.message


def test_a_project_of_the_same_moment_is_not_newer() -> None:
    at = moment(days=10)
    other = ServiceSummary.model_validate({**LISTED, "createdAt": at})
    games = Project.model_validate({"id": "p", "name": "games", "createdAt": at, "resourceCount": 0})
    assert not namesakes.is_newer_project(games, other)


# --- A name that the platform changed -------------------------------------------------------------------


@pytest.mark.parametrize(("named", "warnings"), [("my server", 0), ("my-server", 1)])
def test_a_name_that_the_platform_wrote_otherwise_is_told(named: str, warnings: int) -> None:
    account = Account()
    account.add_service("svc_1", named)
    task, service = task_of(SERVICE, account, name="my server", product="nginx"), account.service("svc_1")
    assert service is not None
    namesakes.warn_of_normalized_name(task, None, service)
    assert len(task.warnings) == warnings
    assert all("named the new service 'my-server', not 'my server'" in said for said in task.warnings)


def test_a_name_that_the_next_run_would_not_find_is_an_error() -> None:
    account = Account()
    account.add_service("svc_1", "server-7")
    task, service = task_of(SERVICE, account, name="web", product="nginx"), account.service("svc_1")
    assert service is not None
    with pytest.raises(
        Invalid, match=r"named the new service 'server-7', not 'web'.*does not order it again"
    ):
        namesakes.warn_of_normalized_name(task, None, service)
    assert task.warnings == []


# --- Nothing to delete ----------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [None, "prj_1"])
def test_what_this_controller_ordered_by_the_name_is_told_when_there_is_nothing_to_delete(
    place: str | None,
) -> None:
    account = Account()
    account.add_project("prj_1", "games")
    account.add_service("svc_1", "server-7")
    service = account.service("svc_1")
    assert service is not None
    project = next((each for each in account.projects() if each.id == place), None)
    GivenNames.of(task_of(SERVICE, account, name="web"), project).remember([service])
    task = task_of(SERVICE, account, state="absent", name="web")
    namesakes.warn_of_near_matches(task)
    (said,) = task.warnings
    assert "no service named 'web', but APP service 'server-7' exists (id svc_1) and was left alone" in said


@pytest.mark.parametrize(
    ("given", "warning"),
    [
        ({"name": "svc_1"}, "'svc_1' is the id of service 'web', which was left alone"),
        ({"name": "Web"}, "named 'Web', but APP service 'web' exists (id svc_1) and was left alone"),
        ({"name": "wéb"}, "named 'wéb', but APP service 'web' exists (id svc_1) and was left alone"),
        ({"name": "R&D"}, "named 'R&D', but APP service 'R&amp;D' exists (id x-4) and was left alone"),
        ({"name": "web", "family": "GAME"}, "named 'web' of family GAME, but APP service 'web' exists"),
        ({"name": "web", "project": "games"}, "named 'web' in project 'games', but APP service 'web' exists"),
        (
            {"name": "web", "project": "games", "family": "GAME"},
            "named 'web' in project 'games' of family GAME, but APP service 'web' exists",
        ),
        ({"name": "databsae"}, "named 'databsae'; did you mean 'database'? Nothing was deleted"),
        (
            {"name": "databsae", "project": "games"},
            "named 'databsae' in project 'games'; did you mean 'database'? Nothing was deleted",
        ),
        ({"name": "mail"}, None),
        ({"name": "gone"}, None),
        ({"id": "web"}, "no service of id 'web', but service 'web' (svc_1) exists and was left alone"),
        ({"id": "svc_"}, "no service of id 'svc_', but service 'web' (svc_1) exists"),
        ({"id": "9", "name": "Web"}, "no service of id '9', but service 'web' (svc_1) exists"),
        ({"id": "9", "name": "mail"}, None),
    ],
)
def test_what_a_deletion_of_nothing_may_have_meant(given: dict[str, Any], warning: str | None) -> None:
    """It goes on to be billed. What is being deleted already is not worth a word."""
    account = Account()
    account.add_service("svc_1", "web")
    account.add_service("x-2", "database")
    account.add_service("x-3", "gone", status="DELETING")
    account.add_service("x-4", "R&amp;D")
    task = task_of(SERVICE, account, state="absent", **given)
    namesakes.warn_of_near_matches(task)
    if warning is None:
        assert task.warnings == []
    else:
        (said,) = task.warnings
        assert warning in said


# --- What is listed and cannot be read yet --------------------------------------------------------------


class Late(Account):
    """An account whose service is on the list, while its own page says that there is none."""

    lists = 2
    """How often the list shows it."""

    def services(self) -> Any:
        self.lists -= 1
        return super().services() if self.lists >= 0 else []

    def service(self, id: str) -> Any:
        return None


def checked_last(account: Account, **given: Any) -> list[str]:
    """Check an order of a service named `web` for the last time before it is placed; return the warnings."""
    task = task_of(SERVICE, account, **{"name": "web", "product": "nginx", **given})
    known = namesakes.KnownProjects(task)
    namesakes.check_namesakes(task, None, account.services(), known, placing=True)
    return task.warnings


def test_what_is_listed_is_there_though_it_cannot_be_read_yet() -> None:
    account = Late()
    account.add_service("svc_1", "Web")
    (warning,) = checked(account)
    assert "service 'Web' (svc_1) is on the list of services and cannot be read yet" in warning
    account.lists = 2
    with pytest.raises(
        Invalid, match=r"'Web' \(svc_1\) .* cannot be read yet, .*Nothing was ordered"
    ) as error:
        checked_last(account)
    assert error.value.details["namesakes"] == ["svc_1"]


@pytest.mark.parametrize("given", [{"allow_duplicate_name": True}, {"product": "apache"}])
def test_what_cannot_be_read_yet_stops_no_order_of_another_service(given: dict[str, Any]) -> None:
    account = Late()
    account.add_service("svc_1", "Web", product={"slug": "nginx"})
    assert checked_last(account, **given) == []


def test_an_allowed_duplicate_is_not_what_the_task_itself_may_have_ordered() -> None:
    """A service of exactly its name in its project is used, whatever it allows: a killed run ordered it."""
    account = Late()
    account.add_service("svc_1", "web", product={"slug": "nginx"})
    with pytest.raises(Invalid, match=r"'web' \(svc_1\) .* cannot be read yet, .*in a few seconds$") as error:
        checked_last(account, allow_duplicate_name=True)
    assert error.value.details["namesakes"] == ["svc_1"]
    account.lists = 2
    assert checked_last(account, allow_duplicate_name=True, product="apache") == []


@pytest.mark.parametrize(
    ("kind", "place", "stops"),
    [
        (Account, None, True),
        (Account, "prj_games", True),
        (Account, "prj_default", False),
        (Late, "prj_default", True),
    ],
)
def test_what_an_order_may_have_become_stops_an_allowed_duplicate_where_that_is_looked_for(
    kind: type[Account], place: str | None, stops: bool
) -> None:
    """What came up with a lost order may be a service that somebody else ordered in another project."""
    account = kind()
    account.add_service("svc_1", "web-7", projectId="prj_games")
    project = next((one for one in FakeClient.projects(account) if one.id == place), None)
    ordering = task_of(SERVICE, account, name="web", allow_duplicate_name=True)
    GivenNames.of(ordering, project).remember(FakeClient.services(account))
    refusal = pytest.raises(Invalid, match=r"svc_1\) is, or may be, what an earlier order")
    with refusal if stops else nullcontext():
        checked(account, place, allow_duplicate_name=True)


def test_what_left_the_list_since_is_gone() -> None:
    account = Late()
    account.add_service("svc_1", "Web")
    account.lists = 1
    assert checked_last(account) == []


# --- A list that is cut ---------------------------------------------------------------------------------


def unlisted(account: Account, listed: Sequence[str], name: str = "web") -> list[str]:
    """Return the ids that pages of projects show under a name and the list of services does not."""
    task = task_of(SERVICE, account, name=name, product="nginx")
    services = [service for service in account.services() if service.id in listed]
    return [
        service.id for service in namesakes.unlisted_namesakes(task, services, namesakes.KnownProjects(task))
    ]


def warned_of_nothing_to_delete(account: Account) -> list[str]:
    """Look for what may have been meant by a service `web` that is not there; return the warnings."""
    task = task_of(SERVICE, account, name="web", state="absent")
    namesakes.warn_of_near_matches(task)
    return task.warnings


class FullPage(Account):
    """An account of some services, the page of one of whose projects is reported as absent."""

    def __init__(self, count: int) -> None:
        super().__init__()
        for number in range(count):
            self.add_service(f"other_{number}", "database")

    def project(self, id: str) -> Any:
        return None if id == "prj_games" else super().project(id)


def test_what_a_page_shows_and_the_list_does_not_is_found() -> None:
    account = Account()
    account.add_service("svc_1", projectId="prj_games")
    account.add_service("svc_2", "database", projectId="prj_games")
    account.add_service("svc_3", status="DELETING", projectId="prj_games")
    account.project_records["prj_games"]["resourceCount"] = 3
    assert unlisted(account, []) == ["svc_1"]
    assert unlisted(account, ["svc_1"]) == []
    assert unlisted(account, [], name="Web") == ["svc_1"]


@pytest.mark.parametrize("count", [1, 0, None])
def test_pages_are_read_only_where_the_projects_count_more_than_is_listed(count: int | None) -> None:
    account = Account()
    account.add_service("svc_1", projectId="prj_games")
    account.project_records["prj_games"]["resourceCount"] = count
    assert unlisted(account, ["svc_1"]) == []
    assert account.reads == ["projects"]


@pytest.mark.parametrize(("more", "found"), [(9, ["svc_1"]), (8, [])])
def test_a_list_as_long_as_a_page_is_taken_for_one_that_is_cut(more: int, found: list[str]) -> None:
    """Projects need not count their services; with the tenth the list may end where a page does."""
    account = Account()
    account.add_service("svc_0", "database")
    account.add_service("svc_1", projectId="prj_games")
    account.project_records["prj_games"]["resourceCount"] = None
    others = [f"other_{number}" for number in range(more)]
    for id in others:
        account.add_service(id, "database")
    assert unlisted(account, ["svc_0", *others]) == found


class Closed(Account):
    """An account of some services whose projects are refused."""

    def __init__(self, count: int, status: int) -> None:
        super().__init__()
        self.status = status
        for number in range(count):
            self.add_service(f"other_{number}", "database")

    def projects(self) -> Any:
        raise error_for_status("not to be read", self.status)


@pytest.mark.parametrize("status", [401, 403, 404, 400])
def test_refused_projects_leave_a_list_as_it_is_that_is_no_page(status: int) -> None:
    account = Closed(9, status)
    assert checked(account) == [] and unlisted(account, []) == []


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("status", [401, 403])
def test_a_token_that_does_not_open_projects_leaves_open_what_a_list_lacks(status: int, state: str) -> None:
    """Which scope they need is not shown. No run could ever go on, so what is not known is said."""
    account = Closed(10, status)
    (warning,) = checked(account) if state == "present" else warned_of_nothing_to_delete(account)
    assert warning == (
        "the list of 10 services may end early, and the projects, which show the rest, cannot be read: not "
        "to be read. Whether the list lacks a service named 'web' is unknown"
    )


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("status", [404, 400, 409])
def test_projects_that_are_refused_for_once_are_no_proof_of_absence(status: int, state: str) -> None:
    account = Closed(10, status)
    with pytest.raises(
        Refused, match=r"list of 10 services may end early, .* cannot be read: not to be read"
    ):
        checked(account) if state == "present" else warned_of_nothing_to_delete(account)


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize("listed", [10, 9])
def test_a_page_that_cannot_be_read_is_no_proof_of_absence(listed: int, state: str) -> None:
    """Unless the list is no page: what it lacks by the count of its project may be gone with that."""
    account = FullPage(listed)
    account.project_records["prj_games"]["resourceCount"] = 12
    refusal = pytest.raises(UnexpectedAnswer, match=r"project 'games' .* unknown")
    with nullcontext() if listed == 9 else refusal:
        checked(account) if state == "present" else warned_of_nothing_to_delete(account)


def test_a_project_that_is_gone_since_the_plan_has_no_page_to_be_read() -> None:
    account = FullPage(10)
    task = task_of(SERVICE, account, name="web", product="nginx")
    known = namesakes.KnownProjects(task)
    assert {project.id for project in known.all()} == {"prj_default", "prj_games"}
    del account.project_records["prj_games"]
    namesakes.check_namesakes(task, None, account.services(), known, placing=True)
    assert task.warnings == []


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_list_that_lacks_a_namesake_is_no_proof_of_absence(state: str) -> None:
    class Cut(Account):
        def services(self) -> Any:
            return []

    account = Cut()
    account.add_service("svc_1", projectId="prj_games")
    with pytest.raises(Invalid, match=r"the list is incomplete\. Nothing was done") as error:
        if state == "present":
            checked(account)
        else:
            warned_of_nothing_to_delete(account)
    assert error.value.details["namesakes"] == ["svc_1"]


class Hidden(Account):
    """An account whose list shows no services, but the pages of its projects do."""

    def services(self) -> Any:
        return []


@pytest.mark.parametrize(
    ("narrowed", "stops"),
    [
        ({"project": "games"}, True),
        ({"project": "prj_games", "family": "APP"}, True),
        ({"project": "default"}, False),
        ({"project": "gone"}, False),
        ({"family": "GAME"}, False),
    ],
)
@pytest.mark.parametrize("allowed", [True, False])
def test_a_namesake_that_the_list_lacks_stops_a_deletion_only_where_it_is_meant(
    narrowed: dict[str, Any], stops: bool, allowed: bool
) -> None:
    """Otherwise each further run would fail, although there is nothing to delete."""
    account = Hidden()
    account.add_service("svc_1", projectId="prj_games")
    task = task_of(SERVICE, account, name="web", state="absent", allow_duplicate_name=allowed, **narrowed)
    with pytest.raises(Invalid, match="the list is incomplete") if stops else nullcontext():
        namesakes.warn_of_near_matches(task)
    assert len(task.warnings) == (0 if stops else 1)
    assert all("'web' exists (id svc_1) and was left alone" in warning for warning in task.warnings)


class Fenced(FullPage):
    """An account of ten listed services. The page of one of its projects is refused."""

    def services(self) -> Any:
        return super().services()[:10]

    def project(self, id: str) -> Any:
        if id == "prj_games":
            raise error_for_status("not yours", 403)
        return super().project("prj_default")


def test_a_page_that_is_refused_hides_nothing_of_the_others() -> None:
    account = Fenced(10)
    (warning,) = checked(account)
    assert warning == (
        "project 'games' cannot be read: not yours. Whether it has a service named 'web' is unknown, as the "
        "list of services may end early"
    )
    account.add_service("svc_1")
    with pytest.raises(Invalid, match="the list is incomplete"):
        checked(account)


@pytest.mark.parametrize("place", [None, "prj_games"])
@pytest.mark.parametrize("product", ["nginx", "apache"])
def test_a_list_that_lacks_the_service_of_the_task_stops_it_though_it_allows_duplicates(
    place: str | None, product: str
) -> None:
    """It would be used if the list showed it, whatever its product, and would be ordered by each run."""
    account = Hidden()
    account.add_service("svc_1", projectId="prj_games", product={"slug": product})
    with pytest.raises(Invalid, match=r"the list is incomplete\. Nothing was done") as error:
        checked(account, place, allow_duplicate_name=True)
    assert error.value.details["namesakes"] == ["svc_1"]


@pytest.mark.parametrize(
    ("place", "name"), [("prj_default", "web"), ("prj_games", "Web"), (None, "Web"), ("prj_games", "db")]
)
def test_what_a_list_lacks_of_others_stops_no_task_that_allows_duplicates(
    place: str | None, name: str
) -> None:
    account = Hidden()
    account.add_service("svc_1", name, projectId="prj_games")
    assert checked(account, place, allow_duplicate_name=True) == []


@pytest.mark.parametrize(
    ("family", "product", "stops"),
    [("GAME", "apache", False), ("GAME", "nginx", True), ("APP", "apache", True)],
)
def test_a_namesake_of_another_product_and_family_that_a_list_lacks_is_another_service(
    family: str, product: str, stops: bool
) -> None:
    """The task would not use it. Of the same product, the family is wrong, and each run would order one."""
    account = Hidden()
    account.add_service("svc_1", projectId="prj_games", product={"slug": product})
    with pytest.raises(Invalid, match="the list is incomplete") if stops else nullcontext():
        checked(account, "prj_games", family=family, allow_duplicate_name=True)


@pytest.mark.parametrize("name", ["Web", "server-7"])
@pytest.mark.parametrize("given", [{}, {"allow_duplicate_name": True}])
def test_a_list_that_lacks_what_an_order_became_stops_the_next(given: dict[str, Any], name: str) -> None:
    account = Hidden()
    account.add_service("svc_1", name, projectId="prj_games")
    project, service = FakeClient.projects(account)[1], account.service("svc_1")
    assert service is not None
    GivenNames.of(task_of(SERVICE, account, name="web", **given), project).remember([service])
    with pytest.raises(Invalid, match=r"svc_1\) is not among .* the list is incomplete\. Nothing was done"):
        checked(account, "prj_games", **given)


@pytest.mark.parametrize(
    ("place", "name", "stops"), [("prj_games", "Web", True), ("prj_default", "web", False)]
)
def test_only_what_a_list_lacks_of_the_own_project_stops_a_copy(place: str, name: str, stops: bool) -> None:
    """Services of other projects are never its own."""
    account = Hidden()
    account.add_service("svc_1", name, projectId="prj_games")
    task = task_of(SERVICE, account, name="web", product="nginx")
    task.apart = True
    project = next(one for one in FakeClient.projects(account) if one.id == place)
    with pytest.raises(Invalid, match="the list is incomplete") if stops else nullcontext():
        namesakes.check_namesakes(task, project, [], namesakes.KnownProjects(task))
    assert task.warnings == []


class Overtaken(Account):
    """An account whose service is ordered by another run right after the first look at the list."""

    lists = 0

    def services(self) -> Any:
        self.lists += 1
        return super().services() if self.lists > 1 else []


def test_what_another_run_orders_between_two_looks_is_no_gap_in_the_list() -> None:
    """The plan goes on, as the order looks again. That look is the last one, and orders nothing."""
    account = Overtaken()
    account.add_service("svc_1", projectId="prj_games")
    assert checked(account) == [] and account.lists == 2
    account.lists = 0
    with pytest.raises(
        Invalid, match=r"'web' \(svc_1\) appeared .*Nothing was done\. Run this again"
    ) as error:
        checked_last(account)
    assert error.value.details["namesakes"] == ["svc_1"]


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


@pytest.mark.parametrize("given", [{}, {"allow_duplicate_name": True}])
@pytest.mark.parametrize("home", [None, "prj_default"])
def test_what_has_appeared_since_the_plan_began_is_left_to_the_order(
    home: str | None, given: dict[str, Any]
) -> None:
    """It has the very name in the very project, so the task would have used it; it will, before it orders."""
    account = Account()
    account.add_service("svc_1", "web")
    assert checked(account, home, **given) == []
    if home is None:
        with pytest.raises(Invalid, match=r"'web' \(svc_1\) has just appeared, .* this again, to use it$"):
            checked_last(account, **given)
