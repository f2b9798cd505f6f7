# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A faster way for the content of a large file: SFTP requests over a pipe to OpenSSH's client.

That program encrypts on a processor of its own, at a fraction of what it costs in Python. Only content goes
this way: files are made, finished and put in their places over the session. Whatever is against it, from a
missing program to a server that wants no further connection, leaves the ordinary way.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import subprocess
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice
from typing import IO, cast

from .blocks import Blocks, Moved, Shrank, read_whole
from .trees import gather

WORTH_IT = 64 * 1024 * 1024
"""From this size on, in bytes, further connections pay."""
PIPES = 2
"""How many carry one file. Each can use a processor of its own at either end, and has its own window."""
AT_ONCE = 16
"""How many requests are under way. Few enough that neither side ever waits for the other to read."""
PIPE_BYTES = 1024 * 1024
PROTOCOL = 3
INIT, OPEN, CLOSE, READ, WRITE = 1, 3, 4, 5, 6
VERSION, STATUS, HANDLE, DATA = 2, 101, 102, 103
FOR_READING, FOR_WRITING = 1, 2
OK, END_OF_FILE = 0, 1


class NotThisWay(Exception):
    """The pipe cannot be used, or broke. The ordinary way can be taken, and tells of what is wrong."""


class Pipe:
    """A program that carries SFTP, spoken to one request after another. All methods block."""

    def __init__(self, command: Sequence[str]) -> None:
        # The program is ssh, its arguments are checked options. AnsibleModule.run_command, which ansible-test
        # asks for, returns when the program ends, so that nobody could speak with it.
        self._process = subprocess.Popen(  # noqa: S603  # pylint: disable=ansible-bad-function
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._to = cast(IO[bytes], self._process.stdin)
        self._from = cast(IO[bytes], self._process.stdout)
        for end in (self._to, self._from):  # so that neither side is woken for every few blocks of memory
            with suppress(AttributeError, OSError):  # which only Linux can do, up to a limit
                fcntl.fcntl(end, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._number = 0

    def stop(self) -> None:
        """End the program. Whoever waits for it is told so."""
        self._process.kill()

    def close(self) -> None:
        """End the program and let go of it."""
        self.stop()
        self._process.wait()
        for end in (self._to, self._from):
            with suppress(OSError):  # something was left to say, which nobody hears
                end.close()

    # --- Whole files ------------------------------------------------------------------------------

    def send(self, handle: int, path: bytes, blocks: Blocks, moved: Moved) -> None:
        """Write blocks of a file of this machine to one that is there on the server."""
        remote = self._begin(path, FOR_WRITING)
        under_way: deque[int] = deque()
        for offset, length in blocks:
            data = read_whole(handle, offset, length)
            if len(under_way) == AT_ONCE:
                self._confirm()
                moved(under_way.popleft())
            self._request(WRITE, string(remote) + struct.pack(">QI", offset, length), data)
            under_way.append(length)
        while under_way:
            self._confirm()
            moved(under_way.popleft())
        self._request(CLOSE, string(remote))
        self._confirm()

    def fetch(self, path: bytes, handle: int, blocks: Blocks, moved: Moved) -> None:
        """Write blocks of a file of the server to one of this machine."""
        remote = self._begin(path, FOR_READING)
        todo = iter(blocks)
        under_way: dict[int, tuple[int, int]] = {}

        def ask(offset: int, length: int) -> None:
            asked = self._request(READ, string(remote) + struct.pack(">QI", offset, length))
            under_way[asked] = (offset, length)

        for block in islice(todo, AT_ONCE):
            ask(*block)
        while under_way:
            answered, data = self._data()
            offset, length = under_way.pop(answered)
            written = os.pwrite(handle, data, offset)
            moved(written)
            # A server may send less than it was asked for.
            rest = (offset + written, length - written) if written < length else next(todo, None)
            if rest:
                ask(*rest)

    # --- Requests and their answers ---------------------------------------------------------------

    def _begin(self, path: bytes, purpose: int) -> bytes:
        """Agree on the protocol and open a file; return the server's handle of it."""
        self._write(struct.pack(">IBI", 5, INIT, PROTOCOL))
        kind = self._answer()[0]
        if kind != VERSION:
            raise NotThisWay
        self._request(OPEN, string(path) + struct.pack(">II", purpose, 0))
        kind, __, body = self._answer()
        if kind != HANDLE:
            raise NotThisWay
        return body[4:]

    def _request(self, kind: int, body: bytes, data: bytes = b"") -> int:
        """Send a request and return its number."""
        self._number += 1
        size = 1 + 4 + len(body) + len(data)
        self._write(struct.pack(">IBI", size, kind, self._number) + body, data)
        return self._number

    def _write(self, *parts: bytes) -> None:
        for part in parts:
            self._to.write(part)
        self._to.flush()

    def _answer(self) -> tuple[int, int, bytes]:
        """Return kind, number and content of the next answer."""
        size, kind, number = struct.unpack(">IBI", self._read(4 + 1 + 4))
        return kind, number, self._read(size - 1 - 4)

    def _read(self, size: int) -> bytes:
        data = self._from.read(size)
        if len(data) < size:  # the program ended
            raise NotThisWay
        return data

    def _confirm(self) -> None:
        """Wait until the oldest request has been carried out."""
        kind, __, body = self._answer()
        if kind != STATUS or body[:4] != struct.pack(">I", OK):
            raise NotThisWay

    def _data(self) -> tuple[int, memoryview]:
        """Return the number of a request that was answered, and what was read."""
        kind, number, body = self._answer()
        if kind == STATUS and body[:4] == struct.pack(">I", END_OF_FILE):
            raise Shrank
        if kind != DATA or len(body) <= 4:
            raise NotThisWay
        return number, memoryview(body)[4:]


def string(value: bytes) -> bytes:
    """Return bytes as the protocol has them, behind their length."""
    return struct.pack(">I", len(value)) + value


Work = Callable[[Pipe, Blocks, Moved], None]


async def over_pipes(command: Sequence[str], work: Work, blocks: Blocks, moved: Moved) -> bool:
    """Do ``work`` on the blocks of a file, dealt out to some pipes; return whether that could be done."""
    arrived = 0

    def count(size: int) -> None:
        nonlocal arrived
        arrived += size
        moved(size)

    try:
        await gather(*(over_pipe(command, work, share, count) for share in blocks.shares(PIPES)))
    except (NotThisWay, BrokenPipeError):
        moved(-arrived)
        return False
    return True


async def over_pipe(command: Sequence[str], work: Work, blocks: Blocks, moved: Moved) -> None:
    """Do ``work`` with a pipe, beside the loop.

    :raises NotThisWay: or BrokenPipeError, when that cannot be done.
    """
    loop = asyncio.get_running_loop()

    def count(size: int) -> None:
        loop.call_soon_threadsafe(moved, size)

    try:
        pipe = Pipe(command)
    except OSError:
        raise NotThisWay from None
    working = loop.run_in_executor(None, work, pipe, blocks, count)
    try:
        await asyncio.shield(working)
    finally:
        pipe.stop()  # so that the work ends too when it was called off
        try:
            await asyncio.wait([working])
        finally:  # who calls it off may do so twice
            pipe.close()
