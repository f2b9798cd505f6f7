# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules run straight against a sandbox, without Ansible: as fast as a unit test, as real as a task.

The sandbox holds a few services that can be backed up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.routes import Route
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from hosted_sandbox.testing import Sandbox
from integration.proxy_server import ProxyServer, running
from unit.plugins.results import Result

SEED = {
    "services": [
        {"name": "one", "product": "minecraft", "project": "web", "files": {"a.txt": "first"}},
        {"name": "two", "product": "minecraft", "project": "web"},
        {"name": "disk", "product": "linux", "project": "web"},
        {"name": "metal", "product": "dedicated", "project": "web", "host": "node-metal-1"},
        {"name": "twin", "product": "minecraft"},
        {"name": "twin", "product": "factorio", "project": "web"},
    ]
}


@contextmanager
def renaming(sandbox: Sandbox, sent: str, shown: str) -> Iterator[str]:
    """Yield the address of a platform whose responses show a name in another form."""
    before, after = (json.dumps(name).encode() for name in (sent, shown))
    with running(ProxyServer(sandbox, change=lambda content: content.replace(before, after))) as proxy:
        yield proxy.url


def before_each(
    patch: pytest.MonkeyPatch, route: Route[Any], act: Callable[[dict[str, str], dict[str, Any]], object]
) -> None:
    """Let something happen before each call on a route, which gets its ids and its body; it may raise."""
    send = Client.send

    def act_and_send(client: Client, called: Route[Any], **given: Any) -> Any:
        if called is route:
            body = given.pop("body", None)
            act(given, body)
            given["body"] = body
        return send(client, called, **given)

    patch.setattr(Client, "send", act_and_send)


def run(sandbox: Sandbox, resource: Resource, check_mode: bool = False, **given: Any) -> dict[str, Any]:
    """Run a task with these options, the others at their defaults; return its result."""
    spec = argument_spec(resource)
    unknown = given.keys() - spec.keys()
    assert not unknown, f"no such options: {unknown}"
    options = {name: option.get("default") for name, option in spec.items()}
    options.update({"base_url": sandbox.base_url, "token": sandbox.token, "timeout": 20.0, **given})
    if "wait_interval" in spec:
        options.update({"wait_interval": 0.2, "wait_timeout": given.get("wait_timeout", 20.0)})
    if "quiet_time" in spec:
        options.update({"quiet_time": given.get("quiet_time", 2.0)})
    with ExitStack() as stack:  # else each task leaves a thread and a connection behind

        def connect(settings: Connection, log: Callable[[str], None]) -> Client:
            return stack.enter_context(closing(Client(settings, log)))

        return Result(execute(resource, options, RunContext(check_mode, diff=True, connect=connect)))


def id_of(sandbox: Sandbox, name: str) -> str:
    """Return the id of the first service of this name."""
    services = sandbox.api("GET", "/api/resources").json()["items"]
    return str(next(service["id"] for service in services if service["name"] == name))


def backups(sandbox: Sandbox, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.api("GET", f"/api/resources/{id_of(sandbox, name)}/backups").json()
    return found


def add(sandbox: Sandbox, service: str, name: str, days: float = 1, status: str = "COMPLETED") -> None:
    """Let there be a backup, made so many days ago."""
    made = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    sandbox.operator(f"services/{id_of(sandbox, service)}/backups", name=name, status=status, created_at=made)


def fail_pending_backups(sandbox: Sandbox) -> None:
    """Let every backup that is being made fail, as a platform's fault would."""
    state = sandbox.control("GET", "/state")
    for backup in state["records"]["backup"]:
        backup["status"] = backup["status"].replace("PENDING", "FAILED")
    sandbox.control("PUT", "/state", state)


def take(sandbox: Sandbox, *names: str) -> None:
    """Let there be snapshots of the service `disk`, one after the other."""
    for name in names:
        assert sandbox.api("POST", f"/api/resources/{id_of(sandbox, 'disk')}/snapshots", {"name": name}).ok
        sandbox.clock(advance=5)
    sandbox.clear_journal()


def snapshots(sandbox: Sandbox) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.api(
        "GET", f"/api/resources/{id_of(sandbox, 'disk')}/snapshots"
    ).json()
    return found


def writes(sandbox: Sandbox) -> list[str]:
    """Return the routes of all calls that change something."""
    return [line["route"] for line in sandbox.journal() if line["method"] != "GET"]


def calls(sandbox: Sandbox) -> list[str]:
    return [line["route"] for line in sandbox.journal()]


def before_first_call(
    monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, then: Callable[[], object]
) -> None:
    """Let something happen right before the first call of a function, as somebody else does it then."""
    call, begun = getattr(owner, name), list[bool]()

    def wrapped(*given: Any, **named: Any) -> Any:
        if not begun:
            begun.append(True)
            then()
        return call(*given, **named)

    monkeypatch.setattr(owner, name, wrapped)
