# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No secret comes out: canaries in all options and answers that hold secrets, and a search for them.

What is searched is everything that a run prints at -vvvv, every result and every file: log file, fact cache,
inventory cache, reports, the system's journal. A secret may only be where the user sent it.
"""

from __future__ import annotations

import base64
import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, HERE, REPOSITORY, Ansible, Run
from integration.leak_detection import canary, core, files_below, find_leaks, longest_run
from integration.proxy_server import ProxyServer, running
from integration.secret_plays import (
    BODIES,
    LOOKUPS,
    ONE_OF_EACH,
    SECRETIVE,
    SEED,
    SLIPS,
    WORKING,
    play,
    with_secrets,
)

NAMES = ("token", "variable", "environment_value", "password", "passphrase", "param", "content")
GIVEN_ONCE = {
    "order.create": ("secrets",),
    "sftp.password": ("password",),
    "registry.credentials": ("secret",),
    "database.connection": ("password", "url"),
}
MODULES = sorted(path.stem for path in (REPOSITORY / "plugins" / "modules").glob("[a-z]*.py"))


class Stage:
    """A folder to run in, with the canaries, and everything switched on that writes things down."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox) -> None:
        self.ansible, self.sandbox = ansible, sandbox
        self.folder = ansible.folder
        self.token = canary("token")
        self.runs: list[Run] = []
        self.asked_for = [
            self.folder / "given.yml",
            self.folder / "kept",
            self.folder / ".ansible" / "hosted_services" / "secrets",
        ]
        (self.folder / "kept").mkdir()
        (self.folder / "site").mkdir()
        (self.folder / "site" / "index.html").write_text("welcome\n")
        sandbox.seed({**SEED, "tokens": [{"id": self.token, "scope": "FULL"}]})
        given = {name: canary(name) for name in NAMES} | {"private_key": self._keys()}
        (self.folder / "given.yml").write_text(json.dumps(given))
        ansible.environment |= self._surroundings()
        del ansible.environment["HOSTED_SERVICES_TOKEN"]
        build_image(self.folder / "image.tar", {"app/server": b"1"})

    def _keys(self) -> str:
        """Write a key that needs a passphrase, and return another that needs none."""
        key, other = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
        pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        closed = serialization.BestAvailableEncryption(canary("passphrase").encode())
        line = key.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        )
        kept = self.folder / "kept"
        (kept / "key").write_bytes(key.private_bytes(pem, pkcs8, closed))
        (kept / "key.pub").write_bytes(line)
        self.private_key = other.private_bytes(pem, pkcs8, serialization.NoEncryption()).decode()
        return self.private_key

    def _surroundings(self) -> dict[str, str]:
        """Return settings under which Ansible and what it starts write down as much as they can."""
        return {
            "ANSIBLE_LOG_PATH": str(self.folder / "ansible.log"),
            "ANSIBLE_CACHE_PLUGIN": "jsonfile",
            "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(self.folder / "facts"),
            "ANSIBLE_CALLBACKS_ENABLED": "results_file,json_events,ansible.builtin.junit",
            "JSON_EVENTS": str(self.folder / "events.jsonl"),
            "ANSIBLE_CALLBACK_RESULT_FORMAT": "json",
            "JUNIT_OUTPUT_DIR": str(self.folder / "junit"),
            "ANSIBLE_DISPLAY_TRACEBACK": "error",
            "ANSIBLE_KEEP_REMOTE_FILES": "1",
            "PYTHONPATH": str(HERE / "injected"),
            "PLANTED_JOURNAL": str(self.folder / "journal"),
        }

    def run(self, playbook: str, *arguments: str, **options: Any) -> Run:
        """Run a playbook with all that can be told."""
        run = self.ansible.playbook(playbook, "-vvvv", "--diff", *arguments, **options)
        self.runs.append(run)
        return run

    def secrets(self) -> dict[str, str]:
        """Return the telling piece of every canary, and of every secret that the platform gave away."""
        found = {name: core(name) for name in NAMES}
        key = "".join(line for line in self.private_key.splitlines() if "KEY" not in line)
        found["private key"] = key[-28:-4]
        for route, fields in GIVEN_ONCE.items():
            for line in self.sandbox.journal(route):
                answer = line["answer"] if isinstance(line["answer"], dict) else {}
                values = [answer.get(field) for field in fields]
                values += [secret["value"] for value in values if isinstance(value, list) for secret in value]
                pieces = [longest_run(value) for value in values if isinstance(value, str)]
                found |= {f"{route} {piece}": piece for piece in pieces if len(piece) >= 8}
        return found

    def leaks(self) -> list[str]:
        """Return which secret is to be seen where it should not be."""
        places = files_below(self.folder, self.asked_for)
        modules = [name for name in places if Path(name).name.startswith("AnsiballZ_")]
        for name in modules:  # what ANSIBLE_KEEP_REMOTE_FILES is for: a module with its arguments
            assert (self.folder / name).parent.stat().st_mode & 0o777 == 0o700
            del places[name]
        for number, run in enumerate(self.runs):
            places[f"output of run {number}"] = run.output.encode()
        return find_leaks(self.secrets(), places)


@pytest.fixture
def stage(ansible: Ansible, sandbox: Sandbox) -> Stage:
    return Stage(ansible, sandbox)


def echoed(authorization: str, body: str) -> bytes:
    """Return an error's body that repeats a call. Short, so that nothing is lost by being cut."""
    seen = f"{authorization} {body}"
    encoded = [base64.b64encode(b"x" * offset + seen.encode()).decode() for offset in range(3)]
    message = " | ".join([seen, quote(seen, safe=""), json.dumps(seen), repr(seen), *encoded])
    return json.dumps({"statusCode": 400, "message": message}).encode()


def echo(sandbox: Sandbox, *methods: str) -> AbstractContextManager[ProxyServer]:
    """Return a server that refuses these methods with everything that a call holds. Quotes are reads."""

    def refuse(method: str, path: str, authorization: str, body: str) -> bytes | None:
        kind = "GET" if path.endswith("/quote") else method
        return echoed(authorization, body) if kind in methods else None

    return running(ProxyServer(sandbox, refuse))


FORGIVING = "ignore_errors: true\n"
WRITES = ("POST", "PUT", "PATCH", "DELETE")
ALL = ("GET", *WRITES)


@BOTH_WAYS
def test_what_works_and_what_changes(in_process: bool, stage: Stage) -> None:
    """All modules, lookups and the inventory; what they keep is searched. The night has check mode too."""
    inventory = stage.folder / "hosted.yml"
    url, cache = stage.sandbox.base_url, stage.folder / "inventory-cache"
    token = "{{ (lookup('ansible.builtin.file', 'given.yml') | from_yaml).token }}"
    options: dict[str, Any] = {"base_url": url, "token": token, "include_settings": True, "cache": True}
    options |= {
        "plugin": "hosted.services.inventory",
        "cache_plugin": "jsonfile",
        "cache_connection": str(cache),
    }
    inventory.write_text(json.dumps(options))
    if not in_process:
        stage.run(play(WORKING), "--check", "-i", str(inventory)).succeed()
    tasks = WORKING if in_process else with_secrets(WORKING, (*SECRETIVE, "app"))
    run = stage.run(play(tasks), "-i", str(inventory), in_process=in_process).succeed()
    done = [outcome for outcome in run.outcomes if not outcome.failed]
    assert {outcome.action for outcome in done if outcome.result.get("changed")} > {
        "hosted.services.service", "hosted.services.sftp_password", "hosted.services.sftp_sync"
    }  # fmt: skip
    told = (stage.folder / "events.jsonl").read_text().count('"result": {')
    assert told >= len(run.outcomes), "JSON for other programs was written, and is searched"
    assert (stage.folder / "kept" / "order.json").exists()
    assert all(
        (stage.folder / name).exists() for name in ("inventory-cache", "facts", "ansible.log", "junit")
    )
    assert len(stage.secrets()) > len(NAMES) + 3, "secrets of the platform were met"
    assert stage.leaks() == []


@BOTH_WAYS
def test_what_is_mistaken(in_process: bool, stage: Stage) -> None:
    """Secrets in the wrong form, under a name with a slip in it, or beside another mistake."""
    tasks = SLIPS if in_process else json.dumps(yaml.safe_load(SLIPS)[::3])
    run = stage.run(play(tasks, FORGIVING), in_process=in_process).succeed()
    assert {outcome.outcome for outcome in run.outcomes} == {"failed"}
    assert stage.leaks() == []


@pytest.mark.parametrize(
    ("in_process", "methods"),
    [
        pytest.param(True, ALL, marks=pytest.mark.night),
        (True, WRITES),
        pytest.param(False, WRITES, marks=pytest.mark.night),
    ],
    ids=["all", "writes", "as_module"],
)
def test_what_the_platform_echoes(in_process: bool, methods: tuple[str, ...], stage: Stage) -> None:
    """A platform that repeats the whole call in its errors: at the first one, or at the first that writes."""
    stage.sandbox.seed({"apps": [{"slug": "acme", "images": [{"tag": "v1"}], "deployed": "v1"}]})
    tasks = ONE_OF_EACH + LOOKUPS if in_process else with_secrets(ONE_OF_EACH)
    modules = set(MODULES if in_process else SECRETIVE)
    with echo(stage.sandbox, *methods) as server:
        env = {"HOSTED_SERVICES_URL": server.url}
        run = stage.run(play(tasks, FORGIVING), in_process=in_process, env=env).succeed()
    failed = {outcome.action.rpartition(".")[2] for outcome in run.outcomes if outcome.outcome == "failed"}
    assert failed >= (modules if "GET" in methods else {"service", "environment", "file", "sftp_password"})
    assert sum("********" in outcome.message for outcome in run.outcomes) >= (10 if in_process else 4)
    assert stage.leaks() == []


@pytest.mark.night
@pytest.mark.parametrize(
    ("in_process", "methods"),
    [(True, ALL), (True, WRITES), pytest.param(False, WRITES, marks=pytest.mark.night)],
    ids=["all", "writes", "as_module"],
)
def test_what_crashes(in_process: bool, methods: tuple[str, ...], stage: Stage) -> None:
    """A defect of the collection whose error has the whole request in its text."""
    stage.sandbox.seed({"apps": [{"slug": "acme", "images": [{"tag": "v1"}], "deployed": "v1"}]})
    tasks = ONE_OF_EACH + LOOKUPS if in_process else with_secrets(ONE_OF_EACH, BODIES)
    env = {"PLANTED_CRASH": " ".join(methods)}
    run = stage.run(play(tasks, FORGIVING), in_process=in_process, env=env).succeed()
    crashed = {o.action.rpartition(".")[2] for o in run.outcomes if "defect of the collection" in o.message}
    assert crashed >= set(MODULES if "GET" in methods else BODIES)
    assert stage.leaks() == []


@pytest.mark.parametrize(
    "env", [pytest.param({"PLANTED_CRASH": "GET"}, marks=pytest.mark.night), {}], ids=["crashes", "echoes"]
)
def test_an_inventory_that_fails(env: dict[str, str], stage: Stage) -> None:
    inventory = stage.folder / "hosted.yml"
    with echo(stage.sandbox, "GET") as server:
        options = {"plugin": "hosted.services.inventory", "base_url": server.url, "token": stage.token}
        inventory.write_text(json.dumps(options))
        stage.asked_for.append(inventory)
        stage.run("- hosts: all\n  tasks: []\n", "-i", str(inventory), env=env)
    assert ("defect of the collection" if env else "********") in stage.runs[0].output
    assert stage.leaks() == []


def test_a_leak_is_found(stage: Stage) -> None:
    """The search itself finds what was planted, in each form."""
    seen = canary("token")
    for number, form in enumerate([seen, quote(seen), json.dumps(seen), seen.encode().hex()]):
        (stage.folder / f"leak-{number}").write_text(form)
    for offset in range(3):
        (stage.folder / f"leak-base64-{offset}").write_bytes(base64.b64encode(bytes(offset) + seen.encode()))
    assert len({leak.split(":")[0] for leak in stage.leaks()}) == 7
