# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of the network or the server, injected before or after the server has acted."""

from __future__ import annotations

import asyncio
import random
from http import HTTPStatus
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.types import Scope, Send

from hosted_sandbox.traffic import connections
from hosted_sandbox.traffic.routes import Route, RouteTable

Kind = Literal["reset", "no_answer", "drip", "status", "truncated", "html", "redirect", "latency"]
HeldResponse = tuple[int, list[tuple[bytes, bytes]], bytes]
NO_ANSWER_SECONDS = 3600.0


class Fault(BaseModel):
    """A fault in requests of `route` (a name, `/path/{template}`, `METHOD /path/{template}`, `*`).

    `nth` is the first matching request to fail, from 1. `count` is how many fail
    (None: all that follow), `probability` with `seed` selects some of them. `when` says whether the
    server acts first. `latency` (seconds) delays the response, alone (kind `latency`) or before the fault.
    `status` and `retry_after` (seconds as a number, or a date as it stands) belong to kind `status`;
    `location` to `redirect`; `interval` (seconds between bytes) to `drip`.
    """

    model_config = ConfigDict(extra="forbid")

    route: str = "*"
    nth: int = Field(1, ge=1)
    count: int | None = Field(1, ge=1)
    probability: float = Field(1.0, ge=0, le=1)
    seed: int = 0
    when: Literal["before", "after"] = "before"
    kind: Kind
    status: int = Field(503, ge=300, le=599)
    retry_after: int | str | None = None
    location: str = "http://elsewhere.invalid/"
    interval: float = Field(0.5, gt=0)
    latency: float = Field(0.0, ge=0)
    seen: int = 0
    injected: int = 0

    @model_validator(mode="after")
    def _needs_an_answer(self) -> Fault:
        if self.kind in ("drip", "truncated", "latency"):
            self.when = "after"
        return self

    @property
    def acts_after(self) -> bool:
        """True if the server acts before the fault is injected."""
        return self.when == "after"

    def matches(self, route: Route | None) -> bool:
        """Tell whether the fault applies to a route."""
        if self.route == "*":
            return True
        return route is not None and route.matches(self.route)

    def due(self, draw: random.Random) -> bool:
        """Count a matching request; tell whether this one fails."""
        self.seen += 1
        if self.seen < self.nth or (self.count is not None and self.injected >= self.count):
            return False
        if self.probability < 1 and draw.random() >= self.probability:
            return False
        self.injected += 1
        return True

    async def inject(self, scope: Scope, send: Send, held: HeldResponse | None) -> bool:
        """Inject the fault. Return False if the response must still be sent as it is."""
        await asyncio.sleep(self.latency)
        match self.kind:
            case "reset":
                connections.reset(scope["client"])
                await asyncio.sleep(0.01)
            case "no_answer":
                await connections.gone(scope["client"], NO_ANSWER_SECONDS)
            case "status":
                await _respond(send, self.status, self._error(), self._headers())
            case "html":
                page = b"<html><head><title>Oops</title></head><body><h1>Oops</h1></body></html>"
                # A 204 has no room for a page; what writes one in its place announces a success with a body.
                status = held[0] if held and held[0] != HTTPStatus.NO_CONTENT else HTTPStatus.OK
                await _respond(send, status, page, [(b"content-type", b"text/html")])
            case "redirect":
                await _respond(send, 307, b"", [(b"location", self.location.encode())])
            case "truncated" if held is not None:
                await _cut(scope, send, held)
            case "drip" if held is not None:
                await _drip(scope, send, held, self.interval)
            case _:
                return False
        return True

    def _headers(self) -> list[tuple[bytes, bytes]]:
        headers = [(b"content-type", b"application/json")]
        if self.retry_after is not None:
            headers.append((b"retry-after", str(self.retry_after).encode()))
        return headers

    def _error(self) -> bytes:
        return f'{{"statusCode":{self.status},"message":"Fault"}}'.encode()


async def _respond(send: Send, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body})


async def _cut(scope: Scope, send: Send, held: HeldResponse) -> None:
    """Announce the whole length, send half of it, and close the connection."""
    status, headers, body = held
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
    connections.hang_up(scope["client"])
    await asyncio.sleep(0.01)


async def _drip(scope: Scope, send: Send, held: HeldResponse, interval: float) -> None:
    status, headers, body = held
    await send({"type": "http.response.start", "status": status, "headers": headers})
    for at in range(len(body)):
        await send({"type": "http.response.body", "body": body[at : at + 1], "more_body": True})
        if await connections.gone(scope["client"], interval):
            return
    await send({"type": "http.response.body", "body": b""})


def _read(document: dict[str, Any]) -> Fault:
    """Return a fault from its JSON form; raise ValueError in one line if it makes no sense."""
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind is not None and kind not in get_args(Kind):
        raise ValueError(f"no fault has the kind {kind!r}; known: {', '.join(get_args(Kind))}")
    try:
        return Fault.model_validate(document)
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc'])) or 'fault'}: {one['msg']}" for one in error.errors())
        raise ValueError("; ".join(told)) from None


class Faults:
    """The active faults, tried in order; at most one applies to a request."""

    def __init__(self, routes: RouteTable) -> None:
        self._routes = routes
        self._set: list[tuple[Fault, random.Random]] = []

    def add(self, document: dict[str, Any]) -> Fault:
        """Add a fault in its JSON form; raise ValueError if it is malformed or its route is unknown."""
        fault = _read(document)
        if fault.route != "*":
            self._routes.named(fault.route)
        self._set.append((fault, random.Random(fault.seed)))
        return fault

    def clear(self) -> None:
        """Remove all faults."""
        self._set.clear()

    def all(self) -> list[dict[str, Any]]:
        """Return the faults, each with its numbers of requests seen and failed."""
        return [fault.model_dump() for fault, __ in self._set]

    def match(self, route: Route | None) -> Fault | None:
        """Return the fault for this request, if any; every fault of the route counts the request."""
        found = None
        for fault, draw in self._set:
            if fault.matches(route) and fault.due(draw) and found is None:
                found = fault
        return found
