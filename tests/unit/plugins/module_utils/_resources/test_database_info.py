# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The URL of the connection to a database."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources.database_info import DATABASE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.engine import (
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


@pytest.mark.parametrize("url", [None, ""])
def test_a_url_that_is_missing_is_no_empty_one(client: Account, url: str | None) -> None:
    client.url = url
    with pytest.raises(UnexpectedAnswer, match="connection: the field 'url' is missing") as refused:
        connection_url(task_of(DATABASE_INFO, client, service="db"))
    assert "hidden" not in str(refused.value)
