# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds copies by their names, which the platform stores as they were sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar
from unicodedata import category

from ..._api.models import Backup, Snapshot
from ..shared.names import same_name
from ..shared.options import WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from ..shared.waiting import wait_until

C = TypeVar("C", Backup, Snapshot)


def named(name: str, copies: Iterable[C]) -> list[C]:
    """Return the copies of this name."""
    return [copy for copy in copies if same_name(copy.name, name)]


def check_new_name(name: str) -> None:
    """Check that a platform that tidies names would store a new one as it is sent.

    :raises Invalid: for blanks at its ends, and control characters.
    """
    if name != name.strip() or any(category(char) == "Cc" for char in name):
        raise Invalid(f"name is {name!r}; it must not begin or end with a blank, or hold a control character")


def await_listed(task: Task[WaitOptions], what: str, new_ones: Callable[[], list[C]]) -> list[C]:
    """Wait until new copies of the requested name, by ``new_ones``, are on the list, and return them.

    :raises WaitEnded: after ``wait_timeout``.
    """
    return wait_until(
        task, new_ones, bool, lambda none: "it is not on the list yet: it is late, or it failed", what
    )
