# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a blueprint: each is a task of another module, planned and applied in its place in the graph.

A part whose needs are there already is planned for real. One whose needs the plan itself makes is planned as
in check mode, to show what to expect, and planned again when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..._api.client import Client
from ..._api.errors import HostedError
from ..shared.options import shared_arguments
from ..shared.plan import Branch, Effects, Expansion, Plan, Resource, Step, Task, union
from ..shared.waiting import run_parallel
from .graph import levels

Arguments = Callable[["Part"], Mapping[str, Any]]
"""Returns the options of a part's task, when it is planned: they may depend on what the part needs."""


@dataclass(eq=False)
class Part(Branch):
    """One thing of a blueprint, such as a service or an environment."""

    section: str
    key: str
    name: str
    """Its name on the platform, or its slug."""
    resource: Resource[Any]
    arguments: Arguments
    needs: Sequence[Part] = ()
    prepare: Callable[[Part], None] = lambda part: None
    """Runs right before a part is planned in its turn, and may wait."""
    note: Callable[[str], None] = lambda id: None
    """Told the id of what the part made or found, once its steps are done."""
    plan: Plan | None = None
    late: bool = False
    """Whether it is always planned again in its turn, so that the platform is read right before it."""
    foreseen: bool = False
    """Whether the plan shows only what to expect, because what the part needs is not there yet."""
    result: Any = None
    hides_command: bool = False
    """Whether its launch command is not shown."""

    @property
    def label(self) -> str:
        """How messages and diffs call it."""
        return f"{self.resource.name.replace('_', ' ')} {self.name!r}"

    @property
    def settled(self) -> bool:
        """Whether it is as it should be, so that what needs it can be planned for real."""
        return self.plan is not None and not self.plan.steps and not self.foreseen

    @property
    def is_new(self) -> bool:
        """Whether it does not exist before the plan is applied."""
        return self.plan is not None and self.plan.changed and not self.plan.before

    @property
    def id(self) -> str | None:
        """The id of what it made or found; ``None`` if that does not exist yet."""
        return self.result.get("id") if isinstance(self.result, Mapping) else None

    @property
    def blocked_by(self) -> Part | None:
        """The first part with an error among this one and all that it needs."""
        seen, left = set[Part](), [self]
        while left:
            part = left.pop()
            if part.error is not None:
                return part
            if part not in seen:
                seen.add(part)
                left += reversed(part.needs)
        return None

    def before_creating(self, context: Callable[[], AbstractContextManager[None]]) -> None:
        """Enter a context around the call that creates it, before those that were added earlier."""
        inner = self.task.composition.creating

        @contextmanager
        def both() -> Iterator[None]:
            with context(), inner():
                yield

        self.task.composition = replace(self.task.composition, creating=both)

    # --- Planning -----------------------------------------------------------------------------------

    def make_plan(self, client: Client, foreseen: bool) -> None:
        """Plan the part, and keep its error, if any."""
        task = self.task
        self.foreseen = (foreseen or self.late) and not task.check_mode
        task.client = client
        if self.foreseen:
            task = replace(task, check_mode=True, warnings=[], effects=Effects())
        try:
            task.options = self.resource.read_options(self.arguments(self))
            self.plan = self.resource.plan(task)
            self.result = self.plan.result
        except HostedError as error:
            self.error = error

    def steps(self) -> Sequence[Step]:
        """Return the steps of the part; a single one if it has to be planned again in its turn."""
        plan = self.plan
        if plan is None:
            return ()
        if self.foreseen:
            summary = "; ".join(plan.actions) or f"look at {self.label} again"
            return [Expansion(summary, self.plan_in_turn, changes=plan.changed, expects=plan.commitments)]
        return [*plan.steps, self.read_step(plan)] if plan.steps else ()

    def plan_in_turn(self) -> Sequence[Step]:
        """Plan the part for real, now that what it needs is there."""
        self.prepare(self)
        self.task.options = self.resource.read_options(self.arguments(self))
        with self.task.planning():
            plan = self.plan = self.resource.plan(self.task)
        self.foreseen, self.result = False, plan.result
        return [*plan.steps, self.read_step(plan)]

    def read_step(self, plan: Plan) -> Step:
        """Return the step that takes the result from the platform, after all others."""

        def reread() -> None:
            self.result = plan.reread() if plan.reread and self.task.effects.actions else plan.result
            if self.id is not None:
                self.note(self.id)

        return Step(f"read {self.label} again", reread, needs=tuple(plan.steps) or None, changes=False)


def new_part(
    task: Task[Any],
    place: tuple[str, str, str],
    resource: Resource[Any],
    arguments: Arguments | Mapping[str, Any],
    *,
    needs: Iterable[Part] = (),
    late: bool = False,
) -> Part:
    """Return a part of the blueprint that a task applies.

    ``place`` is its section, its key and its name. ``arguments`` are its own options, or return them: those
    that all parts share are added.
    """
    shared = shared_arguments(task.options)

    def all_arguments(own: Part) -> Mapping[str, Any]:
        return {**shared, **(arguments(own) if callable(arguments) else arguments)}

    own_task = replace(task, composition=replace(task.composition, part=True), effects=Effects())
    return Part(own_task, *place, resource, all_arguments, list(dict.fromkeys(needs)), late=late)


def service_ids(parts: Iterable[Part]) -> set[str]:
    """Return the ids of the services and applications among parts, as far as they exist.

    The platform may number each kind by itself, so that a project or a key has the id of a service.
    """
    return {id for part in parts if part.resource.name in ("service", "app") and (id := part.id)}


@dataclass
class Parts:
    """All parts of a blueprint, each after those that it needs."""

    task: Task[Any]
    found: Sequence[Part]
    max_parallel: int = field(kw_only=True)

    @property
    def failed(self) -> bool:
        """Whether a part cannot be planned, or was not done."""
        return any(part.error is not None for part in self.found)

    def make_plans(self) -> None:
        """Plan all parts that have no plan, in parallel where none needs another. Each keeps its error."""

        def plan_one(client: Client, part: Part) -> None:
            settled = all(need.settled for need in part.needs)
            part.make_plan(client, foreseen=not settled)

        for group in levels({part: part.needs for part in self.found}):
            ready = [part for part in group if part.plan is None and part.blocked_by is None]
            run_parallel(self.task.client, ready, plan_one, self.max_parallel)

    def steps(self, first: Sequence[Step] = ()) -> list[Step]:
        """Return the steps of all parts as one graph, each of them after ``first``."""
        ends: dict[Part, Sequence[Step]] = {}
        united: list[Step] = []
        for part in self.found:
            after = [step for need in part.needs for step in ends[need]] or list(first)
            steps = union([(part, part.steps())], after=list(dict.fromkeys(after)))
            ends[part] = steps[-1:] or after
            united += steps
        return united
