# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds copies by their names, which the platform stores as they were sent."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar
from unicodedata import normalize

from ..._api.models import Backup, Snapshot
from ..shared.options import WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import WaitEnded
from ..shared.waiting import QUIET_SECONDS, wait_until

C = TypeVar("C", Backup, Snapshot)


def named(name: str, copies: Iterable[C]) -> list[C]:
    """Return the copies of this name."""
    wanted = normalize("NFC", name)
    return [copy for copy in copies if normalize("NFC", copy.name) == wanted]


def await_listed(
    task: Task[WaitOptions], what: str, new_ones: Callable[[], list[C]], fresh: Collection[C]
) -> list[C]:
    """Wait until new copies of the requested name, by ``new_ones``, are on the list, and return them.

    :param fresh: all new copies that ``new_ones`` has seen, whatever their names.
    :raises WaitEnded: if one of another name has come in its place, or after ``wait_timeout``.
    """
    since: list[float] = []

    def are_there(found: Sequence[C]) -> bool:
        if found or not fresh:
            return bool(found)
        since.append(time.monotonic())
        if since[-1] - since[0] >= QUIET_SECONDS:
            appeared = " and ".join(f"{copy.name!r} ({copy.id})" for copy in fresh)
            raise WaitEnded(
                f"the platform accepted {what}, and {appeared} appeared: it named it in its own way, or "
                "another run made that. Check the list, and use that name if you mean it. The next run of "
                "this task makes another one"
            )
        return False

    return wait_until(
        task, new_ones, are_there, lambda none: "it is not on the list yet: it is late, or it failed", what
    )
