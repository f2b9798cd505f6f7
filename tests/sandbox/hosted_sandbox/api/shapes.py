# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The responses that the specification shows, as models for the OpenAPI document.

Handlers build plain dictionaries; these models describe them, and the tests validate every response.
"""

# The fields are spelled as the API spells them.
# ruff: noqa: N815

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from hosted_sandbox.workloads import State

Family = Literal["GAME", "APP", "COMPUTE", "VIRTUAL_MACHINE", "DEDICATED", "BUCKET"]
Status = Literal["PROVISIONING", "AWAITING_ADMIN", "ACTIVE", "SUSPENDED", "DELETING", "DELETED", "FAILED"]
BackupStatus = Literal["PENDING", "COMPLETED", "FAILED", "RESTORING"]
Verdict = Literal["PENDING", "PASSED", "WARNED", "BLOCKED", "FAILED"]
T = TypeVar("T")


class Shape(BaseModel):
    """The base of all responses; further fields are allowed."""

    model_config = ConfigDict(extra="allow")


class Error(Shape):
    """Every error."""

    statusCode: int
    message: str


class Named(Shape):
    """What goes by an id and a name."""

    id: str
    name: str


class Items(Shape, Generic[T]):
    """A list in an object."""

    items: list[T]


class Dimensions(Shape):
    """A size: vCPUs, GB of memory, GB of disk."""

    cpuCores: int
    ramGb: int
    storageGb: int


class ProductRef(Shape):
    """The product that was ordered."""

    slug: str
    name: str
    shortName: str


class Runtime(Named):
    """The edition of a product."""

    slug: str


class Host(Shape):
    """Where a service runs."""

    id: str
    label: str
    locationLabel: str


class AnyService(Named):
    """What both forms of a service have."""

    family: Family
    status: Status
    address: str | None
    product: ProductRef
    runtime: Runtime | None
    host: Host
    dimensions: Dimensions


class ServiceItem(AnyService):
    """A service, list form."""

    canPower: bool
    monthlyMillicents: int
    hourlyLabel: str
    isFree: bool
    createdAt: str


class Pricing(Shape):
    """What a service costs."""

    monthlyMillicents: int
    storageMonthlyMillicents: int
    billedMonthlyMillicents: int
    monthlyCents: int
    minBalanceCents: int
    hourlyLabel: str
    isFree: bool
    freeExpiresAt: str | None


class Dates(Shape):
    """The dates of a service."""

    createdAt: str
    suspendedAt: str | None
    deletedAt: str | None


class Service(AnyService):
    """A service, full form."""

    projectId: str
    maintenance: Any
    pricing: Pricing
    dates: Dates
    failureReason: str | None
    panelUrl: str | None
    capabilities: list[str]


class Metrics(Shape):
    """Live metrics of a service."""

    state: State
    cpuAllocationPercent: float
    ramBytes: int
    storageBytes: int
    uptimeSeconds: int
    netRxBytes: int
    netTxBytes: int


class Source(Shape):
    """The image or product behind a service."""

    kind: Literal["image", "runtime"]
    reference: str
    digest: str
    tag: str
    releasedAt: str
    origin: str


class Network(Shape):
    """The addresses of a service."""

    alias: str
    project: str
    internalPort: int
    publicIp: str | None
    publicPort: int | None
    isPublic: bool
    editable: bool


class Scale(Dimensions):
    """The size of a service, its bounds and its price."""

    cpuMin: int
    cpuMax: int
    ramMinGb: int
    ramMaxGb: int
    storageMinGb: int
    storageMaxGb: int
    cpuMillicentsPerMonth: int
    ramMillicentsPerGbMonth: int
    storageMillicentsPerGbMonth: int
    optionsMillicents: int
    monthlyMillicents: int
    editable: bool
    lockedReason: str | None


class Command(Shape):
    """The command of a container."""

    command: str
    defaultCommand: str | None
    editable: bool


class Settings(Shape):
    """The settings of a service."""

    source: Source
    network: Network
    scale: Scale
    deploy: Command
    deletable: bool


class Account(Shape):
    """The account of a token."""

    email: str


class AppItem(Named):
    """An application; its image fields are empty before the first deploy."""

    slug: str
    status: Status
    address: str
    imageRef: str
    platform: str
    releasedAt: str | None
    scanStatus: str


class AppQuote(Shape):
    """The price of an application."""

    hostId: str
    hostLabel: str
    dimensions: Dimensions
    monthlyMillicents: int


class Credentials(Shape):
    """Return the credentials for the account's part of the registry."""

    host: str
    project: str
    username: str
    secret: str


class Warned(Shape):
    """A flaw."""

    id: str
    package: str
    version: str
    fixVersion: str
    severity: str


class Blocking(Warned):
    """A flaw that lets code escape from its container."""

    reason: Literal["isolation", "scope"]


class Counts(Shape):
    """Flaws by severity."""

    Critical: int
    High: int
    Medium: int
    Low: int


class ScanVerdict(Shape):
    """The result of a scan; without flaws while it runs."""

    counts: Counts
    blocking: list[Blocking]
    warnings: list[Warned]
    warningCount: int
    scanner: str


class ScanReport(Shape):
    """The scan of a release."""

    tag: str
    digest: str
    scanStatus: Verdict
    scannedAt: str | None
    scanVerdict: ScanVerdict


class Project(Named):
    """Render a project."""

    createdAt: str
    resourceCount: int


class ProjectDetail(Project):
    """Return a project with its services."""

    resources: list[ServiceItem]


class Day(Shape):
    """The spend of a day, YYYY-MM-DD."""

    date: str
    totalCents: int


class Part(Shape):
    """A part of a service's spend."""

    label: str
    cents: int


class ServiceSpend(Named):
    """What a service cost."""

    family: Family
    productName: str
    detail: str
    totalCents: int
    parts: list[Part]


class Usage(Shape):
    """What a service cost by day."""

    range: int
    totalCents: int
    days: list[Day]


class ProjectSpend(Named, Usage):
    """What a project cost."""

    services: list[ServiceSpend]


class Position(Shape):
    """A place on the canvas."""

    x: float
    y: float


class GraphNode(Named):
    """A service in the graph."""

    family: Family
    alias: str
    subtitle: str
    status: Status
    state: State
    capabilities: list[str]
    diskBytes: int
    position: Position


class Edge(Shape):
    """A reference from one service to another."""

    source: str = Field(alias="from")
    to: str
    through: list[str]


class Graph(Named):
    """The graph of a project."""

    nodes: list[GraphNode]
    edges: list[Edge]


class FileEntry(Shape):
    """A line of a directory."""

    name: str
    size: int
    directory: bool
    symlink: bool
    mime: str
    modeBits: str = Field(pattern=r"^[0-7]+$")
    modifiedAt: str


class Content(Shape):
    """A file's text."""

    content: str


class Backup(Named):
    """Render a backup."""

    status: BackupStatus
    sizeBytes: int
    createdAt: str
    completedAt: str | None


class Snapshot(Named):
    """Render a snapshot."""

    description: str
    parent: str | None
    createdAt: str
    sizeBytes: int


class Lines(Shape):
    """Log lines."""

    lines: list[str]


class Event(Shape):
    """An event of the activity journal."""

    id: str
    type: str
    at: str


class Events(Shape):
    """A page of events."""

    items: list[Event]
    nextCursor: str | None


class BilledTotals(Shape):
    """What a service cost since four moments."""

    hourCents: int
    dayCents: int
    weekCents: int
    monthCents: int


class Overview(Shape):
    """The account's money."""

    balanceCents: int
    monthToDateCents: int
    projectedMonthCents: int
    dailyAvgCents: int
    daysLeftEstimate: int
    currentHourlyBurnCents: float
    currentDailyBurnCents: float


class Wallet(Shape):
    """The balance."""

    balanceCents: int
    currency: str
    becameClientAt: str


class QuoteLine(Shape):
    """A line of a quote."""

    label: str
    detail: str
    monthlyCents: int


class Quote(Shape):
    """The price of an order."""

    productSlug: str
    dimensions: Dimensions
    lines: list[QuoteLine]
    monthlyMillicents: int
    monthlyCents: int
    hourlyLabel: str
    minBalanceCents: int
    balanceCents: int
    daysCovered: int
    coversFirstDay: bool


class Secret(Shape):
    """A secret generated at creation."""

    label: str
    value: str


class Ordered(Shape):
    """An accepted order."""

    instanceId: str
    productSlug: str
    name: str
    status: Status
    monthlyMillicents: int
    href: str
    secrets: list[Secret]


class Key(Named):
    """Render an SSH key."""

    algorithm: str
    label: str
    fingerprint: str
    createdAt: str
    lastUsedAt: str | None


class Sftp(Shape):
    """Where a service's files are."""

    host: str
    port: int
    username: str
    passwordSetAt: str | None


class Password(Shape):
    """A new SFTP password."""

    host: str
    port: int
    username: str
    password: str


class Connection(Shape):
    """How to open a database."""

    engine: str
    host: str
    port: int
    user: str
    password: str
    database: str
    url: str


class Table(Shape):
    """A table."""

    schema_: str = Field(alias="schema")
    name: str
    rows: int
    bytes: int


class Inventory(Shape):
    """What a database holds."""

    engine: str
    supported: bool
    database: str
    version: str
    tables: list[Table]


class Column(Shape):
    """A column."""

    name: str
    type: str


class Rows(Shape):
    """Rows, or the result of a statement."""

    columns: list[Column]
    rows: list[list[str | None]]
    rowCount: int
    truncated: bool
    elapsedMs: int
    command: str
