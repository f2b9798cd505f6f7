# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a report on an account: projects, spend, backups, releases, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .reports.figures import figures_of
from .reports.measures import Measures
from .reports.reading import read_facts
from .shared.options import Options, option
from .shared.plan import Plan, Resource, Task
from .shared.restore_points import parse_moment
from .shared.retention import Span, read_span
from .shared.task_errors import Invalid

DEFAULT_MAX_AGE = "26h"


@dataclass(frozen=True, kw_only=True)
class ReportInfoOptions(Options):
    """What to report on, what to measure by, and what the controller knows besides."""

    project: str | None = option(None, selects=True)
    as_of: str | None = option(None, filled=True)
    max_age: str = option(DEFAULT_MAX_AGE, selects=True)
    balance_days: int = 30
    free_days: int = 14
    disk_percent: int = 80
    known_keys: list[str] | None = option(None, no_log=False)
    drift: list[dict[str, Any]] = option([])
    backup_reports: list[dict[str, Any]] = option([])
    sleep_reports: list[dict[str, Any]] = option([])
    drill_report: dict[str, Any] | None = None
    unread: list[dict[str, Any]] = option([])


class ReportInfoResource(Resource[ReportInfoOptions]):
    """The account, or one of its projects."""

    result_key = "report"

    def plan(self, task: Task[ReportInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        options = task.options
        measures = measures_of(options)
        project = None if options.project is None else task.account.project_to_come(options.project)
        facts = read_facts(task.account, project)
        if options.as_of is None and (now := task.platform_now()):
            measures = replace(measures, as_of=now.replace(microsecond=0))
        return Plan(result=figures_of(facts, measures))


REPORT_INFO = ReportInfoResource()


def measures_of(options: ReportInfoOptions) -> Measures:
    """Return what the report measures by.

    :raises Invalid: naming the option, its value and the limit.
    """
    check_limits(options)
    return Measures(
        as_of=moment_of(options.as_of),
        max_age=read_span(options.max_age) or Span(),
        balance_days=options.balance_days,
        free_days=options.free_days,
        disk_percent=options.disk_percent,
        known_keys=None if options.known_keys is None else frozenset(options.known_keys),
        drift=options.drift,
        backup_reports=by_plan(options.backup_reports),
        sleep_reports=by_plan(options.sleep_reports),
        drill=options.drill_report,
        project=options.project,
        unread=options.unread,
    )


def check_limits(options: ReportInfoOptions) -> None:
    """Check the numbers.

    :raises Invalid: naming the option, its value and the limit.
    """
    for name, days in (("balance_days", options.balance_days), ("free_days", options.free_days)):
        if days < 0:
            raise Invalid(f"{name} is {days}; it must be 0 or more")
    if not 1 <= options.disk_percent <= 100:
        raise Invalid(f"disk_percent is {options.disk_percent}; it must be from 1 to 100")


def moment_of(text: str | None) -> datetime:
    """Return the moment that the report speaks of: now, to the second, if none is given.

    :raises Invalid: if it is not a timestamp.
    """
    if text is None:
        return datetime.now(UTC).replace(microsecond=0)
    moment = parse_moment(text.strip())
    if moment is None:
        raise Invalid(f"as_of is {text!r}; it must be a timestamp such as 2026-11-02T09:30:00Z")
    return moment.astimezone(UTC).replace(microsecond=0)


def by_plan(reports: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """Return reports of plans in the order of their names, whatever the order of their files."""
    return sorted(reports, key=lambda report: str(report.get("plan")))
