# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wrong input: one clear error, no traceback, no secret, and nothing changed on the platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, Run, begin_anew
from integration.results import compare
from integration.test_documentation import PHRASES

SEED: dict[str, Any] = {
    "balance_cents": 5,
    "projects": ["games"],
    "services": [
        {"name": "survival", "product": "minecraft", "project": "games"},
        {"name": "archive", "product": "minecraft", "project": "games", "backups": [{"name": "nightly-1"}]},
    ],
}
SECRETS = {
    "two_lines": "first-line-of-a-file\nsecond-line-of-a-file",
    "wrong_token": "a-token-that-nobody-knows",
    "private_key": ed25519.Ed25519PrivateKey.generate()
    .private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.OpenSSH, serialization.NoEncryption()
    )
    .decode(),
}


class Case(NamedTuple):
    """A task that has to fail: its module, its arguments, and what the error has to say."""

    module: str
    arguments: dict[str, Any]
    says: list[str]


CONNECTION = """
no token: {says: [token is not set, HOSTED_SERVICES_TOKEN]}
token of several lines: {given: {token: "{{ two_lines }}"}, says: [2 lines]}
token that is not known: {given: {token: "{{ wrong_token }}"}, says: [the token was not accepted (40]}
token of a small scope: {module: service, given: {token: sandbox-registry-token}, says: [refused (403), FULL]}
token file that is missing:
  {given: {token_file: /nowhere/token}, says: ["token_file '/nowhere/token'", No such file]}
private key as a token file: {given: {token_file: "{{ key_file }}"}, says: [lines]}
host that cannot be reached:
  given: {token: "{{ good }}", base_url: "http://127.0.0.1:1", retries: 0}
  says: [cannot connect, Connection refused, base_url]
http to another machine:
  given: {token: "{{ good }}", base_url: "http://api.example.com"}
  says: ["http://api.example.com", https, allow_http_hosts]
password in the URL:
  given: {token: "{{ good }}", base_url: "https://me:{{ wrong_token }}@api.example.com"}
  says: [user name or a password]
URL with a path:
  {given: {token: "{{ good }}", base_url: "{{ url }}/api"}, says: ["404", Is base_url the address]}
authorities that are missing:
  given: {token: "{{ good }}", base_url: "https://127.0.0.1:1", ca_path: /nowhere/ca.pem}
  says: [/nowhere/ca.pem]
"""
"""Tasks, of module `project` unless they name another, by what is wrong with the connection."""
PLATFORM = """
project without name or id:
  {module: project, given: {state: present}, says: ["one of the following is required: name, id"]}
option that does not exist:
  {module: project, given: {name: new, colour: red}, says: [Unsupported parameters, colour]}
value that is no choice: {module: project, given: {name: new, state: gone}, says: ["present, absent", gone]}
unknown project: {order: {project: gamse}, says: [unknown project 'gamse', "did you mean 'games'?"]}
size and preset: {order: {preset: preset-small}, says: [mutually exclusive, preset]}
budget exceeded: {order: {max_monthly: 5}, says: ["10.74", "5.00", max_monthly]}
size of the wrong type: {order: {dimensions: {cpu_cores: many}}, says: [cpu_cores, int]}
unknown part of a size: {order: {dimensions: {gpus: 1}}, says: [gpus, Supported parameters]}
list for a name: {order: {name: [a, b]}, says: [name is a list, must be a string]}
variables beside a slip of the pen:
  {order: {variables: {PASSWORD: "{{ wrong_token }}"}, nmae: new}, says: [Unsupported parameters, nmae]}
backups that would be lost:
  {module: service, given: {name: archive, state: absent}, says: [nightly-1, "delete_backups: true"]}
private key as a public one:
  module: ssh_key
  given: {name: laptop, public_key: "{{ private_key }}"}
  says: [private key, Nothing was sent]
private key beside a slip of the pen:
  module: ssh_key
  given: {public_key: "{{ private_key }}", nmae: laptop}
  says: [Unsupported parameters, nmae]
key file that is missing:
  module: ssh_key
  given: {name: laptop, public_key_file: /nowhere/key.pub}
  says: [/nowhere/key.pub, No such file]
fingerprint that was cut short:
  module: ssh_key
  given: {fingerprint: "SHA256:abcdef", state: absent}
  says: ["'SHA256:abcdef'", 43 characters]
wait of less than nothing:
  module: service
  given: {name: survival, state: stopped, wait_timeout: -5}
  says: [wait_timeout is -5, 0 or more]
patterns in one text:
  module: sftp_sync
  given: {service: survival, src: x, dest: x, delete: true, exclude: "a.log,b.db"}
  says: ["exclude is 'a.log,b.db'", write a list]
"""
"""Tasks by what is wrong with them. An `order` changes one of 10.74 a month."""
ORDER = {
    "name": "new",
    "product": "minecraft",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}


def read(table: str) -> dict[str, Case]:
    return {
        name: Case("service", {**ORDER, **case["order"]}, case["says"])
        if "order" in case
        else Case(case.get("module", "project"), case.get("given", {}), case["says"])
        for name, case in yaml.safe_load(table).items()
    }


CONNECTION_CASES, PLATFORM_CASES = read(CONNECTION), read(PLATFORM)
CASES = {**CONNECTION_CASES, **PLATFORM_CASES}
AS_MODULE_TOO = (
    "no token", "token of several lines", "http to another machine", "project without name or id",
    "option that does not exist", "value that is no choice", "budget exceeded", "unknown part of a size",
    "private key as a public one", "private key beside a slip of the pen",
    "variables beside a slip of the pen", "list for a name", "patterns in one text",
)  # fmt: skip


def task(name: str, case: Case, check: bool) -> dict[str, Any]:
    """Return a case as a task that may fail."""
    return {
        "name": f"{name}, in check mode" if check else name,
        f"hosted.services.{case.module}": case.arguments,
        "check_mode": check,
        "ignore_errors": True,
    }


def playbook(names: tuple[str, ...], checks: tuple[bool, ...]) -> str:
    """Return a playbook, as JSON and so as YAML, of these cases."""

    def block(cases: dict[str, Case]) -> list[dict[str, Any]]:
        return [task(name, case, check) for name, case in cases.items() if name in names for check in checks]

    token = {"group/hosted.services.all": {"token": "{{ good }}"}}
    name = {"hosted.services.project": {"name": "new"}, "hosted.services.service": {"name": "new"}}
    blocks = [
        {"block": block(CONNECTION_CASES), "module_defaults": name},
        {"block": block(PLATFORM_CASES), "module_defaults": token},
    ]
    return json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": blocks}])


class Wrongs(NamedTuple):
    """A run of cases, with the platform as it was before and as it was afterwards."""

    run: Run
    before: dict[str, Any]
    after: dict[str, Any]
    journal: list[dict[str, Any]]


def records(sandbox: Sandbox) -> dict[str, Any]:
    """Return all that the platform holds, apart from what time it is."""
    found: dict[str, Any] = sandbox.control("GET", "/state")["records"]
    del found["meta"]
    return found


def commit(sandbox: Sandbox, folder: Path, names: tuple[str, ...], in_process: bool, *checks: bool) -> Wrongs:
    """Run the cases on a platform whose clock stands still."""
    begin_anew(sandbox)
    sandbox.seed(SEED)
    sandbox.clock(freeze=True)
    key_file = folder / "key"
    key_file.write_text(SECRETS["private_key"])
    variables = {**SECRETS, "good": sandbox.token, "key_file": str(key_file), "url": sandbox.base_url}
    before = records(sandbox)
    run = Ansible(folder, sandbox).playbook(
        playbook(names, checks),
        "-vvv",
        in_process=in_process,
        env={"HOSTED_SERVICES_TOKEN": None},
        variables=variables,
    )
    after = records(sandbox)
    journal = sandbox.journal()
    sandbox.clock(freeze=False)
    return Wrongs(run, before, after, journal)


@pytest.fixture(scope="module")
def wrongs(server: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wrongs]:
    """All cases, each for real and in check mode, inside the controller."""
    yield commit(server, tmp_path_factory.mktemp("wrongs"), tuple(CASES), True, True, False)


def shown(run: Run) -> str:
    """Return all that a person can get to see of a run."""
    return run.output + json.dumps([outcome.result for outcome in run.outcomes])


def leaked(run: Run) -> list[str]:
    """Return the pieces of secrets that are to be seen in a run."""
    lines = [line for secret in SECRETS.values() for line in secret.splitlines()]
    pieces = ["sandbox-full-token", *(line for line in lines if "PRIVATE KEY" not in line)]
    return [piece for piece in pieces if piece in shown(run)]


FORESEEN = {"unknown project"}
"""What an earlier task of the play may be about to create, so that check mode goes on."""


@pytest.mark.parametrize("name", CASES)
def test_the_error_says_what_is_wrong(name: str, wrongs: Wrongs) -> None:
    """One sentence holds the value, the limit, or what to do; check mode says the same, or warns of it.

    Whoever searches the pages on troubleshooting for the message finds what to do.
    """
    outcome = wrongs.run[name]
    assert outcome.outcome == "failed", outcome
    for words in CASES[name].says:
        assert words in outcome.message
    assert "\n" not in outcome.message.strip()
    assert outcome.result["changed"] is False
    checked = wrongs.run[f"{name}, in check mode"]
    if name in FORESEEN:
        assert any(outcome.message in warning for warning in checked.result["warnings"])
    else:
        assert checked.message == outcome.message
    said = outcome.message
    assert [phrase for phrase in PHRASES if all(part in said for part in phrase.split("…"))], said


def test_nothing_is_shown_and_nothing_changed(wrongs: Wrongs) -> None:
    """No write was sent, quotes excepted, and the platform is what it was to the last field."""
    assert "Traceback" not in shown(wrongs.run)
    assert leaked(wrongs.run) == []
    writes = {line["route"] for line in wrongs.journal if line["method"] != "GET"}
    assert writes <= {"order.quote"}
    assert wrongs.before == wrongs.after
    assert wrongs.before["service"]


@pytest.mark.night
def test_a_module_says_the_same(wrongs: Wrongs, server: Sandbox, tmp_path: Path) -> None:
    """The errors are those of the in-process way, key by key."""
    here, there = wrongs.run, commit(server, tmp_path, AS_MODULE_TOO, False, False)
    again: list[Outcome] = [outcome for outcome in here.outcomes if outcome.name in AS_MODULE_TOO]
    compare(Run(here.rc, "", "", again), there.run)
    assert "Traceback" not in shown(there.run)
    assert leaked(there.run) == []
    assert there.before == there.after
