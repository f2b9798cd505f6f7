# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that keeps connections to the platform open, so that not every task has to make its own.

Ansible forks a worker for each task, and what a worker opens ends with it: a TCP connection, its TLS
handshake, three round trips before the first answer. So the first task of a run forks one process more.
It carries out the requests of all tasks over connections that stay open, and ends with the run. Workers
reach it through a socket in the run's own temporary folder, which nobody else may enter.

It knows no routes and repeats nothing: to the caller it is as a network that is nearer. Where it cannot
be had, a worker uses connections of its own.
"""

from __future__ import annotations

import dataclasses
import json
import os
import selectors
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Client, Connection
from typing import NoReturn

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
    Response,
    Transport,
)

BACKLOG = 128
KEPT_SECONDS = 30.0
"""How long a connection is kept that nobody uses."""
LONGEST_ADDRESS = 100
"""What fits into the address of a socket on every system, in bytes."""
RUN_GOES_ON, RUN_ENDS = os.pipe()
"""Made before Ansible forks: what reads from the first gets an end of file when the last fork is gone."""


def wire_of_run(folder: str) -> Transport:
    """Return a wire to the keeper of this run, whose temporary folder is given; it is started if need be."""
    path = os.path.join(folder, "hosted.services")
    try:
        if not os.path.exists(path):
            start(path)
        return KeptWire(path)
    except OSError:  # no sockets here, no process more, a keeper that was ended by someone
        return HttpTransport()


class KeptWire:
    """Carries out requests through the keeper that listens at ``path``.

    :raises OSError: when nobody does.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._keeper: Connection | None = connected(path)

    def clone(self) -> Transport:
        """Return another one, for another thread."""
        try:
            return KeptWire(self._path)
        except OSError:
            return HttpTransport()

    def close(self) -> None:
        """Leave the keeper, which goes on."""
        if self._keeper is not None:
            self._keeper.close()
            self._keeper = None

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its answer; see :class:`Transport`."""
        if self._keeper is None:
            self._keeper = connected_again(self._path)
        try:
            self._keeper.send_bytes(packed(request, seconds))
            answered = self._keeper.poll(seconds)
            reply = unpacked(self._keeper.recv_bytes()) if answered else None
        except (OSError, EOFError):
            self.close()
            raise errors.Interrupted("the process that keeps the connections ended in the middle") from None
        if reply is None:
            self.close()  # what comes later is the answer to another question
            raise TimeoutError
        return reply


def connected(path: str) -> Connection:
    """Return a connection to the keeper.

    :raises OSError: when there is none.
    """
    with as_address(path) as address:
        return Client(address)


def connected_again(path: str) -> Connection:
    """Return a new connection to a keeper that was there before.

    :raises ConnectionFailed: when it is gone.
    """
    try:
        return connected(path)
    except OSError as error:
        raise errors.ConnectionFailed(f"the process that keeps the connections is gone: {error}") from None


@contextmanager
def as_address(path: str) -> Iterator[str]:
    """Give the path of a socket in a form that is short enough for its address, however deep it lies."""
    if len(os.fsencode(path)) <= LONGEST_ADDRESS:
        yield path
        return
    folder, name = os.path.split(path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield f"/dev/fd/{handle}/{name}"
    finally:
        os.close(handle)


def packed(request: Request, seconds: float) -> bytes:
    """Return a request as the keeper reads it."""
    return json.dumps([vars(request), seconds]).encode()


def unpacked(message: bytes) -> Response:
    """Return the keeper's answer.

    :raises HostedError: when the answer is that there was none.
    :raises KeeperFailure: when the keeper met an error that nobody foresaw.
    """
    head, _line, body = message.partition(b"\n")
    fields = json.loads(head)
    if "error" in fields:
        if "message" not in fields:
            raise KeeperFailure(fields["error"])
        kind: type[errors.HostedError] = getattr(errors, fields["error"])
        raise kind(fields["message"])
    return Response(body=body, **fields)


class KeeperFailure(Exception):
    """A defect, met in the process that keeps the connections. Says its kind: its text may hold secrets."""


def start(path: str) -> None:
    """Fork the keeper. It can be reached when this returns.

    :raises OSError: also when another worker was quicker.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        with as_address(path) as address:
            listener.bind(address)
        listener.listen(BACKLOG)
        if os.fork() == 0:
            live_apart(listener)
    finally:
        listener.close()


def live_apart(listener: socket.socket) -> NoReturn:
    """Be the keeper: no terminal, no signals of the run, none of its files but the two that are needed."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        needed = {listener.fileno(), RUN_GOES_ON}
        for number in map(int, os.listdir("/dev/fd")):
            if number > 2 and number not in needed:
                with suppress(OSError):  # the list itself was one of them
                    os.close(number)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Ansible's own are locked in a fork
        Keeper(listener, RUN_GOES_ON).serve()
    finally:
        os._exit(0)


class Keeper:
    """Carries out requests for all who connect to ``listener``, until ``lifeline`` has an end of file."""

    def __init__(self, listener: socket.socket, lifeline: int) -> None:
        self._listener = listener
        self._lifeline = lifeline
        self._idle: dict[tuple[str, bool | str], list[tuple[float, HttpTransport]]] = {}
        self._lock = threading.Lock()

    def serve(self) -> None:
        """Serve everyone, each in a thread."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._lifeline, selectors.EVENT_READ)
            while all(key.fileobj is self._listener for key, _events in selector.select()):
                worker = Connection(self._listener.accept()[0].detach())
                threading.Thread(target=self._serve_one, args=(worker,), daemon=True).start()

    def _serve_one(self, worker: Connection) -> None:
        with worker, suppress(OSError, EOFError):  # that is how each of them leaves
            while True:
                fields, seconds = json.loads(worker.recv_bytes())
                worker.send_bytes(self._answer(Request(**fields), seconds))

    def _answer(self, request: Request, seconds: float) -> bytes:
        """Carry out a request and return what :func:`unpacked` reads."""
        wire = self._borrow(request)
        try:
            reply = wire.send(request, seconds)
        except Exception as error:
            wire.close()
            told = {"message": error.message} if isinstance(error, errors.HostedError) else {}
            return json.dumps({"error": type(error).__name__, **told}).encode()
        self._give_back(request, wire)
        fields = dataclasses.asdict(reply)
        body: bytes = fields.pop("body")
        return json.dumps(fields).encode() + b"\n" + body

    def _borrow(self, request: Request) -> HttpTransport:
        """Return the wire to this server that was used last, or a new one."""
        with self._lock:
            wires = self._idle.get(request.peer, [])
            while wires:
                since, wire = wires.pop()
                if time.monotonic() - since < KEPT_SECONDS:
                    return wire
                wire.close()
        return HttpTransport()

    def _give_back(self, request: Request, wire: HttpTransport) -> None:
        with self._lock:
            self._idle.setdefault(request.peer, []).append((time.monotonic(), wire))
