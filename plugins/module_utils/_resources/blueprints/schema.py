# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The form of a blueprint: its sections, their keys and what their values are. Editors get it as a schema."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from ..._api.errors import HostedError
from ..._api.libraries import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from ..applications.lookup import check_digest, check_name, check_tag
from ..applications.rollout import HealthCheck
from ..shared.budget import read_budget
from ..shared.money import read_amount
from ..shared.names import check_selector
from ..shared.options import check_max_parallel
from ..shared.retention import read_policy, read_span
from ..shared.time_zones import zone_named
from ..sleeping.schedule import days_of_exception, read_hours

ENTRY_KEY = re.compile(r"[a-z0-9][a-z0-9-]*")
"""Keys have the form of aliases, so that references can name them."""
TIME_OF_DAY = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


class Section(BaseModel):
    """A part of a blueprint. Other keys than its own are refused, and so are those without a value."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def key(description: str, default: Any = None, **more: Any) -> Any:
    """Return a key that need not be written, as editors explain it."""
    return Field(default=default, description=description, **more)


def keys_at(path: tuple[Any, ...]) -> list[str]:
    """Return the keys that there are at a path of a blueprint; none where there is no section."""
    whole = Blueprint.model_json_schema()
    places = [whole]
    for key in path:
        places = [part for place in places for part in parts_below(whole, place, key)]
    return [name for place in places for name in place.get("properties", ())]


def parts_below(whole: Any, place: Any, key: Any) -> Iterator[Any]:
    below = place.get("properties", {}).get(key) or place.get("additionalProperties") or place.get("items")
    below = below or {}
    for each in below.get("anyOf") or below.get("allOf") or [below]:
        yield whole["$defs"][each["$ref"].rpartition("/")[2]] if "$ref" in each else each


# --- What a value has to be ---------------------------------------------------------------------------


def checked(check: Callable[..., object], *, named: bool = False) -> Any:
    """Refuse a value that a check refuses. If ``named``, that is told the name of the key as well."""

    def validate(value: Any, info: Any) -> Any:
        try:
            check(*([value, info.field_name] if named else [value]))
        except HostedError as error:
            raise ValueError(error.message) from None
        return value

    return AfterValidator(validate)


def refuse_truth_values(value: Any) -> Any:
    """Refuse what YAML makes of words such as ``yes``: pydantic takes a truth value for a number."""
    if isinstance(value, bool):
        raise ValueError(f"it is {str(value).lower()}, a truth value; it must be a number")
    return value


def as_amount(value: Any) -> Any:
    return str(refuse_truth_values(value)) if isinstance(value, (bool, int, float)) else value


def check_entry_key(value: str) -> None:
    if not ENTRY_KEY.fullmatch(value):
        raise ValueError(
            f"the key {value!r} must be of lowercase letters, digits and hyphens, as references name it; for "
            "any other name, write name below it"
        )


def check_filled(value: Any) -> None:
    if not (value.strip() if isinstance(value, str) else value):
        raise ValueError("it is empty; give it a value, or leave it out")


def check_count(value: float) -> None:
    if not 0 <= value < float("inf"):
        raise ValueError(f"it is {value}; it must be 0 or more")


def check_time(value: str) -> None:
    if not TIME_OF_DAY.fullmatch(value):
        raise ValueError(f"it is {value!r}; write a time from 00:00 to 23:59, such as 02:00")


def check_absolute(value: str) -> None:
    if not os.path.isabs(value):
        raise ValueError("it must be an absolute path on the machine of the runs")


def check_policy(keep: Section) -> None:
    """Check that a plan keeps something, in the words of a blueprint."""
    rules = {f"keep_{rule}": count for rule, count in keep.model_dump(exclude_unset=True).items()}
    try:
        read_policy(rules, "plan-*", zone_named("UTC"))
    except HostedError as error:
        raise ValueError(error.message.replace("keep_", "")) from None


def check_hours(window: HoursSection) -> None:
    read_hours(window.begins or "00:00", window.ends or "24:00")


def check_image(image: ImageSection) -> None:
    given = image.model_fields_set
    if {"archive", "digest"} <= given:
        raise ValueError("both archive and digest say which image it is; remove one")
    if given & {"name", "platform"} and "archive" not in given:
        raise ValueError("name and platform choose an image of an archive, and there is none")


WholeNumber = Annotated[int, BeforeValidator(refuse_truth_values)]
Count = Annotated[WholeNumber, checked(check_count)]
Amount = Annotated[
    str,
    BeforeValidator(as_amount),
    checked(read_amount, named=True),
    WithJsonSchema({"type": ["string", "number"]}),
]
Budget = Annotated[Any, checked(lambda value: read_budget(value, "budget"))]
Name = Annotated[str, checked(lambda value, name: check_selector(name, value), named=True)]
"""What identifies something, or chooses it."""
EntryKey = Annotated[str, checked(check_entry_key)]
Text = Annotated[str, checked(check_filled)]
"""What a plan says: to its role, an empty one would be the same as none."""
Keys = Annotated[list[Text], checked(check_filled)]
Span = Annotated[Text, checked(read_span)]
Zone = Annotated[Text, checked(zone_named)]
Parallel = Annotated[WholeNumber, checked(check_max_parallel)]
Day = Annotated[str, WithJsonSchema({"type": "string", "format": "date"})]
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
State = Literal["present", "started", "stopped", "suspended", "resumed"]
Verdict = Literal["blocked", "warned", "failed", "critical", "high", "medium", "low"]
Variables = dict[Annotated[str, checked(check_name)], str]
"""Variables of an environment. A value may refer to a neighbor: ``${key.FIELD}``."""


# --- Plans for backups and sleep --------------------------------------------------------------------


class KeepSection(Section):
    """Which backups a plan keeps. At least one rule keeps something."""

    last: Count = key("So many of the newest.")
    hourly: Count = key("The newest of so many hours.")
    daily: Count = key("The newest of so many days.")
    weekly: Count = key("The newest of so many weeks.")
    monthly: Count = key("The newest of so many months.")
    yearly: Count = key("The newest of so many years.")
    within: Span = key("All that are younger than this, such as 14d.")
    failed: Count = key("So many of the newest failed ones.")
    time_zone: Zone = key("Time zone in which days begin.")
    max_delete: Count = key("Maximum number of deletions of a run for each service.")


class OffsiteSection(Section):
    """Where a plan copies each service after its backup."""

    dest: Annotated[str, checked(check_absolute)] = Field(description="Folder for the copies, from the root.")
    create: bool = key("Whether a run creates the folder.")
    private_key_file: Text = key("Key that opens SFTP.")
    known_hosts: Text = key("Where the host keys are known.")
    exclude: Keys = key("What is left out.")
    databases: Literal["dump", "skip"] = key("Whether databases are dumped.")


class PlanSection(Section):
    """What plans of both kinds have."""

    name: Text = key("Name of the plan. If not set, its key.")
    services: Keys = key("Keys of services and applications. If not set, all services of the project.")
    allow_empty: bool = key("Whether the plan may select no service.")
    max_parallel: Parallel = key("Maximum number of services to work on in parallel.")
    wait_timeout: Annotated[float, checked(check_count)] = key("Seconds to wait for a service.")


class BackupSection(PlanSection):
    """A plan for backups, as role backups takes it. Hooks belong to the role alone."""

    may_skip: Keys = key("Keys of services that may offer no backups.")
    every: Literal["hourly", "daily", "weekly", "monthly"] = key("How often to run. Daily if not set.")
    at: Annotated[str, checked(check_time)] = key("Time of day on the machine. 04:00 if not set.")
    keep: Annotated[KeepSection, checked(check_policy)] = Field(description="Which backups to keep.")
    max_age: Span = key("Age from which the newest backup is a warning.")
    critical_age: Span = key("Age from which it is critical.")
    offsite: OffsiteSection = key("Where to copy what is backed up.")


class HoursSection(Section):
    """A window of a day."""

    begins: Text = key("When it begins. 00:00 if not set.", alias="from")
    ends: Text = key("When it ends. 24:00 if not set.", alias="to")


class WindowSection(HoursSection):
    """A window of some weekdays."""

    days: Annotated[list[Weekday], checked(check_filled)] = key("When it begins. If not set, each day.")


class ExceptionSection(Section):
    """Days with windows of their own."""

    date: Day = Field(description="The day, such as 2026-12-24.")
    until: Day = key("The last day, if there are several.")
    awake: list[Annotated[HoursSection, checked(check_hours)]] = Field(
        description="When services are awake. Empty: they sleep."
    )


class BusySection(Section):
    """When a service is busy, so that it is not suspended yet."""

    cpu_percent: float = key("Busy above this share of its processors.")
    traffic_kib_per_second: float = key("Busy above this traffic.")
    minutes: WholeNumber = key("For how many minutes back to look.")
    at_most: WholeNumber = key("For how many minutes at most it delays a suspension.")


Window = Annotated[WindowSection, checked(check_hours)]
Exceptional = Annotated[ExceptionSection, checked(lambda each: days_of_exception(each.date, each.until))]


class SleepSection(PlanSection):
    """A plan for sleep, as role sleep_schedule takes it."""

    awake: list[Window] = key("When services are awake. Empty: they stay asleep.")
    exceptions: list[Exceptional] = key("Days with windows of their own.")
    calendar: Text = key("Path of an iCalendar file on the controller.")
    events: Literal["asleep", "awake"] = key("How services are during its events. Asleep if not set.")
    time_zone: Zone = key("Time zone of the plan. UTC if not set.")
    resume: bool = key("Whether services are resumed. True if not set.")
    start_after: dict[str, Keys] = key("By key, the keys of the services that a service needs.")
    not_while_busy: BusySection = key("Do not suspend a service that is busy.")
    budget: Budget = key("What may be spent in a month.")
    max_monthly: Amount = key("Do not resume a service that costs more a month.")
    forecast_days: WholeNumber = key("Over how many days to forecast what the plan saves.")


# --- The whole --------------------------------------------------------------------------------------


class Size(Section):
    """A size. For something that exists, a part that is left out stays as it is."""

    cpu_cores: WholeNumber = key("Number of vCPUs.")
    ram_gb: WholeNumber = key("Memory in GB.")
    storage_gb: WholeNumber = key("Disk in GB. It cannot shrink.")


class Choice(Section):
    """What is chosen for an option of a product."""

    option: str = Field(description="Id of the option.")
    choice: str = Field(description="Id of the choice.")


class ServiceSection(Section):
    """A service: what is ordered if it does not exist, and how it is to be."""

    name: Name = key("Name of the service. If not set, its key.")
    id: Name = key("Id of the service, if its name alone is not clear.")
    allow_duplicate_name: bool = key("Whether to order it though one of its name left this project.", False)
    product: Name = key("Slug of the product, for the order.")
    runtime: Name = key("Id of the edition, for the order.")
    host: Name = key("Id or label of the node to order it on.")
    dimensions: Size = key("Its size.")
    preset: Name = key("Id of a ready-made size, in place of dimensions.")
    variables: dict[str, Any] = key("Settings entered at the order.")
    options: list[Choice] = key("Options of the product, for the order.")
    public: bool = key("Whether it is open to the Internet.")
    command: str = key("Launch command. Empty for the original one.")
    state: State = key("Whether it runs. present leaves that alone.", "present")
    resume: bool = key("Whether a suspended service may be resumed.", True)
    max_monthly: Amount = key("What it may cost a month, in currency units.")


class ImageSection(Section):
    """An image: an archive to push, the digest of one that was pushed, or a tag that is declared."""

    tag: Annotated[str, checked(check_tag)] = Field(description="Tag of the release.")
    archive: Name = key("Path of an OCI archive or layout to push, as builders write it.")
    name: Name = key("Name of the image, if the archive holds several.")
    platform: Name = key("Platform of the image, such as linux/amd64.")
    digest: Annotated[str, checked(check_digest)] = key("Digest of an image that was pushed.")
    fail_on: list[Verdict] = key("Verdicts and severities of the scan that stop the deploy.")
    rollback: bool = key("Whether the last good release comes back if this one fails.", False)


class HealthSection(Section):
    """What to request of an application, to learn whether it works."""

    url: str = Field(description="URL that the controller requests. {address} is the application's own.")
    status: list[WholeNumber] = key("HTTP statuses of a healthy response.", [200])
    timeout: float = key("How long to repeat the request, in seconds.", 60.0)
    interval: float = key("Longest pause between two requests, in seconds.", 2.0)
    validate_certs: bool = key("Whether to verify the certificate of the URL.", True)


Health = Annotated[HealthSection, checked(lambda each: HealthCheck(**each.model_dump()).check())]


class ApplicationSection(Section):
    """An application made from an image of the account."""

    slug: Name = key("Slug, unique across all accounts. If not set, the application's key.")
    host: Name = key("Id or label of the node to create it on.")
    dimensions: Size = key("Its size, with all three parts.")
    environment: Variables = key("Its whole environment. Without it and secret_environment, it stays.")
    secret_environment: Variables = key("Variables whose values are never shown.")
    image: Annotated[ImageSection, checked(check_image)] = key("What runs. Without it, what runs stays.")
    health_check: Health = key("A request at the end of each run, which fails if that does.")
    public: bool = key("Whether it is open to the Internet.")
    command: str = key("Launch command. Empty for the original one.")
    max_monthly: Amount = key("What it may cost a month, in currency units.")


class KeySection(Section):
    """An SSH key of the account, by itself or in a file on the controller."""

    name: Name = key("Name of the key. If not set, its key in the blueprint.")
    public_key: str = key("The public key, as in a public-key file.")
    public_key_file: Name = key("Path of a public-key file.")
    replace: bool = key("Whether it takes the place of another key of its name.", False)


class Defaults(Section):
    """What each entry of a section has that does not say otherwise."""

    services: ServiceSection = key("For each service.")
    applications: ApplicationSection = key("For each application.")


class Blueprint(Section):
    """A whole project in one file."""

    project: Name = Field(description="Name of the project. It is created if it does not exist.")
    was: Name = key("Former name of the project: one that still has it is renamed.")
    defaults: Defaults = key("What entries have that do not say otherwise.")
    services: dict[EntryKey, ServiceSection] = key("Services by key. References name them by it.", {})
    applications: dict[EntryKey, ApplicationSection] = key(
        "Applications by key, as references name them.", {}
    )
    ssh_keys: dict[str, str | KeySection] = key("SSH keys by name: the key itself, or a mapping.", {})
    backups: dict[str, BackupSection] = key("Plans for backups by name. Without this, the project's stay.")
    sleep: dict[str, SleepSection] = key("Plans for sleep by name. Without this, the project's stay.")
    budget: Budget = key("What may be spent in a month: an amount, or account, projects and run.")
