# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looking at an account: the arguments of the source, what it reads and when, and its state file."""

from __future__ import annotations

import ast
import dataclasses
import errno
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    HostedError,
    UnexpectedAnswer,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.changes import advance
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.observer import (
    MAX_BACKUP_READS,
    MAX_IDLE_READS,
    Drift,
    Observation,
    Observer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state import (
    STATE,
    SourceOptions,
    State,
    open_state,
    read_arguments,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    Options,
    hints_of,
    without_none,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import Record
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import Readable
from unit.plugins.module_utils._resources.account_events.polls import new_state

PLUGIN = ast.parse((Path(__file__).parents[6] / "extensions/eda/plugins/event_source/account.py").read_text())


def text(name: str) -> str:
    for node in PLUGIN.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    raise LookupError(name)


DOCUMENTED: dict[str, Any] = yaml.safe_load(text("DOCUMENTATION"))["options"]


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for each in dataclasses.fields(Options):
        monkeypatch.delenv(each.metadata["environment"], raising=False)


def refusal(**arguments: Any) -> str:
    with pytest.raises(ConfigurationError) as caught:
        read_arguments(arguments)
    return caught.value.message


def test_a_slip_in_a_name_is_an_error_that_names_the_known_ones() -> None:
    said = refusal(base_url="https://api.example.com", min_intervall=5)
    assert "unknown argument 'min_intervall'; did you mean 'min_interval'?" in said
    assert "The arguments are: allow_http_hosts, auth_header" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_interval": "soon"}, "argument 'min_interval' has a value that it cannot have"),
        ({"balance_days": [1, "x"]}, "argument 'balance_days.1'"),
        ({"min_interval": 0}, "min_interval is 0; it must be from 0.05 to"),
        ({"min_interval": "nan"}, "min_interval is nan"),
        ({"min_interval": 60, "max_interval": 30}, "min_interval is longer than max_interval"),
        ({"backup_max_age": -1}, "backup_max_age is -1"),
        ({"max_daily_spend": "-3"}, "max_daily_spend is -3"),
        ({"max_daily_spend": "NaN"}, "'max_daily_spend'"),
        ({"balance_days": [-1]}, "balance_days has a negative number"),
        ({"blueprints": ["/nowhere.yml"]}, "'/nowhere.yml', which is not a file"),
        ({"backup_services": ["db-*", ""]}, "backup_services has an empty pattern"),
        ({"state_name": " "}, "state_name is blank"),
        ({"state_name": "chat", "state_file": "s.json"}, "state_name has no effect with state_file"),
        ({"backup_services": ["db-*"]}, "backup_max_age, after how many hours to tell, is not set"),
    ],
)
def test_a_wrong_value_is_refused_at_the_start(arguments: dict[str, Any], message: str) -> None:
    assert message in refusal(**arguments)


def test_a_secret_is_not_shown_in_a_refusal() -> None:
    assert "hunter2" not in refusal(token=["hunter2"])


def test_variables_of_a_rulebook_may_be_text() -> None:
    found = read_arguments(
        {"min_interval": "5", "report_existing": "false", "balance_days": ["3"], "max_daily_spend": 1.5}
    )
    assert (found.min_interval, found.report_existing, found.balance_days) == (5.0, False, [3])
    assert found.max_daily_spend == Decimal("1.5")


def test_the_environment_fills_what_is_not_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_URL", "https://api.example.com")
    monkeypatch.setenv("HOSTED_SERVICES_TOKEN", "of the environment")
    monkeypatch.setenv("HOSTED_SERVICES_TIMEOUT", "7.5")
    monkeypatch.setenv("HOSTED_SERVICES_ALLOW_HTTP_HOSTS", "nas.lan,other.lan")
    found = read_arguments({"timeout": None})
    assert (found.base_url, found.token, found.timeout) == (
        "https://api.example.com",
        "of the environment",
        7.5,
    )
    assert found.allow_http_hosts == ["nas.lan", "other.lan"]
    assert read_arguments({"token_file": str(tmp_path)}).token is None


# --- What is documented -------------------------------------------------------------------------------


def test_an_argument_that_is_not_given_has_the_default_that_is_documented() -> None:
    told = {name: option.get("default") for name, option in DOCUMENTED.items()}
    assert told == dataclasses.asdict(read_arguments({}))


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_argument_has_the_type_that_is_documented(name: str) -> None:
    hint = without_none(hints_of(SourceOptions)[name])
    kind = "path" if hint is FilePath else getattr(hint, "__name__", "").lower()
    assert DOCUMENTED[name]["type"] == {"decimal": "str"}.get(kind, kind)


def test_the_examples_can_be_used() -> None:
    for rules in yaml.safe_load(text("EXAMPLES")):
        for source in rules["sources"]:
            read_arguments(source["hosted.services.account"])


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
        self.client.calls.append(("compare", path))
        return Drift("games")

    def poll(self, seconds: float = 60) -> list[str]:
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


EVENTS = ({"id": "1", "type": "service_back"}, {"id": "2", "type": "service_back"})


def refusal_of_file(path: str) -> str:
    with pytest.raises(HostedError) as caught, open_state(Record(STATE, path)):
        pass
    return caught.value.message


def test_two_sources_cannot_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "s.json")
    with open_state(Record(STATE, path)):
        assert "another event source uses the state file" in refusal_of_file(path)
    with open_state(Record(STATE, path)):
        pass


def test_a_full_disk_leaves_the_state_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    with open_state(Record(STATE, str(path))) as file:
        file.save(file.state.model_copy(update={"outbox": EVENTS}))
        before = file.state, path.read_text()

        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(Invalid, match="No space"):
            file.save(file.state.model_copy(update={"sequence": 5}))
        assert (file.state, path.read_text()) == before
        with pytest.raises(Invalid, match="No space"):
            file.note_delivered("1")
        assert file.next_event() == {**EVENTS[1], "redelivered": False}, "this process delivers it once"


def test_each_platform_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    one, other = (record_of(SourceOptions(base_url=f"https://{name}.example.com")).path for name in "ab")
    assert one != other
    assert Path(one).parent == tmp_path / "events"
    assert record_of(SourceOptions(base_url="https://A.example.com:443/")).path == one
    named = record_of(SourceOptions(base_url="https://a.example.com", state_name="chat")).path
    assert Path(named).parent == tmp_path / "events" and named not in (one, other)
    assert record_of(SourceOptions(state_file="/tmp/mine.json")).path == "/tmp/mine.json"  # type: ignore[arg-type]
