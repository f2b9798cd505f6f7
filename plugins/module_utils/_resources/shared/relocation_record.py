# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of a relocation, written before each step that the platform alone would not tell of."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from .made_record import MadeRecord
from .options import Options, StateDirOptions
from .restore_points import parse_moment
from .store import state_key
from .task_errors import Ambiguous, Invalid

DEFAULT_DAYS = 7
"""For how many days the service that is out of service is kept, unless the task says otherwise."""


class Phase(StrEnum):
    """How far a relocation is: each is written before what it names is begun."""

    NONE = "none"
    ORDERED = "ordered"
    """The new service is ordered, or about to be; the old one runs, and is copied."""
    STOPPED = "stopped"
    """The old service is stopped, or about to be; nothing refers to the new one."""
    SWITCHED = "switched"
    """The new service is healthy and in service; what refers to the old one is rewritten."""
    RELOCATED = "relocated"
    """The old service is suspended."""
    RETURNING = "returning"
    """The old service is going back into service."""
    RETURNED = "returned"
    """The old service is in service, and the new one suspended."""
    FINISHED = "finished"
    """The one that is not in service is deleted, or about to be."""


@dataclass
class Relocation(MadeRecord):
    """What is remembered of the relocation of one service, by its id, the only key of what was made.

    There is none as long as its phase says so.
    """

    folder: ClassVar[str] = "relocations"
    subject: ClassVar[str] = "relocation"
    mending: ClassVar[str] = (
        "Restore it from a backup of this machine. Delete it only if no relocation is under way, and none is "
        "to be finished or to go back"
    )

    old_id: str = ""
    old_name: str = ""
    phase: Phase = Phase.NONE
    data: str | None = None
    """What of the old service can be copied: a suspended one may not tell."""
    ran: bool = True
    """Whether the old service ran before the relocation."""
    dependents: list[str] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    """The ids of the applications that ran until the old service was stopped, and are to run again."""
    switched_at: str | None = None
    newer: bool = False
    """Whether the new service may hold what the old one does not: it was in service."""
    copying_back: bool = False
    """Whether the old service is overwritten with the data of the new one, and perhaps not to the end."""
    back_since: str | None = None
    """When the old service went back into service without a copy back, or was about to."""
    since: str | None = None
    """When the one that is not in service was suspended."""
    keep_days: int = DEFAULT_DAYS
    deleting: str | None = None
    gone: bool = False

    @property
    def blank(self) -> bool:
        return not self.old_id

    @property
    def new_name(self) -> str:
        return self.names.get(self.old_id, "")

    @property
    def new_id(self) -> str | None:
        """``None`` until it is known: then a service of the new name that came up with the order is it."""
        return self.ids.get(self.old_id)

    @classmethod
    def of(cls, options: StateDirOptions, old_id: str) -> Relocation:
        found = cls.read(options, old_id)
        found.old_id = old_id
        return found

    def write(self, phase: Phase | None = None, **changes: Any) -> None:
        self.phase = phase or self.phase
        for name, value in changes.items():
            setattr(self, name, value)
        super().write()

    @property
    def pair(self) -> tuple[str, str] | None:
        """The ids of the service that is left over, and of the one in service; ``None`` on the way."""
        by_phase = {Phase.RELOCATED: self.old_id, Phase.RETURNED: self.new_id}
        left = self.deleting or by_phase.get(self.phase)
        if left is None:
            return None
        return left, str(self.new_id) if left == self.old_id else self.old_id

    @property
    def undecided(self) -> list[str]:
        """The ids of what a run that was killed may have left suspended, and that may be in use as well."""
        if self.phase is Phase.SWITCHED:
            return [self.old_id]
        return [id for id in (self.old_id, self.new_id) if id and self.phase is Phase.RETURNING]

    def delete_after(self, days: int | None = None) -> datetime | None:
        """Return when the one that is not in service may be deleted; ``None`` before it is suspended."""
        begun = parse_moment(self.since)
        return begun and begun + timedelta(days=self.keep_days if days is None else days)


class LeftOver(NamedTuple):
    """What relocations left over: by the id of a service, the name of what was relocated."""

    surely: dict[str, str]
    """What nothing needs any more."""
    perhaps: dict[str, str]
    """What is left over if it is suspended and nothing but a relocation, which is on its way, did that."""


def left_over(options: Options, warn: Callable[[str], None]) -> LeftOver:
    """Return what relocations left over; the later of two records is right."""
    known = known_relocations(options)
    # No error: a plan that does nothing for it leaves all other services asleep, which is worse.
    for damage in known.damaged:
        warn(f"a service that a relocation left over may be resumed: {damage}")
    found = LeftOver({}, {})
    for record in sorted(known.relocations, key=lambda each: each.since or each.switched_at or ""):
        pair = record.pair
        if pair is None and not record.undecided:
            continue
        for part in found:
            for id in (record.old_id, str(record.new_id)):
                part.pop(id, None)
        if pair is not None and not record.gone:
            found.surely[pair[0]] = record.old_name
        found.perhaps.update(dict.fromkeys(record.undecided, record.old_name))
    return found


class Known(NamedTuple):
    """The relocations on a platform, and what is said of each record that is damaged: it may be of it."""

    relocations: list[Relocation]
    damaged: list[str]


def known_relocations(options: Options, places: Iterable[str | None] = ()) -> Known:
    """Return the relocations on a platform, by default those in ``state_dir`` and the collection's own."""
    known = Known([], [])
    places = places or (getattr(options, "state_dir", None), None)
    for record in dict.fromkeys(record for place in places for record in Relocation.kind().all(place)):
        try:
            found = Relocation.at(record)
        except Invalid as error:
            known.damaged.append(error.message)
            continue
        if os.path.basename(record.path) == f"{state_key(options.base_url, found.old_id)}.json":
            known.relocations.append(found)
    return known


class Successor(NamedTuple):
    """The service that a relocation put in the place of another one, which it left over."""

    id: str
    name: str
    left_id: str
    left_name: str
    project_id: str | None

    @property
    def told(self) -> str:
        """What to say of it where a task names the other one."""
        return (
            f"service {self.left_name!r} ({self.left_id}) was relocated, and {self.name!r} ({self.id}) is in "
            "its place"
        )

    @property
    def refusal(self) -> Invalid:
        """The error of a task that would delete or overwrite the other one by its name."""
        told = f"{self.told}. Nothing was done. Name the one that is meant by its id"
        return Invalid(told, ids=[self.left_id, self.id])


def successor_of(
    options: Options,
    exists: Callable[[str], bool],
    id: str | None,
    name: str,
    project_id: str | None = None,
    *,
    in_use: bool = False,
) -> Successor | None:
    """Return what is in the place of a service; ``in_use`` refuses one that is stopped for now."""
    left = dict[str, Successor]()
    for record in known_relocations(options).relocations:
        if in_use and record.phase is Phase.STOPPED and record.old_id == id:
            raise Invalid(
                f"service {record.old_name!r} ({id}) is stopped, as its relocation to {record.new_name!r} "
                "is under way. Nothing was done. If no run of hosted.services.relocate is completing that, "
                "run it again, or go back with state: returned"
            )
        pair = (record.old_id, str(record.new_id)) if record.phase is Phase.SWITCHED else record.pair
        if pair is not None:
            names = {record.old_id: record.old_name, str(record.new_id): record.new_name}
            left[pair[0]] = Successor(pair[1], names[pair[1]], pair[0], names[pair[0]], record.project_id)
    fitting = [
        last_in(left, each)
        for each in left.values()
        if (each.left_id == id if id else each.left_name == name and project_id in (None, each.project_id))
    ]
    there = [each for each in fitting if exists(each.id)]
    if len(there) > 1:
        ids = [each.id for each in there]
        raise Ambiguous(f"{'. '.join(each.told for each in there)}. Name one by its id", ids=ids)
    return there[0] if there else None


def last_in(left: Mapping[str, Successor], found: Successor) -> Successor:
    """Return what is in the place of a service that was relocated once more, perhaps."""
    passed = {found.left_id}
    while found.id not in passed and (later := left.get(found.id)):
        passed.add(found.id)
        found = found._replace(id=later.id, name=later.name)
    return found
