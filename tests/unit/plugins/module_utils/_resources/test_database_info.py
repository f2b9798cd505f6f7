# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows as records, and the URL of a connection."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.engine import (
    as_table,
    connection_url,
)
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """An account with a database."""

    url: str | None = "postgresql://"

    def database_connection(self, id: str) -> m.DatabaseConnection:
        return m.DatabaseConnection.model_validate({"password": "hidden", "url": self.url})


@pytest.fixture
def client() -> Account:
    client = Account()
    client.add_service("svc_db", "db")
    return client


def test_no_column_is_lost_in_a_record() -> None:
    """Columns of one name, without a name, and with the name that another was given."""
    columns = [{"name": name} for name in ("id", "id", None, "id_2", "id")]
    result = m.QueryResult.model_validate({"columns": columns, "rows": [list("abcde")]})
    (record,) = as_table(result)["records"]
    assert record == {"id": "a", "id_2": "b", "column_3": "c", "id_2_2": "d", "id_3": "e"}


def test_the_url_is_that_of_the_connection(client: Account) -> None:
    assert connection_url(task_of(DATABASE_INFO, client, service="db")) == "postgresql://"


@pytest.mark.parametrize("url", [None, ""])
def test_a_url_that_is_missing_is_no_empty_one(client: Account, url: str | None) -> None:
    client.url = url
    with pytest.raises(UnexpectedAnswer, match="connection: the field 'url' is missing") as refused:
        connection_url(task_of(DATABASE_INFO, client, service="db"))
    assert "hidden" not in str(refused.value)
