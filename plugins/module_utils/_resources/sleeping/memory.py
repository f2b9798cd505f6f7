# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan remembers of a service between its runs, in a small file on the controller.

The clock alone says how a service should be. The record tells changes by hand apart from those that are due:
``settled`` is what the clock wanted when the service was last seen that way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, TypeVar

from ..services.power import SLEEP_RECORDS
from ..shared.record_file import RecordFile
from .load import Sample

T = TypeVar("T")


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
    missing: tuple[date, ...] = ()
    """Days that the platform has not told the usage of so far."""


@dataclass(frozen=True)
class Record:
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

    @property
    def is_asleep_by_plan(self) -> bool:
        """Whether the plan suspended the service, or saw it asleep in time, if it is suspended now."""
        return self.ran is not None or (self.settled is not None and not self.settled.awake)

    def with_keep(self, keep: Keep | None) -> Record:
        """Return the record with another wish to keep the service awake: the next period begins now."""
        return replace(self, keep=keep, settled=None, delayed=None)

    def with_changes(self, before: Record, after: Record) -> Record:
        """Return the record with what a run changed in it that read it as ``before``.

        Another run may have written it since. A wish or a release that came in meanwhile stays.
        """
        parts = {each.name: getattr(after, each.name) for each in fields(Record)}
        changed = {name: part for name, part in parts.items() if part != getattr(before, name)}
        if self.keep != before.keep:
            changed.pop("keep", None)
        return replace(self, **changed)


@dataclass(frozen=True)
class Memory:
    """The file that holds the record of one service in one plan."""

    file: RecordFile
    plan: str
    id: str

    @classmethod
    def of(cls, state_dir: str | None, base_url: str | None, plan: str, id: str) -> Memory:
        """Return the memory of a service in a plan."""
        subject = f"{plan}{chr(10)}{id}"
        return cls(
            RecordFile.of(SLEEP_RECORDS, "what the plan remembers", state_dir, base_url, subject), plan, id
        )

    @property
    def path(self) -> str:
        """The path of the file."""
        return self.file.path

    def read(self) -> Record:
        """Return the record. One that is damaged, or missing, holds nothing."""
        return record_in(self.file.read())

    def update(self, change: Callable[[Record], Record]) -> None:
        """Replace the record by what ``change`` makes of it as it is by now.

        :raises Invalid: if it cannot be written.
        """
        named = {"plan": self.plan, "service": self.id}
        self.file.update(lambda content: {**record_as_json(change(record_in(content))), **named})


def record_as_json(record: Record) -> dict[str, Any]:
    """Return a record in the form of its file."""
    keep, delayed, saved = record.keep, record.delayed, record.saved
    return {
        "settled": due_as_json(record.settled),
        "keep": keep and {"since": keep.since.isoformat(), "until": keep.until.isoformat()},
        "delayed": delayed and {**(due_as_json(delayed[0]) or {}), "from": delayed[1].isoformat()},
        "held": record.held and {"backup": record.held[0], "from": record.held[1].isoformat()},
        "ran": record.ran,
        "samples": [[sample.at.isoformat(), sample.cpu, sample.traffic] for sample in record.samples],
        "saved": saved
        and {
            "following": saved.following.isoformat(),
            "since": saved.since.isoformat(),
            "amount": str(saved.amount),
            "days": saved.days,
            "missing": [day.isoformat() for day in saved.missing],
        },
    }


def record_in(content: Any) -> Record:
    """Return the record that a file holds; an empty one if there is no file, or it makes no sense."""
    try:
        return record_from(content)
    except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation):
        return Record()


def record_from(content: Mapping[str, Any]) -> Record:
    """Return the record that a file holds. Each part that makes no sense is as if it were not there."""
    ran = content.get("ran")
    return Record(
        settled=readable(content.get("settled"), due_from),
        keep=readable(content.get("keep"), lambda part: Keep(moment(part["since"]), moment(part["until"]))),
        delayed=readable(content.get("delayed"), lambda part: (due_from(part), moment(part["from"]))),
        held=readable(content.get("held"), lambda part: (str(part["backup"]), moment(part["from"]))),
        ran=ran if isinstance(ran, bool) else None,
        samples=readable(content.get("samples"), samples_from) or (),
        saved=readable(content.get("saved"), saved_from),
    )


def readable(part: Any, read: Callable[[Any], T]) -> T | None:
    """Return a part of a record; ``None`` if it is missing, or makes no sense."""
    try:
        return None if part is None else read(part)
    except (ValueError, KeyError, TypeError, AttributeError, InvalidOperation, OverflowError):
        return None


def samples_from(part: Sequence[Any]) -> tuple[Sample, ...]:
    """Return the samples that a part of a file holds."""
    return tuple(
        Sample(moment(at), None if cpu is None else float(cpu), None if traffic is None else int(traffic))
        for at, cpu, traffic in part
    )


def due_as_json(due: Due | None) -> dict[str, Any] | None:
    """Return a period in the form of a file."""
    return None if due is None else {"awake": due.awake, "since": due.since}


def due_from(part: Mapping[str, Any]) -> Due:
    """Return the period that a part of a file holds."""
    return Due(bool(part["awake"]), str(part["since"]))


def saved_from(part: Mapping[str, Any]) -> Saved:
    """Return the savings that a part of a file holds."""
    amount = Decimal(part["amount"])
    if not amount.is_finite():
        raise ValueError("an amount is a number")
    return Saved(
        date.fromisoformat(part["following"]),
        date.fromisoformat(part["since"]),
        amount,
        int(part["days"]),
        tuple(date.fromisoformat(day) for day in part["missing"]),
    )


def moment(text: str) -> datetime:
    """Return a moment that a file holds, in UTC."""
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
