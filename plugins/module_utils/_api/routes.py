# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes of the platform (Endpoints).

Each line holds the method, the path, the required token scope, whether the call can be retried, and the
shape of the response. The client, the retry policy, the coverage table and the sandbox's contract test read
it. No other file of the collection contains a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote, unquote, urlencode

from . import models as m
from .errors import ConfigurationError


class Scope(Enum):
    """The token scope that a route needs (Authentication). FULL opens what none is shown for."""

    FULL = "FULL"
    REGISTRY = "REGISTRY or FULL"


class Idempotency(Enum):
    """What to do if the outcome of a call is unknown. A call that was not sent is always retried."""

    READ = ("changes nothing: retry", True)
    IDEMPOTENT = ("repeating it has no further effect: retry", True)
    CREATE = ("a retry may create a duplicate: read the list and compare first", False)
    ACT = ("starts an action: read the state and decide", False)
    LAST_WINS = ("retry; the newest response replaces earlier ones", True)
    NEVER = ("its effect cannot be observed: never retry", False)

    def __init__(self, meaning: str, resendable: bool) -> None:
        self.meaning, self.resendable = meaning, resendable


M = TypeVar("M", bound=m.Model)


@dataclass(frozen=True)
class Shown(Generic[M]):
    """A response that the specification shows, of one model."""

    model: type[M]


class One(Shown[M]):
    """A response that is an object."""


class Many(Shown[M]):
    """A response that lists items: a bare array, or an object with ``items`` and optional ``nextCursor``."""


class Keyed(Shown[M]):
    """A response that is an object of items by key. An item may be null."""


@dataclass(frozen=True)
class Undocumented:
    """A response that the specification does not show. The collection does not depend on it."""


@dataclass(frozen=True)
class Entries(Many[M], Undocumented):
    """A list whose entries the specification does not show."""


A_co = TypeVar("A_co", covariant=True)


@dataclass(frozen=True)
class Route(Generic[A_co]):
    """A route. ``min_timeout`` is how long the platform may legitimately take to respond, in seconds.

    A call on a route that ``commits`` may raise what the account, or a project, costs a month.
    """

    method: str
    path: str
    scope: Scope
    idempotency: Idempotency
    answer: A_co
    min_timeout: float = 0
    commits: bool = False

    def url(self, ids: dict[str, Any], query: dict[str, Any] | None = None) -> str:
        """Return the path with ``ids`` in its placeholders, and the query without what is null."""
        found = {name: quote(str(value), safe="", errors="ignore") for name, value in ids.items()}
        for name, part in found.items():
            if part in ("", ".", "..") or unquote(part) != str(ids[name]):  # as with a lone surrogate
                raise ConfigurationError(f"{self}: {name} {str(ids[name])!r} cannot be part of an address")
        path = self.path.format(**found)
        given = {name: value for name, value in (query or {}).items() if value is not None}
        # Not every server decodes a plus to a space.
        return f"{path}?{urlencode(given, quote_via=quote)}" if given else path

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


FULL, REGISTRY = Scope.FULL, Scope.REGISTRY
READ, IDEMPOTENT, CREATE, ACT = Idempotency.READ, Idempotency.IDEMPOTENT, Idempotency.CREATE, Idempotency.ACT
LAST_WINS, NEVER = Idempotency.LAST_WINS, Idempotency.NEVER
NO_SCHEMA = Undocumented()
ENTRIES = Entries(m.Model)
QUERY, LONG, SLOW, LONGEST = 20, 120, 180, 300

# fmt: off
# Applications
WHOAMI = Route("GET", "/api/apps/whoami", REGISTRY, READ, One(m.Whoami))
APPS = Route("GET", "/api/apps", REGISTRY, READ, Many(m.App))
APP_CREATE = Route("POST", "/api/apps", REGISTRY, CREATE, NO_SCHEMA, LONG, commits=True)
APP_QUOTE = Route("POST", "/api/apps/quote", REGISTRY, READ, One(m.AppQuote))
APP_NODES = Route("GET", "/api/apps/nodes", REGISTRY, READ, Entries(m.AppNode))
APP_PROJECTS = Route("GET", "/api/apps/projects", REGISTRY, READ, Entries(m.AppProject))
REGISTRY_CREDENTIALS = Route("GET", "/api/registry/credentials", REGISTRY, READ, One(m.RegistryCredentials))
RELEASE_DECLARE = Route("POST", "/api/apps/{slug}/releases", REGISTRY, CREATE, NO_SCHEMA)
RELEASES = Route("GET", "/api/apps/{slug}/releases", REGISTRY, READ, Entries(m.Release))
RELEASE_SCAN = Route("GET", "/api/apps/{slug}/releases/{tag}/scan", REGISTRY, READ, One(m.ScanReport), LONG)
APP_DEPLOY = Route("POST", "/api/apps/{slug}/deploy", REGISTRY, ACT, NO_SCHEMA, LONGEST)
APP_ENVIRONMENT = Route("PUT", "/api/apps/{slug}/environment", REGISTRY, IDEMPOTENT, NO_SCHEMA)
APP_LOGS = Route("GET", "/api/apps/{slug}/logs", REGISTRY, READ, NO_SCHEMA)
# Services
SERVICES = Route("GET", "/api/resources", FULL, READ, Many(m.ServiceSummary))
SERVICE = Route("GET", "/api/resources/{id}", FULL, READ, One(m.Service))
METRICS = Route("GET", "/api/resources/metrics", FULL, READ, Keyed(m.Metrics))
# Settings
SETTINGS = Route("GET", "/api/resources/{id}/settings", FULL, READ, One(m.Settings))
NETWORK = Route("PUT", "/api/resources/{id}/network", FULL, ACT, NO_SCHEMA, SLOW)
SCALE = Route("PUT", "/api/resources/{id}/scale", FULL, IDEMPOTENT, NO_SCHEMA, commits=True)
COMMAND = Route("PUT", "/api/resources/{id}/deploy", FULL, IDEMPOTENT, NO_SCHEMA)
MOVE = Route("PUT", "/api/resources/{id}/project", FULL, IDEMPOTENT, NO_SCHEMA, commits=True)
# Power, suspension, deletion
POWER = Route("POST", "/api/resources/{id}/power", FULL, ACT, One(m.Service), SLOW)
SUSPEND = Route("POST", "/api/resources/{id}/suspend", FULL, ACT, NO_SCHEMA, SLOW)
RESUME = Route("POST", "/api/resources/{id}/resume", FULL, ACT, NO_SCHEMA, SLOW, commits=True)
SERVICE_DELETE = Route("DELETE", "/api/resources/{id}", FULL, IDEMPOTENT, NO_SCHEMA)
# Files
FILES = Route("GET", "/api/resources/{id}/files", FULL, READ, Many(m.FileEntry))
FILE_CONTENTS = Route("GET", "/api/resources/{id}/files/contents", FULL, READ, One(m.FileContents))
FILE_WRITE = Route("POST", "/api/resources/{id}/files/write", FULL, IDEMPOTENT, NO_SCHEMA)
FILE_DIRECTORY = Route("POST", "/api/resources/{id}/files/directory", FULL, ACT, NO_SCHEMA)
FILE_RENAME = Route("PUT", "/api/resources/{id}/files/rename", FULL, ACT, NO_SCHEMA)
FILE_DELETE = Route("POST", "/api/resources/{id}/files/delete", FULL, ACT, NO_SCHEMA)
# Backups and snapshots
BACKUPS = Route("GET", "/api/resources/{id}/backups", FULL, READ, Many(m.Backup))
BACKUP_CREATE = Route("POST", "/api/resources/{id}/backups", FULL, CREATE, NO_SCHEMA)
BACKUP_RESTORE = Route("POST", "/api/resources/{id}/backups/{backup_id}/restore", FULL, ACT, NO_SCHEMA, SLOW)
BACKUP_DELETE = Route("DELETE", "/api/resources/{id}/backups/{backup_id}", FULL, IDEMPOTENT, NO_SCHEMA)
SNAPSHOTS = Route("GET", "/api/resources/{id}/snapshots", FULL, READ, Many(m.Snapshot))
SNAPSHOT_CREATE = Route("POST", "/api/resources/{id}/snapshots", FULL, CREATE, NO_SCHEMA)
SNAPSHOT_ROLLBACK = Route("POST", "/api/resources/{id}/snapshots/{name}/rollback", FULL, ACT, NO_SCHEMA, SLOW)
SNAPSHOT_DELETE = Route("DELETE", "/api/resources/{id}/snapshots/{name}", FULL, IDEMPOTENT, NO_SCHEMA)
# Journals, activity, consumption
LOGS = Route("GET", "/api/resources/{id}/logs", FULL, READ, One(m.LogLines))
EVENTS = Route("GET", "/api/resources/{id}/events", FULL, READ, Many(m.Event))
USAGE = Route("GET", "/api/resources/{id}/usage", FULL, READ, One(m.Usage))
BILLED_TOTALS = Route("GET", "/api/resources/{id}/billed-totals", FULL, READ, One(m.BilledTotals))
# Billing
BILLING_OVERVIEW = Route("GET", "/api/billing/overview", FULL, READ, One(m.BillingOverview))
WALLET = Route("GET", "/api/wallet", FULL, READ, One(m.Wallet))
TRANSACTIONS = Route("GET", "/api/wallet/transactions", FULL, READ, ENTRIES)
DAILY_SPEND = Route("GET", "/api/billing/daily-spend", FULL, READ, ENTRIES)
INVOICES = Route("GET", "/api/billing/invoices", FULL, READ, ENTRIES)
STATEMENTS = Route("GET", "/api/billing/statements", FULL, READ, ENTRIES)
STATEMENT = Route("GET", "/api/billing/statements/{period}", FULL, READ, NO_SCHEMA)
# Projects
PROJECTS = Route("GET", "/api/projects", FULL, READ, Many(m.Project))
PROJECT_CREATE = Route("POST", "/api/projects", FULL, CREATE, NO_SCHEMA)
PROJECT_RENAME = Route("PATCH", "/api/projects/{id}", FULL, IDEMPOTENT, NO_SCHEMA)
PROJECT_DELETE = Route("DELETE", "/api/projects/{id}", FULL, IDEMPOTENT, NO_SCHEMA)
PROJECT = Route("GET", "/api/projects/{id}", FULL, READ, One(m.ProjectDetail))
PROJECT_SPEND = Route("GET", "/api/projects/{id}/consommation", FULL, READ, One(m.ProjectSpend))
PROJECT_GRAPH = Route("GET", "/api/projects/{id}/graphe", FULL, READ, One(m.ProjectGraph))
# Ordering
QUOTE = Route("POST", "/api/order/quote", FULL, READ, One(m.Quote))
ORDER = Route("POST", "/api/order", FULL, CREATE, One(m.Order), LONG, commits=True)
# SSH keys
SSH_KEYS = Route("GET", "/api/users/me/ssh-keys", FULL, READ, Many(m.SshKey))
SSH_KEY_ADD = Route("POST", "/api/users/me/ssh-keys", FULL, CREATE, NO_SCHEMA)
SSH_KEY_DELETE = Route("DELETE", "/api/users/me/ssh-keys/{id}", FULL, IDEMPOTENT, NO_SCHEMA)
# SFTP
SFTP = Route("GET", "/api/resources/{id}/sftp", FULL, READ, One(m.SftpAccess))
SFTP_PASSWORD = Route("POST", "/api/resources/{id}/sftp/password", FULL, LAST_WINS, One(m.SftpPassword))
# Database tunnel
CONNECTION = Route("GET", "/api/resources/{id}/database/connection", FULL, READ, One(m.DatabaseConnection))
DATABASE = Route("GET", "/api/resources/{id}/database", FULL, READ, One(m.DatabaseInventory))
DATABASE_ROWS = Route("GET", "/api/resources/{id}/database/rows", FULL, READ, One(m.QueryResult), 2 * QUERY)
DATABASE_QUERY = Route("POST", "/api/resources/{id}/database/query", FULL, NEVER, One(m.QueryResult), QUERY)
# fmt: on

ROUTES: dict[str, Route[Any]] = {name: value for name, value in globals().items() if isinstance(value, Route)}
"""All routes by name."""
