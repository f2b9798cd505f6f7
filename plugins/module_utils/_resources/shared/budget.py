# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: what an account, a project and a run may cost at most, and the guard that holds them.

Every limit that is given anywhere holds, and of each kind the lowest counts: none can be raised nearby. Each
call that may raise the price passes the guard right before it is sent: from the look at the running rate
until the response, all other commitments of this controller wait.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..._api.client import Client
from ..._api.errors import AccessDenied, HostedError
from ..._api.libraries import yaml
from ..._api.models import Pricing, Project
from ..._api.values import ServiceStatus
from . import journal
from .account import Account, Reads
from .connecting import account_of
from .identify import as_sentence, existing, near_miss, oldest_projects
from .journal import Entry, Opened
from .money import NEW, Commitment, format_amount, format_price, rate_from, read_amount
from .names import same_name
from .run_memory import run_record
from .store import LOCKS, Kind, Record, lock_file, records_folder, state_key
from .task_errors import Invalid

if TYPE_CHECKING:
    from .plan import Plan, Task

BUDGET, THE_BUDGET, VARIABLE = "budget", "the budget", "hosted_budget"
ENVIRONMENT = "HOSTED_SERVICES_BUDGET"
FORM = "an amount in currency units a month, or a mapping with account, projects (by id or name) and run"
ACCOUNT, PROJECTS, RUN = "account", "projects", "run"
LOCK_SECONDS = 900.0
"""Seconds to wait for the commitments of other tasks, each of which ends by its own deadlines."""
OPEN_SECONDS, DONE_SECONDS = 600.0, 60.0
"""Seconds for which an entry counts if the platform does not show it: after an unknown outcome, or none."""
NOTHING = Decimal(0)
FACTS = {
    "running": "the running rate is",
    "reserved": "of which the platform does not yet show",
    "adds": "this task would add",
    "added_by_run": "this run has added",
}
THE_LIMIT = (
    f"the limit: the option budget, the variable {VARIABLE} and {ENVIRONMENT} in the environment all hold, "
    "and of each kind the lowest counts"
)


class BudgetExceeded(Invalid):
    """A commitment that a budget forbids, or that cannot be shown to fit. Nothing was sent."""

    nothing_done = True


class Budget(dict[tuple[str, str], Decimal]):
    """Limits in currency units a month, by their kind and, of a project, its id or its name."""

    def with_limits_of(self, other: Budget) -> Budget:
        """Return a budget that holds the limits of both: of each kind the lowest."""
        return Budget({kind: min(most, self.get(kind, most)) for kind, most in {**self, **other}.items()})

    def as_option(self) -> dict[str, Any]:
        """Return the limits as the option ``budget`` takes them."""
        projects = {name: format_amount(most) for (_kind, name), most in self.items() if name}
        found: dict[str, Any] = {kind: format_amount(most) for (kind, name), most in self.items() if not name}
        return {**found, PROJECTS: projects} if projects else found


def read_budget(value: Any, source: str) -> Budget:
    """Read a budget as a user wrote it: amounts, and a text may hold a mapping as JSON or YAML."""
    if isinstance(value, str) and any(char in value for char in ":{["):
        try:
            value = yaml.load(value, Loader=yaml.BaseLoader)  # every amount stays the text that it is
        except (yaml.YAMLError, RecursionError):
            raise Invalid(f"{source} is {value!r}, which is neither JSON nor YAML; give {FORM}") from None
    if not isinstance(value, Mapping) or not value:
        return Budget({(ACCOUNT, ""): read_limit(value, source)})
    found = Budget()
    for kind, most in value.items():
        if kind == PROJECTS and isinstance(most, Mapping) and most:
            for name, limit in most.items():
                if name is None or isinstance(name, bool) or not str(name).strip() or "{{" in str(name):
                    raise Invalid(
                        f"a project of {source} is {name!r}; give its id or its name. Ansible renders no "
                        "template in a key: write the whole mapping as one template"
                    )
                found[kind, str(name)] = read_limit(limit, f"project {name!r} of {source}")
        elif kind in (ACCOUNT, RUN):
            found[kind, ""] = read_limit(most, f"{kind} of {source}")
        else:
            raise Invalid(f"{source} has {str(kind)!r} with {most!r}; give {FORM}")
    return found


def read_limit(value: Any, source: str) -> Decimal:
    if value is None or not str(value).strip(" []{}\t\r\n"):
        raise Invalid(f"{source} is empty; give {FORM}, or leave it out")
    return read_amount(str(value).strip(), source)


@dataclass(frozen=True)
class OfRun:
    """What a run has added to the rate of an account, and would add in check mode. It ends with the run."""

    added: Mapping[str, Decimal] = field(default_factory=dict)
    """What it may have added, by the file of the entry, also of one that is closed."""
    predicted: tuple[Commitment, ...] = ()


OF_RUN = Kind("", OfRun, "the record of what this run commits", "Begin a new run")


class Notes:
    """What this controller, and this run of it, have committed on the account of a client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.subject = f"commitments of {account_of(client)}"
        self.run = run_record(OF_RUN, f"{state_key(None, self.subject)}.json")

    def turn(self) -> AbstractContextManager[bool]:
        return lock_file(os.path.join(records_folder(LOCKS), state_key(None, self.subject)), LOCK_SECONDS)

    def open(self) -> Opened:
        """Return what the platform may not show yet. What has counted for long enough is closed."""
        found = journal.opened(None, self.subject)
        for record, entry in list(found.items()):
            if time.time() - entry.at > (DONE_SECONDS if entry.done else OPEN_SECONDS):
                record.remove()
                del found[record]
        return found

    def of_run(self) -> OfRun:
        return self.run.read() if self.run else OfRun()

    def add(self, added: Mapping[str, Decimal], made: Commitment) -> None:
        """Note what this run has added, also with a commitment, which is not only predicted any more."""
        if self.run:
            with self.run.held(LOCK_SECONDS) as run:
                self.run.write(OfRun(added, tuple(each for each in run.predicted if each.key != made.key)))


# --- What the account has -----------------------------------------------------------------------------


class Holding(NamedTuple):
    """A service with its monthly rate, ``None`` if unknown, and the limited projects that it counts for."""

    name: str
    monthly: Decimal | None
    projects: frozenset[str] = frozenset()


Holdings = dict[str, Holding]


def read_holdings(account: Account, projects: Collection[str]) -> Holdings:
    """Return the services of the account, with those of these projects that they are in.

    The list shows the full rate, which is billed, or is going to be, unless one is suspended, free or failed.
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


def rate_of(holdings: Holdings) -> Decimal:
    return sum((each.monthly or NOTHING for each in holdings.values()), NOTHING)


def namesakes(holdings: Holdings, made: Commitment) -> tuple[str, ...]:
    return tuple(id for id, each in holdings.items() if same_name(each.name, made.name))


def seen(holdings: Holdings, made: Commitment) -> Holding:
    """Return a service before a commitment: as the plan saw it, if nothing else shows it."""
    return holdings.get(made.key) or Holding(made.name or made.what, made.before)


def with_commitment(holdings: Holdings, made: Commitment, key: str = "") -> Holdings:
    """Return the holdings as they are once a commitment is made. ``key`` is what is new kept under."""
    if made.kind == "deletion":  # without an id, it is of what an earlier task would have made
        called = [id for id in namesakes(holdings, made) if made.home in {"", *holdings[id].projects}]
        gone = [made.id] if made.id else called
        return {id: each for id, each in holdings.items() if id not in gone}
    now, home = seen(holdings, made), frozenset([made.home])
    stays = made.kind == "move" or (made.lowers and made.monthly is None)
    # What is moved may stay where it is.
    projects = home if made.kind in NEW else (now.projects | home) - {""}
    return {**holdings, key or made.key: Holding(now.name, now.monthly if stays else made.monthly, projects)}


def with_open(listed: Holdings, entries: Opened) -> tuple[Holdings, list[Record[Entry]]]:
    """Return the holdings with what the platform does not show yet, and the entries of what it shows."""
    holdings, shown, taken = listed, list[Record[Entry]](), set[str]()
    for record, entry in entries.items():
        made = cast(Commitment, entry.commitment)
        now = listed.get(made.key)
        if made.kind in NEW:
            came = set(namesakes(listed, made)).difference(entry.known, taken)
            if came and made.kind == "order":  # a slug is that of one application, a name may be of several
                taken.add(min(came))
            is_shown = bool(came)
        elif now is None or made.kind == "move":
            is_shown = now is None or made.home in now.projects
        else:
            is_shown = made.monthly is not None and now.monthly is not None and now.monthly >= made.monthly
        if is_shown:
            shown.append(record)
        else:  # what is new counts beside all else that is on its way
            holdings = with_commitment(holdings, made, made.id or record.path)
    return holdings, shown


# --- Whether it fits ----------------------------------------------------------------------------------


class Limit(NamedTuple):
    """The most that is allowed, by which option, and for what: of a project, for what is in one of these."""

    option: str
    kind: str
    scope: str
    most: Decimal
    projects: frozenset[str]

    def counted(self, holdings: Holdings, raised: Collection[str]) -> Holdings:
        if self.kind == RUN:
            return {id: each for id, each in holdings.items() if id in raised}
        everywhere = self.kind != PROJECTS
        return {id: each for id, each in holdings.items() if everywhere or self.projects & each.projects}


@dataclass(frozen=True)
class Rates:
    """What an account costs, as the platform shows it and with what is not shown yet, and a run has added."""

    task: Task[Any]
    listed: Holdings
    holdings: Holdings
    added: Decimal
    limits: Sequence[Limit] = ()

    def after(self, commitments: Sequence[Commitment]) -> Rates:
        """Return the rates once commitments are made, unless that breaks a limit, or may."""
        raising = [made for made in commitments if not made.lowers]
        known = {made.key: seen(self.holdings, made) for made in raising if made.kind not in NEW}
        before = {**self.holdings, **known}
        then = reduce(with_commitment, raising, before)
        for limit in self.limits:
            self._compare(limit, before, then, {made.key: made for made in raising})
        added = self.added + max(rate_of(then) - rate_of(before), NOTHING)
        return replace(self, holdings=reduce(with_commitment, commitments, self.holdings), added=added)

    def _compare(self, limit: Limit, before: Holdings, then: Holdings, raised: dict[str, Commitment]) -> None:
        was, now = rate_of(limit.counted(before, raised)), limit.counted(then, raised)
        unpriced = [f"{each.name!r} ({id})" for id, each in now.items() if each.monthly is None]
        of_run, is_known = (
            limit.kind == RUN,
            all(now[key].monthly is not None for key in raised if key in now),
        )
        running, adds = self.added if of_run else was, rate_of(now) - was
        over = running + adds - limit.most
        if (is_known and adds <= 0) or (over <= 0 and not unpriced):
            return
        figures = {
            "limit": limit.most,
            "running": None if of_run else running,
            "reserved": NOTHING if of_run else running - rate_of(limit.counted(self.listed, raised)),
            "added_by_run": self.added,
            "adds": adds if is_known else None,
            "over": None if unpriced else over,
        }
        amounts = {name: format_amount(each) for name, each in figures.items()}
        made = next(made for key, made in raised.items() if key in now)
        raise BudgetExceeded(
            f"the {made.kind} of {made.what} is refused by {limit.option}, "
            f"{self._reasons(limit, figures, unpriced)}",
            budget={**amounts, "scope": limit.scope, "unpriced": unpriced},
        )

    def _reasons(self, limit: Limit, figures: dict[str, Decimal | None], unpriced: Sequence[str]) -> str:
        """Return all figures as a sentence, and what to do."""
        told = {name: format_price(self.task, each) for name, each in figures.items() if each is not None}
        told.setdefault("adds", "an unknown amount")
        if (figures["reserved"] or NOTHING) <= 0:
            del told["reserved"]
        facts = ", ".join(f"{text} {told[name]}" for name, text in FACTS.items() if name in told)
        said = f"{limit.option} of {limit.scope} is {told['limit']} a month, {facts}. Nothing was sent"
        if unpriced:
            return (
                f"as a price is not known: {said}. The platform does not show the rate of "
                f"{', '.join(unpriced[:5])}. Run this again when it does, or without budget"
            )
        less = "Suspend, delete or shrink something" if "running" in told else "Order less"
        raised = THE_LIMIT if limit.option == THE_BUDGET else limit.option
        return f"{told['over']} over it: {said}. {less}, or raise {raised}"


class Guard:
    """The guard of one task: its budgets, and what it tells of them. Without a task it holds none."""

    def __init__(self, task: Any = None) -> None:
        self.task: Task[Any] = task
        self.budgets = dict[str, Budget]()  # by what a refusal names
        self.names = set[tuple[str, str]]()
        """What projects are called, now or later: the id, or the name if there is none yet, with the name."""
        if task and hasattr(task.options, BUDGET):
            environment = os.environ.get(ENVIRONMENT)
            for source, value in ((BUDGET, task.options.budget), (ENVIRONMENT, environment)):
                if value is not None:
                    self.tighten(read_budget(value, source))

    def tighten(self, budget: Budget, option: str = THE_BUDGET) -> None:
        """Let the limits of this budget hold too, by the option that a refusal names."""
        if budget:
            self.budgets[option] = budget.with_limits_of(self.budgets.get(option, budget))

    @contextmanager
    def committing(self, client: Client, made: Commitment) -> Iterator[None]:
        """Let a call through if what it commits fits; otherwise nothing is sent."""
        if made.lowers:
            yield
            return
        with ExitStack() as held:
            with known_or_refused():
                notes = Notes(client)
                held.enter_context(notes.turn())
                rates, attempts = self._rates(notes, [made])
                before = notes.of_run().added
                adds = rates.after([made]).added - rates.added
                earlier, was = next(iter(attempts.items()), (None, Entry()))
                entry = Entry(made.what, time.time(), commitment=made, known=namesakes(rates.listed, made))
                record = journal.begin(None, notes.subject, entry, earlier)
            try:
                with known_or_refused():
                    notes.add({**before, record.path: adds}, made)
                yield
            except HostedError as error:
                if error.nothing_done:  # an earlier attempt is in doubt again: that may be why
                    with self._noting(made, "failed"):
                        record.write(was)
                        notes.add(before, made)
                raise
            with self._noting(made, "is done"):
                record.write(replace(entry, done=True))

    def succeeded(self, commitment: Commitment) -> None:
        """Close the entries on what costs less or is gone, and take attempts at what costs more for done."""
        with self._noting(commitment, "is done"):
            for record, entry in Notes(self.task.client).open().items():
                if commitment.lowers and entry.commitment and commitment.ends(entry.commitment):
                    record.remove()
                elif is_attempt(entry, [commitment]):
                    record.write(replace(entry, done=True))

    @contextmanager
    def _noting(self, made: Commitment, outcome: str) -> Iterator[None]:
        """Warn if an outcome cannot be noted: to fail would hide it, and secrets that are shown once."""
        try:
            yield
        except Exception as error:  # whatever it is: the call was made
            ours = isinstance(error, (HostedError, OSError))  # the text of others may hold anything
            self.task.warn(
                f"the {made.kind} of {made.what} {outcome}, but that could not be noted for the budget: "
                f"{error if ours else type(error).__name__}. What was noted before counts for up to "
                f"{OPEN_SECONDS / 60:g} minutes, and as added to this run"
            )

    def expect(self, plan: Plan) -> None:
        """Check what a plan commits. In check mode, what earlier tasks of the run would commit counts."""
        check_mode = self.task.check_mode
        if not any(check_mode or not made.lowers for made in plan.commitments):
            return
        with known_or_refused():
            notes = Notes(self.task.client)
            if check_mode and notes.run:
                with notes.run.held(LOCK_SECONDS) as run:
                    notes.run.write(replace(run, predicted=(*run.predicted, *self._check(plan, notes))))
            else:
                self._check(plan, notes)

    def _check(self, plan: Plan, notes: Notes) -> list[Commitment]:
        """Check what a plan commits together, and return it. What it creates may have appeared since.

        A branch is checked right before its calls, where check mode ends it as the run will.
        """
        check_mode = self.task.check_mode
        alone = {step: step.branch for step in plan.steps if step.branch and not plan.budgeted_whole}
        whole = [made for step in plan.steps if step not in alone for made in step.commits]
        would, alone = [made for made in whole if check_mode or not made.lowers], alone if check_mode else {}
        if not would and not alone:
            return []
        with nullcontext() if check_mode else notes.turn():
            rates, __ = self._rates(notes, [*would, *(made for step in alone for made in step.commits)])
        planned = {each.id for each in self.task.account.services()} if rates.listed else set()
        new = {id: each for id, each in rates.listed.items() if id not in planned}
        rates = rates.after([made for made in would if made.id or not namesakes(new, made)])
        needs, stopped = plan.needs, list[Any]()
        for step, branch in alone.items():
            if needs[step].isdisjoint(stopped):
                try:
                    rates = rates.after(step.commits)
                    would += step.commits
                    continue
                except BudgetExceeded as error:
                    branch.error = error
            stopped.append(step)
        return would

    def _rates(self, notes: Notes, commitments: Sequence[Commitment]) -> tuple[Rates, Opened]:
        """Return what the account costs, with the limits that hold for commitments, and attempts at these."""
        check_mode = self.task.check_mode
        account = self.task.account if check_mode else Account(notes.client, Reads())
        limits, entries, run = list(self._limits(account, notes, commitments)), notes.open(), notes.of_run()
        attempts = {each: entries.pop(each) for each in [*entries] if is_attempt(entries[each], commitments)}
        listed, holdings, shown = Holdings(), Holdings(), list[Record[Entry]]()
        if any(limit.kind != RUN for limit in limits):
            listed = read_holdings(account, {id for limit in limits for id in limit.projects})
            holdings, shown = with_open(listed, entries)
        for record in shown if not check_mode else ():
            record.remove()
        again = {record.path for record in attempts}
        added = sum((adds for path, adds in run.added.items() if path not in again), NOTHING)
        rates = Rates(self.task, listed, holdings, added)
        for made in run.predicted if check_mode else ():
            rates = rates.after([made])
        return replace(rates, limits=limits), attempts

    def _limits(self, account: Account, notes: Notes, commitments: Sequence[Commitment]) -> Iterator[Limit]:
        self.names |= {(made.home, made.project_name) for made in commitments if made.project_name}
        homes = {made.home for made in commitments if not made.lowers}
        for option, budget in self.budgets.items() if homes else ():
            for (kind, project), most in sorted(budget.items()):
                if kind == RUN and notes.run is None:
                    way = "Leave delegate_to out, and wait for the end of the task"
                    raise BudgetExceeded(f"a run is limited, and that of this task is not known here. {way}")
                ids = self._ids_of(project, account.projects()) if kind == PROJECTS else frozenset[str]()
                scope = {RUN: "this run", PROJECTS: f"project {project!r}"}.get(kind, "the account")
                if kind != PROJECTS or ids & homes:
                    yield Limit(option, kind, scope, most, ids)

    def _ids_of(self, wanted: str, projects: Sequence[Project]) -> frozenset[str]:
        """Return the ids of what a limit names: of both, if it is the id of one and the name of another."""
        self.names |= {(each.id, each.name) for each in projects}
        known = [*self.names]  # to which parts that are planned in their turn add
        found = {id for id, name in known if wanted == id or same_name(wanted, name)}
        if not found:
            missing = f"the budget limits project {wanted!r}, but no project has this id or name"
            missing += near_miss(wanted, (each.name for each in projects))
            if not self.task.check_mode:
                missing = f"{as_sentence(missing)} Nothing was sent. Correct the name, or create the project"
            self.task.expect_created(BudgetExceeded(missing), wanted)
        joined = {""} if found & oldest_projects(projects) else set[str]()  # without a project
        return frozenset(found | joined)


def is_attempt(entry: Entry, commitments: Sequence[Commitment]) -> bool:
    made = entry.commitment
    return not entry.done and any(made and made.attempt == each.attempt for each in commitments)


@contextmanager
def known_or_refused() -> Iterator[None]:
    """Refuse what cannot be shown to fit, as the account or an entry cannot be read, locked or written."""
    try:
        yield
    except (HostedError, OSError) as error:
        if isinstance(error, BudgetExceeded):
            raise
        scope = " It takes a token of scope FULL." if isinstance(error, AccessDenied) else ""
        raise BudgetExceeded(
            "a budget is set, and whether this fits it cannot be told, so it is not sent: "
            f"{as_sentence(str(error))}{scope} Run this again when that is mended, or without budget"
        ) from error
