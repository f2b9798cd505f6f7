# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suspends services outside of their hours and resumes them in time (Power, suspension, deletion)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, cast

from .._api.errors import HostedError
from .._api.models import Service
from .._api.values import BackupStatus, ServiceStatus
from .services.many_services import (
    Order,
    ServiceJob,
    combine_errors,
    explicit_references,
    plan_jobs,
    read_job,
    read_order,
    select_jobs,
    warn_of_nothing,
    work_on,
)
from .services.view import rates_of
from .shared.account import Account
from .shared.identify import find_service, with_name
from .shared.money import currency_of
from .shared.plan import Plan, Resource, Step, Task
from .shared.relocation_record import left_over
from .shared.restore_points import BACKUPS, IN_MOTION
from .shared.task_errors import Invalid
from .shared.time_zones import current_time, utc_text
from .sleeping.decision import (
    Situation,
    Sleeper,
    Verdict,
    decide,
    goes_before,
    hold_for_backup,
    load_of,
    longest_keep,
    ordered_steps,
    plan_sleeper,
    read_until,
    with_sample,
)
from .sleeping.memory import Forecast, Keep, Memory, SleepRecord, count, in_cents, saved_as_dict
from .sleeping.schedule import DAY, SleepPlanOptions, check_limits, schedule_of

CAPABILITY = "suspension"
SETTLED = (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED)
BLANK = dict.fromkeys(("status", "awake", "why", "delayed", "kept_until", "forecast", "saved", "cost"))
"""What the result tells of each service."""


class SleepPlanResource(Resource[SleepPlanOptions]):
    """The services of a plan, suspended and resumed as the clock says."""

    result_key = "services"

    def plan(self, task: Task[SleepPlanOptions]) -> Plan:
        check_limits(task.options)
        run = Run(task)
        run.select()
        run.apply_wishes()
        run.read_references()
        run.decide()
        return run.as_plan()


SLEEP_PLAN = SleepPlanResource()


class Run:
    """One run of a plan, from its selection to the steps."""

    def __init__(self, task: Task[SleepPlanOptions]) -> None:
        self.task, self.now, self.schedule = task, current_time(), schedule_of(task.options)
        self.period = self.schedule.period(self.now)
        days = task.options.forecast_days * DAY
        self.asleep = days - self.schedule.awake_time(self.now, self.now + days)
        self.jobs: list[ServiceJob] = []
        self.sleepers: dict[str, Sleeper] = {}
        """The services that the plan decides on, by id."""
        self.order = Order()
        self.keepers: dict[str, list[Sleeper]] = {}
        """By id, the services whose wishes keep one awake."""
        self.left_over = left_over(task.options, task.warn)
        """What relocations left over. Resumed, it would be paid for, and used in place of the new one."""
        self.left_alone: dict[str, ServiceJob] = {}
        """What of that nothing is done with, by id."""

    def select(self) -> None:
        self.jobs = select_jobs(self.task)
        if not self.jobs:
            warn_of_nothing(self.task)
        found = work_on(self.task, self.jobs, BLANK, self.read)
        self.sleepers = {sleeper.id: sleeper for sleeper in found if sleeper is not None}
        for job in self.jobs:
            if job.id in self.left_alone:
                self.task.warn(str(job.skipped))
        for id, sleeper in self.sleepers.items():
            if id in self.left_over.surely:
                was = self.left_over.surely[id]
                self.task.warn(
                    f"{sleeper.job.label} is left over from the relocation of service {was!r} and has status "
                    "ACTIVE, so it costs the full rate. The plan suspends it as it does any other service, "
                    "and never resumes it. Suspend it now if nobody needs it"
                )
        self.read_metrics()

    def read(self, job: ServiceJob) -> Sleeper | None:
        """Read one service with its record; ``None`` if it is left out."""
        if job.id is None:  # in check mode: it is to be made
            return None
        options, service = self.task.options, read_job(job)
        if job.skipped:
            return None
        memory = Memory.of(options.state_dir, options.base_url, options.name, job.id)
        record = memory.read()
        if reason := self.reason_to_leave_alone(job, service, record):
            job.skipped, self.left_alone[job.id] = f"skipped: {reason}", job
        elif service.status not in SETTLED:
            job.skipped = f"skipped: {job.label} has status {service.status}, so nothing is done"
        elif service.status == ServiceStatus.ACTIVE:
            job.offers(service, CAPABILITY, "hours of sleep")
        if job.skipped:
            return None
        return Sleeper(job, service, memory, record, self.count_savings(job, service, record))

    def reason_to_leave_alone(self, job: ServiceJob, service: Service, record: SleepRecord) -> str | None:
        """Return why nothing is done because of a relocation; ``None`` if none is in the way.

        While one is on its way, either service may be in use. So what the plan suspended is resumed as ever.
        """
        surely, perhaps = self.left_over
        if service.status == ServiceStatus.ACTIVE:
            return None
        if service.id in surely:
            return (
                f"{job.label} is left over from the relocation of service {surely[service.id]!r}, "
                "so nothing is done. hosted.services.relocate with state: finished deletes it"
            )
        asleep = service.status == ServiceStatus.SUSPENDED and not record.is_asleep_by_plan
        if asleep and service.id in perhaps:
            return (
                f"{job.label} is suspended, and not by the plan, and the relocation of service "
                f"{perhaps[service.id]!r} is not complete, so nothing is done. Run hosted.services.relocate "
                "again to complete it"
            )
        return None

    def count_savings(self, job: ServiceJob, service: Service, record: SleepRecord) -> SleepRecord:
        """Add to a record what the days that are over have saved, by the usage that the platform tells."""
        client = job.task.client
        now, full = client.clock.now(), rates_of(service).full
        try:
            saved = count(record.saved, now, full, lambda days: client.usage(service.id, days))
        except HostedError as error:
            self.task.warn(
                f"the usage of {job.label} cannot be read, so what it saved is not counted: {error.message}"
            )
            return record
        return replace(record, saved=saved)

    def read_metrics(self) -> None:
        """Read the load of all services that are awake, where that may matter."""
        busy = self.task.options.not_while_busy
        awake = {id: sleeper for id, sleeper in self.sleepers.items() if not sleeper.suspended}
        if not awake or (busy is None and self.period.awake):
            return
        for id, metrics in self.task.account.metrics(list(awake)).items():
            sleeper = awake[id]
            sleeper.metrics = metrics
            if busy is not None:
                samples = with_sample(sleeper.record.samples, metrics, self.now, busy.minutes)
                sleeper.record = replace(sleeper.record, samples=samples)

    def apply_wishes(self) -> None:
        """Note which services are to be kept awake, and which no longer."""
        wishes = self.task.options.keep_awake
        kept = self.named(wishes.services, "keep_awake") if wishes else []
        released = self.named(self.task.options.release or [], "release")
        for sleeper in kept:
            if sleeper in released:
                raise Invalid(
                    f"{sleeper.job.label} is both in keep_awake and in release; leave it in one of them"
                )
        if wishes and not wishes.services:
            raise Invalid("services of keep_awake is an empty list; name services, or leave keep_awake out")
        until = read_until(wishes.until, self.now, self.schedule.zone) if wishes else self.now
        for sleeper in kept:
            before = sleeper.record.keep
            if before is None or before.until != until:
                sleeper.record = sleeper.record.with_keep(Keep(self.now, until))
                sleeper.wish = f"keep {sleeper.job.label} awake until {utc_text(until)}"
        for sleeper in released:
            if sleeper.record.keep is not None:
                sleeper.wish = f"leave {sleeper.job.label} to its plan again"
            if sleeper.record.keep is not None or sleeper.record.settled is not None:
                sleeper.record = sleeper.record.with_keep(None)

    def named(self, names: Sequence[str], option: str) -> list[Sleeper]:
        """Return the services of the plan with these ids or names.

        What is left alone because a relocation left it over is skipped with a warning: the plan would
        otherwise fail from the hour of a relocation on.
        """
        found: list[Sleeper] = []
        for name in names:
            id = self.find(name, option)
            if id in self.sleepers:
                found.append(self.sleepers[id])
                continue
            why = (
                "a relocation left it over" if id in self.left_over.surely else "its relocation is under way"
            )
            self.task.warn(f"{option} names {self.left_alone[id].label}, which is skipped because {why}")
        return found

    def find(self, wanted: str, option: str) -> str:
        """Return the id of the service of the plan with an id or a name, before one that is left over."""
        services = [sleeper.service for sleeper in self.sleepers.values()]
        if not any(wanted in (each.id, each.name) for each in services):
            left = [job for job in self.left_alone.values() if wanted in (job.id, job.name)]
            services += [cast(Service, job.service) for job in left]
        in_use = [each for each in services if each.id not in self.left_over.surely]
        try:
            return find_service(services, with_name(in_use, wanted, None) or services, wanted).id
        except HostedError as error:
            raise error.prepend(f"{option}: ") from None

    def read_references(self) -> None:
        """Find out which services need which, if that matters in this run."""
        if not self.sleepers:
            return
        references = explicit_references(
            self.task.options.start_after, lambda names: [self.find(name, "start_after") for name in names]
        )
        sleepers = self.sleepers.values()
        kept = any(sleeper.record.keep for sleeper in sleepers)
        acts = kept or any(self.verdict_on(sleeper, None).act != "nothing" for sleeper in sleepers)
        self.order = read_order(self.task, [each.service for each in sleepers], references, acts)

    def verdict_on(self, sleeper: Sleeper, keep: Keep | None) -> Verdict:
        """Return what to do with one service, whatever becomes of the others."""
        busy = self.task.options.not_while_busy
        return decide(
            Situation(
                now=self.now,
                period=self.period,
                record=sleeper.record,
                suspended=sleeper.suspended,
                keep=keep or sleeper.record.keep,
                load=load_of(sleeper.record.samples, self.now, busy) if busy else None,
                at_most=timedelta(minutes=busy.at_most if busy else 0),
                resumes=self.task.options.resume,
            )
        )

    def decide(self) -> None:
        """Decide on all services: what stays awake keeps awake whatever it needs."""
        keeps = dict[str, Keep | None]()
        for id, sleeper in self.sleepers.items():
            needing = [other for other, reached in self.order.reaches.items() if id in reached]
            self.keepers[id] = [self.sleepers[each] for each in (id, *needing)]
            keeps[id] = longest_keep((each.record for each in self.keepers[id]), self.now)
            sleeper.verdict = self.verdict_on(sleeper, keeps[id])
        going = [each for each in self.sleepers.values() if each.verdict.act == "suspend"]
        self.task.account.each(going, self.hold_for_backup, self.task.options.max_parallel)
        for sleeper in [each for each in self.sleepers.values() if not each.suspended and not each.acts]:
            for id in self.order.reaches.get(sleeper.id, ()):
                needed = self.sleepers[id]
                if needed.verdict.act == "suspend":
                    why = f"service {sleeper.service.name!r} needs it and stays awake"
                    needed.verdict = Verdict("nothing", True, why, needed.verdict.record, delayed=True)
        for id, sleeper in self.sleepers.items():
            try:
                self.plan_one(sleeper, keeps[id])
            except HostedError as error:
                sleeper.job.error = error

    def hold_for_backup(self, account: Account, sleeper: Sleeper) -> None:
        """Leave awake for now what a backup is made of or restored to: its suspension may cut that off."""
        if BACKUPS not in (sleeper.service.capabilities or []):
            return
        try:
            busy = [backup for backup in account.backups(sleeper.id) if backup.status in IN_MOTION]
        except HostedError as error:
            self.task.warn(
                f"the backups of {sleeper.job.label} cannot be read, so it is suspended without knowing "
                f"whether one is in progress: {error.message}"
            )
            return
        if not busy:
            return
        newest = max(busy, key=lambda backup: backup.created_at or "")
        doing = "restored" if newest.status == BackupStatus.RESTORING else "made"
        what = f"backup {newest.name!r} is being {doing}"
        sleeper.verdict = hold_for_backup(sleeper.verdict, newest.id, what, self.now)
        if sleeper.acts:
            self.task.warn(
                f"{sleeper.job.label} is suspended although {what}: the plan has waited for longer than a day"
            )

    def plan_one(self, sleeper: Sleeper, keep: Keep | None) -> None:
        """Put into the result what is known of a service, and plan for it."""

        def keep_by_now() -> Keep | None:  # others may have come in
            return longest_keep((each.memory.read() for each in self.keepers[sleeper.id]), self.now)

        verdict = sleeper.verdict
        sleeper.facts = {
            "awake": verdict.awake,
            "why": verdict.why,
            "delayed": verdict.delayed,
            "kept_until": utc_text(keep.until) if keep else None,
            "forecast": self.forecast(sleeper).as_dict(),
            "saved": saved_as_dict(sleeper.record.saved),
        }
        currency = currency_of(self.task) if sleeper.acts else None
        sleeper.job.plan = plan_sleeper(sleeper, currency, keep_by_now)
        sleeper.job.result = sleeper.job.plan.result

    def forecast(self, sleeper: Sleeper) -> Forecast:
        return Forecast(self.task.options.forecast_days, self.asleep, rates_of(sleeper.service))

    def as_plan(self) -> Plan:
        steps: list[Step] = ordered_steps(self.sleepers, self.order)
        self.task.effects.facts["plan"] = self.as_dict()
        return plan_jobs(self.task, self.jobs, steps, self.failure)

    def failure(self) -> HostedError | None:
        """Return the combined error, also for the services whose turn did not come, or would not."""
        check_mode, sleepers = self.task.check_mode, self.sleepers
        refused = {id for id, sleeper in sleepers.items() if sleeper.job.plan and sleeper.job.error}
        for sleeper in [each for each in sleepers.values() if not each.job.error]:
            waits = sleeper.acts and not sleeper.job.done()
            if check_mode:  # a budget refuses one that it waits for
                waits = not refused.isdisjoint(goes_before(sleeper, sleepers, self.order))
            if waits:
                sleeper.job.error = Invalid(
                    f"nothing was done: it waits for another service to {sleeper.verdict.act} first, "
                    "which failed"
                )
        if not any(job.error for job in self.jobs):
            return None
        return combine_errors(self.jobs, self.foreseen if check_mode else ServiceJob.done)

    def foreseen(self, job: ServiceJob) -> list[str]:
        """Return what check mode expects of a service: of one that fails, only what is remembered first."""
        if not job.error:
            return job.planned()
        sleeper = self.sleepers.get(job.id or "")
        return [sleeper.wish] if sleeper and sleeper.wish else []

    def as_dict(self) -> dict[str, Any]:
        def total(amounts: Iterable[Decimal | None]) -> str | None:
            return in_cents(sum((each for each in amounts if each is not None), Decimal(0)))

        sleepers = self.sleepers.values()
        forecasts = [self.forecast(sleeper) for sleeper in sleepers]
        saved = [sleeper.record.saved for sleeper in sleepers]
        return {
            "name": self.task.options.name,
            "at": utc_text(self.now),
            "awake": self.period.awake,
            "since": utc_text(self.period.since),
            "until": utc_text(self.period.until),
            "saves": total(each.saves for each in forecasts),
            "saves_monthly": total(each.saves_monthly for each in forecasts),
            "saved": total(each.amount for each in saved if each),
            "unpriced": [
                sleeper.service.name
                for sleeper, forecast in zip(sleepers, forecasts, strict=True)
                if forecast.saves is None
            ],
            "currency": currency_of(self.task) if self.sleepers else None,
        }
