# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The world: records, time, files and scheduled tasks."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from hosted_sandbox.clock import DAY, SECOND, Clock
from hosted_sandbox.gaps import Profile
from hosted_sandbox.store import Store
from hosted_sandbox.store.records import Meta, Task

logger = logging.getLogger("sandbox")
#: The step by which a wait moves a frozen clock, in milliseconds.
STEP = 50
T = TypeVar("T")
Action = Callable[["World", Task], None]
#: The function of each kind of scheduled task, registered by the modules that own the rules.
ACTIONS: dict[str, Action] = {}


def action(kind: str) -> Callable[[Action], Action]:
    """Register the function for a kind of scheduled task."""

    def register(function: Action) -> Action:
        ACTIONS[kind] = function
        return function

    return register


@dataclass
class Delays:
    """How long operations take, in seconds of the simulated clock."""

    provision: float = 0.3
    start: float = 0.2
    stop: float = 0.1
    resume: float = 0.3
    delete: float = 0.3
    backup: float = 0.3
    restore: float = 0.3
    restore_begins: float = 1.0
    """When a restore starts, if not at once."""
    backup_pause: float = 0.2
    """The pause between two backups, if that is limited."""
    scan: float = 0.3
    scan_wait: float = 30
    query: float = 15
    sftp: float = 0
    """How long after its creation a service can be opened over SFTP."""

    def change(self, values: dict[str, float]) -> None:
        """Set some of the delays; raise ValueError for one that does not exist or is not a number."""
        for name, value in values.items():
            if name not in {known.name for known in fields(self)}:
                raise ValueError(f"unknown delay {name!r}")
            if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
                raise ValueError(f"delay {name!r} must be a number of seconds")
            setattr(self, name, float(value))


@dataclass
class Auth:
    """How the sandbox expects the token: in which header, after which scheme (may be empty)."""

    header: str = "Authorization"
    scheme: str = "Bearer"


@dataclass
class Addresses:
    """The addresses of the sandbox's listeners, set when they listen."""

    api: str = ""
    control: str = ""
    sftp_host: str = "127.0.0.1"
    sftp_port: int = 0
    registry: str = ""


@dataclass
class Kept:
    """What was there before a write, and up to when it is shown; `read` is the read that showed it."""

    before: Any
    since: int
    until: int
    read: int = 0


NUMBERED = ("svc", "prj", "key", "ord")
"""The kinds whose ids may be the same number: no task or folder of the sandbox goes by two of them."""


class World:
    """All state that a rule may read or change."""

    def __init__(self, store: Store, folder: Path, profile: Profile) -> None:
        self.store = store
        self.folder = folder.resolve()
        self.gaps = profile
        self.clock = Clock()
        self.delays = Delays()
        self.auth = Auth()
        self.addresses = Addresses()
        self._task_time: int | None = None
        self.kept: dict[tuple[str, str], list[Kept]] = {}
        self._reads = 0
        self._read = 0

    def place(self, kind: str, key: str) -> Path:
        """Return the folder of a service's `files`, or of a backup or snapshot in `copies`, by its id.

        :raises ValueError: if the id, which a saved state may have brought, leads elsewhere.
        """
        if key in ("", ".", "..") or "/" in key or "\0" in key:
            raise ValueError(f"{key!r} is no name of a folder")
        return self.folder / kind / key

    def begin(self, reads: bool) -> None:
        """Begin a request, which only reads, or writes."""
        self._reads += reads
        self._read = self._reads if reads else 0

    def late(self, seconds: float = 1) -> float:
        """Return after how long something happens that takes so many seconds if this platform is late."""
        return seconds if self.gaps["delay"] == "a second late" else 0

    def keep(self, kind: str, owner: str, before: Callable[[], Any]) -> None:
        """Let a read show what is there before a write: once, or for a second, if this platform is late."""
        seconds = self.late()
        if seconds or self.gaps["delay"] == "one read late":
            until = self.now + round(seconds * SECOND)
            self.kept.setdefault((kind, owner), []).append(Kept(before(), self.now, until))

    def shown(self, kind: str, owner: str, now: T) -> T:
        """Return what a read shows: what is there now, or was before the first write that shows late."""
        late = [kept for kept in self.kept.pop((kind, owner), ()) if self._is_late(kept)]
        if not late:
            return now
        self.kept[kind, owner] = late
        for kept in late:
            kept.read = kept.read or self._read
        before: T = late[0].before
        return before

    def _is_late(self, kept: Kept) -> bool:
        if kept.until > kept.since:
            return kept.since <= self.now < kept.until
        return kept.read in (0, self._read)

    @property
    def now(self) -> int:
        """The simulated time; within a scheduled task, its due time."""
        return self.clock.now() if self._task_time is None else self._task_time

    def new_id(self, kind: str) -> str:
        """Create an opaque identifier in the form of the profile."""
        fresh = uuid.uuid4()
        if self.gaps["id.form"] == "uuid":
            return str(fresh)
        return f"{self._next_number(kind) if kind in NUMBERED else fresh.int % 10**15}+="

    def _next_number(self, kind: str) -> int:
        """Return the next number of a kind, which another kind may have as well; none comes twice.

        They begin elsewhere after each reset: clients remember what had an id.
        """
        used = self.store.get(Meta, "numbers") or Meta("numbers", {"first": uuid.uuid4().int % 10**9})
        used.value[kind] = used.value.get(kind, used.value["first"]) + 1
        self.store.put(used)
        return int(used.value[kind])

    def after(self, seconds: float, kind: str, target: str, **args: Any) -> None:
        """Schedule a task; run it now if the delay is zero."""
        task = Task(uuid.uuid4().hex, self.now + round(seconds * SECOND), kind, target, args)
        if seconds <= 0:
            ACTIONS[kind](self, task)
        else:
            self.store.put(task)

    def forget(self, target: str) -> None:
        """Drop the scheduled tasks of a target."""
        for task in self.store.all(Task):
            if task.target == target:
                self.store.drop(task)

    def pending(self, target: str, kind: str) -> bool:
        """Tell whether a target has a scheduled task of this kind."""
        return any(task.target == target and task.kind == kind for task in self.store.all(Task))

    def tick(self) -> None:
        """Run the tasks that are due, in order, each at its own time."""
        now = self.clock.now()
        while (task := self._next(now)) is not None:
            self._task_time = task.due
            try:
                with self.store.transaction():
                    self.store.drop(task)
                    ACTIONS[task.kind](self, task)
            except Exception:
                # If it stayed, it would be due again at every request.
                logger.exception("a task %s failed", task.kind)
                with self.store.transaction():
                    self.store.drop(task)
            finally:
                self._task_time = None

    def _next(self, now: int) -> Task | None:
        due = [task for task in self.store.all(Task) if task.due <= now]
        return min(due, key=lambda task: task.due, default=None)

    async def until(self, true: Callable[[], bool], seconds: float) -> None:
        """Wait until a condition holds, for so many simulated or real seconds at most.

        The writes so far are committed first, because other requests go on meanwhile. The wait itself moves
        a frozen clock, so that nothing hangs and every run takes the same simulated time.
        """
        self.store.commit()
        end = self.now + round(seconds * SECOND)
        loop = asyncio.get_running_loop()
        give_up = loop.time() + seconds
        while not true() and self.now < end:
            if self.clock.rate == 0:
                self.clock.move(min(self.now + STEP, end))
            elif loop.time() < give_up:
                await asyncio.sleep(min(0.02, max(seconds / 10, 0.001)))
            else:
                return
            self.tick()
        self.save_settings()

    def save_settings(self) -> None:
        """Save the clock, profile, delays and token form with the records."""
        value = {
            "now": self.clock.now(),
            "real": time.time(),
            "rate": self.clock.rate,
            "profile": self.gaps.name,
            "values": self.gaps.overrides,
            "delays": vars(self.delays),
            "auth": vars(self.auth),
        }
        self.store.put(Meta("settings", value))

    def load_settings(self, keep_profile: bool = False) -> None:
        """Load the saved settings. A running clock advances by the time that the sandbox was down."""
        meta = self.store.get(Meta, "settings")
        if meta is None:
            return
        saved = meta.value
        rate = float(saved["rate"])
        away = max(0.0, time.time() - saved["real"])
        self.clock.restore(saved["now"] + round(away * SECOND * rate), rate)
        if not keep_profile:
            self.gaps = Profile(saved["profile"], saved["values"])
        self.delays = Delays(**saved["delays"])
        self.auth = Auth(**saved["auth"])


__all__ = ["DAY", "SECOND", "Addresses", "Auth", "Delays", "World", "action"]
