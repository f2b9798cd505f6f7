# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Ordering."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Chapter, Current
from hosted_sandbox.domain import money, ordering

router = Chapter(tags=["Ordering"])
UNITS = {"cpuCores": "vCPU", "ramGb": "GB", "storageGb": "GB"}


def _request(body: bodies.Quote) -> ordering.OrderRequest:
    return ordering.OrderRequest(
        product=body.productSlug,
        host=body.hostId,
        size=body.dimensions.model_dump() if body.dimensions else None,
        preset=body.presetId,
        runtime=body.runtimeId,
        project=body.projectId,
        name=body.name if isinstance(body, bodies.Order) else "",
        variables=body.variables or {},
        options=[choice.model_dump() for choice in body.options or []],
    )


@router.post("/api/order/quote", name="order.quote", response_model=shapes.Quote)
async def quote(call: Current, body: bodies.Quote) -> Response:
    """Price an order without placing it."""
    priced = ordering.price_order(call.world, call.account, _request(body))
    return call.json({
        "productSlug": priced.product.id,
        "dimensions": priced.size,
        "lines": _lines(priced),
        "monthlyMillicents": priced.monthly,
        "monthlyCents": money.to_cents(priced.monthly),
        "hourlyLabel": money.hourly_label(priced.monthly),
        "minBalanceCents": priced.minimum,
        "balanceCents": priced.balance,
        "daysCovered": priced.covered_days,
        "coversFirstDay": priced.covers,
    })  # fmt: skip


def _lines(priced: ordering.PricedOrder) -> list[dict[str, Any]]:
    return [
        {
            "label": money.PARTS[part],
            "detail": f"{priced.size[part]} {UNITS[part]}" if part in UNITS else "as chosen",
            "monthlyCents": money.to_cents(amount),
        }
        for part, amount in priced.price.items()
    ]


@router.post("/api/order", name="order.create", response_model=shapes.Ordered, status_code=201)
async def order(call: Current, body: bodies.Order) -> Response:
    """Order a service. Only this response contains the generated secrets."""
    service, secrets = ordering.order(call.world, call.account, _request(body))
    answer = {
        "instanceId": service.id,
        "productSlug": service.product,
        "name": service.name,
        "status": service.status,
        "monthlyMillicents": sum(money.price_of(call.world, service).values()),
        "href": f"/api/resources/{service.id}",
        "secrets": [{"label": f"Database {label}", "value": value} for label, value in secrets.items()],
    }
    return call.json(answer, 201)
