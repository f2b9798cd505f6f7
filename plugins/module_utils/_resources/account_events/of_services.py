# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about services: failed, waiting for the operator team, stopped, back, ordered, deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ..._api.models import Event, ServiceSummary
from ..._api.text import counted
from ..._api.values import ContainerState, Family, ServiceStatus
from ..shared.restore_points import parse_moment
from . import events as e
from .journal import RESTORES, START, STOP, is_starting, last_order, words_of
from .observation import Poll, ServiceMemory, has_container

FAILED, AWAITING = "service_failed", "service_awaiting_admin"
STOPPED, DEPLOY = "service_stopped", "deploy_failed"
"""The types of the events that tell of trouble."""
MAX_TYPES = 20
"""The number of types that an event lists."""
OF_STATUS = {ServiceStatus.FAILED: FAILED, ServiceStatus.AWAITING_ADMIN: AWAITING}
"""The trouble that a status tells of by itself."""


def services_after(poll: Poll) -> dict[str, ServiceMemory] | None:
    """Return what is remembered of the services after a poll, and tell what happened to them."""
    before, listed = poll.before.known_services, poll.seen.services
    if listed is None:
        return poll.before.services
    kept = before if poll.seen.limited else {id: before[id] for id in before if id in listed}
    for id in sorted(before.keys() - kept.keys()):
        if not before[id].deleted:
            tell_deleted(poll, id, before[id])
    found = dict(kept)
    for id, summary in listed.items():
        current = with_entries(poll, id, enter(poll, summary, before.get(id)))
        if summary.status not in ServiceStatus.DELETING_OR_DELETED:
            found[id] = with_health(poll, id, current)
            continue
        if not current.deleted and id in before:
            tell_deleted(poll, id, current)
        found[id] = current.model_copy(update={"deleted": True})
    return found


def tell_deleted(poll: Poll, id: str, memory: ServiceMemory) -> None:
    """Tell that a service was deleted."""
    poll.tell_of(e.ServiceDeleted, f"service {memory.name!r} was deleted", id, memory)


def enter(poll: Poll, summary: ServiceSummary, memory: ServiceMemory | None) -> ServiceMemory:
    """Return what is remembered of a service, with its present name and status. Tell of one that is new."""
    current: dict[str, Any] = {"name": summary.name, "family": summary.family, "status": summary.status}
    if memory is not None:
        return memory.model_copy(update=current)
    slug = summary.product.slug if summary.product else None
    fresh = ServiceMemory(
        **current,
        product=slug,
        created_at=summary.created_at,
        there_before=poll.before.services is None,
    )
    if not fresh.there_before and summary.status not in ServiceStatus.DELETING_OR_DELETED:
        poll.tell_of(e.ServiceOrdered, f"service {fresh.name!r} was ordered", summary.id, fresh)
    return fresh


def with_health(poll: Poll, id: str, memory: ServiceMemory) -> ServiceMemory:
    """Return what is remembered of a service that is not deleted, and tell of trouble and its end."""
    trouble = OF_STATUS.get(memory.status)
    if trouble is not None:
        return in_trouble(poll, id, memory, trouble)
    if memory.status != ServiceStatus.ACTIVE:
        return memory
    if poll.seen.limited or not has_container(memory):
        # Nobody can see a container here. One that had stopped is not known to run.
        return memory if memory.trouble in (STOPPED, DEPLOY) else back(poll, id, memory)
    state = poll.seen.states.get(id)
    if state == ContainerState.STOPPED:
        return stopped(poll, id, memory)
    if state == ContainerState.RUNNING:
        order, __ = last_order(poll.seen.entries.get(id) or ())
        seen = {"state": state, "ordered": STOP if order == STOP else None}
        return back(poll, id, memory.model_copy(update=seen))
    return memory.model_copy(update={"state": state}) if state in ContainerState.KNOWN else memory


def with_entries(poll: Poll, id: str, memory: ServiceMemory) -> ServiceMemory:
    """Return the memory with what the new entries of the activity journal say."""
    entries = poll.seen.entries.get(id)
    if not entries:
        return memory
    update: dict[str, Any] = {"entry": entries[-1].id}
    restores = [entry.at for entry in entries if words_of(entry) & RESTORES]
    if restores and restores[-1]:
        update["restored_at"] = restores[-1]
    order, at = last_order(entries)
    if order is not None:
        update |= {"ordered": order, "ordered_at": at}
    return memory.model_copy(update=update)


def in_trouble(poll: Poll, id: str, memory: ServiceMemory, trouble: str) -> ServiceMemory:
    """Return the memory of a service that is in trouble by its status. Tell it once."""
    if memory.trouble == trouble:
        return memory
    if poll.trouble_is_news and trouble == FAILED:
        reason = poll.seen.reasons.get(id)
        because = f": {reason}" if reason else ""
        message = f"the creation of service {memory.name!r} failed{because}"
        poll.tell_of(e.ServiceFailed, message, id, memory, reason=reason)
    elif poll.trouble_is_news:
        message = f"service {memory.name!r} waits for the operator team of the platform"
        poll.tell_of(e.ServiceAwaitingAdmin, message, id, memory)
    return memory.model_copy(update={"trouble": trouble, "since": poll.at})


def back(poll: Poll, id: str, memory: ServiceMemory) -> ServiceMemory:
    """Return the memory of a service that is well. Tell if it was in trouble."""
    if memory.trouble is None:
        return memory
    message = f"service {memory.name!r} is back"
    poll.tell_of(e.ServiceBack, message, id, memory, after=memory.trouble, since=memory.since)
    return memory.model_copy(update={"trouble": None, "since": None})


def stopped(poll: Poll, id: str, memory: ServiceMemory) -> ServiceMemory:
    """Return the memory of a service in service whose container is stopped. Tell if nobody ordered that."""
    entries = poll.seen.entries.get(id)
    was_stopped = memory.state == ContainerState.STOPPED
    app = (poll.apps or {}).get(id)
    if not app.image if app else memory.family == Family.APP and poll.seen.apps is None:
        return memory  # an application that may have no image, so nothing that could run
    restored = id in poll.seen.restoring or is_starting(memory.restored_at, poll.now)
    started_again = memory.ordered == START
    may_start = restored or (started_again and is_starting(memory.ordered_at, poll.now))
    if entries is None or may_start:
        return memory  # why it stopped, or whether it starts, is not known yet; another poll looks again
    order = None if started_again else memory.ordered
    memory = memory.model_copy(update={"state": ContainerState.STOPPED, "ordered": order})
    if id in poll.failed:
        return memory.model_copy(update={"trouble": DEPLOY, "since": poll.at})
    if order == STOP or (was_stopped and not started_again):
        return memory
    return by_itself(poll, id, memory, entries)


def by_itself(poll: Poll, id: str, memory: ServiceMemory, entries: Sequence[Event]) -> ServiceMemory:
    """Return the memory of a service that stopped by itself, and tell it."""
    window = timedelta(seconds=poll.rules.stop_window)
    moments = {at: parse_moment(at) or poll.now for at in memory.stops}
    recent = [at for at in moments if abs(poll.now - moments[at]) <= window]  # a clock may be set back
    stops = (*recent, poll.at)
    if poll.trouble_is_news:
        minutes = counted(round(poll.rules.stop_window / 60), "minute")
        times = "" if len(stops) == 1 else f", {len(stops)} times within {minutes}"
        message = f"service {memory.name!r} stopped by itself{times}"
        types = [entry.type or "" for entry in entries[-MAX_TYPES:]]
        poll.tell_of(e.ServiceStopped, message, id, memory, stops=len(stops), journal=types)
    return memory.model_copy(update={"trouble": STOPPED, "since": poll.at, "stops": stops})
