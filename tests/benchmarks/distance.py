# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A server on this machine as it is from farther away: a relay, in a process of its own, that is late.

It delays what goes each way by half the latency, and no more: as many bytes may be on their way as there are.
A connection takes a round trip to be made, as others do.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

PIECE = 1 << 18
ON_THEIR_WAY = 256
"""How many pieces may be on their way: more than a fast network holds, so that memory alone is bounded."""


@contextmanager
def distant(host: str, latency: float) -> Iterator[str]:
    """Yield the address of a server that is that many seconds away; its own one, if that is none."""
    if not latency:
        yield host
        return
    command = [sys.executable, __file__, host, str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def delay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
    """Pass on all bytes, each that many seconds after it came."""
    clock = asyncio.get_running_loop().time
    pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(ON_THEIR_WAY)

    async def take() -> None:
        while piece := await reader.read(PIECE):
            await pieces.put((clock() + seconds, piece))
        await pieces.put((clock() + seconds, b""))

    async def give() -> None:
        while True:
            due, piece = await pieces.get()
            await asyncio.sleep(due - clock())
            if not piece:
                break
            writer.write(piece)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    await asyncio.gather(take(), give())


async def serve(host: str, latency: float) -> None:
    """Relay connections to ``host`` until this process is ended; print the address first."""
    name, _colon, port = host.rpartition(":")

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(latency)  # as long as it takes to connect
        far_reader, far_writer = await asyncio.open_connection(name, int(port))
        ways = delay(reader, far_writer, latency / 2), delay(far_reader, writer, latency / 2)
        await asyncio.gather(*ways, return_exceptions=True)
        for each in (writer, far_writer):
            each.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, limit=PIECE)
    print(f"127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1], float(sys.argv[2])))
