# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Budgets: what an account, a project and a run may cost at most, as users write it.

Every limit that is given anywhere holds, and of each kind the lowest counts: none can be raised nearby.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..._api.libraries import yaml
from .money import Commitment, format_amount, read_amount
from .task_errors import Invalid

VARIABLE = "hosted_budget"
ENVIRONMENT = "HOSTED_SERVICES_BUDGET"
FORM = "an amount in currency units a month, or a mapping with account, projects and run"
ACCOUNT, PROJECTS, RUN = "account", "projects", "run"
THE_BUDGET = "the budget"


class BudgetExceeded(Invalid):
    """A commitment that a budget forbids, or that cannot be shown to fit. Nothing was sent."""

    nothing_done = True


class Budget(dict[tuple[str, str], Decimal]):
    """Limits in currency units a month, by their kind and, of a project, its id or its name."""

    def with_limits_of(self, other: Budget) -> Budget:
        """Return a budget that holds the limits of both: of each kind the lowest."""
        both = {**self, **other}
        return Budget({kind: min(most, self.get(kind, most)) for kind, most in both.items()})

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
            raise Invalid(
                f"{source} has {str(kind)!r} with {most!r}; give {FORM}: projects is a mapping of the id or "
                "the name of each project to its amount"
            )
    return found


def read_limit(value: Any, source: str) -> Decimal:
    if value is None or not str(value).strip(" []{}\t\r\n"):
        raise Invalid(f"{source} is empty; give {FORM}, or leave it out")
    return read_amount(str(value).strip(), source)


@dataclass
class Guard:
    """The budgets of a task, and what it tells of them. This one holds none of them."""

    budgets: dict[str, Budget] = field(default_factory=dict)
    """By what a refusal names."""
    names: set[tuple[str, str]] = field(default_factory=set)
    """What projects are called, now or later: their ids, or names if they have none yet, with the names."""

    def tighten(self, budget: Budget, option: str = THE_BUDGET) -> None:
        """Let the limits of this budget hold too, by the option that a refusal names."""
        if budget:
            self.budgets[option] = budget.with_limits_of(self.budgets.get(option, budget))

    def succeeded(self, commitment: Commitment) -> None:
        """Note that a step is done. What it made cheaper does not count as more any longer."""
