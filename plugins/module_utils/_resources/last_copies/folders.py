# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder that takes last copies: checked before anything is read, written to under a temporary name.

Each service has a folder of its own in it, with one folder for each copy::

    PATH/survival-svc_8c1d/20261123T021500Z/

A copy is made in a folder whose name begins with a dot, and gets its own name once it is verified and on the
disk. So whatever ends a run, a folder with the name of a copy is a whole one.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count

from ..._api.private_folder import PRIVATE_FOLDER, make_folder_of, refuse_strangers
from ..._sftp.errors import TransferFailed
from ..._sftp.trees import printable_path
from ..shared.task_errors import Invalid

PARTIAL = ".partial-"
"""What the name of a folder begins with until its copy is verified."""
COPY_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z(?:-[0-9]+)?")
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
MAX_NAME = 60
SYSTEM_FOLDERS = (
    *("/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"),
)
"""Folders that belong to the system."""
FOR_USERS = ("/dev/shm", "/run/media")  # noqa: S108 - the user names it
"""Those below them that do not: memory that users share, and the disks that a desktop mounts."""


@dataclass(frozen=True)
class CopyFolder:
    """Where the copies of one service go."""

    root: str
    """What the user named, without links."""
    path: str
    """The folder of the service in it."""
    own: bool = False
    """Whether it is the collection's own, which is made with the folders above it."""

    def begin(self) -> str:
        """Make the folder for a new copy, and remove what runs that were cut off have left."""
        try:
            if self.own:
                make_folder_of(self.root)
            make_private(self.root)
            make_private(self.path)
            for name in os.listdir(self.path):
                if name.startswith(PARTIAL):
                    shutil.rmtree(os.path.join(self.path, name), ignore_errors=True)
            return tempfile.mkdtemp(prefix=PARTIAL, dir=self.path)
        except OSError as error:
            raise unwritable(self.path, error) from None

    def place(self, partial: str, made_at: float) -> str:
        """Give a verified copy its name, for good; return its path."""
        final = self.free_path(made_at)
        try:
            os.rename(partial, final)
            for folder in (self.path, self.root, os.path.dirname(self.root)):
                flush_entry(folder)
        except OSError as error:
            raise unwritable(final, error) from None
        return final

    def free_path(self, made_at: float) -> str:
        """Return the path of a copy that was made at this time; a number tells it from another."""
        first = os.path.join(self.path, time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(made_at)))
        names = chain([first], (f"{first}-{number}" for number in count(2)))
        return next(name for name in names if not os.path.lexists(name))

    def copies(self) -> Iterator[str]:
        """Yield the paths of the copies that are there, the newest first."""
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(self.path), reverse=True):
                path = os.path.join(self.path, name)
                if COPY_NAME.fullmatch(name) and stat.S_ISDIR(os.lstat(path).st_mode):
                    yield path


def check_folder(path: str, name: str, id: str, own: bool = False) -> CopyFolder:
    """Return where the copies of a service go, if they can be written there. Writes nothing.

    :param own: whether it is the collection's own folder. Those above any other one have to be there.
    """
    root = os.path.realpath(os.path.abspath(os.path.expanduser(path)))
    check_no_system_folder(path, root)
    if os.path.lexists(root):
        check_writable_folder(path, root)
    else:
        parent = nearest_folder(path) if own else os.path.dirname(root)
        missing = root if os.path.islink(os.path.expanduser(path)) else parent
        if not os.path.isdir(missing):  # a link, or the folder above
            raise Invalid(
                f"keep_copy is {path!r}, and {missing!r} does not exist. Is a disk not mounted? Create it, "
                "or name another folder. Nothing was deleted"
            )
        check_writable_folder(path, parent)
    folder = CopyFolder(root, os.path.join(root, folder_name(name, id)), own)
    check_own_folder(folder.path)
    return folder


def nearest_folder(path: str) -> str:
    """Return the nearest thing above a path that is there. It may be a link to a disk that is not mounted."""
    above = os.path.dirname(os.path.abspath(os.path.expanduser(path)))
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    return above


def check_no_system_folder(path: str, root: str) -> None:
    """Refuse a folder of the system: a copy there is in the way, or gone with the next boot."""
    own = any(root == mount or root.startswith(f"{mount}/") for mount in FOR_USERS)
    inside = next((top for top in SYSTEM_FOLDERS if root == top or root.startswith(f"{top}/")), None)
    if root == "/" or (inside and not own):
        raise Invalid(
            f"keep_copy is {path!r}, which is {f'inside of {inside!r}' if inside else 'the root'}, a folder "
            "of the system; name a folder of your own. Nothing was deleted"
        )


def check_writable_folder(path: str, folder: str) -> None:
    """Refuse what is no folder, or one that this user cannot write to."""
    if not os.path.isdir(folder):
        raise Invalid(f"keep_copy is {path!r}, and {folder!r} is no folder; name one. Nothing was deleted")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Invalid(
            f"keep_copy is {path!r}, and {folder!r} cannot be written to by this user; change its "
            "permissions, or name another folder. Nothing was deleted"
        )


def check_own_folder(path: str) -> None:
    """Refuse a folder of a service that somebody else made: what is written there would be theirs."""
    try:
        there = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISDIR(there.st_mode) or there.st_uid != os.geteuid():
        raise Invalid(
            f"the copy would go to {path!r}, which is there and is not a folder of this user; remove it, or "
            "name another folder. Nothing was deleted"
        )


def folder_name(name: str, id: str) -> str:
    """Return the name of the folder of a service: readable, and safe whatever the service is called.

    Where the id cannot stand in it as it is, a hash tells two of them apart.
    """
    readable = UNSAFE.sub("_", name).strip("._-")[:MAX_NAME] or "service"
    plain = UNSAFE.sub("_", id).strip(".")[:MAX_NAME]
    if plain != id:
        plain = f"{plain}-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return f"{readable}-{plain}"


def make_private(path: str) -> None:
    """Make a folder for this user alone, unless it is there, and nobody's trap."""
    with suppress(FileExistsError):
        os.mkdir(path, PRIVATE_FOLDER)
    refuse_strangers(path)


def flush_tree(root: str) -> None:
    """Have everything below a folder on the disk, the folder itself included.

    :raises OSError: where that fails; a full disk may say so only here.
    """
    for folder, __, files in os.walk(root):
        for name in files:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                flush_entry(path)
        flush_entry(folder)


def flush_entry(path: str) -> None:
    """Have one file on the disk, or the names in one folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(path: str, error: OSError) -> TransferFailed:
    """Return the error for a place that cannot be written to."""
    place = printable_path(os.fsdecode(error.filename or path))
    return TransferFailed(f"cannot write {place}: {error.strerror or error}")
