# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts of a blueprint: each is a task of another module, planned and applied in its place in the graph.

One whose needs the plan itself makes is planned as in check mode, and again when its turn comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from ..._api.client import Client
from ..._api.errors import HostedError
from ..._api.text import HIDDEN, counted, line_for_each
from ..services.many_services import SomeFailed
from ..shared.account import Reads
from ..shared.money import Cost, currency_of, format_amount, format_price, sum_of
from ..shared.options import shared_arguments
from ..shared.plan import Branch, Effects, Expansion, Plan, Resource, Step, Task, union
from ..shared.task_errors import Invalid
from ..shared.waiting import run_parallel

T = TypeVar("T")
PRICE_OF_CHANGES = "monthly price of what changes"
THINGS = ("project", "service", "app", "ssh_key")
Place = tuple[str, ...]
Arguments = Callable[["Part"], Mapping[str, Any]]
"""Returns the options of a part's task, when it is planned: they may depend on what the part needs."""


def find_cycle(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a cycle as the path from a node through what it needs back to itself; empty if there is none."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        path: list[str] = error.args[1]
        return path[::-1]  # graphlib lists each node after what it needs
    return []


def levels(needs: Mapping[T, Sequence[T]]) -> list[list[T]]:
    """Return the nodes in groups: what a node needs is in an earlier group than the node."""
    sorter = TopologicalSorter(needs)
    sorter.prepare()
    found: list[list[T]] = []
    while ready := list(sorter.get_ready()):
        found.append(ready)
        sorter.done(*ready)
    return found


@dataclass(eq=False)
class Part(Branch):
    section: str
    key: str
    name: str
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

    @property
    def label(self) -> str:
        return f"{self.resource.name.replace('_', ' ')} {self.name!r}"

    @property
    def settled(self) -> bool:
        """Whether it is as it should be, so that what needs it can be planned for real."""
        return self.plan is not None and not self.plan.steps and not self.foreseen

    @property
    def is_new(self) -> bool:
        return self.plan is not None and self.plan.changed and not self.plan.before

    @property
    def id(self) -> str | None:
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

    @property
    def reason(self) -> str | None:
        if self.error is not None:
            return self.error.message
        return f"not begun, because {self.blocked_by.label} failed" if self.blocked_by else None

    def make_plan(self, client: Client, foreseen: bool) -> None:
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
        plan = self.plan
        if plan is None:
            return ()
        if self.foreseen:
            summary = "; ".join(plan.actions) or f"look at {self.label} again"
            return [Expansion(summary, self.plan_in_turn, changes=plan.changed, expects=plan.commitments)]
        return [*plan.steps, self.read_step(plan)] if plan.steps else ()

    def plan_in_turn(self) -> Sequence[Step]:
        self.prepare(self)
        self.task.options = self.resource.read_options(self.arguments(self))
        self.task.reads = Reads()
        try:
            plan = self.plan = self.resource.plan(self.task)
        finally:
            self.task.reads.kept = False
        self.foreseen, self.result = False, plan.result
        return [*plan.steps, self.read_step(plan)]

    def read_step(self, plan: Plan) -> Step:
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
    """Return a part of the blueprint. ``place`` is its section, its key and its name."""
    shared = shared_arguments(task.options)

    def all_arguments(own: Part) -> Mapping[str, Any]:
        return {**shared, **(arguments(own) if callable(arguments) else arguments)}

    own_task = replace(task, composition=replace(task.composition, part=True), effects=Effects())
    return Part(own_task, *place, resource, all_arguments, list(dict.fromkeys(needs)), late=late)


def service_ids(parts: Iterable[Part]) -> set[str]:
    """Return the ids of services and applications alone: the platform may number each kind by itself."""
    return {id for part in parts if part.resource.name in ("service", "app") and (id := part.id)}


@dataclass
class Parts:
    task: Task[Any]
    found: Sequence[Part]
    max_parallel: int = field(kw_only=True)
    subject: str = "blueprint"
    mark: Callable[[tuple[Any, ...]], str] = lambda path: ""
    """Returns the file, line and column of what the keys of a path lead to; empty if there is none."""

    @property
    def failed(self) -> list[Part]:
        return [part for part in self.found if part.error is not None]

    def make_plans(self) -> None:
        def plan_one(client: Client, part: Part) -> None:
            part.make_plan(client, foreseen=not all(need.settled for need in part.needs))

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

    # --- What is told -------------------------------------------------------------------------------

    def update(self, plan: Plan) -> None:
        """Put the present state of all parts into the plan of the whole, and the price into the result."""
        plan.result = self.entries()
        before: dict[Place, Any] = {}
        after: dict[Place, Any] = {}
        made: dict[tuple[str, str], bool] = {}
        for part in self.found:
            if part.plan is None:
                continue
            old, new = sides_of(part.plan)
            # By this run, if the first part of an entry finds nothing: what later parts find was not there.
            is_new = made.setdefault((part.section, part.key), not old)
            if old != new:
                for place, value in () if is_new else values_at(part, old, HIDDEN):
                    before.setdefault(place, value)
                after |= values_at(part, new, f"{HIDDEN} (new)")
        differ = [place for place in {**before, **after} if before.get(place) != after.get(place)]
        plan.before, plan.after = nested(before, differ), nested(after, differ)
        if (cost := self.tell_price()) is not None:
            plan.before[PRICE_OF_CHANGES], plan.after[PRICE_OF_CHANGES] = cost.before, cost.after

    def tell_price(self) -> Cost | None:
        """Put the price of all parts together into the result, and return it; ``None`` if none changes."""
        costs = [(part, cost) for part in self.found if (cost := self.cost_of(part)) is not None]
        if not costs:
            return None
        known = [cost for _part, cost in costs if None not in (cost.before, cost.after)]
        whole = Cost(sum_of(cost.before for cost in known), sum_of(cost.after for cost in known))
        told = whole.as_dict(currency_of(self.task))
        each = {part.label: cost.as_dict() for part, cost in costs}
        sides = ("monthly_before", "monthly_after")
        self.task.effects.facts["cost"] = {
            **{name: told[name] for name in (*sides, "monthly_change", "currency")},
            "lines": [{"label": label, **{name: one[name] for name in sides}} for label, one in each.items()],
            "unpriced": [part.label for part, cost in costs if None in (cost.before, cost.after)],
        }
        return whole

    def cost_of(self, part: Part) -> Cost | None:
        plan = part.plan
        if plan is None or plan.cost is None or (part.error and self.task.check_mode):
            return None
        if self.task.check_mode:
            return plan.cost if plan.moves else None  # some modules show a price that stays
        return part.task.effects.cost(plan.cost)

    def entries(self) -> list[dict[str, Any]]:
        return [self.entry(part) for part in self.found]

    def entry(self, part: Part) -> dict[str, Any]:
        effects, skipped = part.task.effects, part.error is None and part.blocked_by is not None
        actions, moves = list(effects.actions), [*effects.moves, *effects.unsure_moves]
        if self.task.check_mode:
            actions = part.plan.actions if part.plan and part.error is None else []
            moves = part.plan.moves if part.plan else moves
        told = None
        if (cost := self.cost_of(part)) is not None:
            id = cost.service_id or effects.facts.get("service_id") or part.id
            cost = replace(cost, service=cost.service or part.name, service_id=id)
            told = cost.as_dict(currency_of(self.task), moves)
        facts = {name: value for name, value in effects.facts.items() if name != "service_id"}
        return {
            "section": part.section,
            "key": part.key,
            "module": part.resource.name,
            "name": part.name,
            "changed": bool(actions) or effects.changed_before(part.error),
            "failed": part.error is not None,
            "skipped": skipped,
            "msg": part.reason,
            "actions": actions,
            "unfinished": list(effects.begun),
            "unconfirmed": list(effects.unknown),
            "cost": told,
            "result": None if part.error or skipped else part.result,
            **facts,
        }

    # --- Errors -------------------------------------------------------------------------------------

    def check_planned(self) -> None:
        if failed := self.failed:
            details = failed[0].error.details if len(failed) == 1 and failed[0].error else {}
            raise Invalid(
                f"{counted(len(failed), 'part')} of the {self.subject} cannot be made, and nothing was done:"
                f"{self.reasons(failed)}",
                **{**details, "parts": [self.entry(part) for part in failed]},
            )

    def check_balance(self) -> None:
        """Hold the rule of the platform on the balance for all orders together: a quote knows one alone."""
        planned = (part.plan.cost for part in self.found if part.plan is not None)
        costs = [cost for cost in planned if cost is not None and cost.min_balance]
        balance = max((cost.balance for cost in costs if cost.balance is not None), default=None)
        asked = sum_of(cost.min_balance for cost in costs)
        if len(costs) < 2 or balance is None or balance >= asked:
            return
        raise Invalid(
            f"the balance {format_price(self.task, balance)} does not cover the first day of the "
            f"{len(costs)} services that this {self.subject} orders, {format_price(self.task, asked)} in "
            "all. Nothing was ordered. Top it up, or order fewer or smaller ones",
            balance=format_amount(balance),
            min_balance=format_amount(asked),
            parts=self.entries(),
        )

    def failure(self) -> HostedError | None:
        if not self.failed:
            return None
        self.tell_price()
        skipped = [part.label for part in self.found if part.error is None and part.blocked_by]
        left = f"\nNot begun, because they need these: {', '.join(skipped)}" if skipped else ""
        entries = self.entries()
        return SomeFailed(
            f"{len(self.failed)} of {len(self.found)} parts failed:{self.reasons(self.failed)}{left}\n"
            "Correct that, and run this again: it goes on from there",
            parts=entries,
            changed=any(entry["changed"] for entry in entries),
            actions=[action for entry in entries for action in entry["actions"]],
        )

    def reasons(self, failed: Sequence[Part]) -> str:
        told = []
        for part in failed:
            mark = self.mark((part.section,) if part.section == "project" else (part.section, part.key))
            told.append((f"{mark}: {part.label}" if mark else part.label, str(part.reason)))
        return line_for_each(told)


# --- The diff -----------------------------------------------------------------------------------------
# It is nested by section, name and, for what is not the thing itself, module. It has only what differs: the
# name of a part is seldom further above a change than the three lines that Ansible shows.


def sides_of(plan: Plan) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    before, after = (
        side if isinstance(side, Mapping) else {"text": side} for side in (plan.before, plan.after)
    )
    return before, after


def values_at(part: Part, state: Mapping[str, Any], command: str) -> Iterator[tuple[Place, Any]]:
    """Return the values of a state, each with its place in the diff; ``command`` for one that is hidden."""
    if part.hides_command and "command" in state:
        state = {**state, "command": command}
    inner = () if part.resource.name in THINGS else (part.resource.name,)
    return leaves(state, (part.section, part.name, *inner))


def leaves(value: Any, place: Place) -> Iterator[tuple[Place, Any]]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            yield from leaves(each, (*place, name))
    else:
        yield place, value


def nested(values: Mapping[Place, Any], places: Iterable[Place]) -> dict[str, Any]:
    whole: dict[str, Any] = {}
    for place in places:
        if place in values:
            inner = whole
            for name in place[:-1]:
                inner = inner.setdefault(name, {})
            inner[place[-1]] = values[place]
    return whole
