# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only writer: a change is data, and carrying one out is always the same.

The idempotency of its route decides what follows an open outcome: nothing is created or set in motion again
before the account was looked at (:mod:`routes`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from ..._api.errors import (
    OF_A_CALL,
    CallOutcomeUnknown,
    Conflict,
    HostedError,
    Locked,
    NotFoundResponse,
    RateLimited,
    Refused,
    TokenRejected,
    UnexpectedAnswer,
)
from ..._api.routes import ACT, CREATE, One, Route
from ..._api.values import ContainerState, ServiceStatus
from .account import Account
from .money import Commitment
from .names import same_name
from .plan import NOTHING_DONE, Plan, Step, Task
from .restore_points import any_in_motion
from .task_errors import Ambiguous, EffectUnverified, WaitEnded
from .waiting import QUIET_SECONDS, poll_for

BILLED_SECONDS = 60.0
"""For how long what is billed may still be made whose response was lost: a gateway gave up on it."""
LONGEST_PAUSE = 10.0
"""The longest pause between two calls to a service that is busy."""


class Shown(Protocol):
    """What shows that a change is there."""

    def found(self, account: Account) -> Any:
        """Return it as the account shows it; something empty where it does not."""


@dataclass(frozen=True)
class Listed:
    """The account lists an item with this name, or this id, that is none of those known before."""

    reads: Callable[..., Sequence[Any]]
    """The method of the account that lists such items."""
    of: tuple[str, ...] = ()
    """What the method takes, such as the id of the service that has them."""
    name: str | None = None
    id: str | None = None
    known: frozenset[str] = frozenset()
    """The ids of the items of this kind that were there before the change."""

    def found(self, account: Account) -> Sequence[Any]:
        """Return the items, usually one."""
        return [
            item
            for item in self.reads(account, *self.of)
            if self.id in (None, item.id)
            and (self.name is None or same_name(item.name, self.name))
            and (item.id is None or item.id not in self.known)
        ]

    def others(self, account: Account) -> Sequence[Any]:
        """Return the one new item of another name, or the item itself if it has another one."""
        if not self.known and not self.id:
            return ()
        found = replace(self, name=None).found(account) if self.name else ()
        return found if len(found) == 1 else ()


def ids_of(items: Iterable[Any]) -> frozenset[str]:
    """Return the ids of items that are there before a change."""
    return frozenset(item.id for item in items)


@dataclass(frozen=True)
class Gone:
    """The account shows something no longer."""

    what: Shown

    def found(self, account: Account) -> bool:
        """Tell whether it does not."""
        return not self.what.found(account)


@dataclass(frozen=True)
class Unseen:
    """Nothing on the account shows the change."""

    def found(self, account: Account) -> bool:
        """Tell that it is not seen."""
        return False


class Done(Protocol):
    """What tells that something that a change began is over."""

    def wait(self, task: Task[Any]) -> object:
        """Wait until it is, for up to ``wait_timeout``."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One call that changes the platform."""

    what: str
    """What is made, removed or set in motion, as messages name it."""
    route: Route[Any]
    ids: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    shown: Shown
    done: Done | None = None
    """What is waited for instead, where the change only begins something."""
    commitment: Commitment | None = None
    """What it does to the running rate, where its route commits."""
    unique: bool = False
    """Whether there can be only one: what another run was faster to create is as good."""
    at: str = ""
    """The id of the service that is at it: while that is busy, the call is made again."""
    busy: bool = False
    """Whether the service was seen at something before."""
    container: bool = True
    """Whether the state of its container tells that it is busy. It does not where the call moves that."""
    harmless: bool = False
    """Whether nothing is lost by making the call again: that it does not show is no error, but a warning."""
    seconds: float = QUIET_SECONDS
    """For how long to wait until it is shown."""
    tries: int = 2
    """How often something is set in motion while the outcome is open and nothing shows it: once where it may
    have been over before the first look, and would do harm when done twice."""
    quiet: float = QUIET_SECONDS / 2
    """For how many seconds to look for that."""


@dataclass(frozen=True)
class Outcome:
    """Whether this task made a change, what the account shows of it, and the response, if documented."""

    own: bool
    found: Any = None
    response: Any = None


def apply(task: Task[Any], change: Change, *, wait: bool = True) -> Outcome:
    """Make a change, and wait until it is done or, if nothing tells that, until the account shows it."""
    outcome = call_once(task, change)
    if outcome.own and not wait:
        return outcome
    if change.done is not None:
        change.done.wait(task)
        return outcome
    if isinstance(change.shown, Gone):
        await_removal(task, partial(change.shown.what.found, task.account), change.what)
        return outcome
    return replace(outcome, found=await_shown(task, change))


def call_once(task: Task[Any], change: Change) -> Outcome:
    """Make the call so that it has its effect once."""
    if change.route.idempotency is CREATE:
        return create(task, change)
    if change.route.idempotency is ACT:
        return act(task, change)
    if change.route.method == "DELETE":
        return delete(task, change)
    return Outcome(True, response=send(task, change))


def create(task: Task[Any], change: Change) -> Outcome:
    """Create an item. One whose response was lost is looked for, and never created again."""
    try:
        return Outcome(True, response=send(task, change))
    except (CallOutcomeUnknown, UnexpectedAnswer) as error:
        return adopt(task, change, error)
    except Refused as error:
        if not change.unique or not exists_now(task, change, error):
            raise
        task.warn(
            f"the creation of {change.what} was refused ({error.message}), but it exists now: another run "
            "created it at the same time, so it is used as it is"
        )
        return Outcome(False)


def adopt(task: Task[Any], change: Change, lost: HostedError) -> Outcome:
    """Take the one new item for what was created, whose response was lost."""
    seconds, doubt = BILLED_SECONDS if change.route.commits else QUIET_SECONDS, f"whether {change.what} was"
    try:
        found = wait_for_new(task, change, seconds) or ()
    except HostedError as error:
        raise EffectUnverified(
            f"{doubt} created is unknown: {lost.message}; reading the list failed too: "
            f"{error.message}. Check the account before you run this again"
        ) from lost
    if len(found) > 1:
        ids = [getattr(item, "id", str(item)) for item in found]
        raise Ambiguous(
            f"the response to creating {change.what} was lost, and {len(found)} new ones exist: "
            f"{', '.join(ids)}. The call was not sent again; delete the extra ones",
            ids=ids,
        ) from lost
    if not found:
        raise EffectUnverified(
            f"{doubt} created is unknown: {lost.message}. It did not show up on the list "
            f"within {seconds:g} seconds, and the call was not sent again. Running this again is "
            "safe once you have checked that the list does not contain it"
        ) from lost
    task.effects.wrote()
    task.warn(
        f"the response to creating {change.what} was lost ({lost.message}); the one that appeared was adopted"
    )
    return Outcome(True, found)


def act(task: Task[Any], change: Change) -> Outcome:
    """Set something in motion. When the outcome is open, look before trying once more."""
    doubt, lost = f"whether {change.what} was carried out is unknown", None
    for _attempt in range(change.tries):
        try:
            lost = try_call(task, change, is_retry=lost is not None)
        except HostedError as error:
            if lost is None:
                raise
            raise EffectUnverified(
                f"{doubt}: {lost.message}. The call was not sent again: {error.message}"
            ) from error
        if lost is None:
            return Outcome(True)
        try:
            seen = poll_for(lambda: bool(change.shown.found(task.account)), change.quiet)
        except HostedError as error:
            raise EffectUnverified(f"{doubt}: {lost.message}; looking failed too: {error.message}") from lost
        if seen:
            task.effects.wrote()  # what fails after this is to know that something was done
            return Outcome(True)
        if isinstance(lost, Refused):
            raise lost
    again = ". The call was not sent again" if change.tries == 1 else ""
    raise EffectUnverified(f"{doubt}: {lost.message if lost else ''}{again}") from lost


def try_call(task: Task[Any], change: Change, is_retry: bool) -> HostedError | None:
    """Make a call. Return its error if the platform may have acted, in a retry on the attempt before it."""
    try:
        send(task, change)
        return None
    except CallOutcomeUnknown as error:
        return error
    except Refused as error:
        if is_retry and error.nothing_done:
            return error.doubted()
        if error.nothing_done:
            raise
        return error


def delete(task: Task[Any], change: Change) -> Outcome:
    """Delete an item. One that is not there is deleted, also after an attempt whose answer was lost."""
    try:
        send(task, change)
    except NotFoundResponse:
        task.effects.wrote()
    except Refused as error:
        if not error.effect_unknown or isinstance(error, TokenRejected):
            raise
        try:
            is_gone = poll_for(lambda: bool(change.shown.found(task.account)))
        except HostedError as failed:
            raise error.append(f". Whether it is still there is unknown: {failed.message}") from failed
        if not is_gone:
            raise
        task.effects.wrote()
    return Outcome(True)


# --- The call ---------------------------------------------------------------------------------------


def send(task: Task[Any], change: Change, before_each: Callable[[], None] = lambda: None) -> Any:
    """Make the call, again while the service that is at it is busy. Return the response as its route has it.

    It is busy at 423, 425 and 429, and at a 409 while the account shows something under way.

    :param before_each: is called right before each call.
    """
    route, client = change.route, task.client
    orders = route.idempotency is CREATE and route.commits
    reads = isinstance(route.answer, One) and route.idempotency is not ACT  # those are looked for anyway
    make = client.one if reads else client.send
    begun, pause, busy = time.monotonic(), 0.5, change.busy
    while True:
        try:
            before_each()
            with task.composition.creating() if orders else nullcontext():
                return make(route, body=change.body, commitment=change.commitment, **change.ids)
        except (Conflict, Locked, RateLimited) as error:
            if not change.at or not task.options.wait:
                raise
            # What was under way may have ended between the refusal and the look.
            was_busy, busy = (
                busy,
                not isinstance(error, Conflict)
                or under_way(task.account, change.at, container=change.container),
            )
            if not busy and not was_busy:
                raise
            spent, asked = time.monotonic() - begun, error.pause_asked or 0.0
            left = task.options.wait_timeout - spent
            if left <= 0 or asked > left:
                raise error.append(
                    f". It was retried for {spent:.0f} seconds; nothing was done. To wait longer, raise "
                    "wait_timeout"
                ) from None
            what = f"the deletion of {change.what}" if isinstance(change.shown, Gone) else change.what
            task.progress(f"{what} is not accepted yet, {spent:.0f} s: {error.message}")
            time.sleep(min(max(pause, asked), left))
            pause = min(pause * 1.5, max(task.options.wait_interval, 0.5), LONGEST_PAUSE)


def under_way(account: Account, service_id: str, *, container: bool = True) -> bool:
    """Tell whether the account shows a service, or its container, at something that ends by itself."""
    with suppress(HostedError):
        if any_in_motion(account.backups(service_id)):
            return True
    with suppress(HostedError):
        service = account.service(service_id)
        if service and service.status in (ServiceStatus.PROVISIONING, ServiceStatus.DELETING):
            return True
    with suppress(HostedError):
        metrics = account.metrics_of(service_id) if container else None
        return metrics is not None and metrics.state in ContainerState.PASSING
    return False


# --- Until it is shown ------------------------------------------------------------------------------


def await_shown(task: Task[Any], change: Change) -> Any:
    """Wait until the account shows what was made, and return that; warn if it does not and is harmless."""
    orders = change.route.idempotency is CREATE and change.route.commits
    accepted = f"{change.what} was {'created, and is billed' if orders else 'accepted'}"
    item, why = None, "it is late, or it failed"
    try:
        item = wait_for_new(task, change, change.seconds)
        if item is None and isinstance(change.shown, Listed):
            for other in change.shown.others(task.account):
                why = f"{other.name!r} ({other.id}) is new instead; use that name if it is meant"
    except OF_A_CALL as error:
        why = f"reading it failed: {error.message}"
    if item is None:
        told = f"{accepted}, but the platform does not show it {change.seconds:g} seconds later: {why}"
        told += ". What became of it is unknown: look at the account" if orders else ""
        if not change.harmless:
            raise WaitEnded(told)
        task.warn(told)
    return item


def wait_for_new(task: Task[Any], change: Change, seconds: float) -> Any:
    """Return what a change makes once the account shows it; ``None`` if it does not."""
    found = list[Any]()

    def is_shown() -> bool:
        found.append(change.shown.found(task.account) or None)
        return found[-1] is not None

    poll_for(is_shown, seconds)
    return found[-1]


def await_removal(task: Task, is_listed: Callable[[], Any], what: str) -> None:
    """Wait until a list, if it can be read, does not show what was deleted: else it is deleted again."""
    with suppress(HostedError):
        if not poll_for(lambda: not is_listed()):
            task.warn(f"the platform still lists {what} {QUIET_SECONDS:g} seconds after the deletion")


def exists_now(task: Task[Any], change: Change, error: Refused) -> bool:
    """Tell whether an item exists whose creation was refused. With which status is not shown."""
    seconds = QUIET_SECONDS / 2 if isinstance(error, Conflict) else 0
    with suppress(HostedError):
        return poll_for(lambda: bool(change.shown.found(task.account)), seconds)
    return False


# --- Steps ------------------------------------------------------------------------------------------


def step_of(summary: str, task: Task[Any], change: Change, *, wait: bool = True) -> Step:
    """Return the step that makes a change whose result is known before."""
    return Step(summary, lambda: None if apply(task, change, wait=wait).own else NOTHING_DONE)


def creation(
    summary: str,
    task: Task[Any],
    change: Change,
    plan: Plan,
    as_it_is: Callable[[Any], Plan],
    *,
    wait: bool = True,
) -> Step:
    """Return the step that creates an item, or finds another run's; then the plan shows it ``as_it_is``."""

    def make() -> object:
        outcome = apply(task, change, wait=wait)

        def reread() -> Any:
            found = outcome.found or change.shown.found(task.account)
            return as_it_is(found[0]).result if found else plan.result

        plan.reread = reread
        if outcome.own:
            return None
        if outcome.found and len(plan.steps) == 1:
            plan.become(as_it_is(outcome.found[0]))
        return NOTHING_DONE

    return Step(summary, make)
