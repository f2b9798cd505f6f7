# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Send 10,000 requests from 16 concurrent clients, and look for lost writes.

`python -m hosted_sandbox.load` does it. Every client writes its own data and records the responses. Then the
sandbox must hold exactly that: no error of its own, no lost write, and a ledger that equals the orders.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import requests

from hosted_sandbox.testing import Sandbox

CLIENTS = 16
SIZE = {"cpuCores": 1, "ramGb": 1, "storageGb": 5}


@dataclass
class Outcome:
    """What all clients sent, and what was acknowledged."""

    statuses: list[int] = field(default_factory=list)
    projects: set[str] = field(default_factory=set)
    orders: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)


class Client:
    """One client with a connection of its own."""

    def __init__(self, sandbox: Sandbox, number: int, outcome: Outcome) -> None:
        self._base = sandbox.base_url
        self._number = number
        self._session = requests.Session()
        self._session.headers.update(sandbox.headers)
        self.outcome = outcome

    def run(self, count: int) -> None:
        """Send `count` requests: of every ten, four write."""
        key = self._order(0)
        for step in range(1, count):
            match step % 10:
                case 0:
                    key = self._order(step) if step % 50 == 0 else key
                    self._call("GET", f"/api/resources/{key}")
                case 1:
                    self._project(f"p-{self._number}-{step}")
                case 3 | 6 | 9:
                    self._write(key, str(step))
                case 5:
                    self._call("GET", f"/api/resources/metrics?ids={key}")
                case _:
                    self._call("GET", f"/api/resources/{key}/settings")
        self._session.close()

    def _call(self, method: str, path: str, body: Any = None) -> requests.Response:
        answer = self._session.request(method, self._base + path, json=body, timeout=60)
        self.outcome.statuses.append(answer.status_code)
        return answer

    def _order(self, step: int) -> str:
        body = {"productSlug": "hobby", "hostId": "node-paris-1", "dimensions": SIZE,
                "name": f"s-{self._number}-{step}"}  # fmt: skip
        key = str(self._call("POST", "/api/order", body).json()["instanceId"])
        self.outcome.orders.add(key)
        return key

    def _project(self, name: str) -> None:
        if self._call("POST", "/api/projects", {"name": name}).ok:
            self.outcome.projects.add(name)

    def _write(self, key: str, content: str) -> None:
        if self._call("POST", f"/api/resources/{key}/files/write", {"path": "f", "content": content}).ok:
            self.outcome.files[key] = content


def send(sandbox: Sandbox, count: int, clients: int = CLIENTS) -> Outcome:
    """Send about `count` requests from so many clients in parallel."""
    outcome = Outcome()
    with ThreadPoolExecutor(clients) as pool:
        list(pool.map(lambda number: Client(sandbox, number, outcome).run(count // clients), range(clients)))
    return outcome


def losses(sandbox: Sandbox, outcome: Outcome) -> list[str]:
    """List the differences between the sandbox's state and its responses; empty if there are none."""
    statuses = Counter(outcome.statuses)
    found = [f"{count} answers {status}" for status, count in statuses.items() if status >= 500]
    projects = {project["name"] for project in sandbox.api("GET", "/api/projects").json()} - {"default"}
    ledger = sandbox.ledger()
    ordered = {order["service_id"] for order in ledger["orders"]}
    billed = {service["service_id"] for service in ledger["billed"]}
    if projects != outcome.projects:
        found.append(f"projects: {len(projects ^ outcome.projects)} differ")
    if not ordered == billed == outcome.orders or len(ledger["orders"]) != len(outcome.orders):
        found.append(f"orders: {len(ordered)} on the ledger, {len(outcome.orders)} acknowledged")
    for key, content in outcome.files.items():
        kept = sandbox.api("GET", f"/api/resources/{key}/files/contents?path=f").json()
        if kept != {"content": content}:
            found.append(f"file of {key}: {kept} instead of {content}")
    return found


def main() -> None:
    """Run the load and say how it went."""
    parser = argparse.ArgumentParser("hosted_sandbox.load", description="Load a sandbox and look for losses.")
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    options = parser.parse_args()
    with Sandbox() as sandbox:
        begun = time.monotonic()
        outcome = send(sandbox, options.requests, options.clients)
        seconds = time.monotonic() - begun
        told = dict(Counter(outcome.statuses))
        print(f"{len(outcome.statuses)} requests from {options.clients} clients in {seconds:.1f} s: {told}")
        print(f"{len(outcome.orders)} orders, {len(outcome.projects)} projects, {len(outcome.files)} files")
        found = losses(sandbox, outcome)
    sys.exit("\n".join(found) or 0)


if __name__ == "__main__":
    main()
