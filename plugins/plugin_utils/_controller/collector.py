# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the garbage collector from what was imported: to free it all took a third of the time of a start."""

from __future__ import annotations

import atexit
import fcntl
import gc
import os
import stat
from contextlib import suppress
from functools import cache

SWITCH = "HOSTED_SERVICES_FREEZE"
"""The environment variable that switches this off, with 0."""
STANDARD = (0, 1, 2)
"""The standard streams, which Python flushes by itself."""


@cache
def freeze_imports() -> None:
    """Exempt what is there by now from garbage collection, once in a process, before Ansible forks.

    A file that another plugin left open in a reference cycle is written to its end only by the collection at
    the end of the run. So nothing stays exempt where a file is open for writing by then.
    """
    if os.environ.get(SWITCH) != "0":
        gc.freeze()
        atexit.register(unfreeze_for_open_files)


def unfreeze_for_open_files() -> None:
    """Collect everything, as ever, if a file that has a name is open for writing."""
    with suppress(OSError):
        if any(map(is_written, {int(name) for name in os.listdir("/dev/fd")}.difference(STANDARD))):
            gc.unfreeze()


def is_written(handle: int) -> bool:
    """Tell whether what is open is a file with a name, for writing. One without is gone with the process."""
    with suppress(OSError):  # such as the handle that the folder was read with
        found = os.fstat(handle)
        flags = fcntl.fcntl(handle, fcntl.F_GETFL)
        return stat.S_ISREG(found.st_mode) and found.st_nlink > 0 and flags & os.O_ACCMODE != os.O_RDONLY
    return False
