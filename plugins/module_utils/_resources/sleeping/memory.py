# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan remembers of a service between its runs, in a small file on the controller.

The clock alone says how a service should be. The record tells changes by hand apart from those that are due:
``settled`` is what the clock wanted when the service was last seen that way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime
from decimal import Decimal

from ..services.power import ASLEEP
from ..shared.store import Kind, Record


@dataclass(frozen=True)
class Sample:
    """The load of a container at a moment: its processors, and the bytes since its start."""

    at: datetime
    cpu: float
    traffic: int


@dataclass(frozen=True)
class Due:
    """What a service should be, and the boundary since which it should: one period of its plan."""

    awake: bool
    since: str


@dataclass(frozen=True)
class Keep:
    """That someone asked for a service to stay awake: since when, and until when."""

    since: datetime
    until: datetime


@dataclass(frozen=True)
class Saved:
    """What sleep has saved, day by day (UTC): ``following`` is the first day that was not looked at."""

    following: date
    since: date
    amount: Decimal = Decimal(0)
    days: int = 0


@dataclass(frozen=True)
class SleepRecord:
    """What is remembered of one service."""

    settled: Due | None = None
    keep: Keep | None = None
    delayed: tuple[Due, datetime] | None = None
    """The suspension that waits because the service is busy, and since when."""
    held: tuple[str, datetime] | None = None
    """The id of the backup that a suspension waits for, or did in vain, and since when."""
    ran: bool | None = None
    """Whether the container ran when the plan suspended the service, which sleeps since. Unknown if nothing
    was told, or if somebody else suspended it."""
    samples: tuple[Sample, ...] = field(default=())
    saved: Saved | None = None
    plan: str = ""
    service: str = ""
    """The id of the service. A start by hand tells of its plan by both."""

    @property
    def is_asleep_by_plan(self) -> bool:
        """Whether the plan suspended the service, or saw it asleep in time, if it is suspended now."""
        return self.ran is not None or (self.settled is not None and not self.settled.awake)

    def with_keep(self, keep: Keep | None) -> SleepRecord:
        """Return the record with another wish to keep the service awake: the next period begins now."""
        return replace(self, keep=keep, settled=None, delayed=None)

    def with_changes(self, before: SleepRecord, after: SleepRecord) -> SleepRecord:
        """Return the record with what a run changed in it that read it as ``before``.

        Another run may have written it since. A wish or a release that came in meanwhile stays.
        """
        parts = {each.name: getattr(after, each.name) for each in fields(SleepRecord)}
        changed = {name: part for name, part in parts.items() if part != getattr(before, name)}
        if self.keep != before.keep:
            changed.pop("keep", None)
        return replace(self, **changed)


SLEEP = Kind(ASLEEP.folder, SleepRecord, "what the plan remembers")


@dataclass(frozen=True)
class Memory:
    """The file that holds the record of one service in one plan."""

    record: Record[SleepRecord]
    plan: str
    id: str

    @classmethod
    def of(cls, state_dir: str | None, base_url: str | None, plan: str, id: str) -> Memory:
        """Return the memory of a service in a plan; its file is not read yet."""
        subject = f"{plan}{chr(10)}{id}"
        return cls(SLEEP.of(base_url, subject, state_dir), plan, id)

    def read(self) -> SleepRecord:
        """Return the record; an empty one if there is none."""
        return self.record.read()

    def update(self, change: Callable[[SleepRecord], SleepRecord]) -> None:
        """Replace the record by what ``change`` makes of it as it is by now."""
        self.record.edit(lambda found: replace(change(found), plan=self.plan, service=self.id))
