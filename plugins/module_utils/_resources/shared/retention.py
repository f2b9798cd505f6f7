# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Decides which copies to keep and which to delete: a pure function of copies, policy and time.

The rules are those of restic. A copy is a backup or a snapshot of a service.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from ..._api.platform_clock import CLOCKS_DIFFER
from ..._api.text import counted
from ..._api.values import BackupStatus
from .names import fits
from .task_errors import Invalid

NO_DATE = "no response of the platform has a Date, by which ages are told"
UNITS = {"y": "years", "m": "months", "d": "days", "h": "hours"}

LABELS = {
    "hourly": "%Y-%m-%d %H:00",
    "daily": "%Y-%m-%d",
    "weekly": "%G-W%V",
    "monthly": "%Y-%m",
    "yearly": "%Y",
}
"""How a period is called: copies of one name, by their local time, are of one period."""
RULES = ("last", *LABELS)


@dataclass(frozen=True)
class RestorePoint:
    """A backup or a snapshot. ``created_at`` is ``None`` if the platform does not show it.

    ``was_complete`` says of a FAILED one that it may have been complete before, and may hold its data still.
    """

    id: str
    name: str
    status: str
    created_at: datetime | None
    was_complete: bool = False


@dataclass(frozen=True)
class Span:
    years: int = 0
    months: int = 0
    days: int = 0
    hours: int = 0
    text: str = ""

    def before(self, moment: datetime, zone: tzinfo) -> datetime:
        """Return the moment this long before another one, in the calendar of a time zone.

        A day that a month lacks becomes a day of the next month. If the clock changed at that time, the
        earlier of the two moments counts, so that more is kept.
        """
        local = moment.astimezone(zone)
        months = (local.year - self.years) * 12 + local.month - 1 - self.months
        first = local.replace(year=months // 12, month=months % 12 + 1, day=1, tzinfo=None)
        wall = first + timedelta(days=local.day - 1 - self.days)
        both = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
        return min(both) - timedelta(hours=self.hours)


@dataclass(frozen=True)
class Policy:
    """The copies to keep. ``counts`` are by rule: last, hourly, daily, weekly, monthly, yearly."""

    counts: Mapping[str, int]
    within: Span | None
    pattern: str
    failed: int = 1
    zone: tzinfo = UTC


@dataclass
class Decision:
    """Whether a copy is kept, with all reasons. One that is not managed is always kept."""

    copy: RestorePoint
    managed: bool = True
    reasons: list[str] = field(default_factory=list)
    keep: bool = True


def read_policy(options: Mapping[str, Any], pattern: str, zone: tzinfo) -> Policy:
    """Return the policy of the ``keep_*`` options. It must keep something, and not match all there is."""
    counts = {rule: options.get(f"keep_{rule}") or 0 for rule in RULES}
    failed = options.get("keep_failed", Policy.failed)
    for rule, count in {**counts, "failed": failed}.items():
        if count < 0:
            raise Invalid(f"keep_{rule} is {count}; it must be 0 or more")
    within = read_span(options.get("keep_within"))
    if within is None and not any(counts.values()):
        rules = ", ".join(f"keep_{rule}" for rule in RULES)
        raise Invalid(f"the policy is empty: it would keep nothing. Set one of {rules} or keep_within")
    if not re.sub(r"\[!?\]?[^]]*\]|[*?]", "", pattern).strip():
        raise Invalid(
            f"the pattern {pattern!r} would match every copy, including those made by hand. Begin it with "
            "the words that your schedule puts first, such as 'nightly-*'"
        )
    return Policy({rule: count for rule, count in counts.items() if count}, within, pattern, failed, zone)


def read_span(text: str | None) -> Span | None:
    """Parse a duration such as ``2y5m7d3h``; ``None`` for ``None``."""
    if text is None or not text.strip():
        return None
    parts = re.findall(r"(\d+)([ymdh])", text)
    amounts = {UNITS[unit]: int(amount) for amount, unit in parts}
    spelled = "".join(amount + unit for amount, unit in parts) == text.strip()
    if not spelled or len(amounts) != len(parts) or not any(amounts.values()):
        raise Invalid(
            f"{text!r} is not a duration; write years, months, days and hours as in 2y5m7d3h, each at most "
            "once and not all of them 0"
        )
    if amounts.get("years", 0) > 1000 or max(amounts.values()) > 10_000:
        raise Invalid(f"{text!r} is too long; count in greater units, up to 1000 years")
    return Span(**amounts, text=text.strip())


def plan_retention(copies: Iterable[RestorePoint], policy: Policy, now: datetime | None) -> list[Decision]:
    """Decide on every copy. Returns all of them, newest first; those without a date are last.

    Only COMPLETED copies that match the pattern count. Of the FAILED ones, the newest ``policy.failed`` are
    kept, and those that may hold data as long as the rules would keep them if they were COMPLETED.
    What is dated later than ``now``, by the platform, stays, and takes the place of no other one. Without
    that time, everything stays.
    """
    decisions = [Decision(copy) for copy in copies]
    # For equal times, the greater id is newer.
    decisions.sort(key=lambda decision: (moment_of(decision), decision.copy.id), reverse=True)
    classified = [(classify(decision, policy, now), decision) for decision in decisions]
    good = [decision for status, decision in classified if status == BackupStatus.COMPLETED]
    failed = [decision for status, decision in classified if status == BackupStatus.FAILED]
    for position, decision in enumerate(failed):
        decision.keep = position < policy.failed
        limit = f"keep_failed is {policy.failed}"
        decision.reasons.append(f"failed: {'one of the newest, ' if decision.keep else ''}{limit}")
    if good:
        good[0].reasons.append("newest good one")
    for decision, reason in rule_reasons(good, policy):
        decision.reasons.append(reason)
    for decision in good:
        decision.keep = bool(decision.reasons)
        if not decision.keep:
            decision.reasons.append("no rule keeps it")
    whole = [each for status, each in classified if status and (each.copy.was_complete or each not in failed)]
    for decision, reason in rule_reasons(whole, policy):
        if decision in failed:  # in the place of no good one
            decision.keep = True
            decision.reasons.append(f"may hold data, as it was complete before it failed: {reason}")
    return decisions


def rule_reasons(good: Sequence[Decision], policy: Policy) -> Iterator[tuple[Decision, str]]:
    """Yield the copies that the rules keep, each with the rule; several rules may keep one."""
    if policy.within is not None and good:
        border = policy.within.before(moment_of(good[0]), policy.zone)
        young = [decision for decision in good if moment_of(decision) > border]
        yield from ((decision, f"within {policy.within.text}") for decision in young)
    for rule, count in policy.counts.items():
        yield from newest_per_period(good, rule, count, policy.zone)


def classify(decision: Decision, policy: Policy, now: datetime | None) -> str | None:
    """Return the status of a copy that the policy decides on; ``None``, with a reason, for others."""
    copy = decision.copy
    if not fits(copy.name, policy.pattern):
        decision.managed = False
        decision.reasons.append(f"unmanaged: its name does not match {policy.pattern!r}")
    elif copy.status not in (BackupStatus.COMPLETED, BackupStatus.FAILED):
        decision.reasons.append(f"untouchable: its status is {copy.status}")
    elif copy.created_at is None:
        decision.reasons.append("untouchable: the platform does not say when it was made")
    elif now is None:
        decision.reasons.append(f"untouchable: {NO_DATE}")
    elif copy.created_at > now + CLOCKS_DIFFER:
        decision.reasons.append("untouchable: it is dated in the future")
    else:
        return copy.status
    return None


def newest_per_period(
    good: Sequence[Decision], rule: str, count: int, zone: tzinfo
) -> Iterator[tuple[Decision, str]]:
    """Yield the newest copy of each of the last ``count`` periods that have one.

    If there are fewer periods, the oldest copy is kept, too, to make the history as long as possible.
    """
    left, latest = count, None
    for position, decision in enumerate(good):
        if not left:
            return
        local = moment_of(decision).astimezone(zone)
        period = local.strftime(LABELS[rule]) if rule in LABELS else str(position + 1)
        if period != latest:
            latest = period
            left -= 1
            yield decision, f"{rule} {period}"
        elif position == len(good) - 1:
            yield decision, f"{rule}: the oldest, as {left} of {count} are left"


def moment_of(decision: Decision) -> datetime:
    return decision.copy.created_at or datetime.min.replace(tzinfo=UTC)


def check_max_delete(decisions: Sequence[Decision], max_delete: int | None) -> None:
    doomed = [decision.copy.name for decision in decisions if not decision.keep]
    if max_delete is not None and len(doomed) > max_delete:
        raise Invalid(
            f"the policy would delete {counted(len(doomed), 'copy')}, and max_delete is {max_delete}; "
            f"nothing was deleted. If you want to delete that many, raise max_delete to {len(doomed)}",
            would_delete=doomed,
        )
