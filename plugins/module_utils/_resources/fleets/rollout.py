# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of batches: each begins when the one before it has ended, unless too many services failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ..._api.errors import HostedError
from ..shared.plan import Branch, Step

B = TypeVar("B", bound=Branch)


class NotBegun(HostedError):
    """A service that was not begun, because of what became of others. Nothing was done with it."""


@dataclass
class Gate(Generic[B]):
    """Lets services begin, until too many have failed."""

    branches: Mapping[str, B]
    """All services, by id. Those that cannot be planned have an error already."""
    before: Mapping[str, Collection[str]]
    """The services that come before each."""
    allowed: int
    """How many may fail."""
    names: Callable[[B], str]

    @property
    def failed(self) -> list[B]:
        """The services that failed."""
        return [one for one in self.branches.values() if one.error and not isinstance(one.error, NotBegun)]

    @property
    def not_begun(self) -> list[B]:
        """The services that were not let in."""
        return [one for one in self.branches.values() if isinstance(one.error, NotBegun)]

    @property
    def closed(self) -> bool:
        """Whether too many have failed."""
        return len(self.failed) > self.allowed

    @property
    def passed(self) -> bool:
        """Whether all services were let in, and no more failed than may."""
        return not self.closed and not self.not_begun

    def enter(self, id: str) -> None:
        """Let a service begin.

        :raises NotBegun: if one that comes before it failed, or too many others did.
        """
        for other in self.before.get(id, ()):
            blocker = self.branches.get(other)
            if blocker is not None and blocker.error is not None:
                how = "was not begun" if isinstance(blocker.error, NotBegun) else "failed"
                raise NotBegun(f"not begun: it comes after {self.names(blocker)}, which {how}")
        if self.closed:
            raise NotBegun(f"not begun: {len(self.failed)} failed, and max_failures allows {self.allowed}")


@dataclass
class Rollout(Generic[B]):
    """The batches of a run, and the pauses between them."""

    batches: Sequence[Sequence[str]]
    gate: Gate[B]
    pause: float = 0.0
    progress: Callable[[str], None] = lambda line: None

    def build(self, first: Step, begin: Callable[[str], Step]) -> list[Step]:
        """Return all steps. ``begin`` makes the step of a service, and ``first`` comes before all."""
        steps, barrier = [first], first
        for number, batch in enumerate(self.batches, start=1):
            own = [replace(begin(id), needs=(barrier,)) for id in batch]
            barrier = self.barrier(number, own)
            steps += [*own, barrier]
        return steps

    def barrier(self, number: int, steps: Sequence[Step]) -> Step:
        """Return the step that ends a batch, whatever became of its services."""

        def end() -> None:
            if number == len(self.batches) or self.gate.closed:
                return
            if self.pause:
                self.progress(f"pausing for {self.pause:g} s after batch {number} of {len(self.batches)}")
                time.sleep(self.pause)

        return Step(f"end batch {number}", end, needs=list(steps), regardless=True, changes=False)
