# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Billing."""

from __future__ import annotations

import re
from typing import Any

from fastapi import Request
from starlette.responses import Response

from hosted_sandbox.api import shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.clock import stamp
from hosted_sandbox.domain import billing, money
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.store.records import Entry, Service

router = Chapter(tags=["Billing"])
PERIOD = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


@router.get("/api/billing/overview", name="billing.overview", response_model=shapes.Overview)
async def read_overview(call: Current) -> Response:
    """Return the balance, the spend so far this month, and the forecast."""
    return call.json(billing.overview(call.world, call.account))


@router.get("/api/wallet", name="wallet.get", response_model=shapes.Wallet)
async def read_wallet(call: Current) -> Response:
    """Return the balance and its currency."""
    return call.json({
        "balanceCents": money.balance(call.world, call.account),
        "currency": money.CURRENCY,
        "becameClientAt": stamp(call.account.created_at),
    })  # fmt: skip


@router.get("/api/wallet/transactions", name="wallet.transactions")
async def list_transactions(call: Current, request: Request) -> Response:
    """List deposits and adjustments, newest first."""
    entries = reversed(call.world.store.of(Entry, call.account.id))
    return call.listing([_transaction(entry) for entry in entries], request.query_params)


def _transaction(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "type": entry.type,
        "createdAt": stamp(entry.at),
        "amountCents": entry.cents,
        "label": entry.label,
    }


def _services(call: Call) -> list[Service]:
    return call.world.store.of(Service, call.account.id)


@router.get("/api/billing/daily-spend", name="billing.daily_spend")
async def list_daily_spend(call: Current, request: Request) -> Response:
    """List the spend of each day of the current month, for all services together."""
    now = call.world.now
    lines = money.days(_services(call), billing.month_start(now), now)
    return call.listing([{"date": day, "totalCents": cents} for day, cents in lines], request.query_params)


@router.get("/api/billing/invoices", name="billing.invoices")
async def list_invoices(call: Current, request: Request) -> Response:
    """List one invoice for each past month with spend."""
    over = [month for month in billing.months(call.world, call.account) if month.over]
    owed = [month for month in over if money.spent_between(_services(call), month.start, month.end)]
    return call.listing([_invoice(call, month) for month in owed], request.query_params)


def _invoice(call: Call, month: billing.Month) -> dict[str, Any]:
    number = f"INV-{month.period}"
    return {
        "number": number,
        "downloadUrl": f"{call.world.addresses.api}/invoices/{number}.pdf",
        "totalCents": money.spent_between(_services(call), month.start, month.end),
        "period": month.period,
    }


@router.get("/api/billing/statements", name="billing.statements")
async def list_statements(call: Current, request: Request) -> Response:
    """List one statement for each month."""
    found = billing.months(call.world, call.account)
    views = [_statement(call, month, False) for month in found]
    return call.listing(views, request.query_params)


@router.get("/api/billing/statements/{period}", name="billing.statement")
async def read_statement(call: Current, period: str) -> Response:
    """Return the statement of a month, by service."""
    if not PERIOD.fullmatch(period):
        raise RefusedError("period must have the form YYYY-MM")
    for month in billing.months(call.world, call.account):
        if month.period == period:
            return call.json(_statement(call, month, True))
    raise AbsentError("Statement")


def _statement(call: Call, month: billing.Month, whole: bool) -> dict[str, Any]:
    total = money.spent_between(_services(call), month.start, month.end)
    view: dict[str, Any] = {"period": month.period, "totalCents": total}
    if whole:
        view["services"] = [
            {"id": service.id, "name": service.name, "totalCents": cents}
            for service in _services(call)
            if (cents := money.spent_between([service], month.start, month.end))
        ]
    return view
