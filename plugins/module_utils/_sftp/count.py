# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Report the progress of a transfer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .._api.text import megabytes


@dataclass
class Count:
    """Entries that are finished and bytes that have arrived. ``tell`` hears of each; it sets the pace."""

    what: str
    entries: int
    bytes: int
    tell: Callable[[str], None]
    finished: int = field(default=0, init=False)
    arrived: int = field(default=0, init=False)

    def finish_one(self) -> None:
        """Note that an entry is finished."""
        self.finished += 1
        self._report()

    def moved(self, count: int) -> None:
        """Note that bytes have arrived."""
        self.arrived += count
        self._report()

    def _report(self) -> None:
        size = f", {megabytes(self.arrived)} of {megabytes(self.bytes)}" if self.bytes else ""
        self.tell(f"{self.what}: {self.finished} of {self.entries}{size}")
