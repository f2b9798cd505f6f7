# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account as a file describes it: it answers what is read, and refuses to change anything.

`services` and `projects` are in the form of the specification; what a service leaves out is as in SERVICE.
Services may also be given by their ids, so that a case can change one of them, or take it away with null.
A service has further keys of its own:

- `state` and `uptime` of its container, other `metrics`, `alias`, `settings`, `snapshots`
- `backups`: COMPLETED, unless they say otherwise
- `files` by their paths: a text, or an entry's fields with the `content` that is read
- `app`: what is told of it as an application
- `uses`: its variables that refer to others, by id

`apps` (each with its `releases`: some fields of the scan by tag), `keys`, `wallet` and `quote` are lists and
objects of the specification as well. `answers` has whatever else is read, by method and path;
`{status: 403, message: denied}` refuses it, and `asks` is the body that it answers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from email.utils import formatdate
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import ABSENT, Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ServerFailure,
    error_for_status,
)

SERVICE: dict[str, Any] = {
    "name": "web",
    "family": "GAME",
    "status": "ACTIVE",
    "projectId": "prj_default",
    "product": {"slug": "minecraft"},
    "runtime": {"id": "rt_1", "slug": "stable"},
    "host": {"id": "nd_1", "label": "Node 1"},
    "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
    "pricing": {
        **{"monthlyMillicents": 1060, "billedMonthlyMillicents": 1060, "storageMonthlyMillicents": 60},
        "isFree": False,
    },
    "capabilities": ["powerSignals", "suspension", "files", "logs", "backups"],
}
SETTINGS: dict[str, Any] = {
    "network": {"isPublic": False, "editable": True},
    "scale": {
        **{"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        **{"cpuMin": 1, "cpuMax": 8, "ramMinGb": 1, "ramMaxGb": 32, "storageMinGb": 5, "storageMaxGb": 200},
        **{"cpuMillicentsPerMonth": 300, "ramMillicentsPerGbMonth": 100, "storageMillicentsPerGbMonth": 3},
        **{"optionsMillicents": 0, "editable": True},
    },
    "deploy": {"command": "", "editable": True},
    "deletable": True,
}
QUOTE = {"monthlyMillicents": 1060, "coversFirstDay": True}
DEFAULT_PROJECT = {"id": "prj_default", "name": "default", "createdAt": "2026-01-01T00:00:00Z"}
LATER = {"createdAt": "2026-02-01T00:00:00Z"}
OWN_KEYS = frozenset(
    {"state", "uptime", "metrics", "alias", "app", "uses", "settings", "backups", "snapshots", "files"}
)
"""The keys of a service that are read by routes of their own."""


class AccountFile(Client):
    """What the client sends through: it answers from the account of a file."""

    def __init__(self, account: Mapping[str, Any]) -> None:
        super().__init__(Connection("https://account.example", "t-4711"))
        self.clock.last = formatdate(usegmt=True), time.monotonic()
        given = account.get("services", ())
        if isinstance(given, Mapping):
            given = [{"id": id, **each} for id, each in given.items() if each is not None]
        self.services = {each["id"]: merged(SERVICE, each) for each in given}
        self.asked: list[str] = []
        """What was read, by method and path, in its order."""
        self.answers = {
            **self._of_account(account),
            **self._of_projects(
                [DEFAULT_PROJECT, *({**LATER, **each} for each in account.get("projects", ()))]
            ),
            **releases_of(account.get("apps", ())),
            **account.get("answers", {}),
        }

    def clone(self) -> AccountFile:
        """Return the same account."""
        return self

    def call(
        self,
        route: r.Route[Any],
        ids: dict[str, Any],
        query: dict[str, Any] | None = None,
        body: Any = None,
        seconds: float | None = None,
        *,
        or_absent: bool = False,
    ) -> Any:
        """Answer a read.

        :raises HostedError: as the file says, and with 404 for a service or a project that it does not have.
        :raises Failed: for a write, and for what the file does not answer: nobody takes it for a defect.
        """
        asked = f"{route.method} {route.url(ids)}"
        self.asked.append(asked)
        if route.idempotency is not r.READ:
            pytest.fail(f"a plan sends {asked} {body}")
        if route is r.METRICS:
            return {id: self._metrics(id) for id in (query or {})["ids"].split(",")}
        answer = self.answers.get(asked)
        if answer is None and route in (r.FILES, r.FILE_CONTENTS):
            return read_files(self.services[ids["id"]].get("files", {}), **(query or {}))
        if answer is None and route in (r.SERVICE, r.PROJECT):
            answer = {"message": "not found", "status": 404}
        if answer is None:
            pytest.fail(f"the account of the file has no answer to {asked}")
        if isinstance(answer, dict) and "message" in answer:
            message, status = f"{asked}: {answer['message']}", answer["status"]
            if or_absent and status in (404, 410):
                return ABSENT
            raise ServerFailure(message) if status >= 500 else error_for_status(message, status)
        if isinstance(answer, dict) and body != answer.get("asks", body):
            pytest.fail(f"{asked} is sent with {body}")
        return answer

    def _metrics(self, id: str) -> dict[str, Any] | None:
        service = self.services[id]
        state = service.get("state", "running")
        seen = {"state": state, "uptimeSeconds": service.get("uptime", 100), **service.get("metrics", {})}
        return None if state is None else seen

    @property
    def _full(self) -> dict[str, dict[str, Any]]:
        """The services in full form, by id."""
        return {
            id: {key: value for key, value in each.items() if key not in OWN_KEYS}
            for id, each in self.services.items()
        }

    def _of_account(self, account: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers about services, and about what is the account's, by method and path."""
        full = self._full
        own = [{**full[id], **each["app"]} for id, each in self.services.items() if "app" in each]
        given = [{"name": app["slug"], "status": "ACTIVE", **app} for app in account.get("apps", ())]
        answers: dict[str, Any] = {
            "GET /api/resources": [
                {key: value for key, value in each.items() if key != "projectId"} for each in full.values()
            ],
            "GET /api/apps/whoami": {"email": "me@account.example"},
            "GET /api/apps": [*own, *given],
            "GET /api/users/me/ssh-keys": account.get("keys", []),
            "GET /api/wallet": account.get("wallet", {"currency": "EUR"}),
            "POST /api/order/quote": {**QUOTE, **account.get("quote", {})},
        }
        for id, each in self.services.items():
            base = f"GET /api/resources/{id}"
            answers[base] = full[id]
            answers[f"{base}/settings"] = merged(SETTINGS, each.get("settings", {}))
            answers[f"{base}/backups"] = [{"status": "COMPLETED", **one} for one in each.get("backups", ())]
            answers[f"{base}/snapshots"] = each.get("snapshots", [])
        return answers

    def _of_projects(self, projects: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the answers about projects, by method and path."""
        answers: dict[str, Any] = {"GET /api/projects": []}
        for project in projects:
            held = [each for each in self._full.values() if each["projectId"] == project["id"]]
            own = {each["id"]: self.services[each["id"]] for each in held}
            path = f"GET /api/projects/{project['id']}"
            answers["GET /api/projects"].append({"resourceCount": len(held), **project})
            answers[path] = {**project, "resources": held}
            answers[f"{path}/graphe"] = {
                "nodes": [
                    {"id": id, "name": each["name"], "alias": each.get("alias")} for id, each in own.items()
                ],
                "edges": [
                    {"from": id, "to": other, "through": names}
                    for id, each in own.items()
                    for other, names in each.get("uses", {}).items()
                ],
            }
        return answers


def releases_of(apps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the answers about the releases of applications, by method and path."""
    answers: dict[str, Any] = {}
    for app in apps:
        base, releases = f"GET /api/apps/{app['slug']}/releases", app.get("releases", {})
        answers[base] = [
            {"tag": tag, **{key: it for key, it in each.items() if key in ("digest", "createdAt")}}
            for tag, each in releases.items()
        ]
        for tag, scan in releases.items():
            answers[f"{base}/{tag}/scan"] = {"tag": tag, "scanStatus": "PASSED", **scan}
    return answers


def read_files(files: Mapping[str, Any], directory: str | None = None, path: str = "") -> Any:
    """Answer with what is in a directory, or in a file.

    :raises Refused: with 404 for what is not there or no directory, with 415 for a file without text.
    """
    entries = {each: {"content": it} if isinstance(it, str) else it for each, it in files.items()}
    entry, inside = entries.get(path), (directory or "").strip("/")
    if directory is None and entry and "content" in entry:
        return {"content": entry["content"]}
    if directory is None or (inside and not entries.get(inside, {}).get("directory")):
        raise error_for_status(f"{directory or path} cannot be read", 415 if entry else 404)
    return [
        {"name": name, "size": len(entry.get("content", "").encode()), "directory": False}
        | {key: value for key, value in entry.items() if key != "content"}
        for each, entry in entries.items()
        for parent, __, name in [each.rpartition("/")]
        if parent == inside
    ]


def merged(base: Any, changes: Any) -> Any:
    """Return nested data with changes: an object keeps what they leave out, anything else is replaced."""
    if not isinstance(base, Mapping) or not isinstance(changes, Mapping):
        return changes
    return {**base, **{key: merged(base.get(key), value) for key, value in changes.items()}}
