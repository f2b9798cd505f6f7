# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns, folders, channels and blocks of a transfer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
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
from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import OFF, HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import WINDOW, Login, SftpSession
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import run_all
from unit.plugins.module_utils._sftp import servers


@pytest.mark.parametrize(
    ("pattern", "path", "directory", "matches"),
    [
        ("*.log", "a.log", False, True),
        ("*.log", "deep/er/a.log", False, True),
        ("*.log", "a.log.gz", False, False),
        ("*.log", "logs.log/inner", False, True),
        ("cache", "deep/cache/file", False, True),
        ("cache/", "cache", True, True),
        ("cache/", "cache", False, False),
        ("cache/", "deep/cache/x", False, True),
        ("/cache", "cache", False, True),
        ("/cache", "deep/cache", False, False),
        ("world/*.tmp", "world/a.tmp", False, True),
        ("world/*.tmp", "world/deep/a.tmp", False, False),
        ("world/*.tmp", "other/world/a.tmp", False, False),
        ("world/**/*.tmp", "world/a.tmp", False, True),
        ("world/**/*.tmp", "world/b/c/a.tmp", False, True),
        ("world/**", "world/b/c", False, True),
        ("world/**", "world", True, False),
        ("**/b", "a/b", False, True),
        ("**/b", "b", False, True),
        ("a?c", "abc", False, True),
        ("a?c", "a/c", False, False),
        ("[ab].txt", "b.txt", False, True),
        ("[!ab].txt", "b.txt", False, False),
        ("[!ab].txt", "c.txt", False, True),
        ("x[!a]y", "x/y", False, False),
        ("a.c", "abc", False, False),
        ("(a|b)", "a", False, False),
        ("*", "line\nbreak", False, True),
        ("*", ".hidden", False, True),
        ("./data.db", "data.db", False, True),
        ("./data.db", "deep/data.db", False, False),
        ("././deep/*.db", "deep/data.db", False, True),
        ("./cache/", "cache", True, True),
    ],
)
def test_pattern(pattern: str, path: str, directory: bool, matches: bool) -> None:
    assert Patterns(exclude=[pattern]).excludes(path, directory) is matches
    assert Patterns(include=[pattern]).includes(path, directory) is matches


def test_patterns_that_excluded_nothing_are_known() -> None:
    patterns = Patterns(exclude=["*.log", "./data.db", "*.lgo", "logs/", "logs/kept", "other/kept"])
    for path, directory in (("a.log", False), ("data.db", False), ("logs", True), ("b.txt", False)):
        patterns.excludes(path, directory)
    assert patterns.unused == ["*.lgo", "other/kept"], "what is below an excluded directory is not looked at"


AT_ONCE = 50


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    """The way into OpenSSH's server."""
    with servers.start("openssh", tmp_path, rekey_limit="default none") as server:
        reached = server.options
        yield Login(reached["host"], reached["port"], reached["username"], reached["private_key_file"])


def test_few_packets_carry_many_requests(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    with SftpSession(login, HostKeys("", OFF, login.host, login.port), remember=False) as session:
        sent: list[int] = []
        send = session._connection.send_packet

        def watched(kind: int, *arguments: Any, **options: Any) -> None:
            sent.append(kind)
            send(kind, *arguments, **options)

        monkeypatch.setattr(session._connection, "send_packet", watched)
        session.run(run_all(*(session.sftp.stat(b".") for _request in range(AT_ONCE))))
    assert 0 < len(sent) < AT_ONCE / 2


def test_the_server_may_send_a_whole_window(login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    """asyncssh's own window would limit a large file to 2 MiB for each round trip."""
    windows: list[int] = []
    create_session = asyncssh.SSHClientConnection.create_session

    async def watched(self: Any, *arguments: Any, **options: Any) -> Any:
        windows.append(options["window"])
        return await create_session(self, *arguments, **options)

    monkeypatch.setattr(asyncssh.SSHClientConnection, "create_session", watched)
    with SftpSession(login, HostKeys("", OFF, login.host, login.port), remember=False) as session:
        assert session.run(session.sftp.isdir(b"."))
    assert windows == [WINDOW]


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
