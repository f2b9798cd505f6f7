# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is on the platform and on this machine at the moment in which a deletion is asked for.

Written without the collection's own code: a copy is what a person would take for one.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from faults.truth import Truth
from hosted_sandbox.testing import SandboxClient
from integration.database_servers import Server

ROUTE = re.compile(r"DELETE /api/resources/([^/]+)")
COPY = re.compile(r"[0-9]{8}T[0-9]{6}Z(-[0-9]+)?")
FOLDER, DELETING = "folder", "DELETING"
DUMP = "database.dump"


@dataclass(frozen=True)
class Deletion:
    """A service that is about to be deleted: its content, and that of the copies that there are.

    The content of a service are its files by path and hash, that of a database its tables by name and hash.
    """

    service_id: str
    files: Mapping[str, str]
    copies: Sequence[Mapping[str, str]]

    @property
    def doubt(self) -> str:
        """Why no copy is one of this service as it is now; empty if one is."""
        if not self.copies:
            return "there is no copy"
        if self.files not in self.copies:
            return f"it has {dict(self.files)}, and the copies have {[dict(copy) for copy in self.copies]}"
        return ""


def watch_deletion(
    sandbox: SandboxClient, request: str, folder: str | None, database: Server | None = None
) -> Deletion | None:
    """Look at platform and disk if a request deletes a service; ``folder`` is the one for last copies.

    ``database`` is the server behind service ``db``. A request that is sent again after it was carried out
    deletes nothing.
    """
    found = ROUTE.fullmatch(request)
    truth = Truth(sandbox.control("GET", "/state"), {}) if found else None
    if found is None or truth is None or found[1] not in alive(truth):
        return None
    id = found[1]
    names = {service["id"]: service["name"] for service in truth.all("service")}
    if database and names[id] == "db":
        dumps = restored_copies(Path(folder), id, database) if folder else []
        return Deletion(id, tables(database, database.database), [*dumps])
    inside = {
        path.partition("/")[2]: content for path, content in truth.files.items() if path.startswith(f"{id}/")
    }
    return Deletion(id, inside, [*whole_copies(Path(folder), id)] if folder else [])


def alive(truth: Truth) -> set[str]:
    """Return the ids of the services that nobody has deleted."""
    return {service["id"] for service in truth.all("service") if service["status"] != DELETING}


def whole_copies(folder: Path, id: str) -> Iterator[dict[str, str]]:
    """Yield what the finished copies of a service hold, if each agrees with its own list."""
    for path in folder.glob("*/*"):
        if path.parent.name.endswith(id) and COPY.fullmatch(path.name) and is_described(path, id):
            files = {str(found.relative_to(path / "files")): content(found)
                     for found in (path / "files").rglob("*")}  # fmt: skip
            if listed(path) == files:
                yield files


def restored_copies(folder: Path, id: str, server: Server) -> Iterator[dict[str, str]]:
    """Yield what the finished dumps of a database hold, restored into a database of its own."""
    for path in folder.glob("*/*"):
        dump = path / DUMP
        if not (path.parent.name.endswith(id) and COPY.fullmatch(path.name) and is_described(path, id)):
            continue
        entries = json.loads((path / "manifest.json").read_text())["entries"]
        told = {entry["path"]: entry["sha256"] for entry in entries}
        if not dump.is_file() or told.get(DUMP) != content(dump):
            continue
        with suppress(AssertionError):  # what cannot be restored is no copy
            yield restored(server, dump)


def restored(server: Server, dump: Path) -> dict[str, str]:
    """Return what a dump holds."""
    name = "restored"
    try:
        server.restore(dump, name)
        return tables(server, name)
    finally:
        server.sql(f"DROP DATABASE IF EXISTS {name};")


def tables(server: Server, database: str) -> dict[str, str]:
    """Return the tables of a database, each with the hash of its rows."""
    listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1;"
    return {
        name: hashlib.sha256(server.sql(f"TABLE {name} ORDER BY 1;", database).encode()).hexdigest()
        for name in server.sql(listed, database).split()
    }


def content(path: Path) -> str:
    """Return the hash of a file; one word for a folder."""
    return FOLDER if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()


def listed(copy: Path) -> dict[str, Any]:
    """Return what the list of a copy says, in the same form."""
    entries = json.loads((copy / "manifest.json").read_text())["entries"]
    return {
        entry["path"].removeprefix("files/"): entry["sha256"] or FOLDER
        for entry in entries
        if entry["path"].startswith("files/")
    }


def is_described(copy: Path, id: str) -> bool:
    """Tell whether a copy says what it is one of, and how to order that again."""
    if not (copy / "manifest.json").is_file() or not (copy / "service.yml").is_file():
        return False
    tasks = yaml.safe_load((copy / "service.yml").read_text())
    same = json.loads((copy / "manifest.json").read_text())["service"]["id"] == id
    return bool(same and tasks and any(name.startswith("hosted.services.") for name in tasks[0]))
