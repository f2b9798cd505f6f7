# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this controller did to an account: a line for each change that was made, or may have been.

The lines of a month are in a file of their own, in the folder of the account. Nothing reads them before a
write, and none holds a secret or the value of a variable.
"""

from __future__ import annotations

import json
import os
import pwd
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from operator import itemgetter

from ..._api.client import Client
from ..._api.private_folder import make_folder_of
from .money import format_amount
from .owners import account_of
from .plan import Step
from .run_memory import first_said
from .store import lock_file, records_folder

FOLDER = "history"
MONTHS = 13
"""For how many months lines are kept."""
MOST_BYTES = 2 * 1024 * 1024
"""What a file may take. One that is full is put aside, and the one that was there before goes."""
FULL = ".full"
LOCK_SECONDS = 5.0
CALL_SECONDS = 5.0
"""Seconds for asking whose account a token is of. A line is no reason to wait for longer, or to fail."""


def note(
    client: Client,
    step: Step,
    outcome: str,
    *,
    module: str,
    redact: Callable[[str], str],
    warn: Callable[[str], None],
) -> None:
    """Add a line for a step of a task. One that cannot be written is told: the change is made.

    :param outcome: ``done``, ``begun`` if it did not come to its end here, or ``unknown``.
    :param redact: takes secrets out of what is said.
    """
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
        add(folder_of(client), {name: value for name, value in line.items() if value is not None})
    except OSError as error:
        warn(f"{line['change']!r} is not in the history of this controller: {error}")


def folder_of(client: Client) -> str:
    """Return the folder of the account of a token; one of the token's own if the platform does not tell."""
    account = first_said(f"account.{client.account_key}", lambda: account_of(client, CALL_SECONDS))
    return os.path.join(records_folder(FOLDER), account or client.account_key)


def add(folder: str, line: Mapping[str, str]) -> None:
    """Add a line to a folder. Tasks in parallel share the file, as each writes at once.

    The first line of a month removes the files of those that are over for long enough.

    :raises OSError: if it cannot be written.
    """
    path = os.path.join(folder, f"{line['at'][:7]}.jsonl")
    if not os.path.exists(path):
        make_folder_of(path)
        year, month = divmod(int(line["at"][:4]) * 12 + int(line["at"][5:7]) - 1 - MONTHS, 12)
        for name in os.listdir(folder):
            if name[:7] <= f"{year:04}-{month + 1:02}":
                with suppress(OSError):  # another task may have removed it; what cannot go costs no line
                    os.unlink(os.path.join(folder, name))
    text = "\n" + json.dumps(line)
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        os.write(handle, text.encode())
        is_full = os.fstat(handle).st_size > MOST_BYTES
    finally:
        os.close(handle)
    if is_full:
        with suppress(FileNotFoundError), lock_file(f"{path}.lock", LOCK_SECONDS):
            if os.stat(path).st_size > MOST_BYTES:
                os.replace(path, path + FULL)


def lines_between(client: Client, since: datetime, until: datetime) -> list[dict[str, str]]:
    """Return the lines from a moment on up to another, the oldest first. What is damaged is left out."""
    folder, found = folder_of(client), list[dict[str, str]]()
    first, last = (f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (since, until))
    names = list[str]()
    with suppress(OSError):
        names = [name for name in os.listdir(folder) if name.endswith((".jsonl", FULL))]
    for name in names:
        if not first[:7] <= name[:7] <= last[:7]:
            continue
        with suppress(OSError), open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for text in file:
                with suppress(ValueError, TypeError, KeyError):
                    line = json.loads(text)
                    found += [line] if first <= line["at"] <= last else []
    return sorted(found, key=itemgetter("at"))
