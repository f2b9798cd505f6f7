# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Shared code of the database modules: the inventory, and rows as lists and dictionaries."""

from __future__ import annotations

from typing import Any

from ..._api.errors import Refused, TokenRejected, UnexpectedAnswer
from ..._api.models import DatabaseConnection, DatabaseInventory, QueryResult, Service, Settings
from ..._api.routes import CONNECTION
from ..services.on_service import OneServiceOptions, service_id
from ..shared.account import Account
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .dump import ENGINES


def check_supported(inventory: DatabaseInventory, service: str | None) -> None:
    if inventory.supported is False:
        raise Invalid(
            f"the tunnel cannot open the engine {inventory.engine!r} of service {service!r}. A neighbor in "
            "its project can; hosted.services.database_info with return_secrets returns the connection",
            engine=inventory.engine,
        )


def find_connection(account: Account, service: Service) -> DatabaseConnection | None:
    """Return how to connect to a database; ``None`` for a service that is none, for which it is refused."""
    try:
        return account.database_connection(service.id)
    except TokenRejected:
        raise
    except Refused as error:
        product = (service.product and service.product.slug) or ""
        if any(engine in product.lower() for engine in ENGINES):
            raise Invalid(
                f"its product is {product!r}, but how to connect to it cannot be read: {error.message}"
            ) from None
        return None


def connection_facts(connection: DatabaseConnection, settings: Settings | None) -> dict[str, Any]:
    facts: dict[str, Any] = dict(connection.as_dict())
    network = settings.network if settings else None
    if network and network.is_public:
        facts |= {"public_host": network.public_ip, "public_port": network.public_port}
    return facts


def connection_url(task: Task[OneServiceOptions]) -> str:
    url = task.account.database_connection(service_id(task)).url
    if not url:
        raise UnexpectedAnswer(f"{CONNECTION}: the field 'url' is missing from the response")
    return url


def as_table(result: QueryResult) -> dict[str, Any]:
    """Return a result with its rows as lists under ``rows`` and as dictionaries under ``records``."""
    names, rows = column_names(result), result.rows or []
    records = [dict(zip(names, row, strict=False)) for row in rows]
    return {**result.as_dict(), "rows": rows, "records": records}


def column_names(result: QueryResult) -> list[str]:
    """Return the names of the columns, each once: the second ``id`` is ``id_2``."""
    found: list[str] = []
    for number, column in enumerate(result.columns or [], 1):
        name = wanted = column.name or f"column_{number}"
        again = 1
        while name in found:
            again += 1
            name = f"{wanted}_{again}"
        found.append(name)
    return found
