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
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, Run, begin_anew
from integration.results import compare

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
    "spaced": "tok en-with-a-space",
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
    says: tuple[str, ...]


def order(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of an order of 10.74 a month, changed by those given."""
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    common = {"name": "new", "product": "minecraft", "host": "node-paris-1", "dimensions": size}
    return {**common, **arguments}


CONNECTION_CASES = {
    "no token": Case("project", {}, ("token is not set", "HOSTED_SERVICES_TOKEN")),
    "empty token": Case("project", {"token": ""}, ("token is empty",)),
    "token of several lines": Case("project", {"token": "{{ two_lines }}"}, ("2 lines",)),
    "token with a space": Case("project", {"token": "{{ spaced }}"}, ("space",)),
    "token that is not known": Case(
        "project", {"token": "{{ wrong_token }}"}, ("the token was not accepted (40",)
    ),
    "token of a small scope": Case("service", {"token": "sandbox-registry-token"}, ("refused (403)", "FULL")),
    "token file that is missing": Case(
        "project", {"token_file": "/nowhere/token"}, ("token_file '/nowhere/token'", "No such file")
    ),
    "private key as a token file": Case("project", {"token_file": "{{ key_file }}"}, ("lines",)),
    "host that cannot be reached": Case(
        "project",
        {"token": "{{ good }}", "base_url": "http://127.0.0.1:1", "retries": 0},
        ("cannot connect", "Connection refused", "base_url"),
    ),
    "http to another machine": Case(
        "project",
        {"token": "{{ good }}", "base_url": "http://api.example.com"},
        ("http://api.example.com", "https", "allow_http_hosts"),
    ),
    "password in the URL": Case(
        "project",
        {"token": "{{ good }}", "base_url": "https://me:{{ wrong_token }}@api.example.com"},
        ("user name or a password",),
    ),
    "URL with a path": Case(
        "project", {"token": "{{ good }}", "base_url": "{{ url }}/api"}, ("404", "Is base_url the address")
    ),
    "empty URL": Case("project", {"token": "{{ good }}", "base_url": ""}, ("base_url is not set",)),
    "timeout of nothing": Case("project", {"token": "{{ good }}", "timeout": 0}, ("timeout", "more than 0")),
    "authorities that are missing": Case(
        "project",
        {"token": "{{ good }}", "base_url": "https://127.0.0.1:1", "ca_path": "/nowhere/ca.pem"},
        ("/nowhere/ca.pem",),
    ),
}

PLATFORM_CASES = {
    "project without name or id": Case(
        "project", {"state": "present"}, ("one of the following is required: name, id",)
    ),
    "option that does not exist": Case(
        "project", {"name": "new", "colour": "red"}, ("Unsupported parameters", "colour")
    ),
    "value that is no choice": Case("project", {"name": "new", "state": "gone"}, ("present, absent", "gone")),
    "unknown project": Case(
        "service", order(project="gamse"), ("unknown project 'gamse'", "did you mean 'games'?")
    ),
    "unknown product": Case("service", order(product="doom"), ("unknown product doom",)),
    "unknown host": Case("service", order(host="node-moon-1"), ("node-moon-1",)),
    "size and preset": Case("service", order(preset="preset-small"), ("mutually exclusive", "preset")),
    "budget exceeded": Case("service", order(max_monthly=5), ("10.74", "5.00", "max_monthly")),
    "size of the wrong type": Case("service", order(dimensions={"cpu_cores": "many"}), ("cpu_cores", "int")),
    "unknown part of a size": Case(
        "service", order(dimensions={"gpus": 1}), ("gpus", "Supported parameters")
    ),
    "backups that would be lost": Case(
        "service", {"name": "archive", "state": "absent"}, ("nightly-1", "delete_backups: true")
    ),
    "private key as a public one": Case(
        "ssh_key", {"name": "laptop", "public_key": "{{ private_key }}"}, ("private key", "Nothing was sent")
    ),
    "private key beside a slip of the pen": Case(
        "ssh_key", {"public_key": "{{ private_key }}", "nmae": "laptop"}, ("Unsupported parameters", "nmae")
    ),
    "variables beside a slip of the pen": Case(
        "service",
        order(variables={"PASSWORD": "{{ wrong_token }}"}, nmae="new"),
        ("Unsupported parameters", "nmae"),
    ),
    "damaged key": Case("ssh_key", {"name": "laptop", "public_key": "ssh-ed25519 AAAAC3Nza"}, ("damaged",)),
    "key file that is missing": Case(
        "ssh_key",
        {"name": "laptop", "public_key_file": "/nowhere/key.pub"},
        ("/nowhere/key.pub", "No such file"),
    ),
    "fingerprint that was cut short": Case(
        "ssh_key", {"fingerprint": "SHA256:abcdef", "state": "absent"}, ("'SHA256:abcdef'", "43 characters")
    ),
    "list for a name": Case("service", order(name=["a", "b"]), ("name is a list", "must be a string")),
    "wait of less than nothing": Case(
        "service",
        {"name": "survival", "state": "stopped", "wait_timeout": -5},
        ("wait_timeout is -5", "0 or more"),
    ),
    "patterns in one text": Case(
        "sftp_sync",
        {
            "service": "survival",
            "src": "x",
            "dest": "x",
            "delete": True,
            "exclude": "a.log,b.db",
        },
        ("exclude is 'a.log,b.db'", "write a list"),
    ),
}
CASES = {**CONNECTION_CASES, **PLATFORM_CASES}
AS_MODULE_TOO = (
    "no token",
    "token of several lines",
    "http to another machine",
    "project without name or id",
    "option that does not exist",
    "value that is no choice",
    "budget exceeded",
    "unknown part of a size",
    "private key as a public one",
    "private key beside a slip of the pen",
    "variables beside a slip of the pen",
    "list for a name",
    "patterns in one text",
)


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
    """One sentence holds the value, the limit, or what to do; check mode says the same, or warns of it."""
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


def test_nobody_sees_a_traceback(wrongs: Wrongs) -> None:
    assert "Traceback" not in shown(wrongs.run)


def test_nobody_sees_a_secret(wrongs: Wrongs) -> None:
    assert leaked(wrongs.run) == []


def test_nothing_changed_on_the_platform(wrongs: Wrongs) -> None:
    """No write was sent, quotes excepted, and the platform is what it was to the last field."""
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


def test_the_default_project_stays(ansible: Ansible, sandbox: Sandbox) -> None:
    """Only the platform knows which project is the default one; its refusal says so."""
    run = ansible.tasks("- hosted.services.project: {name: default, state: absent}")
    assert run.rc != 0
    assert "The default project cannot be deleted" in run.outcomes[0].message
    assert len(sandbox.api("GET", "/api/projects").json()) == 1


ODD = r"""
- hosted.services.app: {slug: acme, dimensions: true}
- hosted.services.app: {slug: acme, dimensions: {1: 2}}
- hosted.services.project: {name: "a", retries: .inf}
- hosted.services.service: {id: "../../projects"}
- hosted.services.service: {id: ".."}
- hosted.services.file: {service: mc, path: "../etc/passwd", content: x}
- hosted.services.file: {service: mc, path: "a\0b", content: x}
- hosted.services.file: {service: mc, path: a, src: "a\0b"}
- hosted.services.file: {service: mc, path: null, state: absent}
- hosted.services.ssh_key: {name: a, public_key_file: "a\0b"}
- hosted.services.project: {name: "g\u0430mes", state: absent, id: "\u0430"}
- hosted.services.sftp_host_key: {host: "a\0b"}
"""
"""All options with all odd values are tried in the unit tests."""


def test_odd_arguments_are_refused_in_plain_words(ansible: Ansible, sandbox: Sandbox) -> None:
    """Each in one sentence, with nothing changed."""
    sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})
    sandbox.clear_journal()
    run = ansible.tasks(ODD, "ignore_errors: true\n").succeed()
    for outcome in run.outcomes[:-2] + run.outcomes[-1:]:
        assert outcome.outcome == "failed", outcome
        assert outcome.message
        assert "\n" not in outcome.message
    assert "defect of the collection" not in run.output
    assert "Traceback" not in run.output
    assert "dimensions has a value that the option cannot have" in run.outcomes[0].message
    assert [line for line in sandbox.journal() if line["method"] != "GET"] == []
