# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered on the controller: records, each in a small file, and the locks of its tasks.

All are in one folder, ``hosted_services`` inside Ansible's home, or what ``HOSTED_SERVICES_HOME`` names. Each
:class:`Kind` of record has a folder of its own there.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TextIO, TypeVar
from urllib.parse import urlsplit

from ..._api.connection import is_loopback
from ..._api.libraries import TypeAdapter
from ..._api.private_folder import make_folder_of
from ..._api.text import composed
from .task_errors import Invalid

FOLDER_VARIABLE = "HOSTED_SERVICES_HOME"
"""The collection's folder, if it is not the one in Ansible's home, where users' collections are as well."""
HOME_VARIABLE = "ANSIBLE_HOME"
"""Ansible's home. The action puts ``home`` of ansible.cfg there, as nothing here may ask Ansible for it."""
PLAYBOOK_FOLDER = "HOSTED_SERVICES_PLAYBOOK_FOLDER"
"""The folder of the playbook. The action puts it there for both ways of running; nobody else sets it."""

RUN_FOLDER = "HOSTED_SERVICES_RUN_FOLDER"
"""The folder that the tasks of this run share. Set like the one above; a module elsewhere has none."""
LOCKS = "locks"
UNFINISHED = ".unfinished"
"""The end of the name of a file that is being written. One that stays is of a run that was killed."""
LONGEST_PREFIX = 200
"""How many characters of a name that of its unfinished file has: file systems allow 255 bytes."""
MAX_LOCK_SECONDS = 300.0
"""Seconds to wait for other tasks, each of which ends by its own deadlines long before."""


def records_folder(name: str, state_dir: str | None = None) -> str:
    """Return the path of a folder inside ``state_dir`` or, if that is not set, the collection's own."""
    if state_dir:
        return os.path.join(os.path.expanduser(state_dir), name)
    if own := os.environ.get(FOLDER_VARIABLE):
        return os.path.join(os.environ.get(PLAYBOOK_FOLDER, ""), os.path.expanduser(own), name)
    home = os.environ.get(HOME_VARIABLE) or os.path.join("~", ".ansible")
    return os.path.join(os.path.expanduser(home), "hosted_services", name)


def state_key(base_url: str | None, subject: str) -> str:
    """Return the file name for the state of a subject on a platform, however its address is written."""
    parts = urlsplit((base_url or "").rstrip("/"))
    host, scheme = parts.hostname or "", parts.scheme.lower()
    port = parts.port or {"https": 443, "http": 80}.get(scheme)
    platform = f"{scheme}://{'localhost' if is_loopback(host) else host}:{port}{parts.path}"
    text = f"{platform}\n{composed(subject)}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


@contextmanager
def lock_file(path: str, seconds: float) -> Iterator[bool]:
    """Lock a file against other processes, or raise a ``TimeoutError``. Yields whether this had to wait."""
    make_folder_of(path)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    until, waited = time.monotonic() + seconds, False
    try:
        while True:
            with suppress(BlockingIOError):
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            if time.monotonic() >= until:
                raise TimeoutError(f"another process has held {path!r} for {seconds:g} seconds")
            waited = True
            time.sleep(0.05)
        yield waited
    finally:
        os.close(handle)


@contextmanager
def one_at_a_time(subject: str, what: str, seconds: float = MAX_LOCK_SECONDS) -> Iterator[bool]:
    """Let the tasks of this controller work on a subject in turn. ``what`` tells what the others are at.

    Yields whether this had to wait. Without a lock they run in parallel, as those of two controllers do.

    :raises Invalid: if the others do not finish, before anything is sent.
    """
    with ExitStack() as held:
        waited = False
        try:
            path = os.path.join(records_folder(LOCKS), state_key(None, subject))
            waited = held.enter_context(lock_file(path, seconds))
        except TimeoutError:
            raise Invalid(
                f"another task of this controller is still {what}, after a wait of {seconds:g} seconds; "
                "nothing was sent. Run this again when it has ended. A task of a run that was killed may go "
                "on for a while"
            ) from None
        except OSError:
            pass
        yield waited


@contextmanager
def atomic_file(path: str, aside: str | None = None) -> Iterator[TextIO]:
    """Open a file with mode 0600 that replaces ``path``, once complete, or renames that to ``aside``."""
    folder, name = os.path.split(os.path.abspath(path))
    # Created with mode 0600. Its name says what it was to become, in case a run is killed.
    handle, temporary = tempfile.mkstemp(UNFINISHED, f".{name[:LONGEST_PREFIX]}.", folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())  # so that a full disk raises here
        if aside and os.path.exists(path):
            os.replace(path, aside)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    with suppress(OSError):  # not every file system knows how to flush a folder
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(place)  # so that what was replaced stays so
        finally:
            os.close(place)


# --- Records ----------------------------------------------------------------------------------------

T = TypeVar("T")
adapter_of: Callable[[type], Any] = cache(TypeAdapter)
"""What turns records into JSON and back, made once: a task over a thousand services reads as many."""
LONGEST_WRITE = 60.0
"""Seconds to wait for other tasks that update the same file; each holds it for an instant."""


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of records."""

    folder: str
    content: type[T]
    """A dataclass, or a plain type. Without a file, a record holds what that holds by default."""
    what: str
    mending: str = "Correct that, or remove the file to begin anew"
    """What to do about a damaged one."""
    hint: bool = False
    """Whether nothing depends on what it holds but advice: one that cannot be read is taken for none."""

    def of(self, base_url: str | None, subject: str, state_dir: str | None = None) -> Record[T]:
        """Return the record of a subject on a platform, in ``state_dir`` or the collection's own folder."""
        folder = records_folder(self.folder, state_dir)
        return Record(self, os.path.join(folder, f"{state_key(base_url, subject)}.json"))

    def all(self, state_dir: str | None = None) -> list[Record[T]]:
        """Return all records of the kind, also those that are damaged."""
        place, names = records_folder(self.folder, state_dir), list[str]()
        with suppress(OSError):  # none is there, or none can be, as its name is too long
            names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
        return [Record(self, os.path.join(place, name)) for name in names]


@dataclass(frozen=True)
class Record(Generic[T]):
    """A record. Its file is written whole or not at all."""

    kind: Kind[T]
    path: str

    def read(self) -> T:
        """Return what it holds. Raises :class:`Invalid` with its file, if it cannot be read or is damaged."""
        try:
            with open(self.path, encoding="utf-8") as file:
                found: T = adapter_of(self.kind.content).validate_python(json.load(file))
                return found
        except (FileNotFoundError, NotADirectoryError):
            return self.kind.content()
        except (OSError, ValueError, RecursionError) as error:
            if self.kind.hint:
                return self.kind.content()
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise self.unreadable(why) from None

    def unreadable(self, why: str | None) -> Invalid:
        """Return the error for one that cannot be read."""
        return Invalid(
            f"{self.kind.what} is in {self.path!r}, which cannot be read: {why}. {self.kind.mending}"
        )

    def write(self, content: T) -> None:
        """Replace what it holds, or raise :class:`Invalid`. One that holds nothing has no file."""
        try:
            if content == self.kind.content():
                self.remove()
                return
            make_folder_of(self.path)
            with atomic_file(self.path) as file:
                json.dump(adapter_of(self.kind.content).dump_python(content, mode="json"), file, indent=2)
        except OSError as error:
            raise self._unkept(error) from None

    def edit(self, change: Callable[[T], T]) -> None:
        """Replace what it holds by what ``change`` makes of it. Nobody else edits it meanwhile."""
        try:
            with self.held(LONGEST_WRITE) as content:
                self.write(change(content))
        except OSError as error:
            raise self._unkept(error) from None

    @contextmanager
    def held(self, seconds: float) -> Iterator[T]:
        """Yield what it holds, and keep others that hold or edit it waiting, or raise an ``OSError``."""
        with lock_file(f"{self.path}.lock", seconds):
            yield self.read()

    def remove(self) -> None:
        """Remove the file, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def _unkept(self, error: OSError) -> Invalid:
        return Invalid(
            f"{self.kind.what} cannot be kept in {os.path.dirname(self.path)!r}: "
            f"{error.strerror or error}. Make it writable, or name another folder in state_dir or "
            "HOSTED_SERVICES_HOME"
        )
