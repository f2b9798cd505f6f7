# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""On a host of the inventory a task that names no service works on the host's own, and on no other."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Outcome, Run

SERVICES = [
    {"name": "survival", "product": "minecraft"},
    {"name": "creative", "product": "minecraft"},
    {"name": "orders", "product": "postgresql"},
    {"name": "box", "product": "linux"},
]


class Hosts:
    """An inventory of services, of which plays are run over one; modules run here, as SFTP has no Python."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox) -> None:
        self.ansible, self.sandbox = ansible, sandbox
        self.ids: dict[str, str] = sandbox.seed({"services": SERVICES})["services"]
        inventory = ansible.folder / "inventory"
        inventory.mkdir()
        options = {"plugin": "hosted.services.inventory", "hostvars_prefix": "svc_"}
        (inventory / "hosted.yml").write_text(json.dumps({**options, "base_url": sandbox.base_url}))
        local = f"ansible_connection=local ansible_python_interpreter={sys.executable}"
        (inventory / "more.ini").write_text(f"other {local}\nlocalhost {local}\n")
        ansible.inventory = inventory

    def play(self, host: str, tasks: list[dict[str, Any]], **more: Any) -> Run:
        """Run tasks on a host, as modules on this machine."""
        self.sandbox.clear_journal()
        variables = {"ansible_python_interpreter": sys.executable, "nothing": None}
        play = {
            "hosts": host,
            "gather_facts": False,
            "connection": "local",
            "vars": variables,
            "tasks": tasks,
        }
        return self.ansible.playbook(json.dumps([play]), variables={"ansible_connection": "local"}, **more)

    def touched(self, method: str | None = None, by: Outcome | None = None) -> set[str]:
        """Return the names of the services whose ids were in calls of the last play, or of a task in it."""
        names = {id: name for name, id in self.ids.items()}
        lines = [line for line in self.sandbox.journal(method=method) if "inventory" not in line["agent"]]
        within = [line for line in lines if by is None or by.begun <= line["real_at"] <= by.ended]
        parts = [part for line in within for part in line["path"].split("/")]
        return {names[part] for part in parts if part in names}


@pytest.fixture
def hosts(ansible: Ansible, sandbox: Sandbox) -> Hosts:
    """Four services as hosts, one more host, and localhost."""
    return Hosts(ansible, sandbox)


MODULES: dict[str, dict[str, dict[str, Any]]] = {
    "survival": {
        "backup": {"name": "nightly", "wait_interval": 0.1},
        "backup_info": {},
        "backup_retention": {"pattern": "nightly-*", "keep_last": 1},
        "file": {"path": "motd.txt", "content": "hello"},
        "file_info": {},
        "sftp_password": {"secrets_dest": "{{ playbook_dir }}/password"},
        "sftp_info": {},
        "service": {"state": "started", "wait_interval": 0.1},
    },
    "orders": {"database_query": {"query": "select 1"}, "database_info": {}},
    "box": {"snapshot": {"name": "before"}, "snapshot_info": {}},
}
"""Options of modules by the host that they work on."""


def tasks_of(modules: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a task a module, that may fail."""
    return [task(name, name, options) for name, options in modules.items()]


def task(name: str, module: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, f"hosted.services.{module}": options, "ignore_errors": True}


@pytest.mark.parametrize("host", MODULES)
@BOTH_WAYS
def test_the_service_of_the_host_is_known(in_process: bool, host: str, hosts: Hosts) -> None:
    run = hosts.play(host, tasks_of(MODULES[host]), in_process=in_process).succeed()
    for module in MODULES[host]:
        assert run[module].outcome == "ok", run[module]
        assert hosts.touched(by=run[module]) == {host}, module


@pytest.mark.parametrize("host", ["localhost", "other"])
def test_another_host_knows_no_service(host: str, hosts: Hosts) -> None:
    """Nothing is asked about any service."""
    modules = {module: options for each in MODULES.values() for module, options in each.items()}
    run = hosts.play(host, tasks_of(modules))
    wanted = ("no service is named", "no service is selected", "is required: id, name")
    for module in modules:
        assert run[module].outcome == "failed"
        assert any(words in run[module].message for words in wanted), run[module].message
    assert hosts.touched() == set()


def test_localhost_never_is_a_service(hosts: Hosts) -> None:
    """Whatever variables it has."""
    host = f"localhost hosted_service_id={hosts.ids['survival']} hosted_url={hosts.sandbox.base_url}"
    inventory = hosts.ansible.folder / "inventory" / "more.ini"
    inventory.write_text(f"{host} ansible_connection=local\n")
    run = hosts.play("localhost", tasks_of({"file": {"path": "motd.txt", "content": "hello"}}))
    assert "no service is named" in run["file"].message
    assert hosts.touched() == set()


NAMED: dict[str, tuple[str, dict[str, Any], set[str]]] = {
    "service": ("file_info", {"service": "creative"}, {"creative"}),
    "services": ("backup_info", {"services": ["creative"]}, {"creative"}),
    "alias": ("backup_info", {"service": "creative"}, {"creative"}),
    "family": ("backup_info", {"family": "GAME"}, {"survival", "creative"}),
    "name": ("service", {"name": "creative"}, {"creative"}),
    "deletion": ("service", {"name": "creative", "state": "absent", "delete_backups": True}, {"creative"}),
}


@BOTH_WAYS
def test_what_a_task_names_is_meant(in_process: bool, hosts: Hosts) -> None:
    tasks = [task(name, module, given) for name, (module, given, __) in NAMED.items()]
    run = hosts.play("survival", tasks, in_process=in_process)
    assert not [outcome for outcome in run.outcomes if outcome.failed]
    assert {name: hosts.touched(by=run[name]) for name in NAMED} == {name: NAMED[name][2] for name in NAMED}
    assert hosts.touched("DELETE") == {"creative"}


NOTHING: list[tuple[str, dict[str, Any]]] = [
    ("file_info", {"service": "{{ nothing }}"}),
    ("file_info", {"project": "default"}),
    ("backup_info", {"services": "{{ nothing }}"}),
    ("service", {"id": "{{ nothing }}", "state": "started"}),
    ("service", {"project": "default", "state": "started"}),
    ("service", {"product": "minecraft"}),
    ("service", {"state": "absent", "delete_backups": True}),
    ("file_info", {"base_url": "http://localhost:9", "retries": 0}),
]


@BOTH_WAYS
def test_what_holds_nothing_is_not_the_host(in_process: bool, hosts: Hosts) -> None:
    """A variable without a value does not stand for the host's service, and nothing is deleted unnamed.

    A task that names another platform, last of all, has to name the service there too.
    """
    tasks = [task(module, module, given) for module, given in NOTHING]
    run = hosts.play("survival", tasks, in_process=in_process)
    assert "no service is named" in run.outcomes[-1].message
    assert [outcome.outcome for outcome in run.outcomes] == ["failed"] * len(NOTHING)
    assert hosts.touched() == set()
