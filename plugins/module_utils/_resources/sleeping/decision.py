# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do with one service now: the clock decides, and what was done by hand is respected for a while."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Literal

from ..._api.models import Metrics
from ..shared.retention import read_span
from ..shared.task_errors import Invalid
from ..shared.time_zones import utc_text
from .memory import Due, Keep, Sample, SleepRecord
from .options import BusyOptions
from .schedule import DAY, Period, first_shown, last_shown, midnight, read_time

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
    """What to do with a service, why, and what to remember once it is done."""

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
