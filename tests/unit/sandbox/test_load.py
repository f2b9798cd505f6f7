# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many clients at once, random calls, and the store behind them."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis import checks
from schemathesis.specs.openapi import checks as openapi_checks

from hosted_sandbox.api.app import openapi
from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import SIZE

CLIENTS = 16


class Client:
    """A client with a connection of its own, and what it was told."""

    def __init__(self, sandbox: Sandbox, number: int) -> None:
        self._base = sandbox.base_url
        self._number = number
        self._session = requests.Session()
        self._session.headers.update(sandbox.headers)
        self.projects: set[str] = set()
        self.files: dict[str, str] = {}

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._session.request(method, self._base + path, json=body, timeout=60)
        assert answer.ok, (path, answer.text)
        return answer.json()

    def run(self, rounds: int) -> Client:
        """Do so many rounds: four writes each, five reads, and an order in every fifth."""
        order = {"productSlug": "hobby", "hostId": "node-paris-1", "dimensions": SIZE}
        for step in range(rounds):
            if step % 5 == 0:
                body = {**order, "name": f"s-{self._number}-{step}"}
                key = self._call("POST", "/api/order", body)["instanceId"]
            name = f"p-{self._number}-{step}"
            self.projects.add(self._call("POST", "/api/projects", {"name": name})["name"])
            home = f"/api/resources/{key}"
            for part in range(3):
                self.files[key] = f"{step}.{part}"
                self._call("POST", f"{home}/files/write", {"path": "f", "content": self.files[key]})
                self._call("GET", f"{home}/settings")
            self._call("GET", f"/api/resources/metrics?ids={key}")
            self._call("GET", home)
        self._session.close()
        return self


@pytest.fixture
def clients(sandbox: Sandbox, request: pytest.FixtureRequest) -> Iterator[list[Client]]:
    """Clients that all have done so many rounds at the same time."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        yield list(pool.map(lambda number: Client(sandbox, number).run(request.param), range(CLIENTS)))


@pytest.mark.parametrize("clients", [5, pytest.param(70, marks=pytest.mark.release)], indirect=True)
def test_no_write_is_lost(sandbox: Sandbox, clients: list[Client]) -> None:
    told = {name for client in clients for name in client.projects}
    assert {project["name"] for project in sandbox.api("GET", "/api/projects").json()} == told | {"default"}
    ledger = sandbox.ledger()
    files = {key: content for client in clients for key, content in client.files.items()}
    assert sorted(order["service_id"] for order in ledger["orders"]) == sorted(files)
    assert {service["service_id"] for service in ledger["billed"]} == files.keys()
    for key, content in files.items():
        kept = sandbox.api("GET", f"/api/resources/{key}/files/contents?path=f").json()
        assert kept == {"content": content}


schema = schemathesis.openapi.from_dict(openapi())
# The bounds of all parameters, which make 20 calls of each route, are the night's.
GATE = settings.get_current_profile_name() == "gate"
PHASES = [Phase.generate] if GATE else [Phase.explicit, Phase.generate]
CHECKS = [
    checks.not_a_server_error,
    openapi_checks.status_code_conformance,
    openapi_checks.response_schema_conformance,
]
SEED = {"services": [{"name": "mc", "product": "minecraft"}, {"name": "db", "product": "postgresql"}]}


@pytest.fixture(scope="module")
def world(server: Sandbox) -> Iterator[tuple[Sandbox, str]]:
    """A world with a game server and a database; half of all paths lead to one of them."""
    server.reset(profile="plain", delays={"scan_wait": 0.01, "query": 0.1})
    yield server, server.seed(SEED)["services"]["db"]


@schema.parametrize()
@settings(
    max_examples=3,
    deadline=None,
    derandomize=True,
    database=None,
    phases=PHASES,
    suppress_health_check=list(HealthCheck),
)
def test_nothing_sent_breaks_the_sandbox(world: tuple[Sandbox, str], case: Any) -> None:
    sandbox, key = world
    if "/resources/{id}" in case.path and len(str(case.path_parameters["id"])) % 2 == 0:
        case.path_parameters["id"] = key
    answer = case.call(base_url=sandbox.base_url, headers=sandbox.headers)
    case.validate_response(answer, checks=CHECKS)
