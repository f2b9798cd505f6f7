# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suspends services outside of their hours and resumes them in time (Power, suspension, deletion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from .._api.errors import HostedError
from .._api.models import Backup, Service
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
from .shared.relocation_record import LeftOver, left_over
from .shared.restore_points import BACKUPS, IN_MOTION
from .shared.task_errors import Invalid
from .shared.time_zones import current_time, utc_text
from .sleeping.decision import (
    Situation,
    Verdict,
    decide,
    hold_for_backup,
    longest_keep,
    read_until,
)
from .sleeping.load import load_of, with_sample
from .sleeping.memory import Keep, Memory, SleepRecord
from .sleeping.options import SleepPlanOptions, check_limits, schedule_of
from .sleeping.savings import (
    Forecast,
    begin_counting,
    count,
    days_to_count,
    in_cents,
    saved_as_dict,
)
from .sleeping.schedule import Period, Schedule
from .sleeping.steps import Sleeper, goes_before, ordered_steps, plan_sleeper
from .sleeping.zones import DAY

CAPABILITY = "suspension"
SETTLED = (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED)
BLANK = dict.fromkeys(("status", "awake", "why", "delayed", "kept_until", "forecast", "saved", "cost"))
"""What the result tells of each service."""


class SleepPlanResource(Resource[SleepPlanOptions]):
    """The services of a plan, suspended and resumed as the clock says."""

    result_key = "services"

    def plan(self, task: Task[SleepPlanOptions]) -> Plan:
        """Decide on every service, and plan the suspensions and resumptions in their order."""
        check_limits(task.options)
        run = Run(task, current_time(), schedule_of(task.options))
        run.select()
        run.apply_wishes()
        run.read_references()
        run.decide()
        return run.as_plan()


SLEEP_PLAN = SleepPlanResource()


@dataclass
class Run:
    """One run of a plan, from its selection to the steps."""

    task: Task[SleepPlanOptions]
    now: datetime
    schedule: Schedule
    jobs: list[ServiceJob] = field(default_factory=list)
    sleepers: list[Sleeper] = field(default_factory=list)
    order: Order = field(default_factory=Order)
    keepers: dict[str, list[Sleeper]] = field(default_factory=dict)
    """By id, the services whose wishes keep one awake."""
    left_over: LeftOver = field(init=False)
    """What relocations left over. Resumed, it would be paid for, and used in place of the new one."""
    left_alone: dict[str, ServiceJob] = field(default_factory=dict)
    """What of that nothing is done with, by id."""
    period: Period = field(init=False)

    def __post_init__(self) -> None:
        """Ask the schedule what it says now."""
        self.period = self.schedule.period(self.now)
        days = self.task.options.forecast_days * DAY
        self.asleep = days - self.schedule.awake_time(self.now, self.now + days)
        self.left_over = left_over(self.task.options, self.task.warn)

    # --- Reading --------------------------------------------------------------------------------------

    def select(self) -> None:
        """Select the services, and read each one with what is remembered of it."""
        self.jobs = select_jobs(self.task)
        if not self.jobs:
            warn_of_nothing(self.task)
        found = work_on(self.task, self.jobs, BLANK, self.read)
        self.sleepers = [sleeper for sleeper in found if sleeper is not None]
        for job in self.jobs:
            if job.id in self.left_alone:
                self.task.warn(str(job.skipped))
        for sleeper in self.sleepers:
            name = self.left_over.surely.get(sleeper.id)
            if name is not None:
                self.task.warn(
                    f"{sleeper.job.label} is left over from the relocation of service {name!r} and has "
                    "status ACTIVE, so it costs the full rate. The plan suspends it as it does any other "
                    "service, and never resumes it. Suspend it now if nobody needs it"
                )
        self.read_metrics()

    def read(self, job: ServiceJob) -> Sleeper | None:
        """Read one service with its record; ``None`` if it is left out."""
        if job.id is None:  # in check mode: it is to be made
            return None
        options, service = self.task.options, read_job(job)
        if job.skipped:
            return None
        memory = Memory.of(getattr(options, "state_dir", None), options.base_url, options.name, job.id)
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
        now = job.task.client.clock.now()
        if record.saved is None:
            return replace(record, saved=begin_counting(now))
        days = days_to_count(record.saved, now)
        full = rates_of(service).full
        if not days or full is None:
            return record
        try:
            usage = job.task.client.usage(service.id, (now.date() - min(days)).days + 1)
        except HostedError as error:
            self.task.warn(
                f"the usage of {job.label} cannot be read, so what it saved is not counted: {error.message}"
            )
            return record
        return replace(record, saved=count(record.saved, days, usage, full, now))

    def read_metrics(self) -> None:
        """Read the load of all services that are awake, where that may matter."""
        busy = self.task.options.not_while_busy
        awake = [sleeper for sleeper in self.sleepers if not sleeper.suspended]
        if not awake or (busy is None and self.period.awake):
            return
        metrics = self.task.account.metrics([sleeper.id for sleeper in awake])
        for sleeper in awake:
            sleeper.metrics = metrics.get(sleeper.id)
            if busy is not None:
                samples = with_sample(sleeper.record.samples, sleeper.metrics, self.now, busy.minutes)
                sleeper.record = replace(sleeper.record, samples=samples)

    # --- What is asked for by hand --------------------------------------------------------------------

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

        :raises HostedError: if one is not in the plan, or several have the name.
        """
        found: list[Sleeper] = []
        for name in names:
            one = self.find(name, option)
            if isinstance(one, Sleeper):
                found.append(one)
                continue
            surely = one.id in self.left_over.surely
            why = "a relocation left it over" if surely else "its relocation is under way"
            self.task.warn(f"{option} names {one.label}, which is skipped because {why}")
        return found

    def find(self, wanted: str, option: str) -> Sleeper | ServiceJob:
        """Return the service of the plan with an id or a name, before one that a relocation left over.

        Return the job of one that is left alone if nothing else is meant.

        :raises HostedError: if there is none, or several have the name.
        """
        services = [sleeper.service for sleeper in self.sleepers]
        if not any(wanted in (each.id, each.name) for each in services):
            for id, job in sorted(self.left_alone.items()):
                if wanted in (id, job.name):
                    return job
        in_use = [each for each in services if each.id not in self.left_over.surely]
        try:
            found = find_service(services, with_name(in_use, wanted, None) or services, wanted)
        except HostedError as error:
            raise error.prepend(f"{option}: ") from None
        return next(sleeper for sleeper in self.sleepers if sleeper.id == found.id)

    # --- Deciding -------------------------------------------------------------------------------------

    def read_references(self) -> None:
        """Find out which services need which, if that matters in this run.

        :raises HostedError: if ``start_after`` names a service that is not in the plan.
        """
        if not self.sleepers:
            return
        references = explicit_references(
            self.task.options.start_after,
            lambda names: [str(self.find(name, "start_after").id) for name in names],
        )
        kept = any(sleeper.record.keep for sleeper in self.sleepers)
        acts = kept or any(self.verdict_on(sleeper, None).act != "nothing" for sleeper in self.sleepers)
        self.order = read_order(self.task, [each.service for each in self.sleepers], references, acts)

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
        by_id = {sleeper.id: sleeper for sleeper in self.sleepers}
        for id in by_id:
            needing = [other for other, reached in self.order.reaches.items() if id in reached]
            self.keepers[id] = [by_id[each] for each in (id, *needing)]
        keeps = {
            id: longest_keep((each.record for each in keepers), self.now)
            for id, keepers in self.keepers.items()
        }
        for id, sleeper in by_id.items():
            sleeper.verdict = self.verdict_on(sleeper, keeps[id])
        self.hold_for_backups()
        for sleeper in [each for each in self.sleepers if not each.suspended and not each.acts]:
            for id in self.order.reaches.get(sleeper.id, ()):
                if by_id[id].verdict.act == "suspend":
                    why = f"service {sleeper.service.name!r} needs it and stays awake"
                    record = by_id[id].verdict.record
                    by_id[id].verdict = Verdict("nothing", True, why, record, delayed=True)
        for id, sleeper in by_id.items():
            try:
                self.plan_one(sleeper, keeps[id])
            except HostedError as error:
                sleeper.job.error = error

    def hold_for_backups(self) -> None:
        """Leave awake for now what a backup is made of or restored to: its suspension may cut that off."""
        going = [each for each in self.sleepers if each.verdict.act == "suspend"]

        def hold_one(account: Account, sleeper: Sleeper) -> None:
            found = self.backup_in_progress(account, sleeper)
            if found is None:
                return
            doing = "restored" if found.status == BackupStatus.RESTORING else "made"
            what = f"backup {found.name!r} is being {doing}"
            sleeper.verdict = hold_for_backup(sleeper.verdict, found.id, what, self.now)
            if sleeper.verdict.act == "suspend":
                self.task.warn(
                    f"{sleeper.job.label} is suspended although {what}: the plan has waited for longer than "
                    "a day"
                )

        self.task.account.each(going, hold_one, self.task.options.max_parallel)

    def backup_in_progress(self, account: Account, sleeper: Sleeper) -> Backup | None:
        """Return the newest backup of a service that is being made or restored. Warn if none can be read."""
        if BACKUPS not in (sleeper.service.capabilities or []):
            return None
        try:
            busy = [backup for backup in account.backups(sleeper.id) if backup.status in IN_MOTION]
        except HostedError as error:
            self.task.warn(
                f"the backups of {sleeper.job.label} cannot be read, so it is suspended without knowing "
                f"whether one is in progress: {error.message}"
            )
            return None
        return max(busy, key=lambda backup: backup.created_at or "", default=None)

    def keep_by_now(self, id: str) -> Keep | None:
        """Return the wish to keep a service awake that is remembered by now: others may have come in."""
        return longest_keep((each.memory.read() for each in self.keepers[id]), self.now)

    def plan_one(self, sleeper: Sleeper, keep: Keep | None) -> None:
        """Put into the result what is known of a service, and plan for it."""
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
        sleeper.job.plan = plan_sleeper(sleeper, currency, lambda: self.keep_by_now(sleeper.id))
        sleeper.job.result = sleeper.job.plan.result

    def forecast(self, sleeper: Sleeper) -> Forecast:
        """Return what the plan saves with one service, by its rates of today."""
        return Forecast(self.task.options.forecast_days, self.asleep, rates_of(sleeper.service))

    # --- The plan -------------------------------------------------------------------------------------

    def as_plan(self) -> Plan:
        """Return the plan for all services, in the order of their references."""
        steps: list[Step] = ordered_steps(self.sleepers, self.order)
        self.task.effects.facts["plan"] = self.as_dict()
        return plan_jobs(self.task, self.jobs, steps, self.failure)

    def failure(self) -> HostedError | None:
        """Return the combined error, also for the services whose turn did not come, or would not."""
        check_mode, by_id = self.task.check_mode, {sleeper.id: sleeper for sleeper in self.sleepers}
        refused = {id for id, sleeper in by_id.items() if sleeper.job.plan and sleeper.job.error}
        for sleeper in [each for each in self.sleepers if not each.job.error]:
            waits = sleeper.acts and not sleeper.job.done()
            if check_mode:  # a budget refuses one that it waits for
                waits = not refused.isdisjoint(goes_before(sleeper, by_id, self.order))
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
        return [str(sleeper.wish) for sleeper in self.sleepers if sleeper.job is job and sleeper.wish]

    def as_dict(self) -> dict[str, Any]:
        """Return what the result tells of the plan as a whole."""
        forecasts = [self.forecast(sleeper) for sleeper in self.sleepers]
        saved = [sleeper.record.saved for sleeper in self.sleepers if sleeper.record.saved]
        return {
            "name": self.task.options.name,
            "at": utc_text(self.now),
            "awake": self.period.awake,
            "since": utc_text(self.period.since),
            "until": utc_text(self.period.until),
            "saves": in_cents(sum((f.saves or Decimal(0) for f in forecasts), Decimal(0))),
            "saves_monthly": in_cents(sum((f.saves_monthly or Decimal(0) for f in forecasts), Decimal(0))),
            "saved": in_cents(sum((each.amount for each in saved), Decimal(0))),
            "unpriced": [
                sleeper.service.name
                for sleeper, forecast in zip(self.sleepers, forecasts, strict=True)
                if forecast.saves is None
            ],
            "currency": currency_of(self.task) if self.sleepers else None,
        }
