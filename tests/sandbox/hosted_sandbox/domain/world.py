# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The world: records, time, files, and the things that happen by themselves."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hosted_sandbox.clock import DAY, HOUR, SECOND, Clock
from hosted_sandbox.gaps import Profile
from hosted_sandbox.store import Store
from hosted_sandbox.store.records import Meta, Task

logger = logging.getLogger("sandbox")
#: By how much a wait moves a frozen clock at a time, in milliseconds.
STEP = 50
Action = Callable[["World", Task], None]
#: What a scheduled task of each kind does; filled by the modules that own the rules.
ACTIONS: dict[str, Action] = {}


def action(kind: str) -> Callable[[Action], Action]:
    """Register what happens when a task of this kind is due."""

    def register(function: Action) -> Action:
        ACTIONS[kind] = function
        return function

    return register


@dataclass
class Delays:
    """How long things take, in seconds of the sandbox's clock."""

    provision: float = 0.3
    start: float = 0.2
    stop: float = 0.1
    resume: float = 0.3
    delete: float = 0.3
    backup: float = 0.3
    restore: float = 0.3
    restore_begins: float = 1.0
    """How late a restore begins where RESTORING shows late."""
    backup_pause: float = 0.2
    """How soon after a backup the next one may be asked for, where that is limited."""
    snapshot: float = 0.3
    """How late a snapshot is there, where it is not at once."""
    scan: float = 0.3
    scan_wait: float = 30
    query: float = 15
    project_page: float = 0
    project_list: float = 0

    def change(self, values: dict[str, float]) -> None:
        """Set some of the delays; ValueError names one that does not exist or is not a number."""
        for name, value in values.items():
            if name not in {known.name for known in fields(self)}:
                raise ValueError(f"unknown delay {name!r}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise ValueError(f"delay {name!r} must be a number of seconds")
            setattr(self, name, float(value))


@dataclass
class Auth:
    """How the sandbox expects the token: which header, and which word before it (may be empty)."""

    header: str = "Authorization"
    scheme: str = "Bearer"


@dataclass
class Addresses:
    """Where the parts of the sandbox listen; filled in when they do."""

    api: str = ""
    control: str = ""
    sftp_host: str = "127.0.0.1"
    sftp_port: int = 0
    registry: str = ""


class World:
    """Everything a rule may look at or change."""

    def __init__(self, store: Store, folder: Path, profile: Profile) -> None:
        self.store = store
        self.folder = folder
        self.gaps = profile
        self.clock = Clock()
        self.delays = Delays()
        self.auth = Auth()
        self.addresses = Addresses()
        self._moment: int | None = None

    @property
    def now(self) -> int:
        """The simulated time; within a scheduled task, the time it was due."""
        return self.clock.now() if self._moment is None else self._moment

    def new_id(self, kind: str) -> str:
        """A fresh opaque identifier, in the form that the profile chose."""
        fresh = uuid.uuid4()
        match self.gaps["id.form"]:
            case "hex":
                return fresh.hex[:16]
            case "prefixed":
                return f"{kind}_{fresh.hex[:20]}"
            case "number":
                return str(fresh.int % 10**15)
            case _:
                return str(fresh)

    def after(self, seconds: float, kind: str, target: str, **args: Any) -> None:
        """Let something happen later; at once when the delay is zero."""
        task = Task(uuid.uuid4().hex, self.now + round(seconds * SECOND), kind, target, args)
        if seconds <= 0:
            ACTIONS[kind](self, task)
        else:
            self.store.put(task)

    def forget(self, target: str, *kinds: str) -> None:
        """Drop what was still to happen to a target: the given kinds, or everything."""
        for task in self.store.all(Task):
            if task.target == target and (not kinds or task.kind in kinds):
                self.store.drop(task)

    def pending(self, target: str, kind: str) -> bool:
        """Whether something of that kind is still to happen to a target."""
        return any(task.target == target and task.kind == kind for task in self.store.all(Task))

    def tick(self) -> None:
        """Carry out everything that is due, in order, each at its own time."""
        now = self.clock.now()
        while (task := self._next(now)) is not None:
            self._moment = task.due
            try:
                with self.store.transaction():
                    self.store.drop(task)
                    ACTIONS[task.kind](self, task)
            except Exception:
                # Kept, it would be due again at every request from now on.
                logger.exception("a task %s failed", task.kind)
                with self.store.transaction():
                    self.store.drop(task)
            finally:
                self._moment = None

    def _next(self, now: int) -> Task | None:
        due = [task for task in self.store.all(Task) if task.due <= now]
        return min(due, key=lambda task: task.due, default=None)

    async def until(self, true: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so; False when it is not after that many simulated or real seconds.

        What was written so far is committed first: other requests go on meanwhile. A frozen clock is moved
        by whoever waits, so that nothing hangs and every run takes the same simulated time.
        """
        self.store.commit()
        if self.clock.rate == 0:
            return self._skip(true, seconds)
        end = self.now + round(seconds * SECOND)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + seconds
        while not true():
            if self.now >= end or loop.time() >= give_up:
                return False
            await asyncio.sleep(min(0.02, max(seconds / 10, 0.001)))
            self.tick()
        return True

    def _skip(self, true: Callable[[], bool], seconds: float) -> bool:
        end = self.now + round(seconds * SECOND)
        while not true() and self.now < end:
            self.clock.move(min(self.now + STEP, end))
            self.tick()
        self.save_settings()
        return true()

    def grace(self) -> int:
        """How long a negative balance is borne, in milliseconds."""
        return int(self.gaps["grace"].split()[0]) * HOUR

    def save_settings(self) -> None:
        """Write the clock, profile, delays and token form beside the records."""
        value = {
            "now": self.clock.now(),
            "real": time.time(),
            "rate": self.clock.rate,
            "profile": self.gaps.name,
            "fill": self.gaps.fill,
            "delays": vars(self.delays),
            "auth": vars(self.auth),
        }
        self.store.put(Meta("settings", value))

    def load_settings(self, keep_profile: bool = False) -> None:
        """Take them back. A running clock went on while the sandbox did not; a frozen one stood still."""
        meta = self.store.get(Meta, "settings")
        if meta is None:
            return
        saved = meta.value
        rate = float(saved["rate"])
        away = max(0.0, time.time() - saved["real"])
        self.clock.restore(saved["now"] + round(away * SECOND * rate), rate)
        if not keep_profile:
            self.gaps = Profile(saved["profile"], saved["fill"])
        self.delays = Delays(**saved["delays"])
        self.auth = Auth(**saved["auth"])


__all__ = ["DAY", "HOUR", "SECOND", "Addresses", "Auth", "Delays", "World", "action"]
