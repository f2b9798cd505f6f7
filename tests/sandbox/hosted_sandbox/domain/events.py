# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The activity journal of a service, and notices to its owner (section Events)."""

from __future__ import annotations

from hosted_sandbox.domain.errors import RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Event, Notice, Service

#: The two event types that the specification shows; the profile decides how others are spelled.
SHOWN = ("POWER_START", "PROVISIONED")


def record(world: World, service: Service, kind: str) -> Event:
    """Add an event to a service's activity journal. `kind` is UPPER_SNAKE."""
    before = world.store.of(Event, service.id)
    at = max(world.now, before[-1].at + 1) if before else world.now  # Times tell which came first.
    event = Event(world.new_id("evt"), service.id, kind, at)
    world.store.put(event)
    return event


def event_type(world: World, kind: str) -> str:
    """Return an event type in the spelling of this platform."""
    if kind in SHOWN:
        return kind
    match world.gaps["events.types"]:
        case "dotted":
            return kind.lower().replace("_", ".")
        case "SERVICE_ prefix":
            return f"SERVICE_{kind}"
        case _:
            return kind


def page(world: World, service: Service, cursor: str | None) -> tuple[list[Event], str | None]:
    """Return a page of events and the cursor of the next one, which is the id of the last event."""
    events = world.store.of(Event, service.id)
    if world.gaps["events.order"] == "newest first":
        events.reverse()
    start = 0
    if cursor is not None:
        ids = [event.id for event in events]
        if cursor not in ids:
            raise RefusedError("cursor", "cursor was not given out by this journal")
        start = ids.index(cursor) + 1
    end = start + int(world.gaps["events.page_size"])
    return events[start:end], events[end - 1].id if end < len(events) else None


def notify(world: World, service: Service, kind: str, text: str) -> None:
    """Notify the owner, or record an internal trace (`kind` trace)."""
    notice = Notice(world.new_id("ntc"), service.account_id, service.id, kind, text, world.now)
    world.store.put(notice)
