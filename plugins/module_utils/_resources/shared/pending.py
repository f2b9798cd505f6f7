# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written on the platform and not in effect yet, remembered on the controller until it is.

The platform shows what is written, not what a container runs with. Without a record, a run whose second half
failed leaves nothing that the next run could see: it finds the setting as wanted and does nothing. So a
change is noted before the write, taken back if that is refused, and cleared once a start or a deploy that
brings it into effect was seen.

An application is a service like any other, so its ``id`` in the list of applications is the same id: a task
with a token for applications alone finds what a task with a full token has noted, and the other way round.
Ids are never used again, so an application created anew under the same slug starts with nothing outstanding.

``details`` of a note are for what a kind needs besides its time, such as keyed fingerprints; never put a
value of a setting there, because a command or a variable may hold a password.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..._api.errors import Refused
from .plan import Task
from .run_memory import run_id
from .store import Kind, Record
from .task_errors import Invalid

ENVIRONMENT = "environment"
"""Variables of an application: in effect from the next deploy on."""
DEPLOY = "deploy"
"""A deploy of an application that was begun and not seen to succeed."""
COMMAND = "command"
"""The launch command: in effect from the next start on. A restart keeps the container and its command."""
NETWORK = "network"
"""Opening or closing, where the container was not recreated for it: in effect from the next start on."""
AT_DEPLOY = (ENVIRONMENT, DEPLOY)
"""What only a deploy that succeeds brings into effect. A start from stop does all other kinds, and so does a
deploy, which replaces the container."""
WRITE = "write"
"""The key of a random value that distinguishes one note of a kind from the others."""
RUN = "run"
"""The key of the run that noted it."""
MAX_NOTES = 20
"""How many notes of a kind are kept: runs that were killed leave theirs."""

Notes = dict[str, list[dict[str, Any]]]
"""The notes of each kind, the last one at the end."""
Kinds = dict[str, dict[str, Any]]
"""The last note of each kind."""

PENDING = Kind[Notes]("pending", Notes, "the record of changes that are not in effect yet")


@dataclass(frozen=True)
class Pending:
    """The record of one service. Its file exists only while something is outstanding."""

    record: Record[Notes]
    id: str

    @classmethod
    def of(cls, task: Task, id: str, *, own_folder: bool = False) -> Pending:
        """Return the record of a service on the task's platform, in ``state_dir`` if the task has one.

        :param own_folder: whether to look into the collection's own folder all the same.
        """
        folder = None if own_folder else getattr(task.options, "state_dir", None)
        return cls(PENDING.of(task.options.base_url, id, folder), id)

    def outstanding(self) -> Kinds:
        """Return what is written and not in effect, the last note of each kind.

        :raises Invalid: when the record cannot be read.
        """
        return {kind: notes[-1] for kind, notes in self.record.read().items() if notes}

    def until_start(self) -> tuple[str, ...]:
        """Return the kinds of settings that need a start, as far as this controller knows."""
        return tuple(sorted(self.record.read().keys() - {*AT_DEPLOY}))

    def note(self, kind: str, **details: Any) -> Callable[[], None]:
        """Note that a change of this kind is about to be written. One noted before keeps its time.

        Return what takes the note back, for a change that was not made. The notes of other runs stay.

        :raises Invalid: when the record cannot be read or written.
        """
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        noted = {"since": now, "service": self.id, WRITE: secrets.token_hex(8), RUN: run_id(), **details}

        def add(found: Notes) -> Notes:
            others = found.get(kind, [])
            noted["since"] = (others[-1].get("since") if others else None) or noted["since"]
            return {**found, kind: [*others, noted][-MAX_NOTES:]}

        self.record.edit(add)
        return partial(self._remove, [noted])

    def clearing(self, kinds: Iterable[str] | None = None) -> Callable[[], None]:
        """Return what clears the changes of these kinds that are outstanding now; of all, if none are named.

        Call it before a start or a deploy, and what it returns once that has brought them into effect. What
        other runs note meanwhile stays.
        """
        notes = self.record.read()
        asked = notes if kinds is None else kinds
        return partial(self._remove, [note for kind in asked for note in notes.get(kind, ())])

    def _remove(self, notes: Sequence[dict[str, Any]]) -> None:
        """Remove notes, as far as they are still there.

        :raises Invalid: when the record cannot be read or written.
        """

        def without(found: Notes) -> Notes:
            left = {kind: [each for each in many if each not in notes] for kind, many in found.items()}
            return {kind: many for kind, many in left.items() if many}

        if notes and os.path.exists(self.record.path):
            self.record.edit(without)


# --- What waits for a start -------------------------------------------------------------------------


def write_recorded(task: Task, id: str, kind: str, write: Callable[[], object]) -> Callable[[], None]:
    """Record a setting as pending, then write it: the run may be killed in between.

    If the platform refuses the write, the record is removed. Those of earlier writes and of other runs stay.

    :return: what removes the record, if the platform brought the setting into effect at once.
    """
    remove = partial(warn_if_not_writable, task, Pending.of(task, id).note(kind))
    try:
        write()
    except Refused as error:
        if error.nothing_done:
            remove()
        raise
    return remove


def until_start(task: Task, id: str) -> Callable[[], None]:
    """Return what removes the records of the settings that a start from here on brings into effect."""
    record = Pending.of(task, id)
    return partial(warn_if_not_writable, task, record.clearing(record.until_start()))


def warn_if_not_writable(task: Task, remove: Callable[[], None]) -> None:
    """Remove records. If this fails, the only cost is a needless start later."""
    try:
        remove()
    except Invalid as error:
        task.warn(error.message)
