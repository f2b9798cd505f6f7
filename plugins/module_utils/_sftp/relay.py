# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tree of one service as the source of a mirror to another: block by block, through memory alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from .._api.text import clean
from .blocks import Read, read_remote
from .errors import ConnectionBroken
from .library import asyncssh
from .patterns import Patterns
from .remote import Remote
from .trees import Tree


class Unreadable(OSError):
    """The source refused to let a file be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(None, clean(reason))


class Relayed(Remote):
    """A tree of a server that is only read. Its errors cannot be taken for those of the other server."""

    where = "on the service that is copied"

    def __init__(self, sftp: Any, root: str, label: str) -> None:
        super().__init__(sftp, root)
        self._label = label

    @asynccontextmanager
    async def _named(self) -> AsyncIterator[None]:
        """Turn errors of the library into ones that name this side."""
        try:
            yield
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection) as error:
            raise ConnectionBroken(f"the connection to {self._label} was lost: {clean(str(error))}") from None
        except asyncssh.SFTPError as error:
            raise Unreadable(str(error) or type(error).__name__) from None

    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""
        async with self._named():
            return await super().tree(patterns, skip)

    @asynccontextmanager
    async def reading(self, path: str) -> AsyncIterator[Read]:
        """Open a file to read blocks of it."""
        async with self._named():
            file = await self._open(path)

        async def read(offset: int, length: int) -> bytes:
            async with self._named():
                return await read_remote(file, offset, length)

        try:
            yield read
        finally:
            async with self._named():
                await file.close()
