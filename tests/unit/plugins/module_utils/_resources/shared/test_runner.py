# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a plan is carried out: in which order, what in parallel, and what is known of it afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    HostedError,
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import runner
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Branch,
    Plan,
    Step,
    Task,
    after_waiting,
    union,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded


class Connections:
    """A client as far as the runner knows one. Each clone has a number of its own."""

    def __init__(self, family: list[Connections] | None = None) -> None:
        self.on_write: Callable[[], None] = lambda: None
        self.family = [] if family is None else family
        self.family.append(self)
        self.closed = False

    def clone(self) -> Connections:
        return Connections(self.family)

    def set_pace(self, next_turn: Any, on_refusal: Any) -> None:
        """Nothing is sent, and so nothing is refused."""

    def close(self) -> None:
        self.closed = True


def new_task(client: Connections | None = None) -> Task:
    return Task(cast(Client, client or Connections()), Options())


class Diary:
    """Notes what was done, in its order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def step(self, name: str, *needs: Step, then: Callable[[], Any] = lambda: None, **about: Any) -> Step:
        def run() -> Any:
            self.lines.append(name)
            return then()

        return Step(name, run, needs or None, **about)


@pytest.fixture
def diary() -> Diary:
    return Diary()


def fail() -> None:
    raise error_for_status("no", 409)


def test_a_list_of_steps_is_carried_out_in_its_order_with_the_tasks_own_client(diary: Diary) -> None:
    task = new_task()
    said: list[str] = []
    task.progress = said.append
    steps = [diary.step("a"), diary.step("look", changes=False), diary.step("b")]
    runner.apply_plan(Plan(None, steps), task)
    assert diary.lines == ["a", "look", "b"]
    assert task.effects.actions == ["a", "b"], "looking changes nothing"
    assert said == ["step 2 of 2: b"]
    assert len(cast(Connections, task.client).family) == 1


def test_a_step_waits_for_all_that_it_needs_and_for_nothing_else(diary: Diary) -> None:
    """Two that need the same step run at the same time: each waits here until the other one has begun."""
    meeting = threading.Barrier(2, timeout=10)
    first = diary.step("first")
    left, right = (diary.step(name, first, then=meeting.wait) for name in ("left", "right"))
    last = diary.step("last", left, right)
    task = new_task()
    runner.apply_plan(Plan(None, [first, left, right, last]), task)
    assert diary.lines[0] == "first" and diary.lines[-1] == "last" and len(diary.lines) == 4
    original, *clones = cast(Connections, task.client).family
    assert len(clones) == 2 and all(clone.closed for clone in clones) and not original.closed


def test_no_more_than_max_parallel_run_and_a_branch_is_ended_before_the_next_begins(diary: Diary) -> None:
    branches = [(Branch(new_task()), [diary.step(f"{n}a"), diary.step(f"{n}b")]) for n in range(4)]
    runner.apply_plan(Plan(None, union(branches), max_parallel=1), new_task())
    assert diary.lines == ["0a", "0b", "1a", "1b", "2a", "2b", "3a", "3b"]


def test_without_a_number_a_bound_holds(diary: Diary, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three meet, and there are never four."""
    monkeypatch.setattr(runner, "MOST_PARALLEL", 3)
    running, most, lock = set[int](), list[int](), threading.Lock()
    meeting = threading.Barrier(3, timeout=10)

    def meet(number: int) -> None:
        with lock:
            running.add(number)
            most.append(len(running))
        meeting.wait()
        with lock:
            running.discard(number)

    steps = [diary.step(str(n), then=partial(meet, n)) for n in range(9)]
    plan = Plan(None, union([(Branch(new_task()), [step]) for step in steps]), max_parallel=None)
    runner.apply_plan(plan, new_task())
    assert max(most) == 3 and len(diary.lines) == 9


def test_a_failure_in_a_branch_stops_that_branch_only(diary: Diary) -> None:
    ill, well = Branch(new_task()), Branch(new_task())
    steps = union(
        [
            (ill, [diary.step("a"), diary.step("b", then=fail), diary.step("c")]),
            (well, [diary.step("d"), diary.step("e")]),
        ]
    )
    gathered = diary.step("after all", *steps)
    task = new_task()
    with pytest.raises(WaitEnded, match="one of two"):
        runner.apply_plan(Plan(None, [*steps, gathered], failure=lambda: WaitEnded("one of two")), task)
    assert sorted(diary.lines) == ["a", "b", "d", "e"], "neither what follows it nor what needs all of them"
    assert ill.error is not None and ill.error.message == "no" and well.error is None
    assert (ill.task.effects.actions, well.task.effects.actions) == (["a"], ["d", "e"])
    assert task.effects.actions == ["a", "d", "e"], "the task tells of both, in the order of the plan"


def test_a_branch_works_with_the_connections_of_its_thread(diary: Diary) -> None:
    branches = [Branch(new_task()) for _number in range(2)]
    meeting = threading.Barrier(2, timeout=10)
    clients: list[Any] = []

    def work(branch: Branch) -> None:
        meeting.wait()
        branch.task.client.on_write()
        clients.append(branch.task.client)

    steps = union(
        (branch, [Step("work", lambda branch=branch: work(branch))])  # type: ignore[misc]
        for branch in branches
    )
    task = new_task()
    runner.apply_plan(Plan(None, steps), task)
    assert len(set(map(id, clients))) == 2 and task.client not in clients
    assert [branch.task.effects.writes for branch in branches] == [1, 1]
    assert task.effects.writes == 2


@pytest.mark.parametrize("there_is_more", [True, False])
def test_what_is_decided_after_a_wait_is_what_the_plan_shows_then(diary: Diary, there_is_more: bool) -> None:
    def then(state: str) -> Plan:
        steps = [diary.step("change")] if there_is_more else []
        return Plan(state, steps, lambda: "changed", {"is": state}, {"is": "new"}, subject="web")

    plan = after_waiting("wait", lambda: "ready", then, until=Plan("begun", before={"is": "begun"}))
    assert (plan.changed, plan.actions, plan.result) == (False, [], "begun"), "nothing is known before"
    task = new_task()
    runner.apply_plan(plan, task)
    assert bool(task.effects.actions) is there_is_more
    assert (plan.result, plan.before, plan.after) == ("ready", {"is": "ready"}, {"is": "new"})
    assert plan.reread is not None and plan.reread() == "changed" and plan.subject == "web"


@pytest.mark.parametrize(
    ("error", "wrote", "unsure"),
    [
        (error_for_status("no", 409), False, False),
        (error_for_status("no", 409), True, True),
        (Interrupted("reset"), False, True),
    ],
)
def test_a_step_that_fails_may_have_moved_money_once_a_call_of_it_was_sent(
    error: HostedError, wrote: bool, unsure: bool
) -> None:
    """One of several calls may be done, or its outcome unknown."""
    task, made = new_task(), Commitment("order", "service 'web'", Decimal(2))

    def give_up() -> None:
        if wrote:
            task.client.on_write()
        raise error

    order = Step("order", give_up, commitment=made)
    with pytest.raises(HostedError):
        runner.apply_plan(Plan(None, [order]), task)
    assert task.effects.unsure_moves == ([made] if unsure else [])


def test_a_step_cannot_need_what_comes_after_it(diary: Diary) -> None:
    late = diary.step("late")
    with pytest.raises(ValueError, match="does not come before it"):
        runner.apply_plan(Plan(None, [diary.step("early", late), late]), new_task())
    assert diary.lines == []


@pytest.mark.parametrize("chained", [True, False])
def test_a_step_runs_regardless_of_what_became_of_others(chained: bool) -> None:
    """It waits for them, and those that need it run; others that need what failed do not."""
    diary, task = Diary(), new_task()
    branch = Branch(task)

    def fail() -> None:
        raise WaitEnded("too late")

    broken = diary.step("broken", then=fail, branch=branch)
    steps = [broken]
    if not chained:
        steps.append(diary.step("fine"))
    steps.append(diary.step("blocked", broken, branch=branch))
    steps.append(diary.step("after all", *steps, regardless=True))
    steps.append(diary.step("next", steps[-1]))
    runner.apply_plan(Plan(result=None, steps=steps), task)
    assert diary.lines[-2:] == ["after all", "next"] and "blocked" not in diary.lines


# --- Warnings --------------------------------------------------------------------------------------


# --- What a plan says -----------------------------------------------------------------------------------


def test_each_warning_is_shown_once_and_cannot_steer_a_terminal() -> None:
    task = new_task()
    for message in ("late", "late", "red \x1b[31m", "soon"):
        task.warn(message)
    assert task.warnings[::2] == ["late", "soon"]
    assert len(task.warnings) == 3 and "\x1b" not in task.warnings[1]
