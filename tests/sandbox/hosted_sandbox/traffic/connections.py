# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to the TCP connection of a request, so that a fault can cut it."""

from __future__ import annotations

import asyncio
import socket
import struct
from dataclasses import dataclass, field
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

Client = tuple[str, int]


@dataclass
class _Connection:
    transport: Any
    closed: asyncio.Event = field(default_factory=asyncio.Event)


#: Open connections by client address, as in the ASGI scope.
_OPEN: dict[Client, _Connection] = {}


class _CoalescingTransport:
    """A transport that joins writes in one iteration, as of a response's head and body, into one packet."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._waiting: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._flush)
        self._waiting.append(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        data, self._waiting = b"".join(self._waiting), []
        if data and not self._transport.is_closing():
            self._transport.write(data)


class Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's HTTP protocol, which also registers its connections."""

    def connection_made(self, transport: Any) -> None:
        """Register the connection."""
        joined = _CoalescingTransport(transport)
        _OPEN[transport.get_extra_info("peername")[:2]] = _Connection(joined)
        super().connection_made(joined)

    def connection_lost(self, exc: Exception | None) -> None:
        """Unregister the connection."""
        connection = _OPEN.pop(self.transport.get_extra_info("peername")[:2], None)
        if connection is not None:
            connection.closed.set()
        super().connection_lost(exc)


def reset(client: Client) -> None:
    """Close a client's connection at once, with a TCP reset and without sending what is buffered."""
    connection = _OPEN.get(client)
    if connection is not None:
        sock = connection.transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.transport.abort()


def reset_all() -> None:
    """Reset every client's connection, such as those that wait for a response that never comes."""
    for client in list(_OPEN):
        reset(client)


def hang_up(client: Client) -> None:
    """Close a client's connection after what was sent, like a server that fails half-way."""
    connection = _OPEN.get(client)
    if connection is not None:
        connection.transport.close()


async def gone(client: Client, seconds: float) -> bool:
    """Wait so long, or until a client closes its connection; tell whether it did."""
    connection = _OPEN.get(client)
    if connection is None:
        return True
    try:
        await asyncio.wait_for(connection.closed.wait(), seconds)
    except TimeoutError:
        return False
    return True
