# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The request journal: every request and its response."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from itertools import islice, takewhile
from typing import Any

from starlette.datastructures import Headers, QueryParams
from starlette.types import Scope

from hosted_sandbox.clock import stamp
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Token
from hosted_sandbox.traffic.routes import Route, RouteTable

KEPT = 20_000
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
#: How many bytes of a body to keep.
KEPT_BYTES = 256 * 1024


def decoded(body: bytes) -> Any:
    """Decode a body as JSON, else as text; None if it is empty."""
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return body.decode(errors="replace")


class Journal:
    """The last requests, decoded when they are read."""

    def __init__(self, world: World, routes: RouteTable) -> None:
        self._world = world
        self._routes = routes
        self._lines: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._count = 0
        self.listener: Callable[[dict[str, Any]], None] = lambda line: None
        """Called with each line, before the response is sent."""

    def write(
        self,
        scope: Scope,
        route: Route | None,
        token: Token | None,
        body: bytes,
        *,
        begun: float,
        held: tuple[int | None, bytes] = (None, b""),
        fault: str | None = None,
    ) -> None:
        """Record a request with its status and body: no status if the server did not act.

        `begun` is when it came, by the machine's steady clock.
        """
        self._count += 1
        line = {
            "n": self._count,
            "at": self._world.clock.now(),
            "real_at": time.time(),
            "ms": round((time.perf_counter() - begun) * 1000, 1),
            "route": route.name if route else None,
            "method": scope["method"],
            "template": route.template if route else None,
            "path": scope["path"],
            "query": scope["query_string"],
            "agent": Headers(scope=scope).get("user-agent", ""),
            "token": token.scope if token else None,
            "body": body[:KEPT_BYTES],
            "status": held[0],
            "answer": held[1][:KEPT_BYTES],
            "fault": fault,
        }
        self._lines.append(line)
        self.listener(line)

    def clear(self) -> None:
        """Delete all requests; the numbering continues."""
        self._lines.clear()

    def latest(self, count: int, writes: bool = False) -> list[dict[str, Any]]:
        """Return the last requests as they were recorded, newest first; with `writes`, without every GET."""
        chosen = (line for line in reversed(self._lines) if not writes or line["method"] != "GET")
        return list(islice(chosen, count))

    def __len__(self) -> int:
        return len(self._lines)

    def read(
        self, route: str | None = None, method: str | None = None, after: int = 0
    ) -> list[dict[str, Any]]:
        """Return the requests of a route and method, oldest first; raise ValueError if one is unknown.

        With `after`, only those with a higher number.
        """
        names = self._routes.named(route) if route is not None else None
        if method is not None and method not in METHODS:
            raise ValueError(f"no requests have method {method!r}; known: {', '.join(METHODS)}")
        chosen = (
            line
            for line in self._since(after)
            if (names is None or line["route"] in names) and (method is None or line["method"] == method)
        )
        return [self._shown(line) for line in chosen]

    def _since(self, after: int) -> list[dict[str, Any]]:
        """Return the lines with a higher number, without looking at the others."""
        newest_first = takewhile(lambda line: line["n"] > after, reversed(self._lines))
        return list(newest_first)[::-1]

    def _shown(self, line: dict[str, Any]) -> dict[str, Any]:
        return {
            **line,
            "at": stamp(line["at"]),
            "query": dict(QueryParams(line["query"])),
            "body": decoded(line["body"]),
            "answer": decoded(line["answer"]),
        }
