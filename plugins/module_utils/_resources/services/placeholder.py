# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A service that an earlier task of the play is still to create, as check mode has to take it."""

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
from ..._api.values import ServiceStatus
from ..shared.plan import Task
from ..shared.task_errors import NoSuchItem
from .lookup import expect_created


def empty_query_result() -> QueryResult:
    """Return what is in a table that is still to be made."""
    return QueryResult.model_construct(columns=[], rows=[])


def placeholder_service(task: Task, name: str, family: str | None, error: NoSuchItem) -> Service:
    """Return a service as far as it is known: without an id, and offering everything.

    From then on the task works on a service that has nothing yet.

    :raises NoSuchItem: outside check mode.
    """
    expect_created(task, error, "creates")
    task.client = cast(Client, EmptyServiceClient())
    return Service.model_construct(
        id=None, name=name, family=family, status=ServiceStatus.ACTIVE, capabilities=None
    )


class EmptyServiceClient:
    """What the platform would answer about a service that was just created, as far as that is known.

    It takes the place of the client, and knows reads alone.
    """

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
        """Return an access of which nothing is known, except that it has no password."""
        return SftpAccess.model_construct(host=None, port=None, username=None)

    def database(self, id: str) -> DatabaseInventory:
        """Return an empty database of an engine that is not known."""
        return DatabaseInventory.model_construct(tables=[])

    def database_connection(self, id: str) -> DatabaseConnection:
        """Return a connection of which nothing is known."""
        return DatabaseConnection.model_construct()

    def database_query(self, id: str, sql: str) -> QueryResult:
        """Return no rows."""
        return empty_query_result()
