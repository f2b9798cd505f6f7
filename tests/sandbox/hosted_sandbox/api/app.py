# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the API as a FastAPI application, and render every error in the specification's form."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from hosted_sandbox import api as package
from hosted_sandbox.domain.errors import STATED, AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.traffic.routes import RouteTable

TITLE = "Hosted Services Management API (sandbox)"


def chapters() -> Iterator[ModuleType]:
    """Yield the modules next to this one that have routes, by name: one for each chapter."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        if hasattr(module, "router"):
            yield module


def table() -> RouteTable:
    """Return the routes of all chapters."""
    return RouteTable(route for chapter in CHAPTERS for route in chapter.router.routes)


def failure(status: int, message: str, after: int | None = None) -> Response:
    """Build an error response; `after` is the number of seconds to wait before a retry."""
    headers = {} if after is None else {"Retry-After": str(after)}
    return JSONResponse({"statusCode": status, "message": message}, status, headers)


def status_of(world: World, rule: str) -> int:
    """Return the status of the refusal of what breaks a rule."""
    point = f"refusal.{rule}"
    return STATED.get(rule) or world.gaps.status(point if point in POINTS else "refusal.status")


def create_apis(world: World) -> dict[str, FastAPI]:
    """Build one small application per chapter and map each route's name to it, so that routing is fast."""
    apis: dict[str, FastAPI] = {}
    for chapter in CHAPTERS:
        apis |= dict.fromkeys((route.name for route in chapter.router.routes), create_api(world, chapter))
    return apis


def openapi() -> dict[str, Any]:
    """Build the OpenAPI document of the API."""
    document = _with_routes(CHAPTERS).openapi()
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return {**document, "security": [{"token": []}]}


def _with_routes(only: Iterable[ModuleType]) -> FastAPI:
    api = FastAPI(title=TITLE, version="1", docs_url=None, redoc_url=None, openapi_url=None,
                  redirect_slashes=False)  # fmt: skip
    for chapter in only:
        api.include_router(chapter.router)
    return api


def create_api(world: World, chapter: ModuleType) -> FastAPI:
    """Build an application with the routes of a chapter."""
    api = _with_routes([chapter])

    async def refused(__: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return failure(status_of(world, error.rule), error.message, error.after)

    async def absent(__: Request, error: Exception) -> Response:
        assert isinstance(error, AbsentError)
        return failure(404, error.message)

    async def malformed(__: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return failure(status_of(world, ""), _explain(error))

    async def http(__: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return failure(error.status_code, str(error.detail))

    api.add_exception_handler(RefusedError, refused)
    api.add_exception_handler(AbsentError, absent)
    api.add_exception_handler(RequestValidationError, malformed)
    api.add_exception_handler(HTTPException, http)
    return api


def _explain(error: RequestValidationError) -> str:
    """Name the field and what is wrong with it in one line, without echoing the input."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    return f"{where or 'body'}: {first['msg']}"


CHAPTERS = tuple(chapters())
