# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The effects of a task so far. Its result, its errors and its price read them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from ..._api.errors import OF_A_CALL
from .money import PRICED, Commitment, Cost


@dataclass
class Effects:
    """The effects of a task on the platform. The runner, the client and the resource add to them."""

    actions: list[str] = field(default_factory=list)
    """What was changed, one sentence for each step, in their order."""
    begun: list[str] = field(default_factory=list)
    """Those of the actions that the platform was still at when the task gave up waiting."""
    unknown: list[str] = field(default_factory=list)
    """Steps of which nobody knows whether they changed anything. They are not among the actions."""
    writes: int = 0
    """How many calls that may change something the platform said it had carried out."""
    moves: list[Commitment] = field(default_factory=list)
    """What was done that moves money, in its order."""
    unsure_moves: list[Commitment] = field(default_factory=list)
    """What may have been done that moves money."""
    billed: Cost | None = None
    """The price that the platform bills, where it is not the one that was announced."""
    facts: dict[str, Any] = field(default_factory=dict)
    """Keys that the result carries even when a later step fails, such as secrets shown only once."""
    nothing_changed: bool = False
    """Whether the steps turned out to change nothing, where only carrying them out tells."""

    @property
    def changed(self) -> bool:
        """Whether anything was changed, as far as the applied steps show."""
        return bool(self.actions) and not self.nothing_changed

    def changed_before(self, error: Exception | None) -> bool:
        """Tell whether a call failed after others of its step had changed something.

        Errors of other kinds state themselves what was changed.
        """
        return isinstance(error, OF_A_CALL) and self.writes > 0

    def wrote(self) -> None:
        """Record that the platform accepted a call that may change something."""
        self.writes += 1

    def finish(self, summary: str, made: Commitment | None = None) -> None:
        """Record a completed step and its effect on the price."""
        self.actions.append(summary)
        self.moves += [made] if made and made.kind in PRICED else []

    def begin(self, summary: str, made: Commitment | None = None) -> None:
        """Record a step that was started, and whose end was not waited for."""
        self.finish(summary, made)
        self.begun.append(summary)

    def cost(self, planned: Cost) -> Cost | None:
        """Return what was done to the price; ``None`` if nothing was, an unknown one if that is not sure."""
        if self.unsure_moves:
            return replace(planned, after=None)
        if self.billed is not None:
            return replace(planned, after=self.billed.after)
        if not self.moves:
            return None
        # What was ordered has its id once that is done.
        services = {made.id or self.facts.get("service_id") or made.key for made in self.moves}
        first, last = self.moves[0], self.moves[-1]
        if len(services) == 1 and planned.before == first.since:  # the price is that of this service alone
            return replace(planned, after=last.forecast)
        amounts = [planned.before, *(made.adds for made in self.moves)]
        known = [amount for amount in amounts if amount is not None]
        return replace(planned, after=sum(known, Decimal(0)) if len(known) == len(amounts) else None)

    def branch(self) -> Effects:
        """Return the effects for a part of the task. Facts are always recorded in the whole."""
        return Effects(facts=self.facts)

    def absorb(self, part: Effects) -> None:
        """Add the effects of a part of the task."""
        self.actions += part.actions
        self.begun += part.begun
        self.unknown += part.unknown
        self.writes += part.writes
        self.moves += part.moves
        self.unsure_moves += part.unsure_moves
