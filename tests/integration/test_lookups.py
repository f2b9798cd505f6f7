# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lookups in real templates: the values of the moment, settings from everywhere, and nothing shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run

SEED = {
    "projects": ["web", "games"],
    "services": [
        {"name": "db", "product": "postgresql", "project": "web"},
        {"name": "db", "product": "mariadb", "project": "games"},
        {"name": "orders", "product": "postgresql", "project": "web"},
        {"name": "survival", "product": "minecraft", "project": "games"},
    ],
}
CREDENTIALS = "lookup('hosted.services.registry_credentials')"
URL = "lookup('hosted.services.database_url', 'orders')"


@pytest.fixture
def ids(sandbox: Sandbox) -> dict[str, str]:
    """The services by name; of two of one name the one that was made last."""
    found: dict[str, str] = sandbox.seed(SEED)["services"]
    sandbox.clear_journal()
    return found


@pytest.fixture
def url(sandbox: Sandbox, ids: dict[str, str]) -> str:
    """The connection URL that the lookup has to find."""
    connection = sandbox.api("GET", f"/api/resources/{ids['orders']}/database/connection").json()
    sandbox.clear_journal()
    return str(connection["url"])


def write(ansible: Ansible, expression: str, *arguments: str, variables: str = "", **options: Any) -> Run:
    """Write the value of an expression into a file, as a careful task does."""
    content, dest = f"{{{{ {expression} }}}}", str(ansible.folder / "value")
    task = {"content": content, "dest": dest, "mode": "0600"}
    tasks = [{"name": "Write", "ansible.builtin.copy": task, "no_log": True}]
    play = {
        "hosts": "localhost",
        "gather_facts": False,
        "vars": yaml.safe_load(variables or "{}"),
        "tasks": tasks,
    }
    return ansible.playbook(yaml.safe_dump([play]), *arguments, **options)


def written(ansible: Ansible) -> str:
    return (ansible.folder / "value").read_text()


def test_registry_credentials(ansible: Ansible, sandbox: Sandbox) -> None:
    """All four fields, with the least token."""
    ansible.environment["HOSTED_SERVICES_TOKEN"] = sandbox.registry_token
    wanted = sandbox.api("GET", "/api/registry/credentials").json()
    fields = "[c.host, c.project, c.username, c.secret] | join(' ')"
    write(ansible, fields, variables=f'{{c: "{{{{ {CREDENTIALS} }}}}"}}').succeed()
    assert written(ansible) == " ".join(wanted[name] for name in ("host", "project", "username", "secret"))


def test_database_url(ansible: Ansible, sandbox: Sandbox, ids: dict[str, str], url: str) -> None:
    """By id, by name, of which a project can tell two apart, and several at once."""
    games = sandbox.api("GET", f"/api/resources/{ids['db']}/database/connection").json()["url"]
    several = f"query('hosted.services.database_url', '{ids['orders']}', 'orders')"
    narrowed = "[lookup('hosted.services.database_url', 'db', project='games')]"
    write(ansible, f"({several} + {narrowed}) | join(' ')").succeed()
    assert written(ansible) == f"{url} {url} {games}"


REFUSED = {
    "'oders'": "did you mean 'orders'?",
    "'survival'": "the platform refused",
    "": "name a database service",
    "''": "none of the terms may be empty",
    "'db'": "2 services are named 'db'",
    "'db', projct='web'": "unknown option 'projct'; did you mean 'project'?",
    "'db', project='wbe'": "unknown project 'wbe'; did you mean 'web'?",
    "'db', token='wrong'": "the token was not accepted (40",
    "'db', token='sandbox-registry-token'": "requires a token of scope FULL",
    "'db', token='a b'": "token holds a space",
    "'db', base_url=''": "base_url is not set",
    "'orders', project=''": "project is empty",
    "'orders', project=none": "project is null",
    "'orders', family='  '": "family is blank",
    "'orders '": "with a blank or a control character at an end",
    "'orders', token=none": "token is null",
    "'db', timeout='soon'": "soon",
}


@pytest.mark.usefixtures("ids")
def test_refused(ansible: Ansible) -> None:
    """What is wrong is said in one sentence."""
    lookups = {arguments: f"lookup('hosted.services.database_url', {arguments})" for arguments in REFUSED}
    lookups["registry"] = "lookup('hosted.services.registry_credentials', 'shop')"
    tasks = [
        {"name": name, "ansible.builtin.debug": {"msg": f"{{{{ {lookup} }}}}"}, "ignore_errors": True}
        for name, lookup in lookups.items()
    ]
    run = ansible.tasks(yaml.safe_dump(tasks)).succeed()
    assert "Traceback" not in run.output
    for name, words in {**REFUSED, "registry": "an account has one registry"}.items():
        if name:
            assert run[name].outcome == "failed", name
            assert words in run[name].message, name
    assert REFUSED[""] in run.output


@pytest.mark.usefixtures("ids")
def test_nothing_is_shown(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither with -vvvv nor in the debug log; the calls are."""
    env = {"ANSIBLE_LOG_PATH": str(tmp_path / "ansible.log"), "ANSIBLE_DEBUG": "1"}
    run = write(ansible, f"[{URL}, {CREDENTIALS}.secret] | join(' ')", "-vvvv", env=env).succeed()
    secrets = written(ansible).split()
    assert [len(secret) > 8 for secret in secrets] == [True, True]
    assert "-> 200 in" in run.output
    shown = run.output + (tmp_path / "ansible.log").read_text()
    assert not [secret for secret in (*secrets, sandbox.token) if secret in shown]


@pytest.mark.parametrize("errors", ["strict", "warn", "ignore"])
def test_an_error_does_not_show_a_value(errors: str, ansible: Ansible, sandbox: Sandbox, url: str) -> None:
    """Half of the answer came, and with it the password."""
    sandbox.fault("database.connection", "truncated", count=None)
    log = ansible.folder / "ansible.log"
    expression = f"lookup('hosted.services.database_url', 'orders', retries=0, errors='{errors}') or ''"
    play = f'- ansible.builtin.set_fact: {{found: "{{{{ {expression} }}}}"}}'
    run = ansible.tasks(play, env={"ANSIBLE_LOG_PATH": str(log), "ANSIBLE_VERBOSITY": "4"})
    assert (run.rc == 0) is (errors != "strict")
    assert "the connection broke before the response was complete" in " ".join(log.read_text().split())
    password = url.partition("://")[2].partition("@")[0].partition(":")[2]
    assert len(password) > 8
    assert password not in run.output + log.read_text()
    assert sandbox.journal("database.connection")
