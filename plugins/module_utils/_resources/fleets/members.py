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
from ..shared.money import Cost, currency_of
from ..shared.pending import COMMAND, Pending
from ..shared.plan import Effects, Plan, Resource, Task, plan_with
from ..shared.task_errors import Invalid
from ..shared.time_zones import current_time
from ..shared.waiting import poll_for
from .memory import Memory
from .options import FleetOptions

Verdict = tuple[bool, str | None]
"""Whether to work on a service, or why nothing is done although it is not as the task asks for."""
ACT: Verdict = (True, None)
NOTHING: Verdict = (False, None)
IS_SUSPENDED: Verdict = (False, "it is suspended")


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
    def runs(self) -> bool:
        """Whether it runs, or is about to."""
        return self.state in ContainerState.UP

    @property
    def acts(self) -> bool:
        """Whether something is to be done, be it to look at its health again."""
        plan = self.job.plan
        return self.verdict == ACT and plan is not None and (bool(plan.steps) or self.unfinished)

    @property
    def cut_off(self) -> bool:
        """Whether an earlier run began it and did not come to its end."""
        record = self.memory.record
        return self.goes_on and self.id in record.begun and self.id not in record.done

    @property
    def unfinished(self) -> bool:
        """Whether it was cut off, or its start is still outstanding."""
        options = self.job.task.options
        if options.state == "stopped":
            return False
        return self.cut_off or (options.state == "started" and bool(self.memory.record.ran_before(self.id)))

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
        if task.options.state == "stopped" and self.runs:
            with self.memory.lock:
                self.memory.record.note_stop(self.id, True)

    def read_metrics(self) -> None:
        """Read how the container is now."""
        self.metrics = self.job.task.account.metrics_of(self.id)

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
        """Return what to do with a service whose state is known, or that is suspended."""
        options = self.job.task.options
        if self.service.status == ServiceStatus.SUSPENDED and not options.resume:
            return IS_SUSPENDED
        if options.state == "started":
            return self.judge_start()
        if options.state == "stopped":
            return NOTHING if self.state == ContainerState.STOPPED else ACT
        if options.state == "restarted" and self.goes_on and self.id in self.memory.record.done:
            return NOTHING  # its plan would restart it again; that of an update knows what is in effect
        may_run = self.runs or self.state == ContainerState.STOPPING  # a restart begins with a stop
        if not may_run and not self.cut_off and (options.state == "restarted" or options.tag is not None):
            return False, "it does not run"
        return ACT

    def judge_start(self) -> Verdict:
        """Return whether to start the service."""
        record = self.memory.record
        ran = record.ran_before(self.id)
        if not self.job.task.options.only_what_ran:
            return NOTHING if self.runs and not self.cut_off else ACT
        if ran or self.runs:
            return ACT if ran else NOTHING
        if ran is False:
            return False, "it did not run before the fleet was stopped"
        if self.id in record.back:
            return False, "it ran since then, and it was not the fleet that stopped it"
        return False, "it is not known to have run before the fleet was stopped"

    # --- Planning -----------------------------------------------------------------------------------

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

    def foresee(self) -> Plan:
        """Return the plan as far as it is known before the turn of the service comes."""
        task = self.job.task
        if task.check_mode:
            return self.make_plan(task)
        return self.make_plan(replace(task, check_mode=True, warnings=[], effects=Effects()))

    def shows_restart(self) -> bool:
        """Tell whether a restart that an earlier run began shows, be it that it is under way."""
        begun = self.memory.record.begun.get(self.id)
        if begun is None or self.metrics is None or self.state != ContainerState.RUNNING:
            return begun is not None
        uptime = self.metrics.uptime_seconds  # in whole seconds
        return uptime is not None and uptime <= (current_time() - begun).total_seconds() + 1

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
        ran = self.unfinished and self.id in self.memory.record.up
        return self.plan_service(task, state="started" if ran else "present", **settings)

    def plan_service(self, task: Task[FleetOptions], **given: Any) -> Plan:
        """Return the plan of module service, with ``max_monthly`` and ``resume`` of the task."""
        dimensions = given.get("dimensions")
        arguments = {**given, "id": self.id, "dimensions": dimensions and dimensions.as_dict()}
        arguments |= {"max_monthly": task.options.max_monthly, "resume": task.options.resume}
        return plan_with(task, self.modules.service, arguments)

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
