# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Power holds only once it was seen, nothing wakes what sleeps by accident, and no wait is without hope."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    WaitEnded,
)
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of

RATES = {"monthlyMillicents": 10000, "storageMonthlyMillicents": 1500, "billedMonthlyMillicents": 1500}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> Clock | None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return None if "sandbox" in request.fixturenames else Clock(monkeypatch)


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_service("s")
    return client


def done(client: FakeClient, **given: Any) -> tuple[Any, Task]:
    task = task_of(SERVICE, client, id="s", **given)
    return carry_out(SERVICE.plan(task)), task


def late(client: FakeClient, **shown: Any) -> None:
    """Let the metrics show the same after a signal as before it, until a test shows something else."""

    def stay() -> None:
        client.states["s"] = shown.get("state", "running")
        client.uptimes["s"] = shown.get("uptime", 100)

    client.after["power"] = stay


# --- A restart is seen to begin -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("looks", "pauses"),
    [
        ([{"uptimes": 0}], 1),
        ([{}, {"states": "stopping"}, {"states": "starting"}, {"states": "running", "uptimes": 0}], 4),
        ([{}, {"states": "stopped"}, {}, {}, {"states": "running", "uptimes": None}], 5),
    ],
    ids=["the uptime begins anew", "the state moves", "only the state tells"],
)
def test_a_restart_is_over_once_it_was_seen(
    client: FakeClient, clock: Clock, looks: list[dict[str, Any]], pauses: int
) -> None:
    late(client)

    def show(look: dict[str, Any]) -> None:
        for what, value in look.items():
            getattr(client, what)["s"] = value

    clock.then = [lambda look=look: show(look) for look in looks]  # type: ignore[misc]
    _result, task = done(client, state="restarted")
    assert len(clock.pauses) == pauses
    assert client.calls == [("power", "s", "restart")]
    assert task.warnings == []


def test_a_restart_of_which_nothing_shows_is_an_error(client: FakeClient, clock: Clock) -> None:
    """Another one would interrupt the service again."""
    late(client, uptime=200)
    begun = clock.now
    with pytest.raises(WaitEnded, match="within 10 seconds nothing showed that it started"):
        done(client, state="restarted")
    assert 10 <= clock.now - begun < 11 and client.calls == [("power", "s", "restart")]


def test_a_restart_whose_answer_is_lost_is_looked_for_until_it_shows(
    client: FakeClient, clock: Clock
) -> None:
    def lose() -> None:
        client.uptimes["s"] = 100
        raise Interrupted("POST: reset")

    client.after["power"] = lose
    clock.then = [lambda: None, lambda: None, lambda: client.uptimes.update(s=1)]
    __, task = done(client, state="restarted")
    assert client.calls == [("power", "s", "restart")]
    assert task.effects.writes == 1


@pytest.mark.parametrize("uptime", [0, 100])
def test_a_restart_that_is_not_known_to_have_begun_is_not_sent_again(client: FakeClient, uptime: int) -> None:
    """An uptime that was short before proves nothing."""

    def lose() -> None:
        raise Interrupted("POST: reset")

    client.uptimes["s"] = uptime
    client.before["power"] = lose
    with pytest.raises(EffectUnverified, match="The call was not sent again"):
        done(client, state="restarted")
    assert client.calls == [("power", "s", "restart")]


# --- What tells no state --------------------------------------------------------------------------------


def test_what_tells_no_state_once_it_is_resumed_ends_with_what_it_costs(
    client: FakeClient, clock: Clock
) -> None:
    client.add_service("s", status="SUSPENDED", state="stopped", pricing=RATES)
    client.after["resume"] = lambda: client.states.update(s=None)
    begun = clock.now
    with pytest.raises(WaitEnded, match="the platform reported no state within 60 seconds") as caught:
        done(client, state="started", wait_timeout=60.0)
    assert "from 1.50 to 10.00 a month" in caught.value.message
    assert "state: suspended" in caught.value.message
    assert clock.now - begun == pytest.approx(60)
    assert client.calls == [("resume", "s")]


# --- What is under way --------------------------------------------------------------------------------


# --- Suspension -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["resumed", "suspended"])
@pytest.mark.parametrize("arrived", [True, False])
def test_the_status_tells_what_became_of_a_lost_call(
    client: FakeClient, clock: Clock, state: str, arrived: bool
) -> None:
    before, call = ("SUSPENDED", "resume") if state == "resumed" else ("ACTIVE", "suspend")
    client.add_service("s", status=before, pricing=RATES)

    def lose() -> None:
        if not arrived:
            client.service_records["s"]["status"] = before
        raise Interrupted("POST: reset")

    client.after[call] = lose
    if arrived:
        assert done(client, state=state)[0]["status"] != before
    else:
        with pytest.raises(EffectUnverified):
            done(client, state=state)
    assert client.calls == [(call, "s")] * (1 if arrived else 2), "sent again only where nothing came of it"


@pytest.mark.parametrize(
    ("status", "words"), [(None, "no longer exists"), ("SUSPENDED", "was suspended in the meantime")]
)
def test_a_service_that_is_taken_away_is_not_waited_for_to_the_end(
    client: FakeClient, clock: Clock, status: str | None, words: str
) -> None:
    def take_away() -> None:
        client.service_records["s"].update(status=status)
        if status is None:
            client.service_records.clear()

    client.states["s"] = "stopped"
    late(client, state="stopped")
    clock.then = [lambda: None, take_away]
    with pytest.raises(WaitEnded, match=words):
        done(client, state="started", wait_timeout=60.0)
    assert client.calls == [("power", "s", "start")] and sum(clock.pauses) < 60
