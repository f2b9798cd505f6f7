# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a blueprint that has the former name of a relocated service from leading back to that.

The same goes for a service that is stopped while a relocation is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..._api.client import Client
from ..._api.errors import HostedError
from ..._api.values import ContainerState, ServiceStatus
from ..blueprints.contents import Contents, references_in
from ..blueprints.parts import Part
from ..services.lookup import find_staying
from ..shared.options import StateDirOptions
from ..shared.plan import Task
from ..shared.relocation_record import OLD_STOPPED, Phase, Relocation
from ..shared.task_errors import Invalid
from .named import relocated_away


@dataclass
class Former:
    """A service that the blueprint names, and that a relocation left over, or stopped on its way."""

    id: str
    relocation: Relocation
    part: Part | None = None
    """Its part, if the blueprint describes it and does not only refer to it."""
    referring: list[str] = field(default_factory=list)
    """The slugs of the applications that would refer to it."""

    @property
    def under_way(self) -> bool:
        """Whether the relocation is under way."""
        return self.relocation.phase in OLD_STOPPED

    @property
    def name(self) -> str:
        """Its name."""
        content = self.relocation.content
        return content.new_name if self.id == content.new_id else content.old_name

    @property
    def other(self) -> tuple[str, str | None]:
        """The name of the service in its place, and the id of that, if it is known."""
        content = self.relocation.content
        if self.id == content.new_id:
            return content.old_name, content.old_id
        return content.new_name, content.new_id

    @property
    def other_label(self) -> str:
        """The other one, for messages."""
        name, id = self.other
        return f"{name!r} ({id})" if id else repr(name)

    def harm(self) -> Iterator[str]:
        """Return what the blueprint would do that a relocation has to be kept from."""
        if self.part is not None and resumes(self.part):
            yield f"{self.part.label} would be resumed"
        elif self.part is not None and self.under_way and starts(self.part):
            yield f"{self.part.label} would be started"
        if self.relocation.phase is not Phase.STOPPED:  # before the switch, it is right to refer to it
            yield from (f"application {slug!r} would refer to it" for slug in self.referring)

    def in_use(self, client: Client) -> bool:
        """Tell whether it is in service already: somebody uses it on purpose."""
        if self.part is None:
            return not self.under_way and status_of(client, self.id) == ServiceStatus.ACTIVE
        if self.under_way:
            return self.part.result.get("state") == ContainerState.RUNNING and not starts(self.part)
        return self.part.result.get("status") == ServiceStatus.ACTIVE and not resumes(self.part)


def check_relocated(
    task: Task[StateDirOptions],
    contents: Contents,
    parts: Sequence[Part],
    read_aliases: Callable[[], Mapping[str, str]],
) -> None:
    """Refuse to lead applications back to a service that a relocation left over, or to resume it.

    The same goes for one that is stopped while its relocation is under way, which may not be started either.
    Where the blueprint does no such thing, or the owner went back without the relocation, this only warns.

    :param read_aliases: reads the aliases in the project by the id of the service.
    :raises Invalid: with what to write.
    """
    away = relocated_away(task.options, task.warn)
    if not away:
        return
    for former in named_in(contents, parts, away, read_aliases()):
        other, in_use = status_of(task.client, former.other[1]), former.in_use(task.client)
        reasons = list(former.harm())
        if reasons and not (in_use and is_meant(former, other)):
            why = "; ".join(reasons)
            raise Invalid(f"{describe(former)}: {why}. Nothing was done. {remedy(former, other, in_use)}")
        task.warn(f"{describe(former)}. {remedy(former, other, in_use)}")


def named_in(
    contents: Contents, parts: Sequence[Part], away: Mapping[str, Relocation], aliases: Mapping[str, str]
) -> list[Former]:
    """Return the services among ``away``, by id, that the blueprint describes or refers to."""
    keys = {entry.key for entry in (*contents.services, *contents.applications)}
    ids = {alias: id for id, alias in aliases.items() if alias not in keys}
    described = {part.key: part for part in parts if part.section == "services" and part.id in away}
    ids |= {key: str(part.id) for key, part in described.items()}
    found = {id: Former(id, away[id], part) for part in described.values() if (id := part.id)}
    for entry in contents.applications:
        for id in sorted({ids[to] for _path, to, _field in references_in(entry) if ids.get(to) in away}):
            found.setdefault(id, Former(id, away[id])).referring.append(entry.name)
    return list(found.values())


def resumes(part: Part) -> bool:
    """Tell whether a service would be resumed."""
    return part.plan is not None and any(move.what == "resume" for move in part.plan.moves)


def starts(part: Part) -> bool:
    """Tell whether a service that does not run would be started."""
    if part.plan is None:
        return False
    before, after = part.plan.before, part.plan.after
    if not (isinstance(before, Mapping) and isinstance(after, Mapping)):
        return False
    return before.get("state") != ContainerState.RUNNING and after.get("state") == ContainerState.RUNNING


def status_of(client: Client, id: str | None) -> str | None:
    """Return the status of a service, ``DELETED`` if it is gone; ``None`` if it is not known."""
    if id is None:
        return None
    try:
        service = find_staying(client, id)
    except HostedError:  # which does not tell that it is gone
        return None
    return service.status if service else ServiceStatus.DELETED


def is_meant(former: Former, other: str | None) -> bool:
    """Tell whether a service that is in use is to be: a refusal would leave the owner no way out."""
    if former.relocation.phase is Phase.FINISHED:  # which cannot go back
        return True
    both = other == ServiceStatus.ACTIVE and not former.under_way
    return both or other == ServiceStatus.DELETED


def describe(former: Former) -> str:
    """Return what the blueprint names, as the beginning of a message."""
    named = f"the blueprint names service {former.name!r} ({former.id})"
    if former.under_way:
        return f"{named}, whose relocation to {former.other[0]!r} is under way"
    return f"{named}, in whose place a relocation put {former.other[0]!r}"


def remedy(former: Former, other: str | None, in_use: bool) -> str:
    """Return what to do about it. ``other`` is the status of the other service."""
    record = repr(former.relocation.file.path)
    if other == ServiceStatus.DELETED:
        return remedy_without_other(former)
    if former.under_way:
        return (
            "If no run of hosted.services.relocate is completing that, run it again, and write "
            f"{former.other[0]!r} there then, or go back with state: returned. The record is {record}"
        )
    if in_use and other == ServiceStatus.ACTIVE:
        return (
            f"{former.other_label} is in service as well. Write that there if it is meant. If both are to "
            f"stay in service, delete the record, {record}"
        )
    way = "go back with state: returned of hosted.services.relocate"
    if former.id == former.relocation.content.new_id:
        way = "relocate it again"
    return f"Write {former.other_label} there in its place, or {way}. The record is {record}"


def remedy_without_other(former: Former) -> str:
    """Return what to do if the service in its place is gone, so that nothing may lead to that."""
    record = repr(former.relocation.file.path)
    gone = f"{former.other_label} does not exist anymore"
    if former.under_way or former.relocation.phase is Phase.RELOCATED:
        return (
            f"{gone}. Run hosted.services.relocate with state: returned, which notes that {former.name!r} is "
            f"in service again. The record is {record}"
        )
    return f"{gone}, so the record is outdated. Delete it: {record}"
