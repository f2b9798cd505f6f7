# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a plan: runs each step after those that it needs, in parallel where possible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count, pairwise
from typing import Any

from ..._api.client import Client
from ..._api.errors import HostedError
from .money import PRICED
from .plan import NOTHING_DONE, Effects, Expansion, Plan, Step, Task
from .task_errors import WaitEnded
from .waiting import MOST_PARALLEL, Crew


def apply_plan(plan: Plan, task: Task) -> None:
    """Apply a plan. The task's effects list what was done, even if this raises."""
    needs = plan.needs
    chain = all(before in needs[step] for before, step in pairwise(plan.steps))
    turns, ended = count(1), dict[Step, bool]()  # the steps that are over, and whether they may be built on
    try:
        if not chain:
            run_in_parallel(plan, task, needs)
        for step in plan.steps if chain else ():
            may_run = step.regardless or all(ended[needed] for needed in needs[step])
            ended[step] = may_run and run_step(plan, step, task, task.client, turns)
    finally:
        for branch in dict.fromkeys(step.branch for step in plan.steps):
            if branch is not None:
                task.effects.absorb(branch.task.effects)
    error = plan.failure() if plan.failure else None
    if error is not None:
        raise error


def run_in_parallel(plan: Plan, task: Task, needs: Mapping[Step, set[Step]]) -> None:
    """Run steps as far as what they need allows. Once one fails outside of a branch, none is begun any more.

    If more are ready than may run, the first in the plan run first, so that a branch is finished before the
    next one begins.
    """
    most, left = plan.max_parallel or MOST_PARALLEL, list(plan.steps)
    turns, ended = count(1), dict[Step, bool]()
    crew = Crew[Step, bool](task.client, most, lambda client, step: run_step(plan, step, task, client, turns))
    with crew:
        while left or crew.running:
            for step in [*left]:
                if not step.regardless and any(ended.get(needed) is False for needed in needs[step]):
                    ended[step] = False  # as what needs this one has to know
                    left.remove(step)
                elif needs[step] <= ended.keys() and crew.running < most:
                    left.remove(step)
                    crew.begin(step)
            if crew.running:
                step = crew.next()
                ended[step] = crew.results.get(step, False)
            if crew.errors:
                left = []
    for error in crew.errors.values():
        raise error


def run_step(plan: Plan, step: Step, task: Task, client: Client, turns: Iterator[int]) -> bool:
    """Run a step, and return whether steps that need it may run. A branch keeps the error of its step."""
    if step.changes and (number := next(turns)) > 1:
        task.progress(f"step {number} of {len(plan.actions)}: {step.summary}")
    if step.branch is None:
        perform_step(step, task, client)
        return True
    step.branch.task.client = client
    try:
        perform_step(step, step.branch.task, client)
    except HostedError as error:
        step.branch.error = error
        return False
    return True


def perform_step(step: Step, task: Task, client: Client) -> None:
    """Run a step and record its effects, even if the wait for them timed out."""
    effects = task.effects
    if client is not None:  # there is none where the task calls nobody
        client.on_write = effects.wrote
    before, made = effects.writes, step.commitment
    if made is not None:
        effects.billed = None  # what the platform said of an earlier step
    try:
        outcome = step.run()
    except HostedError as error:
        wrote = effects.writes > before
        note_failure(step, error, effects, wrote)
        if wrote or error.effect_unknown:
            task.tell(client, step, "unknown" if error.effect_unknown else "begun")
        raise
    if made is not None and task.guard.budgets:
        task.guard.succeeded(made)
    if isinstance(step, Expansion):
        for follow_up in outcome:
            perform_step(follow_up, task, client)
    elif step.changes and outcome is not NOTHING_DONE:
        effects.actions.append(step.summary)
        effects.moves += [made] if made and made.kind in PRICED else []
        task.tell(client, step, "done")


def note_failure(step: Step, error: HostedError, effects: Effects, wrote: bool) -> None:
    """Note what a step did, or may have done, before it failed. ``wrote`` tells whether a call succeeded."""
    unknown, made = error.effect_unknown, step.commitment
    moves = [made] if made and made.kind in PRICED else []
    if not isinstance(error, WaitEnded):
        effects.unknown += [step.summary] if unknown else []
        effects.unsure_moves += moves if unknown or wrote else []
    elif wrote:
        effects.actions.append(step.summary)
        effects.begun.append(step.summary)
        effects.moves += moves


def rescued(steps: Iterable[Step], rescue: Callable[[HostedError], object]) -> list[Step]:
    """Return steps after whose failure something is done about it, whichever of them fails."""

    def wrap(step: Step) -> Step:
        def run() -> Any:
            try:
                outcome = step.run()
            except HostedError as error:
                rescue(error)
                raise
            return [wrap(each) for each in outcome] if isinstance(step, Expansion) else outcome

        return replace(step, run=run)

    return [wrap(step) for step in steps]
