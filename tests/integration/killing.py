# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ending a run as a power cut does: Ansible's workers have sessions of their own, and outlive it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hosted_sandbox.testing import SandboxClient
from integration.ansible_run import Ansible, play_of
from integration.warm import COLD

LATENCY = 0.05
LOOK_SECONDS = 0.02
"""A run makes few requests in this time, and looking without a pause would slow it down."""
END_SECONDS = 300
"""How long a process may take to end on a busy machine."""


def kill_points(variable: str, default: str) -> Iterator[int]:
    """Yield after how many requests a run is killed: a variable such as ``3,11``, ``1-40`` or ``1-40:5``."""
    for part in os.environ.get(variable, default).split(","):
        points, _colon, step = part.partition(":")
        first, _dash, last = points.partition("-")
        yield from range(int(first), int(last or first) + 1, int(step or 1))


def kill_play_after(ansible: Ansible, sandbox: SandboxClient, point: int, play: str) -> bool:
    """Run a play, and end it and all its workers after so many requests. Return whether it was killed."""
    path = ansible.folder / "killed.yml"
    path.write_text(play)
    with subprocess.Popen(
        [COLD.playbook, "-i", str(ansible.inventory), str(path)],
        env=ansible.environment,
        cwd=ansible.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as run:
        seen = Counter(sandbox)
        while run.poll() is None and seen.requests() < point:
            time.sleep(LOOK_SECONDS)
        if run.poll() is not None:
            return False
        kill_run(ansible.folder, run.pid)
    return True


def kill_tasks_after(ansible: Ansible, sandbox: SandboxClient, point: int, tasks: str) -> bool:
    """Run tasks whose requests take a moment, so that a kill often meets some; return whether it did."""
    sandbox.clear_journal()
    sandbox.fault("*", "latency", latency=LATENCY, count=None)
    killed = kill_play_after(ansible, sandbox, point, play_of(tasks))
    sandbox.clear_faults()
    return killed


class Counter:
    """Counts the requests that reach a sandbox, and reads each of them once."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self._sandbox = sandbox
        self._count = self._last = 0

    def requests(self) -> int:
        """Return how many are in the journal."""
        lines = self._sandbox.journal(after=self._last)
        if lines:
            self._last = lines[-1]["n"]
            self._count += len(lines)
        return self._count


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


def left_of(home: Path) -> list[int]:
    """Return the processes of a run that stay after it: some need a moment to end."""
    end = time.monotonic() + END_SECONDS
    while (left := [*processes_of(home)]) and time.monotonic() < end:
        time.sleep(LOOK_SECONDS)
    return left


def processes_of(home: Path) -> Iterator[int]:
    mark = f"HOME={home}\0".encode()
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (process / "environ").read_bytes():
                yield int(process.name)
