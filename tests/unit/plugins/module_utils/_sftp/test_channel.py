# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Concurrent requests share packets, none is lost, and the server may send more than asyncssh lets it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import OFF, HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import WINDOW, Login, SftpSession
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import run_all
from unit.plugins.module_utils._sftp import servers

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
