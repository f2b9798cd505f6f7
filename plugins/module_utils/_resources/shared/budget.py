# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: what an account, a project and a run may cost at most, and what a step commits.

Every limit that is given anywhere holds, and of each kind the lowest counts: a guard that a nearer setting
could raise is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from ..._api.libraries import yaml
from .money import format_amount, read_amount
from .task_errors import Invalid

VARIABLE = "hosted_budget"
ENVIRONMENT = "HOSTED_SERVICES_BUDGET"
FORM = "an amount in currency units a month, or a mapping with account, projects and run"
KINDS = ("account", "projects", "run")
THE_BUDGET = "the budget"

CommitmentKind = Literal["order", "creation", "new size", "resumption", "move", "suspension", "deletion"]
NEW: tuple[CommitmentKind, ...] = ("order", "creation")
"""The commitments to something that is not there yet."""
LOWERING: tuple[CommitmentKind, ...] = ("suspension", "deletion")


class BudgetExceeded(Invalid):
    """A commitment that a budget forbids, or that cannot be shown to fit. Nothing was sent."""

    nothing_done = True


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
        return Budget(
            min((most for most in (self.account, other.account) if most is not None), default=None),
            {name: min(each.projects.get(name, names[name]) for each in (self, other)) for name in names},
            min((most for most in (self.run, other.run) if most is not None), default=None),
        )

    def as_option(self) -> dict[str, Any]:
        """Return the limits as the option ``budget`` takes them."""
        projects = {name: format_amount(most) for name, most in self.projects.items()}
        limits = {"account": format_amount(self.account), "run": format_amount(self.run)}
        found: dict[str, Any] = {kind: limit for kind, limit in limits.items() if limit is not None}
        return {**found, "projects": projects} if projects else found


def read_budget(value: Any, source: str) -> Budget:
    """Read a budget as a user wrote it. A text may hold a mapping as JSON or YAML.

    :raises Invalid: naming ``source``, if it holds nothing, or anything else than amounts.
    """
    if isinstance(value, str) and any(char in value for char in ":{["):
        try:
            value = yaml.load(value, Loader=yaml.BaseLoader)  # every amount stays the text that it is
        except (yaml.YAMLError, RecursionError):
            raise Invalid(f"{source} is {value!r}, which is neither JSON nor YAML; give {FORM}") from None
    if not isinstance(value, Mapping):
        return Budget(account=read_limit(value, source))
    unknown = sorted(repr(str(kind)) for kind in value if kind not in KINDS)
    if unknown:
        kinds = ", ".join(KINDS)
        raise Invalid(f"{source} has {', '.join(unknown)}; a budget has {kinds}, and nothing else")
    if not value:
        raise Invalid(f"{source} is empty; give {FORM}, or leave it out")
    projects = value.get("projects", {})
    if "projects" in value and (not isinstance(projects, Mapping) or not projects):
        raise Invalid(f"projects of {source} is {projects!r}; give the amount of each project by its name")
    return Budget(
        account=read_limit(value["account"], f"account of {source}") if "account" in value else None,
        projects={
            read_project(name, source): read_limit(most, f"project {name!r} of {source}")
            for name, most in projects.items()
        },
        run=read_limit(value["run"], f"run of {source}") if "run" in value else None,
    )


def read_project(name: Any, source: str) -> str:
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
        """The id, or what is the same for each attempt to make it, also where its project has no id yet."""
        return self.id or f"new {self.name} in {self.project_name or self.project or 'the default'}"

    @property
    def attempt(self) -> str:
        """What is the same for each attempt at it whose outcome is open."""
        return f"{self.kind} {self.key} {self.before}"

    @property
    def home(self) -> str:
        """The project that it is in afterwards, by its id, or by its name if it has none yet, or neither."""
        return self.project or self.project_name or ""

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


@dataclass
class Guard:
    """The budgets of a task, and what it tells of them. This one holds none of them."""

    budgets: dict[str, Budget] = field(default_factory=dict)
    """By what a refusal names."""
    names: set[tuple[str, str]] = field(default_factory=set)
    """What projects are called, now or later: their ids, or names if they have none yet, with the names."""

    def tighten(self, budget: Budget, option: str = THE_BUDGET) -> None:
        """Let the limits of this budget hold too. ``option`` is what a refusal names."""
        self.budgets[option] = self.budgets.get(option, Budget()).with_limits_of(budget)

    def succeeded(self, commitment: Commitment) -> None:
        """Note that a step is done. What it made cheaper does not count as more any longer."""
