# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes of the platform (Endpoints).

Each line holds the method, the path, whether the call can be retried, and the shape of the response. No other
file of the collection contains a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar
from urllib.parse import quote, unquote, urlencode

from . import models as m
from .errors import ConfigurationError


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
    idempotency: Idempotency
    answer: A_co
    min_timeout: float = 0
    commits: bool = False

    @property
    def scope(self) -> str:
        """The token scope that the route needs (Authentication). FULL opens what none is shown for."""
        return "REGISTRY or FULL" if self.path.startswith(("/api/apps", "/api/registry")) else "FULL"

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


READ, IDEMPOTENT, CREATE, ACT = Idempotency.READ, Idempotency.IDEMPOTENT, Idempotency.CREATE, Idempotency.ACT
LAST_WINS, NEVER = Idempotency.LAST_WINS, Idempotency.NEVER
NO_SCHEMA = Undocumented()
ENTRIES = Entries(m.Model)
QUERY, LONG, SLOW, LONGEST = 20, 120, 180, 300

# fmt: off
# Applications
WHOAMI = Route("GET", "/api/apps/whoami", READ, One(m.Whoami))
APPS = Route("GET", "/api/apps", READ, Many(m.App))
APP_CREATE = Route("POST", "/api/apps", CREATE, NO_SCHEMA, LONG, commits=True)
APP_QUOTE = Route("POST", "/api/apps/quote", READ, One(m.AppQuote))
APP_NODES = Route("GET", "/api/apps/nodes", READ, Entries(m.AppNode))
APP_PROJECTS = Route("GET", "/api/apps/projects", READ, Entries(m.AppProject))
REGISTRY_CREDENTIALS = Route("GET", "/api/registry/credentials", READ, One(m.RegistryCredentials))
RELEASE_DECLARE = Route("POST", "/api/apps/{slug}/releases", CREATE, NO_SCHEMA)
RELEASES = Route("GET", "/api/apps/{slug}/releases", READ, Entries(m.Release))
RELEASE_SCAN = Route("GET", "/api/apps/{slug}/releases/{tag}/scan", READ, One(m.ScanReport), LONG)
APP_DEPLOY = Route("POST", "/api/apps/{slug}/deploy", ACT, NO_SCHEMA, LONGEST)
APP_ENVIRONMENT = Route("PUT", "/api/apps/{slug}/environment", IDEMPOTENT, NO_SCHEMA)
APP_LOGS = Route("GET", "/api/apps/{slug}/logs", READ, NO_SCHEMA)
# Services
SERVICES = Route("GET", "/api/resources", READ, Many(m.ServiceSummary))
SERVICE = Route("GET", "/api/resources/{id}", READ, One(m.Service))
METRICS = Route("GET", "/api/resources/metrics", READ, Keyed(m.Metrics))
# Settings
SETTINGS = Route("GET", "/api/resources/{id}/settings", READ, One(m.Settings))
NETWORK = Route("PUT", "/api/resources/{id}/network", ACT, NO_SCHEMA, SLOW)
SCALE = Route("PUT", "/api/resources/{id}/scale", IDEMPOTENT, NO_SCHEMA, commits=True)
COMMAND = Route("PUT", "/api/resources/{id}/deploy", IDEMPOTENT, NO_SCHEMA)
MOVE = Route("PUT", "/api/resources/{id}/project", IDEMPOTENT, NO_SCHEMA, commits=True)
# Power, suspension, deletion
POWER = Route("POST", "/api/resources/{id}/power", ACT, One(m.Service), SLOW)
SUSPEND = Route("POST", "/api/resources/{id}/suspend", ACT, NO_SCHEMA, SLOW)
RESUME = Route("POST", "/api/resources/{id}/resume", ACT, NO_SCHEMA, SLOW, commits=True)
SERVICE_DELETE = Route("DELETE", "/api/resources/{id}", IDEMPOTENT, NO_SCHEMA)
# Files
FILES = Route("GET", "/api/resources/{id}/files", READ, Many(m.FileEntry))
FILE_CONTENTS = Route("GET", "/api/resources/{id}/files/contents", READ, One(m.FileContents))
FILE_WRITE = Route("POST", "/api/resources/{id}/files/write", IDEMPOTENT, NO_SCHEMA)
FILE_DIRECTORY = Route("POST", "/api/resources/{id}/files/directory", ACT, NO_SCHEMA)
FILE_RENAME = Route("PUT", "/api/resources/{id}/files/rename", ACT, NO_SCHEMA)
FILE_DELETE = Route("POST", "/api/resources/{id}/files/delete", ACT, NO_SCHEMA)
# Backups and snapshots
BACKUPS = Route("GET", "/api/resources/{id}/backups", READ, Many(m.Backup))
BACKUP_CREATE = Route("POST", "/api/resources/{id}/backups", CREATE, NO_SCHEMA)
BACKUP_RESTORE = Route("POST", "/api/resources/{id}/backups/{backup_id}/restore", ACT, NO_SCHEMA, SLOW)
BACKUP_DELETE = Route("DELETE", "/api/resources/{id}/backups/{backup_id}", IDEMPOTENT, NO_SCHEMA)
SNAPSHOTS = Route("GET", "/api/resources/{id}/snapshots", READ, Many(m.Snapshot))
SNAPSHOT_CREATE = Route("POST", "/api/resources/{id}/snapshots", CREATE, NO_SCHEMA)
SNAPSHOT_ROLLBACK = Route("POST", "/api/resources/{id}/snapshots/{name}/rollback", ACT, NO_SCHEMA, SLOW)
SNAPSHOT_DELETE = Route("DELETE", "/api/resources/{id}/snapshots/{name}", IDEMPOTENT, NO_SCHEMA)
# Journals, activity, consumption
LOGS = Route("GET", "/api/resources/{id}/logs", READ, One(m.LogLines))
EVENTS = Route("GET", "/api/resources/{id}/events", READ, Many(m.Event))
USAGE = Route("GET", "/api/resources/{id}/usage", READ, One(m.Usage))
BILLED_TOTALS = Route("GET", "/api/resources/{id}/billed-totals", READ, One(m.BilledTotals))
# Billing
BILLING_OVERVIEW = Route("GET", "/api/billing/overview", READ, One(m.BillingOverview))
WALLET = Route("GET", "/api/wallet", READ, One(m.Wallet))
TRANSACTIONS = Route("GET", "/api/wallet/transactions", READ, ENTRIES)
DAILY_SPEND = Route("GET", "/api/billing/daily-spend", READ, ENTRIES)
INVOICES = Route("GET", "/api/billing/invoices", READ, ENTRIES)
STATEMENTS = Route("GET", "/api/billing/statements", READ, ENTRIES)
STATEMENT = Route("GET", "/api/billing/statements/{period}", READ, NO_SCHEMA)
# Projects
PROJECTS = Route("GET", "/api/projects", READ, Many(m.Project))
PROJECT_CREATE = Route("POST", "/api/projects", CREATE, NO_SCHEMA)
PROJECT_RENAME = Route("PATCH", "/api/projects/{id}", IDEMPOTENT, NO_SCHEMA)
PROJECT_DELETE = Route("DELETE", "/api/projects/{id}", IDEMPOTENT, NO_SCHEMA)
PROJECT = Route("GET", "/api/projects/{id}", READ, One(m.ProjectDetail))
PROJECT_SPEND = Route("GET", "/api/projects/{id}/consommation", READ, One(m.ProjectSpend))
PROJECT_GRAPH = Route("GET", "/api/projects/{id}/graphe", READ, One(m.ProjectGraph))
# Ordering
QUOTE = Route("POST", "/api/order/quote", READ, One(m.Quote))
ORDER = Route("POST", "/api/order", CREATE, One(m.Order), LONG, commits=True)
# SSH keys
SSH_KEYS = Route("GET", "/api/users/me/ssh-keys", READ, Many(m.SshKey))
SSH_KEY_ADD = Route("POST", "/api/users/me/ssh-keys", CREATE, NO_SCHEMA)
SSH_KEY_DELETE = Route("DELETE", "/api/users/me/ssh-keys/{id}", IDEMPOTENT, NO_SCHEMA)
# SFTP
SFTP = Route("GET", "/api/resources/{id}/sftp", READ, One(m.SftpAccess))
SFTP_PASSWORD = Route("POST", "/api/resources/{id}/sftp/password", LAST_WINS, One(m.SftpPassword))
# Database tunnel
CONNECTION = Route("GET", "/api/resources/{id}/database/connection", READ, One(m.DatabaseConnection))
DATABASE = Route("GET", "/api/resources/{id}/database", READ, One(m.DatabaseInventory))
DATABASE_ROWS = Route("GET", "/api/resources/{id}/database/rows", READ, One(m.QueryResult), 2 * QUERY)
DATABASE_QUERY = Route("POST", "/api/resources/{id}/database/query", NEVER, One(m.QueryResult), QUERY)
# fmt: on

ROUTES: dict[str, Route[Any]] = {name: value for name, value in globals().items() if isinstance(value, Route)}
"""All routes by name."""
