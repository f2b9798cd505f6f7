# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The currency: read once for all tasks of a run, and left out where the platform does not name it."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import AccessDenied
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import (
    format_price,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import RUN_FOLDER
from unit.plugins.fakes import FakeClient, task_of


class Wallets(FakeClient):
    """An account that counts how often its wallet is read."""

    def __init__(self, currency: str | None = "EUR", refusal: Exception | None = None) -> None:
        super().__init__()
        self.currency, self.refusal, self.reads = currency, refusal, 0

    def wallet(self, seconds: float | None = None) -> m.Wallet:
        self.reads += 1
        assert seconds is not None and seconds < 10  # a price is no reason to wait
        if self.refusal:
            raise self.refusal
        return super().wallet(seconds)


def price(client: FakeClient, amount: str | None = "1.5") -> str | None:
    """Return a price as a new task writes it."""
    task = task_of(SERVICE, client, id="s")
    exact = None if amount is None else Decimal(amount)
    assert format_price(task, exact) == format_price(task, exact)
    return format_price(task, exact)


def test_a_price_has_its_currency_which_a_task_reads_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RUN_FOLDER, raising=False)
    client = Wallets()
    assert price(client) == "1.50 EUR"
    assert client.reads == 1
    assert price(client) == "1.50 EUR" and client.reads == 2  # another task, elsewhere


@pytest.mark.parametrize("refusal", [None, AccessDenied("no", 403)])
def test_the_tasks_of_a_run_read_it_once_for_each_account(
    refusal: Exception | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    client, other = Wallets(refusal=refusal), Wallets("USD")
    other.account_key = "other"
    for _round in range(3):
        assert price(client) == ("1.50" if refusal else "1.50 EUR")
        assert price(other) == "1.50 USD"
    assert (client.reads, other.reads) == (1, 1)
