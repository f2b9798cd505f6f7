# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of a recovery: which blueprint, which copies, where to, and what it may overwrite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from ..blueprints.document import SourceOptions
from ..clones.options import Rename
from ..services.options import CommitmentOptions
from ..shared.limits import check_max_parallel
from ..shared.options import FilePath, WaitOptions, option
from ..shared.restore_points import parse_moment
from ..shared.task_errors import Invalid


@dataclass(frozen=True, kw_only=True)
class RecoverOptions(SourceOptions, CommitmentOptions, WaitOptions):
    """The options of module recover."""

    copies: FilePath | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    state: Literal["present", "absent"] = "present"
    drill: bool = False
    before: str | None = option(None, selects=True)
    copies_of: dict[str, Any] | None = None
    without_data: list[str] = option([])
    existing: Literal["refuse", "keep"] = "refuse"
    overwrite: list[str] = option([])
    rename: Rename | None = None
    host: str | None = option(None, selects=True)
    overrides: dict[str, Any] | None = option(None, secret=True)
    delete: bool = True
    private_key_file: FilePath | None = option(None, no_log=False, reads_file=True)
    known_hosts: FilePath | None = None
    secrets_dir: FilePath | None = option(None, no_log=False, filled=True)


def check_options(options: RecoverOptions) -> None:
    """Check what can be checked before anybody is asked.

    :raises Invalid: naming what is wrong.
    """
    check_max_parallel(options.max_parallel)
    if not options.wait:
        raise Invalid("a service must be there before it gets its files and rows, so wait cannot be false")
    if options.drill and options.overwrite:
        raise Invalid("a drill overwrites nothing; leave out overwrite, or drill")
    if options.drill and options.existing == "keep":
        raise Invalid("a drill has a project of its own; leave out existing: keep, or drill")
    for key, value in (options.overrides or {}).items():
        if not isinstance(value, dict):
            raise Invalid(f"overrides: {key!r} must have a dictionary")
    latest_of(options)


def latest_of(options: RecoverOptions) -> datetime | None:
    """Return the moment after which no copy counts; ``None`` if all do.

    :raises Invalid: for a text that is no moment.
    """
    if options.before is None:
        return None
    found = parse_moment(options.before)
    if found is None:
        raise Invalid(f"before is {options.before!r}, which is no moment; write it as 2026-11-24T03:00:00Z")
    return found if found.tzinfo else found.replace(tzinfo=UTC)
