# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random histories of an account, and a client that shows a part of them at each poll.

A world knows the truth: why a container stopped, and which deploy it belongs to. The client shows what the
platform would: lists, metrics and activity journals, of which some cannot be read at a poll.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import Drift
from unit.plugins.fakes import Readable

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
LONG_AGO = BEGIN - timedelta(days=365)
ORDER, CRASH, DEPLOY = "order", "crash", "deploy"
"""Why a container stopped."""


@dataclass
class Thing:
    """A service as it truly is. ``spell`` numbers the times at which it stopped."""

    id: str
    family: str
    created_at: str
    status: str = "ACTIVE"
    state: str = "running"
    cause: str | None = None
    spell: int = 0
    journal: tuple[tuple[str, str], ...] = ()
    slug: str | None = None
    deploys: int = 0
    verdict: str = "PASSED"
    backups: tuple[tuple[str, str, str], ...] = ()
    """The id, the status and the time of each backup."""

    def stop(self, cause: str) -> None:
        """Stop the container. One that is stopped already is taken to have been started meanwhile."""
        self.state, self.cause, self.spell = "stopped", cause, self.spell + 1

    @property
    def image(self) -> str | None:
        return f"{self.slug}@{self.deploys}" if self.deploys else None


@dataclass(frozen=True)
class Frame:
    """An account at a poll, and what of it can be read then."""

    now: datetime
    things: dict[str, Thing]
    days_left: int | None
    burn: int | None
    differences: tuple[str, ...]
    fails: bool = False
    """Whether the list of services cannot be read, and so nothing."""
    hidden: frozenset[str] = frozenset()
    """What cannot be read: ``apps``, ``overview``, ``drift``, or ``KIND ID``."""

    def shows(self, kind: str, id: str = "") -> bool:
        return f"{kind} {id}".strip() not in self.hidden


@dataclass
class World:
    """An account that changes at random."""

    random: random.Random
    now: datetime = BEGIN
    things: dict[str, Thing] = field(default_factory=dict)
    days_left: int = 30
    burn: int = 100
    differences: tuple[str, ...] = ()
    count: int = 0

    def stamp(self) -> str:
        """Return another moment than before, as text. It is long ago, so that no start is a recent one."""
        self.count += 1
        return (LONG_AGO + timedelta(milliseconds=self.count)).isoformat()

    def note(self, thing: Thing, type: str) -> None:
        """Add an entry to an activity journal."""
        thing.journal = (*thing.journal, (type, self.stamp()))

    def add(self) -> None:
        self.count += 1
        number = self.count
        family = self.random.choice(("GAME", "APP", "APP", "BUCKET"))
        thing = Thing(f"svc-{number}", family, self.now.isoformat())
        self.note(thing, "PROVISIONED")
        if family == "APP":
            thing.slug = f"app-{number}"
            thing.state = "stopped"
            if self.random.random() < 0.5:
                self.deploy(thing)
        self.things[thing.id] = thing

    # --- What may happen ------------------------------------------------------------------------------

    def crash(self, thing: Thing) -> None:
        if thing.state == "running":
            thing.stop(CRASH)

    def order_start(self, thing: Thing) -> None:
        if thing.status == "ACTIVE" and runs(thing):
            self.note(thing, "POWER_START")
            thing.state, thing.cause = "running", None

    def start_in_vain(self, thing: Thing) -> None:
        if thing.status == "ACTIVE" and runs(thing):
            self.note(thing, "POWER_START")
            thing.stop(CRASH)

    def order_stop(self, thing: Thing) -> None:
        if thing.status == "ACTIVE" and runs(thing):
            self.note(thing, self.random.choice(("POWER_STOP", "POWER_KILL")))
            thing.stop(ORDER)

    def suspend(self, thing: Thing) -> None:
        if thing.status == "ACTIVE":
            self.note(thing, "SUSPENDED")
            thing.status = "SUSPENDED"
            if runs(thing):
                thing.stop(ORDER)

    def resume(self, thing: Thing) -> None:
        if thing.status == "SUSPENDED":
            self.note(thing, "RESUMED")
            thing.status = "ACTIVE"

    def fail(self, thing: Thing) -> None:
        if thing.status != "DELETING":
            thing.status = self.random.choice(("FAILED", "AWAITING_ADMIN", "PROVISIONING"))

    def repair(self, thing: Thing) -> None:
        if thing.status in ("FAILED", "AWAITING_ADMIN", "PROVISIONING"):
            thing.status = "ACTIVE"
            self.note(thing, "PROVISIONED")
            if runs(thing):
                thing.state, thing.cause = "running", None

    def delete(self, thing: Thing) -> None:
        if thing.status == "DELETING" or self.random.random() < 0.5:
            del self.things[thing.id]
        else:
            thing.status = "DELETING"

    def deploy(self, thing: Thing) -> None:
        if thing.slug and thing.status == "ACTIVE":
            self.note(thing, "DEPLOYED")
            thing.deploys += 1
            thing.verdict = "PASSED"
            thing.state, thing.cause = "running", None
            if self.random.random() < 0.3:
                thing.stop(DEPLOY)

    def judge(self, thing: Thing) -> None:
        if thing.deploys:
            thing.verdict = self.random.choice(("PASSED", "WARNED", "BLOCKED", "PENDING", "FAILED"))

    def back_up(self, thing: Thing) -> None:
        status = self.random.choice(("COMPLETED", "FAILED", "PENDING"))
        made = (self.now - timedelta(hours=self.random.randrange(30))).isoformat()
        thing.backups = (*thing.backups, (f"b-{self.stamp()}", status, made))[-4:]

    def linger(self, thing: Thing) -> None:
        """Let a container be neither running nor stopped for a while."""
        if thing.state == "running":
            thing.state = self.random.choice(("starting", "installing", "unknown"))
        elif thing.state != "stopped":
            thing.state = "running"

    def happen(self) -> None:
        """Let something happen to a service or to the account."""
        acts = (
            self.crash, self.crash, self.order_start, self.order_start, self.start_in_vain, self.order_stop,
            self.suspend, self.resume, self.resume, self.fail, self.repair, self.repair, self.deploy,
            self.judge, self.back_up, self.linger,
        )  # fmt: skip
        dice = self.random.random()
        if dice < 0.05 or not self.things:
            self.add()
        elif dice < 0.08:
            self.delete(self.random.choice(list(self.things.values())))
        elif dice < 0.15:
            self.days_left = max(0, self.days_left + self.random.randint(-9, 9))
            self.burn = self.random.choice((0, 50, 100, 101, 200))
        elif dice < 0.2:
            self.differences = tuple(sorted(self.random.sample("abc", self.random.randrange(3))))
        else:
            self.random.choice(acts)(self.random.choice(list(self.things.values())))

    def frame(self) -> Frame:
        """Return the account as a poll finds it."""
        dice = self.random.random
        kinds = ("metrics", "journal", "page", "backups")
        hidden = {f"{kind} {id}" for kind in kinds for id in self.things if dice() < 0.1}
        hidden |= {kind for kind in ("apps", "overview", "drift") if dice() < 0.15}
        return Frame(
            now=self.now,
            things={id: replace(thing) for id, thing in self.things.items()},
            days_left=None if dice() < 0.1 else self.days_left,
            burn=None if dice() < 0.1 else self.burn,
            differences=self.differences,
            fails=dice() < 0.1,
            hidden=frozenset(hidden),
        )

    def pass_time(self) -> None:
        """Let the clock go on; now and then it is set to another time."""
        # The milliseconds differ, so that no clock that is set back shows the same time twice.
        self.now += timedelta(minutes=self.random.choice((1, 1, 3, 20, 300)), milliseconds=1)
        if self.random.random() < 0.03:
            self.now += timedelta(hours=self.random.randint(-48, 48))


def runs(thing: Thing) -> bool:
    return thing.family != "BUCKET" and (thing.slug is None or thing.deploys > 0)


def history(seed: int, polls: int) -> list[Frame]:
    world = World(random.Random(seed))
    for _each in range(world.random.randrange(4)):
        world.add()
    frames = []
    for _poll in range(polls):
        for _each in range(world.random.choice((0, 0, 1, 1, 2, 5))):
            world.happen()
        frames.append(world.frame())
        world.pass_time()
    return frames


class FrameClient(Readable):
    """Shows a frame as the platform would."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame

    def _check(self, kind: str, id: str = "") -> None:
        if not self.frame.shows(kind, id):
            raise Interrupted(f"{kind} {id} cannot be read")

    def services(self) -> list[m.ServiceSummary]:
        if self.frame.fails:
            raise Interrupted("the list cannot be read")
        return [summary(thing) for thing in self.frame.things.values()]

    def service(self, id: str) -> m.Service | None:
        self._check("page", id)
        thing = self.frame.things.get(id)
        if thing is None:
            return None
        record = {"id": id, "name": id, "family": thing.family, "status": thing.status}
        return m.Service.model_validate({**record, "failureReason": "no room"})

    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        return {
            id: m.Metrics(state=self.frame.things[id].state) if self.frame.shows("metrics", id) else None
            for id in ids
        }

    def _journal(self, id: str) -> list[m.Event]:
        self._check("journal", id)
        journal = self.frame.things[id].journal
        return [m.Event(id=at, type=type, at=at) for type, at in journal]

    def events(self, id: str, limit: int | None = None, *, since: str | None = None) -> list[m.Event]:
        newest = self._journal(id)[::-1]
        return [event for event in newest if since is None or str(event.at) > since][:limit]

    def apps(self) -> list[m.App]:
        self._check("apps")
        return [
            m.App(
                id=thing.id,
                slug=thing.slug,
                status=thing.status,
                image_ref=thing.image,
                released_at=f"r{thing.deploys}",
                scan_status=thing.verdict if thing.deploys else None,
            )
            for thing in self.frame.things.values()
            if thing.slug
        ]

    def billing_overview(self) -> m.BillingOverview:
        self._check("overview")
        return m.BillingOverview.model_validate(
            {
                "balanceCents": 1000,
                "daysLeftEstimate": self.frame.days_left,
                "currentDailyBurnCents": self.frame.burn,
            }
        )

    def backups(self, id: str) -> list[m.Backup]:
        self._check("backups", id)
        return [
            m.Backup(id=backup, name=backup, status=status, created_at=at)
            for backup, status, at in self.frame.things[id].backups
        ]

    def compare(self, client: Any, path: str) -> Drift:
        """Compare a blueprint, as the source would."""
        self._check("drift")
        return Drift("games", [{"kind": "differs", "path": each} for each in self.frame.differences])


def summary(thing: Thing) -> m.ServiceSummary:
    return m.ServiceSummary(
        id=thing.id, name=thing.id, family=thing.family, status=thing.status, created_at=thing.created_at
    )
