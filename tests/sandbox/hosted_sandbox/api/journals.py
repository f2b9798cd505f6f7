# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Journals, activity, consumption."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from hosted_sandbox.api import shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.clock import parse
from hosted_sandbox.domain import events, lifecycle, money, views
from hosted_sandbox.domain.capabilities import require
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.store.records import Service

router = Chapter(tags=["Journals, activity, consumption"])
MOST_LINES = 100
BOUNDS = ("hour", "day", "week", "month")


@router.get("/api/resources/{id}/logs", name="logs.read", response_model=shapes.Lines)
async def read_logs(call: Current, id: str, lines: int = MOST_LINES) -> Response:
    """Return the last lines of a service's log; from the retained copy if the node does not respond."""
    service = call.service(id)
    require(call.world, service, "logs")
    return call.json({"lines": last_lines(call, service, lines)})


def last_lines(call: Call, service: Service, most: int) -> list[str]:
    """Return the last lines of a log, oldest first."""
    if not 1 <= most <= MOST_LINES:
        raise RefusedError(f"lines must be between 1 and {MOST_LINES}")
    return lifecycle.workload_of(call.world, service).logs(most)


@router.get("/api/resources/{id}/events", name="events.list", response_model=shapes.Events)
async def list_events(call: Current, id: str, cursor: str | None = None) -> Response:
    """Return a page of the activity journal."""
    found, following = events.page(call.world, call.service(id), cursor)
    return call.json({"items": [views.event(event) for event in found], "nextCursor": following})


@router.get("/api/resources/{id}/usage", name="usage.read", response_model=shapes.Usage)
async def read_usage(call: Current, id: str, length: Annotated[int, Query(alias="range")] = 30) -> Response:
    """Return the cost of a service by day; days without spend are zero."""
    service = call.service(id)
    length = call.bounded_range(length)
    start = money.window(call.world, length)
    return call.json({
        "range": length,
        "totalCents": money.spent_between([service], start, call.world.now),
        "days": [
            {"date": day, "totalCents": cents}
            for day, cents in money.days([service], start, call.world.now)
        ],
    })  # fmt: skip


Bound = Annotated[str | None, Query()]


@router.get(
    "/api/resources/{id}/billed-totals", name="billed_totals.read", response_model=shapes.BilledTotals
)
async def read_billed_totals(
    call: Current,
    id: str,
    *,
    hour: Annotated[str | None, Query(alias="hourStart")] = None,
    day: Annotated[str | None, Query(alias="dayStart")] = None,
    week: Annotated[str | None, Query(alias="weekStart")] = None,
    month: Annotated[str | None, Query(alias="monthStart")] = None,
) -> Response:
    """Return the cost of a service since four times that the caller chooses."""
    service = call.service(id)
    given = dict(zip(BOUNDS, (hour, day, week, month), strict=True))
    starts = {name: _moment(f"{name}Start", text) for name, text in given.items()}
    now = call.world.now
    totals = {f"{name}Cents": money.spent_between([service], start, now) for name, start in starts.items()}
    return call.json(totals)


def _moment(name: str, text: str | None) -> int:
    if not text:
        raise RefusedError(f"{name} is required", "bound_missing")
    try:
        return parse(text)
    except (ValueError, OverflowError):
        raise RefusedError(f"{name} must be an ISO 8601 timestamp") from None
