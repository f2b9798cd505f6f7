# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events a history must give, worked out from the truth instead of from what the platform shows.

The model shares no code with the source. It goes through the polls once for each subject, and knows why
containers stopped, where the source has to read that from activity journals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from unit.plugins.module_utils._resources.account_events.histories import ORDER, Frame, Thing

Expected = tuple[str, str]
"""The type of an event, and what it is about."""
DAYS = (14, 7, 3, 1)
MAX_DAILY_CENTS = 100
MAX_AGE = timedelta(hours=24)


def expected(frames: Sequence[Frame]) -> list[Expected]:
    """Return the events of a history, of which ``frames`` are the polls that were completed."""
    seen = [frame for frame in frames if not frame.fails]
    ids = sorted({id for frame in seen for id in frame.things})
    found = [event for id in ids for event in ServiceModel(id, seen).events()]
    return [*found, *balance(seen), *spend(seen), *drift(seen)]


class ServiceModel:
    """What must be told of one service."""

    def __init__(self, id: str, frames: Sequence[Frame]) -> None:
        self.id = id
        self.frames = frames
        self.listed = False
        self.deleting = False
        self.trouble: str | None = None
        self.spell: int | None = None
        """The last spell for which it is known why it stopped."""
        self.deploys: int | None = None
        self.waiting: datetime | None = None
        self.blocked: int | None = None
        self.failed: set[str] | None = None
        self.stale = False
        self.late = False
        """Whether it appeared after the source."""

    def events(self) -> Iterator[Expected]:
        for number, frame in enumerate(self.frames):
            first = number == 0
            thing = frame.things.get(self.id)
            if thing is None:
                yield from self.absent(frame)
                continue
            yield from self.application(frame, thing, not self.apps_before(number))
            yield from self.service(frame, thing, first)

    def apps_before(self, number: int) -> bool:
        return any(frame.shows("apps") for frame in self.frames[:number])

    def absent(self, frame: Frame) -> Iterator[Expected]:
        if self.listed:
            if not self.deleting:
                yield "service_deleted", self.id
            self.listed, self.deploys = False, None

    # --- The application ------------------------------------------------------------------------------

    def application(self, frame: Frame, thing: Thing, first: bool) -> Iterator[Expected]:
        if not thing.slug or not frame.shows("apps"):
            return
        if self.deploys is None:
            self.deploys = thing.deploys if first else 0
        if thing.deploys != self.deploys:
            if self.waiting:
                yield "deploy_done", self.id
            self.deploys, self.waiting = thing.deploys, frame.now
        yield from self.verdict(thing)
        yield from self.outcome(frame, thing)

    def outcome(self, frame: Frame, thing: Thing) -> Iterator[Expected]:
        if self.waiting is None:
            return
        state = self.state(frame, thing)
        if state == "running":
            yield "deploy_done", self.id
        elif state == "stopped" and frame.shows("journal", self.id):
            if thing.cause == ORDER:
                yield "deploy_done", self.id
            else:
                yield "deploy_failed", self.id
                self.trouble, self.spell = "deploy_failed", thing.spell
        elif abs(frame.now - self.waiting) > timedelta(minutes=10):
            yield "deploy_done", self.id
        else:
            return
        self.waiting = None

    def verdict(self, thing: Thing) -> Iterator[Expected]:
        if self.blocked is not None and self.blocked != thing.deploys:
            self.blocked = None
        if thing.deploys and thing.verdict == "BLOCKED" and self.blocked is None:
            self.blocked = thing.deploys
            yield "release_blocked", self.id
        elif thing.verdict in ("PASSED", "WARNED") and self.blocked is not None:
            self.blocked = None
            yield "verdict_lifted", self.id

    # --- The service ----------------------------------------------------------------------------------

    def state(self, frame: Frame, thing: Thing) -> str | None:
        shown = thing.status == "ACTIVE" and frame.shows("metrics", self.id)
        return thing.state if shown and thing.family != "BUCKET" and thing.state != "unknown" else None

    def service(self, frame: Frame, thing: Thing, first: bool) -> Iterator[Expected]:
        if not self.listed:
            self.listed, self.late = True, not first
            if self.late and thing.status != "DELETING":
                yield "service_ordered", self.id
            elif thing.status == "DELETING":
                self.deleting = True
        if thing.status == "DELETING":
            if not self.deleting:
                self.deleting = True
                yield "service_deleted", self.id
            return
        yield from self.health(frame, thing)
        yield from self.backups(frame, thing)

    def health(self, frame: Frame, thing: Thing) -> Iterator[Expected]:
        of_status = {"FAILED": "service_failed", "AWAITING_ADMIN": "service_awaiting_admin"}.get(thing.status)
        state = self.state(frame, thing)
        if of_status is not None:
            if self.trouble != of_status:
                self.trouble = of_status
                yield of_status, self.id
        elif state == "running" or (thing.status == "ACTIVE" and thing.family == "BUCKET"):
            if self.trouble:
                self.trouble = None
                yield "service_back", self.id
        elif state == "stopped" and self.spell != thing.spell and self.knows_cause(frame, thing):
            self.spell = thing.spell
            if thing.cause not in (ORDER, None):
                self.trouble = "service_stopped"
                yield "service_stopped", self.id

    def knows_cause(self, frame: Frame, thing: Thing) -> bool:
        """Tell whether it can be known why the container stopped. One without an image never ran."""
        return frame.shows("journal", self.id) and (not thing.slug or bool(self.deploys))

    def backups(self, frame: Frame, thing: Thing) -> Iterator[Expected]:
        if thing.family == "BUCKET" or thing.status not in ("ACTIVE", "SUSPENDED"):
            return
        if not frame.shows("backups", self.id):
            return
        failed = {id for id, status, _at in thing.backups if status == "FAILED"}
        before = self.failed if self.failed is not None else set() if self.late else failed
        for id in sorted(failed - before):
            yield "backup_failed", id
        self.failed = failed
        made = [datetime.fromisoformat(at) for _id, status, at in thing.backups if status == "COMPLETED"]
        stale = bool(made) and frame.now - max(made) > MAX_AGE
        if stale != self.stale and (stale or made):
            yield "backups_stale" if stale else "backups_fresh", self.id
        self.stale = stale


def balance(frames: Sequence[Frame]) -> Iterator[Expected]:
    level: int | None = None
    for frame in frames:
        days = frame.days_left
        if days is None or not frame.shows("overview"):
            continue
        below = [limit for limit in DAYS if days <= limit and frame.burn != 0]
        if below and (level is None or min(below) < level):
            level = min(below)
            yield "balance_low", str(level)
        elif level is not None and (days > level + 1 or frame.burn == 0):
            if not below:
                yield "balance_recovered", ""
            level = min(below, default=None)


def spend(frames: Sequence[Frame]) -> Iterator[Expected]:
    high = False
    for frame in frames:
        if frame.burn is None or not frame.shows("overview"):
            continue
        if (frame.burn > MAX_DAILY_CENTS) != high:
            high = not high
            yield "spend_high" if high else "spend_recovered", "daily"


def drift(frames: Sequence[Frame]) -> Iterator[Expected]:
    before: tuple[str, ...] = ()
    for frame in frames:
        if frame.shows("drift") and frame.differences != before:
            before = frame.differences
            yield "blueprint_drifted" if before else "blueprint_in_sync", "".join(before)
