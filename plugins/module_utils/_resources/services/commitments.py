# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a task's budget: each call that may raise the price passes here, right before it is sent.

The commitments of one controller are made one after the other. From the look at the running rate until the
response to the call, all others wait: lock, read the rate, add what is open, compare, note, send, close.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any, NamedTuple

from ..._api.client import Client
from ..._api.errors import AccessDenied, HostedError
from ..._api.models import Pricing, Project
from ..._api.values import ServiceStatus
from ..shared import journal
from ..shared.account import Account, Reads
from ..shared.budget import (
    ENVIRONMENT,
    LOWERING,
    NEW,
    THE_BUDGET,
    VARIABLE,
    BudgetExceeded,
    Commitment,
    Guard,
    read_budget,
)
from ..shared.currency import format_price
from ..shared.identify import as_sentence, existing, near_miss, oldest_projects
from ..shared.journal import Entry, run_id
from ..shared.money import format_amount, rate_from
from ..shared.names import same_name
from ..shared.owners import account_of
from ..shared.plan import Plan, Step, Task
from ..shared.run_memory import run_record
from ..shared.runner import needs_of
from ..shared.store import LOCKS, Kind, Record, lock_file, records_folder, state_key
from ..shared.task_errors import Invalid
from .options import BudgetOptions

RUN = "this run"
THE_LIMIT = (
    f"the limit: the option budget, the variable {VARIABLE} and {ENVIRONMENT} in the environment all hold, "
    "and of each kind the lowest counts"
)
LOCK_SECONDS = 900.0
"""Seconds to wait for the commitments of other tasks, each of which ends by its own deadlines."""
OPEN_SECONDS, DONE_SECONDS = 600.0, 60.0
"""Seconds for which an entry counts if the platform does not show it: after an unknown outcome, or none.

For its run it counts as long as that lasts.
"""
NOTHING = Decimal(0)


# --- What is open -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OfRun:
    """What a run has added to the rate of an account, and would add in check mode. It ends with the run."""

    added: Decimal = NOTHING
    """With what is no open entry any more."""
    predicted: tuple[Commitment, ...] = ()


OF_RUN = Kind("", OfRun, "the record of what this run commits", "Begin a new run")


class Open(NamedTuple):
    """A commitment that the platform may not show yet, and its entry in the journal."""

    record: Record[Entry]
    made: Commitment
    entry: Entry

    def is_attempt_at(self, made: Commitment) -> bool:
        """Tell whether it is an attempt at a commitment whose outcome is open."""
        return not self.entry.done and self.made.attempt == made.attempt

    @property
    def is_over(self) -> bool:
        """Whether it has counted for long enough, whatever the platform shows."""
        return time.time() - self.entry.at > (DONE_SECONDS if self.entry.done else OPEN_SECONDS)


def open_commitments(account: str) -> list[Open]:
    """Return what the platform may not show yet.

    Of several attempts at the same, only the last one may have been carried out.

    :raises Invalid: naming the file of an entry that cannot be read.
    """
    found = list[Open]()
    for record, entry in journal.opened(None, subject_of(account)).items():
        if entry.commitment is not None:
            found = [each for each in found if not each.is_attempt_at(entry.commitment)]
            found.append(Open(record, entry.commitment, entry))
    return found


def remove(records: Iterable[Record[Entry]]) -> None:
    """Remove entries that turned out to be of nothing."""
    for record in records:
        record.remove()


def subject_of(account: str) -> str:
    """Return what the entries of an account's commitments are on."""
    return f"commitments of {account}"


@contextmanager
def turn_of(account: str) -> Iterator[None]:
    """Keep all other commitments of this controller waiting.

    :raises OSError: if the lock cannot be had.
    """
    path = os.path.join(records_folder(LOCKS), state_key(None, subject_of(account)))
    with lock_file(path, LOCK_SECONDS):
        yield


# --- What the account has -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Holding:
    """A service with its monthly rate, ``None`` if unknown, and the limited projects that it counts for."""

    name: str
    monthly: Decimal | None
    projects: frozenset[str] = frozenset()


Holdings = dict[str, Holding]


def read_holdings(account: Account, projects: Collection[str]) -> Holdings:
    """Return the services of the account by id, with those of these projects that they are in.

    The list shows the full rate, which is billed, or is going to be, unless a service is suspended, free or
    failed. The billing overview has one figure for all, whose month and rounding are not shown.
    """
    full = (ServiceStatus.ACTIVE, ServiceStatus.PROVISIONING, ServiceStatus.AWAITING_ADMIN)
    listed = {each.id: each for each in existing(account.services())}
    rates = {id: rate_from(each.monthly_millicents) for id, each in listed.items()}
    shown = {each.id for each in listed.values() if each.status in full and not each.is_free}
    asked = [listed[id] for id, rate in rates.items() if rate is None or (rate and id not in shown)]
    for each in asked:
        del rates[each.id]
    for detail in account.read_staying(asked):
        pricing = detail.pricing or Pricing.model_construct()
        rates[detail.id] = rate_from(pricing.billed_monthly_millicents)
    there = [each.id for each in account.projects() if each.id in projects] if projects else []
    members = {id: {each.id for each in page.resources} for id in there if (page := account.page(id))}
    return {
        id: Holding(listed[id].name, rate, frozenset(home for home, ids in members.items() if id in ids))
        for id, rate in rates.items()
    }


def namesakes(holdings: Holdings, made: Commitment) -> tuple[str, ...]:
    """Return the ids of the services that are called as what is made."""
    return tuple(id for id, each in holdings.items() if same_name(each.name, made.name or ""))


def seen(holdings: Holdings, made: Commitment) -> Holding:
    """Return a service as it is before a commitment: as the plan saw it, if nothing else shows it."""
    before = made.monthly if made.kind == "move" else made.before
    return holdings.get(made.key) or Holding(made.name or made.what, before)


def with_commitment(holdings: Holdings, made: Commitment, key: str = "") -> Holdings:
    """Return the holdings as they are once a commitment is made. ``key`` is what is new kept under."""
    if made.kind == "deletion":
        return {id: each for id, each in holdings.items() if id != made.key}
    now = seen(holdings, made)
    stays = made.kind == "move" or (made.lowers and made.monthly is None)
    projects = frozenset([made.home]) if made.home or made.kind in NEW else now.projects
    projects |= now.projects if made.kind == "move" else frozenset()  # it may stay where it is
    return {**holdings, key or made.key: Holding(now.name, now.monthly if stays else made.monthly, projects)}


def with_open(listed: Holdings, commitments: Iterable[Open]) -> tuple[Holdings, list[Open]]:
    """Return the holdings with what the platform does not show yet, and what need not count any more."""
    holdings, ended, taken = listed, list[Open](), set[str]()
    for each in commitments:
        made, now = each.made, listed.get(each.made.key)
        came = set(namesakes(listed, made)).difference(each.entry.known, taken) if made.kind in NEW else set()
        if came and made.kind == "order":  # a slug is that of one application, a name may be of several
            taken.add(min(came))
        if came or each.is_over or (made.kind not in NEW and (now is None or is_shown(made, now))):
            ended.append(each)
        else:  # what is new counts beside all else that is on its way
            holdings = with_commitment(holdings, made, made.id or f"{made.key} since {each.entry.at}")
    return holdings, ended


def is_shown(made: Commitment, now: Holding) -> bool:
    """Tell whether the platform shows a new rate or project."""
    if made.kind == "move":
        return made.home in now.projects
    return made.monthly is not None and now.monthly is not None and now.monthly >= made.monthly


# --- Whether it fits ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Limit:
    """The most that is allowed, and the option that sets it."""

    option: str
    scope: str
    most: Decimal
    projects: frozenset[str] | None = None
    """The ids of the projects whose services count; ``None`` for those of all."""

    def rate(self, holdings: Iterable[Holding]) -> Decimal:
        """Return the monthly rate of the services that count, as far as it is known."""
        return sum((each.monthly or NOTHING for each in holdings if self.counts(each)), NOTHING)

    def counts(self, holding: Holding) -> bool:
        """Tell whether a service counts."""
        return self.projects is None or bool(self.projects & holding.projects)


@dataclass
class Sum:
    """What the account has and a run has added, while commitments are added one after the other."""

    limits: Sequence[Limit]
    listed: Holdings
    """What the platform shows."""
    holdings: Holdings
    """That with what is not shown yet."""
    added: Decimal

    def add(self, made: Commitment) -> tuple[Limit, dict[str, Any]] | None:
        """Add a commitment. Return the first limit that it breaks, or may break, and all figures."""
        before, now, added = self.holdings, seen(self.holdings, made), self.added
        self.holdings = with_commitment(before, made)
        if made.lowers:
            return None
        then = self.holdings[made.key]
        self.added += max((then.monthly or NOTHING) - (now.monthly or NOTHING), NOTHING)
        broken = ((limit, self.figures(limit, before, now, then, added)) for limit in self.limits)
        return next(((limit, figures) for limit, figures in broken if figures), None)

    def figures(
        self, limit: Limit, before: Holdings, now: Holding, then: Holding, added: Decimal
    ) -> dict[str, Any] | None:
        """Return all figures if a limit is broken, or may be as something is not known."""
        adds = None if then.monthly is None else limit.rate([then]) - limit.rate([now])
        if not limit.counts(then) or (adds is not None and adds <= 0):
            return None
        here = {id: each for id, each in before.items() if limit.counts(each) and limit.scope != RUN}
        unpriced = [f"{each.name!r} ({id})" for id, each in here.items() if each.monthly is None]
        running = None if limit.scope == RUN else limit.rate(here.values())
        over = (added if running is None else running) + (adds or NOTHING) - limit.most
        if over <= 0 and adds is not None and not unpriced:
            return None
        return {
            "scope": limit.scope,
            "limit": limit.most,
            "running": running,
            "reserved": NOTHING if running is None else running - limit.rate(self.listed.values()),
            "added_by_run": added,
            "adds": adds,
            "over": None if adds is None or unpriced else over,
            "unpriced": unpriced,
        }


# --- The guard ----------------------------------------------------------------------------------------


class BudgetGuard(Guard):
    """The guard of one task."""

    def __init__(self, task: Task[Any]) -> None:
        super().__init__()
        self.task = task
        if isinstance(task.options, BudgetOptions):
            given = {"budget": task.options.budget, ENVIRONMENT: os.environ.get(ENVIRONMENT)}
            for source, value in given.items():
                if value is not None:
                    self.tighten(read_budget(value, source))

    @contextmanager
    def committing(self, client: Client, made: Commitment) -> Iterator[None]:
        """Let a call through that may raise the price, if what it commits fits.

        If it is refused, an earlier attempt is in doubt again: that may be why.

        :raises BudgetExceeded: if it does not fit, before anything is sent.
        """
        if made.lowers or not any(self.budgets.values()):
            yield
            return
        with ExitStack() as held:
            with known_or_refused():
                account = account_of(client)
                held.enter_context(turn_of(account))
                found, ended = self._look(Account(client, Reads()), account, [made])
                adds = self._check(found, [made])
                settle(ended, account)
                known = namesakes(found.listed, made)
                entry = Entry(made.what, time.time(), run_id(), commitment=made, adds=adds, known=known)
                earlier = [each.record for each in open_commitments(account) if each.is_attempt_at(made)]
                record = journal.begin(None, subject_of(account), entry)
            try:
                yield
            except HostedError as error:
                with self._noting(made, "failed"):
                    remove([record] if error.nothing_done else earlier)
                raise
            with self._noting(made, "is done"):
                record.write(replace(entry, done=True))
                remove(earlier)

    def succeeded(self, commitment: Commitment) -> None:
        """Settle the entries on a service that costs less from now on, or is gone.

        Of what costs more, an entry whose response was lost is no attempt any more: it was carried out.
        """
        if not any(self.budgets.values()):
            return

        def concerned() -> list[Open]:
            return [
                each
                for each in open_commitments(account)
                if (ends(commitment, each.made) if commitment.lowers else each.is_attempt_at(commitment))
            ]

        with self._noting(commitment, "is done"):
            account = account_of(self.task.client)
            if not concerned():
                return
            with turn_of(account):
                if commitment.lowers:
                    settle(concerned(), account)
                else:
                    for each in concerned():
                        each.record.write(replace(each.entry, done=True))

    @contextmanager
    def _noting(self, made: Commitment, outcome: str) -> Iterator[None]:
        """Warn if an outcome cannot be noted: to fail would hide it, and secrets that are shown once."""
        try:
            yield
        except Exception as error:  # whatever it is: the call was made
            self.task.warn(
                f"the {made.kind} of {made.what} {outcome}, but that could not be noted for the budget: "
                f"{cause_of(error)}. What was noted before counts for up to {OPEN_SECONDS / 60:g} minutes, "
                "until the platform shows it, and as added to this run"
            )

    def expect(self, plan: Plan) -> None:
        """Check what a plan commits. In check mode, what earlier tasks of the run would commit counts.

        A branch is checked right before its calls alone: what is refused there leaves the others alone.

        :raises BudgetExceeded: if it does not fit.
        """
        raising = [(step, made) for step, made in plan.commitments if not made.lowers]
        if not any(self.budgets.values()) or not (raising or (self.task.check_mode and plan.commitments)):
            return
        keys = {made.key for _step, made in raising}
        with known_or_refused():
            run = of_run(account_of(self.task.client))
            with run.held(LOCK_SECONDS) if run else nullcontext(OfRun()) as earlier:
                if self.task.check_mode:
                    commitments = [made for _step, made in plan.commitments]
                    before = (*earlier.predicted, *taken_back(earlier.predicted, commitments))
                    predicted = (*before, *self._predict(plan, before))
                else:  # roles look at a change in check mode before they make it, in the same run
                    predicted = tuple(made for made in earlier.predicted if made.key not in keys)
                if run and predicted != earlier.predicted:
                    run.write(replace(earlier, predicted=predicted))
            together = [made for step, made in raising if step.branch is None or plan.budgeted_whole]
            if together and not self.task.check_mode:
                self._check_plan(together)

    def _check_plan(self, commitments: Sequence[Commitment]) -> None:
        """Check a plan when nobody is committing anything, which may fail.

        What is to be created may have appeared since the plan was made; then nothing is left to do.
        """
        account = account_of(self.task.client)
        with turn_of(account):
            found, _shown = self._look(Account(self.task.client, Reads()), account, commitments)
            known = {each.id for each in self.task.account.services()} if found.listed else set()
            new = {id: each for id, each in found.listed.items() if id not in known}
            self._check(found, [made for made in commitments if made.id or not namesakes(new, made)])

    def _predict(self, plan: Plan, earlier: Sequence[Commitment]) -> Sequence[Commitment]:
        """Return what a plan would commit, checked. A branch that is refused ends there, as it will."""
        commitments = [made for _step, made in plan.commitments]
        account = account_of(self.task.client)
        found, _shown = self._look(self.task.account, account, commitments, earlier)
        if plan.budgeted_whole:
            self._check(found, commitments)
            return commitments
        needs, stopped, would = needs_of(plan.steps), set[Step](), list[Commitment]()
        for step in plan.steps:
            if needs[step] & stopped:
                stopped.add(step)
                continue
            tried = replace(found)
            try:
                self._check(tried, step.commits)
            except BudgetExceeded as error:
                if step.branch is None:
                    raise
                step.branch.error = error
                stopped.add(step)
            else:
                found, would = tried, [*would, *step.commits]
        return would

    def _look(
        self,
        reader: Account,
        account: str,
        commitments: Sequence[Commitment],
        predicted: Iterable[Commitment] = (),
    ) -> tuple[Sum, Sequence[Open]]:
        """Return what the account has, with the limits that hold for commitments, and what is over.

        Where only a limit of the run holds, nothing is read of the platform.
        """
        self.names |= {(made.home, made.project_name) for made in commitments if made.project_name}
        homes = {made.home for made in commitments if not made.lowers}
        limits = list(self._limits(reader, homes)) if homes else []
        listed = Holdings()
        others = [each for each in open_commitments(account) if not any(map(each.is_attempt_at, commitments))]
        if any(limit.scope != RUN for limit in limits):
            listed = read_holdings(reader, {id for limit in limits for id in limit.projects or ()})
        holdings, ended = with_open(listed, others)
        found = Sum([], listed, holdings, added_by_run(account, others))
        for made in predicted:
            found.add(made)
        return replace(found, limits=limits), ended

    def _limits(self, account: Account, homes: Collection[str]) -> Iterator[Limit]:
        """Yield the limits of all options that hold for these projects."""
        for option, budget in self.budgets.items():
            if budget.account is not None:
                yield Limit(option, "the account", budget.account)
            for name, most in budget.projects.items():
                ids = self._ids_of(name, account.projects())
                if not ids.isdisjoint(homes):
                    yield Limit(option, f"project {name!r}", most, ids)
            if budget.run is not None and run_id() is None:
                raise BudgetExceeded(
                    "the budget limits what a run may add, and this task runs as a module on another "
                    "machine, where its run is not known. Nothing was sent. Run the task on the controller: "
                    "leave delegate_to out"
                )
            if budget.run is not None:
                yield Limit(option, RUN, budget.run)

    def _ids_of(self, wanted: str, projects: Sequence[Project]) -> frozenset[str]:
        """Return the ids of the projects that a limit names: by the id, the name, or that of the plan.

        Where it is the id of one and the name of another, the limit holds for both of them together.

        :raises BudgetExceeded: if there is none, which would limit nothing. Check mode warns.
        """
        self.names |= {(each.id, each.name) for each in projects}
        known = [*self.names]  # to which parts that are planned in their turn add
        found = {id for id, name in known if wanted == id or same_name(wanted, name)}
        if not found:
            hint = near_miss(wanted, (each.name for each in projects))
            missing = f"the budget limits project {wanted!r}, but no project has this id or name{hint}"
            if not self.task.check_mode:
                remedy = "Correct the name, create the project in an earlier task, or leave its limit out"
                raise BudgetExceeded(f"{as_sentence(missing)} Nothing was sent. {remedy}")
            self.task.expect_created(BudgetExceeded(missing), wanted)
        joined = {""} if found & oldest_projects(projects) else set[str]()  # without a project
        return frozenset(found | joined)

    def _check(self, found: Sum, commitments: Sequence[Commitment]) -> Decimal:
        """Check commitments that are made one after the other. Return what they add.

        :raises BudgetExceeded: for the first that does not fit.
        """
        begun, broken = found.added, [(made, excess) for made in commitments if (excess := found.add(made))]
        if broken:
            made, excess = broken[0]
            raise self._refusal(made, *excess, found.added - begun)
        return found.added - begun

    def _refusal(
        self, made: Commitment, limit: Limit, figures: dict[str, Any], whole: Decimal
    ) -> BudgetExceeded:
        """Return the error for a commitment that does not fit: all figures, and what to do.

        ``whole`` is what all changes of the task add.
        """
        price = partial(format_price, self.task)
        running, reserved, adds, over = (figures[name] for name in ("running", "reserved", "adds", "over"))
        facts = [f"{limit.option} of {limit.scope} is {price(limit.most)} a month"]
        if running is not None:
            part = f" ({price(reserved)} of it not shown by the platform yet)" if reserved > 0 else ""
            facts.append(f"the running rate is {price(running)}{part}")
        known = f"this task would add {price(adds)}"
        facts.append("what this task would add is not known" if adds is None else known)
        facts.append(f"this run has added {price(figures['added_by_run'])}")
        if whole > (adds or whole):
            facts.append(f"all changes of this task would add {price(whole)}")
        unknown = f"rate of {', '.join(figures['unpriced'][:5])}" if figures["unpriced"] else "price"
        remedy = f"The platform does not show the {unknown}. Run this again when it does, or without budget"
        if over is not None:
            less = "Order less" if running is None else "Suspend, delete or shrink something"
            remedy = f"{less}, or raise {THE_LIMIT if limit.option == THE_BUDGET else limit.option}"
        why = ", as a price is not known" if over is None else f", {price(over)} over it"
        return BudgetExceeded(
            f"the {made.kind} of {made.what} is refused by {limit.option}{why}: {', '.join(facts)}. "
            f"Nothing was sent. {remedy}",
            budget={
                name: format_amount(each) if isinstance(each, Decimal) else each
                for name, each in figures.items()
            },
        )


def taken_back(earlier: Iterable[Commitment], commitments: Sequence[Commitment]) -> list[Commitment]:
    """Return the deletions of what earlier tasks of a run in check mode would have made, in its place."""
    return [
        replace(made, project=each.project, project_name=each.project_name)
        for each in earlier
        for made in commitments
        if made.kind == "deletion"
        and not (made.id or each.id)
        and same_name(made.name or "", each.name or "")
        and (not made.home or {made.project, made.project_name} & {each.project, each.project_name} - {None})
    ]


def ends(lowering: Commitment, made: Commitment) -> bool:
    """Tell whether what lowers the price of a service ends what was committed to it before."""
    if made.id is not None:
        return made.id == lowering.id and made.kind != "move"
    there = lowering.kind in LOWERING and made.home in ("", lowering.home)
    return there and same_name(made.name or "", lowering.name or "")


def of_run(account: str) -> Record[OfRun] | None:
    """Return what this run has committed on an account; ``None`` for a module elsewhere."""
    return run_record(OF_RUN, f"budget.{account}.json")


def added_by_run(account: str, others: Iterable[Open]) -> Decimal:
    """Return what this run has added, as far as it may have been done."""
    run, id = of_run(account), run_id()
    ours = (each.entry.adds for each in others if id and each.entry.run == id)
    return sum(ours, run.read().added if run else NOTHING)


def settle(ended: Sequence[Open], account: str) -> None:
    """Close entries that need not count any more. What this run has added with them stays."""
    run, id = of_run(account), run_id()
    ours = sum((each.entry.adds for each in ended if each.entry.run == id), NOTHING)
    if run and ours:
        run.edit(lambda now: replace(now, added=now.added + ours))
    for each in ended:
        each.record.remove()


@contextmanager
def known_or_refused() -> Iterator[None]:
    """Refuse what cannot be shown to fit.

    :raises BudgetExceeded: if the account cannot be read, or the record not be locked, read or written.
    """
    try:
        yield
    except BudgetExceeded:
        raise
    except (HostedError, OSError) as error:
        scope = " It takes a token of scope FULL." if isinstance(error, AccessDenied) else ""
        what = "the record of commitments" if isinstance(error, OSError) else "what the account costs"
        why = error.message if isinstance(error, Invalid) else f"{what} cannot be read: {cause_of(error)}"
        raise BudgetExceeded(
            f"a budget is set, and {why}. The change was not sent.{scope} "
            "Run this again when it can be read, or leave the budget out"
        ) from error


def cause_of(error: Exception) -> str:
    """Return why something failed. The text of an error that is none of ours may hold anything."""
    if isinstance(error, HostedError):
        return error.message
    return str(error) if isinstance(error, OSError) else type(error).__name__
