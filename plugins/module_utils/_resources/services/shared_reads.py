# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads that are shared while a task or a whole blueprint is planned, when nothing changes but by others.

Without this, each of a thousand services would read the whole list of services to find itself.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

from ..._api.client import Client
from ..._api.models import App, Project, ProjectDetail, Service, Settings
from .lookup import IndexedServices

T = TypeVar("T")


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
    """A client that reads the lists of the account, its projects and services once. All else it passes on."""

    def __init__(self, client: Client, memo: Memo) -> None:
        self._client = client
        self._memo = memo

    def __getattr__(self, name: str) -> Any:
        """Return what the client itself has."""
        return getattr(self._client, name)

    def clone(self) -> PlanningClient:
        """Return one with connections of its own and the same reads."""
        return PlanningClient(self._client.clone(), self._memo)

    def services(self) -> IndexedServices:
        """Return all services of the account."""
        return self._memo.once("services", lambda: IndexedServices(self._client.services()))

    def projects(self) -> list[Project]:
        """Return all projects of the account."""
        return self._memo.once("projects", self._client.projects)

    def project(self, id: str) -> ProjectDetail | None:
        """Return a project with its services; ``None`` if there is none."""
        return self._memo.once(("project", id), lambda: self._client.project(id))

    def apps(self) -> list[App]:
        """Return all applications of the account."""
        return self._memo.once("apps", self._client.apps)

    def service(self, id: str) -> Service | None:
        """Return a service in full; ``None`` if there is none. A gateway may say that, so it is not kept."""
        found = self._memo.once(("service", id), lambda: self._client.service(id))
        if found is None:  # it may be gone since the list was read
            self._memo.values.pop("services", None)
        return found

    def settings(self, id: str) -> Settings:
        """Return the settings of a service, which each environment that refers to it reads its alias from."""
        return self._memo.once(("settings", id), lambda: self._client.settings(id))


def planning_client(client: Client, memo: Memo | None = None) -> Client:
    """Return a client for planning."""
    return cast(Client, PlanningClient(client, memo or Memo()))
