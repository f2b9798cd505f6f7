# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: what an account, a project and a run may cost at most, and whether a commitment fits.

Pure arithmetic. Every limit that is given anywhere holds, and of each kind the lowest counts: a guard that a
nearer setting could raise is none.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from ..._api.libraries import yaml
from .money import format_amount, read_amount
from .task_errors import Invalid

VARIABLE = "hosted_budget"
ENVIRONMENT = "HOSTED_SERVICES_BUDGET"
FORM = "an amount in currency units a month, or a mapping with account, projects and run"
KINDS = ("account", "projects", "run")

CommitmentKind = Literal["order", "create", "resize", "resume", "move", "suspend", "delete"]
NEW: tuple[CommitmentKind, ...] = ("order", "create")
"""The commitments to something that is not there yet."""
LOWERING: tuple[CommitmentKind, ...] = ("suspend", "delete")


class BudgetExceeded(Invalid):
    """A commitment that a budget forbids, or that cannot be shown to fit. Nothing was sent.

    ``why`` is the cause alone, for when the call was made before.
    """

    nothing_done = True

    def __init__(self, message: str, why: str | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.why = why or self.message


# --- What may be spent ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Budget:
    """The limits in currency units a month. ``None`` where there is none."""

    account: Decimal | None = None
    projects: Mapping[str, Decimal] = field(default_factory=dict)
    """By the id or the name of the project."""
    run: Decimal | None = None
    """The most that one run may add."""

    def __bool__(self) -> bool:
        return self.account is not None or bool(self.projects) or self.run is not None

    def with_limits_of(self, other: Budget) -> Budget:
        """Return a budget that holds the limits of both: of each kind the lowest."""
        names = {**self.projects, **other.projects}
        projects = {
            name: min(budget.projects[name] for budget in (self, other) if name in budget.projects)
            for name in names
        }
        return Budget(
            lowest(self.account, other.account),
            projects,
            lowest(self.run, other.run),
        )

    def as_option(self) -> dict[str, Any]:
        """Return the limits as the option ``budget`` takes them."""
        limits = {
            "account": format_amount(self.account),
            "projects": {name: format_amount(most) for name, most in self.projects.items()} or None,
            "run": format_amount(self.run),
        }
        return {kind: limit for kind, limit in limits.items() if limit is not None}


def lowest(*limits: Decimal | None) -> Decimal | None:
    """Return the lowest of the limits that are given."""
    return min((limit for limit in limits if limit is not None), default=None)


def read_budget(value: Any, source: str) -> Budget:
    """Read a budget as a user wrote it. A text may hold a mapping as JSON or YAML.

    :raises Invalid: naming ``source``, if it holds nothing, or anything else than amounts.
    """
    if isinstance(value, str) and any(char in value for char in ":{["):
        value = read_text(value, source)
    if isinstance(value, Mapping):
        return read_mapping(value, source)
    return Budget(account=read_limit(value, source))


def read_text(text: str, source: str) -> Any:
    """Read a mapping from JSON or YAML. Every amount stays the text that it is."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        raise Invalid(f"{source} is {text!r}, which is neither JSON nor YAML; give {FORM}") from None


def read_mapping(value: Mapping[Any, Any], source: str) -> Budget:
    """Read the limits of each kind.

    :raises Invalid: for a kind that there is not, or none at all.
    """
    unknown = sorted(str(kind) for kind in value if kind not in KINDS)
    if unknown:
        raise Invalid(
            f"{source} has {', '.join(map(repr, unknown))}; a budget has {', '.join(KINDS)}, and nothing else"
        )
    if not value:
        raise Invalid(f"{source} is empty; give {FORM}, or leave it out")
    projects = value.get("projects", {})
    if "projects" in value and (not isinstance(projects, Mapping) or not projects):
        raise Invalid(f"projects of {source} is {projects!r}; give the amount of each project by its name")
    return Budget(
        account=read_limit(value["account"], f"account of {source}") if "account" in value else None,
        projects={
            check_project(name, source): read_limit(most, f"project {name!r} of {source}")
            for name, most in projects.items()
        },
        run=read_limit(value["run"], f"run of {source}") if "run" in value else None,
    )


def check_project(name: Any, source: str) -> str:
    """Return the name of a project as text.

    :raises Invalid: if it holds nothing, or a template.
    """
    text = "" if name is None or isinstance(name, bool) else str(name)
    if not text.strip():
        raise Invalid(f"a project of {source} is {name!r}; give its id or its name")
    if "{{" in text:
        raise Invalid(
            f"a project of {source} is {name!r}: Ansible renders no template in a key. Write the mapping "
            "as one template, or the name as it is"
        )
    return text


def read_limit(value: Any, source: str) -> Decimal:
    """Return one limit.

    :raises Invalid: if it is not an amount.
    """
    if value is None or (isinstance(value, (str, list)) and not str(value).strip(" []\t\r\n")):
        said = "null" if value is None else "empty"
        raise Invalid(f"{source} is {said}; give {FORM}, or leave it out")
    if isinstance(value, bool) or not isinstance(value, (str, int, float, Decimal)):
        raise Invalid(f"{source} is {value!r}; give {FORM}")
    return read_amount(str(value).strip(), source)


# --- What is committed ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Commitment:
    """What a step does to the running rate: to what, and what that costs a month afterwards."""

    kind: CommitmentKind
    what: str
    """The service or application, for messages."""
    monthly: Decimal | None
    """The rate once it is done, or what it may come to at most; ``None`` if unknown. A move leaves it."""
    id: str | None = None
    name: str | None = None
    """The name or slug."""
    project: str | None = None
    """The id of the project that it is in afterwards. One that is created without it joins the default."""
    project_name: str | None = None
    before: Decimal | None = None
    """The rate before, as the plan saw it."""
    shrinks: bool = False
    """Whether every part of its size stays or decreases."""

    @property
    def key(self) -> str:
        """A key that is the same for each attempt at the same thing."""
        if self.id is not None:
            return self.id
        return f"new {self.name} in {self.project or self.project_name or 'the default'}"

    @property
    def home(self) -> frozenset[str] | None:
        """The project that it is in afterwards, by its id, or by its name if it has none yet."""
        project = self.project or self.project_name
        return frozenset([project]) if project else None

    @property
    def lowers(self) -> bool:
        """Whether it adds nothing, as far as can be told, so that no budget has a say.

        A smaller size counts as cheaper only if its price is not known, and that at the node's rates is not
        above the present one: they may be higher than those that the service was ordered at.
        """
        if self.kind in LOWERING:
            return True
        if self.monthly is None or self.before is None:
            return self.shrinks
        return self.kind != "move" and self.monthly <= self.before


class Guard:
    """What a step tells what it commits. This one has no budget; others decide right before the call."""

    @contextmanager
    def step(self, commitment: Commitment | None) -> Iterator[None]:
        """Run a step that commits this, or nothing."""
        yield

    def took_effect(self) -> None:
        """Note that the last call of this step, whose outcome was unknown, turned out to have its effect."""

    def tighten(self, budget: Budget, option: str | None = None) -> None:
        """Let the limits of this budget hold too. ``option`` is what a refusal names in its place."""

    def expect_name(self, project: str, name: str) -> None:
        """Let a limit find the project of this id by the name, too, that the plan gives it."""


# --- Whether it fits --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Holding:
    """What the account has: a service with its running rate, or one that is about to be there."""

    key: str
    name: str
    monthly: Decimal | None
    """``None`` if unknown."""
    projects: frozenset[str] | None = None
    """The ids of the projects that it counts for. ``None`` if unknown: then it counts for each."""
    reserved: Decimal = Decimal(0)
    """The part of the rate that the platform does not show yet."""

    @property
    def label(self) -> str:
        """Its name and key, for messages."""
        return f"{self.name!r} ({self.key})"

    def counts_for(self, project: str) -> bool:
        """Tell whether it counts for a project."""
        return self.projects is None or project in self.projects


Holdings = Mapping[str, Holding]


@dataclass(frozen=True)
class ProjectLimit:
    """The limit of one project that a commitment raises, or may raise."""

    name: str
    id: str
    most: Decimal


@dataclass(frozen=True)
class Limits:
    """The limits that hold for one commitment."""

    account: Decimal | None = None
    projects: Sequence[ProjectLimit] = ()
    run: Decimal | None = None

    def __bool__(self) -> bool:
        return self.account is not None or bool(self.projects) or self.run is not None


@dataclass(frozen=True)
class Excess:
    """Why a commitment does not fit: the limit and all that counts against it. ``None`` if unknown."""

    scope: str
    most: Decimal
    running: Decimal | None
    reserved: Decimal
    added_by_run: Decimal
    adds: Decimal | None
    over: Decimal | None
    unpriced: Sequence[str] = ()
    """The services whose rate is not known."""


def added_by(commitment: Commitment, holdings: Holdings) -> Decimal | None:
    """Return what a commitment adds to the rate of the account; ``None`` if unknown."""
    if commitment.lowers or commitment.kind == "move":
        return Decimal(0)
    if commitment.monthly is None:
        return None
    now = holdings.get(commitment.key)
    running = commitment.before if now is None else now.monthly
    return max(Decimal(0), commitment.monthly - (running or Decimal(0)))


def added_to_project(
    commitment: Commitment, holdings: Holdings, project: str
) -> tuple[Decimal | None, list[Holding]]:
    """Return what a commitment adds to the rate of a project, and what else counts for that.

    The first is ``None`` if unknown. A service that may be in the project or not adds all of its rate.
    """
    now = holdings.get(commitment.key)
    members = {key: holding for key, holding in holdings.items() if holding.counts_for(project)}
    if now is not None and now.projects is not None and now.counts_for(project):
        adds = Decimal(0) if commitment.kind == "move" else added_by(commitment, holdings)
        return adds, list(members.values())
    members.pop(commitment.key, None)
    after = commitment.monthly
    if commitment.kind == "move" and now is not None:
        after = now.monthly
    return after, list(members.values())


def find_excess(
    limits: Limits, commitment: Commitment, holdings: Holdings, added_by_run: Decimal
) -> Excess | None:
    """Return the first limit that a commitment breaks, or may break as something is not known."""
    adds = added_by(commitment, holdings)
    checks: list[tuple[str, Decimal, Iterable[Holding], Decimal | None]] = []
    if limits.account is not None:
        checks.append(("the account", limits.account, holdings.values(), adds))
    for limit in limits.projects:
        into, members = added_to_project(commitment, holdings, limit.id)
        checks.append((f"project {limit.name!r}", limit.most, members, into))
    for scope, most, counted, more in checks:
        excess = excess_of(scope, most, list(counted), more, added_by_run)
        if excess is not None:
            return excess
    if limits.run is None or adds == 0:
        return None
    over = None if adds is None else added_by_run + adds - limits.run
    if over is not None and over <= 0:
        return None
    return Excess("this run", limits.run, None, Decimal(0), added_by_run, adds, over)


def excess_of(
    scope: str, most: Decimal, counted: Collection[Holding], adds: Decimal | None, added_by_run: Decimal
) -> Excess | None:
    """Return by how much a limit on a rate is broken; ``None`` if it is not."""
    if adds == 0:
        return None
    unpriced = [holding.label for holding in counted if holding.monthly is None]
    running = sum((holding.monthly or Decimal(0) for holding in counted), Decimal(0))
    reserved = sum((holding.reserved for holding in counted), Decimal(0))
    over = None if adds is None else running + adds - most
    if over is not None and over <= 0 and not unpriced:
        return None
    return Excess(scope, most, running, reserved, added_by_run, adds, over, unpriced)


def with_commitment(holdings: Holdings, commitment: Commitment) -> dict[str, Holding]:
    """Return the holdings as they are once a commitment is made."""
    if commitment.kind == "delete":
        return {key: holding for key, holding in holdings.items() if key != commitment.key}
    now = holdings.get(commitment.key)
    home = commitment.home
    if now is None:
        new = Holding(commitment.key, commitment.name or commitment.what, commitment.monthly, home)
        return {**holdings, commitment.key: new}
    monthly = now.monthly if commitment.kind == "move" else commitment.monthly
    return {**holdings, commitment.key: replace(now, monthly=monthly, projects=home or now.projects)}
