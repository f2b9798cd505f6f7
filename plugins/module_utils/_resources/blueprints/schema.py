# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a blueprint: its sections and their keys. The JSON Schema for editors comes from here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin

from ..._api.libraries import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from .document import Path

SCHEMA_URL = "https://example.invalid/hosted/services/blob/main/docs/blueprint.schema.json"
"""Where editors find the schema: in the project's repository (`repository` in galaxy.yml)."""


def refuse_truth_values(value: Any) -> Any:
    """Refuse what YAML makes of words such as ``yes``: pydantic takes a truth value for a number."""
    if isinstance(value, bool):
        raise ValueError(f"is {str(value).lower()}, a truth value; it must be a number")
    return value


def as_amount(value: Any) -> Any:
    """Return an amount as text, so that no digits are lost."""
    return str(refuse_truth_values(value)) if isinstance(value, (bool, int, float)) else value


WholeNumber = Annotated[int, BeforeValidator(refuse_truth_values)]
Amount = Annotated[str, BeforeValidator(as_amount), WithJsonSchema({"type": ["string", "number"]})]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
Variables = dict[str, str]
"""Variables of an environment. A value may refer to a neighbor: ``${key.FIELD}``."""


class Section(BaseModel):
    """A part of a blueprint. Other keys than its own are refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def optional(description: str) -> Any:
    """Return a key that need not be written, as editors explain it."""
    return Field(default=None, description=description)


def keys_of(hint: Any, path: Path) -> list[str]:
    """Return the keys that there are at a path below a section; none where there is no section."""
    for key in path:
        hint = below(hint, key)
    return [key for each in members_of(hint) for key in fields_of(each)]


def below(hint: Any, key: Any) -> Any:
    """Return the type of what is under a key, or of an item of a list; ``None`` if there is none."""
    for each in members_of(hint):
        if get_origin(each) in (dict, list):
            return get_args(each)[-1]
        if key in fields_of(each):
            return fields_of(each)[key]
    return None


def fields_of(hint: Any) -> dict[str, Any]:
    """Return the types of a section's keys, as users write these; nothing for another type."""
    if not isinstance(hint, type) or not issubclass(hint, Section):
        return {}
    return {each.alias or name: each.annotation for name, each in hint.model_fields.items()}


def members_of(hint: Any) -> Iterator[Any]:
    """Yield the members of a union; a type that is none by itself."""
    if get_origin(hint) in (dict, list) or not get_args(hint):
        yield hint
    else:
        for each in get_args(hint):
            yield from members_of(each)


# --- Plans for backups and sleep --------------------------------------------------------------------


class KeepSection(Section):
    """Which backups a plan keeps. At least one rule keeps something."""

    last: WholeNumber | None = optional("So many of the newest.")
    hourly: WholeNumber | None = optional("The newest of so many hours.")
    daily: WholeNumber | None = optional("The newest of so many days.")
    weekly: WholeNumber | None = optional("The newest of so many weeks.")
    monthly: WholeNumber | None = optional("The newest of so many months.")
    yearly: WholeNumber | None = optional("The newest of so many years.")
    within: str | None = optional("All that are younger than this, such as 14d.")
    failed: WholeNumber | None = optional("So many of the newest failed ones.")
    time_zone: str | None = optional("Time zone in which days begin.")
    max_delete: WholeNumber | None = optional("Maximum number of deletions of a run for each service.")


class OffsiteSection(Section):
    """Where a plan copies each service after its backup."""

    dest: str = Field(description="Absolute path of the folder for the copies.")
    create: bool | None = optional("Whether a run creates the folder.")
    private_key_file: str | None = optional("Key that opens SFTP.")
    known_hosts: str | None = optional("Where the host keys are known.")
    exclude: list[str] | None = optional("What is left out.")
    databases: Literal["dump", "skip"] | None = optional("Whether databases are dumped.")


class PlanSection(Section):
    """What plans of both kinds have."""

    name: str | None = optional("Name of the plan. If not set, its key.")
    services: list[str] | None = optional(
        "Keys of services and applications. If not set, all services of the project."
    )
    allow_empty: bool | None = optional("Whether the plan may select no service.")
    max_parallel: WholeNumber | None = optional("Maximum number of services to work on in parallel.")
    wait_timeout: float | None = optional("How long to wait for a service, in seconds.")


class BackupSection(PlanSection):
    """A plan for backups, as role backups takes it. Hooks belong to the role alone."""

    may_skip: list[str] | None = optional("Keys of services that may offer no backups.")
    every: Literal["hourly", "daily", "weekly", "monthly"] | None = optional(
        "How often to run. Daily if not set."
    )
    at: str | None = optional("Time of day, in the time zone of the machine. 04:00 if not set.")
    keep: KeepSection = Field(description="Which backups to keep.")
    max_age: str | None = optional("Age from which the newest backup is a warning.")
    critical_age: str | None = optional("Age from which it is critical.")
    offsite: OffsiteSection | None = optional("Where to copy what is backed up.")


class HoursSection(Section):
    """A window of a day."""

    begins: str | None = Field(default=None, alias="from", description="When it begins. 00:00 if not set.")
    ends: str | None = Field(default=None, alias="to", description="When it ends. 24:00 if not set.")


class WindowSection(HoursSection):
    """A window of some weekdays."""

    days: list[Weekday] | None = optional("Weekdays on which it begins. All if not set.")


class ExceptionSection(Section):
    """Days with windows of their own."""

    date: Day = Field(description="The day, such as 2026-12-24.")
    until: Day | None = optional("The last day, if there are several.")
    awake: list[HoursSection] = Field(description="When services are awake. Empty: they sleep.")


class BusySection(Section):
    """When a service is busy, so that it is not suspended yet."""

    cpu_percent: float | None = optional("Busy above this share of its processors.")
    traffic_kib_per_second: float | None = optional("Busy above this traffic.")
    minutes: WholeNumber | None = optional("For how many minutes back to look.")
    at_most: WholeNumber | None = optional("For how many minutes at most it delays a suspension.")


class SleepSection(PlanSection):
    """A plan for sleep, as role sleep_schedule takes it."""

    awake: list[WindowSection] | None = optional("When services are awake. Empty: they stay asleep.")
    exceptions: list[ExceptionSection] | None = optional("Days with windows of their own.")
    calendar: str | None = optional("Path of an iCalendar file on the controller.")
    events: Literal["asleep", "awake"] | None = optional(
        "How services are during its events. Asleep if not set."
    )
    time_zone: str | None = optional("Time zone of the plan. UTC if not set.")
    resume: bool | None = optional("Whether services are resumed. True if not set.")
    start_after: dict[str, list[str]] | None = optional(
        "By key, the keys of the services that a service needs."
    )
    not_while_busy: BusySection | None = optional("Do not suspend a service that is busy.")
    budget: Any | None = optional("What may be spent in a month.")
    max_monthly: Amount | None = optional("Do not resume a service that costs more a month.")
    forecast_days: WholeNumber | None = optional("Over how many days to forecast what the plan saves.")


# --- The whole --------------------------------------------------------------------------------------


class Size(Section):
    """A size. For something that exists, a part that is left out stays as it is."""

    cpu_cores: WholeNumber | None = optional("Number of vCPUs.")
    ram_gb: WholeNumber | None = optional("Memory in GB.")
    storage_gb: WholeNumber | None = optional("Disk in GB. It cannot shrink.")


class Choice(Section):
    """What is chosen for an option of a product."""

    option: str = Field(description="Id of the option.")
    choice: str = Field(description="Id of the choice.")


class ServiceSection(Section):
    """A service: what is ordered if it does not exist, and how it is to be."""

    name: str | None = optional("Name of the service. If not set, its key.")
    id: str | None = optional("Id of the service, if its name alone is not clear.")
    allow_duplicate_name: bool = Field(
        default=False, description="Whether to order it though one of its name left this project."
    )
    product: str | None = optional("Slug of the product, for the order.")
    runtime: str | None = optional("Id of the edition, for the order.")
    host: str | None = optional("Id or label of the node to order it on.")
    dimensions: Size | None = optional("Its size.")
    preset: str | None = optional("Id of a ready-made size, in place of dimensions.")
    variables: dict[str, Any] | None = optional("Settings entered at the order.")
    options: list[Choice] | None = optional("Options of the product, for the order.")
    public: bool | None = optional("Whether it is open to the Internet.")
    command: str | None = optional("Launch command. Empty for the original one.")
    state: Literal["present", "started", "stopped", "suspended", "resumed"] = Field(
        default="present", description="Whether it runs. present leaves that alone."
    )
    resume: bool = Field(default=True, description="Whether a suspended service may be resumed.")
    max_monthly: Amount | None = optional("What it may cost a month, in currency units.")


class ImageSection(Section):
    """An image: an archive to push, the digest of one that was pushed, or a tag that is declared."""

    tag: str = Field(description="Tag of the release.")
    archive: str | None = optional("Path of an OCI archive or layout to push, as builders write it.")
    name: str | None = optional("Name of the image, if the archive holds several.")
    platform: str | None = optional("Platform of the image, such as linux/amd64.")
    digest: str | None = optional("Digest of an image that was pushed.")
    fail_on: list[Literal["blocked", "warned", "failed", "critical", "high", "medium", "low"]] | None = (
        optional("Verdicts and severities of the scan that stop the deploy.")
    )
    rollback: bool = Field(
        default=False,
        description="Whether to deploy the last good release if this one does not start, or is not healthy.",
    )


class HealthSection(Section):
    """What to request of an application, to learn whether it works."""

    url: str = Field(
        description="URL to request from the controller. {address} stands for the application's own address."
    )
    status: list[WholeNumber] = Field(default=[200], description="HTTP statuses of a healthy response.")
    timeout: float = Field(default=60.0, description="How long to repeat the request, in seconds.")
    interval: float = Field(default=2.0, description="Longest pause between two requests, in seconds.")
    validate_certs: bool = Field(default=True, description="Whether to verify the certificate of the URL.")


class ApplicationSection(Section):
    """An application made from an image of the account."""

    slug: str | None = optional("Slug, unique across all accounts. If not set, the application's key.")
    host: str | None = optional("Id or label of the node to create it on.")
    dimensions: Size | None = optional("Its size, with all three parts.")
    environment: Variables | None = optional(
        "Its whole environment. Without this and secret_environment, it is left alone."
    )
    secret_environment: Variables | None = optional("Variables whose values are never shown.")
    image: ImageSection | None = optional("What runs. Without it, the application runs what it runs.")
    health_check: HealthSection | None = optional(
        "A request that each run makes at the end, and that fails the run if it fails."
    )
    public: bool | None = optional("Whether it is open to the Internet.")
    command: str | None = optional("Launch command. Empty for the original one.")
    max_monthly: Amount | None = optional("What it may cost a month, in currency units.")


class KeySection(Section):
    """An SSH key of the account, by itself or in a file on the controller."""

    name: str | None = optional("Name of the key. If not set, its key in the blueprint.")
    public_key: str | None = optional("The public key, as in a public-key file.")
    public_key_file: str | None = optional("Path of a public-key file.")
    replace: bool = Field(default=False, description="Whether it takes the place of another key of its name.")


class Defaults(Section):
    """What each entry of a section has that does not say otherwise."""

    services: ServiceSection | None = optional("For each service.")
    applications: ApplicationSection | None = optional("For each application.")


class Blueprint(Section):
    """A whole project in one file."""

    project: str = Field(description="Name of the project. It is created if it does not exist.")
    was: str | None = optional("Former name of the project: one that still has it is renamed.")
    defaults: Defaults | None = optional("What entries have that do not say otherwise.")
    services: dict[str, ServiceSection] = Field(
        default_factory=dict, description="Services by key. References name them by it."
    )
    applications: dict[str, ApplicationSection] = Field(
        default_factory=dict, description="Applications by key. References name them by it."
    )
    ssh_keys: dict[str, str | KeySection] = Field(
        default_factory=dict,
        description="SSH keys of the account by name: the public key itself, or a mapping.",
    )
    backups: dict[str, BackupSection] | None = optional(
        "Plans for backups by name. Without this, those of the project stay."
    )
    sleep: dict[str, SleepSection] | None = optional(
        "Plans for sleep by name. Without this, those of the project stay."
    )
    budget: Any | None = optional("What may be spent in a month: an amount, or account, projects and run.")
