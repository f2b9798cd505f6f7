# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading databases: what is asked for, and nothing that is secret unless it is."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.engine import (
    as_table,
    connection_url,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of

TABLES = [
    {"schema": "public", "name": "orders", "rows": 120},
    {"schema": "public", "name": "users"},
    {"schema": "audit", "name": "orders"},
]


class Account(FakeClient):
    """An account with a database; each read is noted in ``calls``."""

    supported: bool | None = True
    url: str | None = "postgresql://"

    def database(self, id: str) -> m.DatabaseInventory:
        self.calls.append(("database", id))
        tables = TABLES if self.supported else []
        facts = {"engine": "postgresql", "supported": self.supported, "tables": tables, "size": 5}
        return m.DatabaseInventory.model_validate(facts)

    def database_rows(self, id: str, schema: str, table: str, page: int) -> m.QueryResult:
        self.calls.append(("rows", id, schema, table, page))
        rows = [["1"]] * (50 if page == 0 else 3)
        return m.QueryResult.model_validate({"columns": [{"name": "id"}], "rows": rows})

    def database_connection(self, id: str) -> m.DatabaseConnection:
        self.calls.append(("connection", id))
        return m.DatabaseConnection.model_validate(
            {"engine": "mariadb", "password": "hidden", "url": self.url}
        )


@pytest.fixture
def client() -> Account:
    client = Account()
    client.add_service("svc_db", "db")
    return client


def read(client: Account, **given: Any) -> dict[str, Any]:
    plan = DATABASE_INFO.plan(task_of(DATABASE_INFO, client, service="db", **given))
    assert not plan.changed
    database: dict[str, Any] = plan.result
    return database


def test_the_inventory_alone(client: Account) -> None:
    database = read(client)
    assert database["tables"][0] == {"schema": "public", "name": "orders", "rows": 120, "bytes": None}
    assert database["size"] == 5
    assert client.calls == [("database", "svc_db")]


def test_the_engine_alone(client: Account) -> None:
    """Nothing of the connection is told that nobody asked for."""
    assert read(client, inventory=False) == {"engine": "mariadb"}
    assert client.calls == [("connection", "svc_db")]
    database = read(client, inventory=False, return_secrets=True)
    assert (database["engine"], database["connection"]["password"]) == ("mariadb", "hidden")
    with pytest.raises(Invalid, match="leave inventory at true"):
        read(client, inventory=False, table="orders")


def test_a_page(client: Account) -> None:
    page = read(client, table="orders", schema="audit", page=1)["page"]
    assert client.calls[-1] == ("rows", "svc_db", "audit", "orders", 1)
    assert (page["schema"], page["table"], page["number"], page["maybe_more"]) == (
        "audit",
        "orders",
        1,
        False,
    )
    assert page["records"] == [{"id": "1"}] * 3


def test_the_schema_is_found(client: Account) -> None:
    assert read(client, table="users")["page"]["maybe_more"]
    assert client.calls[-1] == ("rows", "svc_db", "public", "users", 0)


def test_secrets_when_they_are_asked_for(client: Account) -> None:
    assert read(client, return_secrets=True)["connection"]["password"] == "hidden"
    assert client.calls[-1] == ("connection", "svc_db")


def test_an_engine_that_the_tunnel_cannot_open(client: Account) -> None:
    """Its inventory and its connection are there; its rows are not, and are not asked for."""
    client.supported = False
    assert read(client, return_secrets=True)["connection"]["url"] == "postgresql://"
    client.calls.clear()
    with pytest.raises(Invalid, match="cannot open the engine 'postgresql'"):
        read(client, table="orders")
    assert client.calls == [("database", "svc_db")]


def test_a_platform_that_does_not_say_whether_it_can(client: Account) -> None:
    client.supported = None
    with pytest.raises(NoSuchItem, match="there is no table 'users'"):
        read(client, table="users")


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"table": "orders"}, Ambiguous, "audit, public"),
        ({"table": "ordres", "schema": "public"}, NoSuchItem, "did you mean 'orders'"),
        ({"table": "users", "schema": "audit"}, NoSuchItem, "in schema 'audit'"),
        ({"table": "users", "page": -1}, Invalid, "page is -1"),
        ({"schema": "audit"}, Invalid, "set table"),
        ({"page": 5}, Invalid, "page is 5, and table is not set; set table as well, or leave page out"),
    ],
)
def test_a_refusal_says_why(
    client: Account, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        read(client, **given)


def test_no_column_is_lost_in_a_record() -> None:
    """Columns of one name, without a name, and with the name that another was given."""
    columns = [{"name": name} for name in ("id", "id", None, "id_2", "id")]
    result = m.QueryResult.model_validate({"columns": columns, "rows": [list("abcde")]})
    (record,) = as_table(result)["records"]
    assert record == {"id": "a", "id_2": "b", "column_3": "c", "id_2_2": "d", "id_3": "e"}


def test_the_url_is_that_of_the_connection(client: Account) -> None:
    task = task_of(DATABASE_INFO, client, service="db")
    assert connection_url(task) == "postgresql://"
    assert client.calls == [("connection", "svc_db")]


@pytest.mark.parametrize("url", [None, ""])
def test_a_url_that_is_missing_is_no_empty_one(client: Account, url: str | None) -> None:
    client.url = url
    with pytest.raises(UnexpectedAnswer, match="connection: the field 'url' is missing") as refused:
        connection_url(task_of(DATABASE_INFO, client, service="db"))
    assert "hidden" not in str(refused.value)
