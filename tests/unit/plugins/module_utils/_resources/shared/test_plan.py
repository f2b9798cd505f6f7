# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says before it is applied, how plans are joined, and what a resource knows of its options."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Step, Task
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


def test_a_step_that_moves_money_says_what_it_commits() -> None:
    with pytest.raises(ValueError, match="'order web' moves money, so it needs a commitment"):
        Step("order web", nothing, move=Move("order", Decimal(2)))
