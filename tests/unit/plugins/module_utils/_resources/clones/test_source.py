# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading what is cloned: what of it can be copied, and what keeps it from being cloned."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Edge, Product, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import Exported
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import (
    Data,
    check_ready,
    chosen,
    data_of,
    variables_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.module_utils._resources.clones.platform import original, source_of

TWINS = [Exported("id-1", "twin", {}), Exported("id-2", "twin-2", {}), Exported("id-3", "web", {})]
RECORDS = {
    "id-1": {"name": "Twin", "id": "id-1"},
    "id-2": {"name": "Twin", "id": "id-2"},
    "id-3": {"name": "web", "id": "id-3"},
}
APPS = {"id-3": App(id="id-3", slug="acme-web", status="ACTIVE")}


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
    assert chosen(TWINS, RECORDS, APPS, None) == TWINS
    for wanted, expected in (["id-2"], ["id-2"]), (["acme-web", "twin"], ["id-3", "id-1"]), ([], []):
        assert [each.id for each in chosen(TWINS, RECORDS, APPS, wanted)] == expected


def test_a_name_that_is_none_or_several_is_refused() -> None:
    with pytest.raises(NoSuchItem, match="services: the source has no 'nobody'"):
        chosen(TWINS, RECORDS, APPS, ["nobody"])
    with pytest.raises(Ambiguous, match="'Twin' names id-1, id-2; name one by id"):
        chosen(TWINS, RECORDS, APPS, ["Twin"])
    with pytest.raises(Ambiguous):
        source_of(original("twin", key="a"), original("twin", key="b")).of("twin")
    with pytest.raises(NoSuchItem, match="nothing to clone"):
        chosen([], {}, {}, None)


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
    said = [("a", "b", ["X", "Y"]), ("a", "c", ["Z"]), ("b", "c", ["W"])]
    edges = [Edge.model_validate({"from": one, "to": to, "through": names}) for one, to, names in said]
    assert variables_of("a", edges) == {"b": ["X", "Y"], "c": ["Z"]}
    assert original("a", variables=variables_of("a", edges)).referring == ["X", "Y", "Z"]
