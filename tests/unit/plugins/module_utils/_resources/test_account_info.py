# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose token it is, whatever the token may read."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ServerFailure,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_info import ACCOUNT_INFO
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """An account whose wallet answers as a test wants."""

    trouble: Exception | None = None

    def whoami(self) -> m.Whoami:
        return m.Whoami.model_validate({"email": "ops@example.com", "locale": "fr"})

    def wallet(self, seconds: float | None = None) -> m.Wallet:
        if self.trouble:
            raise self.trouble
        return m.Wallet.model_validate({"balanceCents": 1250, "currency": "EUR"})


def read(client: Account) -> dict[str, Any]:
    plan = ACCOUNT_INFO.plan(task_of(ACCOUNT_INFO, client))
    assert not plan.changed
    account: dict[str, Any] = plan.result
    return account


def test_all_of_it() -> None:
    account = read(Account())
    assert (account["email"], account["locale"]) == ("ops@example.com", "fr")
    assert account["wallet"]["balance_cents"] == 1250
    assert account["wallet"]["balance"] == "12.50"
    assert account["notes"] == {}


@pytest.mark.parametrize("status", [401, 403])
def test_a_wallet_that_the_token_may_not_read(status: int) -> None:
    client = Account()
    client.trouble = error_for_status(f"not accepted ({status})", status)
    account = read(client)
    assert account["email"] == "ops@example.com"
    assert account["wallet"] is None
    assert account["notes"] == {"wallet": f"not accepted ({status})"}


def test_a_platform_that_fails_is_an_error() -> None:
    client = Account()
    client.trouble = ServerFailure("the platform failed (500)")
    with pytest.raises(ServerFailure):
        read(client)
