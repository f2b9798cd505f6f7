# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a relocation: which service, where to, and what the platform does not show of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ..clones.options import check_dictionaries
from ..fleets.health import LONGEST, HealthyOptions, ProbeOptions, check_probe
from ..services.on_service import OneServiceOptions
from ..services.options import CommitmentOptions, OrderOptions
from ..shared.options import FilePath, StateDirOptions, option, required
from ..shared.secrets_file import SecretsOptions
from ..shared.task_errors import Invalid

RelocateState = Literal["relocated", "returned", "finished"]
MAX_DAYS = 3650
STATES_OF = {
    "copy_back": ("returned",),
    "delete_backups": ("finished",),
    "discard_newer": ("relocated", "finished"),
}
"""The options that not every state uses. Elsewhere they are refused, as somebody may rely on them."""
WHERE_TO = ("host", "product", "runtime", "preset", "dimensions", "options")
"""The options that make the new service another one than the old."""


@dataclass(frozen=True, kw_only=True)
class RelocateOptions(
    OneServiceOptions, OrderOptions, CommitmentOptions, HealthyOptions, StateDirOptions, SecretsOptions
):
    """The options of module relocate."""

    service: str = required(selects=True)
    new_project: str | None = option(None, selects=True)
    state: RelocateState = "relocated"
    name: str | None = option(None, selects=True)
    public: bool | None = None
    environments: dict[str, Any] | None = None
    secret_environments: dict[str, Any] | None = option(None, no_log=False, secret=True)
    without_dependents: list[str] = option([])
    without_data: bool = False
    existing: Literal["refuse", "adopt"] = "refuse"
    overwrite: bool = False
    copy_back: bool = False
    keep_days: int | None = None
    delete_backups: bool = False
    discard_newer: bool = False
    health_checks: list[ProbeOptions] = option([])
    checksum: bool = False
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None


def check_options(options: RelocateOptions) -> None:
    """Check what can be checked before anybody is asked."""
    if options.new_project is not None:
        raise Invalid(
            f"new_project is {options.new_project!r}: the platform itself moves a service between projects, "
            "with its disk and its alias and without a copy. Nothing was done. Use hosted.services.service "
            "with new_project"
        )
    if not options.wait:
        raise Invalid("each step of a relocation needs the one before it, so wait cannot be false")
    if not 0 <= options.healthy_for <= LONGEST:
        raise Invalid(f"healthy_for is {options.healthy_for}; it must be 0 to {LONGEST:g} seconds")
    if options.keep_days is not None and not 0 <= options.keep_days <= MAX_DAYS:
        raise Invalid(f"keep_days is {options.keep_days}; it must be 0 to {MAX_DAYS}")
    for check in options.health_checks:
        check_probe(check)
    check_dictionaries(options, "environments", "secret_environments")
    for name, states in STATES_OF.items():
        if getattr(options, name) and options.state not in states:
            fitting = " or ".join(states)
            raise Invalid(
                f"{name} goes with state: {fitting} alone, and state is {options.state}; nothing was done. "
                f"Set state: {fitting}, or leave {name} out"
            )
