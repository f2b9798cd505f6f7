# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A relocation in memory: an account, a record, and modules that note what they are asked for, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    App,
    ProjectGraph,
    Release,
    Service,
    Settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Data
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.dependents import (
    Dependent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.origin import (
    Origin,
    asked_of,
    wanted_order,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.work import Modules, Work
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import (
    Commitment,
    CommitmentKind,
    Cost,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import SHARED_OPTIONS
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Step, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from unit.plugins.fakes import FakeClient, carry_out

DIGEST, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64
PRICES = {"monthlyMillicents": 8000, "storageMonthlyMillicents": 1000}
GONE = Cost(Decimal(1), Decimal(0))
"""What every plan but that of the order costs."""


class Account(FakeClient):
    """An account with a service to relocate and an application that refers to it."""

    def __init__(self) -> None:
        super().__init__()
        self.aliases = {"old": "mc", "new": "mc-2"}
        self.tag: str | None = "v1"
        self.declared = {"v1": DIGEST}
        self.applications: list[App] = []
        self.add("old", "survival")
        self.add("app_1", "web")

    def add(self, id: str, name: str, status: str = "ACTIVE", state: str = "running") -> None:
        """Add a service with rates."""
        billed = PRICES["storageMonthlyMillicents" if status == "SUSPENDED" else "monthlyMillicents"]
        self.add_service(
            id,
            name,
            status,
            state,
            family="GAME",
            product={"slug": "minecraft"},
            pricing={**PRICES, "billedMonthlyMillicents": billed},
            dates={"suspendedAt": "2020-01-01T00:00:00Z" if status == "SUSPENDED" else None},
        )

    def project_graph(self, id: str) -> ProjectGraph:
        """Return the aliases."""
        nodes = [{"id": id, "alias": alias} for id, alias in self.aliases.items()]
        return ProjectGraph.model_validate({"nodes": nodes})

    def apps(self) -> list[App]:
        """Return the applications."""
        return self.applications

    def settings(self, id: str) -> Settings:
        """Return the tag that an application was deployed with."""
        return Settings.model_validate({**self.setting_records[id], "source": {"tag": self.tag}})

    def releases(self, slug: str) -> list[Release]:
        """Return the tags that are declared, with their digests."""
        return [Release.model_validate({"tag": tag, "digest": each}) for tag, each in self.declared.items()]


@dataclass
class Noted:
    """What the modules were asked for, in its order."""

    calls: list[tuple[str, str, Mapping[str, Any]]] = field(default_factory=list)
    """The module, how far the record said the relocation was, and the options."""
    failing: Callable[[str, Mapping[str, Any]], None] = lambda module, options: None
    """Called when a module is carried out, and may raise."""
    rounds: dict[str, int] = field(default_factory=dict)
    """How often a module finds something to do; always, if it is not in here."""
    planned: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    """What was planned, whether it was carried out or not."""

    def of(self, module: str) -> list[Mapping[str, Any]]:
        """Return what a module was asked for."""
        return [options for name, _phase, options in self.calls if name == module]

    @property
    def steps(self) -> list[str]:
        """What was done, in brief: by phase, what a module did to whom."""
        return [f"{phase}: {module} {what_of(options)}" for module, phase, options in self.calls]


def what_of(options: Mapping[str, Any]) -> str:
    """Return the main options of a call."""
    names = ("source_id", "id", "service", "name", "slug", "tag", "state")
    return " ".join(str(options[name]) for name in names if options.get(name) is not None)


@dataclass
class Module:
    """A module that notes what it is asked for, and changes the account only where a test looks at that."""

    name: str
    noted: Noted
    work: Callable[[], Work]
    account: Account

    def read_options(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the options that are its own."""
        return {name: value for name, value in given.items() if name not in SHARED_OPTIONS}

    def plan(self, task: Task[Any]) -> Plan:
        """Return a plan of one step."""
        options = cast(Mapping[str, Any], task.options)
        self.noted.planned.append((self.name, options))
        if len(self.noted.of(self.name)) >= self.noted.rounds.get(self.name, 1000):
            return Plan(result=None, cost=GONE)

        def run() -> None:
            self.noted.failing(self.name, options)
            self.noted.calls.append((self.name, str(self.work().record.phase), options))
            if self.name == "service":
                self.change(task, options)

        is_order = self.name == "service" and "id" not in options
        moves = is_order or options.get("state") in ("suspended", "resumed", "absent")
        kind: CommitmentKind = "order" if is_order else "suspension"
        made = Commitment(kind, "service", Decimal(4), before=Decimal(0)) if moves else None
        step = Step(f"{self.name} {what_of(options)}", run, commitment=made)
        return Plan(result=None, steps=[step], cost=Cost(Decimal(0), Decimal(5)) if is_order else GONE)

    def change(self, task: Task[Any], options: Mapping[str, Any]) -> None:
        """Let a service be as it was asked for."""
        id, state = options.get("id"), options["state"]
        if id is None:
            id = "new"
            self.account.add(id, options["name"])
            task.effects.facts["service_id"] = id
        if state in ("started", "stopped"):
            self.account.states[id] = {"started": "running", "stopped": "stopped"}[state]
        elif state == "suspended":
            self.account.service_records[id]["status"] = "SUSPENDED"
        elif state == "resumed":
            self.account.service_records[id]["status"] = "ACTIVE"


@dataclass
class Case:
    """A relocation, and all that is around it."""

    work: Work
    noted: Noted
    account: Account

    @property
    def content(self) -> Any:
        """What is remembered, read again from the file."""
        record = self.work.record
        return Relocation.of(self.work.task.options, record.old_id)

    def carry_out(self, plan: Plan) -> Any:
        """Do what a plan says."""
        return carry_out(plan)


def web(account: Account, deployed: bool = True) -> Dependent:
    """Return the application that refers to the service."""
    app = App(
        id="app_1",
        slug="acme-web",
        status="ACTIVE",
        image_ref=f"r/acme-web@{DIGEST}" if deployed else None,
    )
    return Dependent(app, frozenset({"GAME"}), {"GAME": "${mc.HOST}"}, {"KEY": "hunter2"})


def case(
    folder: Path,
    phase: Phase = Phase.NONE,
    data: Data = Data.FILES,
    *,
    dependents: tuple[Dependent, ...] | None = None,
    running: bool = True,
    facts: Mapping[str, Any] | None = None,
    **given: Any,
) -> Case:
    """Return a relocation that has come so far. From ``ORDERED`` on, its new service is there.

    Once that is switched to, the old one is stopped.
    """
    account, noted = Account(), Noted()
    given = {"healthy_for": 0.0, "wait_timeout": 0.0, **given}
    options = RelocateOptions(service="survival", state_dir=str(folder), **given)  # type: ignore[arg-type]
    record = Relocation.of(options, "old")
    record.old_name, record.new_name = "survival", "survival-2"
    record.project_id = "prj_default"
    if phase is not Phase.NONE:
        account.add("new", "survival-2")
        record.write(phase, new_id="new")
    for name, value in (facts or {}).items():
        setattr(record, name, value)
    account.states["old"] = "running" if running and phase is not Phase.SWITCHED else "stopped"
    task = Task(cast(Client, account), options)
    origin = Origin(
        cast(Service, account.service("old")),
        account.settings("old"),
        account.project_graph(""),
        {"app_1": web(account).app},
        data,
        running=running,
    )
    if phase is not Phase.NONE:
        record.asked = asked_of(wanted_order(task, origin))
    named = ("service", "environment", "app_deploy", "files", "database")
    modules = Modules(*(cast(Any, Module(name, noted, lambda: work, account)) for name in named))
    work = Work(task, record, origin, (web(account),) if dependents is None else dependents, modules)
    return Case(work, noted, account)
