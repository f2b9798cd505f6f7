# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find out what a server supports beyond reading and writing. Its name does not say.

The protocol and OpenSSH disagree about the order of the two paths in a request for a symbolic link, and
servers follow either. Some refuse to set times and permissions, others accept the request and do nothing.
"""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from .library import asyncssh
from .local import PRIVATE
from .trees import TreeEntry, encode_path, join, temporary_path, unless_refused

TRIED_TIME, TRIED_MODE = 1_000_000_001, 0o640
"""A time and a mode that no server gives to a new file by itself. FAT stores even seconds, so it is odd."""
FIRST_TIME = 1
"""The time that a file gets in the place of 0, which is no time to Go's library."""
NEW = asyncssh.FXF_WRITE | asyncssh.FXF_CREAT | asyncssh.FXF_EXCL if asyncssh else 0


@dataclass
class ServerFeatures:
    """The capabilities of a server. Those that were not tried are assumed to work."""

    times: bool = True
    """True if a file has exactly the time that was set."""
    modes: bool = True
    links: bool = True
    links_swapped: bool = False
    """True if asyncssh sends the two paths of a link in the other order than the server reads them."""
    links_renamed: bool = True
    """True if renaming a link renames the link itself. Some servers rename the target of the link."""
    holes: bool = True
    """True if what lies before a write beyond the end of a file reads as zeros, as the protocol has it."""


async def try_attributes(sftp: Any, folder: str, features: ServerFeatures) -> None:
    """Find out with a file of our own in ``folder`` whether times and permissions are kept."""
    name = temporary_path(join(folder, "probe"))
    path = encode_path(name)
    try:
        file = await sftp.open(path, NEW, asyncssh.SFTPAttrs(permissions=PRIVATE), encoding=None)
    except asyncssh.SFTPError:  # writing will fail as well, and tells why
        return
    async with removed_afterwards(sftp, name):
        await file.close()
        tried = asyncssh.SFTPAttrs(permissions=TRIED_MODE, atime=TRIED_TIME, mtime=TRIED_TIME)
        with suppress(asyncssh.SFTPError):
            await sftp.setstat(path, tried)
        features.times, features.modes = await are_attributes_kept(sftp, path)


async def are_attributes_kept(sftp: Any, path: bytes) -> tuple[bool, bool]:
    """Tell whether a file has the time and the permissions that were tried."""
    try:
        found = await sftp.lstat(path)
    except (asyncssh.SFTPNoSuchFile, asyncssh.SFTPPermissionDenied):
        return False, False
    return found.mtime == TRIED_TIME, (found.permissions or 0) & 0o777 == TRIED_MODE


async def try_links(sftp: Any, folder: str, features: ServerFeatures) -> None:
    """Find out with a link of our own in ``folder`` which of its two paths the server takes for the link.

    Both lie in the folder, so that nothing is made anywhere else whichever way the server reads them.
    """
    one, other = (temporary_path(join(folder, "probe")) for _name in range(2))
    async with removed_afterwards(sftp, one, other):
        with suppress(asyncssh.SFTPError):
            await sftp.symlink(encode_path(one), encode_path(other))
        straight = await is_link(sftp, other)
        features.links_swapped = not straight and await is_link(sftp, one)
        features.links = straight or features.links_swapped


async def try_renaming(sftp: Any, folder: str, features: ServerFeatures) -> None:
    """Find out with files of our own in ``folder`` what happens when a link is renamed."""
    file, link, renamed = (temporary_path(join(folder, "probe")) for _name in range(3))
    features.links_renamed = False
    async with removed_afterwards(sftp, link, renamed, file):
        with suppress(asyncssh.SFTPError):
            await (await sftp.open(encode_path(file), NEW)).close()
            await make_link(sftp, posixpath.basename(file), link, features)
            await sftp.posix_rename(encode_path(link), encode_path(renamed))
            await sftp.lstat(encode_path(file))
            features.links_renamed = await is_link(sftp, renamed)


async def make_link(sftp: Any, target: str, path: str, features: ServerFeatures) -> None:
    """Make a link in the way that the server understands."""
    paths = [encode_path(target), encode_path(path)]
    await sftp.symlink(*(reversed(paths) if features.links_swapped else paths))


async def is_link(sftp: Any, path: str) -> bool:
    """Tell whether there is a link. Some servers tell the attributes of what it leads to."""
    return await unless_refused(sftp.readlink(encode_path(path)), None) is not None


@asynccontextmanager
async def removed_afterwards(sftp: Any, *paths: str) -> AsyncIterator[None]:
    """Remove what was tried, whatever came of it."""
    try:
        yield
    finally:
        for path in paths:
            with suppress(asyncssh.Error, OSError):
                await sftp.remove(encode_path(path))


def attributes(entry: TreeEntry, features: ServerFeatures) -> Any:
    """Return the times and permissions to set on a file; ``None`` when there are none to set."""
    times = {"atime": entry.mtime, "mtime": entry.mtime} if features.times else {}
    mode = {"permissions": entry.mode} if features.modes and entry.mode is not None else {}
    return asyncssh.SFTPAttrs(**times, **mode) if times or mode else None
