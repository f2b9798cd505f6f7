# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ends what writes to the disk at each of its calls, or lets the disk be full from there on."""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Callable
from typing import Any

import pytest

CALLS = [(os, name) for name in ("open", "mkdir", "fsync", "replace", "unlink", "write")] + [(fcntl, "flock")]
"""The calls of the system after which a task may be gone, or the disk full."""


def struck(act: Callable[[], object], at: int, strike: Callable[[], None]) -> bool:
    """Do something whose call of this number meets a strike. Tell whether there were so many calls."""
    left = at

    def wrap(own: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                strike()
            return own(*given, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for module, name in CALLS:
            patch.setattr(module, name, wrap(getattr(module, name)))
        act()
    return left <= 0


def ended(act: Callable[[], object], at: int) -> bool:
    """Do something in a process that ends at a call. Tell whether there were so many calls."""
    child = os.fork()
    if not child:
        struck(act, at, lambda: os._exit(9))
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def fill_disk() -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
