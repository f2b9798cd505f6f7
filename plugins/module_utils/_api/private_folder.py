# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes folders for what is nobody else's business: records, secrets, and the known keys of servers."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import PurePath

PRIVATE_FOLDER = 0o700


def make_folder_of(path: str) -> None:
    """Make the folder of a file, and those above it, where they are missing, for this user alone.

    :raises OSError: if that is not possible, or as :func:`refuse_strangers` of each of them and of the file.
    """
    path = os.path.abspath(path)
    for folder in reversed(PurePath(path).parents):
        if not os.path.isdir(folder):
            with suppress(FileExistsError):  # another task was quicker, or it is a file
                os.mkdir(folder, PRIVATE_FOLDER)
            os.stat(os.path.join(folder, ""))
        refuse_strangers(str(folder))
    with suppress(FileNotFoundError):
        refuse_strangers(path)


def refuse_strangers(path: str) -> None:
    """Refuse what another user has put where everybody may write, such as a link in ``/tmp``.

    :raises OSError: if it is that, or not there.
    """
    path = os.path.abspath(path)
    # Who runs sudo trusts what is their own, as git does.
    trusted = {"0", str(os.geteuid()), os.environ.get("SUDO_UID")}
    if str(os.lstat(path).st_uid) in trusted or not os.stat(os.path.dirname(path)).st_mode & stat.S_IWOTH:
        return
    why = f"{path!r} belongs to another user, in a folder that everybody can write to"
    raise PermissionError(errno.EACCES, why, path)
