# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The event source of the rulebooks, whose texts no rulebook evaluates."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    HostedError,
    TokenRejected,
)
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request, Response
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state import (
    STATE,
    SourceOptions,
    State,
    StateFile,
    open_state,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import owner_of
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import Record
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._events import source as event_source
from ansible_collections.hosted.services.plugins.plugin_utils._events.source import (
    Poller,
    Source,
    in_thread,
    inert,
    watch,
)
from unit.plugins.module_utils._resources.account_events.polls import new_state


class ScriptedAccount:
    """An account whose polls are written down: each gives events, or raises."""

    def __init__(self, *polls: Exception | int, **options: Any) -> None:
        self.polls = list(polls)
        self.options = SourceOptions(**options)
        self.observer = self
        self.problems: list[HostedError] = []
        self.unmatched: list[str] = []
        self.limited_since: object = None

    def look(self, before: State) -> State:
        result = self.polls.pop(0)
        if isinstance(result, Exception):
            raise result
        sequence = before.sequence + result
        events = [{"id": f"e{n}", "type": "service_back"} for n in range(before.sequence + 1, sequence + 1)]
        return before.model_copy(update={"sequence": sequence, "outbox": (*before.outbox, *events)})

    def source(self, file: StateFile, feedback: Any = None) -> Source:
        return Source(self, file, feedback)  # type: ignore[arg-type]


def on_file(tmp_path: Path, use: Callable[[StateFile], Any]) -> Any:
    """Run something with a state file."""
    with open_state(Record(STATE, str(tmp_path / "s.json"))) as file:
        return asyncio.run(use(file))


@pytest.mark.parametrize("filtered", [False, True])
def test_an_event_that_is_on_the_queue_and_not_taken_is_not_lost(tmp_path: Path, filtered: bool) -> None:
    async def use(file: StateFile) -> list[Any]:
        queue: asyncio.Queue[Any] = asyncio.Queue(1)
        watched = ScriptedAccount(3).source(file)
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


def test_a_delivery_that_cannot_be_noted_is_not_repeated_by_this_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(state: State) -> None:
        raise Invalid("disk full")

    async def use(file: StateFile) -> int:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        watched = ScriptedAccount(1).source(file)
        await watched.turn()
        monkeypatch.setattr(file, "save", fail)
        for _turn in range(2):
            await watched.deliver(queue)
        return queue.qsize()

    assert on_file(tmp_path, use) == 1
    assert "a delivery cannot be noted, a start may repeat it: disk full" in caplog.text


def test_a_defect_does_not_end_it_and_shows_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def use(file: StateFile) -> int:
        watched = ScriptedAccount(KeyError("hunter2"), Invalid("disk full"), 1).source(file)
        for _turn in range(3):
            await watched.turn()
        return file.state.sequence

    assert on_file(tmp_path, use) == 1
    assert "a defect of the collection (KeyError)" in caplog.text
    assert "hunter2" not in caplog.text
    assert "disk full" in caplog.text


def test_with_feedback_an_event_is_noted_once_the_engine_has_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def use(file: StateFile) -> tuple[int, int]:
        queue: asyncio.Queue[Any] = asyncio.Queue()
        feedback: asyncio.Queue[Any] = asyncio.Queue()
        watched = ScriptedAccount(1, feedback=True).source(file, feedback)
        await watched.turn()
        delivery = asyncio.create_task(watched.deliver(queue))
        await queue.get()
        for other in ("no event", {"id": "of another"}):
            await feedback.put(other)
        for _turn in range(20):
            await asyncio.sleep(0.01)
        before = len(file.state.outbox)
        await feedback.put({"id": "e1"})
        await delivery
        return before, len(file.state.outbox)

    assert on_file(tmp_path, use) == (1, 0)
    assert caplog.text == ""


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


def test_an_encrypted_token_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("$ANSIBLE_VAULT;1.1;AES256\n")
    arguments = {"base_url": "https://api.example.com", "token_file": str(path)}
    with pytest.raises(ConfigurationError, match=r"encrypted with ansible-vault.*give the token in token"):
        asyncio.run(watch(asyncio.Queue(), arguments))


# --- The account ----------------------------------------------------------------------------------------


class Platform:
    """A platform without services. It knows whom each token belongs to, and refuses others."""

    def __init__(self, **owners: str | None) -> None:
        self.owners = owners
        self.down = False
        self.calls: list[str] = []
        self.closed = 0

    def exchange(self, request: Request, seconds: float) -> Response:
        self.calls.append(request.url.rpartition("/")[2])
        token = request.headers["Authorization"].removeprefix("Bearer ")
        if self.down or token not in self.owners:
            return Response(503 if self.down else 401, None, b'{"message": "no"}')
        answers: dict[str, Any] = {"whoami": {"email": self.owners[token]}, "overview": {}}
        return Response(200, None, json.dumps(answers.get(self.calls[-1], {"items": []})).encode())

    def clone(self) -> Platform:
        return self

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Platform:
    """A platform on which the tokens ``mine`` and ``newer`` are of one account, and ``other`` is not."""
    made = Platform(mine="me@example.com", newer="me@example.com", other="you@example.com", nameless=None)
    monkeypatch.setattr(event_source, "Client", partial(Client, transport=made))
    return made


def account_of(owner: str = "", **options: Any) -> Poller:
    settings = {"base_url": "https://api.example.com", "retries": 0, **options}
    return Poller(SourceOptions(**settings), owner_of(owner))


def test_a_token_that_is_not_accepted_ends_it_at_once(platform: Platform, tmp_path: Path) -> None:
    arguments = {"base_url": "https://api.example.com", "token": "gone", "state_file": str(tmp_path / "s")}

    async def begin() -> None:
        await asyncio.wait_for(watch(asyncio.Queue(), arguments), 10)

    with pytest.raises(TokenRejected, match=r"\. Check token, token_file, or the environment"):
        asyncio.run(begin())
    assert platform.closed == 1


def test_a_platform_that_is_down_is_waited_for(platform: Platform, caplog: pytest.LogCaptureFixture) -> None:
    """Whom the token belongs to is found out later: to another account, all services would be deleted."""
    with pytest.raises(ConfigurationError, match="belongs to another account than the one that the state"):
        account_of("me@example.com", token="other").begin()
    assert platform.calls == ["whoami"]
    platform.down = True
    account = account_of("me@example.com", token="other")
    account.begin()
    assert "the platform cannot be read, and will be tried again" in caplog.text
    platform.down = False
    with pytest.raises(ConfigurationError, match="belongs to another account"):
        account.look(new_state())


def test_a_token_that_was_replaced_in_its_file_is_used(platform: Platform, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("mine")
    account = account_of(token_file=str(path))
    account.look(new_state())
    del platform.owners["mine"]
    path.write_text("newer")
    assert account.look(new_state()).owner == owner_of("me@example.com")
    assert platform.closed == 1
    del platform.owners["newer"]
    path.write_text("other")
    with pytest.raises(ConfigurationError, match="belongs to another account"):
        account.look(new_state())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{ x }}", "\uff5b\uff5b x }}"),
        ("lookup ('x')", "lookup \uff08'x')"),
        ("not q ('x')", "not q \uff08'x')"),
        ("x.y ('x')", "x.y \uff08'x')"),
        ("'loo' 'kup ()'", "'loo' 'kup \uff08)'"),
        ("#jinja2: a=b", "\uff03jinja2: a\uff1db"),
        ("'\\x7b'", "'\uff3cx7b'"),
        ("$ANSIBLE_VAULT;1.1", "\uff04ANSIBLE_VAULT;1.1"),
        ("a\x1b\n\u202eb", "a   b"),
    ],
)
def test_what_could_be_evaluated_is_no_syntax(text: str, shown: str) -> None:
    """Ordinary texts stay."""
    assert inert(text) == shown
    usual = ["Map (new)", "Map #1", "service 'Map (new)' stopped", "it's down (code 12), 3 of 4"]
    given = {"a": [*usual, "Öl/Gas | EU", "$5"], "b": 1}
    assert inert(given) == given
