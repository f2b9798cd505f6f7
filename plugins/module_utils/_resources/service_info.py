# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads services and their details (Services)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from .._api.models import ServiceSummary, plain
from .._api.values import FAMILIES, WITH_SETTINGS, ServiceStatus
from .services.listing import add_part, sftp_if_any
from .shared.account import Account
from .shared.identify import close_name, existing
from .shared.names import same_name
from .shared.options import MAX_LOG_LINES, Options, check_log_lines, option
from .shared.plan import Plan, Resource, Task
from .shared.task_errors import Invalid, NoSuchItem
from .shared.time_zones import zone_named

Part = Literal[
    "details",
    "settings",
    "metrics",
    "events",
    "logs",
    "usage",
    "billed_totals",
    "sftp",
    "backups",
    "snapshots",
]


@dataclass(frozen=True, kw_only=True)
class ServiceInfoOptions(Options):
    """The options of module service_info."""

    id: str | None = option(None, selects=True)
    name: str | None = option(None, selects=True)
    project: str | None = option(None, selects=True)
    family: str | None = option(None, choices=FAMILIES, selects=True)
    status: str | None = option(None, selects=True)
    include: list[Part] = option([])
    log_lines: int = MAX_LOG_LINES
    max_events: int = 100
    usage_days: int = 30
    time_zone: str | None = None


class ServiceInfoResource(Resource[ServiceInfoOptions]):
    """Services by id, name, project, family and status; all if no option is set."""

    result_key = "services"

    def plan(self, task: Task[ServiceInfoOptions]) -> Plan:
        """Read; there is nothing to do."""
        check_log_lines(task.options.log_lines)
        for name in ("max_events", "usage_days"):
            if getattr(task.options, name) < 1:
                raise Invalid(f"{name} is {getattr(task.options, name)}; it must be 1 or more")
        services = select_matching(task)
        result = [service.as_dict() for service in services]
        if "metrics" in task.options.include:
            metrics = task.account.metrics([service.id for service in services])
            for found in result:
                found["metrics"] = plain(metrics[found["id"]])
        for part, read in readers_for(task.options).items():
            able = [each for each in result if part != "settings" or each["family"] in WITH_SETTINGS]
            for found in result:
                found[part] = None
            for warning in add_part(task.account, able, part, read, "so it is null there"):
                task.warn(warning)
            for found in able:
                found[part] = plain(found[part])
        return Plan(result=result)


SERVICE_INFO = ServiceInfoResource()


def select_matching(task: Task[ServiceInfoOptions]) -> list[ServiceSummary]:
    """Return the services that match all options."""
    options = task.options
    if options.project:
        try:
            services = task.account.members(task.account.project(options.project))
        except NoSuchItem:
            services = []
    else:
        services = task.account.services()
    warn_of_filters(task, services)
    wanted = {"id": options.id, "family": options.family, "status": options.status}
    given = {name: value for name, value in wanted.items() if value is not None}
    found = [s for s in services if all(getattr(s, name) == value for name, value in given.items())]
    if options.name is not None:
        found = [s for s in found if same_name(s.name, options.name)]
    if options.id and not found:
        raise NoSuchItem(f"there is no service of id {options.id!r} that fits the other options")
    return found if options.status else existing(found)


def warn_of_filters(task: Task[ServiceInfoOptions], services: Sequence[ServiceSummary]) -> None:
    """Warn of a status or name that is probably misspelled, because nothing matches it."""
    status, name = task.options.status, task.options.name
    statuses = {*ServiceStatus.ALL, *(service.status for service in services)}
    if status is not None and status not in statuses:
        hint = f";{close_name(status.upper(), statuses)}" if close_name(status.upper(), statuses) else ""
        task.warn(f"status {status!r} is neither documented nor that of a service{hint}")
    names = {service.name for service in services if service.name}
    if name and not any(same_name(each, name) for each in names) and (hint := close_name(name, names)):
        task.warn(f"no service is named {name!r};{hint}")


def readers_for(options: ServiceInfoOptions) -> dict[str, Callable[[Account, str], Any]]:
    """Return the function that reads each requested part. Metrics are read for many services at once."""
    bounds = period_starts(options.time_zone)
    readers: dict[str, Callable[[Account, str], Any]] = {
        "details": lambda account, id: account.service(id),
        "settings": lambda account, id: account.settings(id),
        "events": lambda account, id: account.client.events(id, options.max_events),
        "logs": lambda account, id: account.client.logs(id, options.log_lines),
        "usage": lambda account, id: account.client.usage(id, options.usage_days),
        "billed_totals": lambda account, id: account.client.billed_totals(id, *bounds),
        "sftp": sftp_if_any,
        "backups": lambda account, id: account.backups(id),
        "snapshots": lambda account, id: account.snapshots(id),
    }
    return {part: read for part, read in readers.items() if part in options.include}


def period_starts(zone_name: str | None) -> tuple[str, str, str, str]:
    """Return the start of the current hour, day, week and month, as timestamps in UTC."""
    now = datetime.now(zone_named(zone_name) if zone_name is not None else None)
    hour = now.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    return (
        timestamp(hour),
        timestamp(day),
        timestamp(day - timedelta(days=day.weekday())),
        timestamp(day.replace(day=1)),
    )


def timestamp(moment: datetime) -> str:
    """Format a time as the platform does: UTC with milliseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
