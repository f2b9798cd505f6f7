# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recovery makes and where, and what it may write there: what it made itself, or is told to overwrite.

What it has made and restored is remembered on the controller. A service that was restored is in use from
then on. So it gets the content of a copy once, and never again unless that is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Literal, NamedTuple

from ..._api.client import Client
from ..._api.errors import HostedError
from ..._api.models import Service
from ..._api.platform_clock import PlatformClock
from ..._api.values import ServiceStatus
from ..blueprints.contents import Contents
from ..blueprints.document import Entry
from ..blueprints.members import Member, Members, check_no_id
from ..blueprints.removal import list_members
from ..clones.source import FilledOptions, Wanted, check_filled
from ..clones.target import (
    check_not_elsewhere,
    check_own,
    find_there,
    members_named,
    recognize,
)
from ..shared.connecting import account_of
from ..shared.identify import label
from ..shared.made_record import MadeRecord
from ..shared.options import FilePath, option
from ..shared.plan import Task
from ..shared.restore_points import parse_moment
from ..shared.run_memory import Run
from ..shared.store import Record
from ..shared.task_errors import Invalid
from ..shared.time_zones import current_time

IN_USE = timedelta(hours=1)
"""How long after the last that a recovery did with a service somebody else may use it."""


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(FilledOptions):
    copies: FilePath | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    drill: bool = False
    before: str | None = option(None, selects=True)
    copies_of: dict[str, Any] | None = None
    existing: Literal["refuse", "keep"] = "refuse"
    overwrite: list[str] = option([])


def check_options(options: RecoverOptions) -> None:
    check_filled(options)
    if options.drill and options.overwrite:
        raise Invalid("a drill overwrites nothing; leave out overwrite, or drill")
    if options.drill and options.existing == "keep":
        raise Invalid("a drill has a project of its own; leave out existing: keep, or drill")
    latest_of(options)


def latest_of(options: RecoverOptions) -> datetime | None:
    """Return the moment after which no copy counts; ``None`` if all do."""
    if options.before is None:
        return None
    found = parse_moment(options.before)
    if found is None:
        raise Invalid(f"before is {options.before!r}, which is no moment; write it as 2026-11-24T03:00:00Z")
    return found


def key_of(contents: Contents, wanted: str, option: str) -> str:
    """Return the key of what an option names by its key, name or slug."""
    entries = contents.described
    alike = [each.key for each in entries if wanted == each.name]
    found = [wanted] if wanted in {each.key for each in entries} else alike
    if len(found) != 1:
        known = ", ".join(sorted(each.key for each in entries))
        raise Invalid(f"{option} names {wanted!r}; the keys of the blueprint are {known}")
    return found[0]


def wanted_of(contents: Contents) -> list[Wanted]:
    entries = contents.described
    return [Wanted(each.key, each.key, each.name, each.section == "applications") for each in entries]


def contents_of(
    options: RecoverOptions,
    file: Contents,
    own: Mapping[str, Mapping[str, Any]],
    *,
    names: Mapping[str, str],
    there: Mapping[str, Member],
    kept: Collection[str] = (),
) -> tuple[Contents, dict[str, str]]:
    """Return what is made, and by key whether a service runs then. ``kept`` is there and left as it is."""
    states: dict[str, str] = {}
    node = {"host": options.host} if options.host else {}

    def entry_of(entry: Entry) -> Entry:
        name, member = names[entry.key], there.get(entry.key)
        values: dict[str, Any] = {}
        if entry.key not in kept:
            values = {**entry.values, **node, **own[entry.key]}
        if state := values.pop("state", None):
            states[entry.key] = str(state)
        values.pop("id", None)
        values["slug" if entry.section == "applications" else "name"] = member.name if member else name
        if entry.section == "services":
            values |= {"id": member.id} if member else {}
        return replace(entry, values=values, references=() if entry.key in kept else entry.references)

    made = replace(
        file,
        project=options.project or file.project,
        was=None if is_beside(options, file) else file.was,
        services=[entry_of(each) for each in file.services],
        applications=[entry_of(each) for each in file.applications],
        ssh_keys=() if options.drill else file.ssh_keys,
        plans={},
    )
    return made, states


def is_beside(options: RecoverOptions, file: Contents) -> bool:
    """Tell whether the project is another one than that of the file, which may still be there."""
    return options.project not in (None, file.project)


def projects_of(file: Contents) -> Sequence[str]:
    return [name for name in (file.project, file.was) if name]


class Span(NamedTuple):
    """From when on, or ever, and until when, or still, a service did not hold what it is to hold."""

    since: datetime | None
    until: datetime | None

    def holds(self, moment: datetime) -> bool:
        return not ((self.since and moment < self.since) or (self.until and self.until <= moment))


@dataclass
class RecoveryRecord(MadeRecord):
    """What was made for the entries of a blueprint, by their keys, and what they got."""

    folder: ClassVar[str] = "recoveries"
    subject: ClassVar[str] = "recovery"

    drill: bool = False
    """Whether all of it is only a drill, so that it may be deleted."""
    begun: dict[str, str] = field(default_factory=dict)
    """By key: the id of the service whose content has begun to be replaced."""
    restored: dict[str, str] = field(default_factory=dict)
    """By key: the id of the service that has got its content."""
    touched: dict[str, datetime] = field(default_factory=dict)
    """By key: when the service was ordered, or its content begun to be replaced, by this machine's clock."""
    lacking: dict[str, list[Span]] = field(default_factory=dict)
    """By id."""
    account: str | None = None
    run: Run | None = None
    """The run that makes the drill, or made it last."""

    def claim(self, client: Client) -> None:
        """Note that the run of this task makes the drill, and in which account."""
        with suppress(HostedError):
            self.account = account_of(client)
        self.run = Run.of_task() or self.run

    def check_claim(self, client: Client, project: str) -> None:
        """Refuse a drill of another run, or of another account, by whose token it would be forgotten."""
        account = None
        with suppress(HostedError):
            account = account_of(client) if self.account else None
        if account not in (None, self.account):
            raise Invalid(
                f"the drill in project {project!r} was made with the token of another account, where it may "
                "still be billed. Nothing was done. Use that token, or give this drill another project"
            )
        other = self.run
        if other and other != Run.of_task() and other.goes_on():
            raise Invalid(
                f"process {other.process} on this controller is running a drill in project {project!r}. "
                "Nothing was done. Wait until that has ended, or give this drill another project"
            )

    @contextmanager
    def ordering(self, original: str, clock: PlatformClock) -> Iterator[None]:
        """Note when an order is sent as :meth:`MadeRecord.ordering` does, and forget what was restored."""
        with self.lock:
            self.touched[original] = current_time()
            if gone := self.ids.get(original):
                self._spans(gone)  # its copies may stay
            for known in (self.begun, self.restored):
                known.pop(original, None)
        with super().ordering(original, clock):
            yield

    def begin(self, key: str, id: str) -> None:
        with self.lock:
            self.touched[key] = current_time()
            spans = self._spans(id)
            if not spans or spans[-1].until:
                spans.append(Span(self.touched[key], None))
            self.ids[key] = self.begun[key] = id
            self.write()

    def end(self, key: str, id: str) -> None:
        with self.lock:
            self.restored[key] = id
            self.leave([id])

    def leave(self, ids: Iterable[str]) -> None:
        """Note that what services hold from now on is what they are to hold, though they get no copy."""
        now = datetime.now(UTC)
        with self.lock:
            for id in ids:
                self.lacking[id] = [each._replace(until=each.until or now) for each in self._spans(id)]
            self.write()

    def note(self, project_id: str | None, ids: Mapping[str, str]) -> None:
        with self.lock:
            self.project_id = project_id or self.project_id
            self.ids.update(ids)
            self.write()

    def _spans(self, id: str) -> list[Span]:
        """Return when a service lacked its content. One that was ordered has done so ever since."""
        made = id in self.ids.values()
        return self.lacking.setdefault(id, [Span(None, None)] if made else [])

    def unfilled(self) -> dict[str, list[Span]]:
        """Return by id when a service lacked its content: backup plans may have copied it all the same."""
        return {id: self._spans(id) for id in {*self.ids.values(), *self.lacking}}

    def in_use_since(self, key: str) -> datetime | None:
        """Return from when on what is written to a service may be somebody else's; ``None`` if not known."""
        touched = self.touched.get(key)
        return touched and touched + IN_USE

    def forget(self) -> None:
        Record(self.kind(), self.path).remove()


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
        return {key for key in self.there if key not in self.overwrite and not self.is_own(key)}

    def lacks_content(self, key: str) -> bool:
        if key in self.overwrite:
            return True
        there = self.there.get(key)  # it may have had another key in the file when it was restored
        return self.is_own(key) and (there is None or there.id not in self.record.restored.values())

    def holds_anything(self, key: str) -> bool:
        """Tell whether a service holds what the recovery did not bring, though perhaps not only that."""
        member = self.there.get(key)
        if member is None:
            return False
        begun = any(span.since for span in self.record.lacking.get(member.id, []))
        return key in self.overwrite or begun

    def read_own(self, task: Task[Any]) -> Service:
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
    options = task.options
    name = options.project or file.project
    check_no_id(name, task.account.projects())
    check_drill(options, file, record)
    members = members_named(task.account, name)
    if members:
        recognize(task, record, members)
        if options.drill:
            check_made_by_drill(members, record)
    wanted = wanted_of(file)
    # A drill has to delete what it made, also what its file does not name any more.
    made_for = record.ids if options.drill else [each.key for each in wanted]
    check_not_elsewhere(task.account, record, made_for, members)
    there = find_there(task, wanted, names, members, record)
    target = Target(record, there, frozenset(key_of(file, each, "overwrite") for each in options.overwrite))
    foreign = [there[key] for key in sorted(target.kept)]
    if foreign and options.existing == "refuse":
        are = "is" if len(foreign) == 1 else "are"
        raise Invalid(
            f"{list_members(foreign)} {are} there, and this recovery did not make it. What it holds may be "
            "newer than any copy. Nothing was done. existing: keep recovers the rest and leaves what these "
            "hold as it is; overwrite names those whose content is to be replaced by the copy; project gives "
            "the recovery another project"
        )
    return target


def check_drill(options: RecoverOptions, file: Contents, record: RecoveryRecord) -> None:
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


def check_made_by_drill(members: Members, record: RecoveryRecord) -> None:
    project = members.project
    if not record.known or record.project_id not in (None, project.id):
        raise Invalid(
            f"project {project.name!r} exists, and no drill from this controller made it, so a drill, which "
            "deletes its project, is refused there. Nothing was done. Give the drill another project"
        )
    if foreign := [each for each in members.found if not record.made(each)]:
        raise Invalid(
            f"project {project.name!r} of the drill has {list_members(foreign)}, which the drill did not "
            "make. Nothing was done. Move that elsewhere, or give the drill another project"
        )
