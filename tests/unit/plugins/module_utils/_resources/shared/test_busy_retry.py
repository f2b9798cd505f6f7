# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a call is made again that a busy service turns down, and what shows that it is busy."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    HostedError,
    Interrupted,
    Locked,
    RateLimited,
    Refused,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.busy_retry import (
    retry_while_busy,
    under_way,
)
from unit.plugins.fakes import Clock, FakeClient, task_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def attempts(errors: list[HostedError], busy: list[bool] | None = None, **given: Any) -> int:
    """Make a call that is turned down with each of the errors; return how often it was made.

    ``busy`` is what each look at the account shows; it is busy all the time if not given.
    """
    options = {"wait_timeout": 60.0, "wait_interval": 2.0, **given}
    task = task_of(BACKUP, FakeClient(), services=["one"], **options)
    left, made = list(errors), 0

    def call() -> None:
        nonlocal made
        made += 1
        if left:
            raise left.pop(0)

    retry_while_busy(task, call, "a backup", lambda: busy is None or busy.pop(0))
    return made


@pytest.mark.parametrize("error", [Conflict("no", 409), Locked("no", 423), RateLimited("no")])
def test_a_call_is_made_until_the_service_takes_it(clock: Clock, error: HostedError) -> None:
    assert attempts([error] * 5) == 6
    assert clock.pauses == [0.5, 0.75, 1.125, 1.6875, 2.0], "longer and longer, up to wait_interval"
    assert attempts([]) == 1


@pytest.mark.parametrize(
    ("error", "busy", "given"),
    [
        (Conflict("another backup is running", 409), [False], {}),
        (Conflict("no", 409), None, {"wait": False}),
        (Refused("another backup is running", 400), None, {}),
    ],
)
def test_what_is_no_lock_of_the_moment_is_told_at_once(
    clock: Clock, error: HostedError, busy: list[bool] | None, given: dict[str, Any]
) -> None:
    """Whatever its words are."""
    with pytest.raises(type(error)) as raised:
        attempts([error] * 9, busy, **given)
    assert clock.pauses == [] and "retried for" not in raised.value.message


def test_what_ends_between_the_refusal_and_the_look_is_no_reason_to_fail(clock: Clock) -> None:
    assert attempts([Conflict("no", 409)] * 2, [True, False]) == 3
    with pytest.raises(Conflict):
        attempts([Conflict("no", 409)] * 3, [True, False, False])
    task, left = task_of(BACKUP, FakeClient(), services=["one"]), [Conflict("no", 409)]

    def call() -> None:
        if left:
            raise left.pop()

    retry_while_busy(task, call, "a backup", lambda: False, busy=True)
    assert not left


def test_a_service_that_stays_busy_is_told(clock: Clock) -> None:
    with pytest.raises(Conflict, match=r"retried for 60 seconds; nothing was done.*raise wait_timeout$"):
        attempts([Conflict("no", 409)] * 99)
    assert sum(clock.pauses) == 60


def test_a_pause_that_the_platform_asks_for_is_kept_if_it_fits(clock: Clock) -> None:
    assert attempts([RateLimited("no", 0.0), RateLimited("no", 3.0)]) == 3
    assert clock.pauses == [0.5, 3.0], "what asks for none is made again as after any refusal"
    clock.pauses.clear()
    assert attempts([RateLimited("no", 60.0)]) == 2
    assert clock.pauses == [60.0], "exactly the time that is left"
    clock.pauses.clear()
    with pytest.raises(RateLimited):
        attempts([RateLimited("no", 60.5)])
    assert clock.pauses == []


def test_who_watches_is_told_why_it_takes_so_long(clock: Clock) -> None:
    task, said = task_of(BACKUP, FakeClient(), services=["one"]), list[str]()
    task.progress = said.append
    left: list[HostedError] = [Conflict("no", 409)] * 3

    def call() -> None:
        if left:
            raise left.pop()

    retry_while_busy(task, call, "a backup", lambda: True)
    assert said == [f"a backup is not accepted yet, {seconds} s: no" for seconds in (0, 0, 1)]


@pytest.mark.parametrize(
    ("shown", "busy"),
    [
        ({}, False),
        ({"backup": "COMPLETED"}, False),
        ({"backup": "PENDING"}, True),
        ({"backup": "RESTORING"}, True),
        ({"state": "starting"}, True),
        ({"state": "stopping"}, True),
        ({"state": "installing"}, True),
        ({"state": "unknown"}, False),
        ({"state": None}, False),
        ({"status": "PROVISIONING"}, True),
        ({"status": "DELETING"}, True),
        ({"status": "SUSPENDED"}, False),
    ],
)
def test_what_the_account_shows_under_way(shown: dict[str, Any], busy: bool) -> None:
    client: Any = FakeClient()
    backup = shown.pop("backup", None)
    client.add_service("s", **shown)
    client.backup_records["s"] = [{"id": "b", "name": "n", "status": backup}] if backup else []
    assert under_way(Account(client), "s") is busy


def test_what_cannot_be_read_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest does."""

    def lost(*_given: Any) -> Any:
        raise Interrupted("lost")

    client: Any = FakeClient()
    client.add_service("s", state="starting")
    monkeypatch.setattr(client, "backups", lost)
    account = Account(client)
    assert under_way(account, "s") and not under_way(account, "s", container=False)
    monkeypatch.setattr(client, "metrics", lost)
    assert not under_way(account, "s")
