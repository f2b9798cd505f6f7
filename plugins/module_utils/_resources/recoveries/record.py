# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery has made and restored, remembered on the controller: it writes to nothing else.

A service that was restored is in use from then on. So it gets the content of a copy once, and never again
unless that is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, NamedTuple

from ..._api.client import Client
from ..._api.errors import HostedError
from ..._api.platform_clock import PlatformClock
from ..blueprints.members import Member
from ..clones.target import MadeRecord
from ..shared.owners import owner_of
from ..shared.restore_points import parse_moment
from ..shared.runs import Run
from ..shared.task_errors import Invalid

IN_USE = timedelta(hours=1)
"""How long after the last that a recovery did with a service somebody else may use it."""
EVER = datetime.min.replace(tzinfo=UTC)


class Span(NamedTuple):
    """From a moment on until another, which does not belong to it, or until now."""

    since: datetime
    until: datetime | None


def account_of(client: Client) -> str | None:
    """Return a checksum of the account that a token is of; ``None`` if it is not shown."""
    with suppress(HostedError):
        return owner_of(client.whoami().email) or None
    return None


@dataclass
class RecoveryRecord(MadeRecord):
    """What was made for the entries of a blueprint, by their keys, and what they got."""

    folder: ClassVar[str] = "recoveries"
    subject: ClassVar[str] = "recovery"

    drill: bool = False
    """Whether all of it is only a drill, so that it may be deleted."""
    begun: dict[str, str] = field(default_factory=dict)
    """By key: the id of the service whose content has begun to be replaced."""
    restored: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By key: which copy a service got, with its id."""
    touched: dict[str, str] = field(default_factory=dict)
    """By key: when the service was ordered, or its content begun to be replaced, by this machine's clock."""
    lacking: dict[str, list[list[str | None]]] = field(default_factory=dict)
    """By id: since when, or ever, and until when, or still, a service did not hold what it is to hold."""
    account: str | None = None
    """A checksum of the account that a drill is made in."""
    run: dict[str, Any] | None = None
    """The run that makes the drill, or made it last."""

    def claim(self, client: Client) -> None:
        """Note that the run of this task makes the drill, and in which account."""
        self.account = account_of(client) or self.account
        run = Run.of_task()
        self.run = asdict(run) if run else self.run

    def check_claim(self, client: Client, project: str) -> None:
        """Refuse to touch a drill that another run makes, or that is in another account.

        With the token of another account, nothing of it would be found, and so all of it be forgotten.
        """
        if self.account is not None and account_of(client) not in (None, self.account):
            raise Invalid(
                f"the drill in project {project!r} was made with the token of another account, where it may "
                "still be billed. Nothing was done. Use that token, or give this drill another project"
            )
        if self.run is None:
            return
        other = Run(**self.run)
        if other != Run.of_task() and other.goes_on():
            raise Invalid(
                f"process {other.process} on this controller is running a drill in project {project!r}. "
                "Nothing was done. Wait until that has ended, or give this drill another project"
            )

    @contextmanager
    def ordering(self, original: str, clock: PlatformClock) -> Iterator[None]:
        with self.lock:
            self.touch(original)
            if gone := self.ids.get(original):
                self._spans(gone)  # its copies may stay
            for known in (self.begun, self.restored):
                known.pop(original, None)
        with super().ordering(original, clock):
            yield

    def touch(self, key: str) -> None:
        """Note that something is done with a service now."""
        with self.lock:
            self.touched[key] = datetime.now(UTC).isoformat(timespec="seconds")

    def begin(self, key: str, id: str) -> None:
        """Note that the content of a service is going to be replaced."""
        with self.lock:
            self.touch(key)
            spans = self._spans(id)
            if not spans or spans[-1][1]:
                spans.append([self.touched[key], None])
            self.ids[key] = self.begun[key] = id
            self.write()

    def end(self, key: str, id: str, facts: Mapping[str, Any]) -> None:
        """Note what a service got."""
        with self.lock:
            self._fill(id)
            self.restored[key] = {**facts, "id": id}
            self.write()

    def leave(self, ids: Iterable[str]) -> None:
        """Note that services get nothing of a copy: what they hold from now on is what they are to hold."""
        with self.lock:
            for id in ids:
                self._fill(id)
            self.write()

    def note(self, project_id: str | None, ids: Mapping[str, str]) -> None:
        """Note the ids that are known by now."""
        with self.lock:
            self.project_id = project_id or self.project_id
            self.ids.update(ids)
            self.write()

    def has_restored(self, key: str, member: Member | None) -> bool:
        """Tell whether a service has got its content already."""
        return member is not None and self.restored.get(key, {}).get("id") == member.id

    def _spans(self, id: str) -> list[list[str | None]]:
        """Return when a service lacked its content. One that was ordered has done so ever since."""
        made = id in self.ids.values()
        return self.lacking.setdefault(id, [[None, None]] if made else [])

    def _fill(self, id: str) -> None:
        """Note that from now on a service holds what it is to hold."""
        for span in self._spans(id):
            span[1] = span[1] or datetime.now(UTC).isoformat()

    def unfilled(self) -> dict[str, list[Span]]:
        """Return by id when copies of a service were not of what it is to hold.

        Backup plans copy what the recovery has ordered and not filled yet, too.
        """
        return {
            id: [Span(parse_moment(since) or EVER, parse_moment(until)) for since, until in self._spans(id)]
            for id in {*self.ids.values(), *self.lacking}
        }

    def may_replace(self, key: str, id: str) -> bool:
        """Tell whether what a service holds comes from this recovery, though perhaps not all of it."""
        return self.begun.get(key) == id

    def in_use_since(self, key: str) -> datetime | None:
        """Return from when on what is written to a service may be somebody else's; ``None`` if not known."""
        touched = parse_moment(self.touched.get(key))
        return None if touched is None else touched + IN_USE

    def forget(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.path)
