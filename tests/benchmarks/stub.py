# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account of any size behind a server that costs next to nothing, so that clients can be measured.

``python stub.py SERVICES PROJECTS LATENCY`` prints its URL and serves until its standard input is closed.
LATENCY is in seconds; every answer waits that long. ``GET /calls`` tells how many there were since the last
time it was asked. It knows no rules: the sandbox is for those.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import Any

BACKUPS = re.compile(r"/api/resources/([^/]+)/backups")
TIME = "2026-01-01T00:00:00.000Z"
HETZNER = "/v1"
"""Where the list of SSH keys is as Hetzner's cloud would give it, to be compared with."""
PAGE = {
    "page": 1,
    "per_page": 50,
    "previous_page": None,
    "next_page": None,
    "last_page": 1,
    "total_entries": 0,
}


class Account:
    """Services spread evenly over projects, and the backups that were asked for."""

    def __init__(self, services: int, projects: int) -> None:
        self.backups: dict[str, list[dict[str, Any]]] = {}
        self.calls = 0
        self.answers: dict[str, bytes] = {}
        self._serve_all([service(number) for number in range(services)], projects)

    def _serve_all(self, services: list[dict[str, Any]], projects: int) -> None:
        listed = []
        for number in range(projects):
            own = services[number::projects]
            project = {"id": f"prj_{number}", "name": f"project-{number}", "createdAt": TIME}
            listed.append({**project, "resourceCount": len(own)})
            self._keep(f"/api/projects/prj_{number}", {**project, "resources": own})
            for one in own:
                full = {**one, "projectId": f"prj_{number}", "capabilities": ["power", "sftp", "backups"]}
                self._keep(f"/api/resources/{one['id']}", full)
                self._keep(f"/api/resources/{one['id']}/sftp", access(one["id"]))
        self._keep("/api/projects", listed)
        self._keep("/api/resources", {"items": services})
        self._keep("/api/users/me/ssh-keys", [])
        self._keep(f"{HETZNER}/ssh_keys", {"ssh_keys": [], "meta": {"pagination": PAGE}})

    def _keep(self, path: str, answer: Any) -> None:
        self.answers[path] = http(200, json.dumps(answer).encode())

    def answer(self, method: str, path: str, body: bytes) -> bytes:
        """Return the answer to a request, head and body."""
        if path == "/calls":
            count, self.calls = self.calls, 0
            return http(200, str(count).encode())
        self.calls += 1
        found = BACKUPS.fullmatch(path)
        if found is None:
            return self.answers.get(path) or http(404, b'{"statusCode": 404, "message": "not here"}')
        own = self.backups.setdefault(found[1], [])
        if method == "POST":
            own.append(backup(len(own), json.loads(body)["name"]))
            return http(201, json.dumps(own[-1]).encode())
        return http(200, json.dumps(own).encode())


def service(number: int) -> dict[str, Any]:
    """A service as lists show it."""
    return {
        "id": f"srv_{number:06}",
        "name": f"service-{number}",
        "family": ("GAME", "APP", "COMPUTE")[number % 3],
        "status": "ACTIVE",
        "canPower": True,
        "address": f"203.0.113.10:{20000 + number}",
        "product": {"slug": "minecraft", "name": "Minecraft server", "shortName": "Minecraft"},
        "runtime": {"id": "runtime-paper", "slug": "paper", "name": "Paper"},
        "host": {"id": "node-1", "label": "Node 1", "locationLabel": "Paris, France"},
        "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        "monthlyMillicents": 10740,
        "hourlyLabel": "0.01471 EUR/h",
        "isFree": False,
        "createdAt": TIME,
    }


def access(id: str) -> dict[str, Any]:
    """Where the files of a service are."""
    return {"host": "sftp.example.com", "port": 2022, "username": f"u-{id}", "passwordSetAt": None}


def backup(number: int, name: str) -> dict[str, Any]:
    """A backup, complete at once."""
    times = {"createdAt": TIME, "completedAt": TIME}
    return {"id": f"bkp_{number}", "name": name, "status": "COMPLETED", "sizeBytes": 1, **times}


def http(status: int, body: bytes) -> bytes:
    """An answer of HTTP/1.1, whole."""
    head = f"HTTP/1.1 {status} Stub\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def serve(account: Account, latency: float) -> None:
    """Serve until standard input is closed."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                method, path, __ = head.split(" ", 2)
                length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
                body = await reader.readexactly(int(length[1])) if length else b""
                await asyncio.sleep(latency)
                writer.write(account.answer(method, path.partition("?")[0], body))
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(Account(int(sys.argv[1]), int(sys.argv[2])), float(sys.argv[3])))
