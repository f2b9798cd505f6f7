# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets the services of a fleet begin, unless too many failed or one that comes before does not run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ..._api.errors import HostedError
from ..services.many_services import ServiceJob


class NotBegun(HostedError):
    """A service that was not begun, because of what became of others. Nothing was done with it."""


@dataclass
class Gate:
    """Lets services begin, until too many have failed."""

    jobs: Mapping[str, ServiceJob]
    """All services, by id. Those that cannot be planned have an error already."""
    before: Mapping[str, Collection[str]]
    """The services that come before each."""
    allowed: int
    """How many may fail."""

    @property
    def failed(self) -> list[ServiceJob]:
        """The services that failed."""
        return [one for one in self.jobs.values() if one.error and not isinstance(one.error, NotBegun)]

    @property
    def not_begun(self) -> list[ServiceJob]:
        """The services that were not let in."""
        return [one for one in self.jobs.values() if isinstance(one.error, NotBegun)]

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
            blocker = self.jobs.get(other)
            if blocker is not None and blocker.error is not None:
                how = "was not begun" if isinstance(blocker.error, NotBegun) else "failed"
                raise NotBegun(f"not begun: it comes after {blocker.label}, which {how}")
        if self.closed:
            raise NotBegun(f"not begun: {len(self.failed)} failed, and max_failures allows {self.allowed}")
