# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a service, what a container shows of a start, and which waits have no hope."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import view
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    NoSuchItem,
    WaitEnded,
)
from unit.plugins.fakes import Clock, FakeClient, task_of


class Account(FakeClient):
    """An account that counts what is read of the service `s`."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.add_service("s", **fields)
        self.reads: list[str] = []
        self.refusal: Refused | None = None

    def settings(self, id: str) -> m.Settings:
        self.reads.append("settings")
        if self.refusal is not None:
            raise self.refusal
        return super().settings(id)

    def metrics(self, ids: list[str]) -> dict[str, m.Metrics | None]:
        self.reads.append("metrics")
        return super().metrics(ids)


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Clock:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return Clock(monkeypatch)


@pytest.mark.parametrize(
    ("status", "given", "reads"),
    [
        ("ACTIVE", {}, []),
        ("ACTIVE", {"public": False}, ["settings"]),
        ("ACTIVE", {"command": ""}, ["settings"]),
        ("ACTIVE", {"dimensions": {"ram_gb": 8}, "state": "stopped"}, ["metrics"]),
        ("SUSPENDED", {"public": True, "state": "stopped"}, ["settings"]),
        ("SUSPENDED", {"state": "started"}, ["metrics"]),
        ("PROVISIONING", {"public": True, "state": "started"}, []),
        ("FAILED", {"public": True, "state": "started"}, []),
    ],
)
def test_nothing_is_read_that_nobody_needs(status: str, given: dict[str, Any], reads: list[str]) -> None:
    account = Account(status=status)
    seen = view.observe(task_of(SERVICE, account, id="s", **given), "s")
    assert account.reads == reads
    assert (seen.settings is not None) is ("settings" in reads)
    assert seen.state == ("running" if "metrics" in reads else None)


def test_families_without_settings_are_not_asked_for_them() -> None:
    account = Account(family="BUCKET")
    assert view.observe(task_of(SERVICE, account, id="s", public=True), "s").settings is None
    assert account.reads == []


@pytest.mark.parametrize("status", [None, "DELETED"])
def test_what_is_deleted_is_not_there(status: str | None) -> None:
    account = Account(status=status or "ACTIVE")
    if status is None:
        account.service_records.clear()
    with pytest.raises(NoSuchItem, match="there is no service of id 's'"):
        view.read_service(task_of(SERVICE, account, id="s"), "s")


@pytest.mark.parametrize(
    ("state", "uptime", "shows"),
    [
        ("running", 0, True),
        ("running", 11, True),
        ("running", 12, False),
        ("running", None, False),
        ("stopped", 99, True),
        ("starting", None, True),
        ("unknown", None, False),
        (None, None, False),
    ],
)
def test_what_a_container_shows_of_a_start(
    home: Clock, state: str | None, uptime: int | None, shows: bool
) -> None:
    """Ten seconds after it; uptimes are whole seconds."""
    account = Account()
    account.states["s"], account.uptimes["s"] = state, uptime
    assert view.shows_start_since(task_of(SERVICE, account, id="s"), "s", home.now - 10) is shows


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("FAILED", "the creation of service 'web' (s) failed: no disk. Remove it with state: absent"),
        ("AWAITING_ADMIN", "awaits an intervention of the platform's operators"),
        ("DELETING", "is being deleted"),
        ("DELETED", "is being deleted"),
    ],
)
def test_a_wait_without_hope_ends_at_once(status: str, words: str) -> None:
    account = Account(status=status, failureReason="no disk")
    service = account.service("s")
    assert service is not None
    with pytest.raises(WaitEnded) as error:
        view.check_not_terminal(service)
    assert words in error.value.message and error.value.details["status"] == status


@pytest.mark.parametrize("status", ["ACTIVE", "SUSPENDED", "PROVISIONING", "SOMETHING_NEW"])
def test_other_statuses_may_still_change(status: str) -> None:
    service = Account(status=status).service("s")
    assert service is not None
    view.check_not_terminal(service)


def test_the_last_words_of_a_wait_are_what_can_be_learnt(home: Clock) -> None:
    account = Account(status="PROVISIONING")
    task = task_of(SERVICE, account, id="s", wait_timeout=3.0)
    with pytest.raises(WaitEnded) as error:
        view.wait_for_status(task, "s", "ACTIVE")
    told = {"service_id": "s", "last_status": "PROVISIONING", "last_state": "running"}
    assert error.value.details.items() >= {**told, "last_log_lines": ["last line"]}.items()
    assert home.now - 1000 >= 3


def test_the_rate_that_runs_is_in_the_diff() -> None:
    pricing = {"monthlyMillicents": 9000, "billedMonthlyMillicents": 1500}
    account = Account(pricing=pricing)
    options = task_of(SERVICE, account, id="s").options
    service = account.service("s")
    assert service is not None
    assert view.managed_settings(view.View(service), options)["monthly"] == Decimal("1.5")
