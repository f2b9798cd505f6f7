# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`${alias.FIELD}` in environment values (section Resources and their fields / Cross-service references)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Product, Service

REFERENCE = re.compile(r"\$\{([^.{}]+)\.([^.{}]+)\}")
INTERNAL_DOMAIN = "internal.sandbox.test"
VERSIONS = {"postgresql": "17.2", "mariadb": "11.4.4", "valkey": "8.0.1"}


def neighbors(world: World, service: Service) -> dict[str, Service]:
    """Return the other services of the same project by alias."""
    return {
        other.alias: other
        for other in world.store.of(Service, service.account_id)
        if other.project_id == service.project_id and other.id != service.id and other.status != "DELETED"
    }


def fields(world: World, service: Service) -> dict[str, str]:
    """Return the fields that neighbors may refer to: HOST, PORT, and a database's credentials and URL."""
    product = world.store.need(Product, service.product)
    if product.engine:
        details = connection(world, service)
        return {name.upper(): str(value) for name, value in details.items() if name != "engine"}
    host, port = f"{service.alias}.{INTERNAL_DOMAIN}", str(internal_port(world, service))
    return {"HOST": host, "PORT": port, "URL": f"http://{host}:{port}"}


def connection(world: World, service: Service) -> dict[str, Any]:
    """Return how a project neighbor connects to a database; `url` is escaped for a client library."""
    engine = world.store.need(Product, service.product).engine
    host = service.endpoint.get("host") or f"{service.alias}.{INTERNAL_DOMAIN}"
    port = int(service.endpoint.get("port") or internal_port(world, service))
    user, password, database = (service.secrets[name] for name in ("user", "password", "database"))
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return {
        "engine": engine,
        "host": host,
        "port": port,
        "user": user,
        "password": password,
        "database": database,
        "url": f"{engine}://{login}@{host}:{port}/{quote(database, safe='')}",
    }


def internal_port(world: World, service: Service) -> int:
    """Return the port that project neighbors use."""
    ports = service.image.get("config", {}).get("ports")
    return int(ports[0]) if ports else world.store.need(Product, service.product).internal_port


def check(world: World, service: Service, environment: dict[str, str]) -> None:
    """Refuse references to an unknown neighbor or field."""
    known = neighbors(world, service)
    for name, value in environment.items():
        for alias, field in REFERENCE.findall(value):
            if alias not in known:
                raise RefusedError(f"{name} refers to {alias}, which is no neighbor")
            if field not in fields(world, known[alias]):
                raise RefusedError(f"{name} refers to {alias}.{field}, which does not exist")


def resolve(world: World, service: Service, environment: Mapping[str, str]) -> dict[str, str]:
    """Resolve the references of an environment; raise LookupError if one is broken."""
    known = neighbors(world, service)

    def replace(match: re.Match[str]) -> str:
        alias, field = match.groups()
        if alias not in known:
            raise LookupError(f"{alias} is no neighbor in the project")
        return fields(world, known[alias]).get(field, match.group(0))

    return {name: REFERENCE.sub(replace, value) for name, value in environment.items()}


def edges(world: World, service: Service) -> dict[str, list[str]]:
    """Return the ids of the services that an environment refers to, each with its variables."""
    known = neighbors(world, service)
    found: dict[str, list[str]] = {}
    for name, value in service.environment.items():
        for alias in {alias for alias, __ in REFERENCE.findall(value)}:
            if alias in known:
                found.setdefault(known[alias].id, []).append(name)
    return found
