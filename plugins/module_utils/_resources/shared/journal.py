# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this controller is at on an account, and what it did.

An entry is written before a call that commits money or makes secrets that are shown once, and closed when
that is over. One that stays open is of a task that was killed, or whose response was lost: the next task on
its subject reads it. The history has a line for each change that was made, or may have been, which only
reports read. Neither holds a secret or the value of a variable.
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import TYPE_CHECKING

from ..._api.client import Client
from ..._api.private_folder import make_folder_of
from .connecting import account_of
from .money import Commitment, format_amount
from .store import Kind, Record, records_folder, state_key
from .task_errors import Invalid

if TYPE_CHECKING:
    from .plan import Step


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
    """Note a call on a subject, or raise :class:`Invalid`. It takes the place of an ``earlier`` attempt."""
    name = f"{state_key(base_url, subject)}-{secrets.token_hex(4)}.json"
    record = earlier or Record(ENTRIES, os.path.join(records_folder(ENTRIES.folder), name))
    try:
        record.write(entry)
    except Invalid as error:
        raise error.append(". Nothing was sent") from None
    return record


def opened(base_url: str | None, subject: str) -> Opened:
    """Return the open entries on a subject, the oldest first. One that cannot be read is an error."""
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


def close(base_url: str | None, subject: str, *, but: Record[Entry] | None = None, age: float = 0.0) -> None:
    """Close the entries on a subject that are ``age`` seconds old, except one."""
    now = time.time()
    for record, entry in opened(base_url, subject).items():
        if record != but and now - entry.at >= age:
            with suppress(OSError):
                record.remove()


# --- The history ------------------------------------------------------------------------------------

HISTORY = "history"
MONTHS = 13
"""For how many months lines are kept, those of each month in a file of its own."""


def note(
    client: Client,
    step: Step,
    outcome: str,
    *,
    module: str,
    redact: Callable[[str], str],
    warn: Callable[[str], None],
) -> None:
    """Add a line for a step of a task. One that cannot be written is told: the change is made."""
    made = step.commitment
    where = f" in project {made.project_name!r}" if made and made.project_name else ""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's user may have no name
        user = str(os.getuid())
    line = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "who": f"{user}@{os.uname().nodename}",
        "module": module,
        "change": redact(f"{step.summary}{where}"),
        "outcome": outcome,
        "monthly_before": format_amount(made.before) if made else None,
        "monthly_after": format_amount(made.forecast) if made else None,
    }
    try:
        folder = os.path.join(records_folder(HISTORY), account_of(client, hint=True))
        path = os.path.join(folder, f"{line['at']:.7}.jsonl")
        add_line(path, json.dumps({name: value for name, value in line.items() if value is not None}))
    except OSError as error:
        warn(f"{line['change']!r} is not in the history of this controller: {error}")


def add_line(path: str, line: str) -> None:
    """Add a line to the file of its month, which tasks in parallel share, as each writes at once.

    The first line of a month removes the files of those that are over for long enough.
    """
    folder, name = os.path.split(path)
    if not os.path.exists(path):
        make_folder_of(path)
        year, month = divmod(int(name[:4]) * 12 + int(name[5:7]) - 1 - MONTHS, 12)
        for old in os.listdir(folder):
            if old[:7] <= f"{year:04}-{month + 1:02}":
                with suppress(OSError):  # another task may have removed it; what cannot go costs no line
                    os.unlink(os.path.join(folder, old))
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, f"\n{line}".encode())
    finally:
        os.close(handle)


def lines_between(client: Client, since: datetime, until: datetime) -> list[dict[str, str]]:
    """Return the lines from a moment on up to another, the oldest first. What is damaged is left out."""
    folder = os.path.join(records_folder(HISTORY), account_of(client, hint=True))
    found = list[dict[str, str]]()
    first, last = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (since, until))
    names = list[str]()
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if name.endswith(".jsonl")]
    for name in names:
        if not first[:7] <= name[:7] <= last[:7]:
            continue
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for text in file:
                with suppress(ValueError, TypeError, KeyError):
                    line = json.loads(text)
                    found += [line] if first <= line["at"] <= last else []
    return sorted(found, key=itemgetter("at"))
