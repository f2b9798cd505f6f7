# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events about applications: deploys, and verdicts on the image in service."""

from __future__ import annotations

from datetime import timedelta
from enum import Enum

from ..._api.models import App
from ..._api.values import ContainerState, ScanStatus
from ..shared.restore_points import parse_moment
from . import events as e
from .journal import FAILED_DEPLOY, START, STOP, is_starting, last_order, words_of
from .observation import AppMemory, Poll

LONGEST_DEPLOY = timedelta(minutes=10)
"""How long to wait until a container is seen to run, or not to, with a new image."""
LIFTING = (ScanStatus.PASSED, ScanStatus.WARNED)
"""The verdicts that allow a deploy. While a scan runs, and if it fails, the last verdict stands."""


class Outcome(Enum):
    """What became of a deploy."""

    DONE = "done"
    UNVERIFIED = "unverified"
    FAILED = "failed"


def applications_after(poll: Poll) -> dict[str, AppMemory] | None:
    """Return what is remembered of the applications after a poll, and tell what happened to them."""
    if poll.seen.apps is None:
        return poll.before.apps
    return {id: application_after(poll, app) for id, app in poll.seen.apps.items()}


def application_after(poll: Poll, app: App) -> AppMemory:
    """Return what is remembered of an application, and tell what happened to it."""
    current = {"name": app.name, "image": app.image_ref or None, "released_at": app.released_at}
    memory = poll.before.known_apps.get(app.id)
    if memory is None:
        memory = AppMemory() if poll.before.apps is not None else AppMemory.model_validate(current)
    current["released_at"] = app.released_at or memory.released_at
    latest = memory.model_copy(update=current)
    if memory.is_replaced_by(app):
        if memory.deploying_since:  # replaced by the next before anybody saw it run
            tell_deploy(poll, app, memory, Outcome.UNVERIFIED)
        latest = latest.model_copy(update={"deploying_since": poll.at, "previous": memory.image})
    return with_verdict(poll, app, memory, with_deploy(poll, app, latest))


def with_deploy(poll: Poll, app: App, memory: AppMemory) -> AppMemory:
    """Return the memory once it is known what became of a deploy, and tell that."""
    service = poll.before.known_services.get(app.id)
    known = service is not None and service.entry is not None  # otherwise some entries are no news
    failed = any(words_of(entry) >= FAILED_DEPLOY for entry in poll.seen.entries.get(app.id) or ())
    outcome = Outcome.FAILED if known and failed else None
    if outcome is None and memory.deploying_since:
        outcome = outcome_of(poll, app, memory.deploying_since)
    if outcome is None:
        return memory
    if outcome is Outcome.FAILED:
        poll.failed.add(app.id)
    tell_deploy(poll, app, memory, outcome)
    return memory.model_copy(update={"deploying_since": None, "previous": None})


def outcome_of(poll: Poll, app: App, since: str) -> Outcome | None:
    """Return what became of a deploy; ``None`` if that is not known yet."""
    if poll.seen.limited:
        return Outcome.UNVERIFIED
    state = poll.seen.states.get(app.id)
    entries = poll.seen.entries.get(app.id)
    if state == ContainerState.RUNNING:
        return Outcome.DONE
    if state == ContainerState.STOPPED and entries is not None:
        order, at = last_order(entries)
        before = poll.before.known_services.get(app.id)
        if order is None and before is not None:
            order, at = before.ordered, before.ordered_at
        if order == START and is_starting(at, poll.now):
            return None
        return Outcome.UNVERIFIED if order == STOP else Outcome.FAILED
    begun = parse_moment(since)
    late = begun is None or abs(poll.now - begun) > LONGEST_DEPLOY  # a clock may have been set back
    return Outcome.UNVERIFIED if late else None


def tell_deploy(poll: Poll, app: App, memory: AppMemory, outcome: Outcome) -> None:
    """Tell what became of a deploy: that it failed, is done, or was not seen to run."""
    facts = {
        "application": facts_of(app),
        "image": memory.image,
        "previous_image": memory.previous,
    }
    if outcome is Outcome.FAILED:
        poll.tell(e.DeployFailed, f"a deploy of application {app.slug!r} failed", **facts)
        return
    verified = outcome is Outcome.DONE
    doubt = "" if verified else "; it was not seen running"
    message = f"application {app.slug!r} was deployed{doubt}"
    poll.tell(e.DeployDone, message, verified=verified, **facts)


def facts_of(app: App) -> e.ApplicationFacts:
    """Return what an event says of an application."""
    return e.ApplicationFacts(id=app.id, slug=app.slug, name=app.name)


def with_verdict(poll: Poll, app: App, before: AppMemory, memory: AppMemory) -> AppMemory:
    """Return the memory with the verdict on the image in service. Tell if it blocks, or is lifted."""
    blocked = before.blocked and before.image == memory.image
    kind: type[e.AccountEvent] | None = None
    facts = {"application": facts_of(app), "image": memory.image}
    if app.scan_status == ScanStatus.BLOCKED and not blocked:
        blocked, kind = True, e.ReleaseBlocked
        message = (
            f"the image of application {app.slug!r} in service is blocked; the next deploy needs another"
        )
    elif app.scan_status in LIFTING and blocked:
        blocked, kind = False, e.VerdictLifted
        facts["verdict"] = app.scan_status
        message = f"the verdict on the image of application {app.slug!r} is lifted"
    if kind is not None and (poll.before.apps is not None or poll.rules.report_existing):
        poll.tell(kind, message, **facts)
    return memory.model_copy(update={"blocked": blocked})
