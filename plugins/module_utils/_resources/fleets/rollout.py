# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a fleet gets on: which services may begin, what became of each, and the whole."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from ..._api.errors import HostedError
from ..._api.text import line_for_each
from ..services.many_services import ServiceJob, SomeFailed, combine_errors
from ..shared.currency import currency_of
from ..shared.money import format_amount, to_decimal
from ..shared.plan import Task
from .members import NOTHING, Member
from .options import FleetOptions

ActionsOf = Callable[[ServiceJob], list[str]]


class NotBegun(HostedError):
    """A service that was not begun, because of what became of others. Nothing was done with it."""


@dataclass
class Rollout:
    """Lets the services of a fleet begin, until too many have failed, and tells what becomes of them."""

    task: Task[FleetOptions]
    jobs: Sequence[ServiceJob]
    members: Mapping[str, Member]
    before: Mapping[str, Collection[str]]
    """The services that come before each."""
    batches: Sequence[Sequence[str]] = ()

    def __post_init__(self) -> None:
        """Note how far an earlier run came, before this one changes it."""
        self.in_turn = {job.id or job.wanted: job for job in self.jobs if not job.skipped}
        self.allowed = self.task.options.bound.of(len(self.in_turn))
        any_member = next(iter(self.members.values()), None)
        record = any_member.memory.record if any_member is not None and any_member.goes_on else None
        self.since = record.since if record else None
        self.done_before = set(record.done) if record else set()
        self.actions_of = ServiceJob.planned if self.task.check_mode else ServiceJob.done

    # --- Who may begin --------------------------------------------------------------------------------

    @property
    def failed(self) -> list[ServiceJob]:
        """The services that failed, without those that were not begun."""
        return [one for one in self.in_turn.values() if one.error and not isinstance(one.error, NotBegun)]

    @property
    def not_begun(self) -> list[ServiceJob]:
        """The services that were not let in."""
        return [one for one in self.in_turn.values() if isinstance(one.error, NotBegun)]

    @property
    def closed(self) -> bool:
        """Whether too many have failed."""
        return len(self.failed) > self.allowed

    @property
    def passed(self) -> bool:
        """Whether all services were let in, and no more failed than may."""
        return not self.closed and not self.not_begun

    def enter(self, id: str) -> None:
        """Let a service begin."""
        for other in self.before.get(id, ()):
            blocker = self.in_turn.get(other)
            if blocker is not None and blocker.error is not None:
                how = "was not begun" if isinstance(blocker.error, NotBegun) else "failed"
                raise NotBegun(f"not begun: it comes after {blocker.label}, which {how}")
        if self.closed:
            raise NotBegun(f"not begun: {len(self.failed)} failed, and max_failures allows {self.allowed}")

    # --- Services -------------------------------------------------------------------------------------

    def entries(self, actions_of: ActionsOf) -> list[dict[str, Any]]:
        """Return the entry of every service in the result, in the order of the selection."""
        return [self.entry(job, actions_of(job)) for job in self.jobs]

    def entry(self, job: ServiceJob, actions: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a service in the result, with its outcome and batch."""
        member = self.members.get(str(job.id))
        not_begun = isinstance(job.error, NotBegun)
        shown = job.entry([] if not_begun else actions)
        _act, left_alone = member.verdict if member else NOTHING
        outcome = "changed" if shown["changed"] else "unchanged"
        if job.error is not None:
            outcome = "not begun" if not_begun else "failed"
        elif job.skipped is not None or left_alone:
            outcome = "skipped" if job.skipped is not None else "left alone"
        return {
            **shown,
            "failed": outcome == "failed",
            "msg": shown["msg"] or left_alone,
            "batch": member.batch if member else None,
            "outcome": outcome,
        }

    # --- The whole ------------------------------------------------------------------------------------

    def tell(self) -> None:
        """Put into the result what there is to say of the fleet as a whole."""
        entries = self.entries(self.actions_of)
        named = {id: member.service.name for id, member in self.members.items()}
        options = self.task.options
        self.task.effects.facts["fleet"] = {
            "name": options.name,
            "state": options.state,
            "batches": [[named[id] for id in batch] for batch in self.batches],
            "goes_on_since": self.since.isoformat() if self.since else None,
            "done_before": sorted(named[id] for id in self.done_before if id in named),
            "failures": len(self.failed),
            "max_failures": self.allowed,
            "failed": [job.name for job in self.failed],
            "not_begun": [job.name for job in self.not_begun],
            "left_alone": [entry["service"] for entry in entries if entry["outcome"] == "left alone"],
            "cost": self.cost(entries),
        }

    def cost(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Return how the price of all services changes; ``None`` if it does not."""
        costs = [entry["cost"] for entry in entries if entry.get("cost")]
        if not costs:
            return None
        known = [cost for cost in costs if cost["monthly_change"] is not None]
        sums = {
            name: format_amount(sum((to_decimal(cost[name]) or Decimal(0) for cost in known), Decimal(0)))
            for name in ("monthly_before", "monthly_after", "monthly_change")
        }
        unpriced = [cost["service"] for cost in costs if cost not in known]
        return {**sums, "currency": currency_of(self.task), "unpriced": unpriced}

    # --- Errors ---------------------------------------------------------------------------------------

    def failure(self) -> HostedError | None:
        """Return the error of the run; ``None`` if no more services failed than may."""
        if self.task.check_mode:
            self.foresee()
        self.tell()
        failed, left = self.failed, self.not_begun
        if not failed:
            return None
        reasons = line_for_each((job.label, job.error.message) for job in failed if job.error)
        count = f"{len(failed)} of {len(self.in_turn)} services failed"
        if self.passed:
            self.task.warn(f"{count}, which max_failures allows:{reasons}")
            return None
        over = f", and max_failures allows {self.allowed}" if self.closed else ""
        named = f"\nNot begun: {', '.join(job.label for job in left)}" if left else ""
        actions_of = self.actions_of
        details = {**combine_errors(self.jobs, actions_of).details, "services": self.entries(actions_of)}
        return SomeFailed(f"{count}{over}:{reasons}{named}", **details)

    def foresee(self) -> None:
        """Note in check mode which services would not be begun, by what is known to fail before them."""
        turns = [self.members[id] for batch in self.batches for id in batch]
        known = [member.job.error for member in turns]
        for member in turns:
            member.job.error = None
        for member, error in zip(turns, known, strict=True):
            try:
                self.enter(member.id)
                member.job.error = error
            except NotBegun as refusal:
                member.job.error = refusal
