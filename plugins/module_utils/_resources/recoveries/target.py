# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a recovery goes, and what it may write there: what it made itself, or is told to overwrite.

What it has made and restored is remembered on the controller. A service that was restored is in use from
then on. So it gets the content of a copy once, and never again unless that is said.
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
from ..._api.models import Service
from ..._api.platform_clock import PlatformClock
from ..._api.values import ServiceStatus
from ..blueprints.contents import Contents
from ..blueprints.members import Member, Members, check_no_id
from ..blueprints.removal import list_members
from ..clones.target import (
    MadeRecord,
    check_not_elsewhere,
    check_own,
    find_there,
    members_named,
    recognize,
)
from ..shared.connecting import owner_of
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.run_memory import Run
from ..shared.task_errors import Invalid
from ..shared.time_zones import current_time
from .rules import RecoverOptions, is_beside, key_of, projects_of, wanted_of

IN_USE = timedelta(hours=1)
"""How long after the last that a recovery did with a service somebody else may use it."""


class Span(NamedTuple):
    """From when on, or ever, and until when, or still, a service did not hold what it is to hold."""

    since: datetime | None
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
    touched: dict[str, datetime] = field(default_factory=dict)
    """By key: when the service was ordered, or its content begun to be replaced, by this machine's clock."""
    lacking: dict[str, list[Span]] = field(default_factory=dict)
    """By id."""
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
        """Note when an order is sent as :meth:`MadeRecord.ordering` does, and forget what was restored."""
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
            self.touched[key] = current_time()

    def begin(self, key: str, id: str) -> None:
        """Note that the content of a service is going to be replaced."""
        with self.lock:
            self.touch(key)
            spans = self._spans(id)
            if not spans or spans[-1].until:
                spans.append(Span(self.touched[key], None))
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

    def has_restored(self, member: Member | None) -> bool:
        """Tell whether a service has got its content already, by whatever key it has in the file now."""
        return member is not None and any(each.get("id") == member.id for each in self.restored.values())

    def _spans(self, id: str) -> list[Span]:
        """Return when a service lacked its content. One that was ordered has done so ever since."""
        made = id in self.ids.values()
        return self.lacking.setdefault(id, [Span(None, None)] if made else [])

    def _fill(self, id: str) -> None:
        """Note that from now on a service holds what it is to hold."""
        now = datetime.now(UTC)
        self.lacking[id] = [each._replace(until=each.until or now) for each in self._spans(id)]

    def unfilled(self) -> dict[str, list[Span]]:
        """Return by id when copies of a service were not of what it is to hold.

        Backup plans copy what the recovery has ordered and not filled yet, too.
        """
        return {id: self._spans(id) for id in {*self.ids.values(), *self.lacking}}

    def may_replace(self, key: str, id: str) -> bool:
        """Tell whether what a service holds comes from this recovery, though perhaps not all of it."""
        return self.begun.get(key) == id

    def in_use_since(self, key: str) -> datetime | None:
        """Return from when on what is written to a service may be somebody else's; ``None`` if not known."""
        touched = self.touched.get(key)
        return touched and touched + IN_USE

    def forget(self) -> None:
        """Remove the record, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)


# --- Where it goes ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """The project that is made, with what is in it already."""

    record: RecoveryRecord
    there: Mapping[str, Member] = field(default_factory=dict)
    """By key: what stands for an entry."""
    overwrite: frozenset[str] = frozenset()
    """The keys whose content is replaced, whoever made it."""

    def is_own(self, key: str) -> bool:
        """Tell whether what stands for an entry was made by the recovery, or will be."""
        return key not in self.there or self.record.made(self.there[key])

    @property
    def kept(self) -> set[str]:
        """The keys of what is left as it is."""
        return {key for key in self.there if key not in self.overwrite and not self.is_own(key)}

    def lacks_content(self, key: str) -> bool:
        """Tell whether an entry is to get what its copy holds."""
        if key in self.overwrite:
            return True
        return self.is_own(key) and not self.record.has_restored(self.there.get(key))

    def holds_anything(self, key: str) -> bool:
        """Tell whether a service holds what the recovery did not bring, though perhaps not only that."""
        member = self.there.get(key)
        if member is None:
            return False
        begun = any(since for since, _until in self.record.lacking.get(member.id, []))
        return key in self.overwrite or begun

    def read_own(self, task: Task[Any]) -> Service:
        """Return the service that a part is about to write to, read again."""
        options = task.options
        service = check_own(task, options.service, None, options.project_id, "recovery")
        there = self.there.get(options.key)
        told_to = options.key in self.overwrite and there is not None and there.id == service.id
        if not told_to and service.id not in self.record.ids.values():
            raise Invalid(
                f"service {service.id} was there before, and this recovery did not make it, so nothing was "
                f"written to it. If what it holds is to be replaced by a copy, name {options.key!r} in "
                "overwrite"
            )
        if service.status == ServiceStatus.SUSPENDED:
            raise Invalid(f"{label(service)} is suspended, so it cannot get its content; resume it first")
        return service


def find_target(
    task: Task[RecoverOptions], file: Contents, names: Mapping[str, str], record: RecoveryRecord
) -> Target:
    """Return where a recovery goes.

    :raises Invalid: if it must not go there.
    """
    options = task.options
    name = options.project or file.project
    check_no_id(name, task.account.projects())
    check_drill(options, file, record)
    members = members_named(task.account, name)
    if members:
        recognize(task, record, members)
        check_made_by_drill(options, members, record)
    wanted = wanted_of(file)
    # A drill has to delete what it made, also what its file does not name any more.
    made_for = record.ids if options.drill else [each.key for each in wanted]
    check_not_elsewhere(task.account, record, made_for, members)
    there = find_there(task, wanted, names, members, record)
    overwrite = frozenset(key_of(file, each, "overwrite") for each in options.overwrite)
    target = Target(record, there, overwrite)
    check_existing(options, target)
    return target


def check_drill(options: RecoverOptions, file: Contents, record: RecoveryRecord) -> None:
    """Keep drills and what is meant to last apart."""
    if options.drill and (options.project in projects_of(file) or not is_beside(options, file)):
        raise Invalid(
            f"a drill is deleted afterwards, so it must not be in project {file.project!r} itself; set "
            f"project to another name, such as {file.project}-drill"
        )
    if record.known and record.drill is not options.drill:
        was = "a drill" if record.drill else "a recovery that is meant to last"
        raise Invalid(
            f"project {options.project or file.project!r} was made by {was}; "
            f"set drill: {str(record.drill).lower()}, or give another project"
        )


def check_made_by_drill(options: RecoverOptions, members: Members, record: RecoveryRecord) -> None:
    """Refuse a drill in a project that no drill made, or that holds anything else by now."""
    if not options.drill:
        return
    project = members.project
    if not record.known or record.project_id not in (None, project.id):
        raise Invalid(
            f"project {project.name!r} exists, and no drill from this controller made it, so a drill, which "
            "deletes its project, is refused there. Nothing was done. Give the drill another project"
        )
    foreign = [each for each in members.found if not record.made(each)]
    if foreign:
        raise Invalid(
            f"project {project.name!r} of the drill has {list_members(foreign)}, which the drill did not "
            "make. Nothing was done. Move that elsewhere, or give the drill another project"
        )


def check_existing(options: RecoverOptions, target: Target) -> None:
    """Refuse what is there and was not made by the recovery, unless it is said what becomes of it."""
    foreign = [target.there[key] for key in sorted(target.kept)]
    if foreign and options.existing == "refuse":
        are = "is" if len(foreign) == 1 else "are"
        raise Invalid(
            f"{list_members(foreign)} {are} there, and this recovery did not make it. What it holds may be "
            "newer than any copy. Nothing was done. existing: keep recovers the rest and leaves what these "
            "hold as it is; overwrite names those whose content is to be replaced by the copy; project gives "
            "the recovery another project"
        )
