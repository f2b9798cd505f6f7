# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applies a plan: runs each step after those that it needs, in parallel where possible."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from queue import SimpleQueue

from ..._api.client import Client
from ..._api.errors import HostedError
from .effects import Effects
from .money import PRICED
from .pace import Pace
from .parallel import MOST_PARALLEL, clone_in_pace
from .plan import NOTHING_DONE, Expansion, Plan, Step, Task
from .task_errors import WaitEnded


def apply_plan(plan: Plan, task: Task) -> None:
    """Apply a plan. The task's effects list what was done, even if this raises.

    :raises HostedError: the error of the failed step, or the plan's error for its branches.
    """
    run = Run(plan, task)
    try:
        chain = all(before in run.needs[step] for before, step in pairwise(plan.steps))
        run.one_by_one() if chain else run.in_parallel()
    finally:
        for branch in dict.fromkeys(step.branch for step in plan.steps):
            if branch is not None:
                task.effects.absorb(branch.task.effects)
    error = plan.failure() if plan.failure else None
    if error is not None:
        raise error


class Run:
    """The steps of a plan, and which of them failed."""

    def __init__(self, plan: Plan, task: Task) -> None:
        self.plan = plan
        self.task = task
        self.needs = needs_of(plan.steps)
        self.done: set[Step] = set()
        self.failed: set[Step] = set()
        self.announced = 0
        self.idle: list[Client] = []
        """The connections of threads whose steps have ended."""
        self.ended: SimpleQueue[tuple[Step, bool | BaseException]] = SimpleQueue()
        """The steps that ran in threads, and whether those that need them may run."""

    def one_by_one(self) -> None:
        """Run steps that each need the previous one, with the task's client."""
        for step in self.plan.steps:
            if self.runnable_steps([step]):
                self.announce(step)
                (self.done if self.run_step(step, self.task.client) else self.failed).add(step)

    def in_parallel(self) -> None:
        """Run steps in parallel as far as their dependencies allow, each thread with its own connections.

        If more are ready than may run, the first in the plan run first, so that a branch is finished before
        the next one begins. What ends the task from outside, such as its ``timeout``, waits for no step, as
        the end of a pool would: no other request is sent then.
        """
        most = self.plan.max_parallel or MOST_PARALLEL
        pace = Pace(most)
        running, failures, left = set[Step](), list[BaseException](), list(self.plan.steps)
        try:
            while left or running:
                over = self.done | self.failed
                ready = [s for s in left if self.needs[s] <= (over if s.regardless else self.done)]
                for step in ready[: most - len(running)]:
                    left.remove(step)
                    running.add(step)
                    self.announce(step)
                    client = self.idle.pop() if self.idle else clone_in_pace(self.task.client, pace)
                    threading.Thread(target=self.work, args=(step, client, pace), daemon=True).start()
                step, outcome = self.ended.get()
                running.remove(step)
                if isinstance(outcome, BaseException):
                    failures.append(outcome)
                else:
                    (self.done if outcome else self.failed).add(step)
                left = [] if failures else self.runnable_steps(left)
        except BaseException:
            pace.over = True
            raise
        for client in self.idle:
            client.close()
        for error in failures:
            raise error

    def work(self, step: Step, client: Client, pace: Pace) -> None:
        """Run a step in a thread, and hand over its outcome and the connections."""
        begun = time.monotonic()
        try:
            outcome: bool | BaseException = self.run_step(step, client)
        except BaseException as error:  # raised again by the thread that waits for this one
            outcome = error
        pace.note(begun, time.monotonic())
        self.idle.append(client)
        self.ended.put((step, outcome))

    def runnable_steps(self, left: Sequence[Step]) -> list[Step]:
        """Return the steps that can still run: one that needs what failed has failed as well."""
        for step in left:
            if not step.regardless and self.needs[step] & self.failed:
                self.failed.add(step)
        return [step for step in left if step not in self.failed]

    def announce(self, step: Step) -> None:
        """Report the next step as progress, unless it is the first."""
        if not step.changes:
            return
        self.announced += 1
        if self.announced > 1:
            self.task.progress(f"step {self.announced} of {len(self.plan.actions)}: {step.summary}")

    def run_step(self, step: Step, client: Client) -> bool:
        """Run a step, and return whether steps that need it may run. A branch keeps the error of its step."""
        branch = step.branch
        if branch is None:
            perform_step(step, self.task, client)
            return True
        branch.task.client = client
        try:
            perform_step(step, branch.task, client)
        except HostedError as error:
            branch.error = error
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
        effects.finish(step.summary, made)
        task.tell(client, step, "done")


def note_failure(step: Step, error: HostedError, effects: Effects, wrote: bool) -> None:
    """Note what a step did, or may have done, before it failed. ``wrote`` tells whether a call succeeded."""
    if isinstance(error, WaitEnded):
        if wrote:
            effects.begin(step.summary, step.commitment)
        return
    unknown, made = error.effect_unknown, step.commitment
    effects.unknown += [step.summary] if unknown else []
    effects.unsure_moves += [made] if made and made.kind in PRICED and (unknown or wrote) else []


def needs_of(steps: Sequence[Step]) -> Mapping[Step, set[Step]]:
    """Return the steps that each step needs: those that it names, or else the previous one.

    :raises ValueError: if a step needs one that does not precede it.
    """
    needs: dict[Step, set[Step]] = {}
    last: set[Step] = set()
    for step in steps:
        needs[step] = last if step.needs is None else set(step.needs)
        if not needs[step] <= needs.keys():
            raise ValueError(f"the step {step.summary!r} needs one that does not come before it")
        last = {step}
    return needs
