# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account as a file describes it: it answers what is read, and refuses to change anything.

`services` and `projects` are in the form of the specification; what a service leaves out is as in SERVICE.
A service has further keys of its own: `state` and `uptime` of its container, `settings`, `backups`,
`snapshots`. `apps`, `keys` and `wallet` are lists and an object of the specification as well. `answers` has
whatever else is read, by method and path; `{status: 403, message: no}` refuses it.
"""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import formatdate
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.errors import error_for_status
from ansible_collections.hosted.services.plugins.module_utils._api.session import Session

SERVICE: dict[str, Any] = {
    "name": "web",
    "family": "GAME_SERVER",
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
DEFAULT_PROJECT = {"id": "prj_default", "name": "default", "createdAt": "2026-01-01T00:00:00Z"}
OWN_KEYS = ("state", "uptime", "settings", "backups", "snapshots")
"""The keys of a service that are read by routes of their own."""


class AccountFile(Session):
    """What the client sends through: it answers from the account of a file."""

    def __init__(self, account: Mapping[str, Any]) -> None:
        super().__init__(Connection("https://account.example", "token"))
        self.clock.set(formatdate(usegmt=True))
        self.services = {each["id"]: merged(SERVICE, each) for each in account.get("services", ())}
        self.answers = {**self._own_answers(account), **account.get("answers", {})}

    def clone(self) -> AccountFile:
        """Return the same account."""
        return self

    def send(
        self,
        route: r.Route[Any],
        ids: dict[str, Any],
        query: dict[str, Any] | None = None,
        body: Any = None,
        seconds: float | None = None,
    ) -> Any:
        """Answer a read.

        :raises Refused: as the file says, and with 404 for a service or a project that it does not have.
        :raises AssertionError: for a write, and for what the file does not answer.
        """
        asked = f"{route.method} {route.url(ids, str)}"
        assert route.idempotency is r.READ, f"a plan sends {asked} {body}"
        if route is r.METRICS:
            return {id: self._metrics(id) for id in (query or {})["ids"].split(",")}
        answer = self.answers.get(asked)
        if answer is None and route in (r.SERVICE, r.PROJECT):
            raise error_for_status(f"{asked}: not found", 404)
        assert answer is not None, f"the account of the file has no answer to {asked}"
        if isinstance(answer, dict) and "message" in answer:
            raise error_for_status(f"{asked}: {answer['message']}", answer["status"])
        return answer

    def _metrics(self, id: str) -> dict[str, Any] | None:
        service = self.services[id]
        state = service.get("state", "running")
        return None if state is None else {"state": state, "uptimeSeconds": service.get("uptime", 100)}

    def _own_answers(self, account: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answers about services and projects, by method and path."""
        full = {
            id: {key: value for key, value in each.items() if key not in OWN_KEYS}
            for id, each in self.services.items()
        }
        answers: dict[str, Any] = {
            "GET /api/resources": [
                {key: value for key, value in each.items() if key != "projectId"} for each in full.values()
            ],
            "GET /api/apps": account.get("apps", []),
            "GET /api/users/me/ssh-keys": account.get("keys", []),
            "GET /api/wallet": account.get("wallet", {"currency": "EUR"}),
        }
        for id, each in self.services.items():
            base = f"GET /api/resources/{id}"
            answers[base] = full[id]
            answers[f"{base}/settings"] = merged(SETTINGS, each.get("settings", {}))
            answers |= {f"{base}/{name}": each.get(name, []) for name in ("backups", "snapshots")}
        projects = [DEFAULT_PROJECT, *account.get("projects", ())]
        inside = {
            one["id"]: [each for each in full.values() if each["projectId"] == one["id"]] for one in projects
        }
        answers["GET /api/projects"] = [
            {"resourceCount": len(inside[each["id"]]), **each} for each in projects
        ]
        for project in projects:
            held, path = inside[project["id"]], f"GET /api/projects/{project['id']}"
            answers[path] = {**project, "resources": held}
            nodes = [{"id": each["id"], "name": each["name"]} for each in held]
            answers[f"{path}/graphe"] = {"nodes": nodes, "edges": []}
        return answers


def merged(base: Any, changes: Any) -> Any:
    """Return nested data with changes: an object keeps what they leave out, anything else is replaced."""
    if not isinstance(base, Mapping) or not isinstance(changes, Mapping):
        return changes
    both = {**base, **{key: merged(base.get(key), value) for key, value in changes.items()}}
    return {key: both[key] for key in both}
