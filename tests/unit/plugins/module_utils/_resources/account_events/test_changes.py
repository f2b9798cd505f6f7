# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events, one poll after the other; random histories and kills lose none."""

from __future__ import annotations

import asyncio
import json
import os
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events import observer
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.changes import (
    advance,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.events import (
    KINDS,
    AccountEvent,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    Drift,
    Observer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state import (
    SourceOptions,
    State,
    StateFile,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import FilePath
from ansible_collections.hosted.services.plugins.plugin_utils._events import source
from ansible_collections.hosted.services.plugins.plugin_utils._events.source import Source
from ansible_collections.hosted.services.scripts.schemas import of_events
from unit.plugins.module_utils._resources.account_events.histories import Frame, FrameClient, history
from unit.plugins.module_utils._resources.account_events.history_model import MAX_AGE, Expected, expected
from unit.plugins.module_utils._resources.account_events.polls import (
    BEGIN,
    URL,
    Polls,
    app,
    entry,
    service,
    types,
)

HISTORIES = int(os.environ.get("EVENT_HISTORIES", "150"))
SCHEMA = Draft202012Validator(of_events())
POLLS = 25
SHORT = 1e-6
OPTIONS = SourceOptions(
    max_daily_spend=Decimal(1),
    backup_max_age=MAX_AGE / timedelta(hours=1),
    backup_interval=SHORT,
    blueprints=[FilePath("/games.yml")],
    drift_interval=SHORT,
)


class Killed(BaseException):
    """The process was killed here. Nothing catches it."""


@dataclass
class Machine:
    """What outlives a kill: the disk, and what was put on the queue. Kills at given operations."""

    kills: Iterator[int]
    content: str | None = None
    delivered: list[dict[str, Any]] = field(default_factory=list)
    left: int = 0

    def __post_init__(self) -> None:
        self.left = next(self.kills)

    def operate(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.left = next(self.kills)
            raise Killed

    async def put(self, event: dict[str, Any]) -> None:
        self.operate()
        self.delivered.append(event)
        self.operate()


class MemoryRecord:
    """A state file on the disk of a machine."""

    path = "s.json"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def read(self) -> State:
        content = self.machine.content
        return State() if content is None else State.model_validate_json(content)

    def write(self, state: State) -> None:
        self.machine.operate()
        self.machine.content = state.model_dump_json()
        self.machine.operate()


class Frames:
    """In the place of the account: shows a frame at each poll."""

    options = OPTIONS

    def __init__(self) -> None:
        self.frame: Frame | None = None
        self.unmatched: list[str] = []
        self.observer = Observer(
            Account(cast(Any, FrameClient)),
            OPTIONS,
            lambda client, path: cast(Any, client).compare(client, path),
        )

    def look(self, before: State) -> State:
        assert self.frame is not None
        self.observer.account = Account(FrameClient(self.frame))  # type: ignore[arg-type]
        return advance(before, self.observer.observe(before, self.frame.now), self.frame.now, OPTIONS, URL)


def kills(seed: int) -> Iterator[int]:
    dice = random.Random(seed)
    often = dice.choice((3, 8, 30, 10**9))
    while True:
        yield dice.randint(1, often)


async def live(frames: list[Frame], machine: Machine) -> list[Frame]:
    """Run the source over a history, started again after each kill. Return the polls that count."""
    account, counted, running = Frames(), [], None
    for frame in frames:
        account.frame = frame
        before = machine.content
        try:
            if running is None:
                running = Source(account, StateFile(cast(Any, MemoryRecord(machine))))  # type: ignore[arg-type]
                await running.deliver(machine)
            before = machine.content
            unchanged = running.file.state
            await running.turn()
            if machine.content != before or running.file.state is unchanged:
                counted.append(frame)
                before = machine.content
            await running.deliver(machine)
        except Killed:
            if sequence(machine.content) != sequence(before) or rest(machine.content) != rest(before):
                counted.append(frame)
            running = None
    return counted


def sequence(content: str | None) -> int:
    return 0 if content is None else State.model_validate_json(content).sequence


def rest(content: str | None) -> dict[str, Any] | None:
    return None if content is None else State.model_validate_json(content).model_dump(exclude={"outbox"})


async def flush(machine: Machine) -> None:
    """Start once more, without a kill, and deliver what is left."""
    machine.left = 10**9
    await Source(Frames(), StateFile(cast(Any, MemoryRecord(machine)))).deliver(machine)  # type: ignore[arg-type]


def described(event: dict[str, Any]) -> Expected:
    about = event.get("backup") or event.get("service") or event.get("application")
    if about is not None:
        return event["type"], about["id"]
    places = "".join(each["path"] for each in event.get("differences", []))
    return event["type"], str(event.get("threshold_days", event.get("measure", places)))


def told(machine: Machine) -> list[dict[str, Any]]:
    """Return the events that were delivered, each once. Repeats must say so, and be the same."""
    once: dict[str, dict[str, Any]] = {}
    for event in machine.delivered:
        plain = {**event, "redelivered": False}
        if event["id"] in once:
            assert event["redelivered"]
            assert once[event["id"]] == plain
        once.setdefault(event["id"], plain)
    return list(once.values())


@pytest.mark.parametrize("part", range(10))
def test_nothing_is_lost_and_nothing_is_told_twice(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a model that knows the truth, and is killed before, between and after all that lasts."""
    monkeypatch.setattr(observer, "MAX_IDLE_READS", 1000)  # each stopped service has its turn at each poll

    async def at_once(call: Any, *arguments: Any) -> Any:
        return call(*arguments)

    monkeypatch.setattr(source, "in_thread", at_once)  # threads would show nothing here

    async def all_of_part() -> Counter[str]:
        kinds: Counter[str] = Counter()
        for seed in range(part, HISTORIES, 10):
            machine = Machine(kills(seed))
            counted = await live(history(seed, POLLS), machine)
            await flush(machine)
            events = told(machine)
            for event in events if seed < 20 else ():  # it takes longer than all the rest
                SCHEMA.validate({**event, "meta": {"uuid": str(uuid.UUID(event["id"]))}})
            assert sorted(map(described, events)) == sorted(expected(counted)), f"history {seed}"
            assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
            kinds.update(event["type"] for event in events)
            kinds["repeats"] += len(machine.delivered) - len(events)
        return kinds

    kinds = asyncio.run(all_of_part())
    print(f"part {part}: {sum(kinds.values()) - kinds['repeats']} events, {kinds}")
    assert kinds["repeats"] > 0, "no kill came between the queue and the note"


# --- Backups ----------------------------------------------------------------------------------------


def test_a_service_that_must_have_a_backup_is_named() -> None:
    for patterns, told in ((None, []), (["other*"], []), (["name of *"], ["backups_stale"])):
        polls = Polls(backup_max_age=1.0, backup_services=patterns)
        old = service().model_copy(update={"created_at": (BEGIN - timedelta(days=2)).isoformat()})
        assert types(polls.see(old, backups={"s1": []})) == told


# --- Blueprints -------------------------------------------------------------------------------------


def drift(polls: Polls, *paths: str) -> list[dict[str, Any]]:
    """Poll, with these differences, and return the events."""
    differences = [
        {"kind": "differs", "path": path, "file": "secret", "platform": "secret"} for path in paths
    ]
    return polls.see(drift={"games.yml": Drift("games", differences)})


def test_values_that_differ_are_not_shown() -> None:
    [event] = drift(Polls(), "services.world.variables")
    assert "secret" not in str(event)
    assert event["differences"] == [
        {"kind": "differs", "path": "services.world.variables", "changed_by": None}
    ]


APP = service(family="APP")
RUNS: dict[str, Any] = {"states": {"s1": "running"}}
STOPPED: dict[str, Any] = {"states": {"s1": "stopped"}}


def stopped_by_itself(polls: Polls, number: int, minutes: float = 1) -> list[int]:
    """Let a service run and stop, and return how often it has stopped as the event says."""
    polls.see(service(), **RUNS, minutes=minutes)
    events = polls.see(service(), **STOPPED, entries={"s1": [entry("POWER_START", number)]})
    return [event["stops"] for event in events if event["type"] == "service_stopped"]


def test_an_event_counts_the_stops_of_the_last_hour() -> None:
    polls = Polls()
    assert [stopped_by_itself(polls, number) for number in (1, 2, 3)] == [[1], [2], [3]]
    assert stopped_by_itself(polls, 4, minutes=59) == [2]
    assert stopped_by_itself(polls, 5, minutes=61) == [1]
    assert stopped_by_itself(polls, 6, minutes=-600) == [1], "the clock was set back"


def test_trouble_that_was_there_before_may_be_left_out() -> None:
    assert types(Polls().see(service(status="FAILED"))) == ["service_failed"]
    polls = Polls(report_existing=False)
    assert polls.see(service(status="FAILED"), service("s2")) == []
    assert types(polls.see(service(status="FAILED"), service("s2", "FAILED"))) == ["service_failed"]


def look(polls: Polls, shown: App, **seen: Any) -> list[dict[str, Any]]:
    """Poll while an application runs, and return the events."""
    return polls.see(APP, **RUNS, apps={"s1": shown}, **seen)


def test_a_deploy_that_changed_nothing_may_be_in_the_journal() -> None:
    polls = Polls()
    assert look(polls, app()) == []
    polls.see(APP, states={"s1": "starting"}, entries={"s1": [entry("POWER_START", 1)]}, apps={"s1": app()})
    [event] = look(polls, app(), entries={"s1": [entry("DEPLOY_FAILED", 2)]})
    assert event["type"] == "deploy_failed"
    assert look(polls, app()) == []


FILE = Path(__file__).parents[6] / "extensions/eda/plugins/event_source/account.schema.json"


def test_the_file_is_that_of_the_models() -> None:
    assert json.loads(FILE.read_text()) == of_events(), "run `make documents`"


@pytest.mark.parametrize("kind", KINDS.values())
def test_each_field_is_described(kind: type[AccountEvent]) -> None:
    assert kind.__doc__
    named = {"type", "service", "application", "backup", "differences"}
    assert [
        name for name, field in kind.model_fields.items() if name not in named and not field.description
    ] == []
