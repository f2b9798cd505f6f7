# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of copies that the platform may normalize: with dashes, in lower case, or truncated.

The characters allowed in the name of a backup or a snapshot are not documented (Backups and snapshots).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..._api.models import Backup, Service, Snapshot
from ..services.lookup import label
from ..shared.names import normalized, same_name
from ..shared.options import Options
from ..shared.plan import Task
from ..shared.task_errors import Invalid

C = TypeVar("C", Backup, Snapshot)


def possible_names(name: str, copies: Iterable[Backup | Snapshot]) -> list[str]:
    """Return the names of copies that may be the platform's form of ``name``, which none of them has."""
    return sorted({copy.name for copy in copies if copy.name != name and same_name(copy.name, name)})


def new_copies_named(name: str, fresh: Sequence[C]) -> list[C]:
    """Return the new copies that have this name or a possible form of it."""
    exact = [copy for copy in fresh if copy.name == name]
    if exact:
        return exact
    wanted = normalized(name)
    return [copy for copy in fresh if normalized(copy.name) and wanted.startswith(normalized(copy.name))]


def name_hint(name: str, copies: Iterable[Backup | Snapshot]) -> str:
    """Return a clause on names that may be this one; empty if there are none."""
    close = possible_names(name, copies)
    if not close:
        return ""
    listed = ", ".join(repr(other) for other in close)
    return f". There is {listed}, which may be the platform's form of {name!r}; use that name if you mean it"


def check_distinct_name(kind: str, service: Service, name: str, copies: Iterable[Backup | Snapshot]) -> None:
    """Check that no existing copy may have a normalized form of the name.

    :raises Invalid: if one does: otherwise each run would make another copy.
    """
    close = possible_names(name, copies)
    if close:
        raise Invalid(
            f"{label(service)} has no {kind} named {name!r}, but {close[0]!r}, which may be the platform's "
            f"form of it. Use that name if you mean it; for another {kind}, choose a name that differs in "
            "more than case, blanks and punctuation"
        )


def warn_of_changed_name(
    task: Task[Options], kind: str, service: Service, name: str, made: Backup | Snapshot
) -> None:
    """Warn that the platform gave a copy another name than requested."""
    if made.name != name:
        task.warn(
            f"the platform named the {kind} of {label(service)} {made.name!r} in place of {name!r}; use that "
            "name in all tasks, because none finds it by the other one"
        )
