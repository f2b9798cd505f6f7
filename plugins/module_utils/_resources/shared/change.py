# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The only writer: a change is data, and carrying one out is always the same.

The idempotency of its route decides what follows an open outcome: nothing is created or set in motion again
before the account was looked at (:mod:`routes`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol

from ..._api.errors import OF_A_CALL, Conflict, HostedError, NotFoundResponse, Refused, TokenRejected
from ..._api.routes import ACT, CREATE, One, Route
from .account import Account
from .budget import Commitment
from .busy_retry import retry_while_busy, under_way
from .names import same_name
from .plan import NOTHING_DONE, Plan, Step, Task
from .task_errors import WaitEnded
from .waiting import QUIET_SECONDS, act, await_removal, create, poll_for, wait_for_new

BILLED_SECONDS = 60.0
"""For how long what is billed may still be made whose response was lost: a gateway gave up on it."""


class Shown(Protocol):
    """What shows that a change is there."""

    def found(self, account: Account) -> Any:
        """Return what was looked for as the account shows it; something empty where it does not."""


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
        listed = self.reads(account, *self.of)
        return [
            item
            for item in listed
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
    """Return the ids of items, for those that were there before a change."""
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


@dataclass(frozen=True, kw_only=True)
class Change:
    """One call that changes the platform."""

    what: str
    """What is made, removed or set in motion, as messages name it."""
    route: Route[Any]
    ids: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    shown: Shown
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
    """How often something is set in motion while the outcome is open and nothing shows it."""
    quiet: float = QUIET_SECONDS / 2
    """For how many seconds to look for that."""


@dataclass(frozen=True)
class Outcome:
    """What became of a change: whether this task made it, and what the account shows of it."""

    own: bool
    found: Any = None


def apply(task: Task[Any], change: Change, *, wait: bool = True) -> Outcome:
    """Make a change, and wait until the account shows it, for as long as the change says.

    :raises EffectUnverified: if the outcome is open, and the account does not show it.
    :raises WaitEnded: if the platform accepted the call and the account does not show it.
    """
    own = call_once(task, change)
    if own and not wait:
        return Outcome(own)
    if isinstance(change.shown, Gone):
        await_removal(task, partial(change.shown.what.found, task.account), change.what)
        return Outcome(own)
    return Outcome(own, await_shown(task, change))


def call_once(task: Task[Any], change: Change) -> bool:
    """Make the call so that it has its effect once. Return whether this task caused that."""
    found = partial(change.shown.found, task.account)

    call = partial(send, task, change)
    try:
        if change.route.idempotency is CREATE:
            seconds = BILLED_SECONDS if change.route.commits else None
            create(call, found, change.what, task, seconds)
        elif change.route.idempotency is ACT:
            act(task, call, lambda: bool(found()), change.what, change.tries, quiet=change.quiet)
        elif change.route.method == "DELETE":
            delete(task, call, found)
        else:
            call()
    except Refused as error:
        if not change.unique or not exists_now(error, found):
            raise
        task.warn(
            f"the creation of {change.what} was refused ({error.message}), but it exists now: another run "
            "created it at the same time, so it is used as it is"
        )
        return False
    return True


def send(task: Task[Any], change: Change, before_each: Callable[[], None] = lambda: None) -> Any:
    """Make the call, again while the service that is at it is busy. Return the response as its route has it.

    :param before_each: is called right before each call.
    """
    route, client = change.route, task.client
    creates = route.idempotency is CREATE and route.commits
    make = client.one if isinstance(route.answer, One) else client.send

    def call() -> object:
        before_each()
        with task.composition.creating() if creates else nullcontext():
            return make(route, body=change.body, commitment=change.commitment, **change.ids)

    if not change.at:
        return call()
    what = f"the deletion of {change.what}" if isinstance(change.shown, Gone) else change.what
    is_busy = partial(under_way, task.account, change.at, container=change.container)
    return retry_while_busy(task, call, what, is_busy, busy=change.busy)


def await_shown(task: Task[Any], change: Change) -> Any:
    """Wait until the account shows what was made, and return that.

    :raises WaitEnded: if it does not in time, or cannot be read; what is harmless is only warned of.
    """
    billed = change.route.idempotency is CREATE and change.route.commits
    accepted = f"{change.what} was {'created, and is billed' if billed else 'accepted'}"
    item, why = None, "it is late, or it failed"
    try:
        item = wait_for_new(lambda: change.shown.found(task.account) or None, change.seconds)
        if item is None and isinstance(change.shown, Listed):
            for other in change.shown.others(task.account):
                why = f"{other.name!r} ({other.id}) is new instead; use that name if it is meant"
    except OF_A_CALL as error:
        why = f"reading it failed: {error.message}"
    if item is None:
        told = f"{accepted}, but the platform does not show it {change.seconds:g} seconds later: {why}"
        told += ". What became of it is unknown: look at the account" if billed else ""
        if not change.harmless:
            raise WaitEnded(told)
        task.warn(told)
    return item


def exists_now(error: Refused, found: Callable[[], Any]) -> bool:
    """Tell whether an item exists whose creation was refused. The list may be late to show it.

    With which status a second one is refused is not shown. What cannot be read leaves the refusal as it is.
    """
    try:
        return poll_for(lambda: bool(found()), QUIET_SECONDS / 2 if isinstance(error, Conflict) else 0)
    except HostedError:
        return False


def delete(task: Task[Any], call: Callable[[], object], gone: Callable[[], bool]) -> None:
    """Delete an item. One that is not there is deleted, also after an attempt whose answer was lost."""
    try:
        call()
    except NotFoundResponse:
        task.effects.wrote()
    except Refused as error:
        if not error.effect_unknown or isinstance(error, TokenRejected):
            raise
        try:
            is_gone = poll_for(gone)
        except HostedError as failed:
            raise error.append(f". Whether it is still there is unknown: {failed.message}") from failed
        if not is_gone:
            raise
        task.effects.wrote()


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
    """Return the step that creates an item; then the plan shows the item ``as_it_is``, as the account has it.

    Where another run was faster, nothing was done, and what it made is shown.
    """

    def make() -> object:
        outcome = apply(task, change, wait=wait)

        def reread() -> Any:
            found = outcome.found or change.shown.found(task.account)
            return as_it_is(found[0]).result if found else plan.result

        plan.reread = reread
        if outcome.own:
            return None
        if len(plan.steps) == 1:
            plan.become(as_it_is(outcome.found[0]))
        return NOTHING_DONE

    return Step(summary, make)
