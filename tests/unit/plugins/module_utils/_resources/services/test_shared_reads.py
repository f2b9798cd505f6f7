# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads that are shared while a task or a whole blueprint is planned."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.services.lookup import (
    IndexedServices,
    with_name,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.shared_reads import (
    Memo,
    planning_client,
)
from unit.plugins.fakes import FakeClient


def test_what_many_threads_want_is_read_once() -> None:
    memo, reads, together = Memo(), list[int](), threading.Barrier(8)

    def read() -> int:
        reads.append(1)
        return 42

    def want(number: int) -> int:
        together.wait(10)
        return memo.once("answer", read)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(want, range(8))) == [42] * 8
    assert reads == [1]


def test_an_error_is_not_kept() -> None:
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.once("answer", lambda: 1 // 0)
    assert memo.once("answer", lambda: 42) == 42


class Counting(FakeClient):
    """An account that counts what is read of it."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def services(self) -> list[object]:  # type: ignore[override]
        self.reads.append("services")
        return []

    def service(self, id: str) -> Service | None:
        self.reads.append(id)
        return super().service(id)

    def apps(self) -> list[object]:  # type: ignore[override]
        self.reads.append("apps")
        return []


def test_clones_share_reads_and_all_else_is_passed_on() -> None:
    account = Counting()
    account.add_service("a", "a")
    account.add_service("b", "b")
    client = planning_client(cast(Client, account), Memo())
    for each in (client, client.clone(), client):
        assert each.services() == []
        assert [getattr(each.service(id), "id", None) for id in "ab"] == ["a", "b"]
        assert each.apps() == []
    assert account.reads == ["services", "a", "b", "apps"]
    client.create_project("new")
    assert account.calls == [("create_project", "new")]


def test_a_service_that_is_not_found_is_looked_for_again_and_so_is_the_list() -> None:
    """The 404 may be a gateway's, or the service is gone since it was listed."""
    account = Counting()
    client = planning_client(cast(Client, account))
    assert client.services() == [] and client.service("a") is None
    account.add_service("a", "a")
    assert client.services() == [] and client.services() == []
    assert client.service("a") is not None and client.service("a") is not None
    assert account.reads == ["services", "a", "services", "a"]


def test_services_are_found_by_name() -> None:
    account = FakeClient()
    for id, name in (("a", "web"), ("b", "db"), ("c", "web")):
        account.add_service(id, name)
    client = planning_client(cast(Client, account), Memo())
    for each in (client, client.clone()):
        assert isinstance(each.services(), IndexedServices)
        assert [found.id for found in with_name(each.services(), "web", None)] == ["a", "c"]
        assert [found.id for found in with_name(each.services(), "db", None)] == ["b"]
        assert with_name(each.services(), "Web", None) == []
