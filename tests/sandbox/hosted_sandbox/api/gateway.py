# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway that every request passes before and after its route: limits, token, faults, journal."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hosted_sandbox.api.app import failure
from hosted_sandbox.api.call import Call
from hosted_sandbox.clock import SECOND
from hosted_sandbox.domain.files import has_dot_dot
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Token
from hosted_sandbox.traffic.faults import Fault, Faults
from hosted_sandbox.traffic.journal import Journal
from hosted_sandbox.traffic.routes import Route, RouteTable

#: Refuse larger request bodies without reading them.
MOST_BODY = 16 * 1024 * 1024
logger = logging.getLogger("sandbox")


@dataclass
class Answer:
    """A response that is held until faults and journal have seen it."""

    status: int = 500
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""

    async def take(self, message: Message) -> None:
        """Collect an ASGI message of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message.get("headers", []))
        else:
            self.body += message.get("body", b"")

    @classmethod
    def of(cls, response: Response) -> Answer:
        """Copy a complete response."""
        return cls(response.status_code, list(response.raw_headers), bytes(response.body))

    async def send(self, send: Send) -> None:
        """Send the response."""
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        await send({"type": "http.response.body", "body": self.body})


class TooLargeError(Exception):
    """A request body is larger than the sandbox accepts."""


class Gateway:
    """The ASGI application that the API port serves."""

    def __init__(
        self,
        world: World,
        apis: Mapping[str, ASGIApp],
        *,
        faults: Faults,
        journal: Journal,
        routes: RouteTable,
    ) -> None:
        self.world = world
        self.apis = apis
        self.faults = faults
        self.journal = journal
        self.routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        begun = time.perf_counter()
        headers = Headers(scope=scope)
        route = self.routes.find(scope["method"], scope["path"])
        token = self._token(headers)
        try:
            body = await _read(receive, headers)
        except TooLargeError:
            answer = Answer.of(failure(413, "The request body is too large"))
            self.journal.write(scope, route, token, b"", begun=begun, held=(answer.status, answer.body))
            await answer.send(send)
            return
        fault = self.faults.match(route)
        if fault is not None and not fault.acts_after:
            self.journal.write(scope, route, token, body, begun=begun, fault=fault.kind)
            if await fault.inject(scope, send, None):
                return
        answer = await self._answer(scope, route, token, body)
        answer.headers = self._headers(answer.headers)
        kind = fault.kind if fault is not None else None
        held = (answer.status, answer.body)
        self.journal.write(scope, route, token, body, begun=begun, held=held, fault=kind)
        if fault is None or not fault.acts_after or not await _inject(fault, scope, send, answer):
            await answer.send(send)

    async def _answer(self, scope: Scope, route: Route | None, token: Token | None, body: bytes) -> Answer:
        self.world.tick()
        self.world.begin(reads=scope["method"] == "GET")
        early = self._early(scope, route, token)
        if early is not None:
            return early
        assert token is not None
        assert route is not None
        account = self.world.store.need(Account, token.account_id)
        scope["sandbox.call"] = Call(self.world, account, token.scope)
        answer = Answer()
        try:
            await self.apis[route.name](scope, replay(body), answer.take)
        except Exception:
            logger.exception("a route handler failed")
            answer = Answer.of(failure(500, "The sandbox failed; see its output"))
        return answer

    def _early(self, scope: Scope, route: Route | None, token: Token | None) -> Answer | None:
        """Build the response of a request that does not reach its route."""
        if route is None or has_dot_dot(scope["path"]):
            return Answer.of(failure(404, "No such route"))
        if token is None:
            return Answer.of(failure(401, "A valid API token is required"))
        if not route.allows(token.scope):
            return Answer.of(failure(403, "This route requires a token of scope FULL"))
        return None

    def _token(self, headers: Headers) -> Token | None:
        """Return the token of a request, or None if it is unknown or missing."""
        value = headers.get(self.world.auth.header, "")
        if self.world.auth.scheme:
            scheme, __, value = value.partition(" ")
            if scheme.lower() != self.world.auth.scheme.lower():
                return None
        return self.world.store.get(Token, value.strip())

    def _headers(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        """Add the platform's time to the headers of a response."""
        now = self.world.clock.now() // SECOND
        return [*headers, (b"date", formatdate(now, usegmt=True).encode())]


async def _inject(fault: Fault, scope: Scope, send: Send, answer: Answer) -> bool:
    return await fault.inject(scope, send, (answer.status, answer.headers, answer.body))


async def _read(receive: Receive, headers: Headers) -> bytes:
    length = headers.get("content-length", "0")
    if length.isdigit() and int(length) > MOST_BODY:
        raise TooLargeError
    body = bytearray()
    while True:
        message = await receive()
        body += message.get("body", b"")
        if len(body) > MOST_BODY:
            raise TooLargeError
        if not message.get("more_body", False):
            return bytes(body)


def replay(body: bytes) -> Receive:
    """Pass a request body to an ASGI application in one piece."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
