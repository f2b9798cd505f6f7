# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a report on an account: projects, spend, backups, releases, and what to do next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from .reports.figures import figures_of
from .reports.reading import Measures, ReportInfoOptions, read_facts
from .shared.journal import lines_between
from .shared.plan import Plan, Resource, Task
from .shared.restore_points import parse_moment
from .shared.retention import read_span
from .shared.task_errors import Invalid

HISTORY = timedelta(days=7)
"""Of how many days a report tells what this controller did."""


class ReportInfoResource(Resource[ReportInfoOptions]):
    """The account, or one of its projects."""

    result_key = "report"

    def plan(self, task: Task[ReportInfoOptions]) -> Plan:
        options = task.options
        check_limits(options)
        asked = parse_moment(options.as_of.strip()) if options.as_of is not None else None
        if options.as_of is not None and asked is None:
            raise Invalid(f"as_of is {options.as_of!r}; it must be a timestamp such as 2026-11-02T09:30:00Z")
        project = None if options.project is None else task.account.project_to_come(options.project)
        facts = read_facts(task.account, project)
        as_of = asked or task.platform_now() or datetime.now(UTC)
        as_of = as_of.astimezone(UTC).replace(microsecond=0)
        # Most lines do not say in which project a change was.
        history = None if project else lines_between(task.client, as_of - HISTORY, as_of)
        return Plan(result=figures_of(facts, Measures(options, as_of), history))


REPORT_INFO = ReportInfoResource()


def check_limits(options: ReportInfoOptions) -> None:
    read_span(options.max_age)
    for name, days in (("balance_days", options.balance_days), ("free_days", options.free_days)):
        if days < 0:
            raise Invalid(f"{name} is {days}; it must be 0 or more")
    if not 1 <= options.disk_percent <= 100:
        raise Invalid(f"disk_percent is {options.disk_percent}; it must be from 1 to 100")
