# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SFTP servers that keep something else than they were given. Each runs in a thread of the test."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh

from unit.plugins.module_utils._sftp.servers import START_SECONDS, Server, make_key

STEP = 2
"""The seconds between two times that a FAT file system can store."""


class EvenTimes(asyncssh.SFTPServer):
    """Stores times in steps of two seconds, as on a FAT file system."""

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().setstat(path, rounded(attrs))

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> Any:
        return super().fsetstat(file_obj, rounded(attrs))


def rounded(attrs: asyncssh.SFTPAttrs) -> asyncssh.SFTPAttrs:
    """Return attributes with a time that can be stored."""
    if attrs.mtime is not None:
        attrs.mtime -= attrs.mtime % STEP
    return attrs


class Connections(asyncssh.SSHServer):
    """Remembers the connections, which have to be closed before their loop is."""

    def __init__(self, made: list[asyncssh.SSHServerConnection]) -> None:
        self._made = made

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._made.append(conn)


@contextmanager
def odd_server(folder: Path, files: type[asyncssh.SFTPServer]) -> Iterator[Server]:
    """Serve a directory in the way of ``files``."""
    root = folder / "root"
    root.mkdir()
    key, host_key = make_key(folder / "key"), make_key(folder / "host_key")
    (folder / "authorized_keys").write_text((folder / "key.pub").read_text())
    loop, ended, port = asyncio.new_event_loop(), asyncio.Event(), Future[int]()

    async def serve() -> None:
        made: list[asyncssh.SSHServerConnection] = []
        acceptor = await asyncssh.listen(
            "127.0.0.1",
            0,
            server_factory=lambda: Connections(made),
            server_host_keys=[str(host_key)],
            authorized_client_keys=str(folder / "authorized_keys"),
            sftp_factory=lambda channel: files(channel, chroot=os.fsencode(root)),
        )
        port.set_result(acceptor.get_port())
        await ended.wait()
        acceptor.close()
        await acceptor.wait_closed()
        for connection in made:
            connection.abort()
            await connection.wait_closed()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        reached = {"host": "127.0.0.1", "port": port.result(START_SECONDS), "username": "tester"}
        yield Server({**reached, "private_key_file": str(key)}, root, "odd")
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(START_SECONDS)
        loop.close()
