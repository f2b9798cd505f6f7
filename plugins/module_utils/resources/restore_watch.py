# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeing a restore or a rollback begin and end, on a platform that may show that late or not at all.

Neither the answers of their routes are shown, nor when a backup becomes RESTORING (Backups and snapshots).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from ..api.errors import HostedError
from ..api.models import Service
from .plan import Task
from .service_view import read_state
from .waiting import Passage, wait_through

T = TypeVar("T")


@dataclass(frozen=True)
class Sight:
    """What one look shows: the status of the backup, the container's state, the newest event of the journal.

    A state or event of ``None`` is one that could not be read, or that nobody needs to know any more.
    """

    status: str | None
    state: str | None = None
    event: str | None = None


def look(task: Task, service: Service, status: str | None, last: Sight | None = None) -> Sight:
    """Look at the container and the journal. What cannot be read now is taken to be as it was at ``last``."""
    last = last or Sight(status)
    state = unless_hidden(lambda: read_state(task, service.id))
    event = unless_hidden(lambda: newest_event(task, service))
    return Sight(status, state or last.state, event or last.event)


def newest_event(task: Task, service: Service) -> str | None:
    """Return the id of the newest event, ``None`` when there is none."""
    return next((event.id for event in task.client.events(service.id, 1)), None)


def unless_hidden(read: Callable[[], T]) -> T | None:
    """Read a mere sign: where it cannot be read, the others tell."""
    try:
        return read()
    except HostedError:
        return None


def quiet_seconds(task: Task) -> float:
    """Return the quiet time. A short wait makes it shorter, as a change begins it anew within that wait."""
    return float(min(task.options["quiet_time"], task.options["wait_timeout"] / 2))


def see_through(
    task: Task, what: str, read: Callable[[], Sight], before: Sight, under_way: Callable[[Sight], bool]
) -> Passage[Sight]:
    """Wait until ``what`` was seen to begin and to end, or until nothing changed for the quiet time."""
    return wait_through(task, read, under_way, describe, what, before=before, quiet=quiet_seconds(task))


def describe(sight: Sight) -> str:
    """Say where things stand."""
    status = f"the backup is {sight.status}" if sight.status else "the platform does not show how far it is"
    return f"{status}, the container {sight.state}" if sight.state else status


def warn_unseen(task: Task, what: str, missed: str) -> None:
    """Say that nobody saw the start, and what that means. ``missed`` is what would have shown it."""
    task.warn(
        f"the start of {what} was not seen: {missed} for {quiet_seconds(task):g} seconds. It is taken for "
        "done, but that is not certain. Look at the files of the service before it is used; raise quiet_time "
        "if the platform begins later than that"
    )
