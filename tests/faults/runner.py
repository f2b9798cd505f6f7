# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks run in this process, as the action plugins run them, against a sandbox whose clock stands still."""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import asyncssh
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator

from ansible_collections.hosted.services.plugins.module_utils import _resources
from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._api import http_transport
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from faults.deletions import Deletion, watch_deletion
from faults.hurried import PATIENCE, Clock, Exchange, FaultyTransport, hurried
from faults.scenarios import ACCOUNT, Scenario
from faults.truth import Truth
from hosted_sandbox.embedded import Embedded, quick_folder
from hosted_sandbox.registry.images import build_image
from integration.database_servers import USER, PostgreSQL, Server, serving

Fault = Mapping[str, Any]
REFUSED: Fault = {"kind": "refused"}
"""The one fault that happens on this side: the connection is not made."""
SLOW = ("no_answer", "drip")
TIMEOUT, WAIT_TIMEOUT = 20, 300
TABLE = "CREATE TABLE orders AS SELECT n AS id, 'order ' || n AS note FROM generate_series(1, 500) AS n;"


@dataclass(frozen=True)
class Ran:
    """A task that was run: its result, and every exchange it made."""

    module: str
    options: Mapping[str, Any]
    result: Mapping[str, Any]
    exchanges: Sequence[Exchange]
    overrun: float
    deletions: Sequence[Deletion] = ()
    """What there was whenever it asked for the deletion of a service."""

    @property
    def failed(self) -> bool:
        """Whether it ended in an error."""
        return bool(self.result.get("failed"))

    @property
    def changed(self) -> bool:
        """What it says about having changed something."""
        return bool(self.result["changed"])

    @property
    def message(self) -> str:
        """The error in words."""
        return str(self.result.get("msg", ""))

    @property
    def said(self) -> str:
        """Everything that it says to people."""
        return "\n".join([self.message, *self.result.get("warnings", [])])


def resource_of(module: str) -> Resource:
    """Return the module's resource."""
    found: Resource = getattr(importlib.import_module(f"{_resources.__name__}.{module}"), module.upper())
    return found


def filled(value: Any, facts: Mapping[str, str]) -> Any:
    """Return options with the facts in the places that name them."""
    if isinstance(value, Mapping):
        return {key: filled(item, facts) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [filled(item, facts) for item in value]
    if isinstance(value, str):
        for name, fact in facts.items():
            value = value.replace(f"{{{name}}}", fact)
    return value


@dataclass
class Runner:
    """A sandbox, a folder on this machine, and tasks that work on both."""

    sandbox: Embedded
    folder: Path
    inputs: Path
    facts: dict[str, str] = field(default_factory=dict)
    clock: Clock = field(init=False)
    connections: http_transport.HttpTransport = field(default_factory=http_transport.HttpTransport)
    """Kept from task to task, as the action plugins keep theirs."""
    closing: ExitStack = field(default_factory=ExitStack)
    """What ends with the runner."""
    database: Server | None = None
    """A real server, which is behind service ``db`` once somebody asks for it."""

    def __post_init__(self) -> None:
        self.clock = Clock(lambda seconds: self.sandbox.clock(advance=seconds))

    def begin(self, account: Mapping[str, Any], profile: str = "plain") -> None:
        """Begin anew with what an account document describes, in a gap profile; its clock stands still."""
        self.sandbox.reset(**account, profile=profile)
        self.sandbox.clock(freeze=True)
        self.clear_folder()
        self.look_up_facts()
        # The sandbox makes the files of a database when that is first looked at: no change of a task's.
        self.sandbox.api("GET", f"/api/resources/{self.facts['id_db']}/database")

    def prepare(self, scenario: Scenario, profile: str = "plain") -> None:
        """Begin anew with the account of the scenarios, and with what this one needs besides."""
        self.begin(ACCOUNT, profile)
        if scenario.real_database:
            self.connect_database()
        for module, options in scenario.before:
            prepared = self.run(module, options)
            assert not prepared.failed, f"{scenario.name}: {prepared.message}"

    def clear_folder(self) -> None:
        """Forget what tasks left on this machine."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def look_up_facts(self) -> None:
        """Learn the ids and digests that options may name."""
        truth = Truth.of(self.sandbox)
        key = (self.inputs / "key.pub").read_text()
        self.facts = {"folder": str(self.folder), "inputs": str(self.inputs), "public_key": key}
        self.facts |= {f"id_{service['name']}": service["id"] for service in truth.all("service")}
        self.facts |= {f"digest_{release['tag']}": release["digest"] for release in truth.all("release")}

    def connect_database(self) -> None:
        """Let service ``db`` have a table on a real database server."""
        if self.database is None:
            self.database = self.closing.enter_context(serving(PostgreSQL))
            self.database.sql(f"SET ROLE {USER}; {TABLE}", self.database.database)
        self.sandbox.operator(f"services/{self.facts['id_db']}", connection=self.database.connection)

    def run(
        self,
        module: str,
        options: Mapping[str, Any],
        faults: Mapping[int, Fault] | None = None,
        **connection: Any,
    ) -> Ran:
        """Run a task. ``faults`` says which of its requests, counted from 1, suffer what."""
        struck = dict(faults or {})
        line, deletions = self.transport(struck), list[Deletion]()
        self.plant(struck)
        resource = resource_of(module)
        given = {
            "base_url": self.sandbox.base_url,
            "token": self.sandbox.token,
            "timeout": TIMEOUT,
            **({"wait_timeout": WAIT_TIMEOUT} if resource.waits else {}),
            **connection,
            **filled(options, self.facts),
        }
        validated = ModuleArgumentSpecValidator(argument_spec(resource), **resource.rules).validate(given)
        assert not validated.error_messages, f"{module}: {validated.error_messages}"

        def watch(request: str) -> None:
            folder = validated.validated_parameters.get("keep_copy")
            found = watch_deletion(self.sandbox, request, folder, self.database)
            deletions.extend([found] if found else [])

        line.watch = watch

        def connect(settings: Any, log: Any) -> Client:
            return Client(settings, log, self.connections)

        with hurried(line):
            result = execute(resource, validated.validated_parameters, RunContext(connect=connect))
        if struck:
            self.sandbox.clear_faults()
        return Ran(module, validated.validated_parameters, result, line.exchanges, line.overrun, deletions)

    def transport(self, faults: Mapping[int, Fault]) -> FaultyTransport:
        """Return a transport on which these faults are known to come."""
        return FaultyTransport(
            self.clock,
            self.sandbox,
            refused=frozenset(number for number, fault in faults.items() if fault is REFUSED),
            silent=frozenset(number for number, fault in faults.items() if fault["kind"] in SLOW),
        )

    def plant(self, faults: Mapping[int, Fault]) -> None:
        """Set the faults on the sandbox, which does not see the requests that are refused before."""
        arriving, planted = 0, []
        for number in range(1, max(faults, default=0) + 1):
            fault = faults.get(number)
            if fault is not REFUSED:
                arriving += 1
                planted += [{"route": "*", "nth": arriving, "interval": PATIENCE, **fault}] if fault else []
        if planted:
            self.sandbox.control("POST", "/faults", {"faults": planted})


@contextmanager
def runner(sandbox: Embedded) -> Iterator[Runner]:
    """Provide a runner with a home of its own, so that nothing of this machine's user takes part."""
    with tempfile.TemporaryDirectory(prefix="faults-", dir=quick_folder()) as home:
        settings = {name: value for name, value in os.environ.items() if not name.startswith("HOSTED_")}
        settings |= {"HOME": home, "ANSIBLE_HOME": str(Path(home) / "work" / "ansible")}
        with mock.patch.dict(os.environ, settings, clear=True):
            work = Runner(sandbox, Path(home) / "work", made_inputs(Path(home) / "inputs"))
            work.closing.callback(work.connections.close)
            with work.closing:
                yield work


def made_inputs(folder: Path) -> Path:
    """Make what tasks send from this machine: an image, a tree of files, and the key to log in with."""
    (folder / "site" / "pages").mkdir(parents=True)
    (folder / "site" / "index.html").write_text("welcome\n")
    (folder / "site" / "pages" / "one.html").write_text("one\n")
    build_image(folder / "image.tar", {"app/server": b"binary"}, tag="v9")
    key = asyncssh.generate_private_key("ssh-ed25519")
    (folder / "key").touch(mode=0o600)
    (folder / "key").write_bytes(key.export_private_key())
    (folder / "key.pub").write_text(key.export_public_key().decode().strip())
    return folder


def leave_memory_alone() -> None:
    """Let the garbage collector not go through everything that was imported, again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 50)
