# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Database tunnel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import lifecycle, references
from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.engine import CutError, DatabaseEngine, EngineError
from hosted_sandbox.store.records import Product, Service

router = Chapter(tags=["Database tunnel"])
#: Engines that the tunnel can open.
OPENED = ("postgresql", "mariadb")


def _database(call: Call, key: str) -> Service:
    service = call.service(key)
    if not call.world.store.need(Product, service.product).engine:
        raise RefusedError("This resource is no database")
    return service


def _engine(call: Call, key: str) -> DatabaseEngine:
    service = _database(call, key)
    if lifecycle.state(call.world, service) != "running":
        raise RefusedError("The database is not running")
    kind = call.world.store.need(Product, service.product).engine
    return DatabaseEngine(
        lifecycle.root(call.world, service) / "data",
        engine=kind,
        version=references.VERSIONS.get(kind, "1"),
        database=service.secrets["database"],
        supported=kind in OPENED,
        limit_seconds=call.world.delays.query,
        finishes_cut_writes=call.world.gaps["query.cut"] == "it is carried out all the same",
        takes_several=call.world.gaps["query.several"] != "refused",
    )


async def _ask(call: Call, question: Callable[[], dict[str, Any]]) -> Response:
    """Query the engine in a thread, because it may take seconds."""
    call.world.store.commit()
    try:
        return call.json(await asyncio.to_thread(question))
    except EngineError as error:
        rule = "query_timeout" if isinstance(error, CutError) else ""
        raise RefusedError(str(error), rule) from None


@router.get(
    "/api/resources/{id}/database/connection", name="database.connection", response_model=shapes.Connection
)
async def read_connection(call: Current, id: str) -> Response:
    """Return how a service of the same project connects to the database."""
    return call.json(references.connection(call.world, _database(call, id)))


@router.get("/api/resources/{id}/database", name="database.inventory", response_model=shapes.Inventory)
async def read_inventory(call: Current, id: str) -> Response:
    """List the tables of the database."""
    return await _ask(call, _engine(call, id).inventory)


@router.get("/api/resources/{id}/database/rows", name="database.rows", response_model=shapes.Rows)
async def read_rows(call: Current, id: str, schema: str, table: str, page: int = 0) -> Response:
    """Return a page of 50 rows of a table."""
    engine = _engine(call, id)
    return await _ask(call, lambda: engine.rows(schema, table, min(page, 2**40)))


@router.post("/api/resources/{id}/database/query", name="database.query", response_model=shapes.Rows)
async def run_query(call: Current, id: str, body: bodies.Statement) -> Response:
    """Run one statement with the rights of the database's owner."""
    engine = _engine(call, id)
    return await _ask(call, lambda: engine.query(body.sql))
