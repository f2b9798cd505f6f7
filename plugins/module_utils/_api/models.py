# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes that the specification shows, one class each.

Fields that the collection cannot work without are required; all others may be missing or null. Fields
that the specification does not name are kept. Enumerations are plain strings, so that a value of tomorrow
does not fail today. Timestamps stay the strings they came as.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from .libraries import BaseModel, ConfigDict, to_camel, to_snake


def alias(name: str) -> str:
    """Return the platform's name of a field. A closing underscore keeps ours off a word of Python's."""
    return str(to_camel(name.rstrip("_")))


class Model(BaseModel):
    """A JSON object of the platform: camelCase there, snake_case here."""

    model_config = ConfigDict(
        alias_generator=alias, populate_by_name=True, extra="allow", coerce_numbers_to_str=True
    )

    def as_dict(self) -> dict[str, Any]:
        """Return the object with snake_case keys, unknown fields included, ready for JSON."""
        known = type(self).model_fields
        return {name.rstrip("_") if name in known else to_snake(name): plain(value) for name, value in self}


class LateModel(Model):
    """An object that few tasks meet. It is made ready at first use, so that start-up need not wait for it."""

    model_config = ConfigDict(defer_build=True)


def plain(value: Any) -> Any:
    """Turn models inside ``value`` into dictionaries, and exact numbers into strings."""
    if isinstance(value, Model):
        return value.as_dict()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Decimal) else value


# --- Services ---------------------------------------------------------------------------------------


class Dimensions(Model):
    """A size: vCPU count, memory and disk in GB."""

    cpu_cores: int | None = None
    ram_gb: int | None = None
    storage_gb: int | None = None


class Product(Model):
    """What was ordered."""

    slug: str | None = None
    name: str | None = None
    short_name: str | None = None


class Runtime(Model):
    """The edition of a product."""

    id: str | None = None
    slug: str | None = None
    name: str | None = None


class Host(Model):
    """The node that carries a service."""

    id: str | None = None
    label: str | None = None
    location_label: str | None = None


class ServiceSummary(Model):
    """A service as lists show it."""

    id: str
    name: str
    family: str
    status: str
    can_power: bool | None = None
    address: str | None = None
    product: Product | None = None
    runtime: Runtime | None = None
    host: Host | None = None
    dimensions: Dimensions | None = None
    monthly_millicents: int | None = None
    hourly_label: str | None = None
    is_free: bool | None = None
    created_at: str | None = None


class Pricing(Model):
    """What a service costs: millicents a month, and cents where the name says so."""

    monthly_millicents: int | None = None
    storage_monthly_millicents: int | None = None
    billed_monthly_millicents: int | None = None
    monthly_cents: int | None = None
    min_balance_cents: int | None = None
    hourly_label: str | None = None
    is_free: bool | None = None
    free_expires_at: str | None = None


class Dates(Model):
    """The life of a service."""

    created_at: str | None = None
    suspended_at: str | None = None
    deleted_at: str | None = None


class Service(Model):
    """A service in full. What ``maintenance`` and ``panel_url`` hold is not shown."""

    id: str
    name: str
    family: str
    status: str
    project_id: str | None = None
    product: Product | None = None
    runtime: Runtime | None = None
    host: Host | None = None
    dimensions: Dimensions | None = None
    maintenance: Any = None
    pricing: Pricing | None = None
    dates: Dates | None = None
    failure_reason: str | None = None
    panel_url: str | None = None
    address: str | None = None
    capabilities: list[str] | None = None


class Metrics(Model):
    """The container at this second. A service whose node cannot be reached has none at all."""

    state: str | None = None
    cpu_allocation_percent: float | None = None
    ram_bytes: int | None = None
    storage_bytes: int | None = None
    uptime_seconds: int | None = None
    net_rx_bytes: int | None = None
    net_tx_bytes: int | None = None


class Source(Model):
    """Where the running software comes from."""

    kind: str | None = None
    reference: str | None = None
    digest: str | None = None
    tag: str | None = None
    released_at: str | None = None
    origin: str | None = None


class Network(Model):
    """How a service is reached."""

    alias: str | None = None
    project: str | None = None
    internal_port: int | None = None
    public_ip: str | None = None
    public_port: int | None = None
    is_public: bool | None = None
    editable: bool | None = None


class Scale(Model):
    """The size of a service, the bounds of its node and the node's rates in millicents a month."""

    cpu_cores: int | None = None
    ram_gb: int | None = None
    storage_gb: int | None = None
    cpu_min: int | None = None
    cpu_max: int | None = None
    ram_min_gb: int | None = None
    ram_max_gb: int | None = None
    storage_min_gb: int | None = None
    storage_max_gb: int | None = None
    cpu_millicents_per_month: int | None = None
    ram_millicents_per_gb_month: int | None = None
    storage_millicents_per_gb_month: int | None = None
    options_millicents: int | None = None
    monthly_millicents: int | None = None
    editable: bool | None = None
    locked_reason: str | None = None


class Deploy(Model):
    """The command that a container is launched with."""

    command: str | None = None
    default_command: str | None = None
    editable: bool | None = None


class Settings(Model):
    """What can be changed on a game server or an application."""

    source: Source | None = None
    network: Network | None = None
    scale: Scale | None = None
    deploy: Deploy | None = None
    deletable: bool | None = None


class FileEntry(Model):
    """An entry of a directory. Size in bytes, mode as octal digits."""

    name: str
    size: int | None = None
    directory: bool | None = None
    symlink: bool | None = None
    mime: str | None = None
    mode_bits: str | None = None
    modified_at: str | None = None


class FileContents(LateModel):
    """The text of a file of at most 2 MB."""

    content: str


class Backup(Model):
    """A copy of a service's data, kept with the service."""

    id: str
    name: str
    status: str
    size_bytes: int | None = None
    created_at: str | None = None
    completed_at: str | None = None


class Snapshot(Model):
    """A point that a service can be rolled back to. Addressed by name."""

    id: str | None = None
    name: str
    description: str | None = None
    parent: str | None = None
    created_at: str | None = None
    size_bytes: int | None = None


class LogLines(LateModel):
    """The last lines of a service's log."""

    lines: list[str]


class Event(Model):
    """A fact of a service's life."""

    id: str
    type: str | None = None
    at: str | None = None


class DaySpend(LateModel):
    """What a day cost, in cents."""

    date: str | None = None
    total_cents: int | None = None


class Usage(LateModel):
    """What a service cost over a window of ``range`` days."""

    range: int | None = None
    total_cents: int | None = None
    days: list[DaySpend] | None = None


class BilledTotals(LateModel):
    """What a service cost since four moments, in cents."""

    hour_cents: int | None = None
    day_cents: int | None = None
    week_cents: int | None = None
    month_cents: int | None = None


class SftpAccess(Model):
    """Where and as whom a service's files are reached over SFTP."""

    host: str
    port: int
    username: str
    password_set_at: str | None = None


class SftpPassword(Model):
    """A new SFTP password, shown this once."""

    host: str
    port: int
    username: str
    password: str


# --- Databases --------------------------------------------------------------------------------------


class DatabaseConnection(LateModel):
    """How neighbours in the project reach a database."""

    engine: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: str | None = None
    database: str | None = None
    url: str | None = None


class DatabaseTable(LateModel):
    """A table; ``rows`` is an estimate of the engine."""

    schema_: str | None = None
    name: str | None = None
    rows: int | None = None
    bytes: int | None = None


class DatabaseInventory(LateModel):
    """What is in a database."""

    engine: str | None = None
    supported: bool | None = None
    database: str | None = None
    version: str | None = None
    tables: list[DatabaseTable] | None = None


class Column(LateModel):
    """A column of a result."""

    name: str | None = None
    type: str | None = None


class QueryResult(LateModel):
    """The outcome of a statement: every value a string or null."""

    columns: list[Column] | None = None
    rows: list[list[str | None]] | None = None
    row_count: int | None = None
    truncated: bool | None = None
    elapsed_ms: int | None = None
    command: str | None = None


# --- Applications -----------------------------------------------------------------------------------


class Whoami(LateModel):
    """Whose token it is."""

    email: str | None = None


class App(LateModel):
    """An application as the list shows it."""

    id: str
    name: str | None = None
    slug: str
    status: str
    image_ref: str | None = None
    address: str | None = None
    platform: str | None = None
    released_at: str | None = None
    scan_status: str | None = None


class AppQuote(LateModel):
    """The price of an application."""

    host_id: str | None = None
    host_label: str | None = None
    dimensions: Dimensions | None = None
    monthly_millicents: int | None = None


class RegistryCredentials(LateModel):
    """The login of the account's registry space."""

    host: str
    project: str
    username: str
    secret: str


class Flaw(LateModel):
    """A vulnerability that a scan found; ``reason`` is there when it blocks."""

    id: str | None = None
    package: str | None = None
    version: str | None = None
    fix_version: str | None = None
    severity: str | None = None
    reason: str | None = None


class Verdict(LateModel):
    """What a scan concluded."""

    counts: dict[str, int | None] | None = None
    blocking: list[Flaw] | None = None
    warnings: list[Flaw] | None = None
    warning_count: int | None = None
    scanner: str | None = None


class ScanReport(LateModel):
    """The scan of a release."""

    tag: str | None = None
    digest: str | None = None
    scan_status: str
    scanned_at: str | None = None
    scan_verdict: Verdict | None = None


# --- Projects ---------------------------------------------------------------------------------------


class Project(Model):
    """A group of services with a private network."""

    id: str
    name: str
    created_at: str | None = None
    resource_count: int | None = None


class ProjectDetail(Project):
    """A project with its services."""

    resources: list[ServiceSummary]


class SpendPart(LateModel):
    """A part of a service's spend."""

    label: str | None = None
    cents: int | None = None


class ServiceSpend(LateModel):
    """What a service of a project cost."""

    id: str | None = None
    name: str | None = None
    family: str | None = None
    product_name: str | None = None
    detail: str | None = None
    total_cents: int | None = None
    parts: list[SpendPart] | None = None


class ProjectSpend(LateModel):
    """What a project cost over a window of ``range`` days."""

    id: str | None = None
    name: str | None = None
    range: int | None = None
    total_cents: int | None = None
    days: list[DaySpend] | None = None
    services: list[ServiceSpend] | None = None


class Node(LateModel):
    """A service as the graph of a project shows it."""

    id: str
    name: str | None = None
    family: str | None = None
    alias: str | None = None
    subtitle: str | None = None
    status: str | None = None
    state: str | None = None
    capabilities: list[str] | None = None
    disk_bytes: int | None = None
    position: Any = None


class Edge(LateModel):
    """A reference from one service's environment to another service."""

    from_: str | None = None
    to: str | None = None
    through: list[str] | None = None


class ProjectGraph(LateModel):
    """The services of a project and what refers to what."""

    id: str | None = None
    name: str | None = None
    nodes: list[Node] | None = None
    edges: list[Edge] | None = None


# --- Orders and billing -----------------------------------------------------------------------------


class QuoteLine(Model):
    """A line of a quote."""

    label: str | None = None
    detail: str | None = None
    monthly_cents: int | None = None


class Quote(Model):
    """What an order would cost, and whether the balance covers its first day."""

    product_slug: str | None = None
    dimensions: Dimensions | None = None
    lines: list[QuoteLine] | None = None
    monthly_millicents: int | None = None
    monthly_cents: int | None = None
    hourly_label: str | None = None
    min_balance_cents: int | None = None
    balance_cents: int | None = None
    days_covered: int | None = None
    covers_first_day: bool | None = None


class Secret(Model):
    """Something generated at creation and shown this once."""

    label: Any = None
    value: Any = None


class Order(Model):
    """What was ordered. An order that was placed must not fail on its receipt, nor its secrets be lost for
    it: so nothing is required, and what nothing depends on may be of any type."""

    instance_id: str | None = None
    product_slug: Any = None
    name: Any = None
    status: Any = None
    monthly_millicents: Any = None
    href: Any = None
    secrets: list[Secret] | None = None

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Order:
        """Read a receipt. Its secrets are shown this once, so they are kept in whatever form they come."""
        if isinstance(obj, dict) and obj.get("secrets") is not None:
            obj = {**obj, "secrets": listed_secrets(obj["secrets"])}
        return super().model_validate(obj, **options)


def listed_secrets(given: Any) -> list[dict[str, Any]]:
    """Return secrets as a list of objects, each with a label and a value where they can be told apart."""
    if isinstance(given, dict) and not {"label", "value"} & given.keys():
        return [{"label": name, "value": value} for name, value in given.items()]
    items = given if isinstance(given, list) else [given]
    return [item if isinstance(item, dict) else {"label": None, "value": item} for item in items]


class BillingOverview(LateModel):
    """Balance and spend in cents; the two burn rates may be fractions."""

    balance_cents: int | None = None
    month_to_date_cents: int | None = None
    projected_month_cents: int | None = None
    daily_avg_cents: int | None = None
    days_left_estimate: int | None = None
    current_hourly_burn_cents: Decimal | None = None
    current_daily_burn_cents: Decimal | None = None


class Wallet(LateModel):
    """The money on the account."""

    balance_cents: int | None = None
    currency: str | None = None
    became_client_at: str | None = None


# --- Access -----------------------------------------------------------------------------------------


class SshKey(Model):
    """A public key on the account."""

    id: str
    name: str | None = None
    algorithm: str | None = None
    label: str | None = None
    fingerprint: str | None = None
    created_at: str | None = None
    last_used_at: str | None = None
