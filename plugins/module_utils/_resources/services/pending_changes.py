# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Records settings that take effect at the next start (Settings, rules 3 and 5; Power)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ..._api.errors import Refused
from ..shared.options import state_dir_of
from ..shared.pending import AT_START, COMMAND, NETWORK, Pending, is_of_this_run
from ..shared.plan import Task
from ..shared.task_errors import Invalid

SETTING_NAMES = {COMMAND: "launch command", NETWORK: "network setting"}


def pending_record(task: Task, id: str) -> Pending:
    """Return the record of a service on the task's platform."""
    return Pending.of(state_dir_of(task.options), task.options.base_url, id)


def pending_until_start(task: Task, id: str) -> tuple[str, ...]:
    """Return the kinds of settings that need a start, as far as this controller knows."""
    outstanding = pending_record(task, id).outstanding()
    return tuple(kind for kind in AT_START if kind in outstanding)


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
    return partial(warn_if_not_writable, task, pending_record(task, id).clearing(*AT_START))


def warn_if_not_writable(task: Task, remove: Callable[[], None]) -> None:
    """Remove records. If this fails, the only cost is a needless start later."""
    try:
        remove()
    except Invalid as error:
        task.warn(error.message)


def warn_of_pending(task: Task, id: str, label: str, kinds: tuple[str, ...]) -> None:
    """Warn of settings that an earlier run wrote and that are not in effect. This one may have a handler."""
    noted = pending_record(task, id).outstanding()
    for kind in kinds:
        if is_of_this_run(noted.get(kind, {})):
            continue
        task.warn(
            f"the {SETTING_NAMES[kind]} of {label} was changed earlier and is not in effect, as far as this "
            "controller knows: it takes effect at the next start from stop; hosted.services.service with "
            "state: restarted sees to that"
        )
