# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a blueprint said when it was last applied from this controller, as fingerprints.

It is no state that anything is compared with: the platform is. Where the two differ, it tells which of them
was changed since, the file or the platform.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence

from ..._api.values import ServiceStatus
from ..shared.identify import label
from ..shared.options import StateDirOptions
from ..shared.pending import Fingerprints, Prints
from ..shared.plan import Task
from ..shared.store import Kind
from ..shared.task_errors import Invalid
from .contents import Contents
from .document import Entry
from .members import needed_by_relocations
from .parts import Part, service_ids

APPLIED = Kind("blueprints", Prints, "the record of what a blueprint said", hint=True)
NAMES = "names."
"""Followed by a name, whatever key it had in the file."""
ENTRY = "entry"
"""The field that stands for an entry as such."""


def last_applied(options: StateDirOptions, project: str) -> Fingerprints:
    """Return what was last applied to a project; nothing is known if its file is damaged."""
    record = APPLIED.of(options.base_url, f"blueprint of {project}", options.state_dir)
    return Fingerprints.at(record, project)


def remember(task: Task[StateDirOptions], contents: Contents, failed: Collection[tuple[str, str]]) -> None:
    """Remember what was applied. Of entries that failed, by section and key, keep what was known before."""
    last = last_applied(task.options, contents.project)
    kept = tuple(f"{section}.{key}." for section, key in failed)
    stale = {name: value for name, value in last.prints.items() if name.startswith((NAMES, *kept))}
    fresh = {
        name: last.of(name, value)
        for entry in contents.entries
        if (entry.section, entry.key) not in failed
        for name, value in facts_of(entry)
    }
    try:
        last.restore({**stale, **fresh})
    except Invalid as error:
        task.warn(
            f"{error.message}. Until then, blueprint_info cannot tell whether the file or the platform was "
            "changed"
        )


def warn_of_dropped(task: Task[StateDirOptions], contents: Contents, parts: Sequence[Part]) -> None:
    """Warn of services that an earlier file of this controller had, and that are still there without it.

    Those that a relocation needs are left alone.
    """
    last, home = last_applied(task.options, contents.project), parts[0].id
    names = {entry.name for entry in contents.entries}
    dropped = {path.removeprefix(NAMES) for path in last.prints if path.startswith(NAMES)} - names
    page = task.account.page(home) if dropped and home else None
    described = service_ids(parts)
    found = [
        service
        for service in (page.resources if page else ())
        if service.name in dropped
        and service.id not in described
        and service.status not in ServiceStatus.DELETING_OR_DELETED
    ]
    needed = needed_by_relocations(task.options, contents, found)
    for service in found:
        if service.id not in needed:
            task.warn(
                f"{label(service)} is not in the blueprint any more, and is still there and billed. prune: "
                "true deletes it"
            )


def facts_of(entry: Entry) -> Iterator[tuple[str, str]]:
    """Yield each field of an entry with its value as text."""
    yield path_of(entry, ENTRY), entry.name
    yield f"{NAMES}{entry.name}", ""
    for name, value in entry.values.items():
        yield path_of(entry, name), as_text(value)


def path_of(entry: Entry, name: str) -> str:
    """Return where a field is in the blueprint."""
    return f"{entry.section}.{entry.key}.{name}"


def as_text(value: object) -> str:
    """Return a value as text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, default=str)
