# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The library that speaks SSH, imported in one place and by nothing that can do without it.

It takes a quarter of a second to import, so only what transfers files comes here.
"""

from __future__ import annotations

import asyncio
import getpass
import os
from collections.abc import Awaitable
from typing import Any, TypeVar

from .._api.libraries import require_for

try:
    import asyncssh
except ImportError:
    asyncssh = None  # type: ignore[assignment]

__all__ = ["asyncssh"]
T = TypeVar("T")

LOST = (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection) if asyncssh else ()
MISSING = (asyncssh.SFTPNoSuchFile, asyncssh.SFTPNoSuchPath) if asyncssh else ()


def require() -> None:
    """Check that the library is there. It asks for the name and the home of the user in any case."""
    require_for("SFTP", asyncssh, "asyncssh")
    try:
        getpass.getuser()
    except (KeyError, OSError):  # a container may run as any user; OSError is that of Python 3.13
        os.environ["LOGNAME"] = str(os.getuid())
    if os.path.expanduser("~") == "~":
        os.environ["HOME"] = "/"  # as containers have it for such a user


async def unless_refused(request: Awaitable[T], otherwise: T) -> T:
    """Return what a side answers, or ``otherwise`` if it refuses. A lost connection is raised."""
    try:
        return await request
    except LOST:
        raise
    except (asyncssh.SFTPError, OSError):
        return otherwise


async def run_all(*works: Any) -> None:
    """Do all at once. The first error ends the others and is raised, once they have cleaned up."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
