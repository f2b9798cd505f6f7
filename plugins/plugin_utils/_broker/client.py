# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker's end of the connection broker: send requests through it, or without it where there is none."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Client, Connection
from typing import Any

from ...module_utils._api import errors
from ...module_utils._api.http_transport import HttpTransport, Request, Response, Transport
from .server import start_broker

SOCKET = "hosted.services"
MAX_ADDRESS = 100
"""The longest address of a socket that every system allows, in bytes."""
KEPT: dict[Any, Transport] = {}
"""The transport of the last item of a loop, by what it depends on: Ansible makes an action for each item."""


def connect_to_broker(run_folder: str, environment: str = "", *, keeps: bool = True) -> Transport:
    """Return a transport that uses the broker of this run; start the broker if there is none yet.

    ``run_folder`` is the temporary folder of the run. The transport has connections of its own where no
    broker can be reached or started; if they are not to be kept; and for an ``environment`` of the task, as
    the broker has that of the run. A fork starts anew: two processes that read from one socket would mix up
    their responses.
    """
    key = (os.getpid(), run_folder, environment, keeps)
    if key not in KEPT:
        KEPT.clear()
        KEPT[key] = HttpTransport()
        path = os.path.join(run_folder, SOCKET)
        if keeps and not environment:
            with suppress(OSError):  # no sockets here, no more processes, or somebody killed the broker
                address = path if len(os.fsencode(path)) <= MAX_ADDRESS else short_address(run_folder)
                if not os.path.exists(path):
                    start_broker(address)
                KEPT[key] = BrokerClient(address, Client(address))
    return KEPT[key]


@cache
def short_address(run_folder: str) -> str:
    """Return a short address of the socket in a deep folder, which this process keeps open for it."""
    return f"/dev/fd/{os.open(run_folder, os.O_RDONLY)}/{SOCKET}"


@dataclass
class BrokerClient:
    """Sends requests through the broker that listens at ``address``."""

    address: str
    _broker: Connection | None = None

    def clone(self) -> Transport:
        """Return another one, for another thread; without the broker, a transport of its own."""
        try:
            return BrokerClient(self.address, Client(self.address))
        except OSError:
            return HttpTransport()

    def close(self) -> None:
        if self._broker is not None:
            self._broker.close()
            self._broker = None

    def exchange(self, request: Request, seconds: float) -> Response:
        try:
            broker = self._broker or Client(self.address)
        except OSError as error:
            raise errors.ConnectionFailed(f"the connection broker is gone: {error}") from None
        # A late response must not be taken for that of the next request, whatever ends the wait for it.
        self._broker = None
        try:
            broker.send((request, seconds))
            answer = broker.recv() if broker.poll(seconds) else TimeoutError()
        except (OSError, EOFError):
            broker.close()
            raise errors.Interrupted("the connection broker ended before the response came") from None
        if isinstance(answer, TimeoutError):
            broker.close()
        else:
            self._broker = broker
        if isinstance(answer, Exception):
            raise answer
        response: Response = answer
        return response
