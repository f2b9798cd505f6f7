# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this controller is at on an account: an entry for each call that must not be forgotten.

An entry is written before a call that commits money or makes secrets that are shown once, and closed when
that is over. One that stays open is of a task that was killed, or whose response was lost: the next task on
its subject reads it. It holds no secret and no value of a variable.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass

from .money import Commitment
from .store import Kind, Record, records_folder, state_key
from .task_errors import Invalid


@dataclass(frozen=True)
class Entry:
    """One call that is under way, or whose outcome is not known."""

    what: str = ""
    at: float = 0.0
    """When it was noted, in seconds since 1970 by this machine's clock."""
    id: str = ""
    """What the platform made, once that is known; then an order's secrets are kept."""
    kept_in: str | None = None
    """The file with the secrets, until the task returns them."""
    commitment: Commitment | None = None
    known: tuple[str, ...] = ()
    """The ids of the services that had the name of what is committed before."""
    done: bool = False
    """Whether the platform accepted the call. Otherwise it may have."""

    @property
    def since(self) -> str:
        """When it was noted, for messages."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.at))


ENTRIES = Kind(
    "journal",
    Entry,
    "what a task of this controller began",
    "Compare the account with what was ordered, then remove the file: what it noted counts as over then",
)
Opened = dict[Record[Entry], Entry]


def begin(
    base_url: str | None, subject: str, entry: Entry, earlier: Record[Entry] | None = None
) -> Record[Entry]:
    """Note a call on a subject. Tasks in parallel may each have an entry on the same one.

    :param earlier: the entry of an earlier attempt at the same, whose place this one takes.
    :raises Invalid: if it cannot be written, so that the call must not be made.
    """
    name = f"{state_key(base_url, subject)}-{secrets.token_hex(4)}.json"
    record = earlier or Record(ENTRIES, os.path.join(records_folder(ENTRIES.folder), name))
    try:
        record.write(entry)
    except Invalid as error:
        raise error.append(". Nothing was sent") from None
    return record


def opened(base_url: str | None, subject: str) -> Opened:
    """Return the open entries on a subject, the oldest first.

    :raises Invalid: naming the file of one that cannot be read: it is never taken for none.
    """
    folder, names = records_folder(ENTRIES.folder), list[str]()
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise Invalid(f"{ENTRIES.what} is in {folder!r}, which cannot be read: {error.strerror}") from None
    ours = [name for name in names if name.startswith(f"{state_key(base_url, subject)}-")]
    records = [Record(ENTRIES, os.path.join(folder, name)) for name in ours if name.endswith(".json")]
    found = {record: record.read() for record in records}
    there = [(record, entry) for record, entry in found.items() if entry.at]  # others were closed meanwhile
    return dict(sorted(there, key=lambda pair: pair[1].at))


def seconds_since(base_url: str | None, subject: str, shown: Collection[str] = ()) -> float:
    """Return the age of the last call on a subject that is not among what is ``shown``; infinity for none."""
    entries = opened(base_url, subject).values()
    ages = (time.time() - entry.at for entry in entries if entry.id not in shown)
    return min((max(0.0, age) for age in ages), default=float("inf"))


def close(base_url: str | None, subject: str, *, but: Record[Entry] | None = None, age: float = 0.0) -> None:
    """Close the entries on a subject that are ``age`` seconds old, except one."""
    now = time.time()
    for record, entry in opened(base_url, subject).items():
        if record != but and now - entry.at >= age:
            with suppress(OSError):
                record.remove()
