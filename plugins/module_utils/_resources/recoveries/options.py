# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a recovery: which blueprint, which copies, where to, and what it may overwrite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ..clones.options import FilledOptions, check_filled
from ..shared.options import FilePath, option
from ..shared.restore_points import parse_moment
from ..shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(FilledOptions):
    """The options of module recover."""

    copies: FilePath | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    drill: bool = False
    before: str | None = option(None, selects=True)
    copies_of: dict[str, Any] | None = None
    existing: Literal["refuse", "keep"] = "refuse"
    overwrite: list[str] = option([])


def check_options(options: RecoverOptions) -> None:
    """Check what can be checked before anybody is asked."""
    check_filled(options)
    if options.drill and options.overwrite:
        raise Invalid("a drill overwrites nothing; leave out overwrite, or drill")
    if options.drill and options.existing == "keep":
        raise Invalid("a drill has a project of its own; leave out existing: keep, or drill")
    latest_of(options)


def latest_of(options: RecoverOptions) -> datetime | None:
    """Return the moment after which no copy counts; ``None`` if all do."""
    if options.before is None:
        return None
    found = parse_moment(options.before)
    if found is None:
        raise Invalid(f"before is {options.before!r}, which is no moment; write it as 2026-11-24T03:00:00Z")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
