# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Collects the events of one poll, and numbers them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import App
from .events import AccountEvent, ApplicationFacts, ServiceFacts
from .observation import Observation, ServiceMemory, State


@dataclass(frozen=True, kw_only=True)
class Rules:
    """When events are due."""

    account: str
    """The address of the platform."""
    report_existing: bool = True
    """Whether trouble that was there before the source is told."""
    stop_window: timedelta = timedelta(hours=1)
    balance_days: Sequence[int] = (14, 7, 3, 1)
    max_daily_spend: Decimal | None = None
    max_monthly_spend: Decimal | None = None
    backup_max_age: timedelta | None = None
    backup_services: Sequence[str] | None = None
    """Patterns for the names of services that must have backups; ``None`` for those that have one."""


@dataclass
class Poll:
    """One poll: the state before it, what it saw, when, and the events that follow from these."""

    before: State
    seen: Observation
    now: datetime
    rules: Rules
    events: list[AccountEvent] = field(default_factory=list)

    @property
    def at(self) -> str:
        """The time of the poll as text."""
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def sequence(self) -> int:
        """The number of the last event."""
        return self.before.sequence + len(self.events)

    def tell(self, kind: type[AccountEvent], message: str, **facts: Any) -> None:
        """Add an event. Its id follows from its number alone, so that it is the same if it is told again."""
        number = self.sequence + 1
        self.events.append(
            kind(
                id=str(uuid.uuid5(uuid.UUID(self.before.salt), str(number))),
                sequence=number,
                at=self.at,
                account=self.rules.account,
                message=message,
                **facts,
            )
        )


def service_facts(id: str, service: ServiceMemory) -> ServiceFacts:
    """Return what an event says of a service."""
    return ServiceFacts(
        id=id,
        name=service.name,
        family=service.family,
        status=service.status,
        state=service.state,
        product=service.product,
    )


def application_facts(app: App) -> ApplicationFacts:
    """Return what an event says of an application."""
    return ApplicationFacts(id=app.id, slug=app.slug, name=app.name)
