# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of an application's deploys, kept on the controller because no route shows them.

They hold what has not taken effect yet (an environment that was written, a deploy that was not confirmed),
and the history of the images in service.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..shared.controller_state import write_json
from ..shared.options import Options, state_dir_of
from ..shared.pending import AT_DEPLOY, DEPLOY, ENVIRONMENT, Kinds, Pending
from ..shared.plan import Task
from ..shared.task_errors import Invalid

MAX_IMAGES = 50
HISTORY = ".record_deploy"


@dataclass(frozen=True)
class AppRecords:
    """The records of one application, in ``state_dir`` if it is set, and always in Ansible's home.

    Both are written, because ``state_dir`` may be set for one task and not for the next. If Ansible's home
    is not writable, ``state_dir`` is enough.
    """

    pending: Sequence[Pending]
    now: Callable[[], float] = lambda: 0.0
    """Returns the time by the platform, in seconds since 1970, which each note holds."""

    @classmethod
    def of(cls, task: Task[Options], id: str | None) -> AppRecords:
        """Return the records of the application with this id; empty records if it does not exist yet."""
        if not id:
            return cls(())
        state_dir = state_dir_of(task.options)
        folders = [os.path.expanduser(state_dir), None] if state_dir else [None]
        found = [Pending.of(folder, task.options.base_url, id) for folder in folders]
        return cls(found, lambda: task.client.clock.now().timestamp())

    # --- Pending changes ------------------------------------------------------------------------------

    def outstanding(self) -> Kinds:
        """Return the changes that take effect only with the next deploy, by kind."""
        found: Kinds = {}
        for record in reversed(self.pending):
            found.update(record.outstanding())
        return {kind: entry for kind, entry in found.items() if kind in AT_DEPLOY}

    def note(self, kind: str, **details: Any) -> Callable[[], None]:
        """Record a change before it is made. Without a time, ``at``, nothing tells whether it took effect.

        Return what takes that back if the change was not made. What another run recorded since stays.

        :raises Invalid: if the first record is not writable.
        """
        noted: list[Callable[[], None]] = []
        for place, record in enumerate(self.pending):
            try:
                noted.append(record.note(kind, **{"at": self.now(), **details}))
            except Invalid:
                if place == 0:
                    raise

        return partial(call_each, noted)

    def clearing(self, kinds: Iterable[str] | None = None) -> Callable[[], None]:
        """Return what clears the changes that are outstanding now, of these kinds or all, once in effect."""
        return partial(call_each, [record.clearing(kinds) for record in self.pending])

    def reasons(self) -> list[str]:
        """Return the reasons to deploy the image in service again, as phrases."""
        found = self.outstanding()
        phrases = {
            ENVIRONMENT: "its environment was written at {since} and is not in effect yet",
            DEPLOY: "a deploy that began at {since} was not seen to succeed",
        }
        return [
            phrase.format(since=found[kind].get("since", "a time not known"))
            for kind, phrase in phrases.items()
            if kind in found
        ]

    # --- History of images ----------------------------------------------------------------------------

    def images(self) -> list[str]:
        """Return the digests that were deployed, oldest first."""
        return self._history()[0]

    def _history(self) -> tuple[list[str], str | None]:
        """Return the digests that were deployed, and the one whose deploy has failed since."""
        for record in self.pending:
            with suppress(KeyError, TypeError):
                content = kept(record)
                if all(isinstance(item, str) for item in content["images"]):
                    failed = content.get("failed")
                    return list(content["images"]), failed if isinstance(failed, str) else None
        return [], None

    def unconfirmed(self) -> str | None:
        """Return the digest of the last deploy, if that was not seen to succeed."""
        digest: str | None = self.outstanding().get(DEPLOY, {}).get("digest")
        return digest

    def sent_at(self, digest: str) -> float | None:
        """Return when a deploy of an image was sent that nobody saw end, and that covers all that is noted.

        ``None`` if there is none, if it failed, or if the environment was written later.
        """
        found, failed = self.outstanding(), self._history()[1]
        deploy, written = found.get(DEPLOY, {}), found.get(ENVIRONMENT, {"at": 0.0}).get("at")
        at: float | None = deploy.get("at")
        covers = at is not None and written is not None and written <= at
        return at if covers and failed != digest == deploy.get("digest") else None

    def last_good(self, in_service: str | None) -> str | None:
        """Return the digest in service, or the one before it if the deploy of it failed or was not confirmed.

        While a deploy is not confirmed, the one before it may have failed, too: a rollback fails after it.
        """
        images, failed = self._history()
        unconfirmed = self.unconfirmed()
        if in_service is None or unconfirmed is None or in_service not in (unconfirmed, failed):
            return in_service
        return next((digest for digest in reversed(images) if digest != in_service), None)

    def before(self, in_service: str | None) -> str | None:
        """Return the digest that was in service before ``in_service``; ``None`` if it is unknown.

        A deploy from another controller is not recorded here. The last digest is then not ``in_service``. It
        is not either after a deploy of a version that does not start. After one that is undone, there is
        nothing to go back to: that would undo one that succeeded.
        """
        good = self.last_good(in_service)
        if good != in_service:
            return good
        if self.undone(in_service):
            return None
        images = self.images()
        return images[-2] if len(images) > 1 and images[-1] == in_service else None

    def undone(self, in_service: str | None) -> str | None:
        """Return the digest of the last deploy if that failed, and what was in service before it is again."""
        images, failed = self._history()
        is_before = images[-1:] == [in_service] and self.last_good(in_service) == in_service
        return failed if is_before and failed != in_service else None

    def left(self) -> str | None:
        """Return the digest that the last deploy went back from; ``None`` if it went on."""
        return next((str(left) for record in self.pending if (left := kept(record).get("left"))), None)

    def record_failure(self, digest: str) -> None:
        """Record that the deploy of an image failed, until the next one that does not."""
        self._write(self.images(), failed=digest)

    def record_in_service(self, in_service: str | None) -> None:
        """Record the image in service before a deploy. An unknown image restarts the history."""
        if in_service is not None and self.images()[-1:] != [in_service]:
            self._write([in_service])

    def record_deploy(self, digest: str) -> None:
        """Record that an image is in service. A return to the previous image removes the last entry."""
        images, left = self.images(), None
        if images[-2:-1] == [digest]:
            *images, left = images
        elif images[-1:] != [digest]:
            images = [*images, digest]
        self._write(images, left=left)

    def _write(self, images: Sequence[str], failed: str | None = None, left: str | None = None) -> None:
        for record in self.pending:
            keep(record, {"images": images[-MAX_IMAGES:], "failed": failed, "left": left})


def keep(record: Pending, content: Mapping[str, Any]) -> None:
    """Write the history beside a record. If that is not possible, the next task knows less."""
    with suppress(OSError):
        write_json(file_of(record), {"id": record.id, **content})


def kept(record: Pending) -> dict[str, Any]:
    """Return what :func:`keep` wrote beside a record; empty if there is nothing, or not of this record."""
    with suppress(OSError, ValueError, RecursionError):
        with open(file_of(record), encoding="utf-8") as file:
            content = json.load(file)
        if isinstance(content, dict) and content.get("id") == record.id:
            return content
    return {}


def call_each(calls: Sequence[Callable[[], None]]) -> None:
    """Make these calls in turn."""
    for call in calls:
        call()


def file_of(record: Pending) -> str:
    """Return the path of the history beside a record."""
    return f"{record.path.removesuffix('.json')}{HISTORY}"
