# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What really is on the sandbox, in a form in which two runs can be compared."""

from __future__ import annotations

import base64
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from urllib.parse import quote, unquote

from hosted_sandbox.testing import SandboxClient

Record = dict[str, Any]
LEFT_OUT = {
    "service": {"id", "port", "image", "container", "rates", "failure", "sftp", "secrets", "endpoint"},
    "project": {"id"},
    "backup": {"id", "size"},
    "snapshot": {"id", "parent", "size"},
    "key": {"id"},
    "release": {"id"},
    "scan": {"report"},
    "order": {"id", "service_id"},
}
"""By kind of record, the fields that differ in every run, as moments do, or that are compared otherwise."""
MOMENTS = ("_at", "_from", "_until")
"""How the names of fields end that hold a moment; one is just `at`."""
NOT_COMPARED = {"meta", "account", "token", "node", "product", "event", "entry", "notice", "task"}
"""The kinds that no task changes by itself: the platform's own, and what it notes of the rest."""
GONE = "DELETED"
IN_EFFECT = "in effect"
"""What the running containers were made with, as a kind of what is compared."""
SETTLED = 30.0
"""Simulated seconds after which everything on the sandbox has come to its end."""


@dataclass(frozen=True)
class Truth:
    """The whole state of the sandbox at a moment, as its operator sees it."""

    saved: Mapping[str, Any]
    states: Mapping[str, str]

    @classmethod
    def of(cls, sandbox: SandboxClient) -> Truth:
        """Look behind the curtain, once nothing is on its way any more."""
        sandbox.clock(advance=SETTLED)
        saved = sandbox.control("GET", "/state")
        ids = [service["id"] for service in saved["records"]["service"] if service["status"] != GONE]
        metrics = sandbox.api("GET", f"/api/resources/metrics?ids={quote(','.join(ids))}").json()
        return cls(saved, {id: (metrics.get(id) or {}).get("state", "") for id in ids})

    def all(self, kind: str) -> list[Record]:
        """Return the records of a kind, services that are gone excepted."""
        records: list[Record] = self.saved["records"][kind]
        return [record for record in records if record.get("status") != GONE]

    @cached_property
    def files(self) -> dict[str, str]:
        """The files of the services by service id and path, each as a hash; of databases their content."""
        found = {}
        for quoted, entry in self.saved["files"].items():
            root, __, path = unquote(quoted).partition("/")
            if root == "files" and path:
                found[path] = digest(path, entry["content"]) if "content" in entry else "folder"
        return found

    def unapplied(self) -> Iterator[Record]:
        """Yield the services whose running container differs from what is written of it."""
        commands = {product["id"]: product["command"] for product in self.saved["records"]["product"]}
        for service, container in self.running():
            image = service["image"].get("config", {})
            command = service["command"] or " ".join(image.get("command") or ())
            command = command or commands[service["product"]] or "init"
            environment = {**image.get("environment", {}), **service["environment"]}
            same = (
                container["command"] == command.split()
                and container["public"] == service["public"]
                and agrees(environment, container["environment"])
            )
            if not same:
                yield service

    def running(self) -> Iterator[tuple[Record, Record]]:
        """Yield each service whose container runs, with what that container was made with."""
        for service in self.all("service"):
            container = service["container"]["configuration"]
            if self.states[service["id"]] == "running" and container is not None:
                yield service, container

    @cached_property
    def in_effect(self) -> list[str]:
        """What each running container was made with, by the name of its service."""
        return sorted(described(service["name"], made) for service, made in self.running())

    @cached_property
    def events(self) -> Counter[str]:
        """How often each thing happened on all services together."""
        return Counter(event["type"] for event in self.saved["records"]["event"])

    @cached_property
    def comparable(self) -> dict[str, list[str]]:
        """Everything that a task can have an influence on, with names in place of ids."""
        names = {record["id"]: record["name"] for kind in ("service", "project") for record in self.all(kind)}
        alive = {service["id"] for service in self.all("service")}
        shown: dict[str, list[str]] = {}
        for kind in self.saved["records"].keys() - NOT_COMPARED:
            records = [record for record in self.all(kind) if record.get("service_id", "") in ("", *alive)
                       or kind == "order"]  # fmt: skip
            shown[kind] = sorted(str(compared(kind, record, names)) for record in records)
        shown["images"] = [f"{s['name']} {s['image'].get('digest')}" for s in self.all("service")]
        states = [(s["name"], self.states[s["id"]], bool(s["sftp"])) for s in self.all("service")]
        shown["containers"] = sorted(map(str, states))
        shown[IN_EFFECT] = self.in_effect
        shown["files"] = sorted(
            f"{names[path.partition('/')[0]]}/{path.partition('/')[2]} {content}"
            for path, content in self.files.items()
            if path.partition("/")[0] in alive and path.partition("/")[2]
        )
        return shown

    def differences(self, other: Truth, but: Collection[str] = ()) -> dict[str, tuple[list[str], list[str]]]:
        """Return by kind what only this one has and what only the other one has, ``but`` these kinds."""
        found = {}
        for kind in self.comparable.keys() - set(but):
            mine = self.comparable[kind]
            mine_more = list((Counter(mine) - Counter(other.comparable[kind])).elements())
            other_more = list((Counter(other.comparable[kind]) - Counter(mine)).elements())
            if mine_more or other_more:
                found[kind] = (mine_more, other_more)
        return found


def agrees(written: Mapping[str, str], used: Mapping[str, str]) -> bool:
    """Tell whether a container has this environment. What a reference stands for only has to be filled in."""
    names = (written.keys() | used.keys()) - {"PORT"}
    plain = {name for name in names if "${" not in written.get(name, "")}
    return all(written.get(name) == used.get(name) for name in plain) and not any(
        "${" in used.get(name, "${") for name in names - plain
    )


def described(name: str, container: Record) -> str:
    """Describe what a container runs with; its port is the platform's own."""
    environment = {key: value for key, value in container["environment"].items() if key != "PORT"}
    return str([name, container["command"], sorted(environment.items()), container["public"]])


def compared(kind: str, record: Record, names: Mapping[str, str]) -> Record:
    """Return the fields of a record that a task can have an influence on. A kind that is new has them all."""
    fields = (
        name
        for name in record.keys() - LEFT_OUT.get(kind, set())
        if name != "at" and not name.endswith(MOMENTS)
    )
    return {name: named(record[name], names) for name in sorted(fields)}


def named(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the name of what it is the id of."""
    return names.get(value, value) if isinstance(value, str) else value


@lru_cache(maxsize=1000)
def digest(path: str, packed: str) -> str:
    """Return the hash of what a file holds. The pages of a database differ although its rows do not."""
    data = base64.b64decode(packed)
    if path.endswith(".sqlite3") and data:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(data)
            data = "\n".join(database.iterdump()).encode()
    return hashlib.sha256(data).hexdigest()
