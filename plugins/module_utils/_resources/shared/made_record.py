# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of what a job made, so that nothing is ordered twice."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock
from typing import Any, ClassVar, Protocol, Self, TypeVar

from ..._api.errors import undone_if_nothing_happened
from ..._api.platform_clock import PlatformClock
from .account import Account
from .identify import Named, came_up
from .names import same_name
from .options import StateDirOptions
from .plan import Task
from .store import Kind, Record, one_at_a_time, state_key


class Created(Named, Protocol):
    """What tells when a service was created."""

    @property
    def created_at(self) -> str | None:
        """The date; ``None`` if it is not shown."""


T = TypeVar("T", bound=Created)


@dataclass
class MadeRecord:
    """What a job made, each by the key of what it was made for. A record is of the subject of the job."""

    folder: ClassVar[str]
    subject: ClassVar[str]
    mending: ClassVar[str] = Kind.mending

    path: str = ""
    names: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict)
    """When the order was sent whose service is not known yet."""
    project_id: str | None = None
    lock: Any = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self.lock = RLock()

    @property
    def known(self) -> bool:
        return bool(self.names or self.ids or self.project_id)

    @property
    def blank(self) -> bool:
        """Whether it says nothing at all, as no job writes it."""
        return self == type(self)()

    @classmethod
    def read(cls, options: StateDirOptions, key: str) -> Self:
        return cls.at(cls.kind().of(options.base_url, key, options.state_dir))

    @classmethod
    def at(cls, record: Record[Self]) -> Self:
        """Return what a record holds: nothing, as it is written, if there is none."""
        found = record.read()
        if found.blank and os.path.exists(record.path):
            raise record.unreadable("it is damaged")
        found.path = record.path
        return found

    @classmethod
    def kind(cls) -> Kind[Self]:
        return Kind(cls.folder, cls, f"the record of a {cls.subject}", cls.mending)

    @classmethod
    def take_turns(cls, task: Task[StateDirOptions], key: str) -> None:
        """Keep other tasks of this controller from the subject. Called before the record is read."""
        if not task.check_mode:
            turn = f"{cls.folder}:{state_key(task.options.base_url, key)}"
            task.closing.enter_context(one_at_a_time(turn, f"working on the {cls.subject} {key!r}"))

    def write(self) -> None:
        Record(self.kind(), self.path).write(self)

    @contextmanager
    def ordering(self, original: str, clock: PlatformClock) -> Iterator[None]:
        """Note when an order is sent, unless it comes to nothing for sure: the response may be lost."""

        def note(moment: str | None) -> None:
            with self.lock:
                self.sent.pop(original, None)
                self.sent |= {original: moment} if moment else {}
                self.write()

        with self.lock:
            earlier = self.sent.get(original)  # which may still show what it made
            self.ids.pop(original, None)  # is gone, or nothing would be ordered
        note(clock.now().isoformat(timespec="seconds"))
        with undone_if_nothing_happened(lambda: note(earlier)):
            yield

    def note_id(self, original: str, id: str) -> None:
        with self.lock:
            self.ids[original] = id
            self.sent.pop(original, None)
            self.write()

    def recognize(self, there: Iterable[T]) -> list[list[T]]:
        """Take what alone came up with an order for what was ordered; return those of which several did."""
        unknown = [each for each in there if each.id not in self.ids.values()]
        doubtful = []
        for original, sent in list(self.sent.items()):
            same = [each for each in unknown if same_name(each.name, self.names.get(original, ""))]
            found = [each for each in same if came_up(each.created_at, sent)]
            if len(found) == 1:
                self.ids[original] = found[0].id
            elif found:
                doubtful.append(found)
        return doubtful

    def takes(self, original: str, id: str, account: Account) -> bool:
        """Tell whether a service was made for this. That of an order that was lost may show at any time."""
        with self.lock:
            if id in self.ids.values():
                return True
        sent = self.sent.get(original)
        if not sent or not any(
            each.id == id and came_up(each.created_at, sent) for each in account.services()
        ):
            return False
        with self.lock:
            self.ids[original] = id
        return True

    def made(self, member: Named) -> bool:
        return member.id in self.ids.values()
