# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of the plans in a blueprint: backups and sleep, as the roles of these names take them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ..._api.libraries import Field, WithJsonSchema
from .sections import Amount, Section, WholeNumber

Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class KeepSection(Section):
    """Which backups a plan keeps. At least one rule keeps something."""

    last: WholeNumber | None = Field(default=None, description="So many of the newest.")
    hourly: WholeNumber | None = Field(default=None, description="The newest of so many hours.")
    daily: WholeNumber | None = Field(default=None, description="The newest of so many days.")
    weekly: WholeNumber | None = Field(default=None, description="The newest of so many weeks.")
    monthly: WholeNumber | None = Field(default=None, description="The newest of so many months.")
    yearly: WholeNumber | None = Field(default=None, description="The newest of so many years.")
    within: str | None = Field(default=None, description="All that are younger than this, such as 14d.")
    failed: WholeNumber | None = Field(default=None, description="So many of the newest failed ones.")
    time_zone: str | None = Field(default=None, description="Time zone in which days begin.")
    max_delete: WholeNumber | None = Field(
        default=None, description="Maximum number of deletions of a run for each service."
    )


class OffsiteSection(Section):
    """Where a plan copies each service after its backup."""

    dest: str = Field(description="Absolute path of the folder for the copies.")
    create: bool | None = Field(default=None, description="Whether a run creates the folder.")
    private_key_file: str | None = Field(default=None, description="Key that opens SFTP.")
    known_hosts: str | None = Field(default=None, description="Where the host keys are known.")
    exclude: list[str] | None = Field(default=None, description="What is left out.")
    databases: Literal["dump", "skip"] | None = Field(
        default=None, description="Whether databases are dumped."
    )


class PlanSection(Section):
    """What plans of both kinds have."""

    name: str | None = Field(default=None, description="Name of the plan. If not set, its key.")
    services: list[str] | None = Field(
        default=None,
        description="Keys of services and applications. If not set, all services of the project.",
    )
    allow_empty: bool | None = Field(default=None, description="Whether the plan may select no service.")
    max_parallel: WholeNumber | None = Field(
        default=None, description="Maximum number of services to work on in parallel."
    )
    wait_timeout: float | None = Field(
        default=None, description="How long to wait for a service, in seconds."
    )


class BackupSection(PlanSection):
    """A plan for backups, as role backups takes it. Hooks belong to the role alone."""

    may_skip: list[str] | None = Field(
        default=None, description="Keys of services that may offer no backups."
    )
    every: Literal["hourly", "daily", "weekly", "monthly"] | None = Field(
        default=None, description="How often to run. Daily if not set."
    )
    at: str | None = Field(
        default=None, description="Time of day, in the time zone of the machine. 04:00 if not set."
    )
    keep: KeepSection = Field(description="Which backups to keep.")
    max_age: str | None = Field(default=None, description="Age from which the newest backup is a warning.")
    critical_age: str | None = Field(default=None, description="Age from which it is critical.")
    offsite: OffsiteSection | None = Field(default=None, description="Where to copy what is backed up.")


class HoursSection(Section):
    """A window of a day."""

    begins: str | None = Field(default=None, alias="from", description="When it begins. 00:00 if not set.")
    ends: str | None = Field(default=None, alias="to", description="When it ends. 24:00 if not set.")


class WindowSection(HoursSection):
    """A window of some weekdays."""

    days: list[Weekday] | None = Field(
        default=None, description="Weekdays on which it begins. All if not set."
    )


class ExceptionSection(Section):
    """Days with windows of their own."""

    date: Day = Field(description="The day, such as 2026-12-24.")
    until: Day | None = Field(default=None, description="The last day, if there are several.")
    awake: list[HoursSection] = Field(description="When services are awake. Empty: they sleep.")


class BusySection(Section):
    """When a service is busy, so that it is not suspended yet."""

    cpu_percent: float | None = Field(default=None, description="Busy above this share of its processors.")
    traffic_kib_per_second: float | None = Field(default=None, description="Busy above this traffic.")
    minutes: WholeNumber | None = Field(default=None, description="For how many minutes back to look.")
    at_most: WholeNumber | None = Field(
        default=None, description="For how many minutes at most it delays a suspension."
    )


class SleepSection(PlanSection):
    """A plan for sleep, as role sleep_schedule takes it."""

    awake: list[WindowSection] | None = Field(
        default=None, description="When services are awake. Empty: they stay asleep."
    )
    exceptions: list[ExceptionSection] | None = Field(
        default=None, description="Days with windows of their own."
    )
    calendar: str | None = Field(default=None, description="Path of an iCalendar file on the controller.")
    events: Literal["asleep", "awake"] | None = Field(
        default=None, description="How services are during its events. Asleep if not set."
    )
    time_zone: str | None = Field(default=None, description="Time zone of the plan. UTC if not set.")
    resume: bool | None = Field(default=None, description="Whether services are resumed. True if not set.")
    start_after: dict[str, list[str]] | None = Field(
        default=None, description="By key, the keys of the services that a service needs."
    )
    not_while_busy: BusySection | None = Field(
        default=None, description="Do not suspend a service that is busy."
    )
    budget: Any | None = Field(default=None, description="What may be spent in a month.")
    max_monthly: Amount | None = Field(
        default=None, description="Do not resume a service that costs more a month."
    )
    forecast_days: WholeNumber | None = Field(
        default=None, description="Over how many days to forecast what the plan saves."
    )
