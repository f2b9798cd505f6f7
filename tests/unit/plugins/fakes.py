# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account in memory with the calls that the resources use, a clock that does not wait, and tasks."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import WAITING_SPEC
from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.errors import NotFoundResponse
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import runner
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Task,
)
from unit.plugins.planning import GUARD

CAPABILITIES = ["powerSignals", "suspension", "files", "logs", "backups"]


READS = {
    r.APPS: "apps",
    r.APP_NODES: "app_nodes",
    r.BACKUPS: "backups",
    r.CONNECTION: "database_connection",
    r.DATABASE: "database",
    r.FILES: "files",
    r.PROJECT: "project",
    r.PROJECTS: "projects",
    r.PROJECT_GRAPH: "project_graph",
    r.RELEASES: "releases",
    r.SERVICE: "service",
    r.SERVICES: "services",
    r.SETTINGS: "settings",
    r.SFTP: "sftp",
    r.SNAPSHOTS: "snapshots",
    r.SSH_KEYS: "ssh_keys",
}


CHANGES = {
    r.COMMAND: "set_command",
    r.FILE_RENAME: "rename_file",
    r.MOVE: "set_project",
    r.NETWORK: "set_network",
    r.POWER: "power",
    r.PROJECT_CREATE: "create_project",
    r.PROJECT_DELETE: "delete_project",
    r.PROJECT_RENAME: "rename_project",
    r.RESUME: "resume",
    r.SCALE: "set_scale",
    r.SERVICE_DELETE: "delete_service",
    r.SSH_KEY_ADD: "add_ssh_key",
    r.SSH_KEY_DELETE: "delete_ssh_key",
    r.SUSPEND: "suspend",
}


class Readable:
    """A client that answers what is read on a route with its method for that."""

    def one(self, route: Any, *, query: Any = None, **ids: str) -> Any:
        return getattr(self, READS[route])(*ids.values(), *(query or {}).values())

    def pages(self, route: Any, query: Any = None, **ids: str) -> Any:
        return self.one(route, query=query, **ids)

    def if_any(self, route: Any, id: str) -> Any:
        with suppress(NotFoundResponse):
            return self.one(route, id=id)
        return None

    def send(
        self, route: Any, *, query: Any = None, body: Any = None, commitment: Any = None, **ids: str
    ) -> Any:
        return getattr(self, CHANGES[route])(*ids.values(), *(body or {}).values())


class FakeClient(Readable):
    """The account: services, projects and keys by id; every write is noted in ``calls``.

    ``before`` and ``after`` hold functions by the name of a call: they run before or after the account was
    changed by it, and may raise what a lost request or a lost answer raises.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.last_call_was_retried = False
        self.before: dict[str, Callable[[], None]] = {}
        self.after: dict[str, Callable[[], None]] = {}
        self.service_records: dict[str, dict[str, Any]] = {}
        self.setting_records: dict[str, dict[str, Any]] = {}
        self.states: dict[str, Any] = {}
        self.uptimes: dict[str, int | None] = {}
        self.backup_records: dict[str, list[dict[str, Any]]] = {}
        self.snapshot_records: dict[str, list[dict[str, Any]]] = {}
        self.project_records: dict[str, dict[str, Any]] = {}
        self.key_records: dict[str, dict[str, Any]] = {}
        self.quote_answer: dict[str, Any] = {"monthlyMillicents": 1060, "coversFirstDay": True}
        self.order_answer: dict[str, Any] = {}
        self.currency: str | None = None
        self.account_key = "account"
        self.connection = SimpleNamespace(base_url="https://api.example.com")
        self.clock = PlatformClock()
        self.clock.last = formatdate(usegmt=True), time.monotonic()
        self.add_project("prj_default", "default")

    def clone(self) -> FakeClient:
        return self

    def one(
        self, route: Any, *, query: Any = None, body: Any = None, commitment: Any = None, **ids: str
    ) -> Any:
        return self.order(body) if route is r.ORDER else super().one(route, query=query, **ids)

    def whoami(self, seconds: float | None = None) -> m.Whoami:
        return m.Whoami(email="me@example.com")

    def set_pace(self, next_turn: Any, on_refusal: Any) -> None:
        """Nothing is sent, and so nothing is refused."""

    def close(self) -> None:
        """There is no connection to close."""

    # --- What tests put there -------------------------------------------------------------------------

    def add_project(self, id: str, name: str, **fields: Any) -> None:
        self.project_records[id] = {"id": id, "name": name, "resourceCount": 0, **fields}

    def add_service(
        self, id: str, name: str = "web", status: str = "ACTIVE", state: str | None = "running", **fields: Any
    ) -> dict[str, Any]:
        self.service_records[id] = {
            "id": id,
            "name": name,
            "family": "APP",
            "status": status,
            "projectId": "prj_default",
            "product": {"slug": "nginx"},
            "runtime": {"id": "rt_1", "slug": "stable"},
            "host": {"id": "nd_1", "label": "Node 1"},
            "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
            "pricing": {"monthlyMillicents": 1060, "billedMonthlyMillicents": 1060, "isFree": False},
            "capabilities": list(CAPABILITIES),
            **fields,
        }
        self.service_records[id]["pricing"] = dict(self.service_records[id]["pricing"] or {}) or None
        self.states[id] = state
        self.setting_records[id] = {
            "network": {"isPublic": False, "editable": True},
            "scale": {
                **{"cpuCores": 2, "ramGb": 4, "storageGb": 20},
                **{"cpuMin": 1, "cpuMax": 8, "ramMinGb": 1, "ramMaxGb": 32},
                **{"storageMinGb": 5, "storageMaxGb": 200},
                **{"cpuMillicentsPerMonth": 300, "ramMillicentsPerGbMonth": 100},
                **{"storageMillicentsPerGbMonth": 3, "optionsMillicents": 0, "editable": True},
            },
            "deploy": {"command": "", "editable": True},
            "deletable": True,
        }
        return self.service_records[id]

    def add_key(self, id: str, name: str, fingerprint: str) -> None:
        self.key_records[id] = {"id": id, "name": name, "fingerprint": fingerprint}

    def _call(self, name: str, arguments: tuple[Any, ...], effect: Callable[[], Any]) -> Any:
        GUARD.write(name)
        self.calls.append((name, *arguments))
        self.before.get(name, lambda: None)()
        answer = effect()
        self.after.get(name, lambda: None)()
        return answer

    # --- Reading --------------------------------------------------------------------------------------

    def services(self) -> list[m.ServiceSummary]:
        return [m.ServiceSummary.model_validate(record) for record in self.service_records.values()]

    def apps(self) -> list[m.App]:
        """The applications that are listed: none of the services is one."""
        return []

    def service(self, id: str) -> m.Service | None:
        record = self.service_records.get(id)
        return None if record is None else m.Service.model_validate(record)

    def metrics(self, ids: list[str]) -> dict[str, m.Metrics | None]:
        return {
            id: None
            if self.states[id] is None
            else m.Metrics(
                state=self.states[id],
                uptime_seconds=self.uptimes.get(id, 100),
                cpu_allocation_percent=100,
                net_rx_bytes=0,
                net_tx_bytes=0,
            )
            for id in ids
        }

    def settings(self, id: str) -> m.Settings:
        return m.Settings.model_validate(self.setting_records[id])

    def backups(self, id: str) -> list[m.Backup]:
        return [m.Backup.model_validate(record) for record in self.backup_records.get(id, [])]

    def snapshots(self, id: str) -> list[m.Snapshot]:
        return [m.Snapshot.model_validate(record) for record in self.snapshot_records.get(id, [])]

    def logs(self, id: str, lines: int = 100) -> list[str]:
        return ["last line"]

    def projects(self) -> list[m.Project]:
        return [m.Project.model_validate(record) for record in self.project_records.values()]

    def project(self, id: str) -> m.ProjectDetail | None:
        record = self.project_records.get(id)
        inside = [service for service in self.service_records.values() if service["projectId"] == id]
        return None if record is None else m.ProjectDetail.model_validate({**record, "resources": inside})

    def ssh_keys(self) -> list[m.SshKey]:
        return [m.SshKey.model_validate(record) for record in self.key_records.values()]

    def wallet(self, seconds: float | None = None) -> m.Wallet:
        return m.Wallet(currency=self.currency)

    def quote(self, body: dict[str, Any]) -> m.Quote:
        self.quoted = body
        return m.Quote.model_validate(self.quote_answer)

    def project_graph(self, id: str) -> m.ProjectGraph:
        held = [record for record in self.service_records.values() if record.get("projectId") == id]
        return m.ProjectGraph.model_validate({"id": id, "nodes": [{"id": one["id"]} for one in held]})

    # --- Writing --------------------------------------------------------------------------------------

    def order(self, order: dict[str, Any]) -> m.Order:
        def place() -> m.Order:
            id = f"svc_{len(self.service_records) + 1}"
            facts = {
                "projectId": order.get("projectId", "prj_default"),
                "product": {"slug": order["productSlug"]},
            }
            self.add_service(id, order["name"], state="stopped", **facts)
            return m.Order.model_validate({"instanceId": id, "secrets": [], **self.order_answer})

        answer: m.Order = self._call("order", (order,), place)
        return answer

    def power(self, id: str, signal: str) -> None:
        goal = "running" if signal in ("start", "restart") else "stopped"

        def obey() -> None:
            self.states[id] = goal
            self.uptimes[id] = 0

        self._call("power", (id, signal), obey)

    def suspend(self, id: str) -> None:
        self._call("suspend", (id,), lambda: self._become(id, "SUSPENDED"))

    def resume(self, id: str) -> None:
        self._call("resume", (id,), lambda: self._become(id, "ACTIVE"))

    def _become(self, id: str, status: str) -> None:
        self.service_records[id]["status"] = status
        self._bill(id)

    def _bill(self, id: str) -> None:
        """Let the rate run that belongs to the status."""
        record = self.service_records[id]
        name = "monthlyMillicents" if record["status"] == "ACTIVE" else "storageMonthlyMillicents"
        if record["pricing"]:
            record["pricing"]["billedMonthlyMillicents"] = record["pricing"].get(name)

    def delete_service(self, id: str) -> None:
        self._call("delete_service", (id,), lambda: self.service_records.pop(id, None))

    def set_network(self, id: str, is_public: bool) -> None:
        def change() -> None:
            self.setting_records[id]["network"].update(isPublic=is_public)
            self.uptimes[id] = 0  # the container is recreated

        self._call("set_network", (id, is_public), change)

    def set_scale(self, id: str, *amounts: int) -> None:
        size = dict(zip(("cpuCores", "ramGb", "storageGb"), amounts, strict=True))
        record = self.service_records[id]

        def change() -> None:
            record["dimensions"] = size
            scale = self.setting_records[id]["scale"]
            names = ("cpuMillicentsPerMonth", "ramMillicentsPerGbMonth", "storageMillicentsPerGbMonth")
            if record["pricing"] and all(scale.get(name) is not None for name in names):
                parts = [amount * scale[name] for amount, name in zip(size.values(), names, strict=True)]
                full = sum(parts) + scale["optionsMillicents"]
                record["pricing"].update(monthlyMillicents=full, storageMonthlyMillicents=parts[2])
                self._bill(id)

        self._call("set_scale", (id, tuple(size.values())), change)

    def set_command(self, id: str, command: str) -> None:
        deploy = self.setting_records[id]["deploy"]
        self._call("set_command", (id, command), lambda: deploy.update(command=command))

    def set_project(self, id: str, project_id: str) -> None:
        record = self.service_records[id]
        self._call("set_project", (id, project_id), lambda: record.update(projectId=project_id))

    def create_project(self, name: str) -> None:
        id = f"prj_{len(self.project_records) + 1}"
        self._call("create_project", (name,), lambda: self.add_project(id, name))

    def rename_project(self, id: str, name: str) -> None:
        self._call("rename_project", (id, name), lambda: self.project_records[id].update(name=name))

    def delete_project(self, id: str) -> None:
        self._call("delete_project", (id,), lambda: self.project_records.pop(id, None))

    def add_ssh_key(self, name: str, public_key: str) -> None:
        fingerprint = self.fingerprint_of(public_key)
        id = f"key_{len(self.key_records) + 1}"
        self._call("add_ssh_key", (name, public_key), lambda: self.add_key(id, name, fingerprint))

    def delete_ssh_key(self, id: str) -> None:
        self._call("delete_ssh_key", (id,), lambda: self.key_records.pop(id, None))

    fingerprint_of: Callable[[str], str] = staticmethod(lambda line: "SHA256:unknown")


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.pauses: list[float] = []
        self.then: list[Callable[[], None]] = []
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        """Let time pass; then let the next thing happen that a test waits for."""
        GUARD.pause()
        self.now += seconds
        self.pauses.append(seconds)
        if self.then:
            self.then.pop(0)()


def options_of(resource: Resource, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options of a module as Ansible passes them on: with defaults, and ``None`` for the rest."""
    spec = {**resource.options, **(WAITING_SPEC if resource.waits else {})}
    unknown = set(given) - set(spec)
    if unknown:
        raise KeyError(f"no such options: {unknown}")
    return {**{name: option.get("default") for name, option in spec.items()}, **given}


def task_of(resource: Resource, client: FakeClient, check_mode: bool = False, **given: Any) -> Task[Any]:
    options = resource.read_options(options_of(resource, given))
    return Task(client, options, check_mode)  # type: ignore[arg-type]


def carry_out(plan: Plan) -> Any:
    """Do what a plan says and return the result, as the runner does."""
    task: Task = Task(None, Options())  # type: ignore[arg-type]
    runner.apply_plan(plan, task)
    return plan.reread() if task.effects.actions and plan.reread else plan.result
