# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about applications: deploys, and verdicts on the image in service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from ..._api.models import App, Event
from ..._api.values import ContainerState, Family, ScanStatus
from ..shared.restore_points import parse_moment
from .events import AccountEvent, DeployDone, DeployFailed, ReleaseBlocked, VerdictLifted
from .journal import Order, has_failed_deploy, is_starting, last_order, last_order_at
from .observation import AppMemory, ServiceMemory
from .poll import Poll, application_facts

LONGEST_DEPLOY = timedelta(minutes=10)
"""How long to wait until a container is seen to run, or not to, with a new image."""
LIFTING = (ScanStatus.PASSED, ScanStatus.WARNED)
"""The verdicts that allow a deploy. While a scan runs, and if it fails, the last verdict stands."""


class Outcome(Enum):
    """What became of a deploy."""

    DONE = "done"
    UNVERIFIED = "unverified"
    FAILED = "failed"


@dataclass(frozen=True)
class Applications:
    """What is remembered of the applications after a poll."""

    memories: dict[str, AppMemory] | None
    undeployed: frozenset[str]
    """The ids of those without an image."""
    failed: frozenset[str]
    """The ids of those whose deploy was told to have failed in this poll."""
    listed: bool
    """Whether the list was read in this poll."""

    def may_be_undeployed(self, service: ServiceMemory, id: str) -> bool:
        """Tell whether a service may be an application without an image, for all that is known."""
        if id in self.undeployed:
            return True
        known = self.listed or any(memory.id == id for memory in (self.memories or {}).values())
        return service.family == Family.APP and not known


def applications_after(poll: Poll) -> Applications:
    """Return what is remembered of the applications after a poll, and tell what happened to them.

    An application that the list lacks is kept: only a service's own route tells that it is gone.
    """
    before = poll.before.known_apps
    if poll.seen.apps is None:
        return Applications(poll.before.apps, undeployed(before), frozenset(), False)
    found = dict(before)
    failed = set()
    for slug, app in poll.seen.apps.items():
        found[slug], has_failed = application_after(poll, app, before.get(slug))
        if has_failed:
            failed.add(app.id)
    kept = {slug: memory for slug, memory in found.items() if memory.id not in poll.seen.gone}
    return Applications(kept, undeployed(kept), frozenset(failed), True)


def undeployed(memories: Mapping[str, AppMemory]) -> frozenset[str]:
    """Return the ids of the applications that have no image yet."""
    return frozenset(memory.id for memory in memories.values() if not memory.image)


def application_after(poll: Poll, app: App, memory: AppMemory | None) -> tuple[AppMemory, bool]:
    """Return what is remembered of an application, and whether a deploy of it was told to have failed."""
    current = {"id": app.id, "name": app.name}
    shown = {"image": app.image_ref or None, "released_at": app.released_at}
    current |= {key: value for key, value in shown.items() if value is not None}
    if memory is None or memory.id != app.id:
        is_new = poll.before.apps is not None
        memory = AppMemory(id=app.id) if is_new else AppMemory.model_validate(current)
    latest = memory.model_copy(update=current)
    if memory.is_replaced_by(app):
        if memory.deploying_since:  # replaced by the next before anybody saw it run
            tell_deploy(poll, app, memory, Outcome.UNVERIFIED)
        latest = latest.model_copy(update={"deploying_since": poll.at, "previous": memory.image})
    return with_verdict(poll, app, memory, *with_deploy(poll, app, latest))


def with_deploy(poll: Poll, app: App, memory: AppMemory) -> tuple[AppMemory, bool]:
    """Return the memory once it is known what became of a deploy, and whether it failed. Tell that."""
    service = poll.before.known_services.get(app.id)
    known = service is not None and service.entry is not None  # otherwise some entries are no news
    told_by_journal = known and has_failed_deploy(poll.seen.entries.get(app.id) or ())
    if not memory.deploying_since:
        if told_by_journal:
            tell_deploy(poll, app, memory, Outcome.FAILED)
        return memory, told_by_journal
    outcome = Outcome.FAILED if told_by_journal else outcome_of(poll, app, memory.deploying_since)
    if outcome is None:
        return memory, False
    tell_deploy(poll, app, memory, outcome)
    settled = memory.model_copy(update={"deploying_since": None, "previous": None})
    return settled, outcome is Outcome.FAILED


def outcome_of(poll: Poll, app: App, since: str) -> Outcome | None:
    """Return what became of a deploy; ``None`` if that is not known yet."""
    if poll.seen.limited:
        return Outcome.UNVERIFIED
    state = poll.seen.states.get(app.id)
    entries = poll.seen.entries.get(app.id)
    if state == ContainerState.RUNNING:
        return Outcome.DONE
    if state == ContainerState.STOPPED and entries is not None:
        if is_start_recent(poll, app, entries):
            return None
        return Outcome.UNVERIFIED if is_stop_ordered(poll, app, entries) else Outcome.FAILED
    begun = parse_moment(since)
    late = begun is None or abs(poll.now - begun) > LONGEST_DEPLOY  # a clock may have been set back
    return Outcome.UNVERIFIED if late else None


def is_stop_ordered(poll: Poll, app: App, entries: Sequence[Event]) -> bool:
    """Tell whether the last power order was to stop."""
    order = last_order(entries)
    service = poll.before.known_services.get(app.id)
    return order is Order.STOP or (order is None and service is not None and service.stop_ordered)


def is_start_recent(poll: Poll, app: App, entries: Sequence[Event]) -> bool:
    """Tell whether the container was started so recently that it may be shown as it was before."""
    order, at = last_order_at(entries)
    if order is not None:
        return order is Order.START and is_starting(at, poll.now)
    service = poll.before.known_services.get(app.id)
    return service is not None and service.start_ordered and is_starting(service.start_at, poll.now)


def tell_deploy(poll: Poll, app: App, memory: AppMemory, outcome: Outcome) -> None:
    """Tell what became of a deploy."""
    facts = {
        "application": application_facts(app),
        "image": memory.image,
        "previous_image": memory.previous,
    }
    if outcome is Outcome.FAILED:
        poll.tell(DeployFailed, f"a deploy of application {app.slug!r} failed", **facts)
        return
    verified = outcome is Outcome.DONE
    doubt = "" if verified else "; it was not seen running"
    message = f"application {app.slug!r} was deployed{doubt}"
    poll.tell(DeployDone, message, verified=verified, **facts)


def with_verdict(
    poll: Poll, app: App, before: AppMemory, memory: AppMemory, failed: bool
) -> tuple[AppMemory, bool]:
    """Return the memory with the verdict on the image in service. Tell if it blocks, or is lifted."""
    changed = before.image != memory.image
    blocked = before.blocked and not changed
    kind: type[AccountEvent] | None = None
    facts = {"application": application_facts(app), "image": memory.image}
    if app.scan_status == ScanStatus.BLOCKED and not blocked:
        blocked, kind = True, ReleaseBlocked
        message = (
            f"the image of application {app.slug!r} in service is blocked; the next deploy needs another"
        )
    elif app.scan_status in LIFTING and blocked:
        blocked, kind = False, VerdictLifted
        facts["verdict"] = app.scan_status
        message = f"the verdict on the image of application {app.slug!r} is lifted"
    if kind is not None and (poll.before.apps is not None or poll.rules.report_existing):
        poll.tell(kind, message, **facts)
    return memory.model_copy(update={"blocked": blocked}), failed
