# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fleet remembers between runs: which services ran before it stopped them, and how far a run came."""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from ..shared.runs import Run
from ..shared.store import Kind, Record
from ..shared.time_zones import current_time


@dataclass
class FleetRecord:
    """What is remembered of a fleet. Services are known by their ids."""

    ran: dict[str, bool] = field(default_factory=dict)
    """Whether each service ran before the fleet stopped it."""
    back: set[str] = field(default_factory=set)
    """The services that were started again since, or that the fleet did not stop after all."""
    what: str | None = None
    """What the last run was to do; ``None`` if it came to its end."""
    since: datetime | None = None
    """When that was begun."""
    begun: dict[str, datetime] = field(default_factory=dict)
    """The services that were begun, and when."""
    up: set[str] = field(default_factory=set)
    """Those that ran when they were begun."""
    done: set[str] = field(default_factory=set)
    """Those that are done and healthy."""
    holder: Run | None = None
    """The run that stopped the fleet and has not started it again; ``None`` if that is not known or over."""

    def ran_before(self, id: str) -> bool | None:
        """Tell whether a service ran before it was stopped; ``None`` if that is not known or over."""
        return None if id in self.back else self.ran.get(id)

    def note_stop(self, id: str, runs: bool) -> None:
        """Note whether a service runs, before it is stopped. What stands still already keeps its note."""
        if runs or id in self.back or id not in self.ran:
            self.ran[id] = runs
        self.back.discard(id)

    def begin(self, what: str, start_over: bool) -> None:
        """Go on with what an earlier run was at, or begin anew if that was something else."""
        if self.what == what and not start_over:
            return
        self.what, self.since, self.begun, self.up, self.done = what, current_time(), {}, set(), set()

    def end(self, left_down: Collection[str] = ()) -> None:
        """Note that the run is over, but for services that it left down: the next one starts those."""
        if not left_down:
            self.what = self.since = None
        self.begun = {id: at for id, at in self.begun.items() if id in left_down}
        self.up &= set(left_down)
        self.done = set()


FLEETS = Kind("fleets", FleetRecord, "what the fleet remembers")


@dataclass
class Memory:
    """The file that holds the record of a fleet. Threads share it."""

    file: Record[FleetRecord]
    lock: threading.Lock = field(default_factory=threading.Lock)
    record: FleetRecord = field(init=False)

    def __post_init__(self) -> None:
        self.record = self.file.read()

    @classmethod
    def of(cls, state_dir: str | None, base_url: str | None, name: str) -> Memory:
        """Return the memory of a fleet on a platform, read from its file."""
        return cls(FLEETS.of(base_url, name, state_dir))

    def is_stale(self) -> bool:
        """Tell whether another run has changed the file since it was read."""
        return self.file.read() != self.record

    def write(self) -> None:
        """Replace the file by the record. Hold the lock where threads may change it."""
        self.file.write(self.record)

    def note_begun(self, id: str, *, runs: bool) -> None:
        """Remember that a service is about to be changed, unless an earlier run began it and is not done."""
        with self.lock:
            record = self.record
            if id not in record.begun or id in record.done:
                record.begun[id] = current_time()
                record.done.discard(id)
                record.up.discard(id)
                record.up |= {id} if runs else set()
                self.write()

    def note_done(self, id: str, *, back: bool) -> None:
        """Remember that a service is done; ``back`` tells whether it was started after a stop."""
        with self.lock:
            self.record.done.add(id)
            if back:
                self.record.back.add(id)
            self.write()
