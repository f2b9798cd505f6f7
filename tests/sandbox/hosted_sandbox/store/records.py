# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The records of the platform. Times are milliseconds since the epoch, money is in millicents or cents.

Every field is JSON: a record is stored as one JSON document. `OWNER` names the field by which records of
a kind are looked up together (the services of an account, the backups of a service); it never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

KINDS: dict[str, type[Record]] = {}
"""Every kind of record by its name in the database; a class is entered when it is defined."""


@dataclass
class Record:
    """The base of all records: an opaque `id`, unique within its kind."""

    OWNER: ClassVar[str] = ""
    id: str

    def __init_subclass__(cls) -> None:
        KINDS[cls.__name__.lower()] = cls


@dataclass
class Meta(Record):
    """One named setting of the sandbox itself, such as its clock."""

    value: dict[str, Any] = field(default_factory=dict)


@dataclass
class Account(Record):
    """A customer. `deposits` minus what the services cost is the balance."""

    email: str = ""
    created_at: int = 0
    deposited_cents: int = 0
    overdrawn_at: int | None = None
    registry_project: str = ""
    registry_username: str = ""
    registry_secret: str = ""


@dataclass
class Token(Record):
    """An API token; its `id` is the secret itself. `scope` is FULL or REGISTRY."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    scope: str = "FULL"


@dataclass
class Node(Record):
    """A hosting machine with its bounds and rates; `ports_left` limits further public ports when set."""

    label: str = ""
    location: str = ""
    platform: str = "linux/amd64"
    ip: str = ""
    families: list[str] = field(default_factory=list)
    bounds: dict[str, list[int]] = field(default_factory=dict)
    rates: dict[str, int] = field(default_factory=dict)
    reachable: bool = True
    first_port: int = 30000
    ports_left: int | None = None


@dataclass
class Product(Record):
    """A product; `id` is its slug, `outcome` the status after creation: ACTIVE, FAILED or AWAITING_ADMIN."""

    name: str = ""
    short_name: str = ""
    family: str = "APP"
    runtimes: list[dict[str, str]] = field(default_factory=list)
    entry: dict[str, int] = field(default_factory=dict)
    presets: list[dict[str, Any]] = field(default_factory=list)
    options: list[dict[str, Any]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    image: str = ""
    command: str | None = None
    internal_port: int = 0
    public: bool = False
    free: bool = False
    engine: str = ""
    outcome: str = "ACTIVE"


@dataclass
class Project(Record):
    """A group of services with a private network."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    name: str = ""
    default: bool = False
    created_at: int = 0


@dataclass
class Service(Record):
    """A hosted workload. `rates` is its price over time, `container` the state of its container.

    `endpoint` is the `host` and `port` of a database that runs outside the sandbox.
    """

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    project_id: str = ""
    node_id: str = ""
    product: str = ""
    name: str = ""
    family: str = "APP"
    status: str = "PROVISIONING"
    alias: str = ""
    slug: str = ""
    runtime: str | None = None
    size: dict[str, int] = field(default_factory=dict)
    options: list[dict[str, str]] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    command: str = ""
    public: bool = False
    port: int | None = None
    image: dict[str, Any] = field(default_factory=dict)
    container: dict[str, Any] = field(default_factory=dict)
    rates: list[dict[str, Any]] = field(default_factory=list)
    free: bool = False
    free_until: int | None = None
    failure: str | None = None
    created_at: int = 0
    suspended_at: int | None = None
    deleted_at: int | None = None
    sftp: dict[str, Any] = field(default_factory=dict)
    sftp_from: int = 0
    secrets: dict[str, str] = field(default_factory=dict)
    start_fails: bool = False
    backup_fails: bool = False
    restore_fails: bool = False
    endpoint: dict[str, Any] = field(default_factory=dict)


@dataclass
class Event(Record):
    """One administrative fact in a service's activity journal."""

    OWNER: ClassVar[str] = "service_id"
    service_id: str = ""
    type: str = ""
    at: int = 0


@dataclass
class Backup(Record):
    """A copy of a service's files; status PENDING, COMPLETED, FAILED or RESTORING."""

    OWNER: ClassVar[str] = "service_id"
    service_id: str = ""
    name: str = ""
    status: str = "PENDING"
    size: int = 0
    created_at: int = 0
    completed_at: int | None = None


@dataclass
class Snapshot(Record):
    """The state of a machine's disk under a name that is unique on the service."""

    OWNER: ClassVar[str] = "service_id"
    service_id: str = ""
    name: str = ""
    parent: str | None = None
    size: int = 0
    created_at: int = 0


@dataclass
class Key(Record):
    """An SSH public key of the account."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    name: str = ""
    algorithm: str = ""
    comment: str = ""
    blob: str = ""
    created_at: int = 0
    used_at: int | None = None


@dataclass
class Release(Record):
    """A tag of an application declared with the digest of the image behind it."""

    OWNER: ClassVar[str] = "service_id"
    service_id: str = ""
    tag: str = ""
    digest: str = ""
    platform: str = "linux/amd64"
    created_at: int = 0


@dataclass
class Scan(Record):
    """The verdict on one image of one repository; its `id` is `repository@digest`.

    `forced` says that the verdict was set from outside, so that no analysis changes it; `lifted` is the
    written reason for which a BLOCKED one does not count.
    """

    status: str = "PENDING"
    scanned_at: int | None = None
    report: dict[str, Any] = field(default_factory=dict)
    forced: bool = False
    lifted: str | None = None


@dataclass
class Entry(Record):
    """A line of the account's money: DEPOSIT or ADJUSTMENT, in cents."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    type: str = "DEPOSIT"
    cents: int = 0
    label: str = ""
    at: int = 0


@dataclass
class Order(Record):
    """An accepted order, kept for the ledger even after its service is gone."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    service_id: str = ""
    product: str = ""
    name: str = ""
    monthly_millicents: int = 0
    at: int = 0


@dataclass
class Notice(Record):
    """Something the owner was told, or the platform noted for itself (an internal trace)."""

    OWNER: ClassVar[str] = "account_id"
    account_id: str = ""
    service_id: str = ""
    kind: str = ""
    text: str = ""
    at: int = 0


@dataclass
class Task(Record):
    """Something that happens by itself at the time `due`; `kind` names a registered action."""

    due: int = 0
    kind: str = ""
    target: str = ""
    args: dict[str, Any] = field(default_factory=dict)
