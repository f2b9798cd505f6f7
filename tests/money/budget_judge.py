# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge of budgets: no commitment above one, and no refusal of what fits, by the ledger and the journal.

A service counts with the rate that its order or its last change committed. A refusal is wrong if the task
would have fitted at every moment at which it ran, even if all that may have been under way then counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

from money.budget_plays import COMMITTING, BudgetPlay, Change, RunOf

REFUSAL = "budget"
"""A word of every refusal by a budget."""
NOT_YET = ("PROVISIONING", "AWAITING_ADMIN")
SLACK = 50
"""Milliseconds between the clocks of the journal, of the ledger and of the results."""


@dataclass(frozen=True)
class Done:
    """What became of a task for one unit: when it ran, by the machine's clock in milliseconds, and how."""

    run: RunOf
    change: Change
    unit: str
    begun: float
    ended: float
    failed: bool
    message: str

    @property
    def service(self) -> str:
        """The name of its service."""
        return self.change.service(self.unit)

    @property
    def refused(self) -> bool:
        """Whether a budget refused it."""
        return self.failed and REFUSAL in self.message


@dataclass(frozen=True)
class Raise:
    """A moment at which a service begins to cost something else, or is in another project."""

    at: float
    service: str
    monthly: Decimal
    project: str | None


@dataclass
class History:
    """What every service cost, and in which project it was, at every moment."""

    events: list[Raise]
    begun: float

    def states(self) -> Iterator[tuple[Sequence[Raise], dict[str, Raise], dict[str, Raise]]]:
        """Yield the events of each moment after the beginning, with the state before and after them."""
        now: dict[str, Raise] = {}
        pending: list[Raise] = []
        for event in sorted(self.events, key=lambda event: event.at):
            if event.at <= self.begun:
                now[event.service] = event
                continue
            if pending and event.at != pending[0].at:
                before, now = now, {**now, **{each.service: each for each in pending}}
                yield pending, before, now
                pending = []
            pending.append(event)
        if pending:
            yield pending, now, {**now, **{each.service: each for each in pending}}

    def totals(self, project: str | None) -> list[tuple[float, Decimal]]:
        """Return the rate of the account, or of a project, from each moment on at which something changes."""
        first = {event.service: event for event in self.events if event.at <= self.begun}
        found = [(self.begun, total(first, project))]
        return found + [(events[0].at, total(after, project)) for events, _before, after in self.states()]

    def highest(self, project: str | None, since: float, until: float) -> Decimal:
        """Return the highest rate at any moment between two."""
        found = self.totals(project)
        at_since = [amount for at, amount in found if at <= since][-1:]
        return max([*at_since, *(amount for at, amount in found if since < at <= until)], default=Decimal(0))


def total(state: Mapping[str, Raise], project: str | None) -> Decimal:
    """Return what an account, or a project of it, costs a month."""
    return sum(
        (each.monthly for each in state.values() if project is None or each.project == project), Decimal(0)
    )


@dataclass
class Verdict:
    """What is wrong with a play, and how much there was of what."""

    commitments: int = 0
    refusals: int = 0
    cautious: int = 0
    """Refusals of tasks whose own calls a fault befell, so that something could not be known."""
    breaches: list[str] = field(default_factory=list)
    wrong_refusals: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class PlatformClock:
    """The clock of the ledger, beside that of the machine, in milliseconds."""

    at: float
    real: float
    """The machine's time when the platform's is `at`."""
    speed: int = 1

    def to_real(self, moment: float) -> float:
        """Return the machine's time of a moment by the platform's clock."""
        return self.real + (moment - self.at) / self.speed


@dataclass
class Evidence:
    """What the platform and the runs left behind."""

    play: BudgetPlay
    ledger: Mapping[str, Any]
    journal: Sequence[Mapping[str, Any]]
    projects: Mapping[str, str]
    """The names of the projects by their ids."""
    done: Sequence[Done]
    begun: float
    clock: PlatformClock
    runs: int
    """How often a playbook was started: a second run of one has a limit of its own."""
    killed: bool = False

    def history(self) -> History:
        """Return what the ledger and the journal tell."""
        owners = {change.service(unit): (run, change) for run, change, unit in self.play.services()}
        orders = {order["service_id"]: order for order in self.ledger["orders"]}
        moves = list(self.moves())
        events = []
        for line in self.ledger["billed"]:
            change = owners[line["name"]][1]
            homes = [(self.begun, change.home(False))]
            homes += [(at, project) for at, id, project in moves if id == line["service_id"]]
            told = rates_of(line, orders.get(line["service_id"]))
            rates = [(self.clock.to_real(at), rate) for at, rate in told]
            for moment in sorted({at for at, _rate in rates} | {at for at, _home in homes}):
                rate = [rate for at, rate in rates if at <= moment][-1:] or [Decimal(0)]
                home = [home for at, home in homes if at <= moment][-1:] or [homes[0][1]]
                events.append(Raise(moment, line["name"], rate[0], home[0] or "default"))
        return History(events, self.begun)

    def moves(self) -> Iterator[tuple[float, str, str]]:
        """Yield when which service joined which project."""
        for line in self.journal:
            acted = line["status"] is not None and 200 <= line["status"] < 300
            if line["template"] == "/api/resources/{id}/project" and line["method"] == "PUT" and acted:
                yield (
                    line["real_at"] * 1000,
                    line["path"].split("/")[3],
                    self.projects[line["body"]["projectId"]],
                )


def rates_of(line: Mapping[str, Any], order: Mapping[str, Any] | None) -> Iterator[tuple[float, Decimal]]:
    """Yield since when a service costs, or is committed to cost, what."""
    rates = [(float(rate["from"]), Decimal(sum(rate["parts"].values())) / 1000) for rate in line["rates"]]
    if order is not None:
        committed = Decimal(order["monthly_millicents"]) / 1000
        yield moment_of(order["at"]), committed
        if line["status"] in NOT_YET:
            return  # on some platforms it is billed only from its first deploy on
    yield from rates


def moment_of(stamp: str) -> float:
    """Return a timestamp in milliseconds."""
    return datetime.fromisoformat(stamp).timestamp() * 1000


def judge(evidence: Evidence) -> Verdict:
    """Judge a play."""
    history, verdict = evidence.history(), Verdict()
    for events, before, after in history.states():
        raised = [each for each in events if raises(each, before.get(each.service))]
        verdict.commitments += len(raised)
        verdict.breaches += breaches(evidence, raised, before, after)
    verdict.breaches += breaches_of_runs(evidence, history)
    for done in evidence.done:
        if not done.refused:
            continue
        verdict.refusals += 1
        if struck(evidence, done):
            verdict.cautious += 1
        elif fits(evidence, history, done):
            verdict.wrong_refusals.append(
                f"{done.change.title} of {done.service} (+{done.change.adds}) fits: {done.message}"
            )
    return verdict


def raises(event: Raise, before: Raise | None) -> bool:
    """Tell whether an event commits money: more of it, or for another project."""
    if before is None:
        return event.monthly > 0
    return event.monthly > before.monthly or (event.monthly > 0 and event.project != before.project)


def breaches(
    evidence: Evidence, raised: Sequence[Raise], before: Mapping[str, Raise], after: Mapping[str, Raise]
) -> Iterator[str]:
    """Yield the limits of the account and of projects that commitments of one moment break."""
    limits = evidence.play.limits
    names = ", ".join(each.service for each in raised)
    scopes: list[tuple[str | None, Decimal]] = []
    if limits.account is not None:
        scopes.append((None, limits.account))
    for scope, most in [*scopes, *limits.projects.items()]:
        amount = total(after, scope)
        if raised and amount > most and amount > total(before, scope):
            yield f"{scope or 'the account'} costs {amount}, over {most}, since {names} at {raised[0].at:.0f}"


def breaches_of_runs(evidence: Evidence, history: History) -> Iterator[str]:
    """Yield runs that added more than they may, what they took away already set off."""
    most = evidence.play.limits.run
    if most is None:
        return
    for run in evidence.play.runs:
        mine = {change.service(unit) for change in run.changes for unit in run.units}
        added, peak = Decimal(0), Decimal(0)
        for events, before, _after in history.states():
            for each in events:
                if each.service in mine:
                    was = before.get(each.service)
                    added += each.monthly - (was.monthly if was else Decimal(0))
            peak = max(peak, added)
        if peak > most * evidence.runs:
            yield f"run {run.name} adds {peak}, over {most} for each of {evidence.runs} runs"


def struck(evidence: Evidence, done: Done) -> bool:
    """Tell whether a fault befell a call while a task ran: it may not know then what it costs."""
    return any(
        line["fault"] and done.begun - SLACK <= line["real_at"] * 1000 <= done.ended + SLACK
        for line in evidence.journal
    )


def fits(evidence: Evidence, history: History, done: Done) -> bool:
    """Tell whether a refused task fits each limit, whatever else may have been under way."""
    limits, adds = evidence.play.limits, done.change.adds
    until = done.ended + SLACK
    beside = under_way(evidence, history, done) + lost(evidence)
    since = done.begun - SLACK
    scopes: list[tuple[str | None, Decimal, Decimal]] = []
    if limits.account is not None:
        scopes.append((None, limits.account, adds))
    for project, most in limits.projects.items():
        joins = done.change.home(True) == project
        into = done.change.after if done.change.home(False) != project else adds
        scopes += [(project, most, into)] if joins else []
    for scope, most, more in scopes:
        if more > 0 and history.highest(scope, since, until) + beside + more > most:
            return False
    if limits.run is not None and adds > 0:
        return gross(evidence, history, done) + beside + adds <= limits.run
    return True


def gross(evidence: Evidence, history: History, done: Done) -> Decimal:
    """Return all that a run has added until a task ended, nothing set off."""
    mine = {change.service(unit) for change in done.run.changes for unit in done.run.units}
    added = Decimal(0)
    for events, before, _after in history.states():
        for each in events:
            was = before.get(each.service)
            if each.service in mine and each.at <= done.ended + SLACK:
                added += max(each.monthly - (was.monthly if was else Decimal(0)), Decimal(0))
    return added


def under_way(evidence: Evidence, history: History, done: Done) -> Decimal:
    """Return what tasks beside this one committed later than its end, and may have reserved before."""
    others = {
        other.service: other.change
        for other in evidence.done
        if (other.unit, other.run.name) != (done.unit, done.run.name)
        and not (other.run is done.run and done.run.looped)
        and other.begun <= done.ended + SLACK
        and other.ended >= done.begun - SLACK
    }
    late = {event.service for event in history.events if event.at > done.ended + SLACK}
    return sum((change.after for service, change in others.items() if service in late), Decimal(0))


def lost(evidence: Evidence) -> Decimal:
    """Return what may be reserved for ever: calls whose outcome is unknown, and tasks of a killed run."""
    names = {change.service(unit): change for _run, change, unit in evidence.play.services()}
    found = {
        name
        for name, change in names.items()
        if change.kind in COMMITTING
        and any(fault_of(line, name, change, evidence) for line in evidence.journal)
    }
    if evidence.killed:
        found |= {name for name, change in names.items() if change.kind in COMMITTING}
        found -= {done.service for done in evidence.done if done.refused}
    return sum((names[name].after for name in found), Decimal(0))


def fault_of(line: Mapping[str, Any], name: str, change: Change, evidence: Evidence) -> bool:
    """Tell whether a line of the journal is a call of a task that was lost."""
    method, template = COMMITTING[change.kind].split()
    if not line["fault"] or line["method"] != method or not fnmatchcase(line["template"] or "", template):
        return False
    body = line["body"] if isinstance(line["body"], dict) else {}
    ids = {each["service_id"] for each in evidence.ledger["billed"] if each["name"] == name}
    return name in (body.get("name"), body.get("slug")) or any(id in line["path"] for id in ids)
