# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's folder on the controller: what the platform does not show again is kept there.

Everything of it is in ``hosted_services`` inside Ansible's home: ``environments`` (fingerprints), ``pending``
(what is written and not in effect), ``secrets`` (what the platform shows only once) and ``locks``.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TextIO
from urllib.parse import urlsplit

from ..._api.connection import is_loopback
from .task_errors import Invalid

HOME_VARIABLE = "ANSIBLE_HOME"
"""Ansible's home. The action puts ``home`` of ansible.cfg there, as nothing here may ask Ansible for it."""
PLAYBOOK_FOLDER = "HOSTED_SERVICES_PLAYBOOK_FOLDER"
"""The folder of the playbook. The action puts it there for both ways of running; nobody else sets it."""


LOCKS = "locks"
MAX_LOCK_SECONDS = 300.0
"""Seconds to wait for other tasks, each of which ends by its own deadlines long before."""


def collection_folder(name: str) -> str:
    """Return the path of a folder of the collection inside Ansible's home. It may not exist yet."""
    home = os.environ.get(HOME_VARIABLE) or os.path.join("~", ".ansible")
    return os.path.join(os.path.expanduser(home), "hosted_services", name)


def normalized_url(base_url: str) -> str:
    """Return an address so that two ways to write it name the same platform."""
    parts = urlsplit(base_url.rstrip("/"))
    host, scheme = parts.hostname or "", parts.scheme.lower()
    port = parts.port or {"https": 443, "http": 80}.get(scheme)
    return f"{scheme}://{'localhost' if is_loopback(host) else host}:{port}{parts.path}"


def state_key(base_url: str | None, subject: str) -> str:
    """Return the name of what is kept about a subject on the platform at this address, fit for a file."""
    text = f"{normalized_url(base_url or '')}\n{subject}".encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


@contextmanager
def lock_file(path: str, seconds: float) -> Iterator[bool]:
    """Keep other processes from what a lock file stands for. The file and its folder are made.

    Yields whether another process had to be waited for.

    :raises TimeoutError: when another process holds the lock for all of ``seconds``.
    :raises OSError: when the file cannot be made.
    """
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    until = time.monotonic() + seconds
    waited = False
    try:
        while not try_lock(handle):
            waited = True
            if time.monotonic() >= until:
                raise TimeoutError(f"another process has held {path!r} for {seconds:g} seconds")
            time.sleep(0.05)
        yield waited
    finally:
        os.close(handle)


@contextmanager
def in_turn(subject: str, seconds: float) -> Iterator[bool]:
    """Let the tasks of this controller do something about a subject one after the other.

    Yields whether another one had to be waited for. Where no lock can be kept they do it side by side, as
    those of two controllers do.

    :raises TimeoutError: when others are busy with the subject for all of ``seconds``.
    """
    with ExitStack() as held:
        waited = False
        try:
            path = os.path.join(collection_folder(LOCKS), state_key(None, subject))
            waited = held.enter_context(lock_file(path, seconds))
        except TimeoutError:
            raise
        except OSError:
            pass
        yield waited


@contextmanager
def one_at_a_time(subject: str, what: str, seconds: float = MAX_LOCK_SECONDS) -> Iterator[bool]:
    """Do something :func:`in_turn`; ``what`` says in an error what the other tasks are doing.

    Yields whether another one had to be waited for.

    :raises Invalid: when they do not come to an end, before anything is sent.
    """
    with ExitStack() as turn:
        try:
            waited = turn.enter_context(in_turn(subject, seconds))
        except TimeoutError:
            raise Invalid(
                f"another task of this controller has been {what} for {seconds:g} seconds; nothing was sent. "
                "Run this again when it has ended"
            ) from None
        yield waited


def try_lock(handle: int) -> bool:
    """Take the lock on an open file if nobody else holds it, and tell whether that worked."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def atomic_file(path: str) -> Iterator[TextIO]:
    """Open a file for its owner alone, which takes the place of ``path`` once it is whole, or never.

    The folder has to be there. Line ends are written as they are given.
    """
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))  # created with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            yield file
            flush_to_disk(file)
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def flush_to_disk(file: TextIO) -> None:
    """Have what was written on the disk, so that a full one is noticed here."""
    file.flush()
    os.fsync(file.fileno())


def write_json(path: str, content: Mapping[str, Any]) -> None:
    """Write JSON for the owner alone, whole or not at all. The folder has to be there."""
    with atomic_file(path) as file:
        json.dump(content, file, indent=2)
