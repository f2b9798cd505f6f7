# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records of an application's deploys, kept on the controller because no route shows them.

They hold what has not taken effect yet (an environment that was written, a deploy that was not confirmed),
and the history of the images in service.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from ..shared.options import Options
from ..shared.pending import AT_DEPLOY, DEPLOY, ENVIRONMENT, Kinds, Pending
from ..shared.plan import Task
from ..shared.store import Kind, Record
from ..shared.task_errors import Invalid

T = TypeVar("T")
MAX_IMAGES = 50
REASONS = {
    ENVIRONMENT: "its environment was written at {since} and is not in effect yet",
    DEPLOY: "a deploy that began at {since} was not seen to succeed",
}


@dataclass(frozen=True)
class History:
    """The digests that were in service, oldest first, and what became of the last deploy."""

    images: Sequence[str] = ()
    failed: str | None = None
    """The digest whose deploy has failed since."""
    left: str | None = None
    """The digest that the last deploy went back from."""
    id: str = ""
    """The id of the application."""


HISTORY = Kind("pending", History, "the history of an application", hint=True)


@dataclass(frozen=True)
class AppRecords:
    """The records of one application, in ``state_dir`` if it is set, and always in Ansible's home.

    Both are written, because ``state_dir`` may be set for one task and not for the next. Only the first of
    them has to be readable and writable.
    """

    pending: Sequence[Pending]
    now: Callable[[], float] = lambda: 0.0
    """Returns the time by the platform, in seconds since 1970, which each note holds."""

    @classmethod
    def of(cls, task: Task[Options], id: str | None) -> AppRecords:
        """Return the records of the application with this id; empty records if it does not exist yet."""
        if not id:
            return cls(())
        both = dict.fromkeys((Pending.of(task, id), Pending.of(task, id, own_folder=True)))
        return cls([*both], lambda: task.client.clock.now().timestamp())

    def _of_each(self, use: Callable[[Pending], T]) -> list[T]:
        done: list[T] = []
        for record in self.pending:
            with suppress(Invalid) if done else nullcontext():
                done.append(use(record))
        return done

    # --- Pending changes ------------------------------------------------------------------------------

    def outstanding(self) -> Kinds:
        """Return the changes that take effect only with the next deploy, by kind."""
        found: Kinds = {}
        for kinds in reversed(self._of_each(Pending.outstanding)):
            found.update(kinds)
        return {kind: entry for kind, entry in found.items() if kind in AT_DEPLOY}

    def note(self, kind: str, **details: Any) -> Callable[[], object]:
        """Record a change before it is made; return what takes that back.

        Without a time, ``at``, nothing tells whether it took effect.
        """
        noted = self._of_each(lambda record: record.note(kind, **{"at": self.now(), **details}))
        return lambda: [take_back() for take_back in noted]

    def clearing(self, kinds: Iterable[str] | None = None) -> Callable[[], object]:
        """Return what clears the changes that are outstanding now, of these kinds or all, once in effect."""
        found = self._of_each(lambda record: record.clearing(kinds))
        return lambda: [clear() for clear in found]

    def reasons(self) -> list[str]:
        """Return the reasons to deploy the image in service again, as phrases."""
        found = self.outstanding()
        return [
            phrase.format(since=found[kind].get("since", "a time not known"))
            for kind, phrase in REASONS.items()
            if kind in found
        ]

    def unconfirmed(self) -> str | None:
        """Return the digest of the last deploy, if that was not seen to succeed."""
        digest: str | None = self.outstanding().get(DEPLOY, {}).get("digest")
        return digest

    def sent_at(self, digest: str) -> float | None:
        """Return when a deploy of an image was sent that nobody saw end, and that covers all that is noted.

        ``None`` if there is none, if it failed, or if the environment was written later.
        """
        found = self.outstanding()
        deploy, written = found.get(DEPLOY, {}), found.get(ENVIRONMENT, {"at": 0.0}).get("at")
        at: float | None = deploy.get("at")
        covers = at is not None and written is not None and written <= at
        return at if covers and self.history.failed != digest == deploy.get("digest") else None

    # --- History of images ----------------------------------------------------------------------------

    @property
    def history(self) -> History:
        """The images that were deployed, as far as this controller knows."""
        for record in self.pending:
            found = history_of(record).read()
            if found.id == record.id:
                return found
        return History()

    def last_good(self, in_service: str | None) -> str | None:
        """Return the digest in service, or the one before it if the deploy of it failed or was not confirmed.

        While a deploy is not confirmed, the one before it may have failed, too: a rollback fails after it.
        """
        history, unconfirmed = self.history, self.unconfirmed()
        if in_service is None or unconfirmed is None or in_service not in (unconfirmed, history.failed):
            return in_service
        return next((digest for digest in reversed(history.images) if digest != in_service), None)

    def record_failure(self, digest: str) -> None:
        self._write(History(self.history.images, failed=digest))

    def record_in_service(self, in_service: str | None) -> None:
        """Record the image in service before a deploy. An unknown image restarts the history."""
        if in_service is not None and self.history.images[-1:] != [in_service]:
            self._write(History([in_service]))

    def record_deploy(self, digest: str) -> None:
        """Record that an image is in service. A return to the previous image removes the last entry."""
        images, left = [*self.history.images], None
        if images[-2:-1] == [digest]:
            left = images.pop()
        elif images[-1:] != [digest]:
            images.append(digest)
        self._write(History(images[-MAX_IMAGES:], left=left))

    def _write(self, history: History) -> None:
        for record in self.pending:
            with suppress(Invalid):  # the next task knows less
                history_of(record).write(replace(history, id=record.id))


def history_of(record: Pending) -> Record[History]:
    return Record(HISTORY, f"{record.record.path.removesuffix('.json')}.record_deploy")
