# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random plays under a budget: what they do to which services, how they are run, and what befalls them.

Every task works on services of its own, one for each unit: a host of the play, or an item of a loop. So what
each adds to the rate is known beforehand, whichever order they come in.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import yaml

Draw = random.Random
NODE = "node-paris-1"
RATES = {"cpu_cores": 2400, "ram_gb": 1060, "storage_gb": 85}
"""Of the node, in millicents a month (`GET /api/resources/{id}/settings`)."""
ENTRY = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 5}
"""The size of an application that asks for none."""
SMALL, LARGE = (
    {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 20},
    {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
)
PROJECTS = ("shop", "games")
COMMITTING = {
    "order": "POST /api/order",
    "app": "POST /api/apps",
    "resize": "PUT /api/resources/{id}/scale",
    "resume": "POST /api/resources/{id}/resume",
    "move": "PUT /api/resources/{id}/project",
}
LOWERING = ("suspend", "delete", "shrink")
FAULTS: Sequence[Mapping[str, Any]] = (
    {"kind": "reset"},
    {"kind": "reset", "when": "after"},
    {"kind": "status", "status": 429},
    {"kind": "status", "status": 409},
    {"kind": "status", "status": 503},
    {"kind": "status", "status": 503, "when": "after"},
)
MODES = {"quiet": 45, "faults": 22, "killed": 12, "started later": 9, "two at once": 12}


def price(size: Mapping[str, int], *parts: str) -> Decimal:
    """Return what a size, or parts of it, costs in a month."""
    return Decimal(sum(size[part] * RATES[part] for part in parts or size)) / 1000


@dataclass(frozen=True)
class Change:
    """A task: what it does to the service of each unit."""

    number: int
    kind: str
    size: Mapping[str, int]
    project: str | None
    background: bool = False

    @property
    def title(self) -> str:
        """The name of the task."""
        return f"t{self.number} {self.kind}"

    def service(self, unit: str) -> str:
        """Return the name of the service, or the slug of the application, of a unit."""
        return f"t{self.number}-{unit}"

    @property
    def before(self) -> Decimal:
        """What each service costs before the task."""
        if self.kind in ("order", "app"):
            return Decimal(0)
        if self.kind == "resume":
            return price(SMALL, "storage_gb")
        return price(LARGE if self.kind == "shrink" else SMALL)

    @property
    def after(self) -> Decimal:
        """What each costs after it."""
        if self.kind in ("order", "resize", "app"):
            return price(self.size)
        return {"delete": Decimal(0), "suspend": price(SMALL, "storage_gb")}.get(self.kind, price(SMALL))

    @property
    def adds(self) -> Decimal:
        """What it adds to the rate of the account for each unit."""
        return self.after - self.before

    def home(self, done: bool) -> str | None:
        """Return the project of its services, before or after the task."""
        return "games" if self.kind == "move" and done else "shop" if self.kind == "move" else self.project

    def seeded(self, units: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Yield the services that are there before."""
        if self.kind in ("order", "app"):
            return
        size = LARGE if self.kind == "shrink" else SMALL
        names = {"cpu_cores": "cpuCores", "ram_gb": "ramGb", "storage_gb": "storageGb"}
        status = "SUSPENDED" if self.kind == "resume" else "ACTIVE"
        for unit in units:
            yield {
                "name": self.service(unit), "product": "minecraft", "host": NODE, "project": self.home(False),
                "status": status, "dimensions": {names[part]: number for part, number in size.items()},
            }  # fmt: skip

    def options(self, unit: str) -> tuple[str, dict[str, Any]]:
        """Return the module and its options for a unit, which may be a template."""
        name = self.service(unit)
        project = {"project": self.project} if self.project else {}
        match self.kind:
            case "app":
                return "app", {"slug": name, **project}
            case "order":
                size = {"product": "minecraft", "host": NODE, "dimensions": dict(self.size)}
                return "service", {"name": name, **size, **project}
            case "resize" | "shrink":
                return "service", {"name": name, "dimensions": dict(self.size)}
            case "move":
                return "service", {"name": name, "project": "shop", "new_project": "games"}
        states = {"resume": "resumed", "suspend": "suspended", "delete": "absent"}
        return "service", {"name": name, "state": states[self.kind]}


@dataclass(frozen=True)
class RunOf:
    """One run of ansible-playbook: its units, and how it goes about them."""

    name: str
    units: Sequence[str]
    changes: Sequence[Change]
    looped: bool = True
    strategy: str = "linear"
    serial: int = 0
    as_module: bool = False

    def playbook(self, budget: Mapping[str, Any]) -> str:
        """Return the playbook. ``budget`` are the options that its tasks have besides their own."""
        play: dict[str, Any] = {"hosts": "localhost" if self.looped else "all:!localhost"}
        play |= {"gather_facts": False, "strategy": self.strategy}
        play |= {} if self.looped or not self.serial else {"serial": self.serial}
        play["tasks"] = [self.task(change, budget) for change in self.changes]
        return yaml.safe_dump([play], sort_keys=False)

    def task(self, change: Change, budget: Mapping[str, Any]) -> dict[str, Any]:
        """Return the task of a change."""
        module, options = change.options("{{ item }}" if self.looped else "{{ inventory_hostname }}")
        task: dict[str, Any] = {"name": change.title}
        task[f"hosted.services.{module}"] = {**options, **budget, "wait_interval": 0.2}
        task |= {"loop": list(self.units)} if self.looped else {}
        task["ignore_errors"] = True
        task |= {"async": 120, "poll": 1} if change.background else {}
        return task

    def inventory(self) -> str:
        """Return the hosts that are units, besides the controller."""
        return "" if self.looped else "\n".join(self.units)


@dataclass(frozen=True)
class Limits:
    """The budget of a play in currency units a month, and where each part of it is written."""

    account: Decimal | None = None
    projects: Mapping[str, Decimal] = field(default_factory=dict)
    run: Decimal | None = None
    places: Mapping[str, str] = field(default_factory=dict)
    """For each kind of limit: `option`, `variable` or `environment`."""

    def at(self, place: str) -> dict[str, Any]:
        """Return what is written in a place. A higher limit of the account in another one raises nothing."""
        parts: dict[str, Any] = {
            "account": None if self.account is None else str(self.account),
            "projects": {name: str(most) for name, most in self.projects.items()} or None,
            "run": None if self.run is None else str(self.run),
        }
        here = {kind: part for kind, part in parts.items() if part and self.places[kind] == place}
        if place == "variable" and self.account is not None:
            here.setdefault("account", str(self.account + 5))
        return here


@dataclass(frozen=True)
class BudgetPlay:
    """A play: the account, the budget, one run or two, and what befalls them."""

    seed: int
    mode: str
    runs: Sequence[RunOf]
    limits: Limits
    faults: Sequence[Mapping[str, Any]] = ()
    killed_at: int = 0
    """The request at which the run is killed."""
    resumes_at: str = ""
    """The task at which the second run of a playbook starts."""
    cold: bool = False

    @property
    def account(self) -> dict[str, Any]:
        """The seed document of the account."""
        services = [each for run in self.runs for change in run.changes for each in change.seeded(run.units)]
        return {"balance_cents": 100_000_000, "projects": list(PROJECTS), "services": services}

    def services(self) -> Iterator[tuple[RunOf, Change, str]]:
        """Yield what works on which service: run, task and unit."""
        for run in self.runs:
            for change in run.changes:
                yield from ((run, change, unit) for unit in run.units)

    def __str__(self) -> str:
        kinds = ", ".join(change.title for run in self.runs for change in run.changes)
        shape = "; ".join(
            f"{len(run.units)} {'items' if run.looped else 'hosts'} {run.strategy} {run.serial or ''}"
            for run in self.runs
        )
        limits = {place: self.limits.at(place) for place in ("option", "variable", "environment")}
        return f"seed {self.seed} ({self.mode}; {shape}; {kinds}; {json.dumps(limits)}; {list(self.faults)})"


# --- Drawing ------------------------------------------------------------------------------------------


def draw_play(seed: int, cold_share: float = 0.0) -> BudgetPlay:
    """Draw a play. A seed gives the same one again."""
    draw = random.Random(f"budget {seed}")
    mode = draw.choices(tuple(MODES), tuple(MODES.values()))[0]
    names = ("a", "b") if mode == "two at once" else ("a",)
    runs = [draw_run(draw, name, mode) for name in names]
    titles = [change.title for change in runs[0].changes]
    return BudgetPlay(
        seed,
        mode,
        runs,
        draw_limits(draw, runs),
        faults=list(draw_faults(draw)) if mode == "faults" else (),
        killed_at=draw.randint(1, 25) if mode == "killed" else 0,
        resumes_at=draw.choice(titles) if mode == "started later" else "",
        cold=draw.random() < cold_share,
    )


def draw_run(draw: Draw, name: str, mode: str) -> RunOf:
    """Draw a run: mostly few units, seldom as many hosts as there are forks."""
    as_module = mode in ("quiet", "two at once") and draw.random() < 0.06
    looped = draw.random() < 0.4
    many = not looped and not as_module and draw.random() < 0.01
    count = 50 if many else draw.choice((1, 2) if as_module else (1, 1, 2, 2, 3, 5))
    kinds = ["order"] if many else draw.choices((*COMMITTING, "order", *LOWERING), k=draw.randint(1, 3))
    background = as_module and draw.random() < 0.5
    changes = [
        draw_change(draw, number, kind, name, background) for number, kind in enumerate(kinds, start=1)
    ]
    strategy = draw.choice(("linear", "free")) if not looped else "linear"
    serial = draw.choice((0, 0, 1, 2)) if strategy == "linear" and not many else 0
    units = [f"{name}{number}" for number in range(1, count + 1)]
    return RunOf(name, units, changes, looped, strategy, serial, as_module and not background)


def draw_change(draw: Draw, number: int, kind: str, name: str, background: bool) -> Change:
    """Draw a task of a kind. Memory has the steps of all platforms, so that none rounds it."""
    size: Mapping[str, int] = {
        "cpu_cores": draw.randint(2, 4), "ram_gb": draw.choice((4, 6, 8)), "storage_gb": 20
    }  # fmt: skip
    size = {"app": ENTRY, "shrink": SMALL}.get(kind, size)
    project = draw.choice((None, *PROJECTS)) if kind in ("order", "app") else draw.choice(PROJECTS)
    return Change(number, kind, size, project, background)


def draw_limits(draw: Draw, runs: Sequence[RunOf]) -> Limits:
    """Draw a budget that some of the tasks fit, mostly."""
    services = [(change, run) for run in runs for change in run.changes for _unit in run.units]
    base = sum((change.before for change, _run in services), Decimal(0))
    growth = sum((max(change.adds, Decimal(0)) for change, _run in services), Decimal(0))
    there = sum((change.before for change, _run in services if change.home(False) == "games"), Decimal(0))
    joining = sum((change.after for change, _run in services if change.home(True) == "games"), Decimal(0))
    own = sum((max(change.adds, Decimal(0)) for change, run in services if run is runs[0]), Decimal(0))
    given = draw.choice(("account", "account", "account run", "account projects", "projects", "run", "all"))
    kinds = ("account", "projects", "run") if given == "all" else given.split()

    def part(amount: Decimal) -> Decimal:
        return (amount * Decimal(draw.randint(0, 110)) / 100).quantize(Decimal("0.001"))

    return Limits(
        account=max(base + part(growth) - draw.choice((0, 0, 0, 3)), Decimal(1))
        if "account" in kinds
        else None,
        projects={"games": there + part(max(joining - there, Decimal(0)))} if "projects" in kinds else {},
        run=part(own) if "run" in kinds else None,
        places={kind: draw.choice(("option", "variable", "environment")) for kind in kinds},
    )


def draw_faults(draw: Draw) -> Iterator[Mapping[str, Any]]:
    """Draw what befalls which calls: those that commit money, and any."""
    for _fault in range(draw.randint(1, 3)):
        route = draw.choice((*COMMITTING.values(), "*"))
        yield {"route": route, "nth": draw.randint(1, 3 if route != "*" else 30), **draw.choice(FAULTS)}
