# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a plan says before it is applied, how plans are joined, and what a resource knows of its options."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    Options,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Branch,
    Resource,
    Step,
    Task,
    union,
)
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


# --- Plans of many services -----------------------------------------------------------------------------


def test_branches_do_not_wait_for_each_other() -> None:
    one, two = Branch(new_task()), Branch(new_task())
    a, b, c = (Step(name, nothing) for name in "abc")
    d = Step("d", nothing, needs=[a])
    x = Step("x", nothing)
    united = union([(one, [a, b, c, d]), (two, [x])])
    assert [step.summary for step in united] == ["a", "b", "c", "d", "x"]
    assert [[needed.summary for needed in step.needs or ()] for step in united] == [
        [],
        ["a"],
        ["b"],
        ["a"],
        [],
    ]
    assert [step.branch for step in united] == [one] * 4 + [two]
    assert [step.needs for step in united if step.needs is None] == []


def test_all_branches_wait_for_what_comes_first() -> None:
    first = Step("look", nothing)
    one, two = Branch(new_task()), Branch(new_task())
    united = union([(one, [Step("a", nothing), Step("b", nothing)]), (two, [Step("x", nothing)])], [first])
    assert [[needed.summary for needed in step.needs or ()] for step in united] == [["look"], ["a"], ["look"]]


# --- The options of a resource ----------------------------------------------------------------------------


class Bare(Options):
    """Options that are no dataclass of their own."""


@pytest.mark.parametrize("named", [Bare, int])
def test_options_that_declare_nothing_are_refused_when_the_resource_is_defined(named: Any) -> None:
    with pytest.raises(TypeError, match=f"{named.__name__} has to be a dataclass"):
        type("Wrong", (Resource,), {"__orig_bases__": (Resource[named],)})
