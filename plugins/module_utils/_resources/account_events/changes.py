# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What changed between two polls: a pure function from a state and an observation to a state with events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from ..._api.models import App, BillingOverview, Event, ServiceSummary
from ..._api.text import counted
from ..._api.values import BackupStatus, ContainerState, Family, ScanStatus, ServiceStatus
from ..shared.money import format_amount, from_cents
from ..shared.names import fits
from ..shared.restore_points import as_restore_points, newest_complete, parse_moment
from ..shared.time_zones import utc_text
from .events import KINDS, ApplicationFacts, BackupFacts, DifferenceFacts, ServiceFacts
from .observer import Observation, has_container, is_replaced
from .state import (
    DEPLOY,
    START,
    STOP,
    STOPPED,
    AppMemory,
    BackupMemory,
    DriftMemory,
    ServiceMemory,
    SourceOptions,
    State,
)

FAILED = "service_failed"
OF_STATUS = {ServiceStatus.FAILED: FAILED, ServiceStatus.AWAITING_ADMIN: "service_awaiting_admin"}
"""The trouble that a status tells of by itself: the type of its event."""
MAX_DIFFERENCES = 50
MAX_TYPES = 20
"""The most that an event lists: places of a blueprint, types of entries."""
LONGEST_DEPLOY = timedelta(minutes=10)
"""How long to wait until a container is seen to run, or not to, with a new image."""
LIFTING = (ScanStatus.PASSED, ScanStatus.WARNED)
"""The verdicts that allow a deploy. While a scan runs, and if it fails, the last verdict stands."""
STARTS = frozenset({"start", "restart", "provisioned", "deployed"})
STOPS = frozenset({"stop", "kill", "suspended"})
"""A service that was suspended, and resumed without being started, does not run by order either."""
RESTORES = frozenset({"restore", "restored", "rollback"})
"""What may stop a container for a while, and start it again."""
FAILED_DEPLOY = frozenset({"deploy", "failed"})
START_GRACE = timedelta(seconds=30)
"""For so long after an order to start, a container that is shown as stopped may be on its way.

Metrics need not be of the same moment as the activity journal. With clocks that are further apart, a start
that is shown late is told as a stop.
"""


@dataclass
class Poll:
    """One poll: the state before it, what it saw, when, and the state after it with its events."""

    before: State
    seen: Observation
    now: datetime
    rules: SourceOptions
    account: str
    """The address of the platform."""
    after: State
    failed: set[str] = field(default_factory=set)
    """The applications whose deploy was told to have failed in this poll."""

    @property
    def at(self) -> str:
        return self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def trouble_is_news(self) -> bool:
        """Whether trouble is told: always, unless it was there before the source and nobody asked for it."""
        return self.before.services is not None or self.rules.report_existing

    def tell_of(self, kind: str, message: str, id: str, service: ServiceMemory, **facts: Any) -> None:
        names = (name for name in ServiceFacts.model_fields if name != "id")
        told = ServiceFacts(id=id, **{name: getattr(service, name) for name in names})
        self.tell(kind, message, service=told, **facts)

    def tell(self, kind: str, message: str, **facts: Any) -> None:
        """Add an event. Its id follows from its number alone, so that it is the same if it is told again."""
        number = self.after.sequence = self.after.sequence + 1
        facts |= {"account": self.account, "message": message, "sequence": number, "at": self.at}
        event = KINDS[kind](id=str(uuid.uuid5(uuid.UUID(self.before.salt), str(number))), **facts)
        self.after.outbox = (*self.after.outbox, event.model_dump(mode="json"))


# --- The activity journal -----------------------------------------------------------------------------
# The specification shows two types, POWER_START and PROVISIONED. Others are read by their words.


def words_of(entry: Event) -> frozenset[str]:
    return frozenset((entry.type or "").lower().split("_"))


def last_order(entries: Iterable[Event]) -> tuple[str | None, str | None]:
    """Return the last power order among entries, oldest first, and when it was given, if that is shown."""
    found: tuple[str | None, str | None] = None, None
    for entry in entries:
        words = words_of(entry)
        if words & STARTS:
            found = START, entry.at
        elif words & STOPS:
            found = STOP, entry.at
    return found


def is_starting(ordered: str | None, now: datetime) -> bool:
    moment = parse_moment(ordered)
    return moment is not None and abs(now - moment) < START_GRACE


def compare_services(poll: Poll) -> None:
    """Tell what happened to the services. Those that a limited token cannot see are not gone."""
    listed, found = poll.seen.services, poll.after.services or {}
    if poll.seen.limited and poll.seen.apps is not None:
        listed = {
            id: ServiceSummary(id=id, name=app.name or app.slug, family=Family.APP, status=app.status)
            for id, app in poll.seen.apps.items()
        }
    if listed is None:
        return
    for id in [] if poll.seen.limited else sorted(found.keys() - listed.keys()):
        if not found[id].deleted:
            tell_deleted(poll, id, found[id])
        del found[id]
    for id, summary in listed.items():
        compare_service(poll, id, summary, found)
    poll.after.services = found


def compare_service(poll: Poll, id: str, summary: ServiceSummary, found: dict[str, ServiceMemory]) -> None:
    is_new, is_deleting = id not in found, summary.status in ServiceStatus.DELETING_OR_DELETED
    memory = found.setdefault(id, ServiceMemory(name="", family="", status=""))
    memory.name, memory.family, memory.status = summary.name, summary.family, summary.status
    if is_new:
        memory.product = summary.product.slug if summary.product else None
        memory.created_at, memory.there_before = summary.created_at, poll.before.services is None
        if not memory.there_before and not is_deleting:
            poll.tell_of("service_ordered", f"service {memory.name!r} was ordered", id, memory)
    note_entries(memory, poll.seen.entries.get(id) or ())
    if not is_deleting:
        note_health(poll, id, memory)
        return
    if not (memory.deleted or is_new):
        tell_deleted(poll, id, memory)
    memory.deleted = True


def tell_deleted(poll: Poll, id: str, memory: ServiceMemory) -> None:
    poll.tell_of("service_deleted", f"service {memory.name!r} was deleted", id, memory)


def note_entries(memory: ServiceMemory, entries: Sequence[Event]) -> None:
    memory.entry = entries[-1].id if entries else memory.entry
    restores = [entry.at for entry in entries if words_of(entry) & RESTORES]
    if restores and restores[-1]:
        memory.restored_at = restores[-1]
    order, at = last_order(entries)
    if order is not None:
        memory.ordered, memory.ordered_at = order, at


def note_health(poll: Poll, id: str, memory: ServiceMemory) -> None:
    """Tell of trouble with a service that is not deleted, and of its end."""
    state = poll.seen.states.get(id)
    if memory.status in OF_STATUS:
        note_trouble(poll, id, memory)
    elif memory.status != ServiceStatus.ACTIVE:
        return
    elif poll.seen.limited or not has_container(memory):
        # Nobody can see a container here. One that had stopped is not known to run.
        if memory.trouble not in (STOPPED, DEPLOY):
            note_back(poll, id, memory)
    elif state == ContainerState.STOPPED:
        note_stop(poll, id, memory)
    else:
        memory.state = state or memory.state
        if state == ContainerState.RUNNING:
            order, __ = last_order(poll.seen.entries.get(id) or ())
            memory.ordered = STOP if order == STOP else None
            note_back(poll, id, memory)


def note_trouble(poll: Poll, id: str, memory: ServiceMemory) -> None:
    """Note that a service is in trouble by its status. Tell it once."""
    trouble = OF_STATUS[memory.status]
    if memory.trouble == trouble:
        return
    if poll.trouble_is_news and trouble == FAILED:
        reason = poll.seen.reasons.get(id)
        because = f": {reason}" if reason else ""
        message = f"the creation of service {memory.name!r} failed{because}"
        poll.tell_of("service_failed", message, id, memory, reason=reason)
    elif poll.trouble_is_news:
        message = f"service {memory.name!r} waits for the operator team of the platform"
        poll.tell_of("service_awaiting_admin", message, id, memory)
    memory.trouble, memory.since = trouble, poll.at


def note_back(poll: Poll, id: str, memory: ServiceMemory) -> None:
    if memory.trouble is not None:
        message = f"service {memory.name!r} is back"
        poll.tell_of("service_back", message, id, memory, after=memory.trouble, since=memory.since)
        memory.trouble = memory.since = None


def note_stop(poll: Poll, id: str, memory: ServiceMemory) -> None:
    """Note that the container of a service in service is stopped. Tell it if nobody ordered that."""
    app, entries = poll.after.known_apps.get(id), poll.seen.entries.get(id)
    if not app.image if app else memory.family == Family.APP and poll.seen.apps is None:
        return  # an application that may have no image, so nothing that could run
    was_stopped, started = memory.state == ContainerState.STOPPED, memory.ordered == START
    restored = id in poll.seen.restoring or is_starting(memory.restored_at, poll.now)
    if entries is None or restored or (started and is_starting(memory.ordered_at, poll.now)):
        return  # why it stopped, or whether it starts, is not known yet; another poll looks again
    memory.state, memory.ordered = ContainerState.STOPPED, None if started else memory.ordered
    if id in poll.failed:
        memory.trouble, memory.since = DEPLOY, poll.at
    elif memory.ordered != STOP and (started or not was_stopped):
        window = timedelta(seconds=poll.rules.stop_window)
        moments = {at: parse_moment(at) or poll.now for at in memory.stops}
        recent = [at for at in moments if abs(poll.now - moments[at]) <= window]  # a clock may be set back
        memory.stops = (*recent, poll.at)
        if poll.trouble_is_news:
            tell_stopped(poll, id, memory, entries)
        memory.trouble, memory.since = STOPPED, poll.at


def tell_stopped(poll: Poll, id: str, memory: ServiceMemory, entries: Sequence[Event]) -> None:
    stops, minutes = len(memory.stops), counted(round(poll.rules.stop_window / 60), "minute")
    times = "" if stops == 1 else f", {stops} times within {minutes}"
    types = [entry.type or "" for entry in entries[-MAX_TYPES:]]
    message = f"service {memory.name!r} stopped by itself{times}"
    poll.tell_of("service_stopped", message, id, memory, stops=stops, journal=types)


def compare_apps(poll: Poll) -> None:
    """Tell what happened to the applications: deploys, and verdicts on the image in service."""
    if poll.seen.apps is None:
        return
    found: dict[str, AppMemory] = {}
    for id, app in poll.seen.apps.items():
        memory = found[id] = poll.after.known_apps.get(id) or AppMemory()
        if id not in poll.before.known_apps and poll.before.apps is None:  # its deploys are no news
            memory.image, memory.released_at = app.image_ref or None, app.released_at
        blocked = memory.blocked and memory.image == (app.image_ref or None)
        replaced, previous = is_replaced(memory, app), memory.image
        if replaced and memory.deploying_since:  # by the next one, before anybody saw it run
            tell_deploy(poll, app, memory, False)
        memory.image, memory.released_at = app.image_ref or None, app.released_at or memory.released_at
        if replaced:
            memory.deploying_since, memory.previous = poll.at, previous
        note_deploy(poll, app, memory)
        note_verdict(poll, app, memory, blocked)
    poll.after.apps = found


def note_deploy(poll: Poll, app: App, memory: AppMemory) -> None:
    service = poll.before.known_services.get(app.id)
    entries = poll.seen.entries.get(app.id)
    known = service is not None and service.entry is not None  # otherwise some entries are no news
    if known and any(words_of(entry) >= FAILED_DEPLOY for entry in entries or ()):
        tell_deploy(poll, app, memory, None)
    elif not memory.deploying_since:
        return
    elif poll.seen.limited:
        tell_deploy(poll, app, memory, False)
    elif poll.seen.states.get(app.id) == ContainerState.RUNNING:
        tell_deploy(poll, app, memory, True)
    elif poll.seen.states.get(app.id) == ContainerState.STOPPED and entries is not None:
        order, at = last_order(entries)
        if order is None and service is not None:
            order, at = service.ordered, service.ordered_at
        if order != START or not is_starting(at, poll.now):
            tell_deploy(poll, app, memory, False if order == STOP else None)
    else:
        begun = parse_moment(memory.deploying_since)
        if begun is None or abs(poll.now - begun) > LONGEST_DEPLOY:  # a clock may have been set back
            tell_deploy(poll, app, memory, False)


def tell_deploy(poll: Poll, app: App, memory: AppMemory, verified: bool | None) -> None:
    """Tell that a deploy is done, seen to run or not; ``None`` if it failed. Nothing is waited for then."""
    facts = {"application": facts_of(app), "image": memory.image, "previous_image": memory.previous}
    if verified is None:
        poll.failed.add(app.id)
        poll.tell("deploy_failed", f"a deploy of application {app.slug!r} failed", **facts)
    else:
        doubt = "" if verified else "; it was not seen running"
        message = f"application {app.slug!r} was deployed{doubt}"
        poll.tell("deploy_done", message, verified=verified, **facts)
    memory.deploying_since = memory.previous = None


def facts_of(app: App) -> ApplicationFacts:
    return ApplicationFacts(id=app.id, slug=app.slug, name=app.name)


def note_verdict(poll: Poll, app: App, memory: AppMemory, blocked: bool) -> None:
    """Tell if the verdict on the image in service blocks, or is lifted. ``blocked``: whether it did."""
    verdict, facts = app.scan_status, {"application": facts_of(app), "image": memory.image}
    memory.blocked = verdict == ScanStatus.BLOCKED or (blocked and verdict not in LIFTING)
    if memory.blocked == blocked or not (poll.before.apps is not None or poll.rules.report_existing):
        return
    if memory.blocked:
        said = f"the image of application {app.slug!r} in service is blocked; the next deploy needs another"
        poll.tell("release_blocked", said, **facts)
    else:
        said = f"the verdict on the image of application {app.slug!r} is lifted"
        poll.tell("verdict_lifted", said, verdict=verdict, **facts)


def compare_backups(poll: Poll) -> None:
    """Tell what the backups show that were read: which failed, and whether they are too old."""
    for id, backups in poll.seen.backups.items():
        memory = poll.after.known_services.get(id)
        if memory is None or memory.deleted:
            continue
        before = memory.backups
        failed = [backup for backup in backups if backup.status == BackupStatus.FAILED]
        for backup in failed if before is not None or not memory.there_before else ():
            if before is None or backup.id not in before.failed:
                facts = BackupFacts(id=backup.id, name=backup.name, created_at=backup.created_at)
                message = f"backup {backup.name!r} of service {memory.name!r} failed"
                poll.tell_of("backup_failed", message, id, memory, backup=facts)
        whole = newest_complete(as_restore_points(backups))
        newest = whole.created_at if whole else None
        stale = is_stale(poll, memory, newest)
        if stale != (before is not None and before.stale):
            tell_age(poll, id, memory, newest, stale)
        memory.backups = BackupMemory(looked=poll.at, failed=tuple(each.id for each in failed), stale=stale)


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
    made, hours = utc_text(newest), poll.rules.backup_max_age or 0.0
    if stale and (memory.backups is not None or not memory.there_before or poll.rules.report_existing):
        last = f"its newest completed backup is of {made}" if made else "it has no completed backup"
        message = f"the backups of service {memory.name!r} are older than {hours:g} hours: {last}"
        poll.tell_of("backups_stale", message, id, memory, newest=made, max_age_hours=hours)
    elif made and not stale:
        poll.tell_of("backups_fresh", f"service {memory.name!r} has a new backup", id, memory, newest=made)


def compare_money(poll: Poll) -> None:
    overview = poll.seen.overview
    if overview is None:
        return
    if overview.days_left_estimate is not None:
        compare_balance(poll, overview, overview.days_left_estimate)
    compare_spend(poll, "daily", overview.current_daily_burn_cents, poll.rules.max_daily_spend)
    compare_spend(poll, "monthly", overview.projected_month_cents, poll.rules.max_monthly_spend)


def compare_balance(poll: Poll, overview: BillingOverview, days: int) -> None:
    before, cents = poll.before.threshold, overview.balance_cents
    facts = {"days_left": days, "balance": None if cents is None else format_amount(from_cents(cents))}
    burns = overview.current_daily_burn_cents != 0 or (cents or 0) < 0
    reached = min((limit for limit in poll.rules.balance_days if days <= limit and burns), default=None)
    if reached is not None and (before is None or reached < before):
        poll.tell("balance_low", f"the balance runs out in {days} days", threshold_days=reached, **facts)
    elif before is not None and burns and days <= before + 1:
        reached = before  # an estimate that wavers by a day must not tell the same again and again
    elif before is not None and reached is None:
        poll.tell("balance_recovered", f"the balance lasts for {days} days", **facts)
    poll.after.threshold = reached


def compare_spend(poll: Poll, measure: str, cents: int | Decimal | None, limit: Decimal | None) -> None:
    high = set(poll.after.high)
    if limit is not None and cents is not None and (from_cents(cents) > limit) != (measure in high):
        high ^= {measure}
        facts = {"amount": format_amount(from_cents(cents)), "limit": format_amount(limit)}
        verb = "is above" if measure in high else "is no longer above"
        message = f"the {measure} spend of {facts['amount']} {verb} the limit of {facts['limit']}"
        poll.tell("spend_high" if measure in high else "spend_recovered", message, measure=measure, **facts)
    poll.after.high = tuple(sorted(high if limit is not None else high - {measure}))


def compare_blueprints(poll: Poll) -> None:
    for path, drift in poll.seen.drift.items():
        before, signature = poll.after.drift.get(path), None
        if drift.differences:
            signature = json.dumps(sorted((each["kind"], each["path"]) for each in drift.differences))
        told, facts = f"project {drift.project!r}", {"blueprint": path, "project": drift.project}
        differences = [
            DifferenceFacts(kind=each["kind"], path=each["path"], changed_by=each.get("changed_by"))
            for each in drift.differences[:MAX_DIFFERENCES]
        ]
        if signature and signature != (before and before.signature):
            message = f"{told} differs from its blueprint in {counted(len(drift.differences), 'place')}"
            poll.tell("blueprint_drifted", message, differences=differences, **facts)
        elif not signature and before and before.signature:
            poll.tell("blueprint_in_sync", f"{told} agrees with its blueprint again", **facts)
        poll.after.drift[path] = DriftMemory(looked=poll.at, signature=signature)


def advance(before: State, seen: Observation, now: datetime, rules: SourceOptions, account: str) -> State:
    """Return the state after a poll. The new events are at the end of its outbox.

    Nothing is read, written or waited for here. The same arguments give the same events with the same ids.
    """
    poll = Poll(before, seen, now, rules, account, before.model_copy(deep=True))
    for compare in (compare_apps, compare_services, compare_backups, compare_money, compare_blueprints):
        compare(poll)
    return poll.after
