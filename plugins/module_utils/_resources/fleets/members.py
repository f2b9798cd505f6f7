# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One service of a fleet: what is asked of it, what is remembered of it, how it is, and the plan for that."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, NamedTuple

from ..._api.models import Metrics, Service
from ..._api.values import ContainerState, Family, ServiceStatus
from ..applications.lookup import check_tag
from ..services.many_services import ManyServicesOptions, ServiceJob
from ..services.options import CommitmentOptions, Size
from ..services.power import wait_while_stopping
from ..shared.money import Cost, currency_of
from ..shared.options import StateDirOptions, names_given, option, required
from ..shared.pending import COMMAND, Pending
from ..shared.plan import Plan, Resource, Task, plan_with
from ..shared.run_memory import Run
from ..shared.store import Kind, Record
from ..shared.task_errors import Invalid
from ..shared.time_zones import current_time
from ..shared.waiting import poll_for
from .health import LONGEST, HealthyOptions, ProbeOptions, check_probe

SHARE = re.compile(r"(\d{1,6})(%?)")

# --- What is asked ------------------------------------------------------------------------------------


def share_of(total: int, text: str, name: str, *, least: int) -> int:
    """Return the number that an option holds, or the part of a total in percent, rounded down."""
    found = SHARE.fullmatch(text.strip())
    amount, percent = (int(found[1]), bool(found[2])) if found else (-1, False)
    if amount < least or (percent and amount > 100):
        raise Invalid(
            f"{name} is {text!r}; it must be a number of {least} or more, or a percentage such as 25%"
        )
    return total * amount // 100 if percent else amount


@dataclass(frozen=True, kw_only=True)
class HealthCheckOptions(ProbeOptions):
    """How to look whether services respond, all of them or some."""

    services: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class FleetOptions(ManyServicesOptions, CommitmentOptions, HealthyOptions, StateDirOptions):
    """The options of module fleet."""

    name: str = required(selects=True)
    state: Literal["started", "stopped", "restarted", "updated"] = required()
    batch_size: list[str] = option(["25%"], selects=True)
    canary: bool = False
    pause: float = 0.0
    max_failures: str = option("0", selects=True)
    health_checks: list[HealthCheckOptions] = option([])
    start_after: dict[str, Any] = option({})
    only_what_ran: bool = True
    resume: bool = False
    tag: str | None = option(None, selects=True)
    command: str | None = None
    dimensions: Size | None = None
    start_over: bool = False

    def sizes(self, total: int) -> list[int]:
        """Return the sizes of the batches; the last one holds for all further ones."""
        return [max(1, share_of(total, size, "batch_size", least=1)) for size in self.batch_size]

    def bound(self, total: int) -> int:
        """Return how many services may fail."""
        return share_of(total, self.max_failures, "max_failures", least=0)

    @property
    def what(self) -> str:
        """What is to be done, as a key: a later run goes on only with the same."""
        size = self.dimensions.as_dict() if self.dimensions else None
        text = json.dumps([self.tag, self.command, size])
        return f"{self.state} {hashlib.blake2b(text.encode(), digest_size=8).hexdigest()}"


def check_options(options: FleetOptions) -> None:
    """Check the options that have limits, or contradict each other."""
    options.sizes(0)  # which checks them
    options.bound(0)
    if not options.wait:
        raise Invalid("a batch begins when the one before it is done, so wait must be true")
    for name in ("pause", "healthy_for"):
        seconds = getattr(options, name)
        if not 0 <= seconds <= LONGEST:
            raise Invalid(f"{name} is {seconds}; it must be 0 to {LONGEST:g} seconds")
    if options.resume and options.state != "started":
        raise Invalid(f"resume goes with state: started alone, and state is {options.state}")
    check_update(options)
    for check in options.health_checks:
        if check.services is not None and not check.services:
            raise Invalid(
                "services of health_checks is an empty list; name services, or leave it out for all"
            )
        check_probe(check)


def check_update(options: FleetOptions) -> None:
    """Check what an update consists of, and that no other state is given any of it."""
    given = names_given(tag=options.tag, command=options.command, dimensions=options.dimensions)
    if options.state != "updated":
        if given:
            raise Invalid(f"{' and '.join(given)} go with state: updated alone, and state is {options.state}")
        return
    if not given:
        raise Invalid("state: updated does not say what to update; set tag, command or dimensions")
    if options.tag is not None:
        check_tag(options.tag)
        if len(given) > 1:
            raise Invalid(f"{' and '.join(given)} cannot be updated at once; use a task for each")
    if options.dimensions is not None and not any(options.dimensions.as_dict().values()):
        raise Invalid("dimensions is empty; give at least one of its parts, or leave it out")


# --- What is remembered -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Begun:
    """When a service was begun, whether it ran then, and whether it is done and healthy."""

    at: datetime
    ran: bool
    done: bool = False


@dataclass
class FleetRecord:
    """What is remembered of a fleet. Services are known by their ids."""

    ran: dict[str, bool | None] = field(default_factory=dict)
    """Whether each service ran before the fleet stopped it; ``None`` once it was started again, or if it was
    not stopped after all."""
    what: str | None = None
    """What the last run was to do; ``None`` if it came to its end."""
    since: datetime | None = None
    """When that was begun."""
    begun: dict[str, Begun] = field(default_factory=dict)
    holder: Run | None = None
    """The run that stopped the fleet and has not started it again; ``None`` if that is not known or over."""

    def note_stop(self, id: str, runs: bool) -> None:
        """Note whether a service runs, before it is stopped. What stands still already keeps its note."""
        if runs or self.ran.get(id) is None:
            self.ran[id] = runs

    def note_back(self, id: str) -> None:
        """Note that a service runs again, or still. Of what was never stopped, nothing is remembered."""
        if id in self.ran:
            self.ran[id] = None

    def begin(self, what: str, start_over: bool) -> None:
        """Go on with what an earlier run was at, or begin anew if that was something else."""
        if self.what == what and not start_over:
            return
        self.what, self.since, self.begun = what, current_time(), {}

    def end(self, left_down: Collection[str] = ()) -> None:
        """Note that the run is over, but for services that it left down: the next one starts those."""
        if not left_down:
            self.what = self.since = None
        self.begun = {id: replace(each, done=False) for id, each in self.begun.items() if id in left_down}


FLEETS = Kind("fleets", FleetRecord, "what the fleet remembers")


@dataclass
class Memory:
    """The file that holds the record of a fleet. Threads share it."""

    file: Record[FleetRecord]
    lock: threading.Lock = field(default_factory=threading.Lock)
    record: FleetRecord = field(init=False)

    def __post_init__(self) -> None:
        self.record = self.file.read()

    def goes_on(self, options: FleetOptions) -> bool:
        """Tell whether a task goes on with the run that this tells of."""
        return self.record.what == options.what and not options.start_over

    def write(self) -> None:
        self.file.write(self.record)

    def note_begun(self, id: str, *, runs: bool) -> None:
        """Remember that a service is about to be changed, unless an earlier run began it and is not done."""
        with self.lock:
            before = self.record.begun.get(id)
            if before is None or before.done:
                self.record.begun[id] = Begun(current_time(), runs)
                self.write()

    def note_done(self, id: str, *, back: bool) -> None:
        """Remember that a service is done; ``back`` tells whether it was started after a stop."""
        with self.lock:
            self.record.begun[id] = replace(self.record.begun[id], done=True)
            if back:
                self.record.note_back(id)
            self.write()


# --- A member -----------------------------------------------------------------------------------------

Verdict = tuple[bool, str | None]
"""Whether to work on a service, or why nothing is done although it is not as the task asks for."""
ACT: Verdict = (True, None)
NOTHING: Verdict = (False, None)
IS_SUSPENDED: Verdict = (False, "it is suspended")


class Modules(NamedTuple):
    """The modules that know how to change a service."""

    service: Resource[Any]
    app_deploy: Resource[Any]


@dataclass(eq=False)
class Member:
    """A service of a fleet."""

    job: ServiceJob
    service: Service
    memory: Memory
    modules: Modules
    metrics: Metrics | None = None
    verdict: Verdict = NOTHING
    batch: int | None = None

    @property
    def id(self) -> str:
        return self.service.id

    @property
    def state(self) -> str | None:
        return None if self.metrics is None else self.metrics.state

    @property
    def runs(self) -> bool:
        """Whether it runs, or is about to."""
        return self.state in ContainerState.UP

    @property
    def acts(self) -> bool:
        """Whether something is to be done, be it to look at its health again."""
        plan = self.job.plan
        return self.verdict == ACT and plan is not None and (bool(plan.steps) or self.unfinished)

    @property
    def begun(self) -> Begun | None:
        """What an earlier run that this one goes on with noted of it."""
        goes_on = self.memory.goes_on(self.job.task.options)
        return self.memory.record.begun.get(self.id) if goes_on else None

    @property
    def cut_off(self) -> bool:
        """Whether an earlier run began it and did not come to its end."""
        return self.begun is not None and not self.begun.done

    @property
    def unfinished(self) -> bool:
        """Whether it was cut off, or its start is still outstanding."""
        options = self.job.task.options
        if options.state == "stopped":
            return False
        return self.cut_off or (options.state == "started" and bool(self.memory.record.ran.get(self.id)))

    def look_again(self) -> None:
        """Read the service and its container again, because time has passed since the plan was made."""
        account = self.job.task.account
        self.service = self.job.service = account.existing_service(self.id)
        self.metrics = account.metrics_of(self.id)

    def look_in_turn(self) -> None:
        """Look again, at the end of what is under way.

        What stops may be restarting or being suspended, and a restart that an earlier run may have sent is
        not sent twice, so it gets the time to show.
        """
        task = self.job.task
        self.look_again()
        if task.options.wait and self.state == ContainerState.STOPPING:
            wait_while_stopping(task, self.id)
            self.look_again()
        if task.options.state == "stopped" and self.runs:
            with self.memory.lock:
                self.memory.record.note_stop(self.id, True)

        def shows() -> bool:
            self.look_again()
            return self.shows_restart()

        if task.options.state == "restarted" and self.unfinished:
            poll_for(shows)

    def decide(self) -> None:
        """Decide what to do with the service, by how it was last read."""
        service = self.service
        if service.status not in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED):
            raise Invalid(f"{self.job.label} has status {service.status}, so nothing is done with it")
        if service.status == ServiceStatus.ACTIVE and self.state not in ContainerState.KNOWN:
            how = f"its state is {self.state!r}" if self.state else "its node cannot be reached"
            raise Invalid(f"whether {self.job.label} runs is unknown: {how}. Nothing is done with it")
        self.verdict = self.judge()

    def judge(self) -> Verdict:
        options = self.job.task.options
        if self.service.status == ServiceStatus.SUSPENDED and not options.resume:
            return IS_SUSPENDED
        if options.state == "started":
            return self.judge_start()
        if options.state == "stopped":
            return NOTHING if self.state == ContainerState.STOPPED else ACT
        if options.state == "restarted" and self.begun is not None and self.begun.done:
            return NOTHING  # its plan would restart it again; that of an update knows what is in effect
        may_run = self.runs or self.state == ContainerState.STOPPING  # a restart begins with a stop
        if not may_run and not self.cut_off and (options.state == "restarted" or options.tag is not None):
            return False, "it does not run"
        return ACT

    def judge_start(self) -> Verdict:
        record = self.memory.record
        ran = record.ran.get(self.id)
        if not self.job.task.options.only_what_ran:
            return NOTHING if self.runs and not self.cut_off else ACT
        if ran or self.runs:
            return ACT if ran else NOTHING
        if ran is False:
            return False, "it did not run before the fleet was stopped"
        if self.id in record.ran:
            return False, "it ran since then, and it was not the fleet that stopped it"
        return False, "it is not known to have run before the fleet was stopped"

    def make_plan(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan for the service. One that was suspended since it was read is left alone."""
        if self.verdict != ACT:
            return Plan(result={})
        if task.options.state == "updated":
            plan = self.plan_update(task)
        elif task.options.state == "restarted":
            interrupted = self.unfinished and self.shows_restart()  # by a run that was cut off after it
            plan = self.plan_service(task, state="started" if interrupted else "restarted")
        else:
            plan = self.plan_service(task, state=task.options.state)
        if status_of(plan.result) == ServiceStatus.SUSPENDED and not task.options.resume:
            self.verdict = IS_SUSPENDED
            return Plan(plan.result)
        return plan

    def shows_restart(self) -> bool:
        """Tell whether a restart that an earlier run began shows, be it that it is under way."""
        begun = self.memory.record.begun.get(self.id)
        if begun is None or self.metrics is None or self.state != ContainerState.RUNNING:
            return begun is not None
        uptime = self.metrics.uptime_seconds  # in whole seconds
        return uptime is not None and uptime <= (current_time() - begun.at).total_seconds() + 1

    def plan_update(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan for a new release, or for another command and size."""
        options = task.options
        if options.tag is not None:
            slug = task.account.slugs().get(self.id)
            if self.service.family != Family.APP or slug is None:
                raise Invalid(
                    f"{self.job.label} is no application, so release {options.tag!r} cannot be deployed to it"
                )
            return plan_with(task, self.modules.app_deploy, {"slug": slug, "tag": options.tag})
        given = {"command": options.command, "dimensions": options.dimensions}
        settings = {name: value for name, value in given.items() if value is not None}
        trial = self.plan_service(replace(task, warnings=[]), state="present", **settings)
        runs = self.service.status == ServiceStatus.ACTIVE and self.state != ContainerState.STOPPED
        if options.command is not None and runs:  # made anew for its command
            changes = command_of(trial.before) != command_of(trial.after)
            if changes or COMMAND in Pending.of(task, self.id).until_start():
                return self.plan_service(task, state="restarted", **settings)
        ran = self.begun is not None and not self.begun.done and self.begun.ran
        return self.plan_service(task, state="started" if ran else "present", **settings)

    def plan_service(self, task: Task[FleetOptions], **given: Any) -> Plan:
        """Return the plan of module service, with ``max_monthly`` and ``resume`` of the task."""
        dimensions = given.get("dimensions")
        arguments = {**given, "id": self.id, "dimensions": dimensions and dimensions.as_dict()}
        arguments |= {"max_monthly": task.options.max_monthly, "resume": task.options.resume}
        return plan_with(task, self.modules.service, arguments)

    def facts(self, shown: Any, cost: Cost | None, moves: Any) -> dict[str, Any]:
        """Return what the result tells of the service. ``shown`` is the result of its plan."""
        told: Mapping[str, Any] = shown if isinstance(shown, Mapping) else {}
        whole = None if cost is None else replace(cost, service=self.service.name, service_id=self.id)
        return {
            "status": status_of(told) or self.service.status,
            "state": told.get("state") or self.state,
            "ran": self.memory.record.ran.get(self.id),
            "cost": whole and whole.brief(currency_of(self.job.task), moves),
        }

    def reread(self) -> None:
        """Take the result from the platform after the last step."""
        plan, effects = self.job.plan, self.job.task.effects
        if plan is None:
            return
        shown = plan.reread() if plan.reread and effects.actions else plan.result
        self.metrics = self.job.task.account.metrics_of(self.id)
        shown = {**shown, "state": self.state} if isinstance(shown, dict) else shown
        cost = effects.cost(plan.cost) if plan.cost else None
        self.job.result = self.facts(shown, cost, [*effects.moves, *effects.unsure_moves])


def status_of(shown: Any) -> Any:
    """Return the status in the result of a module. That of an application is below a key of its own."""
    told: Mapping[str, Any] = shown if isinstance(shown, Mapping) else {}
    return (told.get("app") or told).get("status")


def command_of(state: Mapping[str, Any] | str) -> Any:
    return state.get("command") if isinstance(state, Mapping) else None
