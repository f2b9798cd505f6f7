# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records settings that take effect at the next start (Settings, rules 3 and 5; Power)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..._api.errors import Refused
from ..shared.options import state_dir_of
from ..shared.pending import AT_DEPLOY, Pending
from ..shared.plan import Task
from ..shared.task_errors import Invalid


def pending_record(task: Task, id: str) -> Pending:
    """Return the record of a service on the task's platform."""
    return Pending.of(state_dir_of(task.options), task.options.base_url, id)


def pending_until_start(task: Task, id: str) -> tuple[str, ...]:
    """Return the kinds of settings that need a start, as far as this controller knows."""
    return tuple(sorted(pending_record(task, id).outstanding().keys() - {*AT_DEPLOY}))


def write_recorded(task: Task, id: str, kind: str, write: Callable[[], object]) -> Callable[[], None]:
    """Record a setting as pending, then write it: the run may be killed in between.

    If the platform refuses the write, the record is removed. Those of earlier writes and of other runs stay.

    :return: what removes the record, if the platform brought the setting into effect at once.
    """
    remove = partial(warn_if_not_writable, task, pending_record(task, id).note(kind))
    try:
        write()
    except Refused as error:
        if error.nothing_done:
            remove()
        raise
    return remove


def until_start(task: Task, id: str) -> Callable[[], None]:
    """Return what removes the records of the settings that a start from here on brings into effect."""
    clear = pending_record(task, id).clearing(pending_until_start(task, id))
    return partial(warn_if_not_writable, task, clear)


def warn_if_not_writable(task: Task, remove: Callable[[], None]) -> None:
    """Remove records. If this fails, the only cost is a needless start later."""
    try:
        remove()
    except Invalid as error:
        task.warn(error.message)
