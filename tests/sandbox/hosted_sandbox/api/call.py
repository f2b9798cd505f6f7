# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The context of a route handler: the world, the caller, and responses in shown and in open shapes."""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from starlette.responses import Response

from hosted_sandbox.api.shapes import Error
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Service

ENTRIES_A_PAGE = 5
Handler = Callable[..., Awaitable[Response]]


@dataclass
class Call:
    """One authenticated call."""

    world: World
    account: Account
    scope: str

    def service(self, service_id: str) -> Service:
        """Return a service of the account; those of other accounts look as if they did not exist."""
        service = self.world.store.get(Service, service_id)
        if service is None or service.account_id != self.account.id:
            raise AbsentError("Resource")
        if service.status == "DELETED":
            raise AbsentError("Resource")
        return service

    def json(self, data: Any, status: int = 200) -> Response:
        """Build a response whose shape is shown."""
        return JSONResponse(data, status)

    def written(self, view: Callable[[], Any], *, creates: bool = False) -> Response:
        """Build the response to a write, whose shape is not shown; `view` returns the object."""
        status = 201 if creates else 200
        match self.world.gaps["answer"]:
            case "empty 204":
                return Response(status_code=204)
            case "item":
                return JSONResponse({"item": view()}, status)
            case _:
                return JSONResponse(view(), status)

    def listing(self, items: list[Any], query: Mapping[str, str]) -> Response:
        """Build a list in a shape that is not shown; `query` may name the cursor of a page."""
        match self.world.gaps["list.shape"]:
            case "array":
                return JSONResponse(items)
            case "cursor":
                return JSONResponse(page_of(items, query))
            case _:
                return JSONResponse({"items": items})

    def bounded_range(self, days: int) -> int:
        """Limit a window of days to what the platform keeps."""
        if days < 1:
            raise RefusedError("range must be at least 1")
        if days > 365:
            raise RefusedError("range must be at most 365")
        return days


def page_of(views: list[Any], query: Mapping[str, str]) -> dict[str, Any]:
    """Return one page of a list."""
    asked = query.get("cursor", "")
    start = int(asked) if asked.isdecimal() else 0
    end = start + ENTRIES_A_PAGE
    return {"items": views[start:end], "nextCursor": str(end) if len(views) > end else None}


async def _current(request: Request) -> Call:
    call: Call = request.scope["sandbox.call"]
    return call


Current = Annotated[Call, Depends(_current)]


def _transactional(endpoint: Handler) -> Handler:
    @functools.wraps(endpoint)
    async def run(**values: Any) -> Response:
        with values["call"].world.store.transaction():
            return await endpoint(**values)

    return run


#: What the OpenAPI document says of all errors, and of what a write answers if that is not shown.
ERRORS = {"default": {"model": Error, "description": "Refused."}}
OPEN = {"2XX": {"description": "Not shown by the specification: it may be any JSON value, or empty."}}


class Chapter(APIRouter):
    """Routes whose handlers each run in one transaction: an error rolls back all their writes.

    The `response_model` of a route is what the specification shows of its response.
    """

    def add_api_route(self, path: str, endpoint: Handler, **options: Any) -> None:
        options["operation_id"] = options["name"]
        options["responses"] = ERRORS if options["response_model"] else ERRORS | OPEN
        super().add_api_route(path, _transactional(endpoint), **options)
