# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping what the platform shows only once: the place is proved before it is asked for.

A call whose answer holds secrets is made inside :func:`keep_secrets`::

    with keep_secrets(task, subject, "the secrets of service 'web'") as kept:
        answer = ...                 # may take the secrets away from the platform
        kept.write(id, content, "…") # or kept.close(), when the answer holds none

Before the call a file of the size is written where the secrets will go, and an entry in the journal: should
the run end in the middle, the next task on the subject tells that the secrets were never kept.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from ..._api.errors import undone_if_nothing_happened
from ..._api.private_folder import make_folder_of
from ..._api.text import harmless
from . import journal
from .journal import Entry
from .names import check_path
from .options import FilePath, Options, option
from .plan import Task
from .store import UNFINISHED, Record, atomic_file, one_at_a_time, records_folder
from .task_errors import Invalid

FOLDER = "secrets"
ORDERED, SFTP = "service", "sftp"
"""The kinds of subjects: ``service:`` with the name of an order, ``sftp:`` with the id of a service."""
REMEDIES = {
    ORDERED: "database_info with return_secrets: true reads those of a database again; for others, delete "
    "the service and order it again",
    SFTP: "set update_password: always to generate another password",
}
LONGEST_WRITE = 30.0
"""Seconds to wait for other tasks that write to the same file; each holds it for an instant."""
ANY = "any.json"
"""The file of secrets by default, while the id that it will be named after is not known."""
MAX_NAME = 150
"""Bytes of the name of a file that is made of an id, which leaves room for what is added to it."""
ROOM = 64 * 1024
"""Bytes that must be free before secrets are asked for: far more than any answer holds."""


@dataclass(frozen=True, kw_only=True)
class SecretsOptions(Options):
    """The options for saving secrets that the platform shows only once."""

    secrets_dest: FilePath | None = option(None, no_log=False, filled=True)
    return_secrets: bool = option(False, no_log=False)


def default_path(id: str) -> str:
    """Return the default file for secrets. An id that cannot be a name is hashed."""
    name, encoded = os.path.basename(id), id.encode("utf-8", "surrogatepass")
    if not (name and name.isprintable() and len(encoded) <= MAX_NAME):
        name = hashlib.blake2b(encoded, digest_size=16).hexdigest()
    return os.path.join(records_folder(FOLDER), f"{name}.json")


# --- Before the call --------------------------------------------------------------------------------


def check_destination(path: str, option: str = "secrets_dest") -> None:
    """Check that a file can be written, before any secret exists."""
    check_path(option, path, of_file=True)
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise Invalid(f"{option} {path!r} is a directory; name a file")
    if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
        raise Invalid(
            f"{option} {path!r} is a device, a link or a pipe, which the new file would take the place of; "
            "name a regular file"
        )
    if not os.path.isdir(folder):
        # That of secrets is made, but not what it lies in: a disk may not be mounted.
        if not (option.startswith("secrets") and os.path.isdir(os.path.dirname(folder))):
            raise Invalid(f"the directory of {option}, {folder!r}, does not exist; create it first")
    elif not os.access(folder, os.W_OK | os.X_OK):
        raise Invalid(f"the directory of {option}, {folder!r}, cannot be written to")


def check_folder(task: Task[SecretsOptions]) -> None:
    """Check the destination without writing anything, as in check mode."""
    given = task.options.secrets_dest
    if given is not None:
        check_destination(given, "secrets_dir" if task.composition.part else "secrets_dest")
    path = os.path.abspath(given or os.path.join(records_folder(FOLDER), ANY))
    for folder in (os.path.dirname(path), records_folder(journal.ENTRIES.folder)):
        nearest = folder
        while not os.path.lexists(nearest):
            nearest = os.path.dirname(nearest)
        if not (os.path.isdir(nearest) and os.access(nearest, os.W_OK | os.X_OK)):
            raise unwritable_error(folder, f"{nearest!r} is no directory that can be written to")
    try:
        os.lstat(put_aside_path(path))  # the longest name that it gets
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise unwritable_error(path, error.strerror or str(error)) from None


def unwritable_error(place: str, why: str) -> Invalid:
    return Invalid(
        f"what the platform shows only once could not be kept in {place!r}: {why}. Nothing was sent. "
        "Make room there, or name another place"
    )


@contextmanager
def keep_secrets(task: Task[SecretsOptions], subject: str, what: str) -> Iterator[SecretWriter]:
    """Prove the place by a file of full size under the longest name in use, and note the call to come."""
    place = task.options.secrets_dest
    if place is not None:
        check_destination(place)
    trial = put_aside_path(os.path.abspath(place or os.path.join(records_folder(FOLDER), ANY)))
    folder = os.path.dirname(trial)
    try:
        if place is None or not os.path.isdir(folder):
            make_folder_of(trial)
        with atomic_file(trial) as file:
            file.write("\0" * ROOM)
        os.unlink(trial)
    except OSError as error:
        raise unwritable_error(folder, error.strerror or str(error)) from None
    entry = Entry(what, time.time())
    record = journal.begin(task.options.base_url, subject, entry)
    kept = SecretWriter(task, record, entry, REMEDIES[subject.partition(":")[0]])
    with undone_if_nothing_happened(kept.close):
        yield kept


# --- After the call ---------------------------------------------------------------------------------


@dataclass
class SecretWriter:
    """Saves the secrets of one call. ``remedy`` says what to do if they are lost."""

    task: Task[SecretsOptions]
    record: Record[Entry]
    entry: Entry
    remedy: str

    def note_id(self, id: str) -> None:
        """Note what the call made, once its secrets are kept."""
        self.entry = replace(self.entry, id=id)
        try:
            self.record.write(self.entry)
        except Invalid as error:
            self.task.warn(f"{error.message}. Without that, a later run may order another service")

    def close(self) -> None:
        """Close the entry: nothing can be lost any more. With secrets to return it is when the task ends."""
        self.entry = replace(self.entry, id="")
        if self.entry.kept_in is None:
            with suppress(OSError):
                self.record.remove()

    def write(self, id: str, content: dict[str, Any], labels: str) -> bool:
        """Write secrets to ``secrets_dest``, and to the result if requested. Return whether it worked.

        If the user requested neither, or the destination fails after all, they are written to the default
        file. Secrets are never shown because of a failure.
        """
        options, default = self.task.options, default_path(id)
        if options.return_secrets:
            self.task.effects.facts["secrets"] = content
            if not options.secrets_dest:
                self._keep_until_returned(id, content, labels)
                return True
        failures, told = list[str](), f"{labels} could not be written"
        for place in dict.fromkeys([options.secrets_dest or default, default]):
            try:
                if place == default:
                    make_folder_of(place)
                write_private(place, content)
            except Exception as error:  # whatever it is: nobody shows the secrets a second time
                ours = isinstance(error, OSError)  # the text of others may hold them
                failures.append(f"to {place}: {error if ours else type(error).__name__}")
                continue
            self.task.effects.facts["secrets_file"] = place
            if failures:
                self.task.warn(f"{told} {failures[0]}. They were kept in {place} instead")
            elif not options.secrets_dest:
                advice = "" if self.task.composition.part else ". Set secrets_dest to choose the place"
                self.task.warn(f"{labels} can be read only once; kept in {place}{advice}")
            self.close()
            return True
        told = f"{told} {', nor '.join(failures)}"
        if not options.return_secrets:
            self.task.warn(f"{told}. They are lost: {self.remedy}")
            return False
        self.task.warn(f"{told}. They are only in the result, because return_secrets is set")
        self.close()
        return True

    def _keep_until_returned(self, id: str, content: dict[str, Any], labels: str) -> None:
        """Keep secrets that go into the result alone on disk until the task ends: it may be killed before."""
        path = default_path(f"{id}-not-returned")
        with suppress(Exception):
            make_folder_of(path)
            write_private(path, content)
            self.entry = replace(self.entry, what=labels, kept_in=path)
            self.record.write(self.entry)

        def end(kind: type[BaseException] | None, *__: object) -> None:
            if kind is None or issubclass(kind, Exception):  # not Ctrl-C, after which nothing is returned
                with suppress(OSError):
                    os.unlink(path)
                self.entry = replace(self.entry, kept_in=None)
                if self.entry.id:
                    self.note_id(self.entry.id)
                else:
                    self.close()

        self.task.closing.push(end)


def write_private(path: str, content: dict[str, Any]) -> None:
    """Write JSON for people to read, with mode 0600 and no control characters. A file there is renamed."""
    turn = one_at_a_time(f"file:{os.path.realpath(path)}", "writing this file", LONGEST_WRITE)
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    text = "".join(char if harmless(char) else json.dumps(char)[1:-1] for char in text)
    with turn, atomic_file(path, put_aside_path(path)) as file:
        file.write(text)


def put_aside_path(path: str) -> str:
    """Return a new path for an older file."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())  # which the items of a loop share
    return f"{path}.{stamp}.{secrets.token_hex(4)}~"


# --- What was never kept ----------------------------------------------------------------------------


def warn_of_lost_secrets(task: Task[SecretsOptions], subject: str) -> None:
    """Warn of secrets that were requested and never saved, until the entry is removed."""
    cause = "the run that requested it did not finish, or is still running"
    for record, entry in journal.opened(task.options.base_url, subject).items():
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(entry.at))
        end = f"{record.path} to end this warning"
        if entry.kept_in is not None:
            task.warn(
                f"{entry.what}, generated on {since}, is in {entry.kept_in}: {cause}. Move that file to a "
                f"safe place, and remove {end}"
            )
        elif not entry.id:
            found = unfinished_files(task)
            look = f" Look into {', '.join(found)} first, which a killed run left." if found else ""
            task.warn(
                f"{entry.what} may have been generated on {since} and never kept: {cause}.{look} If nobody "
                f"has it: {REMEDIES[subject.partition(':')[0]]}. Remove {end}"
            )


def unfinished_files(task: Task[SecretsOptions]) -> list[str]:
    """Return the files in the folders of secrets that were never completed."""
    given, found = task.options.secrets_dest, list[str]()
    own = [os.path.dirname(os.path.abspath(given))] if given else []
    for folder in {records_folder(FOLDER), *own}:
        with suppress(OSError):
            names = [name for name in os.listdir(folder) if name.endswith(UNFINISHED)]
            found += [os.path.join(folder, name) for name in names if "~." not in name]  # that of a trial
    return sorted(found)
