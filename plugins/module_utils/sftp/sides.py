# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two ends of a mirror: a tree here and a tree on the server, with the same few ways to change either.

A file is written under a temporary name beside its place, gets its time and its permissions, and takes its
place in one step: whoever looks sees the old file or the new one.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import posixpath
import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from typing import Any

from .blocks import IN_FLIGHT, Blocks, Moved, block_size, fetch, send
from .errors import TransferFailed
from .library import asyncssh
from .patterns import Patterns
from .pipe import WORTH_IT, Pipe, Work, over_pipes
from .trees import Entry, Kind, Tree, encoded, join, local_tree, remote_tree, shown

LARGE = 1024 * 1024
"""Beyond this size, in bytes, a file waits for its turn: a few of them fill the connection, and memory."""
LARGE_AT_ONCE = 4
PRIVATE = 0o600


def temporary_beside(path: str) -> str:
    """Return a name for the time in which the file at ``path`` is not whole yet."""
    return join(posixpath.dirname(path), f".hosted-{secrets.token_hex(8)}.part")


class Side(ABC):
    """A tree that can be read and changed. Paths are relative to its root."""

    def __init__(self, root: str) -> None:
        self.root = root

    def at(self, path: str) -> str:
        """Return where an entry lies."""
        return join(self.root, path)

    @abstractmethod
    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""

    @abstractmethod
    async def make_parents(self) -> None:
        """Make the directories above the root, where they are missing."""

    @abstractmethod
    async def make_directory(self, path: str, entry: Entry) -> None:
        """Make a directory that the owner can write to; its permissions come when it is filled."""

    @abstractmethod
    async def make_link(self, path: str, entry: Entry) -> None:
        """Make a symbolic link, in place of one that is there."""

    @abstractmethod
    async def set_mode(self, path: str, mode: int) -> None:
        """Set permissions."""

    @abstractmethod
    async def remove(self, path: str, kind: Kind) -> None:
        """Remove a file, a link or an empty directory."""

    @abstractmethod
    async def reason(self, error: Exception, entry: Entry | None) -> str:
        """Say why something failed; ``entry`` is what was to be written."""


class Local(Side):
    """A tree of this machine."""

    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""
        return local_tree(self.root, patterns, skip)

    async def make_parents(self) -> None:
        """Make the directories above the root, where they are missing."""
        os.makedirs(os.path.dirname(self.root) or ".", exist_ok=True)

    async def make_directory(self, path: str, entry: Entry) -> None:
        """Make a directory."""
        os.mkdir(self.at(path), 0o777 if entry.mode is None else 0o700)

    async def make_link(self, path: str, entry: Entry) -> None:
        """Make a symbolic link, in place of one that is there."""
        temporary = temporary_beside(self.at(path))
        os.symlink(str(entry.target), temporary)
        os.replace(temporary, self.at(path))

    async def set_mode(self, path: str, mode: int) -> None:
        """Set permissions."""
        os.chmod(self.at(path), mode)

    async def remove(self, path: str, kind: Kind) -> None:
        """Remove a file, a link or an empty directory."""
        if kind is Kind.DIRECTORY:
            os.rmdir(self.at(path))
        else:
            os.unlink(self.at(path))

    async def reason(self, error: Exception, entry: Entry | None) -> str:
        """Say why something failed."""
        return (error.strerror if isinstance(error, OSError) else None) or str(error)

    def digest(self, path: str) -> bytes:
        """Return the checksum of a file's content."""
        with open(self.at(path), "rb") as file:
            return hashlib.file_digest(file, "sha256").digest()


class Remote(Side):
    """A tree on the server."""

    def __init__(
        self, sftp: Any, root: str, ssh_command: Callable[[], Sequence[str] | None] = lambda: None
    ) -> None:
        super().__init__(root)
        self.sftp = sftp
        self._ssh_command = ssh_command
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)
        self._block = block_size(sftp)

    async def tree(self, patterns: Patterns, skip: Callable[[str, str], None]) -> Tree:
        """Read the tree."""
        return await remote_tree(self.sftp, self.root, patterns, skip)

    async def make_parents(self) -> None:
        """Make the directories above the root, where they are missing."""
        parent = posixpath.dirname(self.root)
        if parent:
            await self.sftp.makedirs(encoded(parent), exist_ok=True)

    async def make_directory(self, path: str, entry: Entry) -> None:
        """Make a directory."""
        attributes = asyncssh.SFTPAttrs() if entry.mode is None else asyncssh.SFTPAttrs(permissions=0o700)
        await self.sftp.mkdir(encoded(self.at(path)), attributes)

    async def make_link(self, path: str, entry: Entry) -> None:
        """Make a symbolic link, in place of one that is there."""
        temporary = temporary_beside(self.at(path))
        await self.sftp.symlink(encoded(str(entry.target)), encoded(temporary))
        async with self._tidily(temporary):
            await self._put_in_place(temporary, self.at(path))

    async def set_mode(self, path: str, mode: int) -> None:
        """Set permissions."""
        await self.sftp.chmod(encoded(self.at(path)), mode)

    async def remove(self, path: str, kind: Kind) -> None:
        """Remove a file, a link or an empty directory."""
        place = encoded(self.at(path))
        await (self.sftp.rmdir(place) if kind is Kind.DIRECTORY else self.sftp.remove(place))

    async def reason(self, error: Exception, entry: Entry | None) -> str:
        """Say why something failed. A full disk is asked about, as old protocols have no word for it."""
        if isinstance(error, OSError):
            return error.strerror or str(error)
        if entry is not None and isinstance(error, asyncssh.SFTPFailure):
            try:
                room = await self.sftp.statvfs(encoded(posixpath.dirname(self.at(""))) or b".")
            except asyncssh.SFTPError:
                return str(error)
            free = room.bavail * room.frsize
            if free < max(entry.size, 1):
                return f"no space left on the service: {free} bytes are free, the file has {entry.size}"
        return str(error) or type(error).__name__

    async def push(self, source: Local, path: str, entry: Entry, moved: Moved) -> None:
        """Put a file of this machine onto the server."""
        temporary = temporary_beside(self.at(path))
        attributes = asyncssh.SFTPAttrs() if entry.mode is None else asyncssh.SFTPAttrs(permissions=PRIVATE)
        flags = asyncssh.FXF_WRITE | asyncssh.FXF_CREAT | asyncssh.FXF_EXCL
        file = await self.sftp.open(encoded(temporary), flags, attributes, encoding=None, block_size=0)
        async with self._tidily(temporary):
            async with file:
                with open(source.at(path), "rb", buffering=0) as content:
                    async with self._turn(entry):
                        await self._send(content.fileno(), file, temporary, entry.size, moved)
                await file.setstat(
                    asyncssh.SFTPAttrs(permissions=entry.mode, atime=entry.mtime, mtime=entry.mtime)
                )
            await self._put_in_place(temporary, self.at(path))

    async def pull(self, target: Local, path: str, entry: Entry, moved: Moved) -> None:
        """Put a file of the server onto this machine."""
        temporary = temporary_beside(target.at(path))
        handle = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if entry.mode is None else PRIVATE
        )
        try:
            try:
                async with self._open(path) as file, self._turn(entry):
                    await self._fetch(file, path, handle, entry.size, moved)
                if entry.mode is not None:
                    os.chmod(handle, entry.mode)
                os.utime(handle, (entry.mtime, entry.mtime))
            finally:
                os.close(handle)
            os.replace(temporary, target.at(path))
        except BaseException:
            os.unlink(temporary)
            raise

    async def digest(self, path: str, entry: Entry, moved: Moved) -> bytes:
        """Return the checksum of a file's content. It is read for that: the protocol has no checksums."""
        summing = hashlib.sha256()
        async with self._large, self.sftp.open(encoded(self.at(path)), "rb") as file:
            while piece := await file.read(IN_FLIGHT):
                summing.update(piece)
                moved(len(piece))
        return summing.digest()

    def _open(self, path: str) -> Any:
        """Open a file to read blocks of it, which the library is not to cut up once more."""
        return self.sftp.open(encoded(self.at(path)), "rb", encoding=None, block_size=0)

    async def _send(self, handle: int, file: Any, temporary: str, size: int, moved: Moved) -> None:
        """Send content, in the faster way where that pays and can be had."""

        def work(pipe: Pipe, blocks: Blocks, count: Moved) -> None:
            pipe.send(handle, encoded(temporary), blocks, count)

        blocks = Blocks(size, self._block)
        if not await self._fast(work, blocks, moved):
            await send(handle, file, blocks, moved)

    async def _fetch(self, file: Any, path: str, handle: int, size: int, moved: Moved) -> None:
        """Fetch content, in the faster way where that pays and can be had."""

        def work(pipe: Pipe, blocks: Blocks, count: Moved) -> None:
            pipe.fetch(encoded(self.at(path)), handle, blocks, count)

        blocks = Blocks(size, self._block)
        if not await self._fast(work, blocks, moved):
            await fetch(file, handle, blocks, moved)

    async def _fast(self, work: Work, blocks: Blocks, moved: Moved) -> bool:
        command = self._ssh_command() if blocks.size >= WORTH_IT else None
        return command is not None and await over_pipes(command, work, blocks, moved)

    def _turn(self, entry: Entry) -> AbstractAsyncContextManager[Any]:
        """Wait, with a large file, until few enough others are under way."""
        return self._large if entry.size > LARGE else nullcontext()

    async def _put_in_place(self, temporary: str, path: str) -> None:
        """Rename over what is there; a server that cannot do so in one step does it in two."""
        old, new = encoded(temporary), encoded(path)
        try:
            await self.sftp.posix_rename(old, new)
        except asyncssh.SFTPOpUnsupported:
            if await self.sftp.lexists(new):
                await self.sftp.remove(new)
            await self.sftp.rename(old, new)

    @asynccontextmanager
    async def _tidily(self, temporary: str) -> AsyncIterator[None]:
        """Take a temporary file away again when what is done with it fails."""
        try:
            yield
        except BaseException:
            # Where the connection is gone as well, the next run removes what is left.
            with suppress(asyncssh.Error, OSError):
                await self.sftp.remove(encoded(temporary))
            raise


def failure(what: str, path: str, reason: str) -> TransferFailed:
    """Return the error for something that could not be done to a path."""
    return TransferFailed(f"cannot {what} {shown(path) or 'the file'}: {reason}")
