# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending a run as a power cut does: Ansible's workers have sessions of their own, and outlive it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path


def kill_run(home: Path, pid: int) -> None:
    """End a process and everything that has the run's folder as its home, with SIGKILL.

    Until nothing is left: one that was begun while the others were looked for is not among them.
    """
    found = [pid]
    while found:
        for victim in found:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        found = list(processes_of(home))


def processes_of(home: Path) -> Iterator[int]:
    """Yield the processes of a run."""
    mark = f"HOME={home}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes():
                yield int(process.name)
