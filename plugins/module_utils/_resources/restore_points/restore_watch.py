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

from ..._api.errors import HostedError
from ..._api.models import Service
from ..shared.busy_retry import QuietOptions
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import Transition, wait_through

T = TypeVar("T")
EVENTS_READ = 20


@dataclass(frozen=True)
class Observation:
    """What one look shows: the status of the backup, and the newest event of the journal.

    An event of ``None`` is one that could not be read, or that nobody needs to know any more. Where the
    journal is empty, it is an empty string.
    """

    status: str | None
    event: str | None = None


@dataclass(frozen=True)
class RestoreTrace:
    """What a restore or a rollback left behind, once it was waited for.

    ``events`` are the types of the events that the journal gained, the newest first; ``None`` where it could
    not be read.
    """

    start_seen: bool
    events: list[str] | None


def observe_restore(
    task: Task[QuietOptions], service: Service, status: str | None, last: Observation | None = None
) -> Observation:
    """Look at the journal. Where it cannot be read now, it is taken to be as it was at ``last``."""
    event = none_on_error(lambda: next((event.id for event in task.client.events(service.id, 1)), ""))
    return Observation(status, last.event if event is None and last else event)


def none_on_error(read: Callable[[], T]) -> T | None:
    """Read a mere sign: where it cannot be read, the others tell."""
    try:
        return read()
    except HostedError:
        return None


def quiet_seconds(task: Task[QuietOptions]) -> float:
    """Return the quiet time. A short wait makes it shorter, as a change begins it anew within that wait."""
    return float(min(task.options.quiet_time, task.options.wait_timeout / 2))


def await_restore(
    task: Task[QuietOptions],
    what: str,
    read: Callable[[], Observation],
    before: Observation,
    under_way: Callable[[Observation], bool],
) -> Transition[Observation]:
    """Wait until ``what`` was seen to begin and to end, or until nothing changed for the quiet time."""
    return wait_through(
        task, read, under_way, describe_observation, what, before=before, quiet=quiet_seconds(task)
    )


def describe_observation(sight: Observation) -> str:
    """Say where things stand."""
    return f"the backup is {sight.status}" if sight.status else "the platform does not show how far it is"


def warn_unseen(task: Task[QuietOptions], what: str, missed: str) -> None:
    """Say that nobody saw the start, and what that means. ``missed`` is what would have shown it."""
    task.warn(
        f"the start of {what} was not seen: {missed} for {quiet_seconds(task):g} seconds. It is assumed to "
        "be done, but that is not certain. Check the files of the service before you use it; raise "
        "quiet_time if the platform begins later than that"
    )


def trace_of(
    task: Task[QuietOptions],
    service: Service,
    what: str,
    before: Observation,
    *,
    seen: bool,
) -> RestoreTrace:
    """Return what ``what`` left behind.

    A restore or a rollback that failed may leave everything as it was. What would tell is an event.

    :raises WaitEnded: when the journal says that it failed.
    """
    last = before.event  # an old failure is no sign, so where it is not known, nothing is
    gained = None if last is None else none_on_error(lambda: events_since(task, service, last))
    failed = [kind for kind in gained or () if kind.endswith("_FAILED")]
    if failed:
        raise WaitEnded(
            f"{what} failed: the journal has {failed[0]} since. The call was not sent again. Check the "
            "files of the service before you use it",
            events=gained,
        )
    return RestoreTrace(seen, gained)


def events_since(task: Task[QuietOptions], service: Service, last: str) -> list[str]:
    """Return the types of the events after the one of the id ``last``, the newest first."""
    types: list[str] = []
    for event in task.client.events(service.id, EVENTS_READ):
        if event.id == last:
            break
        types.append(str(event.type))
    return types
