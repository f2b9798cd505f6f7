# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tell temporary files of a transfer that broke off from those of one that runs.

On this machine, whoever writes one holds a lock on it, which ends with the process. A server has no locks, so
there the time of the last write has to tell.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from .server_features import temporary_path

STALE_AFTER = 3600
"""The seconds without a write after which a temporary file is nobody's, where nothing else tells."""
ADVICE = (
    "another run may be writing to the same folder. Run this again once that one has ended, or give each run "
    "a folder of its own"
)
GONE = f"its temporary file or its folder is gone; {ADVICE}"


def open_held(folder: int, mode: int) -> tuple[int, str]:
    """Make a temporary file in an open folder; return its handle and its name.

    No other run removes it while the handle, or a copy of that, is open.
    """
    while True:
        name = temporary_path("")
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=folder)
        # Another run may have found it before it was held.
        if lock(handle) is not False and os.fstat(handle).st_nlink:
            return handle, name
        os.close(handle)
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


@contextmanager
def replacing(folder: int, name: str, mode: int) -> Iterator[int]:
    """Make a file that takes the place of another once it is whole; yield its handle."""
    handle, temporary = open_held(folder, mode)
    try:
        yield handle
        os.close(os.dup(handle))  # some file systems tell here that it is not whole
        put_in_place(folder, temporary, name)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(handle)


def put_in_place(folder: int, temporary: str, name: str) -> None:
    """Rename a temporary file.

    :raises FileNotFoundError: saying what may have removed it.
    """
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, GONE) from None


@contextmanager
def claimed(folder: int, name: str, now: float) -> Iterator[bool]:
    """Tell whether a temporary file of this machine is nobody's, and let nobody else claim it meanwhile."""
    handle, old = None, False
    with suppress(OSError):  # it is a link, another user's, or gone
        old = is_stale(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mtime, now)
        handle = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        free = None if handle is None else lock(handle)
        yield old if free is None else free
    finally:
        if handle is not None:
            os.close(handle)


def lock(handle: int) -> bool | None:
    """Lock a file; return whether that is done, ``None`` if its file system has no locks."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def is_stale(mtime: float, now: float) -> bool:
    """Tell whether a temporary file has not been written to for so long that it is nobody's."""
    return now - mtime >= STALE_AFTER
