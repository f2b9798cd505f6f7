# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one poll saw of an account, what is remembered of it between polls, and the events of a poll.

``None`` stands for what is not known, in an observation as in the state: an unknown causes no event.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..._api.libraries import BaseModel, ConfigDict, Field
from ..._api.models import App, Backup, BillingOverview, Event, ServiceSummary
from ..._api.values import WITHOUT_CONTAINER
from .arguments import SourceOptions
from .events import AccountEvent, ServiceFacts


@dataclass(frozen=True)
class Drift:
    """How a project compares with its blueprint."""

    project: str
    differences: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class Observation:
    """What one poll saw. A part that could not be read is ``None``, or lacks what could not be read."""

    services: Mapping[str, ServiceSummary] | None = None
    """The services by id."""
    limited: bool = False
    """Whether the token may only read applications."""
    states: Mapping[str, str | None] = field(default_factory=dict)
    """The states of containers by service."""
    reasons: Mapping[str, str | None] = field(default_factory=dict)
    """Why creations failed, by service."""
    entries: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    """The new entries of activity journals by service, oldest first."""
    restoring: frozenset[str] = frozenset()
    """Stopped services into which a backup is being restored."""
    apps: Mapping[str, App] | None = None
    """The applications by id."""
    overview: BillingOverview | None = None
    backups: Mapping[str, Sequence[Backup]] = field(default_factory=dict)
    """All backups of the services whose turn it was."""
    drift: Mapping[str, Drift] = field(default_factory=dict)
    """Comparisons by the path of the blueprint."""


class Remembered(BaseModel):
    """A part of the state."""

    model_config = ConfigDict(frozen=True)


class BackupMemory(Remembered):
    """What is remembered of the backups of a service."""

    looked: str
    """When they were read last."""
    failed: tuple[str, ...] = ()
    """The ids of those that failed."""
    stale: bool = False


class ServiceMemory(Remembered):
    """What is remembered of a service."""

    name: str
    family: str
    status: str
    product: str | None = None
    created_at: str | None = None
    state: str | None = None
    """The last known state of its container."""
    ordered: str | None = None
    """The last power order: to stop, or to start what was not seen since."""
    ordered_at: str | None = None
    """When it was given, by the platform's clock."""
    restored_at: str | None = None
    """When its files were last restored, by the platform's clock."""
    trouble: str | None = None
    """The type of the event that told of its trouble, until it is back."""
    since: str | None = None
    stops: tuple[str, ...] = ()
    """When it stopped by itself, as far back as stop_window reaches."""
    entry: str | None = None
    """The newest entry of its activity journal that was read."""
    there_before: bool = False
    """Whether it was there before the source was, so that its old backups are no news."""
    deleted: bool = False
    """Whether its deletion was told."""
    backups: BackupMemory | None = None


class AppMemory(Remembered):
    """What is remembered of an application."""

    image: str | None = None
    released_at: str | None = None
    blocked: bool = False
    deploying_since: str | None = None
    """Since when the source waits to see the container of a new image run."""
    previous: str | None = None
    """The image before the one that it waits for."""

    def is_replaced_by(self, app: App) -> bool:
        """Tell whether another image is in service, or the same one anew."""
        anew = bool(app.released_at and self.released_at) and app.released_at != self.released_at
        return bool(app.image_ref) and (anew or app.image_ref != self.image)


class MoneyMemory(Remembered):
    """What was told of the account's money."""

    threshold: int | None = None
    """The lowest entry of balance_days that was reached."""
    high: tuple[str, ...] = ()
    """The measures of spend that are above their limits."""


class DriftMemory(Remembered):
    """What is remembered of a blueprint."""

    looked: str
    signature: str | None = None
    """What the differences were; ``None`` if there were none."""


class State(Remembered):
    """All that the source remembers, and the events that are not known to be delivered."""

    salt: str = Field(default_factory=lambda: str(uuid.uuid4()))
    """Makes the ids of this state file differ from those of others."""
    owner: str = ""
    """A hash of whom the account belongs to; empty if the platform does not tell."""
    sequence: int = 0
    services: dict[str, ServiceMemory] | None = None
    apps: dict[str, AppMemory] | None = None
    money: MoneyMemory = MoneyMemory()
    drift: dict[str, DriftMemory] = Field(default_factory=dict)
    outbox: tuple[dict[str, Any], ...] = ()
    """The events that were not noted as delivered, oldest first."""

    def __init__(self, **found: Any) -> None:
        """Refuse what another program wrote: a source that takes it for its own forgets all."""
        if found and "salt" not in found:
            raise ValueError("it has no salt")
        super().__init__(**found)

    @property
    def known_services(self) -> Mapping[str, ServiceMemory]:
        """The services by id; none before the first poll."""
        return self.services or {}

    @property
    def known_apps(self) -> Mapping[str, AppMemory]:
        """The applications by id; none before the first poll."""
        return self.apps or {}


def has_container(service: ServiceSummary | ServiceMemory) -> bool:
    """Tell whether a service may have a container."""
    return service.family not in WITHOUT_CONTAINER


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
        """Add an event on a service, with what is remembered of it."""
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
