# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SFTP server (section Endpoints / SFTP): a username opens one service and nothing beside it."""

from __future__ import annotations

import base64
import os
import socket
from pathlib import Path
from typing import Any

import asyncssh

from hosted_sandbox.domain import keys, lifecycle
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Key, Service

#: What a session may still read or write is decided when it opens: statuses whose files exist.
OPEN_STATUSES = ("ACTIVE", "SUSPENDED")


class Login(asyncssh.SSHServer):
    """One connection: a password of the service, or any key of its account."""

    def __init__(self, world: World) -> None:
        self._world = world

    def _service(self, username: str) -> Service | None:
        for service in self._world.store.all(Service):
            if service.sftp.get("username") == username and service.status in OPEN_STATUSES:
                return service
        return None

    def begin_auth(self, username: str) -> bool:
        """Everybody has to log in."""
        return True

    def password_auth_supported(self) -> bool:
        """Passwords are taken."""
        return True

    def validate_password(self, username: str, password: str) -> bool:
        """Only the current password of that service."""
        service = self._service(username)
        return service is not None and keys.password_opens(service, password)

    def public_key_auth_supported(self) -> bool:
        """Keys are taken."""
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        """Any key that is on the account at this moment."""
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
    """The files below one service's root. Links that lead out of it cannot be followed or made."""

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes], world: World) -> None:
        username = channel.get_extra_info("username")
        services = world.store.all(Service)
        service = next(found for found in services if found.sftp.get("username") == username)
        self._home = lifecycle.root(world, service).resolve()
        super().__init__(channel, chroot=str(self._home).encode())

    def map_path(self, path: bytes) -> bytes:
        """A client's path as a place below the root; its directory must really lie there."""
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
        return super().open(path, pflags, attrs)

    def open56(self, path: bytes, desired_access: int, flags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        """The same in later protocol versions."""
        self._follow(path)
        return super().open56(path, desired_access, flags, attrs)

    def stat(self, path: bytes) -> Any:
        """The attributes of what a path leads to."""
        self._follow(path)
        return super().stat(path)

    def setstat(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> Any:
        """Change them."""
        self._follow(path)
        return super().setstat(path, attrs)

    def scandir(self, path: bytes) -> Any:
        """The entries of a directory below the root."""
        self._follow(path)
        return super().scandir(path)

    def realpath(self, path: bytes) -> Any:
        """A path without links, as the client sees it."""
        self._follow(path)
        return super().realpath(path)

    def readlink(self, path: bytes) -> bytes:
        """Where a link points, as it was written; an absolute place as the client sees it."""
        target = os.readlink(self.map_path(path))
        return self.reverse_map_path(target) if os.path.isabs(target) else target

    def link(self, oldpath: bytes, newpath: bytes) -> Any:
        """A further name for a file below the root."""
        self._follow(oldpath)
        return super().link(oldpath, newpath)

    def symlink(self, oldpath: bytes, newpath: bytes) -> Any:
        """A link to a place below the root."""
        place = Path(os.fsdecode(self.map_path(newpath)))
        target = place.parent / os.fsdecode(oldpath)
        if os.path.isabs(oldpath):
            target = Path(os.fsdecode(self.map_path(oldpath)))
        if not target.resolve().is_relative_to(self._home):
            raise asyncssh.SFTPPermissionDenied("The link would lead out of the root")
        return super().symlink(oldpath, newpath)

    def statvfs(self, path: bytes) -> Any:
        """The room on the disk."""
        self._follow(path)
        return super().statvfs(path)


def _host_key(folder: Path) -> asyncssh.SSHKey:
    """The server's key, the same as long as the data folder lives."""
    path = folder / "sftp_host_key"
    if not path.exists():
        key = asyncssh.generate_private_key("ssh-ed25519")
        path.touch(mode=0o600)
        path.write_bytes(key.export_private_key())
    return asyncssh.read_private_key(path)


async def serve(world: World, listener: socket.socket) -> asyncssh.SSHAcceptor:
    """Serve SFTP on a socket; a session that stands lives on when its key or password goes."""
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
