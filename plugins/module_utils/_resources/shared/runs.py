# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of ansible-playbook a task belongs to, and whether another run goes on."""

from __future__ import annotations

import multiprocessing
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .store import RUN_FOLDER

ENDED = ("Z", "X")
"""How the system shows a process that was killed and whose parent does not look after it."""


@dataclass(frozen=True)
class Run:
    """A run: its process, the folder that its tasks share, and when the process started."""

    process: int
    folder: str
    started: str | None = None

    @classmethod
    def of_task(cls) -> Self | None:
        """Return the run of this task; ``None`` if it runs as a module elsewhere."""
        folder = os.environ.get(RUN_FOLDER)
        return cls(run_process(), folder, start_of(run_process())) if folder else None

    def goes_on(self) -> bool:
        """Tell whether the run goes on. One that has ended has no folder, though a process got its number.

        One that was killed has left its folder. So the time at which its process started counts as well,
        where that is known.
        """
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is another user's
            pass
        return os.path.isdir(self.folder) and self.started in (None, start_of(self.process))


def run_process() -> int:
    """Return the process of the run that this task belongs to, also if that was killed meanwhile.

    Ansible makes its workers with multiprocessing, which remembers who made them. An orphan's parent by the
    system's account is process 1.
    """
    parent = multiprocessing.parent_process()
    return os.getppid() if parent is None or parent.pid is None else parent.pid


def start_of(process: int) -> str | None:
    """Return when a process started, in a form to compare.

    ``None`` where the system does not show it, and if the process has ended and nobody has taken note.
    """
    with suppress(OSError, IndexError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        facts = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
        fields = facts.rpartition(")")[2].split()
        return None if fields[0] in ENDED else f"{boot}:{fields[19]}"
    return None
