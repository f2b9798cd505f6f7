# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A placeholder in check mode for a service that an earlier task of the play would create."""

from __future__ import annotations

from typing import cast

from ..._api.client import Client
from ..._api.models import (
    Backup,
    DatabaseConnection,
    DatabaseInventory,
    FileEntry,
    QueryResult,
    Service,
    SftpAccess,
    Snapshot,
)
from ..._api.platform_clock import PlatformClock
from ..._api.values import ServiceStatus
from ..shared.plan import Task
from ..shared.task_errors import NoSuchItem
from .lookup import expect_created


def empty_query_result() -> QueryResult:
    """Return the rows of a table that does not exist yet."""
    return QueryResult.model_construct(columns=[], rows=[])


def placeholder_service(task: Task, name: str, family: str | None, error: NoSuchItem) -> Service:
    """Return a service without an id, and replace the client by one that returns empty results.

    :raises NoSuchItem: outside check mode.
    """
    expect_created(task, error, name)
    task.client = cast(Client, EmptyServiceClient(task.client.clock))
    return Service.model_construct(
        id=None, name=name, family=family, status=ServiceStatus.ACTIVE, capabilities=None
    )


class EmptyServiceClient:
    """A client that returns what the platform would return for a new, empty service. Only reads."""

    is_foreseen = True
    """What the service lacks is still to be made, as it is itself."""

    def __init__(self, clock: PlatformClock) -> None:
        self.clock = clock

    def files(self, id: str, directory: str) -> list[FileEntry]:
        """Return no entries."""
        return []

    def backups(self, id: str) -> list[Backup]:
        """Return no backups."""
        return []

    def snapshots(self, id: str) -> list[Snapshot]:
        """Return no snapshots."""
        return []

    def sftp(self, id: str) -> SftpAccess:
        """Return an access with unknown address and no password."""
        return SftpAccess.model_construct(host=None, port=None, username=None)

    def database(self, id: str) -> DatabaseInventory:
        """Return an empty database of an unknown engine."""
        return DatabaseInventory.model_construct(tables=[])

    def database_connection(self, id: str) -> DatabaseConnection:
        """Return connection details without any value."""
        return DatabaseConnection.model_construct()

    def database_query(self, id: str, sql: str) -> QueryResult:
        """Return no rows."""
        return empty_query_result()
