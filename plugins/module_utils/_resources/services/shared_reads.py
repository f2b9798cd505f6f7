# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads that are shared while a task or a whole blueprint is planned, when nothing changes but by others.

Without this, each of a thousand services would read the whole list of services to find itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from ..._api.client import Client
from ..._api.models import Service
from ..shared.plan import Task
from .lookup import IndexedServices

T = TypeVar("T")
READ_ONCE = (
    "apps", "project", "project_graph", "projects", "registry_credentials", "releases", "scan", "settings",
)  # fmt: skip
"""What is read once, besides services."""


class Memo:
    """What was read so far. Two threads that want the same wait for one read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}
        self.values: dict[Hashable, Any] = {}

    def once(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what ``read`` returns, or returned for this key before, but for an error and ``None``."""
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            found = self.values.get(key)
            if found is None:
                found = self.values[key] = read()
            return cast(T, found)


class PlanningClient:
    """A client that reads the same once where a plan of several parts asks for it again."""

    def __init__(self, client: Client, memo: Memo) -> None:
        self._client = client
        self._memo = memo

    def __getattr__(self, name: str) -> Any:
        """Return what the client itself has, or what returns what that has returned before."""
        own = getattr(self._client, name)
        if name not in READ_ONCE:
            return own
        return lambda *given: self._memo.once((name, repr(given)), lambda: own(*given))

    def clone(self) -> PlanningClient:
        """Return one with connections of its own and the same reads."""
        return PlanningClient(self._client.clone(), self._memo)

    def services(self) -> IndexedServices:
        """Return all services of the account."""
        return self._memo.once("services", lambda: IndexedServices(self._client.services()))

    def service(self, id: str) -> Service | None:
        """Return a service in full; ``None`` if there is none. A gateway may say that, so it is not kept."""
        found = self._memo.once(("service", id), lambda: self._client.service(id))
        if found is None:  # it may be gone since the list was read
            self._memo.values.pop("services", None)
        return found


def planning_client(client: Client, memo: Memo | None = None) -> Client:
    """Return a client for planning."""
    return cast(Client, PlanningClient(client, memo or Memo()))


@contextmanager
def reading_once(task: Task[Any]) -> Iterator[None]:
    """Let a task read the same once, until it has its plan."""
    client, task.client = task.client, planning_client(task.client)
    try:
        yield
    finally:
        task.client = client
