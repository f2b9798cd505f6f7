# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection of a database for its project neighbors (spec, section Database connection)."""

from __future__ import annotations

from typing import TypedDict
from urllib.parse import quote


class ConnectionDetails(TypedDict):
    """The response of the connection route."""

    engine: str
    host: str
    port: int
    user: str
    password: str
    database: str
    url: str


def connection_details(
    *, engine: str, host: str, port: int, user: str, password: str, database: str
) -> ConnectionDetails:
    """Build the details; `url` has the same parts, escaped for a client library."""
    login = f"{quote(user, safe='')}:{quote(password, safe='')}"
    return ConnectionDetails(
        engine=engine,
        host=host,
        port=port,
        user=user,
        password=password,
        database=database,
        url=f"{engine}://{login}@{host}:{port}/{quote(database, safe='')}",
    )
