# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notes of secrets that were requested: a note found later means that the secrets were never saved.

The platform shows generated secrets only once. A run that is killed between the call and the file on disk
leaves a service whose secrets nobody has. The note is written before the call, and holds no secret.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from .plan import Task
from .store import UNFINISHED, normalized_url, records_folder, state_key, write_json

FOLDER = "secrets"
NOTES = f"{FOLDER}/unkept"
"""The folder of the notes, inside that of the secrets."""
ORDERED, SFTP = "service", "sftp"
"""The kinds of subjects: ``service:`` with the name of an order, ``sftp:`` with the id of a service."""
REMEDIES = {
    ORDERED: "database_info with return_secrets: true reads those of a database again; for others, delete "
    "the service and order it again",
    SFTP: "set update_password: always to generate another password",
}


@dataclass(frozen=True)
class SecretNote:
    """The note of one call. Parallel runs may leave several on one subject."""

    path: str
    endpoint: str
    subject: str

    @classmethod
    def of(cls, base_url: str | None, subject: str) -> SecretNote:
        """Return a new note with a unique name."""
        endpoint = normalized_url(base_url or "")
        name = f"{state_key(base_url, subject)}-{secrets.token_hex(4)}.json"
        return cls(os.path.join(records_folder(NOTES), name), endpoint, subject)

    @property
    def remedy(self) -> str:
        """What to do if the secrets are lost."""
        return REMEDIES[self.subject.partition(":")[0]]

    def write(self, what: str, kept_in: str | None = None) -> None:
        """Write the note. ``kept_in`` is the file with the secrets until the task returns them.

        :raises OSError: if it cannot be written.
        """
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        content = {"endpoint": self.endpoint, "subject": self.subject, "what": what, "since": since}
        if kept_in is not None:
            content["kept_in"] = kept_in
        write_json(self.path, content)

    def remove(self) -> None:
        """Remove the note, if it exists."""
        with suppress(OSError):
            os.unlink(self.path)


def notes_on(task: Task, subject: str) -> list[str]:
    """Return the paths of the notes on a subject."""
    folder, names = records_folder(NOTES), list[str]()
    with suppress(OSError):
        names = sorted(os.listdir(folder))
    key = state_key(task.options.base_url, subject)
    return [os.path.join(folder, name) for name in names if name.startswith(key)]


def seconds_since_call(task: Task, subject: str) -> float:
    """Return the age of the last call on a subject that did not finish; infinity if there is none."""
    ages = []
    for path in notes_on(task, subject):
        with suppress(OSError):
            ages.append(age_of(path))
    return min(ages, default=float("inf"))


def age_of(path: str) -> float:
    """Return how many seconds ago a note was written."""
    return max(0.0, time.time() - os.stat(path).st_mtime)


def warn_of_lost_secrets(task: Task, subject: str) -> None:
    """Warn of secrets that were requested and never saved, until the note is removed."""
    for path in notes_on(task, subject):
        content = read_note(path)
        what = content.get("what", "what the platform shows only once")
        since = content.get("since", "an unknown date")
        cause = "the run that requested it did not finish, or is still running"
        if "kept_in" in content:
            task.warn(
                f"{what}, generated on {since}, is in {content['kept_in']}: {cause}. Move that file to a "
                f"safe place, and remove {path} to end this warning"
            )
            continue
        found = unfinished_files(task)
        look = f" Look into {', '.join(found)} first, which a killed run left." if found else ""
        task.warn(
            f"{what} may have been generated on {since} and never kept: {cause}.{look} If nobody has it: "
            f"{REMEDIES[subject.partition(':')[0]]}. Remove {path} to end this warning"
        )


def unfinished_files(task: Task) -> list[str]:
    """Return the files in the folders of secrets that were never completed."""
    given = getattr(task.options, "secrets_dest", None)
    folders = {records_folder(FOLDER), *([os.path.dirname(os.path.abspath(given))] if given else [])}
    found: list[str] = []
    for folder in folders:
        with suppress(OSError):
            found += [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(UNFINISHED)]
    return sorted(found)


def read_note(path: str) -> dict[str, Any]:
    """Return the content of a note; empty if it is damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        return content if isinstance(content, dict) else {}
    except (OSError, ValueError, RecursionError):
        return {}


def remove_notes(task: Task, subject: str, newest: SecretNote | None = None, min_age: float = 0.0) -> None:
    """Remove the notes on a subject, as its secrets do not matter any more.

    :param newest: a note that stays.
    :param min_age: notes that are younger than so many seconds stay.
    """
    for path in notes_on(task, subject):
        if newest is not None and path == newest.path:
            continue
        with suppress(OSError):
            if min_age <= age_of(path):
                os.unlink(path)
