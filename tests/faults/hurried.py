# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection with the clock in hand: pauses take no time, and every exchange can be struck and is noted.

What runs is the collection's own code with its own time-outs, pauses and quiet periods. Only the clock that
it reads is ours: a pause moves it, and moves the frozen clock of the sandbox along; a call whose answer never
comes is given up after :data:`SILENCE` real seconds and moves it by the whole time-out. So a run is quick,
and the same every time. Threads are limited to one at a time, for the same reason.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import importlib
import json
import math
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from unittest import mock
from urllib.parse import urlsplit

from ansible_collections.hosted.services.plugins.module_utils import _resources
from ansible_collections.hosted.services.plugins.module_utils._api import bounded_call, client, http_transport
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConnectionFailed
from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES, Route
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from hosted_sandbox.embedded import Embedded

PACKAGE = _resources.__name__.rpartition(".")[0]
SILENCE = 2.5
"""Half the real seconds after which a connection is closed whose answer was given up."""
PATIENCE = 60.0
"""Real seconds for every other answer: a busy machine is no fault."""
T = TypeVar("T")


@dataclass
class Exchange:
    """A request as the collection knows it: what it sent, and what it learnt."""

    number: int
    method: str
    path: str
    body: Any
    status: int | None = None
    answer: bytes = b""
    sent: bool = True

    @property
    def route(self) -> Route[Any]:
        """The route that was called."""
        return route_of(self.method, self.path)

    @property
    def writes(self) -> bool:
        """Whether it may change something."""
        return self.route.idempotency.name != "READ"

    @property
    def turned_away(self) -> bool:
        """Whether the collection knows that the platform did not act."""
        return not self.sent or (self.status is not None and 400 <= self.status < 500)


@lru_cache(maxsize=10_000)
def route_of(method: str, path: str) -> Route[Any]:
    """Return the route of a path; words win over placeholders."""
    parts = path.split("/")

    def fits(route: Route[Any]) -> bool:
        template = route.path.split("/")
        return (
            route.method == method
            and len(template) == len(parts)
            and all(name == part or name.startswith("{") for name, part in zip(template, parts, strict=True))
        )

    return min((route for route in ROUTES.values() if fits(route)), key=lambda route: route.path.count("{"))


@dataclass
class Clock:
    """Stands in for the module ``time``: pauses move it, and ``follow`` is told of each."""

    follow: Callable[[float], object]
    now: float = 1000.0

    def monotonic(self) -> float:
        """Return the time that the collection believes in."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass at once. The shortest pause moves the clock too, or a wait might never end."""
        if seconds > 0:
            self.now = max(self.now + seconds, math.nextafter(self.now, math.inf))
            self.follow(seconds)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@dataclass
class FaultyTransport:
    """All exchanges of a task, and what is to befall them.

    ``refused`` are the numbers of those whose connection is refused, ``silent`` of those that get no answer.
    """

    clock: Clock
    platform: Embedded
    refused: frozenset[int] = frozenset()
    silent: frozenset[int] = frozenset()
    watch: Callable[[str], None] = lambda request: None
    """Told of each request before it is sent."""
    exchanges: list[Exchange] = field(default_factory=list)
    overrun: float = 0.0
    last_send: float = 0.0

    def exchange(self, original: Callable[..., Any], own: Any, *arguments: Any) -> Any:
        """Make one exchange in place of the transport, and note it."""
        request, seconds = arguments
        note = Exchange(len(self.exchanges) + 1, request.method, urlsplit(request.url).path, request.body)
        self.exchanges.append(note)
        self.watch(f"{note.method} {note.path}")
        if note.number in self.refused:
            request = dataclasses.replace(request, url=elsewhere(request.url))
        real = min(seconds, 2 * SILENCE if note.number in self.silent else PATIENCE)
        try:
            reply = original(own, request, real)
        except ConnectionFailed:
            note.sent = False
            raise
        note.status, note.answer = reply.status, reply.body
        return reply

    def within(self, original: Callable[..., T], seconds: float, call: Callable[[], T]) -> T:
        """Bound a call in real time as short as its fate allows, and in the collection's time as it asked."""
        silent = len(self.exchanges) + 1 in self.silent
        try:
            return original(min(seconds, PATIENCE), self.until_silence(call) if silent else call)
        except TimeoutError:
            self.clock.sleep(seconds)
            raise

    def until_silence(self, call: Callable[[], T]) -> Callable[[], T]:
        """Return a call that is given up at the moment in which the platform leaves it without an answer."""

        def bounded() -> T:
            answer, silence = Future[T](), Future[None]()

            def fall_silent() -> None:
                if not silence.done():  # another request of the same task may be left without an answer too
                    silence.set_result(None)

            self.platform.on_silence = fall_silent
            threading.Thread(target=fulfil, args=[answer, call], daemon=True).start()
            either: list[Future[Any]] = [answer, silence]
            concurrent.futures.wait(either, PATIENCE, concurrent.futures.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise TimeoutError

        return bounded

    def send(
        self, original: Callable[..., Any], own: Any, route: Route[Any], *rest: Any, **named: Any
    ) -> Any:
        """Make a call with all its tries, and measure by how much it outlasts what it is allowed."""
        begun = self.clock.now
        seconds = named.get("seconds", rest[3] if len(rest) > 3 else None)
        allowed = max(own.connection.timeout, route.min_timeout) if seconds is None else seconds
        try:
            return original(own, route, *rest, **named)
        finally:
            self.last_send = self.clock.now - begun
            self.overrun = max(self.overrun, self.last_send - allowed)

    def wait(self, original: Callable[..., T], task: Any, *rest: Any, **named: Any) -> T:
        """Wait for something, and measure by how much that outlasts ``wait_timeout`` and the last look."""
        begun = self.clock.now
        try:
            return original(task, *rest, **named)
        finally:
            beyond = self.clock.now - begun - task.options.wait_timeout - self.last_send
            self.overrun = max(self.overrun, beyond)


def fulfil(answer: Future[T], call: Callable[[], T]) -> None:
    """Make a call, and hand over what came of it."""
    try:
        answer.set_result(call())
    except BaseException as error:
        answer.set_exception(error)


def elsewhere(url: str) -> str:
    """Return the URL on a port of this machine where nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    return urlsplit(url)._replace(netloc=f"127.0.0.1:{port}").geturl()


@cache
def modules() -> tuple[ModuleType, ...]:
    """Return all modules that look at the clock or wait."""
    folder = Path(next(iter(_resources.__path__)))
    files = [path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py")]
    ours = [".".join([_resources.__name__, *path.parts]) for path in files]
    api = [name for name in sys.modules if name.startswith(f"{PACKAGE}._api.")]
    return tuple(importlib.import_module(name) for name in [*ours, *api])


@contextmanager
def hurried(transport: FaultyTransport) -> Iterator[None]:
    """Let the collection run on this transport and by its clock."""
    exchange, within, send = (
        http_transport.HttpTransport.send,
        bounded_call.run_bounded,
        client.Client.call,
    )
    wait = waiting.wait_until

    def replace(owner: Any, name: str, value: Any) -> None:
        stack.enter_context(mock.patch.object(owner, name, value))

    with ExitStack() as stack:
        replace(http_transport.HttpTransport, "send", lambda own, *a: transport.exchange(exchange, own, *a))
        replace(client.Client, "call", lambda own, *a, **k: transport.send(send, own, *a, **k))
        for module in modules():
            if vars(module).get("time") is time:
                replace(module, "time", transport.clock)
            if vars(module).get("run_bounded") is within:
                replace(module, "run_bounded", lambda *a: transport.within(within, *a))
            if vars(module).get("wait_until") is wait:
                replace(module, "wait_until", lambda task, *a, **k: transport.wait(wait, task, *a, **k))
        replace(waiting.run_parallel, "__defaults__", (1,))
        yield


def one_time_secrets(exchanges: list[Exchange]) -> list[str]:
    """Return the secrets that reached the collection whole and that no other answer shows."""
    found: list[str] = []
    for exchange in exchanges:
        if exchange.status is None or not 200 <= exchange.status < 300:
            continue
        if exchange.route in (ROUTES["ORDER"], ROUTES["SFTP_PASSWORD"]):
            found += secrets_in(exchange.answer)
    return found


def secrets_in(body: bytes) -> list[str]:
    """Return the values under which an order or a password gives away something."""
    try:
        answer = json.loads(body)
    except ValueError:  # a page of a proxy, say
        return []
    values = [secret.get("value") for secret in answer.get("secrets") or []]
    return [value for value in [*values, answer.get("password")] if value]
