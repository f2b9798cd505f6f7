# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that the tunnel cannot open, and tables as tasks read them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.databases import engine
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """A database service."""

    def __init__(self, supported: bool | None = True, url: str | None = "postgres://u:p@db/shop") -> None:
        super().__init__()
        self.add_service("svc_db", "db")
        self.supported, self.url = supported, url

    def database(self, id: str) -> m.DatabaseInventory:
        return m.DatabaseInventory.model_validate({"engine": "odd", "supported": self.supported})

    def database_connection(self, id: str) -> m.DatabaseConnection:
        return m.DatabaseConnection.model_validate({"url": self.url})


def test_an_engine_that_the_tunnel_cannot_open_is_named() -> None:
    for supported in (True, None):
        engine.check_supported(Account(supported).database("svc_db"), "db")
    with pytest.raises(Invalid, match="cannot open the engine 'odd' of service 'db'") as error:
        engine.check_supported(Account(False).database("svc_db"), "db")
    assert error.value.details == {"engine": "odd"}


@pytest.mark.parametrize("product", [None, {"slug": None}, {"slug": "minecraft"}])
def test_what_is_not_known_to_be_a_database_has_no_connection(product: Any) -> None:
    class Refusing(Account):
        def database_connection(self, id: str) -> m.DatabaseConnection:
            raise error_for_status("no database", 409)

    service = m.Service.model_validate(
        {"id": "svc_db", "name": "db", "family": "APP", "status": "ACTIVE", "product": product}
    )
    assert engine.find_connection(cast(Client, Refusing()), service) is None


def test_the_url_of_a_database_is_needed() -> None:
    task = task_of(DATABASE_INFO, Account(), service="db")
    assert engine.connection_url(task) == "postgres://u:p@db/shop"
    with pytest.raises(UnexpectedAnswer, match="the field 'url' is missing"):
        engine.connection_url(task_of(DATABASE_INFO, Account(url=None), service="db"))


def test_columns_of_one_name_are_told_apart() -> None:
    columns = [{"name": name} for name in ("id", "id", "id_2", "", "id")]
    rows: list[list[Any]] = [["1", "2", "3", None, "5"]]
    result = m.QueryResult.model_validate({"columns": columns, "rows": rows})
    assert engine.column_names(result) == ["id", "id_2", "id_2_2", "column_4", "id_3"]
    table = engine.as_table(result)
    assert table["rows"] == rows
    assert table["records"] == [{"id": "1", "id_2": "2", "id_2_2": "3", "column_4": None, "id_3": "5"}]
    assert engine.as_table(m.QueryResult.model_construct(columns=None, rows=None))["records"] == []
