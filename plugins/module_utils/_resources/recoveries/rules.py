# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the blueprint of a recovery: that of the file, in another project, with other names or with ids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..blueprints.contents import Contents
from ..blueprints.document import Entry
from ..blueprints.members import Member
from ..clones.source import Wanted
from ..shared.task_errors import Invalid
from .options import RecoverOptions


def entries_of(contents: Contents) -> list[Entry]:
    return [*contents.services, *contents.applications]


def key_of(contents: Contents, wanted: str, option: str) -> str:
    """Return the key of what an option names by its key, name or slug."""
    entries = entries_of(contents)
    found = [each for each in entries if wanted == each.key] or [
        each for each in entries if wanted == each.name
    ]
    if len(found) != 1:
        known = ", ".join(sorted(each.key for each in entries))
        raise Invalid(f"{option} names {wanted!r}; the keys of the blueprint are {known}")
    return found[0].key


def keys_of(contents: Contents, wanted: Iterable[str], option: str) -> set[str]:
    return {key_of(contents, each, option) for each in wanted}


def wanted_of(contents: Contents) -> list[Wanted]:
    """Return what there is to be of a project."""
    return [
        Wanted(each.key, each.key, each.name, each.section == "applications") for each in entries_of(contents)
    ]


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
