# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The content of a file goes over whole, or an error says why not."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.blocks import (
    Blocks,
    Shrank,
    copy,
    holds,
    read_local,
    read_remote,
    write_local,
)

SMALL_BLOCK = 1000


class File:
    """An open file of a server that answers with at most so many bytes."""

    def __init__(self, content: bytes = b"", at_most: int = SMALL_BLOCK) -> None:
        self.content = bytearray(content)
        self.at_most = at_most
        self.written: list[int] = []

    async def read(self, length: int, offset: int) -> bytes:
        await asyncio.sleep(0)
        return bytes(self.content[offset : offset + min(length, self.at_most)])

    async def write(self, data: bytes, offset: int) -> None:
        await asyncio.sleep(0)
        self.written.append(offset)
        self.content.extend(bytes(max(offset + len(data) - len(self.content), 0)))
        self.content[offset : offset + len(data)] = data


@contextmanager
def opened(path: Path) -> Iterator[int]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        yield handle
    finally:
        os.close(handle)


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 12_345])
def test_every_byte_goes_over_and_is_counted(size: int, tmp_path: Path) -> None:
    content = os.urandom(size)
    (tmp_path / "here").write_bytes(content)
    there, counted = File(), [0, 0]

    def add(where: int, count: int) -> None:
        counted[where] += count

    with opened(tmp_path / "here") as handle:
        asyncio.run(
            copy(
                partial(read_local, handle),
                there.write,
                Blocks(size, SMALL_BLOCK),
                lambda count: add(0, count),
            )
        )
    assert bytes(there.content) == content
    with opened(tmp_path / "back") as handle:
        asyncio.run(
            copy(
                partial(read_remote, there),
                partial(write_local, handle),
                Blocks(size, SMALL_BLOCK),
                lambda count: add(1, count),
            )
        )
    assert (tmp_path / "back").read_bytes() == content
    assert counted == [size, size]


def test_a_server_that_answers_with_less_is_asked_again(tmp_path: Path) -> None:
    content = os.urandom(5000)
    with opened(tmp_path / "back") as handle:
        asyncio.run(
            copy(
                partial(read_remote, File(content, at_most=7)),
                partial(write_local, handle),
                Blocks(5000, SMALL_BLOCK),
                lambda count: None,
            )
        )
    assert (tmp_path / "back").read_bytes() == content


@pytest.mark.parametrize("size", [500, 5000])
def test_a_file_that_shrank_is_an_error(size: int, tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(bytes(size - 1))
    with opened(tmp_path / "here") as handle, pytest.raises(Shrank, match="became shorter"):
        asyncio.run(
            copy(partial(read_local, handle), File().write, Blocks(size, SMALL_BLOCK), lambda count: None)
        )
    with opened(tmp_path / "back") as handle, pytest.raises(Shrank, match="became shorter"):
        asyncio.run(
            copy(
                partial(read_remote, File(bytes(size - 1))),
                partial(write_local, handle),
                Blocks(size, SMALL_BLOCK),
                lambda count: None,
            )
        )


@pytest.mark.parametrize("at_most", [7, SMALL_BLOCK])
@pytest.mark.parametrize("changed", [None, 0, 999, 1000, 12_344])
def test_each_byte_is_compared(changed: int | None, at_most: int, tmp_path: Path) -> None:
    content, counted = bytearray(os.urandom(12_345)), list[int]()
    (tmp_path / "here").write_bytes(content)
    if changed is not None:
        content[changed] ^= 1
    with opened(tmp_path / "here") as handle:
        there, blocks = File(bytes(content), at_most), Blocks(12_345, SMALL_BLOCK)
        same = asyncio.run(holds(partial(read_local, handle), there, blocks, counted.append))
    assert same is (changed is None)
    assert sum(counted) == 12_345 if same else sum(counted) <= 12_345
