# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One run on a fleet: its selection, its batches, which services may begin, and what becomes of each."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from typing import Any

from ..._api.errors import HostedError
from ..._api.text import line_for_each
from ..._api.values import ServiceStatus
from ..services.many_services import (
    ServiceJob,
    SomeFailed,
    combine_errors,
    explicit_references,
    name_services,
    read_job,
    read_order,
    select_jobs,
    work_on,
)
from ..shared.identify import find_service
from ..shared.money import currency_of, format_amount, to_decimal
from ..shared.plan import Effects, Expansion, Plan, Step, Task
from ..shared.run_memory import Run
from ..shared.store import one_at_a_time
from ..shared.task_errors import Invalid
from .health import Health
from .members import ACT, FLEETS, NOTHING, FleetOptions, HealthCheckOptions, Member, Memory, Modules

BLANK = dict.fromkeys(("status", "state", "ran", "cost"))
"""What the result tells of each service, beside its batch and its outcome."""
LOCK_SECONDS = 2.0


class NotBegun(HostedError):
    """A service that was not begun, because of what became of others. Nothing was done with it."""


@dataclass
class FleetRun:
    """One run on a fleet. It lets services begin until too many have failed."""

    task: Task[FleetOptions]
    modules: Modules
    memory: Memory = field(init=False)
    jobs: list[ServiceJob] = field(default_factory=list)
    members: dict[str, Member] = field(default_factory=dict)
    before: dict[str, set[str]] = field(default_factory=dict)
    """The services that come before each, by id."""
    batches: Sequence[Sequence[str]] = ()
    checks: dict[str, list[HealthCheckOptions]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        options = self.task.options
        self.memory = Memory(FLEETS.of(options.base_url, options.name, options.state_dir))
        record, goes_on = self.memory.record, self.memory.goes_on(options)
        self.since = record.since if goes_on else None
        self.done_before = {id for id, each in record.begun.items() if each.done and goes_on}
        self.actions_of = ServiceJob.planned if self.task.check_mode else ServiceJob.done

    def check_free(self) -> None:
        """Refuse to work on a fleet that another run has stopped for what it does meanwhile."""
        own, holder = Run.of_task(), self.memory.record.holder
        is_other = holder is not None and (own is None or own.folder != holder.folder)
        if holder is not None and is_other and holder.goes_on():
            raise Invalid(
                f"process {holder.process} on this controller has stopped fleet {self.task.options.name!r} "
                "and has not started it again. Nothing was done. Wait until that run of Ansible has ended. "
                "If you end it yourself, run this again then: what ran before stays remembered"
            )

    # --- Reading --------------------------------------------------------------------------------------

    def select(self) -> None:
        """Select the services, and read how each one is."""
        self.jobs = select_jobs(self.task)
        if not self.jobs:
            raise Invalid("no service matches the selection, and nothing was done")
        if self.task.options.services is None:  # in which order a platform lists them is not shown
            self.jobs.sort(key=lambda job: (job.name, str(job.id)))
        found = work_on(self.task, self.jobs, BLANK, self.read)
        self.members = {member.id: member for member in found if member is not None}
        active = [id for id, each in self.members.items() if each.service.status == ServiceStatus.ACTIVE]
        metrics = self.task.account.metrics(active)
        for id in active:
            self.members[id].metrics = metrics.get(id)

    def read(self, job: ServiceJob) -> Member | None:
        """Read one service; ``None`` if the operation makes no sense for it."""
        if job.id is None:  # in check mode: it is to be made
            return None
        service = read_job(job)
        if job.skipped is None and service.status in ServiceStatus.NOT_CREATED and not job.by_name:
            job.skipped = f"skipped: {job.label} has status {service.status}"
        elif job.skipped is None and service.status == ServiceStatus.ACTIVE:
            job.offers(service, "powerSignals", "power signals")
        return None if job.skipped else Member(job, service, self.memory, self.modules)

    # --- Deciding -------------------------------------------------------------------------------------

    def decide(self) -> None:
        """Decide on every service, and plan for it as far as that is known before its turn comes."""
        self.read_order()
        options, record = self.task.options, self.memory.record
        asks = options.state == "started" and options.only_what_ran
        down = [each for each in self.members.values() if not each.runs]
        if asks and down and not any(id in record.ran for id in self.members):
            raise Invalid(
                f"fleet {options.name!r} remembers nothing of these services, so which of them ran before is "
                "not known; nothing was done. Use the name and the state_dir of the task that stopped them, "
                "or set only_what_ran: false to start all"
            )

        def plan_one(job: ServiceJob) -> None:
            member, task = self.members[str(job.id)], job.task
            member.decide()
            if not task.check_mode:  # what there is to say is said in its turn
                task = replace(task, check_mode=True, warnings=[], effects=Effects())
            plan = job.plan = member.make_plan(task)
            job.result = member.facts(plan.result, plan.cost if plan.moves else None, plan.moves)

        work_on(self.task, [member.job for member in self.members.values()], BLANK, plan_one)

    def read_order(self) -> None:
        """Find out which services come before which."""
        references = explicit_references(
            self.task.options.start_after, lambda names: self.named(names, "start_after")
        )
        order = read_order(self.task, [member.service for member in self.members.values()], references)
        needs = order.needs
        if self.task.options.state == "stopped":  # what needs another one stops before that
            self.before = {id: {other for other in needs if id in needs[other]} for id in needs}
        else:
            self.before = {id: set(others) for id, others in needs.items()}

    def named(self, names: Sequence[str], option: str) -> list[str]:
        """Return the ids of services of the fleet, by their ids or names."""
        services = [member.service for member in self.members.values()]
        try:
            return [find_service(services, services, name, lambda one: one.id).id for name in names]
        except HostedError as error:
            raise error.prepend(f"{option}: ") from None

    # --- Who may begin --------------------------------------------------------------------------------

    @property
    def in_turn(self) -> dict[str, ServiceJob]:
        return {job.id or job.wanted: job for job in self.jobs if not job.skipped}

    @property
    def allowed(self) -> int:
        """How many services may fail."""
        return self.task.options.bound(len(self.in_turn))

    @property
    def failed(self) -> list[ServiceJob]:
        return [one for one in self.jobs if one.error and not isinstance(one.error, NotBegun)]

    @property
    def not_begun(self) -> list[ServiceJob]:
        return [one for one in self.jobs if isinstance(one.error, NotBegun)]

    @property
    def passed(self) -> bool:
        return len(self.failed) <= self.allowed and not self.not_begun

    def enter(self, id: str) -> None:
        """Let a service begin, unless one that comes before it failed, or too many others did."""
        jobs = self.in_turn
        for other in self.before.get(id, ()):
            blocker = jobs.get(other)
            if blocker is not None and blocker.error is not None:
                how = "was not begun" if isinstance(blocker.error, NotBegun) else "failed"
                raise NotBegun(f"not begun: it comes after {blocker.label}, which {how}")
        if len(self.failed) > self.allowed:
            raise NotBegun(f"not begun: {len(self.failed)} failed, and max_failures allows {self.allowed}")

    # --- The plan -------------------------------------------------------------------------------------

    def as_plan(self) -> Plan:
        """Return the plan for all services, in batches."""
        options = self.task.options
        for check in options.health_checks:
            for id in self.named(check.services, "health_checks") if check.services else self.members:
                self.checks.setdefault(id, []).append(check)
        acting = [id for id in self.members if self.members[id].acts]
        sizes = batch_sizes(options.sizes(len(self.in_turn)), options.canary)
        batches = self.batches = plan_batches(acting, self.before, sizes)
        for number, batch in enumerate(batches, start=1):
            for id in batch:
                self.members[id].batch = number
        plan = Plan(
            result=self.entries(ServiceJob.planned),
            before={job.label: job.plan.before for job in self.jobs if job.plan},
            after={job.label: self.after(job, job.plan) for job in self.jobs if job.plan},
            failure=self.failure,
            max_parallel=options.max_parallel,
            subject=name_services(self.jobs),
        )
        self.tell()
        if batches or self.has_to_remember():
            plan.steps = self.with_end(self.steps_of(batches), plan)
        return plan

    def after(self, job: ServiceJob, plan: Plan) -> dict[str, Any]:
        member = self.members.get(str(job.id))
        batch = {"batch": member.batch} if member and member.acts else {}
        return {**(plan.after if isinstance(plan.after, Mapping) else {}), **batch}

    def steps_of(self, batches: Sequence[Sequence[str]]) -> list[Step]:
        """Return the steps of all batches: each begins once the one before it has ended, however it did."""
        barrier = self.first_step()
        steps = [barrier]
        for number, batch in enumerate(batches, start=1):
            own = [replace(self.step_of(id), needs=(barrier,)) for id in batch]
            end = partial(self.pause, number)
            barrier = Step(f"end batch {number}", end, needs=own, regardless=True, changes=False)
            steps += [*own, barrier]
        return steps

    def pause(self, number: int) -> None:
        """Pause before the next batch, if there is one and it may begin."""
        seconds, last = self.task.options.pause, len(self.batches)
        if seconds and number < last and len(self.failed) <= self.allowed:
            self.task.progress(f"pausing for {seconds:g} s after batch {number} of {last}")
            time.sleep(seconds)

    def with_end(self, steps: list[Step], plan: Plan) -> list[Step]:
        """Return the steps with a last one, which collects the results."""
        record, state = self.memory.record, self.task.options.state

        def finish() -> None:
            plan.result = self.entries(ServiceJob.done)
            if state == "stopped":  # whoever stops what still runs and was never begun is another
                for id in [id for id, each in self.members.items() if each.runs and id not in record.begun]:
                    record.note_back(id)
            # A restart is over once the task succeeds: the next one restarts all services, also those that
            # failed within the bound, and starts those that were left down. Of what else was done, their
            # health is looked at again.
            if self.passed and (state == "restarted" or not self.failed):
                failed = [each for each in self.members.values() if each.job in self.failed]
                for each in failed:  # a restart may have failed to bring it up again
                    with suppress(HostedError):
                        each.look_again()
                record.end([each.id for each in failed if not each.runs])
                record.holder = None if state == "started" else record.holder
            self.memory.write()

        end = Step("note the end of the run", finish, needs=list(steps), regardless=True, changes=False)
        return [*steps, end]

    def has_to_remember(self) -> bool:
        """Tell whether something is to be remembered, although nothing is to be done."""
        record, options = self.memory.record, self.task.options
        if record.what is not None:
            return True
        if options.state != "stopped":
            return options.state == "started" and record.holder is not None
        unknown = any(record.ran.get(id) is None for id in self.stoppable())
        return unknown or record.holder != Run.of_task()

    def stoppable(self) -> list[str]:
        """Return the services that a stop is about: those that are active, and whose state is known."""
        return [
            id
            for id, each in self.members.items()
            if each.service.status == ServiceStatus.ACTIVE and each.job.error is None
        ]

    def first_step(self) -> Step:
        """Return the step that remembers what runs, before anything is changed."""
        options = self.task.options

        def begin() -> None:
            lock = one_at_a_time(
                f"fleet:{self.memory.file.path}", f"working on fleet {options.name!r}", LOCK_SECONDS
            )
            self.task.closing.enter_context(lock)
            if self.memory.file.read() != self.memory.record:
                raise Invalid(
                    f"another run has worked on fleet {options.name!r} since this one was planned, so "
                    "nothing was done. Run this again"
                )
            if options.state == "stopped":
                self.memory.record.holder = Run.of_task()
                for id in self.stoppable():
                    self.memory.record.note_stop(id, self.members[id].runs)
            self.memory.record.begin(options.what, options.start_over)
            self.memory.write()

        return Step(f"remember what fleet {options.name!r} is at", begin, changes=False)

    def step_of(self, id: str) -> Step:
        """Return the step of one service, which is planned again in its turn."""
        member = self.members[id]
        plan = member.job.plan or Plan(result=None)
        summary = "; ".join(plan.actions) or f"look at the health of {member.job.label} again"
        return Expansion(
            summary,
            partial(self.begin, member),
            changes=plan.changed,
            branch=member.job,
            expects=plan.commitments,
        )

    def begin(self, member: Member) -> Sequence[Step]:
        """Return what is to be done with a service now that its turn has come."""
        self.enter(member.id)
        job, state = member.job, self.task.options.state
        member.look_in_turn()
        member.decide()
        plan = job.plan = member.make_plan(job.task)
        if member.verdict != ACT:
            job.result = member.facts(plan.result, None, ())
            return []
        note = partial(self.memory.note_begun, member.id, runs=member.runs)
        steps = [Step("remember that it is begun", note, changes=False)]
        steps += [*plan.steps]
        health = Health(replace(job.task), member.service, self.checks.get(member.id, ()))
        # An update leaves a service stopped that was.
        begun = self.memory.record.begun.get(member.id)
        up = state != "updated" or member.runs or (begun is not None and begun.ran)
        if state != "stopped" and (plan.changed or member.unfinished) and up:
            steps.append(Step(f"wait for the health of {job.label}", health.wait, changes=False))
        done = partial(self.memory.note_done, member.id, back=state == "started")
        steps.append(Step("remember that it is done", done, changes=False))
        return [*steps, Step(f"read {job.label} again", member.reread, changes=False)]

    # --- Results --------------------------------------------------------------------------------------

    def entries(self, actions_of: Callable[[ServiceJob], list[str]]) -> list[dict[str, Any]]:
        return [self.entry(job, actions_of(job)) for job in self.jobs]

    def entry(self, job: ServiceJob, actions: Sequence[str]) -> dict[str, Any]:
        """Return the entry of a service in the result, with its outcome and batch."""
        member = self.members.get(str(job.id))
        not_begun = isinstance(job.error, NotBegun)
        shown = job.entry([] if not_begun else actions)
        _act, left_alone = member.verdict if member else NOTHING
        outcome = "changed" if shown["changed"] else "unchanged"
        if job.error is not None:
            outcome = "not begun" if not_begun else "failed"
        elif job.skipped is not None or left_alone:
            outcome = "skipped" if job.skipped is not None else "left alone"
        return {
            **shown,
            "failed": outcome == "failed",
            "msg": shown["msg"] or left_alone,
            "batch": member.batch if member else None,
            "outcome": outcome,
        }

    def tell(self) -> None:
        """Put into the result what there is to say of the fleet as a whole."""
        entries = self.entries(self.actions_of)
        named = {id: member.service.name for id, member in self.members.items()}
        options = self.task.options
        self.task.effects.facts["fleet"] = {
            "name": options.name,
            "state": options.state,
            "batches": [[named[id] for id in batch] for batch in self.batches],
            "goes_on_since": self.since.isoformat() if self.since else None,
            "done_before": sorted(named[id] for id in self.done_before if id in named),
            "failures": len(self.failed),
            "max_failures": self.allowed,
            "failed": [job.name for job in self.failed],
            "not_begun": [job.name for job in self.not_begun],
            "left_alone": [entry["service"] for entry in entries if entry["outcome"] == "left alone"],
            "cost": self.cost(entries),
        }

    def cost(self, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
        costs = [entry["cost"] for entry in entries if entry.get("cost")]
        if not costs:
            return None
        known = [cost for cost in costs if cost["monthly_change"] is not None]
        sums = {
            name: format_amount(sum((to_decimal(cost[name]) or Decimal(0) for cost in known), Decimal(0)))
            for name in ("monthly_before", "monthly_after", "monthly_change")
        }
        unpriced = [cost["service"] for cost in costs if cost not in known]
        return {**sums, "currency": currency_of(self.task), "unpriced": unpriced}

    def failure(self) -> HostedError | None:
        """Return the error of the run; ``None`` if no more services failed than may."""
        if self.task.check_mode:
            self.foresee()
        self.tell()
        failed, left = self.failed, self.not_begun
        if not failed:
            return None
        reasons = line_for_each((job.label, job.error.message) for job in failed if job.error)
        count = f"{len(failed)} of {len(self.in_turn)} services failed"
        if self.passed:
            self.task.warn(f"{count}, which max_failures allows:{reasons}")
            return None
        over = f", and max_failures allows {self.allowed}" if len(failed) > self.allowed else ""
        named = f"\nNot begun: {', '.join(job.label for job in left)}" if left else ""
        actions_of = self.actions_of
        details = {**combine_errors(self.jobs, actions_of).details, "services": self.entries(actions_of)}
        return SomeFailed(f"{count}{over}:{reasons}{named}", **details)

    def foresee(self) -> None:
        """Note in check mode which services would not be begun, by what is known to fail before them."""
        turns = [self.members[id] for batch in self.batches for id in batch]
        known = [member.job.error for member in turns]
        for member in turns:
            member.job.error = None
        for member, error in zip(turns, known, strict=True):
            try:
                self.enter(member.id)
                member.job.error = error
            except NotBegun as refusal:
                member.job.error = refusal


def batch_sizes(sizes: Sequence[int], canary: bool) -> Iterator[int]:
    """Yield the size of each batch. The last one holds for all further batches."""
    if canary:
        yield 1
    yield from sizes[:-1]
    while True:
        yield sizes[-1]


def plan_batches(
    ids: Sequence[str], before: Mapping[str, Collection[str]], sizes: Iterator[int]
) -> list[list[str]]:
    """Return the services in batches, in the order given as far as ``before`` allows."""
    batches: list[list[str]] = []
    left = list(ids)
    while left:
        waiting = set(left)
        ready = [id for id in left if waiting.isdisjoint(before.get(id, ()))]
        if not ready:
            raise ValueError(f"there is no order between {', '.join(left)}")
        batch = ready[: next(sizes)]
        batches.append(batch)
        left = [id for id in left if id not in batch]
    return batches
