# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a recovery goes, and what it may write there: what it made itself, or is told to overwrite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..._api.models import Service
from ..._api.values import ServiceStatus
from ..blueprints.contents import Contents
from ..blueprints.members import Member, Members, check_no_id
from ..clones.target import (
    check_not_elsewhere,
    check_own,
    describe,
    find_there,
    members_named,
    recognize,
)
from ..shared.identify import label
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .record import RecoveryRecord
from .rules import RecoverOptions, is_beside, keys_of, projects_of, wanted_of


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
        return self.is_own(key) and not self.record.has_restored(key, self.there.get(key))

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
    """Return where a recovery goes."""
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
    target = Target(record, there, frozenset(keys_of(file, options.overwrite, "overwrite")))
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
            f"project {project.name!r} of the drill has {describe(foreign)}, which the drill did not make. "
            "Nothing was done. Move that elsewhere, or give the drill another project"
        )


def check_existing(options: RecoverOptions, target: Target) -> None:
    """Refuse what is there and was not made by the recovery, unless it is said what becomes of it."""
    foreign = [target.there[key] for key in sorted(target.kept)]
    if foreign and options.existing == "refuse":
        are = "is" if len(foreign) == 1 else "are"
        raise Invalid(
            f"{describe(foreign)} {are} there, and this recovery did not make it. What it holds may be newer "
            "than any copy. Nothing was done. existing: keep recovers the rest and leaves what these hold as "
            "it is; overwrite names those whose content is to be replaced by the copy; project gives the "
            "recovery another project"
        )
