# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task sees of the platform."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import cast

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account, Reads
from unit.plugins.fakes import FakeClient


def test_what_many_threads_want_is_read_once() -> None:
    once, reads, together = Reads().once, list[int](), threading.Barrier(8)

    def read() -> int:
        reads.append(1)
        return 42

    def want(number: int) -> int:
        together.wait(10)
        return once("answer", read)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(want, range(8))) == [42] * 8
    assert reads == [1]


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


def test_once_something_changes_all_is_read_anew() -> None:
    platform, reads = Counting(), Reads()
    account = Account(cast(Client, platform), reads)
    assert account.apps() == account.apps() == []
    reads.kept = False
    assert account.apps() == account.apps() == []
    assert platform.reads == ["apps"] * 3


def test_a_service_that_is_not_found_is_looked_for_again_and_so_is_the_list() -> None:
    """The 404 may be a gateway's, or the service is gone since it was listed."""
    platform = Counting()
    account = Account(cast(Client, platform), Reads())
    assert account.services() == [] and account.service("a") is None
    platform.add_service("a", "a")
    assert account.services() == [] and account.services() == []
    assert account.service("a") is not None and account.service("a") is not None
    assert platform.reads == ["services", "a", "services", "a"]
