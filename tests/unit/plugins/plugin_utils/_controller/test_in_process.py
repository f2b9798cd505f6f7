# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pieces of the way inside the controller that need no controller."""

from __future__ import annotations

import os
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.playbook.play_context import PlayContext
from ansible.playbook.task import Task as AnsibleTask

from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Transport
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.plugin_utils._controller import in_process
from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import (
    InProcessAction,
    check_own_name,
    with_host_variables,
    with_readable_token,
)
from unit.plugins.fakes import FakeClient

URL = "https://api.example.com"
WEB = {
    "inventory_hostname": "web",
    "hosted_service_id": "6a88-1",
    "hosted_url": URL,
    "ansible_host": "sftp.x",
}
LOST = {"inventory_hostname": "web", "hosted_service_id": "6a88-1", "hosted_url": URL}
TO_LOCALHOST = {"ansible_delegated_vars": {"localhost": {"ansible_host": "localhost"}}}


@pytest.mark.parametrize(
    ("resource", "arguments", "variables", "filled"),
    [
        (SERVICE, {}, WEB, {"id": "6a88-1", "base_url": URL}),
        (SERVICE, {"base_url": URL}, WEB, {"id": "6a88-1", "base_url": URL}),
        (SERVICE, {"base_url": "https://other"}, WEB, {"base_url": "https://other"}),
        (SERVICE, {"name": "games"}, WEB, {"name": "games", "base_url": URL}),
        (SERVICE, {"name": None}, WEB, {"name": None, "base_url": URL}),
        (SERVICE, {}, {**WEB, "inventory_hostname": "localhost"}, {"base_url": URL}),
        (SERVICE, {}, {**WEB, "inventory_hostname": "127.0.0.1"}, {"base_url": URL}),
        (BACKUP, {"name": "nightly"}, WEB, {"services": "6a88-1", "name": "nightly", "base_url": URL}),
        (PROJECT, {"name": "x"}, WEB, {"name": "x", "base_url": URL}),
        (SFTP_SYNC, {"src": "a"}, WEB, {"src": "a", "host": "sftp.x"}),
        (SFTP_SYNC, {"src": "a", "port": None}, {**WEB, "ansible_port": 22},
         {"src": "a", "port": None, "host": "sftp.x"}),
        (SFTP_SYNC, {"src": "a"}, {**WEB, "inventory_hostname": "localhost"}, {"src": "a"}),
        (SFTP_SYNC, {"host": "sftp.x"}, LOST, {"host": "sftp.x"}),
        (SFTP_SYNC, {"service": "x", "token": "t"}, LOST, {"service": "x", "token": "t", "base_url": URL}),
        (SFTP_SYNC, {}, {"inventory_hostname": "web.example.com"}, {"host": "web.example.com"}),
        (SFTP_SYNC, {}, {**WEB, **TO_LOCALHOST, "hostvars": {"web": WEB}}, {"host": "sftp.x"}),
        (SFTP_SYNC, {}, {**LOST, "ansible_host": "web", "hostvars": {"web": {"ansible_host": "web"}}},
         {"host": "web"}),
        (SFTP_SYNC, {}, {**LOST, "ansible_host": "localhost", "ansible_ssh_host": "ssh.x", **TO_LOCALHOST},
         {"host": "ssh.x"}),
    ],
)  # fmt: skip
def test_a_task_works_on_the_service_of_its_host(
    resource: Resource,
    arguments: dict[str, Any],
    variables: dict[str, Any],
    filled: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Unless it selects another, runs on this machine, or speaks to another platform."""
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"HOSTED_SERVICES_{name}", raising=False)
    completed = with_host_variables(resource, arguments, {}, variables, lambda value: value)
    assert completed.arguments == filled


FILLED_IN = {
    "inventory_hostname": "nas.example.com",
    "ansible_host": "localhost",
    "ansible_port": 2222,
    "ansible_user": "backup",
    "ansible_private_key_file": "/keys/backup",
}
"""The variables of a task that is delegated: those of the connection are of the other machine."""


@pytest.mark.parametrize(
    ("own", "host"),
    [
        ({}, {"host": "nas.example.com"}),
        ({"vars": {}, "hostvars": {"nas.example.com": {}}}, {"host": "nas.example.com"}),
        ({"ansible_ssh_host": "nas.x", "ansible_ssh_port": 24}, {"host": "nas.x", "port": 24}),
        ({"ansible_ssh_user": "me"}, {"host": "nas.example.com", "username": "me"}),
        ({"vars": FILLED_IN}, {"host": "localhost", "port": 2222, "username": "backup",
                               "private_key_file": "/keys/backup"}),
        ({"vars": {"ansible_port": 2222}}, {"host": "nas.example.com", "port": 2222}),
        ({"hostvars": {"nas.example.com": {"ansible_user": "backup"}}},
         {"host": "nas.example.com", "username": "backup"}),
    ],
)  # fmt: skip
def test_a_delegated_task_takes_nothing_of_the_other_machine(
    own: dict[str, Any], host: dict[str, Any]
) -> None:
    variables = {**FILLED_IN, **TO_LOCALHOST, **own}
    assert with_host_variables(SFTP_SYNC, {}, {}, variables, lambda value: value).arguments == host


@pytest.mark.parametrize(
    ("resource", "arguments", "refused"),
    [
        (SERVICE, {"name": "db_6a88", "state": "absent"}, True),
        (BACKUP, {"services": ["web", "db_6a88"], "name": "nightly"}, True),
        (BACKUP, {"service": "db_6a88", "name": "nightly"}, True),
        (BACKUP, {"service": "db", "name": "db_6a88"}, False),
        (SERVICE, {"name": "db"}, False),
        (SERVICE, {"id": "6a88-1"}, False),
    ],
)
def test_the_name_of_a_host_is_not_taken_for_that_of_its_service(
    resource: Resource, arguments: dict[str, Any], refused: bool
) -> None:
    """An inventory changes names that it has twice; an order by the new one would double the service."""
    host = {"inventory_hostname": "db_6a88", "hosted_name": "db", "hosted_service_id": "6a88-1"}
    with pytest.raises(ConfigurationError, match="its service is named 'db'") if refused else nullcontext():
        check_own_name(resource, arguments, host)
    check_own_name(resource, arguments, {**host, "inventory_hostname": "db"})


# --- A task as a whole --------------------------------------------------------------------------------


class ProjectAction(InProcessAction):
    """The action of `project` on an account in memory, and what it handed over to a module."""

    resource: ClassVar[Resource] = PROJECT

    def __init__(
        self, arguments: dict[str, Any], client: FakeClient, transport: str = "local", **task: Any
    ) -> None:
        keywords = {"name": "Test", "action": "hosted.services.project", "args": arguments}
        loaded = AnsibleTask.load({**keywords, **task})
        shell = SimpleNamespace(tmpdir=None)
        connection: Any = SimpleNamespace(
            _shell=shell, transport=transport, become="sudo", has_native_async=False
        )
        loader: Any = DataLoader()
        templar: Any = SimpleNamespace(template=lambda value: value)
        super().__init__(loaded, connection, PlayContext(), loader, templar, None)
        self.client, self.settings = client, list[Connection]()
        self.modules: list[tuple[dict[str, Any], Any]] = []
        self.wrapped: list[bool] = []
        self.brokers: list[tuple[Any, ...]] = []

    def _compute_environment_string(self, raw_environment_out: Any = None) -> str:
        raw_environment_out.update({} if self._task.environment is None else dict(*self._task.environment))
        return ""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        def connect(settings: Connection, log: Any, transport: Transport) -> FakeClient:
            self.settings.append(settings)
            return self.client

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(in_process, "Client", connect)
            patch.setattr(in_process, "connect_to_broker", lambda *given, **_how: self.brokers.append(given))
            return super().run(tmp, task_vars)

    def _execute_module(self, *_given: Any, **options: Any) -> dict[str, Any]:
        self.modules.append((options["module_args"], self._connection.become))
        self.wrapped.append(options["wrap_async"])
        return {"changed": True, "by": "module"}


GAMES = {"base_url": URL, "token": "a-token", "name": "games"}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    for name in ("URL", "TOKEN", "TOKEN_FILE"):
        monkeypatch.delenv(f"HOSTED_SERVICES_{name}", raising=False)
    return FakeClient()


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_task_runs_here(client: FakeClient, check_mode: bool) -> None:
    action = ProjectAction(GAMES, client, check_mode=check_mode, diff=True)
    result = action.run(task_vars={"inventory_hostname": "localhost"})
    assert result["changed"] and not result.get("failed"), result
    assert client.calls == ([] if check_mode else [("create_project", "games")])
    assert result["project"]["name"] == "games" and "games" in result["diff"]["after"]
    assert action.modules == [] and action.settings[0].base_url == URL
    assert "a-token" not in str(result)
    again = ProjectAction({**GAMES, "name": "default"}, client).run(task_vars={})
    assert again["changed"] is False and not again.get("failed") and "diff" not in again


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"name": ""}, "name is empty"),
        ({"name": "games", "nam": "x"}, "Unsupported parameters for (hosted.services.project) module: nam"),
        ({"name": "games", "state": "gone"}, "value of state must be one of"),
        ({"name": "games", "token": None}, "token is null"),
        ({"name": "x" * 61}, "at most 60"),
        ({"name": "games", "retries": float("inf")}, "retries"),
    ],
)
def test_what_is_refused_is_refused_before_anything_is_sent(
    client: FakeClient, arguments: dict[str, Any], complaint: str
) -> None:
    result = ProjectAction({"base_url": URL, "token": "a-token", **arguments}, client).run(task_vars={})
    assert result["failed"] and complaint in result["msg"], result
    assert not result.get("changed") and client.calls == []
    assert "a-token" not in str(result)


def test_the_environment_of_a_task_names_its_platform_and_token(client: FakeClient) -> None:
    environment = [{"HOSTED_SERVICES_URL": URL, "HOSTED_SERVICES_TOKEN": "b-token"}]
    before = dict(os.environ)
    action = ProjectAction({"name": "games"}, client, environment=environment)
    assert action.run(task_vars={})["changed"]
    assert (action.settings[0].base_url, action.settings[0].token) == (URL, "b-token")
    assert action.brokers[0][1], "the broker has the environment of the run"
    assert dict(os.environ) == before, "a worker runs many tasks"
    assert ProjectAction(GAMES, client).run(task_vars={})["changed"] is False


@pytest.mark.parametrize(
    ("variables", "transport", "task", "become"),
    [
        ({"hosted_in_process": False}, "local", {}, None),
        ({}, "ssh", {"delegate_to": "other"}, "sudo"),
        ({}, "local", {"async": 10}, None),
    ],
)
def test_a_task_that_belongs_elsewhere_runs_as_a_module(
    client: FakeClient, variables: dict[str, Any], transport: str, task: dict[str, Any], become: str | None
) -> None:
    action = ProjectAction(GAMES, client, transport, **task)
    result = action.run(task_vars=variables)
    assert result["by"] == "module" and action.settings == [] and client.calls == []
    ((arguments, used),) = action.modules
    assert arguments.items() >= GAMES.items() and used == become
    assert str(action._connection.become) == "sudo", "as it was"


def test_the_limits_of_the_play_hold_for_what_spends(client: FakeClient) -> None:
    """A resource that cannot spend knows no budget."""
    limits = {"hosted_budget": {"run": 5}, "hosted_in_process": False}

    class ServiceAction(ProjectAction):
        resource = SERVICE

    for kind, budget in ((ServiceAction, {"run": "5.00"}), (ProjectAction, None)):
        action = kind(GAMES, client)
        action.run(task_vars=limits)
        assert action.modules[0][0].get("budget") == budget


PASSWORD: Any = [("default", VaultSecret(b"open sesame"))]


TOKENS: list[tuple[dict[str, Any], bool, bool, str, str | None]] = [
    ({"token_file": "plain"}, True, False, "", None),
    ({"token_file": "plain"}, True, True, "", None),
    ({"token_file": "plain"}, False, True, "", "p-token"),
    ({"token_file": "plain"}, False, False, "", None),
    ({"token_file": "vault"}, True, False, "", "v-token"),
    ({"token_file": "vault"}, False, True, "", "v-token"),
    ({"token_file": "vault"}, False, False, "", None),
    ({}, True, False, "vault", "v-token"),
    ({}, False, False, "vault", None),
    ({"token_file": "plain"}, True, False, "vault", None),
]


def test_a_module_is_given_the_token_that_it_cannot_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reads plain files where it runs: those that its host names are on the controller."""
    (tmp_path / "plain").write_text("p-token\n")
    (tmp_path / "vault").write_bytes(VaultLib(PASSWORD).encrypt("v-token\n"))
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    loader.set_vault_secrets(PASSWORD)
    monkeypatch.delenv("HOSTED_SERVICES_TOKEN", raising=False)
    for given, here, of_host, in_environment, token in TOKENS:
        monkeypatch.setenv("HOSTED_SERVICES_TOKEN_FILE", in_environment)
        expected = {"token": token, "token_file": None} if token else given
        found = with_readable_token({"name": "x", **given}, of_host, here, loader)
        assert found == {"name": "x", **expected}
