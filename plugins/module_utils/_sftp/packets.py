# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fewer packets than the library would send. With many small files, packets are most of its work."""

from __future__ import annotations

import asyncio
from typing import Any

MSG_IGNORE = 2


async def start_sftp(connection: Any) -> Any:
    """Begin SFTP on a connection whose ciphers are none in CBC mode, and return the library's client."""
    without_empty_packets(connection)
    with_gathered_requests(connection)
    return await connection.start_sftp_client()


def without_empty_packets(connection: Any) -> None:
    """Keep the library from putting an empty packet before each of its own.

    They were meant against a weakness of ciphers in CBC mode.
    """
    send = connection.send_packet

    def send_packet(kind: int, *arguments: Any, **options: Any) -> None:
        if kind != MSG_IGNORE:
            send(kind, *arguments, **options)

    connection.send_packet = send_packet


def with_gathered_requests(connection: Any) -> None:
    """Have the sessions of a connection write through a :class:`Gatherer`."""
    open_session = connection.open_session

    async def gathered(**options: Any) -> tuple[Any, Any, Any]:
        writer, reader, errors = await open_session(**options)
        return Gatherer(writer), reader, errors

    connection.open_session = gathered


class Gatherer:
    """A writer that sends in one piece what was written in one turn of the loop.

    SFTP is a stream, so that several requests fit into one packet. The library makes a packet of each.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn."""
        if not self._pieces:
            asyncio.get_running_loop().call_soon(self._send)
        self._pieces.append(data)

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if not self._writer.channel.is_closing():  # whoever waits for an answer is told by the library
            self._writer.write(b"".join(pieces))
