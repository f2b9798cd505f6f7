# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to the TCP connection under a request, so that a fault can cut it."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

#: Open connections by the address of their client, as the ASGI scope names it.
_OPEN: dict[tuple[str, int], asyncio.Transport] = {}


class Protocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """uvicorn's HTTP protocol, which also keeps a book of its connections."""

    def connection_made(self, transport: Any) -> None:
        """Enter the connection in the book."""
        _OPEN[transport.get_extra_info("peername")[:2]] = transport
        super().connection_made(transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take it out again."""
        _OPEN.pop(self.transport.get_extra_info("peername")[:2], None)
        super().connection_lost(exc)


def reset(client: tuple[str, int]) -> None:
    """Close a client's connection at once, with a TCP reset and without sending what is buffered."""
    transport = _OPEN.get(client)
    if transport is not None:
        sock = transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()


def hang_up(client: tuple[str, int]) -> None:
    """Close a client's connection after what was sent, as a server that gives up half-way does."""
    transport = _OPEN.get(client)
    if transport is not None:
        transport.close()
