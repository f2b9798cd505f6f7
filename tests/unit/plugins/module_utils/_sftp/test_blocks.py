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
from types import SimpleNamespace

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.blocks import (
    BLOCK,
    SAFE_BLOCK,
    Blocks,
    Shrank,
    block_size,
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


@pytest.mark.parametrize("at_most", [SMALL_BLOCK, 100])
def test_zeros_are_written_only_at_the_end(at_most: int, tmp_path: Path) -> None:
    content = b"x" + bytes(4999) + b"y" * 10 + bytes(4990)
    (tmp_path / "here").write_bytes(content)
    there = File()
    with opened(tmp_path / "here") as handle:
        blocks = Blocks(10_000, SMALL_BLOCK)
        asyncio.run(copy(partial(read_local, handle), there.write, blocks, lambda count: None))
    assert sorted(there.written) == [0, 5000, 9000] and there.content == content and blocks.skipped
    there.at_most = at_most
    with opened(tmp_path / "back") as handle:
        asyncio.run(
            copy(
                partial(read_remote, there),
                partial(write_local, handle),
                Blocks(10_000, SMALL_BLOCK),
                lambda count: None,
            )
        )
    assert (tmp_path / "back").read_bytes() == content


def test_zeros_are_written_where_a_server_has_no_holes(tmp_path: Path) -> None:
    (tmp_path / "here").write_bytes(bytes(3000))
    there, blocks = File(), Blocks(3000, SMALL_BLOCK, holes=False)
    with opened(tmp_path / "here") as handle:
        asyncio.run(copy(partial(read_local, handle), there.write, blocks, lambda count: None))
    assert sorted(there.written) == [0, 1000, 2000] and not blocks.skipped


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


@pytest.mark.parametrize("shorter", ["here", "there"])
def test_a_file_that_shrank_is_not_the_same(shorter: str, tmp_path: Path) -> None:
    content = bytes(5000)
    (tmp_path / "here").write_bytes(content[: -(shorter == "here") or None])
    there = File(content[: -(shorter == "there") or None])
    with opened(tmp_path / "here") as handle, pytest.raises(Shrank):
        asyncio.run(holds(partial(read_local, handle), there, Blocks(5000, SMALL_BLOCK), lambda count: None))


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 2001, 12_345])
def test_blocks_cover_a_file_once(size: int) -> None:
    blocks = list(Blocks(size, SMALL_BLOCK))
    assert [offset for offset, __ in blocks] == list(range(0, size, SMALL_BLOCK))
    assert sum(length for __, length in blocks) == size
    assert len(Blocks(size, SMALL_BLOCK)) == len(blocks)


def test_blocks_are_as_large_as_the_server_takes() -> None:
    limits = SimpleNamespace(max_read_len=261_120, max_write_len=64_000)
    assert block_size(SimpleNamespace(limits=limits)) == 64_000
    generous = SimpleNamespace(max_read_len=10 * BLOCK, max_write_len=10 * BLOCK)
    assert block_size(SimpleNamespace(limits=generous)) == BLOCK
    assert block_size(SimpleNamespace()) == SAFE_BLOCK
