# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a call is made again that a busy service turns down, and which refusals are final."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    HostedError,
    Locked,
    RateLimited,
    Refused,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.busy_retry import (
    is_transient,
    retry_while_busy,
)
from unit.plugins.fakes import Clock, FakeClient, task_of


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def attempts(errors: list[HostedError], moving: bool = False, pointless: bool = False, **given: Any) -> int:
    """Make a call that is turned down with each of the errors; return how often it was made."""
    options = {"wait_timeout": 60.0, "quiet_time": 5.0, "wait_interval": 2.0, **given}
    task = task_of(BACKUP, FakeClient(), services=["one"], **options)
    left, made = list(errors), 0

    def call() -> None:
        nonlocal made
        made += 1
        if left:
            raise left.pop(0)

    retry_while_busy(task, call, "a backup", lambda: moving, lambda: pointless)
    return made


@pytest.mark.parametrize(
    ("error", "transient"),
    [
        (RateLimited("too many requests"), True),
        (Locked("locked", 423), True),
        (Conflict("another backup is running", 409), True),
        (Conflict("no", 409), True),
        (Conflict("at most 5 backups", 409), False),
        (Conflict("at most 1 backup while another is in progress", 409), True),
        (Refused("another backup is running", 400), False),
        (Refused("the snapshot s is not complete yet", 422), True),
        (Refused("the snapshot s is not yet complete", 400), True),
        (Refused("the backup has failed and is not completed", 422), False),
        (Conflict("a snapshot named s exists already", 409), False),
        (Conflict("another snapshot with this name already exists", 409), False),
        (Conflict("Name already taken", 409), False),
        (Conflict("name must be unique", 409), False),
        (Conflict("a snapshot named s is already being taken", 409), True),
        (Conflict("a backup of this name is in progress", 409), True),
    ],
)
def test_which_refusals_are_of_the_moment(error: Any, transient: bool) -> None:
    assert is_transient(error) is transient


def test_a_call_is_made_until_the_service_takes_it(clock: Clock) -> None:
    busy = [Conflict("another backup is running", 409) for _turn in range(5)]
    assert attempts(list(busy)) == 6
    assert clock.pauses == [0.5, 0.75, 1.125, 1.6875, 2.0], "longer and longer, up to wait_interval"
    assert attempts([]) == 1


@pytest.mark.parametrize(
    ("error", "given"),
    [
        (Conflict("another backup is running", 409), {"wait": False}),
        (Conflict("another backup is running", 409), {"pointless": True}),
        (Refused("no", 400), {}),
    ],
)
def test_what_is_final_is_raised_at_once(clock: Clock, error: HostedError, given: dict[str, Any]) -> None:
    with pytest.raises(type(error)) as raised:
        attempts([error] * 9, **given)
    assert clock.pauses == [] and "retried for" not in raised.value.message


@pytest.mark.parametrize(
    ("said", "moving", "seconds", "option"),
    [
        ("another backup is running", False, 60, "wait_timeout"),
        ("the snapshot is not complete yet", False, 60, "wait_timeout"),
        ("no", True, 60, "wait_timeout"),
        ("no", False, 5, "quiet_time"),
    ],
)
def test_a_refusal_without_a_reason_is_tried_for_the_quiet_time(
    clock: Clock, said: str, moving: bool, seconds: int, option: str
) -> None:
    """The error names the option that ended it, as the other one would change nothing."""
    with pytest.raises(
        Conflict, match=rf"retried for {seconds} seconds; nothing was started.*raise {option}$"
    ):
        attempts([Conflict(said, 409) for _turn in range(99)], moving)
    assert sum(clock.pauses) == seconds


def test_the_quiet_time_is_no_longer_than_the_whole_wait(clock: Clock) -> None:
    with pytest.raises(Conflict, match=r"raise wait_timeout$"):
        attempts([Conflict("no", 409) for _turn in range(99)], wait_timeout=3.0)
    assert sum(clock.pauses) == 3


def test_a_pause_that_the_platform_asks_for_is_kept_or_not_begun(clock: Clock) -> None:
    assert attempts([RateLimited("slow down", 20.0)]) == 2
    assert clock.pauses == [20.0]
    with pytest.raises(RateLimited):
        attempts([RateLimited("slow down", 61.0)])
    assert clock.pauses == [20.0]


def test_a_pause_that_the_platform_asks_for_is_kept_if_it_fits(clock: Clock) -> None:
    def limited(seconds: float | None) -> HostedError:
        return RateLimited("too many requests", seconds)

    assert attempts([limited(None), limited(0.0), limited(3.0)]) == 4
    assert clock.pauses == [0.5, 0.75, 3.0], "what asks for none is made again as after any refusal"
    clock.pauses.clear()
    assert attempts([limited(60.0)], wait_timeout=60.0) == 2
    assert clock.pauses == [60.0], "exactly the time that is left"
    clock.pauses.clear()
    with pytest.raises(RateLimited):
        attempts([limited(60.5)], wait_timeout=60.0)
    assert clock.pauses == []


def test_who_watches_is_told_why_it_takes_so_long(clock: Clock) -> None:
    task, said = task_of(BACKUP, FakeClient(), services=["one"]), list[str]()
    task.progress = said.append
    left: list[HostedError] = [Conflict("another backup is running", 409)] * 3

    def call() -> None:
        if left:
            raise left.pop()

    retry_while_busy(task, call, "a backup", lambda: True)
    assert said == [
        f"a backup is not accepted yet, {seconds} s: another backup is running" for seconds in (0, 0, 1)
    ]
