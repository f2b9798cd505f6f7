# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Patterns, folders, channels and blocks of a transfer."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import OFF, HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.local import Shrank
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Blocks
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


class File:
    """An open file of a server that answers with at most 700 bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    async def read(self, length: int, offset: int) -> bytes:
        await asyncio.sleep(0)
        return self.content[offset : offset + min(length, 700)]


@pytest.mark.parametrize("changed", [None, 0, 999, 1000, 12_344])
def test_each_byte_is_compared(changed: int | None) -> None:
    content, counted = os.urandom(12_345), list[int]()
    there = bytearray(content)
    if changed is not None:
        there[changed] ^= 1

    async def read(offset: int, length: int) -> bytes:
        return content[offset : offset + length]

    def same(file: File) -> bool:
        return asyncio.run(Blocks(len(content), 1000).are_in(file, read, counted.append))

    assert same(File(bytes(there))) is (changed is None)
    assert changed is not None or sum(counted) == len(content)
    with pytest.raises(Shrank):
        same(File(content[:-1]))
