# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that are made at once share packets, and none is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import OFF, HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.packets import Gatherer
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import Login, Session
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import gather
from unit.plugins.module_utils._sftp import servers

AT_ONCE = 50


class Writer:
    """A writer of the library that keeps what it is given."""

    def __init__(self, closing: bool = False) -> None:
        self.channel = SimpleNamespace(is_closing=lambda: closing)
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(data)


def written(writer: Writer) -> list[bytes]:
    """Write in two turns of the loop, and return in which pieces that was sent."""

    async def write() -> None:
        gatherer = Gatherer(writer)
        gatherer.write(b"a")
        gatherer.write(b"b")
        await asyncio.sleep(0)
        gatherer.write(b"c")
        await asyncio.sleep(0)
        assert gatherer.channel is writer.channel

    asyncio.run(write())
    return writer.pieces


def test_what_is_written_in_one_turn_is_sent_in_one_piece() -> None:
    assert written(Writer()) == [b"ab", b"c"]


def test_nothing_is_sent_to_a_channel_that_closes() -> None:
    assert written(Writer(closing=True)) == []


def test_few_packets_carry_many_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if reason := servers.missing():
        pytest.skip(reason)
    with servers.openssh(tmp_path, "default none") as server:
        host, port = server.options["host"], server.options["port"]
        login = Login(host, port, server.options["username"], server.options["private_key_file"])
        with Session(login, HostKeys("", OFF, host, port), remember=False) as session:
            sent: list[int] = []
            send = session._connection.send_packet

            def watched(kind: int, *arguments: Any, **options: Any) -> None:
                sent.append(kind)
                send(kind, *arguments, **options)

            monkeypatch.setattr(session._connection, "send_packet", watched)
            session.run(gather(*(session.sftp.stat(b".") for _request in range(AT_ONCE))))
    assert 0 < len(sent) < AT_ONCE / 2
