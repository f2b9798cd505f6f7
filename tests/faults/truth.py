# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What really is on the sandbox, in a form in which two runs can be compared."""

from __future__ import annotations

import base64
import hashlib
import io
import sqlite3
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sandbox.testing import Sandbox

Record = dict[str, Any]
COMPARED = {
    "service": ("project_id", "product", "name", "family", "status", "slug", "runtime", "size", "options",
                "environment", "command", "public"),
    "project": ("name",),
    "backup": ("service_id", "name", "status"),
    "snapshot": ("service_id", "name"),
    "key": ("name", "blob"),
    "release": ("service_id", "tag", "digest"),
    "order": ("product", "name"),
}  # fmt: skip
"""Of each kind of record, what a task can have an influence on; moments and ids differ in every run."""
GONE = "DELETED"
SETTLED = 30.0
"""Simulated seconds after which everything on the sandbox has come to its end."""


@dataclass(frozen=True)
class Truth:
    """The whole state of the sandbox at a moment, as its operator sees it."""

    saved: Mapping[str, Any]
    states: Mapping[str, str]

    @classmethod
    def of(cls, sandbox: Sandbox) -> Truth:
        """Look behind the curtain, once nothing is on its way any more."""
        sandbox.clock(advance=SETTLED)
        saved = sandbox.control("GET", "/state")
        ids = [service["id"] for service in saved["records"]["service"] if service["status"] != GONE]
        metrics = sandbox.api("GET", f"/api/resources/metrics?ids={','.join(ids)}").json()
        return cls(saved, {id: (metrics.get(id) or {}).get("state", "") for id in ids})

    def all(self, kind: str) -> list[Record]:
        """Return the records of a kind, services that are gone excepted."""
        records: list[Record] = self.saved["records"][kind]
        return [record for record in records if record.get("status") != GONE]

    @cached_property
    def files(self) -> dict[str, str]:
        """The files of the services by service id and path, each as a hash; of databases their content."""
        packed = io.BytesIO(base64.b64decode(self.saved["files"]))
        found = {}
        with tarfile.open(fileobj=packed, mode="r:gz") as archive:
            for member in archive.getmembers():
                root, __, path = member.name.partition("/")
                if root == "files" and path:
                    file = archive.extractfile(member) if member.isfile() else None
                    found[path] = hashlib.sha256(content(path, file.read())).hexdigest() if file else "folder"
        return found

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
        for kind, fields in COMPARED.items():
            records = [record for record in self.all(kind) if record.get("service_id", "") in ("", *alive)
                       or kind == "order"]  # fmt: skip
            shown[kind] = sorted(str([named(record[name], names) for name in fields]) for record in records)
        states = [(s["name"], self.states[s["id"]], bool(s["sftp"])) for s in self.all("service")]
        shown["containers"] = sorted(map(str, states))
        shown["files"] = sorted(
            f"{names[path.partition('/')[0]]}/{path.partition('/')[2]} {content}"
            for path, content in self.files.items()
            if path.partition("/")[0] in alive and path.partition("/")[2]
        )
        return shown

    def differences(self, other: Truth) -> dict[str, tuple[list[str], list[str]]]:
        """Return by kind what only this one has and what only the other one has."""
        found = {}
        for kind, mine in self.comparable.items():
            mine_more = list((Counter(mine) - Counter(other.comparable[kind])).elements())
            other_more = list((Counter(other.comparable[kind]) - Counter(mine)).elements())
            if mine_more or other_more:
                found[kind] = (mine_more, other_more)
        return found


def named(value: Any, names: Mapping[str, str]) -> Any:
    """Return a value with the name of what it is the id of."""
    return names.get(value, value) if isinstance(value, str) else value


def content(path: str, data: bytes) -> bytes:
    """Return what a file holds. The pages of a database differ although its rows do not."""
    if not path.endswith(".sqlite3") or not data:
        return data
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "database"
        file.write_bytes(data)
        database = sqlite3.connect(file)
        try:
            return "\n".join(database.iterdump()).encode()
        finally:
            database.close()
