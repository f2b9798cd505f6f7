# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guard of a task's budget: each call that may raise the price passes here, right before it is sent.

The commitments of one controller are made one after the other: from the look at the running rate until the
response to the call, all others wait. The client asks for leave before each call on a route that ``commits``,
whichever step makes it, so that no step can be forgotten.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from ..._api.client import Client
from ..._api.errors import AccessDenied, HostedError, undone_if_nothing_happened
from ..._api.models import Pricing, Project, Service, ServiceSummary
from ..._api.routes import Route
from ..._api.text import counted
from ..._api.values import ServiceStatus
from ..shared.account import Account
from ..shared.budget import (
    ENVIRONMENT,
    LOWERING,
    NEW,
    VARIABLE,
    Budget,
    BudgetExceeded,
    Commitment,
    CommitmentKind,
    Excess,
    Guard,
    Holding,
    Holdings,
    Limits,
    ProjectLimit,
    added_by,
    find_excess,
    read_budget,
    with_commitment,
)
from ..shared.commitment_record import (
    OPEN_SECONDS,
    CommitmentRecord,
    Content,
    Entry,
    new_entry,
    with_entries,
    with_predictions,
)
from ..shared.controller_state import RUN_FOLDER, normalized_url
from ..shared.currency import format_price
from ..shared.identify import as_sentence, existing, near_miss, oldest_projects
from ..shared.money import format_amount, rate_from
from ..shared.names import same_name
from ..shared.plan import Plan, Step, Task
from ..shared.run_memory import remember
from ..shared.runner import needs_of
from .options import BudgetOptions

NOTHING_SENT = "Nothing was sent"
VERBS: dict[CommitmentKind, str] = {
    "order": "the order of",
    "create": "the creation of",
    "resize": "the new size of",
    "resume": "the resumption of",
    "move": "the move of",
    "suspend": "the suspension of",
    "delete": "the deletion of",
}
FOR_A_WHILE = f"counts for up to {OPEN_SECONDS / 60:g} minutes"
ENTRY_STAYS = (
    f"Its entry stays open, so it {FOR_A_WHILE}, until the platform shows it, and as added to this run"
)
REMEDY = (
    f"Suspend, delete or shrink something, or raise the limit: the option budget, the variable {VARIABLE} "
    f"and {ENVIRONMENT} in the environment all hold, and of each kind the lowest counts"
)

MISSING_PROJECT = "Correct the name, create the project in an earlier task, or leave its limit out"


SETTLED = (ServiceStatus.ACTIVE, ServiceStatus.SUSPENDED, ServiceStatus.FAILED)
"""The statuses in which the rate that is billed now stays. The others lead to the full rate."""
CREATED_LATER = (ServiceStatus.PROVISIONING, ServiceStatus.AWAITING_ADMIN)


def read_holdings(account: Account, each: bool) -> dict[str, Holding]:
    """Return the services of the account with their rates, by id.

    The billing overview has one figure for all, whose month and rounding are not shown. ``each`` reads every
    service by itself, which shows its project and what is billed now. Otherwise only those are read whose
    rate the list does not show.
    """
    listed = existing(account.services())
    asked = [service for service in listed if each or not shows_rate(service)]
    found = {service.id: service for service in account.read_staying(asked)}
    gone = {service.id for service in asked} - found.keys()
    return {one.id: holding_of(one, found.get(one.id)) for one in listed if one.id not in gone}


def shows_rate(service: ServiceSummary) -> bool:
    """Tell whether the list shows what a service costs, or is going to cost."""
    if service.monthly_millicents is None:
        return False
    if service.is_free:
        return service.monthly_millicents == 0
    return service.status in (ServiceStatus.ACTIVE, *CREATED_LATER)


def holding_of(service: ServiceSummary, detail: Service | None) -> Holding:
    """Return what a service counts as."""
    home = detail.project_id if detail else None
    return Holding(
        service.id,
        service.name,
        rate_of(service, detail),
        frozenset([home]) if home else None,
    )


def rate_of(service: ServiceSummary, detail: Service | None) -> Decimal | None:
    """Return the monthly rate that counts against a budget; ``None`` if it is unknown."""
    pricing = (detail.pricing if detail else None) or Pricing.model_construct()
    status = detail.status if detail else service.status
    billed, storage = (
        rate_from(pricing.billed_monthly_millicents),
        rate_from(pricing.storage_monthly_millicents),
    )
    full = rate_from(service.monthly_millicents)
    full = rate_from(pricing.monthly_millicents) if full is None else full
    if billed is not None and status in SETTLED:
        return billed
    if status == ServiceStatus.SUSPENDED and storage is not None:
        return storage
    if billed is not None and full is not None:
        return max(billed, full)
    return Decimal(0) if service.is_free and full is None else full


def budget_of(task: Task[Any]) -> Budget:
    """Return the budget that the options and the environment of a task set.

    :raises Invalid: if one of them is not a budget.
    """
    if not isinstance(task.options, BudgetOptions):
        return Budget()
    given = {"budget": task.options.budget, ENVIRONMENT: os.environ.get(ENVIRONMENT)}
    budget = Budget()
    for source, value in given.items():
        if value is not None:
            budget = budget.with_limits_of(read_budget(value, source))
    return budget


def run_id() -> str | None:
    """Return what tells this run from others, in each of its processes; ``None`` for a module elsewhere."""
    folder = os.environ.get(RUN_FOLDER)
    return hashlib.blake2b(folder.encode(), digest_size=16).hexdigest() if folder else None


def account_of(task: Task[Any]) -> str:
    """Return the name of the file for an account, the same for each of its tokens."""
    client = task.client
    try:
        email = remember(client, "account", lambda: client.whoami().email) or client.whoami().email
    except HostedError as error:
        raise unreadable(error) from error
    account = email or client.account_key
    text = f"{normalized_url(task.options.base_url or '')}\n{account}"
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Checked:
    """Commitments that fit: what the account has before them, what each adds, and what the platform shows."""

    holdings: Mapping[str, Holding]
    adds: Sequence[Decimal | None]
    shown: Sequence[Entry] = ()


class BudgetGuard(Guard):
    """The guard of one task."""

    def __init__(self, task: Task[Any]) -> None:
        self.task = task
        self.budget = budget_of(task)
        self._local = threading.local()
        self._projects: list[Project] | None = None
        self._awaited: set[str] = set()
        """The names of projects that the plan itself creates."""
        self._renamed: dict[str, str] = {}
        """By id: the names that the plan itself gives to projects."""
        self._options: dict[tuple[str, Decimal], str] = {}
        """By project and limit: the option of the task that sets it, if that is not the budget."""

    def tighten(self, budget: Budget, option: str | None = None) -> None:
        """Let the limits of this budget hold too. ``option`` is what a refusal names in its place."""
        self.budget = self.budget.with_limits_of(budget)
        if option is not None:
            self._options.update(
                {(f"project {name!r}", most): option for name, most in budget.projects.items()}
            )

    def expect_name(self, project: str, name: str) -> None:
        """Let a limit find the project of this id by the name, too, that the plan gives it."""
        self._renamed[project] = name

    # --- Around steps and calls ---------------------------------------------------------------------

    @contextmanager
    def step(self, commitment: Commitment | None) -> Iterator[None]:
        """Run a step, and expect of its calls what it commits."""
        self._local.commitment, self._local.unknown = commitment, []
        try:
            yield
        finally:
            self._local.commitment, self._local.unknown = None, []
        if commitment is not None and commitment.lowers and self.budget:
            with self._noting(commitment, "is done", f"What was committed to it before {FOR_A_WHILE}"):
                self._release(commitment)

    @contextmanager
    def committing(self, client: Client, route: Route[Any]) -> Iterator[None]:
        """Let a call through that may raise the price, if what it commits fits.

        :raises BudgetExceeded: if it does not, before anything is sent.
        :raises ValueError: if the step does not say what it commits, which is a defect of the collection.
        """
        commitment = getattr(self._local, "commitment", None)
        if commitment is None:
            raise ValueError(f"a step that calls {route} has to say what it commits")
        if not self.budget or commitment.lowers:
            yield
            return
        record = CommitmentRecord.of(account_of(self.task))
        with record.locked() as content:
            entry, earlier = self._reserve(client, record, content, commitment)
            self._local.unknown = [(record, entry)]

            def give_back() -> None:
                self._local.unknown = [(record, each) for each in earlier]
                with self._noting(entry, "failed", ENTRY_STAYS):
                    record.update(lambda now: drop(now, entry, earlier))

            with undone_if_nothing_happened(give_back):
                yield
            self._local.unknown = []
            with self._noting(entry, "is done", ENTRY_STAYS):
                record.update(lambda now: confirm(now, entry))

    def took_effect(self) -> None:
        """Note that the last call of this step, whose outcome was unknown, turned out to have its effect.

        Unlike an entry that stays open, it is not taken for an attempt without effect by the next one.
        """
        for record, entry in getattr(self._local, "unknown", ()):
            with self._noting(entry, "is done", ENTRY_STAYS), record.locked() as content:
                confirm(content, entry)
                record.write(content)
        self._local.unknown = []

    @contextmanager
    def _noting(self, commitment: Commitment | Entry, outcome: str, stays: str) -> Iterator[None]:
        """Warn if the outcome of a call cannot be noted. To fail would hide what came of the call.

        Its response may hold secrets that are shown only once.
        """
        try:
            yield
        except Exception as error:  # whatever it is: the call was made
            why = error.why if isinstance(error, BudgetExceeded) else type(error).__name__
            self.task.warn(
                f"{describe(commitment)} {outcome}, but that could not be noted for the budget: {why}. "
                f"{stays}"
            )

    def _reserve(
        self, client: Client, record: CommitmentRecord, content: Content, commitment: Commitment
    ) -> tuple[Entry, list[Entry]]:
        """Check a commitment, and write its entry. Return it, and those of earlier attempts in its place.

        If the call is refused, these are in doubt again: that may be because one of them was carried out.
        """
        earlier = [each for each in content.entries if replaces(commitment, each)]
        for each in earlier:
            content.settle(each, done=proves(commitment, each))
        checked = self._check(Account(client), content, [commitment])
        for entry in checked.shown:
            content.settle(entry, done=True)
        entry = new_entry(commitment, checked.adds[0], run_id(), checked.holdings)
        content.entries.append(entry)
        record.write(content)
        return entry, [each for each in earlier if not proves(commitment, each)]

    def _release(self, commitment: Commitment) -> None:
        """Settle the entries on a service that costs less from now on, or is gone."""
        record = CommitmentRecord.of(account_of(self.task))
        if not os.path.exists(record.path):
            return
        with record.locked() as content:
            ended = [entry for entry in content.entries if ends(commitment, entry)]
            for entry in ended:
                content.settle(entry, done=True)
            if ended:
                record.write(content)

    # --- When the plan is made ----------------------------------------------------------------------

    def expect(self, plan: Plan) -> None:
        """Check what a plan commits. In check mode, what earlier tasks of the run would commit counts.

        A branch is checked right before its calls alone: what is refused there leaves the others alone.

        :raises BudgetExceeded: if it does not fit.
        """
        commitments = [commitment for _step, commitment in plan.commitments]
        if not self.budget or not commitments:
            return
        self._awaited = {made.project_name for made in commitments if made.project_name and not made.project}
        if self.task.check_mode:
            self._predict(plan)
            return
        self._supersede([commitment for commitment in commitments if not commitment.lowers])
        if raising := [
            commitment
            for step, commitment in plan.commitments
            if (step.branch is None or plan.budgeted_whole) and not commitment.lowers
        ]:
            record = CommitmentRecord.of(account_of(self.task))
            try:
                self._check_plan(record.read(), raising)
            except BudgetExceeded:  # what others are about to commit may fail
                with record.locked() as content:
                    self._check_plan(content, raising)

    def _check_plan(self, content: Content, commitments: Sequence[Commitment]) -> None:
        keys = {commitment.key for commitment in commitments}
        others = [
            entry
            for entry in content.entries
            if entry.key not in keys or any(proves(commitment, entry) for commitment in commitments)
        ]
        self._check(Account(self.task.client), replace(content, entries=others), commitments, planning=True)

    def _supersede(self, commitments: Sequence[Commitment]) -> None:
        """Forget what check mode predicted of what is now done for real: what comes of that counts.

        Roles look at a change in check mode before they make it, in the same run.
        """
        record = CommitmentRecord.of_predictions(account_of(self.task)) if commitments else None
        if record is None or not os.path.exists(record.path):
            return
        with record.locked() as predicted:
            predicted.entries = [
                entry
                for entry in predicted.entries
                if not any(anticipates(entry, commitment) for commitment in commitments)
            ]
            record.write(predicted)

    def _predict(self, plan: Plan) -> None:
        """Check in check mode, and note what the run would commit."""
        account = account_of(self.task)
        content = CommitmentRecord.of(account).read()
        record = CommitmentRecord.of_predictions(account)
        if record is None:
            self._predict_steps(plan, content, Content())
            return
        with record.locked() as predicted:
            self._predict_steps(plan, content, predicted)
            record.write(predicted)

    def _predict_steps(self, plan: Plan, content: Content, predicted: Content) -> None:
        """Add what each step would commit. A branch that is refused ends there, as it does in a real run.

        :raises BudgetExceeded: for a step of no branch, or of a plan that is budgeted as a whole.
        """
        made = [commitment for _step, commitment in plan.commitments]
        keys = {each.key for each in made if each.kind in NEW}
        predicted.entries = [entry for entry in predicted.entries if entry.key not in keys]
        for entry in [each for each in predicted.entries if any(would_end(one, each) for one in made)]:
            predicted.settle(entry, done=True)
        if plan.budgeted_whole:
            self._predict_together(made, content, predicted)
            return
        needs, stopped = needs_of(plan.steps), set[Step]()
        for step in plan.steps:
            if needs[step] & stopped:
                stopped.add(step)
                continue
            try:
                self._predict_together(step.commits, content, predicted)
            except BudgetExceeded as error:
                if step.branch is None:
                    raise
                step.branch.error = error
                stopped.add(step)

    def _predict_together(
        self, commitments: Sequence[Commitment], content: Content, predicted: Content
    ) -> None:
        """Add what would be committed one after the other.

        :raises BudgetExceeded: if it may not.
        """
        checked = self._check(self.task.account, content, commitments, predicted)
        for commitment, adds in zip(commitments, checked.adds, strict=True):
            predicted.entries.append(new_entry(commitment, adds, run_id(), {}))

    # --- Deciding -----------------------------------------------------------------------------------

    def _check(
        self,
        account: Account,
        content: Content,
        commitments: Sequence[Commitment],
        predicted: Content | None = None,
        planning: bool = False,
    ) -> Checked:
        """Check commitments that are made one after the other.

        What is refused by what the list shows is looked at service by service first.

        :raises BudgetExceeded: for the first that does not fit.
        """
        limits = [self._limits_of(account, commitment) for commitment in commitments]
        if not any(each.account is not None or each.projects for each in limits):
            known = with_predictions({}, predicted.entries) if predicted else {}
            return self._check_with(Checked(known, ()), limits, commitments, content, predicted)
        in_projects = any(each.projects for each in limits)
        refusal: BudgetExceeded | None = None
        for each in dict.fromkeys((in_projects, True)):
            seen = self._look(account, content, predicted, each)
            if planning:
                new = [made for made in commitments if not may_be_there(made, seen.holdings)]
                if len(new) < len(commitments) and not each:
                    continue  # the list does not show whether a namesake is in the same project
                commitments, limits = new, [self._limits_of(account, made) for made in new]
            try:
                return self._check_with(seen, limits, commitments, content, predicted)
            except BudgetExceeded as error:
                refusal = error
        raise refusal or AssertionError("each look ends in a decision")

    def _look(self, account: Account, content: Content, predicted: Content | None, each: bool) -> Checked:
        """Return what the account has, with what is reserved and predicted.

        :raises BudgetExceeded: if that cannot be read.
        """
        try:
            listed = read_holdings(account, each)
            created = any(entry.kind == "create" for entry in content.entries)
            slugs = {app.slug: app.id for app in account.apps()} if created else {}
        except HostedError as error:
            raise unreadable(error) from error
        holdings, shown = with_entries(listed, content.entries, slugs)
        if predicted is not None:
            holdings = with_predictions(holdings, predicted.entries)
        return Checked(holdings, (), shown)

    def _check_with(
        self,
        seen: Checked,
        limits: Sequence[Limits],
        commitments: Sequence[Commitment],
        content: Content,
        predicted: Content | None,
    ) -> Checked:
        run = run_id()
        added = content.added_by(run) if run else Decimal(0)
        added += predicted.added_by(run) if predicted else Decimal(0)
        holdings, adds = seen.holdings, list[Decimal | None]()
        first: tuple[Commitment, Excess, int] | None = None
        for limit, commitment in zip(limits, commitments, strict=True):
            excess = find_excess(limit, commitment, holdings, added)
            if excess is not None and first is None:  # what lowers the rate has no limits
                first = commitment, excess, len(adds)
            adds.append(added_by(commitment, holdings))
            added += adds[-1] or Decimal(0)
            holdings = with_commitment(holdings, commitment)
        if first is not None:
            raise self._refusal(*first, adds)
        return replace(seen, adds=adds)

    def _limits_of(self, account: Account, commitment: Commitment) -> Limits:
        """Return the limits that hold for a commitment."""
        if commitment.lowers:
            return Limits()
        if self.budget.run is not None and run_id() is None:
            raise BudgetExceeded(
                "the budget limits what a run may add, and this task runs as a module on another machine, "
                f"where its run is not known. {NOTHING_SENT}. Run the task on the controller: leave "
                "delegate_to out"
            )
        return Limits(self.budget.account, self._project_limits(account, commitment), self.budget.run)

    def _project_limits(self, account: Account, commitment: Commitment) -> list[ProjectLimit]:
        """Return the limits of the projects that a commitment raises, or may raise."""
        if not self.budget.projects:
            return []
        found = []
        for name, most in self.budget.projects.items():
            ids = self._ids_of(account, name)
            if not ids and same_name(commitment.project_name or "", name):  # check mode: not there yet
                ids = {str(commitment.project_name)}
            elif commitment.home is not None:
                ids &= commitment.home
            elif commitment.kind in NEW:  # it joins the default project, which is not shown
                ids &= oldest_projects(self._all_projects(account))
            found += [ProjectLimit(name, id, most) for id in sorted(ids)]
        return found

    def _ids_of(self, account: Account, wanted: str) -> set[str]:
        """Return the ids of the projects that a limit names."""
        found = ids_of(self._named_projects(account), wanted)
        if not found and any(same_name(name, wanted) for name in self._awaited):
            self._projects = None  # the plan creates it, perhaps by now
            return ids_of(self._named_projects(account), wanted)
        if not found:
            self._expect_project(account, wanted)
        return found

    def _expect_project(self, account: Account, wanted: str) -> None:
        """Refuse the limit of a project that is not there: it would limit nothing. Check mode warns.

        :raises BudgetExceeded: with the most similar name, or those that there are.
        """
        names = (project.name for project in self._named_projects(account))
        hint = near_miss(wanted, names)
        missing = f"the budget limits project {wanted!r}, but no project has this id or name{hint}"
        if not self.task.check_mode:
            raise BudgetExceeded(f"{as_sentence(missing)} {NOTHING_SENT}. {MISSING_PROJECT}")
        self.task.expect_created(BudgetExceeded(missing), wanted)

    def _named_projects(self, account: Account) -> list[Project]:
        """Return the projects, those that the plan renames under both of their names."""
        projects = self._all_projects(account)
        renamed = [
            each.model_copy(update={"name": self._renamed[each.id]})
            for each in projects
            if each.id in self._renamed
        ]
        return [*projects, *renamed]

    def _all_projects(self, account: Account) -> list[Project]:
        if self._projects is None:
            try:
                self._projects = account.projects()
            except HostedError as error:
                raise unreadable(error) from error
        return self._projects

    # --- Refusing -----------------------------------------------------------------------------------

    def _refusal(
        self, commitment: Commitment, excess: Excess, others: int, adds: Sequence[Decimal | None]
    ) -> BudgetExceeded:
        """Return the error for a commitment that does not fit: all figures, and what to do.

        ``others`` is how many other commitments of the same task are in the figures, ``adds`` what each of
        the task's would add, those after it included.
        """
        facts = [self._describe_change(excess)]
        if excess.running is not None:
            facts.insert(0, f"the running rate is {self._price(excess.running)}{self._reserved(excess)}")
        option = self._options.get((excess.scope, excess.most))
        facts.insert(0, f"{option or 'the budget'} of {excess.scope} is {self._price(excess.most)} a month")
        facts.append(f"this run has added {self._price(excess.added_by_run)}")
        if others:
            facts.append(
                f"the figures include {counted(others, 'change')} that this task would make before it"
            )
        known = [each for each in adds if each is not None]
        if len(adds) > others + 1 and len(known) == len(adds):
            facts.append(f"all changes of this task would add {self._price(sum(known, Decimal(0)))}")
        return BudgetExceeded(
            f"{describe(commitment)} is refused by {option or 'the budget'}{self._verdict(excess)}: "
            f"{', '.join(facts)}. {NOTHING_SENT}. {self._remedy(excess, option)}",
            budget={
                "scope": excess.scope,
                "limit": format_amount(excess.most),
                "running": format_amount(excess.running),
                "reserved": format_amount(excess.reserved),
                "added_by_run": format_amount(excess.added_by_run),
                "adds": format_amount(excess.adds),
                "over": None if excess.unpriced else format_amount(excess.over),
                "unpriced": list(excess.unpriced),
            },
        )

    def _price(self, amount: Decimal | None) -> str | None:
        return format_price(self.task, amount)

    def _reserved(self, excess: Excess) -> str:
        if not excess.reserved:
            return ""
        return f" ({self._price(excess.reserved)} of it committed and not shown by the platform yet)"

    def _describe_change(self, excess: Excess) -> str:
        if excess.adds is None:
            return "what this task would add is not known"
        return f"this task would add {self._price(excess.adds)}"

    def _verdict(self, excess: Excess) -> str:
        if excess.over is None or excess.unpriced:
            return ", as a price is not known"
        return f", {self._price(excess.over)} over it"

    def _remedy(self, excess: Excess, option: str | None) -> str:
        if excess.unpriced:
            names = ", ".join(excess.unpriced[:5])
            return (
                f"The platform does not show the rate of {names}; run this again when it does, delete it, or "
                "leave this budget out"
            )
        if excess.adds is None:
            return (
                "The platform does not show the price; choose a size whose price quote shows, or leave this "
                "budget out"
            )
        if excess.running is None:
            places = REMEDY.partition("limit: ")[2]
            return f"Order less in one run, or raise the limit. {places[0].upper()}{places[1:]}"
        return f"Order less, or raise {option}" if option else REMEDY


def ids_of(projects: Sequence[Project], wanted: str) -> set[str]:
    """Return the ids of the projects that a limit names: by the id or the name.

    Where it is the id of one and the name of another, the limit holds for both of them together.
    """
    return {project.id for project in projects if wanted == project.id or same_name(project.name, wanted)}


def may_be_there(commitment: Commitment, holdings: Holdings) -> bool:
    """Tell whether what a plan creates is there by now, so that the step may find nothing left to do."""
    home = commitment.home
    return commitment.kind in NEW and any(
        same_name(holding.name, commitment.name or "")
        and (home is None or holding.projects is None or bool(holding.projects & home))
        for holding in holdings.values()
    )


def describe(commitment: Commitment | Entry) -> str:
    """Describe a commitment in words."""
    return f"{VERBS[commitment.kind]} {commitment.what}"


def unreadable(error: HostedError) -> BudgetExceeded:
    """Return the error for an account whose running rate cannot be read."""
    scope = " It takes a token of scope FULL." if isinstance(error, AccessDenied) else ""
    return BudgetExceeded(
        f"a budget is set, and what the account costs cannot be read: {error.message}. The change was not "
        f"sent.{scope} Run this again when it can be read, or leave the budget out",
        f"the account cannot be read: {error.message}",
    )


def replaces(commitment: Commitment, entry: Entry) -> bool:
    """Tell whether an entry is that of an earlier attempt. Another one is made if no effect was seen."""
    return entry.key == commitment.key and entry.kind == commitment.kind and not entry.done


def proves(commitment: Commitment, entry: Entry) -> bool:
    """Tell whether the rate that a plan starts from proves that an earlier attempt had its effect."""
    if commitment.before is None or entry.monthly is None:
        return False
    return replaces(commitment, entry) and commitment.before >= entry.monthly


def ends(commitment: Commitment, entry: Entry) -> bool:
    """Tell whether a commitment that lowers the price ends an entry."""
    if entry.id is not None:
        return entry.id == commitment.id and entry.kind != "move"
    return commitment.kind in LOWERING and same_name(entry.name or "", commitment.name or "")


def would_end(commitment: Commitment, entry: Entry) -> bool:
    """Tell whether check mode deletes what an earlier task of the run would have ordered."""
    if commitment.kind != "delete" or commitment.id is not None or entry.id is not None:
        return False
    there = commitment.home is None or entry.project in commitment.home
    return there and same_name(entry.name or "", commitment.name or "")


def anticipates(entry: Entry, commitment: Commitment) -> bool:
    """Tell whether check mode predicted a commitment that raises the rate, or a lower one in its place."""
    if entry.id is not None:
        return entry.id == commitment.id and entry.kind in (commitment.kind, *LOWERING)
    if entry.kind != commitment.kind or not same_name(entry.name or "", commitment.name or ""):
        return False
    home = commitment.project_name  # which may have been created since, so that it has an id now
    return entry.key == commitment.key or (home is not None and same_name(entry.project or "", home))


def drop(content: Content, entry: Entry, earlier: Sequence[Entry]) -> None:
    """Remove an entry whose call was not carried out, and put back those of the attempts before it."""
    content.entries = [*(each for each in content.entries if each.token != entry.token), *earlier]


def confirm(content: Content, entry: Entry) -> None:
    """Note that the call of an entry was carried out."""
    content.entries = [
        replace(each, done=True) if each.token == entry.token else each for each in content.entries
    ]
