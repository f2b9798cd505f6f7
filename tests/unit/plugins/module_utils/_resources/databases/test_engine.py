# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Engines that the tunnel cannot open, and tables as tasks read them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.databases import engine
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from unit.plugins.fakes import FakeClient


@pytest.mark.parametrize("product", [None, {"slug": None}, {"slug": "minecraft"}])
def test_what_is_not_known_to_be_a_database_has_no_connection(product: Any) -> None:
    class Refusing(FakeClient):
        def database_connection(self, id: str) -> m.DatabaseConnection:
            raise error_for_status("no database", 409)

    service = m.Service.model_validate(
        {"id": "svc_db", "name": "db", "family": "APP", "status": "ACTIVE", "product": product}
    )
    assert engine.find_connection(Account(cast(Client, Refusing())), service) is None
