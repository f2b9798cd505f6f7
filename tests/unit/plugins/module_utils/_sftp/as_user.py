# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Root that obeys the permissions of files for a while, as everybody else does."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

VERSION = 0x20080522
OVERRIDES = 0b1110
"""The capabilities to write and to read what is not allowed, and to act as the owner."""


class Header(ctypes.Structure):
    """Which thread is meant: this one."""

    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Set(ctypes.Structure):
    """Half of the capabilities of a thread."""

    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def as_user() -> Iterator[None]:
    """Give up what root may do to any file, until the end of the context."""
    if os.geteuid():
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = Header(VERSION, 0), (Set * 2)()
    assert libc.capget(ctypes.byref(header), sets) == 0
    effective = sets[0].effective
    sets[0].effective &= ~OVERRIDES
    assert libc.capset(ctypes.byref(header), sets) == 0
    try:
        yield
    finally:
        sets[0].effective = effective
        assert libc.capset(ctypes.byref(header), sets) == 0
