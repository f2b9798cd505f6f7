# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The arguments of the event source, as a rulebook gives them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any, cast

from ..._api.errors import ConfigurationError
from ..._api.libraries import ValidationError
from ..shared.connecting import with_selected_token
from ..shared.identify import close_name
from ..shared.options import FilePath, Options, option
from ..shared.store import adapter_of

HANDED_OVER = ("eda_feedback_queue",)
"""What ansible-rulebook itself puts among the arguments."""
LONGEST = 7 * 24 * 3600.0
BOUNDS: Mapping[str, tuple[float, float]] = {
    "min_interval": (0.05, LONGEST),
    "max_interval": (0.05, LONGEST),
    "backup_interval": (0, LONGEST),
    "backup_max_age": (0.01, 24 * 3650),
    "drift_interval": (1, LONGEST),
    "stop_window": (1, LONGEST),
}


@dataclass(frozen=True, kw_only=True)
class SourceOptions(Options):
    """The arguments: the connection, how often to look, and when events are due."""

    state_file: FilePath | None = None
    state_name: str | None = None
    min_interval: float = 15.0
    max_interval: float = 120.0
    report_existing: bool = True
    stop_window: float = 3600.0
    balance_days: list[int] = option([14, 7, 3, 1])
    max_daily_spend: Decimal | None = None
    max_monthly_spend: Decimal | None = None
    backup_interval: float = 3600.0
    backup_max_age: float | None = None
    backup_services: list[str] | None = None
    blueprints: list[FilePath] = option([])
    drift_interval: float = 3600.0
    feedback: bool = False

    @property
    def blueprint_paths(self) -> list[str]:
        return [expanded(path) for path in self.blueprints]


def read_arguments(arguments: Mapping[str, Any]) -> SourceOptions:
    """Return the arguments with their defaults, and what the environment sets."""
    given = {name: value for name, value in arguments.items() if name not in HANDED_OVER}
    known = [each.name for each in fields(SourceOptions)]
    for name in given:
        if name not in known:
            hint = close_name(name, known)
            raise ConfigurationError(
                f"unknown argument {name!r};{hint} The arguments are: {', '.join(sorted(known))}"
            )
    variables = {each.name: each.metadata.get("environment") for each in fields(Options)}
    values: dict[str, Any] = {
        name: os.environ[text] for name, text in variables.items() if text and os.environ.get(text)
    }
    if "allow_http_hosts" in values:
        values["allow_http_hosts"] = values["allow_http_hosts"].split(",")
    values |= {name: value for name, value in given.items() if value is not None}
    try:
        # Values that come from variables of the rulebook may be text.
        options = adapter_of(SourceOptions).validate_python(with_selected_token(values, given))
    except ValidationError as error:  # told without the value, which may be a secret
        problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in problem["loc"])
        raise ConfigurationError(
            f"argument {place!r} has a value that it cannot have: {problem['msg']}"
        ) from None
    for said in problems_of(options):
        raise ConfigurationError(said)
    return cast(SourceOptions, options)


def problems_of(options: SourceOptions) -> Iterator[str]:
    for name, (low, high) in BOUNDS.items():
        value = getattr(options, name)
        if value is not None and not low <= value <= high:
            yield f"{name} is {value:g}; it must be from {low:g} to {high:g}"
    for name in ("max_daily_spend", "max_monthly_spend"):
        value = getattr(options, name)
        if value is not None and not (value.is_finite() and value >= 0):
            yield f"{name} is {value}; it must be an amount in currency units"
    for path in options.blueprint_paths:
        if not os.path.isfile(path):
            yield f"blueprints names {path!r}, which is not a file"
    named, patterns = options.state_name, options.backup_services
    wrong = {
        "min_interval is longer than max_interval": options.min_interval > options.max_interval,
        "balance_days has a negative number": any(days < 0 for days in options.balance_days),
        "state_name is blank; give it a name, or leave it out": named is not None and not named.strip(),
        "state_name has no effect with state_file, which names the file; set one": (
            named is not None and options.state_file is not None
        ),
        "backup_services has an empty pattern, which matches nothing": not all(patterns or ()),
        "backup_services names what is watched, and backup_max_age, after how many hours to tell, is not "
        "set; set it, or leave backup_services out": patterns is not None and options.backup_max_age is None,
    }
    yield from (said for said, is_so in wrong.items() if is_so)


def expanded(path: str) -> str:
    """Return a path with ``~`` and variables of the environment replaced."""
    return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))
