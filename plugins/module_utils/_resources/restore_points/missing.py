# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Copies that disappear without a task deleting them: at a limit, or with a rollback.

The number of copies that a service may have is not documented (Limits).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from ..._api.models import Backup, Service, Snapshot
from ..._api.text import first_of
from ..services.lookup import label
from ..shared.options import Options
from ..shared.plan import Task

C = TypeVar("C", Backup, Snapshot)
MAX_NAMED_COPIES = 5


def missing_from(before: Iterable[C], now: Iterable[C]) -> list[C]:
    """Return the copies that no longer exist. Snapshots are identified by name."""
    there = {copy.id or copy.name for copy in now}
    return [copy for copy in before if (copy.id or copy.name) not in there]


def warn_of_missing(
    task: Task[Options], kind: str, service: Service, what: str, gone: Sequence[Backup | Snapshot]
) -> None:
    """Warn of copies that disappeared with ``what``, though the task did not delete them."""
    if not gone:
        return
    named = [f"{copy.name!r} of {copy.created_at or 'unknown date'}" for copy in gone]
    task.warn(
        f"after {what}, {len(gone)} {kind}{'s' if len(gone) > 1 else ''} of {label(service)} "
        f"{'are' if len(gone) > 1 else 'is'} no longer on its list: {first_of(named, MAX_NAMED_COPIES)}. "
        "This task did not delete them: the platform may have deleted them to make room, or another run may "
        "have"
    )
