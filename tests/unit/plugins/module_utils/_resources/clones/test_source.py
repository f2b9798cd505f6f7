# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what is cloned: what of it can be copied, and what keeps it from being cloned."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused
from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    App,
    Edge,
    Product,
    ProjectGraph,
    Service,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import Exported
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.options import CloneOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import (
    Data,
    SourceProject,
    check_ready,
    chosen,
    data_of,
    read_source,
    variables_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient
from unit.plugins.module_utils._resources.clones.platform import original, source_of

TWINS = [
    replace(original("Twin", key="twin"), exported=Exported("id-1", "twin", {})),
    replace(original("Twin", key="twin-2"), exported=Exported("id-2", "twin-2", {})),
    replace(original("web", slug="acme-web"), exported=Exported("id-3", "web", {})),
]


def client(family: str, *, database: bool | None = False, capabilities: tuple[str, ...] = ("files",)) -> Any:
    """Return a platform with one service; ``database`` is ``None`` if its connection is refused."""
    service = Service(id="id-1", name="x", family=family, status="ACTIVE", capabilities=list(capabilities),
                      product=Product(slug="valkey" if database is not None else "postgresql"))  # fmt: skip

    def connection(id: str) -> Any:
        if not database:
            raise Refused("it is none", 400)
        return SimpleNamespace()

    return cast(Any, SimpleNamespace(service=lambda id: service, database_connection=connection))


def test_what_is_cloned_is_named_by_id_slug_name_or_key() -> None:
    assert chosen(TWINS, None) == TWINS
    for wanted, expected in (["id-2"], ["id-2"]), (["acme-web", "twin"], ["id-3", "id-1"]), ([], []):
        assert [each.id for each in chosen(TWINS, wanted)] == expected


def test_a_name_that_is_none_or_several_is_refused() -> None:
    with pytest.raises(NoSuchItem, match="services: the source has no 'nobody'"):
        chosen(TWINS, ["nobody"])
    with pytest.raises(Ambiguous, match=r"'Twin' names service 'Twin' \(id-1\), service 'Twin'"):
        chosen(TWINS, ["Twin"])
    with pytest.raises(Ambiguous):
        source_of(original("twin", key="a"), original("twin", key="b")).of("twin")
    with pytest.raises(NoSuchItem, match="nothing to clone"):
        chosen([], None)


def test_what_a_service_holds() -> None:
    """A database is one that can be connected to; files are there where the capability is."""
    record = {"id": "id-1", "name": "x"}
    assert data_of(client("GAME"), record, {}) is Data.FILES
    assert data_of(client("BUCKET", capabilities=()), record, {}) is Data.NONE
    assert data_of(client("APP", database=True), record, {}) is Data.DATABASE
    assert data_of(client("APP"), record, {}) is Data.FILES
    never = {"id-1": App(id="id-1", slug="acme", status="PROVISIONING")}
    assert data_of(client("APP", database=True), record, never) is Data.NONE
    ran = {"id-1": App(id="id-1", slug="acme", status="ACTIVE", image_ref="x@sha256:0")}
    assert data_of(client("APP", database=True), record, ran) is Data.FILES


def test_a_database_that_tells_nothing_cannot_be_cloned() -> None:
    with pytest.raises(Invalid, match="cannot be cloned: its product is 'postgresql', but how to connect"):
        data_of(client("APP", database=None), {"id": "id-1", "name": "x"}, {})


def test_a_service_that_is_gone_meanwhile_is_named() -> None:
    with pytest.raises(NoSuchItem, match="was deleted meanwhile"):
        data_of(cast(Any, SimpleNamespace(service=lambda id: None)), {"id": "id-1", "name": "x"}, {})


def test_what_is_not_ready_is_refused() -> None:
    with pytest.raises(Invalid, match=r"service 'a' has status PROVISIONING\. Wait until"):
        check_ready([original("a", record={"status": "PROVISIONING"})])
    check_ready([original("b", record={"status": "SUSPENDED"})])
    check_ready([original("c", slug="acme-c", record={"status": "PROVISIONING"})])


def test_references_are_gathered_by_their_targets() -> None:
    said = [
        ("a", "b", ["X", "Y"]),
        ("a", "c", ["Z"]),
        ("b", "c", ["W"]),
        ("a", "c", None),
        ("a", None, ["V"]),
    ]
    edges = [Edge.model_validate({"from": one, "to": to, "through": names}) for one, to, names in said]
    assert variables_of("a", edges) == {"b": ["X", "Y"], "c": ["Z"]}
    assert original("a", variables=variables_of("a", edges)).referring == ["X", "Y", "Z"]


def test_a_blocked_image_cannot_be_deployed_again() -> None:
    """That of a service does not count, nor does any other verdict."""
    blocked = original("a", slug="acme-a", image_ref="x@sha256:0")
    assert blocked.app is not None
    verdicts = {each: replace(blocked, app=blocked.app.model_copy(update={"scan_status": each}))
                for each in ("BLOCKED", "CLEAN")}  # fmt: skip
    with pytest.raises(Invalid, match="the image that application 'acme-a' runs is blocked by its last scan"):
        check_ready([verdicts["BLOCKED"], original("b")])
    check_ready([verdicts["CLEAN"]])


def test_only_what_never_ran_may_be_unready() -> None:
    with pytest.raises(Invalid, match="application 'acme-c' has status FAILED"):
        check_ready([original("c", slug="acme-c", image_ref="x@sha256:0", record={"status": "FAILED"})])


def test_an_original_is_named_by_its_slug_or_its_name() -> None:
    web = original("Web", slug="acme-web", key="front")
    assert (web.id, web.key, web.name, web.label) == ("id-Web", "front", "acme-web", "application 'acme-web'")
    assert web.names == {"id-Web", "front", "acme-web", "Web"}
    game = original("Survival")
    assert (game.name, game.label, game.referring) == ("Survival", "service 'Survival'", [])
    source = source_of(web, game)
    assert source.of("id-Web") is web and source.of("Survival") is game and source.of("x") is None


def test_an_id_is_nearer_than_a_name() -> None:
    """A service may be called what another one has as its id."""
    assert source_of(original("id-b", key="x"), original("b")).of("id-b") == original("b")


# --- The project --------------------------------------------------------------------------------------


class Account(FakeClient):
    """An account with a project of a database, a game server, and an application that refers to it."""

    def __init__(self) -> None:
        super().__init__()
        self.add_project("prj_1", "shop")
        self.add_service("svc_1", "db", projectId="prj_1", product={"slug": "postgresql"})
        self.add_service("svc_2", "game", projectId="prj_1", family="GAME")
        self.add_service("svc_3", "web", projectId="prj_1")
        self.add_service("svc_4", "elsewhere")

    def apps(self) -> list[App]:
        """Return the application."""
        return [App(id="svc_3", name="web", slug="acme-web", status="ACTIVE", image_ref="r/web@sha256:0")]

    def project_graph(self, id: str) -> ProjectGraph:
        """Return the aliases and the reference."""
        edge = {"from": "svc_3", "to": "svc_1", "through": ["DB_URL"]}
        return ProjectGraph.model_validate({"nodes": [{"id": "svc_1", "alias": "db-7f"}], "edges": [edge]})

    def database_connection(self, id: str) -> Any:
        """Return how to connect to a database."""
        if id != "svc_1":
            raise Refused("it is none", 400)
        return SimpleNamespace()


def read(account: Account, **given: Any) -> SourceProject:
    """Read the project."""
    task: Task[Any] = Task(cast(Any, account), CloneOptions(source="shop", project="copy", **given))
    return read_source(task)


def test_what_is_cloned_is_the_project_with_its_references() -> None:
    source = read(Account())
    assert source.project.id == "prj_1" and source.others == []
    found = {each.name: each for each in source.originals}
    assert {name: each.data for name, each in found.items()} == {
        "db": Data.DATABASE,
        "game": Data.FILES,
        "acme-web": Data.FILES,
    }
    assert {name: each.alias for name, each in found.items()} == {
        "db": "db-7f",
        "game": None,
        "acme-web": None,
    }
    assert found["acme-web"].variables == {"svc_1": ["DB_URL"]} and found["game"].variables == {}
    assert found["acme-web"].app is not None and found["db"].app is None
    assert found["db"].record["settings"] and found["db"].record["metrics"]


def test_a_project_of_which_no_references_are_shown_has_none() -> None:
    account = Account()
    account.project_graph = lambda id: ProjectGraph()  # type: ignore[method-assign]
    assert [each.variables for each in read(account).originals] == [{}, {}, {}]


def test_what_stays_behind_is_known_as_well() -> None:
    """A reference to it is refused. Its state does not matter."""
    account = Account()
    account.service_records["svc_1"]["status"] = "PROVISIONING"
    source = read(account, services=["web"])
    assert [each.name for each in source.originals] == ["acme-web"]
    assert [(each.name, each.data) for each in source.others] == [("db", Data.NONE), ("game", Data.NONE)]
    with pytest.raises(Invalid, match="service 'db' has status PROVISIONING"):
        read(account)


def test_what_cannot_be_read_would_be_lacking() -> None:
    account = Account()

    def refuse(id: str) -> Any:
        raise Refused("not now", 400)

    account.settings = refuse  # type: ignore[method-assign]
    with pytest.raises(Invalid, match="A clone would lack what was set there"):
        read(account)
