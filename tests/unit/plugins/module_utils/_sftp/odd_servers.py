# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SFTP servers that keep something else than they were given. Each runs in a thread of the test."""

from __future__ import annotations

import asyncio
import os
import threading
import unicodedata
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import asyncssh

from unit.plugins.module_utils._sftp.servers import START_SECONDS, Server, make_key

KEPT = 1000
"""The bytes of a file that a server without room keeps."""


class Plain(asyncssh.SFTPServer):
    """Keeps links as they are written, which the library does not below a root of its own."""

    def symlink(self, oldpath: bytes, newpath: bytes) -> None:
        os.symlink(oldpath, self.map_path(newpath))

    def readlink(self, path: bytes) -> bytes:
        return os.readlink(self.map_path(path))


class Connections(asyncssh.SSHServer):
    """Remembers the connections, which have to be closed before their loop is."""

    def __init__(self, made: list[asyncssh.SSHServerConnection]) -> None:
        self._made = made

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._made.append(conn)


class Truncating(Plain):
    """Keeps the beginning of each file, and confirms all of it, as with a quota that is checked later."""

    def write(self, file_obj: object, offset: int, data: bytes) -> int:
        super().write(file_obj, offset, data[: max(KEPT - offset, 0)])
        return len(data)


class Losing(Plain):
    """Keeps no file that has a name with ``lost`` in it."""

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        super().posix_rename(oldpath, newpath)
        if b"lost" in newpath:
            super().remove(newpath)


class TellsNoSizes(Plain):
    """Tells no size at all."""

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        async for item in super().scandir(path):
            yield asyncssh.SFTPName(item.filename, attrs=unsized(item.attrs))

    def stat(self, path: bytes) -> Any:
        return unsized(asyncssh.SFTPAttrs.from_local(os.stat(self.map_path(path))))

    def lstat(self, path: bytes) -> Any:
        return unsized(asyncssh.SFTPAttrs.from_local(os.lstat(self.map_path(path))))


def unsized(attrs: asyncssh.SFTPAttrs) -> asyncssh.SFTPAttrs:
    attrs.size = None
    return attrs


def simple(name: str) -> str:
    """Return what is the same for all spellings of a name that a server takes for one."""
    return unicodedata.normalize("NFC", name.rstrip(".") or name).lower()


def present(root: str, path: str) -> str:
    """Return where a path leads if names are found in any spelling."""
    place = root
    for name in os.path.relpath(path, root).split("/"):
        there = os.listdir(place) if os.path.isdir(place) else []
        alike = [other for other in there if simple(other) == simple(name)]
        place = os.path.join(place, alike[0] if alike else name)
    return os.path.normpath(place)


class Folding(Plain):
    """Finds names in any case and normal form, without dots at the end, and keeps the first spelling."""

    def map_path(self, path: bytes) -> bytes:
        root = os.fsdecode(super().map_path(b"/"))
        return os.fsencode(present(root, os.fsdecode(super().map_path(path))))


@contextmanager
def odd_server(folder: Path, files: type[asyncssh.SFTPServer]) -> Iterator[Server]:
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
