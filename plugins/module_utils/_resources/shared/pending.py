# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was written on the platform and cannot be read back: whether it is in effect yet, and what it was.

The platform shows what is written, not what a container runs with. Without a record, a run whose second half
failed leaves nothing that the next run could see: it finds the setting as wanted and does nothing. So a
change is noted before the write, taken back if that is refused, and cleared once a start or a deploy that
brings it into effect was seen. An application has one record, by its id as a service, whatever the token.

Variables are not returned at all. So keyed fingerprints of them are kept; if these are lost, the next task
writes the environment once more. No record holds the value of a setting: a command or a variable may hold a
password.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from ..._api.errors import Refused
from ..._api.libraries import Field
from .options import StateDirOptions
from .run_memory import run_id
from .store import Kind, Record, records_folder, state_key
from .task_errors import Invalid

if TYPE_CHECKING:
    from .plan import Task

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
        """Return the record of a service, in ``state_dir`` if the task has one and not its ``own_folder``."""
        folder = None if own_folder else getattr(task.options, "state_dir", None)
        return cls(PENDING.of(task.options.base_url, id, folder), id)

    def outstanding(self) -> Kinds:
        """Return what is written and not in effect, the last note of each kind."""
        return {kind: notes[-1] for kind, notes in self.record.read().items() if notes}

    def until_start(self) -> tuple[str, ...]:
        """Return the kinds of settings that need a start, as far as this controller knows."""
        return tuple(sorted(self.record.read().keys() - {*AT_DEPLOY}))

    def note(self, kind: str, **details: Any) -> Callable[[], None]:
        """Note that a change is about to be written; return what takes that back. An earlier time is kept."""
        now, own = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), secrets.token_hex(8)
        noted = {"since": now, "service": self.id, "write": own, RUN: run_id(), **details}

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
        def without(found: Notes) -> Notes:
            left = {kind: [each for each in many if each not in notes] for kind, many in found.items()}
            return {kind: many for kind, many in left.items() if many}

        if notes and os.path.exists(self.record.path):
            self.record.edit(without)


def write_recorded(task: Task, id: str, kind: str, write: Callable[[], object]) -> Callable[[], None]:
    """Note a setting, then write it. Return what takes the note back, as a refusal does, once in effect."""
    remove = partial(_warn_if_not_writable, task, Pending.of(task, id).note(kind))
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
    return partial(_warn_if_not_writable, task, record.clearing(record.until_start()))


def _warn_if_not_writable(task: Task, remove: Callable[[], None]) -> None:
    try:
        remove()
    except Invalid as error:  # which costs no more than a needless start later
        task.warn(error.message)


# --- Fingerprints -----------------------------------------------------------------------------------

KEY_BYTES = 32


@dataclass
class Prints:
    """Fingerprints of what was last written to an application or a service: what a record holds."""

    id: str = ""
    """Of what they are. Empty if nothing is remembered of it: another one may have had the same name."""
    key: Annotated[str, Field(pattern=f"^([0-9a-f]{{{2 * KEY_BYTES}}})?$")] = field(default="", repr=False)
    """Without it, values cannot be guessed."""
    prints: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def known(self) -> bool:
        """Whether anything is remembered."""
        return bool(self.id and self.key)

    def of(self, name: str, value: str) -> str:
        """Return the fingerprint of a variable. It covers the name, so that equal values differ."""
        text = f"{name}={value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=bytes.fromhex(self.key), digest_size=16).hexdigest()

    def differences(self, variables: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the variables ``added``, ``changed`` and ``removed`` since the last write."""
        kept = sorted(variables.keys() & self.prints.keys())
        return {
            "added": sorted(variables.keys() - self.prints.keys()),
            "changed": [name for name in kept if self.prints[name] != self.of(name, variables[name])],
            "removed": sorted(self.prints.keys() - variables.keys()),
        }


ENVIRONMENTS = Kind("environments", Prints, "the record of an environment")


def record_of(options: StateDirOptions, slug: str) -> Record[Prints]:
    """Return the record of the environment of an application."""
    own = records_folder(ENVIRONMENTS.folder)
    folder = os.path.expanduser(options.state_dir) if options.state_dir else own
    return Record(ENVIRONMENTS, os.path.join(folder, f"{slug}-{state_key(options.base_url, slug)}.json"))


@dataclass
class Fingerprints(Prints):
    """Fingerprints that are kept in a record of their own."""

    record: Record[Prints] = field(kw_only=True)
    subject: str = field(kw_only=True)
    """The id of what the record is about, known or not."""

    @classmethod
    def at(cls, record: Record[Prints], id: str) -> Fingerprints:
        """Read a record."""
        found = record.read()
        if found.id != id or not found.known:
            found = Prints("", secrets.token_hex(KEY_BYTES))
        return cls(**vars(found), record=record, subject=id)

    def keep(self, variables: Mapping[str, str]) -> None:
        """Store the fingerprints of the current environment."""
        self.restore({name: self.of(name, value) for name, value in sorted(variables.items())})

    def restore(self, prints: Mapping[str, str]) -> None:
        """Store existing fingerprints."""
        self.id, self.prints = self.subject, prints
        self.record.write(Prints(self.id, self.key, prints))

    def forget(self) -> None:
        """Delete the file. Call this before a write whose outcome may stay unknown."""
        self.record.remove()
