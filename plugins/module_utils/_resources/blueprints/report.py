# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task on a blueprint tells: the entry of each part, one diff, one price, and one error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..._api.errors import HostedError
from ..._api.text import HIDDEN, counted, line_for_each
from ..services.many_services import SomeFailed
from ..shared.money import Cost, currency_of, format_amount, format_price
from ..shared.plan import Plan, Task
from ..shared.task_errors import Invalid
from .document import Path
from .parts import Part

SUMS = ("monthly_before", "monthly_after", "monthly_change", "currency")
PRICE_OF_CHANGES = "monthly price of what changes"
PLACED_ELSEWHERE = ("service_id",)
"""Facts that an entry has under another key."""


@dataclass(frozen=True)
class Report:
    """The outcome of all parts: what is expected of them in check mode, and else what became of them."""

    task: Task[Any]
    parts: Sequence[Part]
    subject: str = "blueprint"
    mark: Callable[[Path], str] = lambda path: ""
    """Returns the file, line and column of what the keys of a path lead to; empty if there is none."""

    def update(self, plan: Plan) -> None:
        """Put the present state of all parts into the plan of the whole, and the price into the result."""
        plan.result = self.entries()
        before: dict[str, Any] = {}
        after: dict[str, Any] = {}
        made: dict[tuple[str, str], bool] = {}
        for part in self.parts:
            if part.plan is None:
                continue
            # By this run, if the first part of an entry finds nothing: what later parts find was not there.
            is_new = made.setdefault((part.section, part.key), not part.plan.before)
            if part.plan.before == part.plan.after:
                continue
            was = {} if is_new else shown_state(part, part.plan.before, HIDDEN)
            for line, value in with_label(part.label, was).items():
                before.setdefault(line, value)
            after.update(with_label(part.label, shown_state(part, part.plan.after, f"{HIDDEN} (new)")))
        if (cost := self.tell_price()) is not None:
            before[PRICE_OF_CHANGES], after[PRICE_OF_CHANGES] = cost.before, cost.after
        plan.before, plan.after = before, after

    def tell_price(self) -> Cost | None:
        """Put the price of all parts together into the result, and return it; ``None`` if none changes."""
        costs = [(part, cost) for part in self.parts if (cost := self.cost_of(part)) is not None]
        if not costs:
            return None
        unpriced = [part.label for part, cost in costs if None in (cost.before, cost.after)]  # and in no sum
        known = [cost for _part, cost in costs if None not in (cost.before, cost.after)]
        whole = Cost(sum_of(cost.before for cost in known), sum_of(cost.after for cost in known))
        told = whole.as_dict(currency_of(self.task))
        lines = [
            {"label": part.label, **{name: cost.as_dict()[name] for name in SUMS[:2]}} for part, cost in costs
        ]
        sums = {name: told[name] for name in SUMS}
        self.task.effects.facts["cost"] = {**sums, "lines": lines, "unpriced": unpriced}
        return whole

    @property
    def failed_entries(self) -> set[tuple[str, str]]:
        """The section and key of each entry that is not as it should be, because of an error."""
        return {(part.section, part.key) for part in self.parts if part.blocked_by}

    def entries(self) -> list[dict[str, Any]]:
        """Return what the result tells of all parts, in the order in which they need each other."""
        return [self.entry(part) for part in self.parts]

    def entry(self, part: Part) -> dict[str, Any]:
        """Return what the result tells of a part."""
        effects, blocked = part.task.effects, part.error is None and part.blocked_by
        cost, actions = self.cost_of(part), list(effects.actions)
        if self.task.check_mode:
            actions = part.plan.actions if part.plan and part.error is None else []
        facts = {name: value for name, value in effects.facts.items() if name not in PLACED_ELSEWHERE}
        return {
            "section": part.section,
            "key": part.key,
            "module": part.resource.name,
            "name": part.name,
            "changed": bool(actions) or effects.changed_before(part.error),
            "failed": part.error is not None,
            "skipped": bool(blocked),
            "msg": reason_of(part),
            "actions": actions,
            "unfinished": list(effects.begun),
            "unconfirmed": list(effects.unknown),
            "cost": None if cost is None else self.priced(part, cost),
            "result": None if part.error or blocked else part.result,
            **facts,
        }

    # --- The price ----------------------------------------------------------------------------------

    def cost_of(self, part: Part) -> Cost | None:
        """Return what a part does to the price; ``None`` if nothing."""
        plan = part.plan
        if plan is None or plan.cost is None or (part.error and self.task.check_mode):
            return None
        if self.task.check_mode:
            return plan.cost if plan.moves else None  # some modules show a price that stays
        return part.task.effects.cost(plan.cost)

    def priced(self, part: Part, cost: Cost) -> dict[str, Any]:
        """Return the cost of a part in the form of results."""
        effects = part.task.effects
        id = cost.service_id or effects.facts.get("service_id") or part.id
        done = [*effects.moves, *effects.unsure_moves]
        moves = part.plan.moves if self.task.check_mode and part.plan else done
        whole = replace(cost, service=cost.service or part.name, service_id=id)
        return whole.as_dict(currency_of(self.task), moves)

    def check_balance(self) -> None:
        """Hold the rule of the platform on the balance for all orders together: a quote knows one alone."""
        planned = (part.plan.cost for part in self.parts if part.plan is not None)
        costs = [cost for cost in planned if cost is not None and cost.min_balance]
        balance = max((cost.balance for cost in costs if cost.balance is not None), default=None)
        asked = sum_of(cost.min_balance for cost in costs)
        if len(costs) < 2 or balance is None or balance >= asked:
            return
        raise Invalid(
            f"the balance {format_price(self.task, balance)} does not cover the first day of the "
            f"{len(costs)} services that this {self.subject} orders: their quotes ask for "
            f"{format_price(self.task, asked)} in all. Nothing was ordered. Top it up, or order fewer or "
            "smaller services",
            balance=format_amount(balance),
            min_balance=format_amount(asked),
            parts=self.entries(),
        )

    # --- Errors -------------------------------------------------------------------------------------

    def check_planned(self) -> None:
        """Refuse parts that cannot be planned, for which nothing at all is done."""
        failed = [part for part in self.parts if part.error is not None]
        if failed:
            details = failed[0].error.details if len(failed) == 1 and failed[0].error else {}
            raise Invalid(
                f"{counted(len(failed), 'part')} of the {self.subject} cannot be made, and nothing was done:"
                f"{self.reasons(failed)}",
                **{**details, "parts": [self.entry(part) for part in failed]},
            )

    def failure(self) -> HostedError | None:
        """Return the combined error after everything possible was applied; ``None`` if nothing failed."""
        failed = [part for part in self.parts if part.error is not None]
        if not failed:
            return None
        self.tell_price()
        skipped = [part.label for part in self.parts if part.error is None and part.blocked_by]
        left = f"\nNot begun, because they need these: {', '.join(skipped)}" if skipped else ""
        entries = self.entries()
        return SomeFailed(
            f"{len(failed)} of {len(self.parts)} parts failed:{self.reasons(failed)}{left}\nCorrect that, "
            "and run this again: it goes on from there",
            parts=entries,
            changed=any(entry["changed"] for entry in entries),
            actions=[action for entry in entries for action in entry["actions"]],
        )

    def reasons(self, failed: Sequence[Part]) -> str:
        """Return where parts were written and why they failed, a line each."""

        def place(part: Part) -> str:
            mark = self.mark((part.section,) if part.section == "project" else (part.section, part.key))
            return f"{mark}: " if mark else ""

        return line_for_each((f"{place(part)}{part.label}", str(reason_of(part))) for part in failed)


def shown_state(part: Part, state: Mapping[str, Any] | str, command: str) -> Mapping[str, Any] | str:
    """Return a state of a part with a text in place of its launch command, if that is not shown."""
    if not part.hides_command or not isinstance(state, Mapping) or "command" not in state:
        return state
    return {**state, "command": command}


def with_label(label: str, state: Mapping[str, Any] | str) -> dict[str, Any]:
    """Return a state with the label and the path of each value as its key.

    A diff shows three lines around a change: without the label in each line, nobody knows whose they are.
    """
    if not isinstance(state, Mapping):
        return {label: state} if state else {}
    found: dict[str, Any] = {}
    for name, value in state.items():
        line = f"{label} {name}"
        found |= with_label(line, value) if isinstance(value, Mapping) else {line: value}
    return found


def reason_of(part: Part) -> str | None:
    """Return why a part failed or was not begun; ``None`` for neither."""
    if part.error is not None:
        return part.error.message
    blocked = part.blocked_by
    return None if blocked is None else f"not begun, because {blocked.label} failed"


def sum_of(amounts: Iterable[Decimal | None]) -> Decimal:
    """Return the sum of amounts that are known."""
    return sum((amount for amount in amounts if amount is not None), Decimal(0))
