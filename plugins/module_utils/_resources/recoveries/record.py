# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery has made and restored, remembered on the controller: it writes to nothing else.

A service that was restored is in use from then on. So it gets the content of a copy once, and never again
unless that is said.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

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
    project_id: str | None = None
    begun: dict[str, str] = field(default_factory=dict)
    """By key: the id of the service whose content has begun to be replaced."""
    restored: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By key: which copy a service got, with its id."""
    touched: dict[str, str] = field(default_factory=dict)
    """By key: when the service was ordered, or its content begun to be replaced, by this machine's clock."""
    replacing: dict[str, str] = field(default_factory=dict)
    """By id: since when the content of a service that had some is being replaced."""
    lost: list[str] = field(default_factory=list)
    """The ids of services that were gone before they got their content."""
    account: str | None = None
    """A checksum of the account that a drill is made in."""
    run_process: int | None = None
    run_folder: str | None = None
    run_started: str | None = None
    """The run that makes the drill, or made it last."""

    @property
    def known(self) -> bool:
        """Whether there is anything that was made, or may have been."""
        return bool(self.names or self.ids or self.project_id)

    def claim(self, client: Client) -> None:
        """Note that the run of this task makes the drill, and in which account."""
        self.account = account_of(client) or self.account
        run = Run.of_task()
        if run is not None:
            self.run_process, self.run_folder, self.run_started = run.process, run.folder, run.started

    def check_claim(self, client: Client, project: str) -> None:
        """Refuse to touch a drill that another run makes, or that is in another account.

        With the token of another account, nothing of it would be found, and so all of it be forgotten.

        :raises Invalid: naming the process of the run, or saying that the token is another's.
        """
        if self.account is not None and account_of(client) not in (None, self.account):
            raise Invalid(
                f"the drill in project {project!r} was made with the token of another account, where it may "
                "still be billed. Nothing was done. Use that token, or give this drill another project"
            )
        if self.run_process is None or self.run_folder is None:
            return
        other = Run(self.run_process, self.run_folder, self.run_started)
        if other != Run.of_task() and other.goes_on():
            raise Invalid(
                f"process {other.process} on this controller is running a drill in project {project!r}. "
                "Nothing was done. Wait until that has ended, or give this drill another project"
            )

    @contextmanager
    def ordering(self, original: str, clock: PlatformClock) -> Iterator[None]:
        """Note when an order is sent; see :meth:`MadeRecord.ordering`."""
        with self.lock:
            self.touch(original)
            if (gone := self.ids.get(original)) and not self._has_filled(original, gone):
                self.lost.append(gone)
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
            if self.ids.get(key) != id or self._has_filled(key, id):
                self.replacing.setdefault(id, self.touched[key])
            self.ids[key] = self.begun[key] = id
            self.write()

    def end(self, key: str, id: str, facts: Mapping[str, Any]) -> None:
        """Note what a service got."""
        with self.lock:
            self.restored[key] = {**facts, "id": id}
            self.replacing.pop(id, None)
            self.write()

    def note(self, project_id: str | None, ids: Mapping[str, str]) -> None:
        """Note the ids that are known by now."""
        with self.lock:
            self.project_id = project_id or self.project_id
            self.ids.update(ids)
            self.write()

    def has_restored(self, key: str, member: Member | None) -> bool:
        """Tell whether a service has got its content already."""
        return member is not None and self._has_filled(key, member.id)

    def _has_filled(self, key: str, id: str) -> bool:
        return bool(self.restored.get(key, {}).get("id") == id)

    def unfilled(self) -> dict[str, datetime]:
        """Return by id from when on copies of a service are not of what it is to hold.

        Backup plans copy what the recovery has ordered and not filled yet, too.
        """
        filled = {each.get("id") for each in self.restored.values()}
        ordered = {*self.ids.values(), *self.lost} - filled
        since = {id: parse_moment(text) or EVER for id, text in self.replacing.items()}
        return {**dict.fromkeys(ordered, EVER), **since}

    def may_replace(self, key: str, id: str) -> bool:
        """Tell whether what a service holds comes from this recovery, though perhaps not all of it."""
        return self.begun.get(key) == id

    def in_use_since(self, key: str) -> datetime | None:
        """Return from when on what is written to a service may be somebody else's; ``None`` if not known."""
        touched = parse_moment(self.touched.get(key))
        return None if touched is None else touched + IN_USE

    def forget(self) -> None:
        """Remove the record."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)
