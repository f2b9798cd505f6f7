# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do with one service now, by the clock and by what was done by hand, and the steps that do it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Any, Literal, cast

from ..._api.models import Metrics, Service
from ..._api.values import ServiceStatus
from ..services.many_services import Order, ServiceJob
from ..services.power import plan_return, plan_suspension, ran_before
from ..services.settings import ServiceChanges
from ..services.view import View, cost_of, rates_of
from ..shared.money import Commitment
from ..shared.plan import Expansion, Plan, Step
from ..shared.retention import read_span
from ..shared.task_errors import Invalid
from ..shared.time_zones import utc_text
from .memory import Due, Keep, Memory, Sample, SleepRecord
from .schedule import DAY, BusyOptions, Period, first_shown, last_shown, midnight, read_time

LONGEST_KEEP = 366
ALWAYS = "always"
KEPT = "kept awake by hand"
LONGEST_BACKUP = timedelta(days=1)
KIB = 1024
Act = Literal["resume", "suspend", "nothing"]


@dataclass(frozen=True)
class Load:
    """Whether a service is busy. ``None`` if that is unknown. ``why`` is for people."""

    busy: bool | None
    why: str


def with_sample(
    samples: Sequence[Sample], metrics: Metrics | None, now: datetime, minutes: int
) -> tuple[Sample, ...]:
    """Return the samples of the last minutes with what metrics show now. Older ones say nothing of them."""
    first = now - timedelta(minutes=minutes)
    kept = sorted((each for each in samples if first <= each.at < now), key=lambda each: each.at)
    if metrics is not None:
        cpu, received, sent = metrics.cpu_allocation_percent, metrics.net_rx_bytes, metrics.net_tx_bytes
        if cpu is not None and received is not None and sent is not None:
            return (*kept, Sample(now, cpu, received + sent))
    return tuple(kept)


def load_of(samples: Sequence[Sample], now: datetime, limits: BusyOptions) -> Load:
    """Tell whether a service was busy in the last minutes, at one of the samples or between two of them."""
    if not samples or samples[-1].at != now:
        return Load(None, "its node does not tell its load")
    highest, limit = max(sample.cpu for sample in samples), limits.cpu_percent
    if limit is not None and highest > limit:
        return Load(True, f"its CPU was at {highest:g} %, and {limit:g} % is busy")
    limit = limits.traffic_kib_per_second
    if limit is None:
        return Load(False, "idle")
    if len(samples) < 2:
        once = f"its traffic was read only once in the last {limits.minutes} minutes"
        return Load(None, f"{once}; it takes two runs to know")
    rates = []
    for one, other in pairwise(samples):
        since = other.traffic - one.traffic if other.traffic >= one.traffic else other.traffic  # begun anew
        rates.append(since / KIB / max(1.0, (other.at - one.at).total_seconds()))
    highest = max(rates)
    if highest > limit:
        return Load(True, f"its traffic was at {highest:.1f} KiB/s, and {limit:g} KiB/s is busy")
    return Load(False, "idle")


@dataclass(frozen=True)
class Verdict:
    act: Act
    awake: bool
    """Whether it is to be awake, all in all."""
    why: str
    record: SleepRecord
    due: Due | None = None
    """What it is settled in once it is that way; ``None`` if the record stays as it is."""
    delayed: bool = False

    @property
    def after(self) -> SleepRecord:
        return self.record if self.due is None else replace(self.record, settled=self.due, delayed=None)


@dataclass(frozen=True)
class Situation:
    now: datetime
    period: Period
    record: SleepRecord
    suspended: bool
    keep: Keep | None = None
    """The wish to keep it awake, its own or that of a service which needs it."""
    load: Load | None = None
    at_most: timedelta = timedelta()
    """For how long being busy may delay a suspension."""
    resumes: bool = True
    """Whether the plan resumes services; one that does not only suspends them."""


def decide(case: Situation) -> Verdict:
    keep = case.keep if case.keep is not None and case.keep.until > case.now else None
    record = replace(case.record, delayed=None) if keep else case.record
    if case.record.keep is not None and case.record.keep.until <= case.now:
        record = replace(record, keep=None)
    if keep is not None:
        due, why = Due(True, f"kept since {utc_text(keep.since)}"), KEPT
    else:
        due = Due(case.period.awake, utc_text(case.period.since) or ALWAYS)
        why = "in its hours" if due.awake else "outside of its hours"
    if due.awake != case.suspended:  # as it should be
        return Verdict("nothing", due.awake, why, record, due)
    if case.record.settled == due:
        done = "suspended" if case.suspended else "resumed"
        by_hand = f"{done} by hand since; left so until the next boundary"
        return Verdict("nothing", not case.suspended, by_hand, record)
    if not due.awake:
        return decide_suspension(case, due, why, record)
    if not case.resumes and keep is None:
        return Verdict("nothing", False, f"{why}, but the plan only suspends (resume is false)", record)
    return Verdict("resume", True, why, record, due)


def decide_suspension(case: Situation, due: Due, why: str, record: SleepRecord) -> Verdict:
    """Return whether to suspend a service that should sleep, or wait because it is busy."""
    load = case.load
    if load is None or load.busy is False:
        return Verdict("suspend", False, why, record, due)
    if load.busy is None:
        unknown = f"unknown whether it is busy, so nothing is done: {load.why}"
        return Verdict("nothing", True, unknown, record, delayed=True)
    begun = record.delayed[1] if record.delayed is not None and record.delayed[0] == due else case.now
    if case.now - begun >= case.at_most:
        why += f", and busy for longer than at_most {case.at_most // timedelta(minutes=1)} minutes"
        return Verdict("suspend", False, why, record, due)
    return Verdict("nothing", True, f"busy: {load.why}", replace(record, delayed=(due, begun)), delayed=True)


def hold_for_backup(verdict: Verdict, id: str, in_progress: str, now: datetime) -> Verdict:
    """Return the verdict on a service that would be suspended while a backup is made or restored.

    One that does not end keeps the service awake for :data:`LONGEST_BACKUP` in all, not each night anew.
    """
    held = verdict.record.held
    since = held[1] if held is not None and held[0] == id else now
    record = replace(verdict.record, held=(id, since))
    if now - since >= LONGEST_BACKUP:
        return replace(verdict, record=record)
    return Verdict("nothing", True, in_progress, record, delayed=True)


def longest_keep(records: Iterable[SleepRecord], now: datetime) -> Keep | None:
    """Return the wish that keeps a service awake longest, of its own and of those that need it."""
    keeps = [record.keep for record in records if record.keep is not None and record.keep.until > now]
    return max(keeps, key=lambda keep: keep.until, default=None)


def read_until(text: str, now: datetime, zone: tzinfo) -> datetime:
    """Return until when to keep services awake: a time, a date with a time, or a length such as 3h or 2d.

    A time without a zone is in that of the plan; one without a date is the next one.
    """
    until = parse_until(text.strip(), now, zone)
    if not now < until <= now + LONGEST_KEEP * DAY:
        raise Invalid(
            f"until of keep_awake is {text!r}, which is {utc_text(until)}; it must be in the future, "
            f"and within {LONGEST_KEEP} days"
        )
    return until


def parse_until(text: str, now: datetime, zone: tzinfo) -> datetime:
    if len(text) <= 5 and ":" in text:
        today = midnight(now.astimezone(zone).date())
        minute = timedelta(minutes=read_time(text, "until of keep_awake"))
        moments = (first_shown(today + number * DAY + minute, zone) for number in range(3))
        return next(moment for moment in moments if moment > now)
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
        if 1970 <= found.year < 9998:
            return last_shown(found, zone) if found.tzinfo is None else found
    span = None
    with suppress(Invalid):
        span = read_span(text)
    hint = "write a time such as 22:00 or 2026-12-24T22:00, or a length such as 3h or 2d"
    if span is None:
        raise Invalid(f"until of keep_awake is {text!r}; {hint}")
    if span.months:
        raise Invalid(f"until of keep_awake is {text!r}, and m is a month, not a minute; {hint}")
    days = span.years * 365 + span.days
    if days * 24 + span.hours > LONGEST_KEEP * 24:
        raise Invalid(f"until of keep_awake is {text!r}; it must be within {LONGEST_KEEP} days")
    return now + timedelta(days=days, hours=span.hours)


# --- The steps that suspend and resume the services of a plan, in their order -------------------------


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
        plan_return(job.task, view, changes, sleeper.before.ran)
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
        return replace(record, ran=ran_before(sleeper.metrics))
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
