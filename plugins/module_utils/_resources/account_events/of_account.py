# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about backups, money and blueprints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import Backup, BillingOverview, ServiceSummary
from ..._api.text import counted
from ..._api.values import BackupStatus
from ..shared.money import format_amount, from_cents
from ..shared.names import fits
from ..shared.restore_points import as_restore_points, newest_complete, parse_moment
from ..shared.time_zones import utc_text
from . import events as e
from .arguments import SourceOptions
from .observation import BackupMemory, Drift, DriftMemory, MoneyMemory, Poll, ServiceMemory

MAX_DIFFERENCES = 50
"""The number of differences that an event lists."""

# --- Backups ----------------------------------------------------------------------------------------


def with_backups(poll: Poll, services: Mapping[str, ServiceMemory] | None) -> dict[str, ServiceMemory] | None:
    """Return what is remembered of the services, with the backups that were read. Tell what they show."""
    if services is None:
        return None
    found = dict(services)
    for id, backups in poll.seen.backups.items():
        memory = found.get(id)
        if memory is not None and not memory.deleted:
            found[id] = memory.model_copy(update={"backups": backups_after(poll, id, memory, backups)})
    return found


def backups_after(poll: Poll, id: str, memory: ServiceMemory, backups: Sequence[Backup]) -> BackupMemory:
    """Return what is remembered of the backups of a service, and tell what they show."""
    before = memory.backups
    failed = [backup for backup in backups if backup.status == BackupStatus.FAILED]
    if before is not None or not memory.there_before:
        known = before.failed if before else ()
        for backup in [each for each in failed if each.id not in known]:
            facts = e.BackupFacts(id=backup.id, name=backup.name, created_at=backup.created_at)
            message = f"backup {backup.name!r} of service {memory.name!r} failed"
            poll.tell_of(e.BackupFailed, message, id, memory, backup=facts)
    whole = newest_complete(as_restore_points(backups))
    newest = whole.created_at if whole else None
    stale = is_stale(poll, memory, newest)
    was_stale = before is not None and before.stale
    if stale != was_stale and (stale or newest is not None):
        tell_age(poll, id, memory, newest, stale)
    return BackupMemory(looked=poll.at, failed=tuple(backup.id for backup in failed), stale=stale)


def is_stale(poll: Poll, memory: ServiceMemory, newest: datetime | None) -> bool:
    """Tell whether the backups of a service are too old. A service without any must be named to be stale."""
    hours, named = poll.rules.backup_max_age, poll.rules.backup_services
    if hours is None:
        return False
    if named is not None and not any(fits(memory.name, pattern) for pattern in named):
        return False
    reference = newest or (parse_moment(memory.created_at) if named is not None else None)
    return reference is not None and poll.now - reference > timedelta(hours=hours)


def unmatched_patterns(rules: SourceOptions, services: Iterable[ServiceSummary]) -> list[str]:
    """Return the patterns of services to watch that match none: a slip there would never be noticed."""
    names = [service.name for service in services]
    patterns = rules.backup_services or () if rules.backup_max_age is not None else ()
    return [pattern for pattern in patterns if not any(fits(name, pattern) for name in names)]


def tell_age(poll: Poll, id: str, memory: ServiceMemory, newest: datetime | None, stale: bool) -> None:
    """Tell that backups are too old, or no longer."""
    made, hours = utc_text(newest), poll.rules.backup_max_age
    if not stale or hours is None:
        poll.tell_of(e.BackupsFresh, f"service {memory.name!r} has a new backup", id, memory, newest=made)
    elif memory.backups is not None or not memory.there_before or poll.rules.report_existing:
        last = f"its newest completed backup is of {made}" if made else "it has no completed backup"
        message = f"the backups of service {memory.name!r} are older than {hours:g} hours: {last}"
        poll.tell_of(e.BackupsStale, message, id, memory, newest=made, max_age_hours=hours)


# --- Money ------------------------------------------------------------------------------------------


def money_after(poll: Poll) -> MoneyMemory:
    """Return what is remembered of the money, and tell what changed."""
    overview, memory = poll.seen.overview, poll.before.money
    if overview is None:
        return memory
    threshold = balance_after(poll, overview, memory)
    spends: tuple[tuple[str, int | Decimal | None, Decimal | None], ...] = (
        ("daily", overview.current_daily_burn_cents, poll.rules.max_daily_spend),
        ("monthly", overview.projected_month_cents, poll.rules.max_monthly_spend),
    )
    high = tuple(
        measure
        for measure, cents, limit in spends
        if limit is not None and spend_after(poll, measure, cents, limit, measure in memory.high)
    )
    return MoneyMemory(threshold=threshold, high=high)


def balance_after(poll: Poll, overview: BillingOverview, memory: MoneyMemory) -> int | None:
    """Return the lowest number of days that the balance reached. Tell if it is another."""
    days, before = overview.days_left_estimate, memory.threshold
    if days is None:
        return before
    burns = overview.current_daily_burn_cents != 0 or (overview.balance_cents or 0) < 0
    reached = min((limit for limit in poll.rules.balance_days if days <= limit and burns), default=None)
    balance = None if overview.balance_cents is None else format_amount(from_cents(overview.balance_cents))
    if reached is None:
        # An estimate that wavers by a day must not tell the same again and again.
        if before is None or (burns and days <= before + 1):
            return before
        poll.tell(e.BalanceRecovered, f"the balance lasts for {days} days", days_left=days, balance=balance)
        return None
    if before is None or reached < before:
        message = f"the balance runs out in {days} days"
        poll.tell(e.BalanceLow, message, days_left=days, threshold_days=reached, balance=balance)
        return reached
    return before if days <= before + 1 else reached


def spend_after(
    poll: Poll, measure: str, cents: int | Decimal | None, limit: Decimal, was_high: bool
) -> bool:
    """Return whether a measure of spend is above its limit. Tell if that changed."""
    if cents is None:
        return was_high
    amount = from_cents(cents)
    is_high = amount > limit
    if is_high != was_high:
        facts = {"measure": measure, "amount": format_amount(amount), "limit": format_amount(limit)}
        verb = "is above" if is_high else "is no longer above"
        message = f"the {measure} spend of {facts['amount']} {verb} the limit of {facts['limit']}"
        poll.tell(e.SpendHigh if is_high else e.SpendRecovered, message, **facts)
    return is_high


# --- Blueprints -------------------------------------------------------------------------------------


def drift_after(poll: Poll) -> dict[str, DriftMemory]:
    """Return what is remembered of the blueprints, and tell which began or ceased to differ."""
    found = dict(poll.before.drift)
    for path, drift in poll.seen.drift.items():
        before, signature = found.get(path), None
        if drift.differences:
            signature = json.dumps(sorted((each["kind"], each["path"]) for each in drift.differences))
        if signature != (before.signature if before else None):
            tell_drift(poll, path, drift)
        found[path] = DriftMemory(looked=poll.at, signature=signature)
    return found


def tell_drift(poll: Poll, path: str, drift: Drift) -> None:
    """Tell that a project differs from its blueprint, or no longer."""
    facts: dict[str, Any] = {"blueprint": path, "project": drift.project}
    if not drift.differences:
        poll.tell(e.BlueprintInSync, f"project {drift.project!r} agrees with its blueprint again", **facts)
        return
    differences = [
        e.DifferenceFacts(kind=each["kind"], path=each["path"], changed_by=each.get("changed_by"))
        for each in drift.differences[:MAX_DIFFERENCES]
    ]
    places = counted(len(drift.differences), "place")
    message = f"project {drift.project!r} differs from its blueprint in {places}"
    poll.tell(e.BlueprintDrifted, message, differences=differences, **facts)


def due(looked: str | None, now: datetime, seconds: float) -> bool:
    """Tell whether it is time to look again. A time in the future comes from a clock that was set back."""
    last = parse_moment(looked)
    return last is None or abs((now - last).total_seconds()) >= seconds
