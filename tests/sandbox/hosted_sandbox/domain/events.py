# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The activity journal of a service, and notices to its owner (section Events)."""

from __future__ import annotations

from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Event, Notice, Service

ENTRIES_A_PAGE = 20


def record(world: World, service: Service, kind: str) -> None:
    """Add an event to a service's activity journal. `kind` is UPPER_SNAKE."""
    before = world.store.of(Event, service.id)
    at = max(world.now, before[-1].at + 1) if before else world.now  # Times tell which came first.
    world.store.put(Event(world.new_id("evt"), service.id, kind, at))


def page(world: World, service: Service, cursor: str | None) -> tuple[list[Event], str | None]:
    """Return a page of events, newest first, and the cursor of the next one: the id of the last event."""
    events = world.store.of(Event, service.id)[::-1]
    start = 0
    if cursor is not None:
        ids = [event.id for event in events]
        if cursor not in ids:
            raise RefusedError("cursor was not given out by this journal")
        start = ids.index(cursor) + 1
    end = start + ENTRIES_A_PAGE
    return events[start:end], events[end - 1].id if end < len(events) else None


def notify(world: World, service: Service, kind: str, text: str) -> None:
    """Notify the owner, or record an internal trace (`kind` trace)."""
    notice = Notice(world.new_id("ntc"), service.account_id, service.id, kind, text, world.now)
    world.store.put(notice)
