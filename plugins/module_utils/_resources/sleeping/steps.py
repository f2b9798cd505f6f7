# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that suspend and resume the services of a plan, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ..._api.models import Metrics, Service
from ..._api.values import ContainerState, ServiceStatus
from ..services.many_services import Order, ServiceJob
from ..services.options import ServiceOptions
from ..services.power import plan_suspension, resume, start_if_needed
from ..services.settings import ServiceChanges, check_max_monthly, commitment_of
from ..services.view import View, billed_rate, cost_of, rates_of
from ..shared.money import Commitment
from ..shared.options import shared_arguments
from ..shared.plan import NOTHING_DONE, Expansion, Plan, Step, Task
from ..shared.time_zones import utc_text
from .decision import KEPT, Verdict
from .memory import Keep, Memory, SleepRecord


@dataclass
class Sleeper:
    """One service of a plan: its job, what is remembered of it, and what is to be done."""

    job: ServiceJob
    service: Service
    memory: Memory
    before: SleepRecord
    """The record as it was read."""
    record: SleepRecord
    """The record with what this run has seen."""
    metrics: Metrics | None = None
    verdict: Verdict = field(init=False)
    wish: str | None = None
    """What the task asks for by hand, as a sentence, if it asks for anything."""
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        return self.service.id

    @property
    def suspended(self) -> bool:
        return self.service.status == ServiceStatus.SUSPENDED

    @property
    def acts(self) -> bool:
        return self.verdict.act != "nothing"


def plan_sleeper(sleeper: Sleeper, currency: str | None, keep_by_now: Callable[[], Keep | None]) -> Plan:
    """Return the plan for one service, without what it has to wait for.

    ``keep_by_now`` returns the wish to keep it awake that is remembered by the time of its turn.
    """
    job, service, memory = sleeper.job, sleeper.service, sleeper.memory
    changes = ServiceChanges()
    view = View(service)
    steps: list[Step] = []
    if sleeper.wish is not None:  # remembered whatever becomes of the service after it
        keep = sleeper.record.keep
        steps.append(Step(sleeper.wish, lambda: memory.update(lambda found: found.with_keep(keep))))
    if sleeper.verdict.act == "suspend":
        plan_suspension(job.task, view, changes)
        changes.steps = [unless_kept(sleeper, step, keep_by_now) for step in changes.steps]
        proof = f"check that the plan can remember {job.label}"  # before there is something to remember
        steps.append(Step(proof, lambda: memory.update(lambda found: found), changes=False))
    elif sleeper.verdict.act == "resume":
        plan_resumption(job.task, view, changes, sleeper.before)
    steps += [*changes.steps, *memory_steps(sleeper)]
    status = changes.result.get("status", service.status)
    rate = rates_of(service).of(status)

    def result(now: str, moves: Iterable[Commitment]) -> dict[str, Any]:
        done = list(moves)
        cost = cost_of(service, rate).brief(currency, done) if done else None
        return {**sleeper.facts, "status": now, "cost": cost}

    return Plan(
        result=result(status, [made for step in changes.steps for made in step.commits]),
        steps=steps,
        reread=lambda: result(job.task.account.existing_service(service.id).status, job.task.effects.moves),
        before={"status": service.status},
        after={"status": status},
    )


def unless_kept(sleeper: Sleeper, step: Step, keep_by_now: Callable[[], Keep | None]) -> Step:
    """Return a suspension that does not happen if somebody has asked to keep the service awake meanwhile."""

    def go_on() -> Sequence[Step]:
        keep = keep_by_now()
        if keep is None:
            return [step]
        plan = cast(Plan, sleeper.job.plan)
        sleeper.verdict = Verdict("nothing", True, KEPT, sleeper.verdict.record)
        sleeper.facts.update(awake=True, why=KEPT, kept_until=utc_text(keep.until))
        plan.result = {**sleeper.facts, "status": sleeper.service.status, "cost": None}
        plan.after = plan.before
        return []

    return Expansion(step.summary, go_on, expects=step.commits)


def plan_resumption(task: Task[Any], view: View, changes: ServiceChanges, record: SleepRecord) -> None:
    """Plan the resumption, and a start unless the container did not run before it was suspended."""
    rates = rates_of(view.service)
    check_max_monthly(task, rates.full, f"{view.label}, resumed,")
    changes.result["status"] = ServiceStatus.ACTIVE
    commitment = commitment_of(view, "resumption", rates.full, billed_rate(view.service))
    changes.add(f"resume {view.label}", lambda: resume(task, view, commitment), commitment)
    if record.ran is False:
        return

    def start() -> Any:
        offered = task.account.existing_service(view.service.id).capabilities
        if offered is not None and "powerSignals" not in offered:
            return NOTHING_DONE
        given = {**shared_arguments(task.options), "id": view.service.id, "state": "started"}
        start_if_needed(replace(task, options=ServiceOptions.from_ansible(given)), view, changes)
        return NOTHING_DONE  # a part of the resumption

    changes.steps.append(Step(f"start {view.label} unless it runs by then", start, changes=False))


def memory_steps(sleeper: Sleeper) -> list[Step]:
    """Return the step that remembers what was seen and done, if that is new."""
    known = sleeper.before if sleeper.wish is None else sleeper.before.with_keep(sleeper.record.keep)
    if record_after(sleeper) == known:
        return []

    def remember() -> None:
        record = record_after(sleeper)  # by another verdict, if a wish came in meanwhile
        is_new = (record.settled, record.ran) != (known.settled, known.ran)
        if not sleeper.acts and is_new and not is_as_it_was(sleeper):
            record = sleeper.verdict.record
        sleeper.memory.update(lambda found: found.with_changes(known, record))

    return [Step(f"remember how {sleeper.job.label} is", remember, changes=False)]


def record_after(sleeper: Sleeper) -> SleepRecord:
    """Return the record of a service once its verdict is carried out.

    Whether the container ran before one suspension says nothing of the next one, which may be by hand. So it
    is forgotten once the service is awake.
    """
    verdict = sleeper.verdict
    waited = not sleeper.acts or sleeper.job.task.options.wait
    record = verdict.after if waited else verdict.record
    if verdict.act == "suspend":
        return replace(record, ran=ran(sleeper.metrics))
    return record if sleeper.suspended and not sleeper.acts else replace(record, ran=None)


def is_as_it_was(sleeper: Sleeper) -> bool:
    """Tell whether a service still has the status that it was read with, and warn if not.

    If it were remembered that way, the next run would take the change for one by hand, and leave it so.
    """
    status = sleeper.job.task.account.existing_service(sleeper.id).status
    if status == sleeper.service.status:
        return True
    sleeper.job.task.warn(
        f"{sleeper.job.label} is {status} by now: it was changed while this task ran. The next run of the "
        "plan brings it to where it should be"
    )
    return False


def ran(metrics: Metrics | None) -> bool | None:
    """Tell whether a container runs; ``None`` if that is unknown. One that stops may be restarting."""
    if metrics is None or metrics.state not in (*ContainerState.UP, ContainerState.STOPPED):
        return None
    return metrics.state != ContainerState.STOPPED


def ordered_steps(sleepers: Mapping[str, Sleeper], order: Order) -> list[Step]:
    """Return the steps of all services: what others need starts before them, and stops after them."""
    starting = order.starting(sleepers)
    resuming = [id for id in starting if sleepers[id].verdict.act == "resume"]
    last: dict[str, Step] = {}
    steps: list[Step] = []
    for id in (*resuming, *(id for id in reversed(starting) if id not in resuming)):
        sleeper, own = sleepers[id], list[Step]()
        first = [last[other] for other in goes_before(sleeper, sleepers, order) if other in last]
        wished = 1 if sleeper.wish is not None else 0  # a wish is remembered at once, whatever the others do
        for number, step in enumerate(sleeper.job.steps()):
            needs = [*own[-1:], *(first if number == wished else ())]
            own.append(replace(step, needs=needs, branch=sleeper.job))
        if own:
            last[id] = own[-1]
        steps += own
    return steps


def goes_before(sleeper: Sleeper, others: Mapping[str, Sleeper], order: Order) -> list[str]:
    """Return the services that are resumed or suspended before this one."""
    act = sleeper.verdict.act
    same = [id for id, other in others.items() if other.verdict.act == act]
    if act == "resume":
        return [id for id in same if id in order.needs[sleeper.id]]
    return [id for id in same if sleeper.id in order.needs[id]] if act == "suspend" else []
