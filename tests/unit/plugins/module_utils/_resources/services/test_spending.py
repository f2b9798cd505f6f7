# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The running rate of an account: what counts, and what is asked service by service."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.services.spending import (
    rate_of,
    read_holdings,
    shows_rate,
)
from unit.plugins.fakes import FakeClient


def summary(status: str = "ACTIVE", monthly: int | None = 10000, **more: Any) -> m.ServiceSummary:
    return m.ServiceSummary(
        id="s", name="web", family="APP", status=status, monthly_millicents=monthly, **more
    )


def detail(status: str = "ACTIVE", **pricing: Any) -> m.Service:
    return m.Service(id="s", name="web", family="APP", status=status, pricing=m.Pricing(**pricing))


@pytest.mark.parametrize(
    ("service", "full", "rate"),
    [
        (summary(), None, "10"),
        (summary(), detail(billed_monthly_millicents=9000), "9"),
        (summary("SUSPENDED"), detail("SUSPENDED", billed_monthly_millicents=1700), "1.7"),
        (summary("SUSPENDED"), detail("SUSPENDED", storage_monthly_millicents=1700), "1.7"),
        (summary("SUSPENDED"), None, "10"),
        (summary("PROVISIONING"), detail("PROVISIONING", billed_monthly_millicents=0), "10"),
        (summary("AWAITING_ADMIN"), detail("AWAITING_ADMIN", billed_monthly_millicents=0), "10"),
        (summary("FAILED"), detail("FAILED", billed_monthly_millicents=0), "0"),
        (summary("FAILED"), detail("FAILED"), "10"),
        (summary("A NEW ONE"), detail("A NEW ONE", billed_monthly_millicents=12000), "12"),
        (summary(monthly=None), detail(monthly_millicents=8000), "8"),
        (summary(monthly=None), None, None),
        (summary(monthly=None, is_free=True), None, "0"),
        (summary(is_free=True), detail(billed_monthly_millicents=0), "0"),
        (summary(is_free=True), None, "10"),
        (summary("SUSPENDED"), detail("SUSPENDED"), "10"),
        (summary("ACTIVE"), detail("SUSPENDED", storage_monthly_millicents=1700), "1.7"),
        (summary("A NEW ONE"), detail("A NEW ONE", billed_monthly_millicents=9000), "10"),
        (summary("A NEW ONE", None), detail("A NEW ONE", billed_monthly_millicents=9000), None),
        (summary(monthly=7000), detail("A NEW ONE", monthly_millicents=8000), "7"),
    ],
)
def test_what_counts(service: m.ServiceSummary, full: m.Service | None, rate: str | None) -> None:
    assert rate_of(service, full) == (None if rate is None else Decimal(rate))


@pytest.mark.parametrize(
    ("service", "shown"),
    [
        (summary(), True),
        (summary("PROVISIONING"), True),
        (summary("AWAITING_ADMIN"), True),
        (summary("SUSPENDED"), False),
        (summary("FAILED"), False),
        (summary(monthly=None), False),
        (summary(monthly=None, is_free=True), False),
        (summary("SUSPENDED", 0, is_free=True), True),
        (summary(monthly=10, is_free=True), False),
    ],
)
def test_whether_the_list_shows_what_is_paid(service: m.ServiceSummary, shown: bool) -> None:
    assert shows_rate(service) is shown


class Account(FakeClient):
    """An account whose list shows prices, and which notes what is read by its id."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []
        for id, status in {"a": "ACTIVE", "s": "SUSPENDED", "p": "PROVISIONING", "d": "DELETING"}.items():
            self.add_service(id, id, status, monthlyMillicents=2000)

    def service(self, id: str) -> m.Service | None:
        self.read.append(id)
        return super().service(id)


def test_only_what_the_list_does_not_show_is_asked() -> None:
    account = Account()
    holdings = read_holdings(cast(Client, account), each=False)
    assert account.read == ["s"] and set(holdings) == {"a", "s", "p"}
    assert holdings["s"].monthly == Decimal("1.06") and holdings["a"].projects is None
    each = read_holdings(cast(Client, account), each=True)
    assert sorted(account.read) == ["a", "p", "s", "s"]
    assert each["a"].projects == frozenset({"prj_default"}) and each["a"].monthly == Decimal("1.06")


@pytest.mark.parametrize("status", ["DELETING", "DELETED"])
def test_what_is_deleted_meanwhile_is_not_paid_any_more(status: str) -> None:
    """The list may show it a little longer."""
    account = Account()
    listed = account.services()
    account.services = lambda: listed  # type: ignore[method-assign]
    account.service_records["a"]["status"] = status
    assert set(read_holdings(cast(Client, account), each=True)) == {"s", "p"}
