# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says before it is applied, how plans are joined, and what a resource knows of its options."""

from __future__ import annotations

from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from unit.plugins.fakes import FakeClient


def new_task() -> Task[Any]:
    return Task(FakeClient(), Options())  # type: ignore[arg-type]


def nothing() -> None:
    """Stand in for a call."""


# --- What a plan says -----------------------------------------------------------------------------------


def test_each_warning_is_shown_once_and_cannot_steer_a_terminal() -> None:
    task = new_task()
    for message in ("late", "late", "red \x1b[31m", "soon"):
        task.warn(message)
    assert task.warnings[::2] == ["late", "soon"]
    assert len(task.warnings) == 3 and "\x1b" not in task.warnings[1]
