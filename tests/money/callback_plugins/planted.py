# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speeds up the clock of the collection, and plants defects in the guard of the budget, for tests of both."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from typing import Any

from ansible.plugins.callback import CallbackBase

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    ACCOUNT,
    Budget,
    Guard,
    Notes,
    read_budget,
)

DOCUMENTATION = r"""
name: planted
type: aggregate
short_description: Speed up the clock of the collection, and plant a defect
description:
  - Lets pauses and waits of the collection pass E(PLANTED_SPEED) times as fast in the tasks of this run.
  - E(PLANTED_DEFECT) is V(blind) for a guard that does not see what parallel tasks reserve, V(stale) for one
    that does not look again before the call, V(stingy) for one that takes limits for lower than they are.
"""
GUARD = sys.modules[Guard.__module__]
COLLECTION = "ansible_collections.hosted.services.plugins."


class QuickTime:
    """Stands in for the module C(time) in the collection."""

    def __init__(self, speed: float) -> None:
        self.speed = speed

    def monotonic(self) -> float:
        """Return a steady time that passes faster than the machine's."""
        return time.monotonic() * self.speed

    def sleep(self, seconds: float) -> None:
        """Sleep for a part of the seconds."""
        time.sleep(seconds / self.speed)

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


def put(owner: Any, name: str, value: Any) -> None:
    """Put something in the place of what the collection has under a name."""
    setattr(owner, name, value)


def plant_blindness() -> None:
    """Let the guard see neither the reservations of parallel tasks nor their lock."""
    put(Notes, "open", lambda notes: [])
    put(Notes, "turn", lambda notes: nullcontext())


def plant_staleness() -> None:
    """Let the guard look when the plan is made, and not again before the call."""

    @contextmanager
    def let_through(*given: Any) -> Iterator[None]:
        yield

    put(Guard, "committing", let_through)


def plant_stinginess() -> None:
    """Let the guard take every limit for a cent less than it is."""

    def lower(value: Any, source: str) -> Any:
        budget = read_budget(value, source)
        return Budget({kind: most - Decimal("0.01") * (kind[0] == ACCOUNT) for kind, most in budget.items()})

    put(GUARD, "read_budget", lower)


DEFECTS = {"blind": plant_blindness, "stale": plant_staleness, "stingy": plant_stinginess}


class CallbackModule(CallbackBase):
    """Changes the collection in the process that forks the workers."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "planted"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        defect = os.environ.get("PLANTED_DEFECT")
        if defect:
            DEFECTS[defect]()
        speed = float(os.environ.get("PLANTED_SPEED", "1"))
        if speed != 1:
            quick = QuickTime(speed)
            for name, module in list(sys.modules.items()):
                if name.startswith(COLLECTION) and vars(module).get("time") is time:
                    put(module, "time", quick)
