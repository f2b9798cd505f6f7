# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written on the platform and not in effect yet, remembered on the controller until it is.

The platform shows what is written, not what a container runs with. Without a record, a run whose second half
failed leaves nothing that the next run could see: the next run finds the setting as wanted and does nothing.

How to use it::

    pending = Pending.of(state_dir_of(task.options), task.options.base_url, service.id)
    take_back = pending.note(COMMAND)    # before the write, so that a run that dies in between is covered
    task.client.set_command(...)         # refused: take_back()
    ...
    if pending.outstanding(): ...    # {"command": {"since": "2026-01-31T12:00:00Z", "write": "5f2c"}}
    pending.clear(COMMAND, NETWORK)  # once the start was seen

The key is the address of the platform and the id of the service. An application is a service like any other,
so its ``id`` in the list of applications is the same id: a task with a token for applications alone finds
what a task with a full token has noted, and the other way round. Ids are never used again, so an application
created anew under the same slug starts with nothing outstanding.

The record holds kinds and times. ``details`` are for what else a kind needs, such as keyed fingerprints;
never put a value of a setting there, because a command or a variable may hold a password.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .controller_state import collection_folder, lock_file, state_key, write_json
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
"""What a deploy that succeeds brings into effect."""
AT_START = (COMMAND, NETWORK)
"""What a start from stop brings into effect."""
FOLDER = "pending"
LONGEST_WRITE = 60.0
"""Seconds to wait for another process that writes a record."""
WRITE = "write"
"""The key of a random value that distinguishes one note of a kind from the next."""

Kinds = dict[str, dict[str, Any]]


def pending_folder(state_dir: str | None) -> str:
    """Return where the records are: inside the user's ``state_dir``, or of the collection's own folder."""
    return os.path.join(state_dir, FOLDER) if state_dir else collection_folder(FOLDER)


@dataclass(frozen=True)
class Pending:
    """The record of one service. ``path`` is its file, which exists only while something is outstanding."""

    path: str
    id: str

    @classmethod
    def of(cls, state_dir: str | None, base_url: str | None, id: str) -> Pending:
        """Return the record of the service with this id on the platform at this address."""
        return cls(os.path.join(pending_folder(state_dir), f"{state_key(base_url, id)}.json"), id)

    def outstanding(self) -> Kinds:
        """Return what is written and not in effect, by kind. A damaged record holds nothing."""
        try:
            with open(self.path, encoding="utf-8") as file:
                content = json.load(file)
            if content["id"] != self.id:
                return {}
            return {str(kind): dict(entry) for kind, entry in content["pending"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return {}

    def note(self, kind: str, **details: Any) -> Callable[[], None]:
        """Note that a change of this kind is about to be written. One noted before keeps its time.

        Return what takes the note back, for a change that was not made. If another run has changed the note
        since, that leaves it alone.

        :raises Invalid: when the record cannot be written.
        """
        with self._locked():
            kinds = self.outstanding()
            since = kinds.get(kind, {}).get("since") or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            noted = {"since": since, WRITE: secrets.token_hex(8), **details}
            self._write({**kinds, kind: noted})
        before = {kind: kinds[kind]} if kind in kinds else {}

        def take_back() -> None:
            with self._locked():
                now = self.outstanding()
                if now.pop(kind, None) == noted:
                    self._write({**now, **before})

        return take_back

    def clear(self, *kinds: str) -> None:
        """Note that changes of these kinds are in effect now. Without a record there is nothing to do.

        :raises Invalid: when the record cannot be written.
        """
        if not os.path.exists(self.path):
            return
        with self._locked():
            left = {kind: entry for kind, entry in self.outstanding().items() if kind not in kinds}
            self._write(left)

    def _write(self, kinds: Kinds) -> None:
        """Write the record, or remove it when nothing is outstanding."""
        if kinds:
            write_json(self.path, {"id": self.id, "pending": kinds})
        elif os.path.exists(self.path):
            os.unlink(self.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keep other runs from the records meanwhile. Nobody holds the lock for longer than a write."""
        folder = os.path.dirname(self.path)
        try:
            with lock_file(os.path.join(folder, ".lock"), LONGEST_WRITE):
                yield
        except OSError as error:
            raise Invalid(
                f"the record of changes that are not in effect yet cannot be kept in {folder!r}: "
                f"{error.strerror or error}. Make it writable, or name another folder in "
                "HOSTED_SERVICES_HOME"
            ) from None
