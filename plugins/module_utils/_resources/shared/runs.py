# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which run of ansible-playbook a task belongs to, and whether another run goes on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Self

from .controller_state import RUN_FOLDER


@dataclass(frozen=True)
class Run:
    """A run: its process, and the folder that its tasks share."""

    process: int
    folder: str

    @classmethod
    def of_task(cls) -> Self | None:
        """Return the run of this task; ``None`` if it runs as a module elsewhere."""
        folder = os.environ.get(RUN_FOLDER)
        return cls(os.getppid(), folder) if folder else None

    def goes_on(self) -> bool:
        """Tell whether the run goes on. One that has ended has no folder, though a process got its number."""
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return False
        except PermissionError:  # it is another user's
            pass
        return os.path.isdir(self.folder)
