# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SFTP server (section Endpoints / SFTP): a username opens one service and nothing else."""

from __future__ import annotations

import base64
import os
import socket
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import asyncssh

from hosted_sandbox.domain import keys, lifecycle
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Key, Service

#: Statuses whose files exist; checked when a session opens.
OPEN_STATUSES = ("ACTIVE", "SUSPENDED")


class Login(asyncssh.SSHServer):
    """The login of one connection: the password of the service, or any key of its account."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _service(self, username: str) -> Service | None:
        for service in self._world.store.all(Service):
            if service.sftp.get("username") == username and service.status in OPEN_STATUSES:
                return service if service.sftp_from <= self._world.now else None
        return None

    def begin_auth(self, username: str) -> bool:
        """Require a login."""
        return True

    def password_auth_supported(self) -> bool:
        """Accept passwords."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Check the current password of the service."""
        service = self._service(username)
        return service is not None and keys.password_opens(service, password)

    def public_key_auth_supported(self) -> bool:
        """Accept keys."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Check the present keys of the account."""
        service = self._service(username)
        if service is None:
            return False
        blob = base64.b64encode(key.public_data).decode()
        for known in self._world.store.of(Key, service.account_id):
            if known.blob == blob:
                with self._world.store.transaction():
                    known.used_at = self._world.now
                    self._world.store.put(known)
                return True
        return False


class Files(asyncssh.SFTPServer):
    """The files below one service's root. Links that lead out of it cannot be followed or created."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes], world: World) -> None:
        username = channel.get_extra_info("username")
        services = world.store.all(Service)
        service = next(found for found in services if found.sftp.get("username") == username)
        self._home = lifecycle.root(world, service).resolve()
        self._gaps = world.gaps
        super().__init__(channel, chroot=str(self._home).encode())

    def map_path(self, path: bytes) -> bytes:
        """Map a client's path to one below the root; its directory must be there."""
        place = super().map_path(path)
        directory = Path(os.fsdecode(os.path.dirname(place))).resolve()
        if os.fsdecode(place) != str(self._home) and not directory.is_relative_to(self._home):
            raise asyncssh.SFTPNoSuchFile("No such file")
        return place

    def _follow(self, path: bytes) -> None:
        if not Path(os.fsdecode(self.map_path(path))).resolve().is_relative_to(self._home):
            raise asyncssh.SFTPNoSuchFile("No such file")

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        """Open a file below the root."""
        self._follow(path)
        return super().open(path, pflags, self._settable(attrs))

    def open56(self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        """Open a file in later protocol versions."""
        self._follow(path)
        return super().open56(path, desired_access, flags, self._settable(attrs))

    def stat(self, path: bytes) -> Any:
        """Return the attributes of the target of a path."""
        self._follow(path)
        return super().stat(path)

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        """Change the attributes of the target of a path."""
        self._follow(path)
        return super().setstat(path, self._settable(attrs))

    def fsetstat(self, file_obj: object, attrs: asyncssh.SFTPAttrs) -> Any:
        """Change the attributes of an open file."""
        return super().fsetstat(file_obj, self._settable(attrs))

    def _settable(self, attrs: asyncssh.SFTPAttrs) -> asyncssh.SFTPAttrs:
        if attrs.permissions is not None:  # Nobody is to run a file as whoever runs the sandbox.
            attrs.permissions &= ~(stat.S_ISUID | stat.S_ISGID)
        return attrs

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        """Rename a file; the new name may be taken."""
        if self._gaps["sftp.replace"] == "is refused" and os.path.lexists(self.map_path(newpath)):
            raise asyncssh.SFTPFailure("file already exists")
        return super().posix_rename(oldpath, newpath)

    def scandir(self, path: bytes) -> Any:
        """List a directory below the root."""
        self._follow(path)
        return self._entries(path)

    async def _entries(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        self._follow(path)  # Once more: it may have become a link since it was opened.
        async for entry in super().scandir(path):
            yield entry

    def realpath(self, path: bytes) -> Any:
        """Return a path without links, as the client sees it."""
        self._follow(path)
        return super().realpath(path)

    def readlink(self, path: bytes) -> bytes:
        """Return the target of a link as it was written; an absolute one as the client sees it."""
        target = os.readlink(self.map_path(path))
        return self.reverse_map_path(target) if os.path.isabs(target) else target

    def link(self, oldpath: bytes, newpath: bytes) -> Any:
        """Create a hard link to a file below the root."""
        self._follow(oldpath)
        return super().link(oldpath, newpath)

    def symlink(self, oldpath: bytes, newpath: bytes) -> Any:
        """Create a symbolic link to a path below the root."""
        place = Path(os.fsdecode(self.map_path(newpath)))
        target = place.parent / os.fsdecode(oldpath)
        if os.path.isabs(oldpath):
            target = Path(os.fsdecode(self.map_path(oldpath)))
        if not target.resolve().is_relative_to(self._home):
            raise asyncssh.SFTPPermissionDenied("The link would lead out of the root")
        return super().symlink(oldpath, newpath)

    def statvfs(self, path: bytes) -> Any:
        """Return the free space on the disk."""
        self._follow(path)
        return super().statvfs(path)


def _host_key(folder: Path) -> asyncssh.SSHKey:
    """Load or create the server's key, which is kept in the data folder."""
    path = folder / "sftp_host_key"
    if not path.exists():
        key = asyncssh.generate_private_key("ssh-ed25519")
        path.touch(mode=0o600)
        path.write_bytes(key.export_private_key())
    return asyncssh.read_private_key(path)


async def serve(world: World, listener: socket.socket) -> asyncssh.SSHAcceptor:
    """Serve SFTP on a socket; open sessions survive the removal of their key or password."""
    acceptor = await asyncssh.listen(
        sock=listener,
        server_factory=lambda: Login(world),
        server_host_keys=[_host_key(world.folder)],
        sftp_factory=lambda channel: Files(channel, world),
        allow_scp=False,
        session_factory=None,
    )
    world.addresses.sftp_port = listener.getsockname()[1]
    return acceptor
