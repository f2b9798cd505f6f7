# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which calls a poll makes, and what it makes of those that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    HostedError,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.changes import advance
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observation import (
    Drift,
    Observation,
    State,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    MAX_BACKUP_READS,
    MAX_IDLE_READS,
    Observer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from unit.plugins.fakes import Readable
from unit.plugins.module_utils._resources.account_events.polls import new_state

NOW = datetime(2026, 3, 1, tzinfo=UTC)


class CountingClient(Readable):
    """An account that notes each call. ``errors`` are raised by the call of that name."""

    def __init__(self, **services: str) -> None:
        self.records = {id: ("GAME", state) for id, state in services.items()}
        self.statuses: dict[str, str] = {}
        self.app_records: list[m.App] = []
        self.calls: list[tuple[Any, ...]] = []
        self.errors: dict[str, HostedError] = {}
        self.journal = [
            m.Event(id="2", type="POWER_STOP", at="2"),
            m.Event(id="1", type="POWER_START", at="1"),
        ]
        self.restoring: set[str] = set()

    def _call(self, name: str, *arguments: Any) -> None:
        self.calls.append((name, *arguments))
        if name in self.errors:
            raise self.errors[name]

    def services(self) -> list[m.ServiceSummary]:
        self._call("services")
        return self.summaries()

    def summaries(self) -> list[m.ServiceSummary]:
        return [
            m.ServiceSummary(id=id, name=id, family=family, status=self.statuses.get(id, "ACTIVE"))
            for id, (family, _state) in self.records.items()
        ]

    def service(self, id: str) -> m.Service | None:
        self._call("service", id)
        if id not in self.records:
            return None
        record = {"id": id, "name": id, "family": "GAME", "status": self.statuses.get(id, "ACTIVE")}
        return m.Service.model_validate({**record, "failureReason": "token tok is wrong"})

    def metrics(self, ids: Sequence[str]) -> dict[str, m.Metrics | None]:
        self._call("metrics", *ids)
        return {id: m.Metrics(state=self.records[id][1]) for id in ids}

    def apps(self) -> list[m.App]:
        self._call("apps")
        return self.app_records

    def billing_overview(self) -> m.BillingOverview:
        self._call("billing_overview")
        return m.BillingOverview()

    def events(self, id: str, limit: int | None = None, *, since: str | None = None) -> list[m.Event]:
        self._call("events", *filter(None, (id, since)))
        return self.journal if since is None else []

    def backups(self, id: str) -> list[m.Backup]:
        self._call("backups", id)
        return [m.Backup(id="b", name="b", status="RESTORING")] if id in self.restoring else []

    def clone(self) -> CountingClient:
        return self

    def set_pace(self, *hooks: object) -> None:
        """There is none."""

    def close(self) -> None:
        """There is no connection."""

    def whoami(self) -> m.Whoami:
        self._call("whoami")
        return m.Whoami()


class Watched:
    """An account, its observer and its state."""

    def __init__(self, client: CountingClient, **given: Any) -> None:
        self.client, self.options = client, SourceOptions(**{"backup_interval": 0, **given})
        self.state: State = new_state()
        self.now = NOW
        self.observer = Observer(
            Account(cast(Client, client)),
            self.options,
            self.compare,
            lambda text: text.replace("tok ", "*** "),
        )

    def restart(self) -> None:
        """Go on with what the state file holds, and nothing else."""
        self.state = State.model_validate_json(self.state.model_dump_json())
        self.observer = Watched(self.client).observer

    def compare(self, client: Any, path: str) -> Drift:
        """Note a comparison."""
        self.client.calls.append(("compare", path))
        return Drift("games")

    def poll(self, seconds: float = 60) -> list[str]:
        """Poll, and return the calls as text."""
        self.client.calls.clear()
        self.now += timedelta(seconds=seconds)
        self.seen: Observation = self.observer.observe(self.state, self.now)
        self.state = advance(self.state, self.seen, self.now, self.options, "https://api.example.com")
        return [" ".join(call) for call in self.client.calls]


LISTS = ["services", "apps", "billing_overview"]


def test_a_quiet_account_takes_three_calls_and_one_for_fifty_containers() -> None:
    account = Watched(CountingClient(**{f"s{number}": "running" for number in range(121)}))
    account.poll()
    calls = account.poll()
    assert calls[:3] == LISTS
    assert [call.split()[0] for call in calls[3:]] == ["metrics"] * 3
    assert sorted(len(call.split()) - 1 for call in calls[3:]) == [21, 50, 50]


def test_the_journal_is_read_of_what_changed() -> None:
    account = Watched(CountingClient(a="running", b="running"))
    account.poll()
    account.client.records["a"] = ("GAME", "stopped")
    assert account.poll()[4:] == ["backups a", "events a"]
    assert account.state.known_services["a"].entry == "2"
    account.client.records["a"] = ("GAME", "running")
    assert account.poll()[4:] == ["events a 2"]
    assert account.poll()[4:] == []
    account.client.records["b"] = ("GAME", "unknown")
    assert account.poll()[4:] == []


def test_backups_are_read_of_what_stopped_for_no_known_reason() -> None:
    account = Watched(CountingClient(a="running", b="running"))
    account.client.journal = []
    account.poll()
    account.client.records = {"a": ("GAME", "stopped"), "b": ("GAME", "stopped")}
    account.client.restoring = {"a"}
    assert account.poll()[4:] == ["backups a", "events a", "backups b", "events b"]
    assert account.seen.restoring == {"a"}
    assert [event["service"]["id"] for event in account.state.outbox] == ["b"]
    account.client.restoring = set()
    assert "backups a" in account.poll() and "backups b" not in account.poll()
    assert [event["service"]["id"] for event in account.state.outbox] == ["b", "a"]


def test_a_restore_that_ends_while_it_is_looked_for_is_no_stop() -> None:
    class Ending(CountingClient):
        """Ends its restore after the journal was read, and before the backups are."""

        def backups(self, id: str) -> list[m.Backup]:
            self.journal = [
                m.Event(id="1", type="BACKUP_RESTORED", at=(NOW + timedelta(minutes=2)).isoformat())
            ]
            return super().backups(id)

    account = Watched(Ending(a="running"))
    account.client.journal = []
    account.poll()
    account.client.records = {"a": ("GAME", "stopped")}
    account.poll()
    account.client.records = {"a": ("GAME", "running")}
    account.poll()
    assert account.state.outbox == ()


def test_services_that_are_stopped_by_order_are_looked_at_in_turn() -> None:
    account = Watched(CountingClient(**{f"s{number}": "stopped" for number in range(5)}))
    account.poll()
    turns = [[call.split()[1] for call in account.poll()[4:]] for _poll in range(3)]
    assert [len(turn) for turn in turns] == [MAX_IDLE_READS] * 3
    assert turns[:2] == [["s0", "s1", "s2"], ["s3", "s4", "s0"]]


def test_the_reason_of_a_failure_is_read_once_and_redacted() -> None:
    client = CountingClient(a="running")
    client.statuses["a"] = "FAILED"
    account = Watched(client)
    assert account.poll()[3:] == ["service a"]
    assert account.state.outbox[-1]["reason"] == "token *** is wrong"
    assert account.poll()[3:] == []


def test_backups_are_read_at_their_own_pace_some_at_a_time() -> None:
    services = {f"s{number}": "running" for number in range(MAX_BACKUP_READS + 3)}
    account = Watched(CountingClient(**services), backup_interval=3600)
    assert len([call for call in account.poll() if call.startswith("backups")]) == MAX_BACKUP_READS
    assert len([call for call in account.poll() if call.startswith("backups")]) == 3
    assert [call for call in account.poll() if call.startswith("backups")] == []
    assert len([call for call in account.poll(3600) if call.startswith("backups")]) == MAX_BACKUP_READS


@pytest.mark.parametrize(
    ("call", "lacks"),
    [
        ("apps", lambda seen: seen.apps is None),
        ("billing_overview", lambda seen: seen.overview is None),
        ("metrics", lambda seen: seen.states == {}),
        ("backups", lambda seen: seen.backups == {}),
        ("events", lambda seen: seen.entries == {}),
    ],
)
def test_a_part_that_cannot_be_read_is_unknown(call: str, lacks: Callable[[Observation], bool]) -> None:
    account = Watched(CountingClient(a="stopped"), backup_interval=3600)
    account.client.errors[call] = UnexpectedAnswer("the platform repeats the cursor '5'; stopped")
    account.poll()
    assert lacks(account.seen)
    assert {error.message for error in account.observer.problems} == {account.client.errors[call].message}
    assert account.state.services is not None


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_for_applications_is_not_tried_at_each_poll(status: int) -> None:
    account = Watched(CountingClient(a="running"))
    account.client.errors["services"] = error_for_status("needs FULL", status)
    assert account.poll() == ["services", "whoami", "apps"]
    assert account.seen.limited
    assert account.poll() == ["apps"]
    assert account.poll(3600) == ["services", "whoami", "apps"]
    del account.client.errors["services"]
    assert account.poll(3600)[0] == "services"
    assert not account.seen.limited


def test_a_token_that_is_not_accepted_is_an_error() -> None:
    account = Watched(CountingClient(a="running"))
    account.client.errors["services"] = error_for_status("who is that", 401)
    account.client.errors["whoami"] = error_for_status("nobody", 401)
    with pytest.raises(HostedError, match="nobody"):
        account.poll()
