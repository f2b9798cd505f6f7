# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The loop around the polls: pace, log, delivery, feedback, and its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    HostedError,
    Interrupted,
    RateLimited,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    State,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state_file import (
    StateFile,
    open_state,
)
from ansible_collections.hosted.services.plugins.plugin_utils._events.source import (
    LIMITED,
    UNMATCHED,
    Source,
    in_thread,
    watch,
)


class ScriptedAccount:
    """An account whose polls are written down: each gives events, or raises."""

    def __init__(self, *polls: Exception | int, **options: Any) -> None:
        self.polls = list(polls)
        self.options = SourceOptions(**options)
        self.observer = self
        self.problems: list[HostedError] = []
        self.unmatched: list[str] = []
        self.refused: dict[str, Any] = {}

    def look(self, before: State) -> State:
        """Return the state after the next poll."""
        result = self.polls.pop(0)
        if isinstance(result, Exception):
            raise result
        numbers = range(before.sequence + 1, before.sequence + result + 1)
        events = tuple({"id": f"e{number}", "type": "service_back"} for number in numbers)
        return before.model_copy(
            update={"sequence": before.sequence + result, "outbox": (*before.outbox, *events)}
        )


def source(file: StateFile, account: ScriptedAccount, feedback: Any = None) -> Source:
    """Return a source over an account that is written down."""
    return Source(account, file, feedback)  # type: ignore[arg-type]


def on_file(tmp_path: Path, use: Callable[[StateFile], Any]) -> Any:
    """Run something with a state file."""
    with open_state(str(tmp_path / "s.json")) as file:
        return asyncio.run(use(file))


def test_events_are_delivered_in_order_with_an_id_for_the_rule_engine(tmp_path: Path) -> None:
    async def use(file: StateFile) -> list[Any]:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        watched = source(file, ScriptedAccount(2))
        await watched.turn()
        await watched.deliver(queue)
        return [queue.get_nowait() for _event in range(queue.qsize())]

    assert on_file(tmp_path, use) == [
        {"id": id, "type": "service_back", "redelivered": False, "meta": {"uuid": id}} for id in ("e1", "e2")
    ]
    assert on_file(tmp_path, lambda file: asyncio.sleep(0, file.state.outbox)) == ()


def test_an_event_that_nobody_took_is_delivered_by_the_next_start(tmp_path: Path) -> None:
    async def fill(file: StateFile) -> None:
        await source(file, ScriptedAccount(1)).turn()

    async def start(file: StateFile) -> Any:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        await source(file, ScriptedAccount()).deliver(queue)
        return queue.get_nowait()

    on_file(tmp_path, fill)
    event = on_file(tmp_path, start)
    assert (event["id"], event["redelivered"]) == ("e1", True)


@pytest.mark.parametrize("filtered", [False, True])
def test_an_event_that_is_on_the_queue_and_not_taken_is_not_lost(tmp_path: Path, filtered: bool) -> None:
    async def use(file: StateFile) -> list[Any]:
        queue: asyncio.Queue[Any] = asyncio.Queue(1)
        watched = source(file, ScriptedAccount(3))
        await watched.turn()
        wrapper: Any = SimpleNamespace(queue=queue, put=queue.put)
        delivering = asyncio.create_task(watched.deliver(wrapper if filtered else queue))
        taken = await queue.get()
        while queue.empty():
            await asyncio.sleep(0.01)
        for _turn in range(20):
            await asyncio.sleep(0.01)
        delivering.cancel()
        await asyncio.wait([delivering])
        return [taken["id"], *(event["id"] for event in file.state.outbox)]

    assert on_file(tmp_path, use) == ["e1", "e2", "e3"]


def test_failures_slow_it_down_and_are_logged_now_and_then(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(file: StateFile) -> list[float]:
        failures = [Interrupted("the connection was reset") for _failure in range(9)]
        watched = source(file, ScriptedAccount(*failures, 0, min_interval=10, max_interval=60))
        pauses = []
        for _turn in range(10):
            await watched.turn()
            pauses.append(watched.pace.pause)
        return pauses

    pauses = on_file(tmp_path, use)
    assert pauses[0] <= 20 < pauses[4] <= 600
    assert pauses[-1] == 10
    said = [record.getMessage() for record in caplog.records]
    assert len([line for line in said if "the connection was reset" in line]) == 4, "1, 2, 4 and 8"
    assert "(failed 8 times)" in said[3]
    assert said[-1] == "hosted.services.account: the account can be read again"


def test_the_platform_says_how_long_to_wait(tmp_path: Path) -> None:
    async def use(file: StateFile) -> float:
        watched = source(file, ScriptedAccount(RateLimited("slow down", 333), min_interval=1, max_interval=2))
        await watched.turn()
        return watched.pace.pause

    assert on_file(tmp_path, use) == 333


def test_a_defect_does_not_end_it_and_shows_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(file: StateFile) -> int:
        watched = source(file, ScriptedAccount(KeyError("hunter2"), OSError("disk full"), 1))
        for _turn in range(3):
            await watched.turn()
        return file.state.sequence

    assert on_file(tmp_path, use) == 1
    assert "a defect of the collection (KeyError)" in caplog.text
    assert "hunter2" not in caplog.text
    assert "disk full" in caplog.text


def test_each_problem_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(file: StateFile) -> None:
        account = ScriptedAccount(0, 0, 0, 0)
        watched = source(file, account)
        for problems, refused in (([], {}), (["no bills"], {"services": 1}), ([], {"services": 1}), ([], {})):
            account.problems = [Interrupted(text) for text in problems]
            account.refused = refused
            await watched.turn()

    on_file(tmp_path, use)
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        "not read: no bills", LIMITED,
    ]  # fmt: skip


def test_a_pattern_without_a_service_is_logged_until_there_is_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(file: StateFile) -> None:
        account = ScriptedAccount(0, 0, 0, 0)
        watched = source(file, account)
        for unmatched in (["db-*", "{x}"], ["db-*"], [], ["db-*"]):
            account.unmatched = unmatched
            await watched.turn()

    on_file(tmp_path, use)
    assert [record.getMessage().partition(": ")[2] for record in caplog.records] == [
        UNMATCHED.format(pattern) for pattern in ("db-*", "{x}", "db-*")
    ]


def test_with_feedback_an_event_is_noted_once_the_engine_has_it(tmp_path: Path) -> None:
    async def use(file: StateFile) -> tuple[int, int]:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        feedback: asyncio.Queue[Any] = asyncio.Queue()
        watched = source(file, ScriptedAccount(1, feedback=True), feedback)
        await watched.turn()
        delivery = asyncio.create_task(watched.deliver(queue))
        await queue.get()
        await feedback.put({"id": "of another"})
        await asyncio.sleep(0)
        before = len(file.state.outbox)
        await feedback.put({"id": "e1"})
        await delivery
        return before, len(file.state.outbox)

    assert on_file(tmp_path, use) == (1, 0)


def test_an_old_rulebook_without_feedback_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(file: StateFile) -> None:
        source(file, ScriptedAccount(feedback=True))

    on_file(tmp_path, use)
    assert "gives no feedback" in caplog.text


def test_the_end_waits_for_the_call_that_runs() -> None:
    """It would write to the state file when that belongs to another source already."""
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        go.wait(60)
        done.set()

    async def end() -> bool:
        task = asyncio.create_task(in_thread(work))
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.01)
        waits = not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        return waits and done.is_set()

    assert asyncio.run(end())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"tokn": "x"}, "unknown argument 'tokn'; did you mean 'token'?"),
        ({"token": "x"}, "base_url is not set"),
        ({"base_url": "https://api.example.com"}, "token is not set"),
        ({"base_url": "http://api.example.com", "token": "x"}, "the token would be sent unencrypted"),
    ],
)
def test_a_wrong_argument_ends_it_at_once(
    arguments: dict[str, str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"HOSTED_SERVICES_{name}", raising=False)
    with pytest.raises(ConfigurationError) as caught:
        asyncio.run(watch(asyncio.Queue(), {"state_file": str(tmp_path / "s.json"), **arguments}))
    assert message in caught.value.message


def test_an_encrypted_token_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("$ANSIBLE_VAULT;1.1;AES256\n")
    arguments = {"base_url": "https://api.example.com", "token_file": str(path)}
    with pytest.raises(ConfigurationError, match=r"encrypted with ansible-vault.*give the token in token"):
        asyncio.run(watch(asyncio.Queue(), arguments))
