# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SSH channel that SFTP runs over. This is the only place that changes how asyncssh works.

asyncssh opens the channel of an SFTP client by itself, without a parameter for either of two things that
decide how fast it is. :func:`open_sftp` therefore opens that channel in its place:

* With a larger window. asyncssh lets a server have 2 MiB under way, so a large file is received at 2 MiB for
  each round trip at most. One file of 256 MiB, at a latency of 40 ms: 5.1 s instead of 12.7 s (2.5 x).
* With a writer that collects requests. asyncssh sends each request in an SSH packet of its own, and an empty
  packet before it. 2,000 files of 0.1 to 8 kB to OpenSSH, without latency: pushed in 2.6 s instead of 3.7 s
  (1.5 x, median of pairs). Processor time: 0.38 s instead of 0.58 s for a push, 0.37 s instead of 0.51 s for
  a pull. At a latency of 40 ms the wall time is the same, but not the processor time.
"""

from __future__ import annotations

import asyncio
from typing import Any

from .library import asyncssh

WINDOW = 8 * 1024 * 1024
"""How much the server may send before it has to wait, in bytes."""
MOST_EMPTY = 100
"""How many answers without a name, one after the other, a server may give of a directory."""


async def open_sftp(connection: Any) -> Any:
    """Open SFTP on an SSH connection and return asyncssh's client."""
    open_session = connection.open_session

    async def open_wide(**options: Any) -> tuple[Any, Any, Any]:
        writer, reader, errors = await open_session(**options, window=WINDOW)
        return RequestCollector(writer), reader, errors

    connection.open_session = open_wide
    sftp = await connection.start_sftp_client()
    ask = sftp._handler.readdir  # the library itself asks until the server says that this is all

    async def read_names(handle: bytes) -> tuple[Any, bool]:
        for _answer in range(MOST_EMPTY):
            names, at_end = await ask(handle)
            if names or at_end:
                return names, at_end
        raise asyncssh.SFTPFailure(f"the server listed it with {MOST_EMPTY} answers that hold no name")

    sftp._handler.readdir = read_names
    return sftp


class RequestCollector:
    """A writer that sends all data of one iteration of the event loop together.

    SFTP is a stream, so an SSH packet can hold many requests.
    """

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._pieces: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this iteration."""
        if not self._pieces:
            asyncio.get_running_loop().call_soon(self._send)
        self._pieces.append(data)

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if not self._writer.channel.is_closing():  # asyncssh tells whoever waits for a response
            self._writer.write(b"".join(pieces))
