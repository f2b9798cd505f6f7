# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random plays that move money: orders, applications, sizes, suspensions, resumptions and deletions."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Draw = random.Random
MOST_TASKS = 4
WAITS = {"wait_timeout": 20}
"""On some platforms an application is created only by its first deploy, and no play has one."""
SKIPS_WAIT = 0.15
"""The share of tasks that do not wait for the end of what they began."""
PRODUCTS: Mapping[str, Mapping[str, Any]] = {
    "minecraft": {"hosts": ("node-paris-1", "node-frankfurt-1"), "disk": 20, "preset": "preset-large"},
    "factorio": {"hosts": ("node-paris-1", "node-frankfurt-1"), "disk": 20},
    "postgresql": {"hosts": ("node-paris-1", "node-helsinki-arm"), "disk": 10, "preset": "preset-db"},
    "valkey": {"hosts": ("node-paris-1", "node-frankfurt-1", "node-helsinki-arm"), "disk": 5},
    "linux": {"hosts": ("node-paris-1",), "disk": 10, "fixed": True},
    "bucket": {"hosts": ("node-paris-1",), "disk": 50, "fixed": True},
    "hobby": {"hosts": ("node-paris-1",), "disk": 5, "fixed": True},
    "broken-game": {"hosts": ("node-paris-1",), "disk": 20, "fixed": True},
}
"""What the sandbox's catalogue sells, as far as these plays order it. The size of some is never changed."""
STATES = ("present", "started", "stopped", "suspended", "resumed", "absent")
SEED: Mapping[str, Any] = {
    "balance_cents": 100_000_000,
    "projects": ["games"],
    "services": [
        {"name": "old-game", "product": "minecraft", "project": "games"},
        {"name": "old-asleep", "product": "factorio", "status": "SUSPENDED"},
        {"name": "old-base", "product": "postgresql"},
    ],
}
"""The account before the first play."""


@dataclass(frozen=True)
class MoneyTask:
    """A task of a module that moves money."""

    module: str
    options: Mapping[str, Any]

    @property
    def subject(self) -> str:
        """The name of the service, or the slug of the application."""
        return str(self.options.get("name") or self.options.get("slug"))

    def __str__(self) -> str:
        return f"{self.module} {json.dumps(self.options)}"


@dataclass(frozen=True)
class Play:
    """Some tasks, and the seconds until the next play."""

    number: int
    tasks: Sequence[MoneyTask]
    pause: float

    def naming(self, service: str | None) -> str:
        """Return the tasks on a service, for messages."""
        return "; ".join(str(task) for task in self.tasks if task.subject == service) or "none of its tasks"


@dataclass
class Account:
    """What a series of plays works on: services and applications by name, and the disk that each may have."""

    draw: Draw
    disks: dict[str, int] = field(default_factory=dict)

    def task(self) -> MoneyTask:
        """Draw a task."""
        kind = self.draw.random()
        if kind < 0.1:
            return MoneyTask("app", {"slug": self.draw.choice(("shop", "blog", "wiki")), **self.patience()})
        if kind < 0.2:
            slug = self.draw.choice(("shop", "blog", "wiki"))
            state = self.draw.choice(("suspended", "resumed", "absent"))
            return MoneyTask("service", {"name": slug, "state": state, **self.patience()})
        if kind < 0.3:
            name, state = self.draw.choice(SEED["services"])["name"], self.draw.choice(STATES[:5])
            return MoneyTask("service", {"name": name, "state": state, **self.patience()})
        return self.service()

    def service(self) -> MoneyTask:
        """Draw a service to order, to change or to delete.

        A task with a size always waits, as only the end tells whether the platform rounds the size, and
        whether the creation fails.
        """
        product = self.draw.choice(tuple(PRODUCTS))
        sold = PRODUCTS[product]
        number = self.draw.randint(1, 2)
        name = f"{product}-{number}"
        state = self.draw.choice(STATES)
        if state in ("resumed", "absent"):
            return MoneyTask("service", {"name": name, "state": state, **self.patience()})
        host = sold["hosts"][number % len(sold["hosts"])]
        order: dict[str, Any] = {"name": name, "product": product, "state": state, "host": host}
        if "preset" in sold and self.draw.random() < 0.1:
            return MoneyTask("service", {**order, "preset": sold["preset"], **WAITS})
        order["dimensions"] = self.size(name, sold)
        if product == "minecraft" and self.draw.random() < 0.5:
            order["options"] = [{"option": "option-slots", "choice": "slots-100"}]
        return MoneyTask("service", {**order, **WAITS})

    def size(self, name: str, sold: Mapping[str, Any]) -> dict[str, int]:
        """Draw a size; disks only grow, and those of some products never change."""
        disk = self.disks.setdefault(name, sold["disk"])
        if sold.get("fixed"):
            return {"cpu_cores": 1, "ram_gb": 2, "storage_gb": disk}
        if self.draw.random() < 0.3:
            self.disks[name] = disk = min(disk + self.draw.randint(1, 10), 250)
        return {
            "cpu_cores": self.draw.randint(1, 4),
            "ram_gb": self.draw.randint(1, 9),
            "storage_gb": disk,
        }

    def patience(self) -> dict[str, Any]:
        """Draw whether the task waits."""
        return {"wait": False} if self.draw.random() < SKIPS_WAIT else WAITS


def plays(seed: int, count: int, seconds: float) -> Iterator[Play]:
    """Draw plays that fill a stretch of time. A seed gives the same ones again."""
    draw = random.Random(f"money {seed}")
    account = Account(draw)
    weights = [draw.expovariate(1) for _play in range(count)]
    for number, weight in enumerate(weights, start=1):
        tasks = [account.task() for _task in range(draw.randint(1, MOST_TASKS))]
        yield Play(number, tasks, seconds * weight / sum(weights))
