# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account that a test changes step by step, and the events of each poll."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.changes import advance
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    Observation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state import (
    SourceOptions,
    State,
)

URL = "https://api.example.com"
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def new_state() -> State:
    return State(salt="6d2f1d1c-7c7b-4a1f-9d0e-5e1c5a1b2c3d")


def service(id: str = "s1", status: str = "ACTIVE", family: str = "GAME") -> m.ServiceSummary:
    return m.ServiceSummary(id=id, name=f"name of {id}", family=family, status=status)


def app(image: str | None = "shop@1", verdict: str | None = "PASSED", status: str = "ACTIVE") -> m.App:
    return m.App(id="s1", slug="shop", status=status, image_ref=image, released_at=image, scan_status=verdict)


def entry(type: str, number: int = 1) -> m.Event:
    return m.Event(id=f"e{number}", type=type, at=f"2026-03-01T00:00:{number:02}Z")


class Polls:
    """Takes observations, and returns the events of each."""

    def __init__(self, **rules: Any) -> None:
        self.state = new_state()
        self.now = BEGIN
        self.rules = SourceOptions(**rules)

    def see(self, *services: m.ServiceSummary, minutes: float = 1, **seen: Any) -> list[dict[str, Any]]:
        listed: Mapping[str, m.ServiceSummary] = {each.id: each for each in services}
        return self.take(Observation(**{"services": listed, **seen}), minutes)

    def take(self, seen: Observation, minutes: float = 1) -> list[dict[str, Any]]:
        self.now += timedelta(minutes=minutes)
        before = len(self.state.outbox)
        self.state = advance(self.state, seen, self.now, self.rules, URL)
        return list(self.state.outbox[before:])


def types(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]
