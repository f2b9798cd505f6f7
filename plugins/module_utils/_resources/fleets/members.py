# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One service of a fleet: how it is, what is to be done with it, and the plan for that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..._api.models import Metrics, Service
from ..._api.values import ContainerState, Family, ServiceStatus
from ..services.many_services import ServiceJob
from ..services.power import wait_while_stopping
from ..shared.currency import currency_of
from ..shared.effects import Effects
from ..shared.money import Cost
from ..shared.pending import COMMAND, pending_until_start
from ..shared.plan import Plan, Resource, Task, plan_with
from ..shared.task_errors import Invalid
from ..shared.waiting import poll_for
from .decision import IS_SUSPENDED, NOTHING, Situation, Verdict, decide, leave
from .memory import Memory, now
from .options import FleetOptions


@dataclass(frozen=True)
class Modules:
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
        """The id of the service."""
        return self.service.id

    @property
    def state(self) -> str | None:
        """The state of the container; ``None`` if it is not known."""
        return None if self.metrics is None else self.metrics.state

    @property
    def acts(self) -> bool:
        """Whether something is to be done, be it to look at its health again."""
        plan = self.job.plan
        return self.verdict.act and plan is not None and (bool(plan.steps) or self.unfinished)

    @property
    def unfinished(self) -> bool:
        """Whether an earlier run began it and did not come to its end, or its start is still outstanding."""
        record, options = self.memory.record, self.job.task.options
        if options.state == "stopped":
            return False
        begun = self.goes_on and self.id in record.begun and self.id not in record.done
        return begun or (options.state == "started" and record.ran_before(self.id) is True)

    @property
    def goes_on(self) -> bool:
        """Whether the task goes on with the run that the memory tells of."""
        options = self.job.task.options
        return self.memory.record.what == options.what and not options.start_over

    def look_again(self) -> None:
        """Read the service and its container again, because time has passed since the plan was made."""
        task = self.job.task
        self.service = self.job.service = task.account.existing_service(self.id)
        self.read_metrics()

    def await_end_of_stop(self) -> None:
        """Wait while the container stops: it may be restarting or being suspended, so look again after it."""
        task = self.job.task
        if task.options.wait and self.state == ContainerState.STOPPING:
            wait_while_stopping(task, self.id)
            self.look_again()
        if task.options.state == "stopped" and self.state in ContainerState.UP:
            with self.memory.lock:
                self.memory.record.note_stop(self.id, True)

    def read_metrics(self) -> None:
        """Read how the container is now."""
        self.metrics = self.job.task.account.metrics_of(self.id)

    def decide(self) -> None:
        """Decide what to do with the service.

        :raises Invalid: if its state is not known, or its status allows nothing.
        """
        service, record = self.service, self.memory.record
        if service.status not in (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED):
            raise Invalid(f"{self.job.label} has status {service.status}, so nothing is done with it")
        if service.status == ServiceStatus.ACTIVE and self.state not in ContainerState.KNOWN:
            how = f"its state is {self.state!r}" if self.state else "its node cannot be reached"
            raise Invalid(f"whether {self.job.label} runs is unknown: {how}. Nothing is done with it")
        case = Situation(
            service.status,
            self.state,
            ran=record.ran_before(self.id),
            back=self.id in record.back,
            begun=self.goes_on and self.id in record.begun,
            done=self.goes_on and self.id in record.done,
        )
        self.verdict = decide(case, self.job.task.options)

    # --- Planning -----------------------------------------------------------------------------------

    def make_plan(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan for the service. One that was suspended since it was read is left alone."""
        if not self.verdict.act:
            return Plan(result={})
        plan = self.plan_change(task)
        if status_of(plan.result) == ServiceStatus.SUSPENDED and not task.options.resume:
            self.verdict = leave(IS_SUSPENDED)
            return Plan(plan.result)
        return plan

    def plan_change(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan of the module that knows how to make the change."""
        options = task.options
        if options.state == "updated":
            return self.plan_update(task)
        if options.state == "restarted":
            return self.plan_restart(task)
        return self.plan_service(task, state=options.state)

    def foresee(self) -> Plan:
        """Return the plan as far as it is known before the turn of the service comes."""
        task = self.job.task
        if task.check_mode:
            return self.make_plan(task)
        return self.make_plan(replace(task, check_mode=True, warnings=[], effects=Effects()))

    def plan_restart(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan for a restart, unless one that an earlier run began has happened already."""
        interrupted = self.unfinished and self.shows_restart()
        return self.plan_service(task, state="started" if interrupted else "restarted")

    def shows_restart(self) -> bool:
        """Tell whether a restart that an earlier run began shows, be it that it is under way."""
        begun = self.memory.record.begun.get(self.id)
        if begun is None or self.metrics is None or self.state != ContainerState.RUNNING:
            return begun is not None
        uptime = self.metrics.uptime_seconds  # in whole seconds
        return uptime is not None and uptime <= (now() - begun).total_seconds() + 1

    def await_restart(self) -> None:
        """Wait briefly until a restart that an earlier run may have sent shows, as it is not sent twice."""

        def shows() -> bool:
            self.look_again()
            return self.shows_restart()

        if self.job.task.options.state == "restarted" and self.unfinished:
            poll_for(shows)

    def plan_update(self, task: Task[FleetOptions]) -> Plan:
        """Return the plan for a new release, or for another command and size."""
        options = task.options
        if options.tag is not None:
            return self.plan_deploy(task, options.tag)
        given = {"command": options.command, "dimensions": options.dimensions}
        settings = {name: value for name, value in given.items() if value is not None}
        trial = self.plan_service(replace(task, warnings=[]), state="present", **settings)
        if self.needs_start(task, trial):
            return self.plan_service(task, state="restarted", **settings)
        cut_off = self.unfinished and self.id in self.memory.record.up
        return self.plan_service(task, state="started" if cut_off else "present", **settings)

    def needs_start(self, task: Task[FleetOptions], plan: Plan) -> bool:
        """Tell whether a container that runs has to be made anew for its command."""
        if task.options.command is None or self.service.status != ServiceStatus.ACTIVE:
            return False
        if self.state == ContainerState.STOPPED:
            return False
        return command_of(plan.before) != command_of(plan.after) or COMMAND in pending_until_start(
            task, self.id
        )

    def plan_service(self, task: Task[FleetOptions], **given: Any) -> Plan:
        """Return the plan of module service."""
        dimensions = given.get("dimensions")
        arguments = {**given, "id": self.id, "dimensions": dimensions and dimensions.as_dict()}
        arguments |= {"max_monthly": task.options.max_monthly, "resume": task.options.resume}
        return plan_with(task, self.modules.service, arguments)

    def plan_deploy(self, task: Task[FleetOptions], tag: str) -> Plan:
        """Return the plan of module app_deploy.

        :raises Invalid: if the service is no application.
        """
        slug = task.account.slugs().get(self.id)
        if self.service.family != Family.APP or slug is None:
            raise Invalid(f"{self.job.label} is no application, so release {tag!r} cannot be deployed to it")
        return plan_with(task, self.modules.app_deploy, {"slug": slug, "tag": tag})

    # --- Results ------------------------------------------------------------------------------------

    def facts(self, shown: Any, cost: Cost | None, moves: Any) -> dict[str, Any]:
        """Return what the result tells of the service. ``shown`` is the result of its plan."""
        told: Mapping[str, Any] = shown if isinstance(shown, Mapping) else {}
        whole = None if cost is None else replace(cost, service=self.service.name, service_id=self.id)
        return {
            "status": status_of(told) or self.service.status,
            "state": told.get("state") or self.state,
            "ran": self.memory.record.ran_before(self.id),
            "cost": whole and whole.brief(currency_of(self.job.task), moves),
        }

    def expected_facts(self) -> dict[str, Any]:
        """Return what is expected of the service once the plan is applied."""
        plan = self.job.plan
        if plan is None:
            return self.facts({}, None, ())
        return self.facts(plan.result, plan.cost if plan.moves else None, plan.moves)

    def reread(self) -> None:
        """Take the result from the platform after the last step."""
        plan, effects = self.job.plan, self.job.task.effects
        if plan is None:
            return
        shown = plan.reread() if plan.reread and effects.actions else plan.result
        self.read_metrics()
        shown = {**shown, "state": self.state} if isinstance(shown, dict) else shown
        cost = effects.cost(plan.cost) if plan.cost else None
        self.job.result = self.facts(shown, cost, [*effects.moves, *effects.unsure_moves])


def status_of(shown: Any) -> Any:
    """Return the status in the result of a module. That of an application is below a key of its own."""
    told: Mapping[str, Any] = shown if isinstance(shown, Mapping) else {}
    return (told.get("app") or told).get("status")


def command_of(state: Mapping[str, Any] | str) -> Any:
    """Return the launch command in the state that a plan shows."""
    return state.get("command") if isinstance(state, Mapping) else None
