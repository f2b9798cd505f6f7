# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfer the content of one file in blocks: as large as the server accepts, and several at once.

The library copies files as well. It makes a task for every block, though, and leaves out the holes of a
sparse file, so that one which ends in a hole arrives too short. Here the last block is always written, and
others that hold nothing but zeros are not: what lies before a write beyond the end of a file reads as zeros
in the protocol's version 3 as in POSIX, and takes no room where the file system has holes.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from .trees import run_all

BLOCK = 256 * 1024
SAFE_BLOCK = 32 * 1024
"""The block size that every server accepts, in bytes."""
IN_FLIGHT = 4 * 1024 * 1024
"""The bytes of one file that may be requested, or sent and not yet confirmed, at the same time."""
ZEROS = bytes(BLOCK)

Moved = Callable[[int], None]
"""Told how many bytes have arrived."""
Read = Callable[[int, int], Awaitable[bytes]]
"""Returns a block of a file, by its offset and length."""
Write = Callable[[bytes, int], Awaitable[Any]]
"""Writes a block at an offset."""


class Shrank(OSError):
    """A file ended before the size that it had when its directory was listed."""

    def __init__(self) -> None:
        super().__init__(None, "it became shorter while it was being read; run this again")


def block_size(sftp: Any) -> int:
    """Return how much goes into one request: what the server allows, where the library has asked it."""
    limits = getattr(sftp, "limits", None)
    return min(limits.max_read_len, limits.max_write_len, BLOCK) if limits else SAFE_BLOCK


async def read_local(handle: int, offset: int, length: int) -> bytes:
    data = os.pread(handle, length, offset)
    if len(data) < length:
        raise Shrank
    return data


async def write_local(handle: int, data: bytes, offset: int) -> None:
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


async def read_remote(file: Any, offset: int, length: int) -> bytes:
    """Read a block of an open file of the server, which may send less than it was asked for, or more."""
    data: bytes = await file.read(length, offset)
    while len(data) < length:
        piece = await file.read(length - len(data), offset + len(data))
        if not piece:
            raise Shrank
        data += piece
    return data[:length]


class Blocks:
    """A file of ``size`` bytes in blocks of a ``length``. ``skipped`` is true once one was not written."""

    def __init__(self, size: int, length: int, holes: bool = True) -> None:
        self.size, self.length, self.holes, self.skipped = size, length, holes, False

    async def copy(self, read: Read, write: Write, moved: Moved) -> None:
        """Write all blocks to another file; zeros before its end need not be, if it may have holes."""

        async def move(offset: int, length: int) -> None:
            data = await read(offset, length)
            if self.holes and offset + length < self.size and data == ZEROS[:length]:
                self.skipped = True
            else:
                await write(data, offset)
            moved(length)

        await self._each(move)

    async def are_in(self, file: Any, read: Read, moved: Moved) -> bool:
        """Tell whether an open file of the server has the same blocks, up to the first that differs."""
        same = True

        async def look(offset: int, length: int) -> None:
            nonlocal same
            if same:
                there = await read_remote(file, offset, length)
                same = there == await read(offset, length) and same
                moved(length)

        await self._each(look)
        return same

    async def _each(self, act: Callable[[int, int], Awaitable[None]]) -> None:
        offsets = range(0, self.size, self.length)

        async def work(todo: Iterator[int]) -> None:
            for offset in todo:
                await act(offset, min(self.length, self.size - offset))

        if len(offsets) <= 1:
            await work(iter(offsets))
            return
        todo, workers = iter(offsets), min(max(IN_FLIGHT // self.length, 1), len(offsets))
        await run_all(*(work(todo) for _worker in range(workers)))
