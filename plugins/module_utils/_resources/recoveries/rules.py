# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a recovery, and the blueprint that it makes by them: that of the file, with other names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from ..blueprints.contents import Contents
from ..blueprints.document import Entry
from ..blueprints.members import Member, described_entries
from ..clones.source import FilledOptions, Wanted, check_filled
from ..shared.options import FilePath, option
from ..shared.restore_points import parse_moment
from ..shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(FilledOptions):
    """The options of module recover."""

    copies: FilePath | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    drill: bool = False
    before: str | None = option(None, selects=True)
    copies_of: dict[str, Any] | None = None
    existing: Literal["refuse", "keep"] = "refuse"
    overwrite: list[str] = option([])


def check_options(options: RecoverOptions) -> None:
    """Check what can be checked before anybody is asked."""
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
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def key_of(contents: Contents, wanted: str, option: str) -> str:
    """Return the key of what an option names by its key, name or slug."""
    entries = described_entries(contents)
    found = [each for each in entries if wanted == each.key] or [
        each for each in entries if wanted == each.name
    ]
    if len(found) != 1:
        known = ", ".join(sorted(each.key for each in entries))
        raise Invalid(f"{option} names {wanted!r}; the keys of the blueprint are {known}")
    return found[0].key


def wanted_of(contents: Contents) -> list[Wanted]:
    """Return what there is to be of a project."""
    entries = described_entries(contents)
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
    """Return what is made, and by key whether a service runs once it has its content.

    :param kept: the keys of what is there and left as it is.
    """
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
    """Return the names under which the copies may know the project."""
    return [name for name in (file.project, file.was) if name]
