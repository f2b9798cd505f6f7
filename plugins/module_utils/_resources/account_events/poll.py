# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects the events of one poll, and numbers them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .arguments import SourceOptions
from .events import AccountEvent, ServiceFacts
from .observation import AppMemory, Observation, ServiceMemory, State


@dataclass
class Poll:
    """One poll: the state before it, what it saw, when, and the events that follow from these."""

    before: State
    seen: Observation
    now: datetime
    rules: SourceOptions
    account: str
    """The address of the platform."""
    events: list[AccountEvent] = field(default_factory=list)
    apps: Mapping[str, AppMemory] | None = None
    """What is remembered of the applications after the poll, by id."""
    failed: set[str] = field(default_factory=set)
    """The applications whose deploy was told to have failed in this poll."""

    @property
    def at(self) -> str:
        """The time of the poll as text."""
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def sequence(self) -> int:
        """The number of the last event."""
        return self.before.sequence + len(self.events)

    @property
    def trouble_is_news(self) -> bool:
        """Whether trouble is told: always, unless it was there before the source and nobody asked for it."""
        return self.before.services is not None or self.rules.report_existing

    def tell_of(
        self, kind: type[AccountEvent], message: str, id: str, service: ServiceMemory, **facts: Any
    ) -> None:
        """Add an event about a service."""
        names = (name for name in ServiceFacts.model_fields if name != "id")
        told = ServiceFacts(id=id, **{name: getattr(service, name) for name in names})
        self.tell(kind, message, service=told, **facts)

    def tell(self, kind: type[AccountEvent], message: str, **facts: Any) -> None:
        """Add an event. Its id follows from its number alone, so that it is the same if it is told again."""
        number = self.sequence + 1
        self.events.append(
            kind(
                id=str(uuid.uuid5(uuid.UUID(self.before.salt), str(number))),
                sequence=number,
                at=self.at,
                account=self.account,
                message=message,
                **facts,
            )
        )
