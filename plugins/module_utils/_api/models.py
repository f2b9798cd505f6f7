# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The models of the API, one class per shape in the specification (Resources and their fields).

Only fields that the collection cannot work without are required; all others may be missing or null. Fields
that the specification does not name are kept. Enums are plain strings, so that new values do not fail.
Timestamps are strings, as received.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, ClassVar

from .libraries import BaseModel, ConfigDict, to_camel, to_snake

LONGEST_KEY = 64
"""The characters of a key that is converted: pydantic takes days for one of a megabyte of capitals."""
PLAIN_TYPES = frozenset({str, int, float, bool, type(None)})
"""The types whose values are in results as they are."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")


def alias(name: str) -> str:
    """Return the JSON name of a field. A trailing underscore avoids a Python keyword or a pydantic name."""
    return str(to_camel(name.rstrip("_")))


class Model(BaseModel):
    """A JSON object of the platform, with its camelCase names in snake_case."""

    model_config = ConfigDict(
        alias_generator=alias, populate_by_name=True, extra="allow", coerce_numbers_to_str=True
    )

    secret_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that hold a secret."""

    def as_dict(self) -> dict[str, Any]:
        """Return the object as JSON-serializable data with snake_case keys, unknown fields included."""
        found = {
            # Nearly all values are plain: a thousand services have tens of thousands of them.
            name.rstrip("_"): value if type(value) in PLAIN_TYPES else plain(value)
            for name, value in vars(self).items()
        }
        for name, value in (self.model_extra or {}).items():
            key = str(to_snake(name)) if len(name) <= LONGEST_KEY else name
            found.setdefault(key, plain(value))  # a field of ours is never replaced
        return found


class LateModel(Model):
    """A model that few tasks use. pydantic builds its validator on first use, which saves start-up time."""

    model_config = ConfigDict(defer_build=True)


def plain(value: Any) -> Any:
    """Convert models inside ``value`` to dictionaries, and decimals to strings."""
    if isinstance(value, Model):
        return value.as_dict()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, Decimal) else value


# --- Services ---------------------------------------------------------------------------------------


class Dimensions(Model):
    """The size of a service: vCPU count, memory and disk in GB (Dimensions)."""

    cpu_cores: int | None = None
    ram_gb: int | None = None
    storage_gb: int | None = None

    def as_size(self, *, as_body: bool = False) -> dict[str, Any]:
        """Return the size alone, in a request's form ``as_body``: what a response adds is never sent back."""
        return self.model_dump(include={"cpu_cores", "ram_gb", "storage_gb"}, by_alias=as_body)


class Product(Model):
    slug: str | None = None
    name: str | None = None
    short_name: str | None = None


class Runtime(Model):
    id: str | None = None
    slug: str | None = None
    name: str | None = None


class Host(Model):
    id: str | None = None
    label: str | None = None
    location_label: str | None = None


class AnyService(Model):
    """What both forms of a service show."""

    id: str
    name: str
    family: str
    status: str
    address: str | None = None
    product: Product | None = None
    runtime: Runtime | None = None
    host: Host | None = None
    dimensions: Dimensions | None = None


class ServiceSummary(AnyService):
    can_power: bool | None = None
    monthly_millicents: int | None = None
    hourly_label: str | None = None
    is_free: bool | None = None
    created_at: str | None = None


class Pricing(Model):
    monthly_millicents: int | None = None
    storage_monthly_millicents: int | None = None
    billed_monthly_millicents: int | None = None
    monthly_cents: int | None = None
    min_balance_cents: int | None = None
    hourly_label: str | None = None
    is_free: bool | None = None
    free_expires_at: str | None = None


class Dates(Model):
    created_at: str | None = None
    suspended_at: str | None = None
    deleted_at: str | None = None


class Service(AnyService):
    """A service in its full form. The content of ``maintenance`` and ``panel_url`` is not shown."""

    project_id: str | None = None
    maintenance: Any = None
    pricing: Pricing | None = None
    dates: Dates | None = None
    failure_reason: str | None = None
    panel_url: str | None = None
    capabilities: list[str] | None = None


class Metrics(Model):
    """The live state of a container (Live metrics). Null for a service whose node cannot be reached."""

    state: str | None = None
    cpu_allocation_percent: float | None = None
    ram_bytes: int | None = None
    storage_bytes: int | None = None
    uptime_seconds: int | None = None
    net_rx_bytes: int | None = None
    net_tx_bytes: int | None = None


class Source(Model):
    kind: str | None = None
    reference: str | None = None
    digest: str | None = None
    tag: str | None = None
    released_at: str | None = None
    origin: str | None = None


class Network(Model):
    alias: str | None = None
    project: str | None = None
    internal_port: int | None = None
    public_ip: str | None = None
    public_port: int | None = None
    is_public: bool | None = None
    editable: bool | None = None


class Scale(Dimensions):
    """With the bounds of the node, and its rates in millicents a month."""

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
    """The command that a container starts with. An empty one stands for the original."""

    command: str | None = None
    default_command: str | None = None
    editable: bool | None = None


class Settings(Model):
    source: Source | None = None
    network: Network | None = None
    scale: Scale | None = None
    deploy: Deploy | None = None
    deletable: bool | None = None


class FileEntry(Model):
    """An entry of a directory: size in bytes, mode as octal digits."""

    name: str
    size: int | None = None
    directory: bool | None = None
    symlink: bool | None = None
    mime: str | None = None
    mode_bits: str | None = None
    modified_at: str | None = None


class FileContents(LateModel):
    content: str


class Backup(Model):
    """A backup of a service. It is deleted with the service."""

    id: str
    name: str
    status: str
    size_bytes: int | None = None
    created_at: str | None = None
    completed_at: str | None = None


class Snapshot(Model):
    """A snapshot that a service can be rolled back to. Routes address it by name."""

    id: str | None = None
    name: str
    description: str | None = None
    parent: str | None = None
    created_at: str | None = None
    size_bytes: int | None = None


class LogLines(LateModel):
    lines: list[str]


class Event(Model):
    id: str
    type: str | None = None
    at: str | None = None


class DaySpend(LateModel):
    date: str | None = None
    total_cents: int | None = None


class Usage(LateModel):
    range: int | None = None
    total_cents: int | None = None
    days: list[DaySpend] | None = None


class BilledTotals(LateModel):
    hour_cents: int | None = None
    day_cents: int | None = None
    week_cents: int | None = None
    month_cents: int | None = None


class SftpAccess(Model):
    host: str
    port: int
    username: str
    password_set_at: str | None = None


class SftpPassword(Model):
    """A new SFTP password. No other response holds it."""

    host: str
    port: int
    username: str
    password: str
    secret_fields: ClassVar[tuple[str, ...]] = ("password",)


# --- Databases --------------------------------------------------------------------------------------


class DatabaseConnection(LateModel):
    engine: str | None = None
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: str | None = None
    database: str | None = None
    url: str | None = None
    secret_fields: ClassVar[tuple[str, ...]] = ("password", "url")


class DatabaseTable(LateModel):
    """A table of a database. ``rows`` is the engine's estimate."""

    schema_: str | None = None
    name: str | None = None
    rows: int | None = None
    bytes: int | None = None


class DatabaseInventory(LateModel):
    engine: str | None = None
    supported: bool | None = None
    database: str | None = None
    version: str | None = None
    tables: list[DatabaseTable] | None = None


class Column(LateModel):
    name: str | None = None
    type: str | None = None


class QueryResult(LateModel):
    """The result of a statement. Every value is a string or null."""

    columns: list[Column] | None = None
    rows: list[list[str | None]] | None = None
    row_count: int | None = None
    truncated: bool | None = None
    elapsed_ms: int | None = None
    command: str | None = None


# --- Applications -----------------------------------------------------------------------------------


class Whoami(LateModel):
    email: str | None = None


class App(LateModel):
    id: str
    name: str | None = None
    slug: str
    status: str
    image_ref: str | None = None
    address: str | None = None
    platform: str | None = None
    released_at: str | None = None
    scan_status: str | None = None

    @property
    def digest(self) -> str | None:
        """The digest of the image in service; ``None`` before the first deploy."""
        digest = (self.image_ref or "").rpartition("@")[2]
        return digest if DIGEST.fullmatch(digest) else None

    def as_dict(self) -> dict[str, Any]:
        """Return the application for results: with its digest, and null for fields without a value."""
        found = super().as_dict()
        for name in ("image_ref", "platform", "released_at", "scan_status"):
            found[name] = found[name] or None
        return {**found, "digest": self.digest}


class Release(LateModel):
    """A declared release: a tag, and the image that it names now."""

    tag: str
    digest: str
    created_at: str | None = None


class AppNode(LateModel):
    id: str
    label: str | None = None


class AppProject(LateModel):
    id: str
    name: str | None = None


class AppQuote(LateModel):
    host_id: str | None = None
    host_label: str | None = None
    dimensions: Dimensions | None = None
    monthly_millicents: int | None = None


class RegistryCredentials(LateModel):
    host: str
    project: str
    username: str
    secret: str
    secret_fields: ClassVar[tuple[str, ...]] = ("secret",)


class Flaw(LateModel):
    """A vulnerability found by a scan. One that blocks a release has a ``reason``."""

    id: str | None = None
    package: str | None = None
    version: str | None = None
    fix_version: str | None = None
    severity: str | None = None
    reason: str | None = None


class Verdict(LateModel):
    counts: dict[str, int | None] | None = None
    blocking: list[Flaw] | None = None
    warnings: list[Flaw] | None = None
    warning_count: int | None = None
    scanner: str | None = None


class ScanReport(LateModel):
    tag: str | None = None
    digest: str | None = None
    scan_status: str
    scanned_at: str | None = None
    scan_verdict: Verdict | None = None


# --- Projects ---------------------------------------------------------------------------------------


class Project(Model):
    id: str
    name: str
    created_at: str | None = None
    resource_count: int | None = None


class ProjectDetail(Project):
    resources: list[ServiceSummary]


class SpendPart(LateModel):
    label: str | None = None
    cents: int | None = None


class ServiceSpend(LateModel):
    id: str | None = None
    name: str | None = None
    family: str | None = None
    product_name: str | None = None
    detail: str | None = None
    total_cents: int | None = None
    parts: list[SpendPart] | None = None


class ProjectSpend(LateModel):
    id: str | None = None
    name: str | None = None
    range: int | None = None
    total_cents: int | None = None
    days: list[DaySpend] | None = None
    services: list[ServiceSpend] | None = None


class Node(LateModel):
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
    """A reference to service ``to`` in the environment of service ``from_``, by variables ``through``."""

    from_: str | None = None
    to: str | None = None
    through: list[str] | None = None


class ProjectGraph(LateModel):
    id: str | None = None
    name: str | None = None
    nodes: list[Node] | None = None
    edges: list[Edge] | None = None


# --- Orders and billing -----------------------------------------------------------------------------


class QuoteLine(Model):
    label: str | None = None
    detail: str | None = None
    monthly_cents: int | None = None


class Quote(Model):
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
    """A secret generated at creation. No other response holds it."""

    label: Any = None
    value: Any = None


class Order(Model):
    """The receipt of an order.

    By the time it arrives, the order is placed, and its secrets are not shown again. So fields that nothing
    depends on have any type.
    """

    instance_id: str
    product_slug: Any = None
    name: Any = None
    status: Any = None
    monthly_millicents: Any = None
    href: Any = None
    secrets: list[Secret] | None = None
    secret_fields: ClassVar[tuple[str, ...]] = ("secrets",)


class BillingOverview(LateModel):
    """The balance, spend and forecast of the account in cents. The two burn rates may be fractions."""

    balance_cents: int | None = None
    month_to_date_cents: int | None = None
    projected_month_cents: int | None = None
    daily_avg_cents: int | None = None
    days_left_estimate: int | None = None
    current_hourly_burn_cents: Decimal | None = None
    current_daily_burn_cents: Decimal | None = None


class Wallet(LateModel):
    balance_cents: int | None = None
    currency: str | None = None
    became_client_at: str | None = None


# --- Access -----------------------------------------------------------------------------------------


class SshKey(Model):
    id: str
    name: str | None = None
    algorithm: str | None = None
    label: str | None = None
    fingerprint: str | None = None
    created_at: str | None = None
    last_used_at: str | None = None
