# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a service and of its order: the helpers of services read them, whichever module has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..._api.values import FAMILIES
from ..shared.options import FilePath, MaxMonthly, Options, StateDirOptions, WaitOptions, option
from ..shared.plan import SERVICE_ID
from ..shared.secrets_file import SecretsOptions

ServiceState = Literal[
    "present", "started", "stopped", "restarted", "killed", "suspended", "resumed", "absent"
]


@dataclass(frozen=True, kw_only=True)
class Size:
    """The parts of a size. For a service that is there, a part that is left out stays as it is."""

    cpu_cores: int | None = None
    ram_gb: int | None = None
    storage_gb: int | None = None

    def as_dict(self) -> dict[str, int | None]:
        # dataclasses.asdict copies deeply, which takes ten times as long.
        return {"cpu_cores": self.cpu_cores, "ram_gb": self.ram_gb, "storage_gb": self.storage_gb}

    @property
    def missing(self) -> list[str]:
        """The names of the parts that were not given."""
        return [name for name, value in self.as_dict().items() if value is None]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is chosen for an option of a product."""

    option: str
    choice: str


@dataclass(frozen=True, kw_only=True)
class MaxMonthlyOptions(Options):
    """What the thing that the task is about may cost at most."""

    max_monthly: MaxMonthly | None = option(None, selects=True)


@dataclass(frozen=True, kw_only=True)
class BudgetOptions(Options):
    """What the account, its projects and the run may cost at most, for a task that commits money."""

    budget: Any | None = option(None, selects=True)


@dataclass(frozen=True, kw_only=True)
class CommitmentOptions(MaxMonthlyOptions, BudgetOptions):
    """Both limits, for a task that commits money to one kind of thing."""


@dataclass(frozen=True, kw_only=True)
class OrderOptions(Options):
    """What is ordered."""

    product: str | None = option(None, selects=True)
    runtime: str | None = option(None, selects=True)
    host: str | None = option(None, selects=True)
    dimensions: Size | None = None
    preset: str | None = option(None, selects=True)
    variables: dict[str, Any] | None = option(None, secret=True)
    options: list[Choice] | None = None


@dataclass(frozen=True, kw_only=True)
class ServiceOptions(OrderOptions, CommitmentOptions, WaitOptions, StateDirOptions, SecretsOptions):
    """Which service, how it is to be, and what may be done to bring it there."""

    id: str | None = option(None, selects=True, names_target=True, host_variables=[SERVICE_ID])
    name: str | None = option(None, selects=True, names_target=True)
    project: str | None = option(None, selects=True, names_target=True)
    new_project: str | None = option(None, selects=True)
    family: str | None = option(None, choices=FAMILIES, selects=True, names_target=True)
    state: ServiceState = "present"
    product: str | None = option(None, selects=True, names_target=True)
    host: str | None = option(None, selects=True, names_target=True)
    public: bool | None = None
    command: str | None = None
    resume: bool = True
    delete_backups: bool = False
    keep_copy: FilePath | None = option(None, selects=True)
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None
    allow_duplicate_name: bool = False
