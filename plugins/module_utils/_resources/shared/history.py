# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this controller did to an account: a line for each change that was made, or may have been.

The lines of a month are in a file of their own, in the folder of the account. Nothing reads them before a
write, and none holds a secret or the value of a variable.
"""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from functools import cache

from ..._api.text import printable
from .store import lock_file, make_folder_of, records_folder

FOLDER = "history"
MONTHS = 13
"""For how many months lines are kept."""
MOST_BYTES = 2 * 1024 * 1024
"""What a file may take. One that is full is put aside, and the one that was there before goes."""
FULL = ".full"
LOCK_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class Line:
    """One change."""

    at: str
    who: str
    module: str
    change: str
    outcome: str
    """``done``, ``begun`` if its end was not waited for, or ``unknown``."""
    monthly_before: str | None
    monthly_after: str | None


@cache
def who() -> str:
    """Return the user and the machine that run Ansible."""
    name = str(os.getuid())
    with suppress(OSError, KeyError):  # a container's user may have no name
        name = getpass.getuser()
    return printable(f"{name}@{socket.gethostname()}")


def add(account: str, line: Line) -> None:
    """Add a line to the history of an account. Tasks in parallel share the file, as each writes at once.

    :raises OSError: if it cannot be written.
    """
    path = os.path.join(records_folder(FOLDER), account, f"{line.at[:7]}.jsonl")
    if not os.path.exists(path):
        make_folder_of(path)
        remove_old(os.path.dirname(path), line.at)
    text = "\n" + json.dumps({name: value for name, value in asdict(line).items() if value is not None})
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, text.encode())
        is_full = os.fstat(handle).st_size > MOST_BYTES
    finally:
        os.close(handle)
    if is_full:
        with lock_file(f"{path}.lock", LOCK_SECONDS):
            if os.stat(path).st_size > MOST_BYTES:
                os.replace(path, path + FULL)


def remove_old(folder: str, now: str) -> None:
    """Remove the files of months that are over for long enough."""
    year, month = divmod(int(now[:4]) * 12 + int(now[5:7]) - 1 - MONTHS, 12)
    oldest = f"{year:04}-{month + 1:02}"
    for name in os.listdir(folder):
        if name[:7] <= oldest:
            os.unlink(os.path.join(folder, name))


def lines_since(account: str, since: datetime, until: datetime) -> Iterator[dict[str, str]]:
    """Yield the lines from a moment on up to another, the oldest first. What is damaged is left out."""
    folder = os.path.join(records_folder(FOLDER), account)
    first, last = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (since, until))
    months, day = list[str](), since
    while f"{day:%Y-%m}" <= last[:7]:
        months.append(f"{day:%Y-%m}")
        day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    for name in (f"{month}.jsonl{part}" for month in months for part in (FULL, "")):
        with suppress(FileNotFoundError), open(os.path.join(folder, name), encoding="utf-8") as file:
            for text in file:
                with suppress(ValueError, KeyError, TypeError):
                    line = json.loads(text)
                    if first <= line["at"] <= last:
                        yield line
