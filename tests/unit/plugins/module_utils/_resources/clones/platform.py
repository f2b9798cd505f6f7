# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A project to clone on a sandbox, and what a test asks about a clone: its files, its price, its journal."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clone import CLONE
from ansible_collections.hosted.services.plugins.module_utils._resources.clones import (
    content as clone_content,
)
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import LoginRefused
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

SIZE = {"cpuCores": 1, "ramGb": 2, "storageGb": 10}
SEED: dict[str, Any] = {
    "balance_cents": 100000,
    "projects": ["old", "shop"],
    "services": [
        {
            "name": "Survival",
            "product": "minecraft",
            "project": "shop",
            "dimensions": SIZE,
            "files": {"server.properties": "motd=hi", "world/level.dat": "x" * 70_000},
        },
        {"name": "lobby", "product": "minecraft", "project": "shop", "state": "stopped", "files": {"a": "b"}},
    ],
    "apps": [
        {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}, {"tag": "v2"}], "deployed": "v2"},
        {
            "slug": "acme-web",
            "project": "shop",
            "images": [{"tag": "v1"}],
            "deployed": "v1",
            "environment": {"API": "${acme-api.URL}"},
        },
    ],
}
GIVEN: dict[str, Any] = {
    "source": "shop",
    "project": "shop-staging",
    "rename": {"suffix": "-staging"},
    "environments": {"acme-web": {"API": "${acme-api.URL}", "LOG_LEVEL": "debug"}},
    "secret_environments": {"acme-web": {"SESSION_KEY": "hunter2hunter2"}},
}
WEB = {"API": "${acme-api-staging.URL}", "LOG_LEVEL": "debug"}
"""The environment of the clone that may be shown: its reference leads to the clone."""


def cloned(
    sandbox: Sandbox, key: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., dict[str, Any]]:
    """Seed the project; return what clones it, with a key of the account and records of its own."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(folder))
    public = key.with_suffix(".pub").read_text().strip()
    sandbox.seed({**SEED, "ssh_keys": [{"name": "deploy", "public_key": public}]})
    sandbox.clear_journal()

    def go(check_mode: bool = False, **given: Any) -> dict[str, Any]:
        own = {
            "private_key_file": str(key),
            "known_hosts": str(folder / "known_hosts"),
            "secrets_dir": str(folder),
        }
        return run(sandbox, CLONE, check_mode, **{**GIVEN, **own, **given})

    return go


def records(sandbox: Sandbox, kind: str) -> list[dict[str, Any]]:
    """Return the records of a kind as the platform keeps them, whatever it shows; services that exist."""
    found: list[dict[str, Any]] = sandbox.control("GET", "/state")["records"][kind]
    return [each for each in found if each.get("status") != "DELETED"]


def ids_of(sandbox: Sandbox, project: str) -> dict[str, str]:
    """Return the ids of what is in a project, by name."""
    [id] = [each["id"] for each in records(sandbox, "project") if each["name"] == project]
    return {each["name"]: each["id"] for each in records(sandbox, "service") if each["project_id"] == id}


def home_of(sandbox: Sandbox, id: str) -> str:
    """Return the id of the project of a service."""
    [found] = [each for each in records(sandbox, "service") if each["id"] == id]
    return str(found["project_id"])


def files(sandbox: Sandbox, id: str) -> dict[str, Any]:
    """Return the content of all files of a service, by path; that of a folder is ``None``.

    What is not text has surrogates, so that two contents are equal where all their bytes are.
    """
    entries: dict[str, dict[str, Any]] = sandbox.control("GET", "/state")["files"]
    root = f"files/{id}/"
    by_name = {unquote(path): entry for path, entry in entries.items()}
    return {
        path.removeprefix(root.rstrip("/")): text_of(entry.get("content"))
        for path, entry in by_name.items()
        if path.startswith(root)
    }


def plain_files(sandbox: Sandbox, id: str) -> dict[str, str]:
    """Return the content of all files of a service, by path, without its folders."""
    return {path: text for path, text in files(sandbox, id).items() if text is not None}


def text_of(encoded: str | None) -> str | None:
    """Return the content of a file as text that can be turned back into its bytes."""
    return None if encoded is None else b64decode(encoded).decode(errors="surrogateescape")


def monthly_rate(sandbox: Sandbox) -> Decimal:
    """Return what all services cost a month, as the platform bills it."""
    alive = [each for each in sandbox.ledger()["billed"] if each["status"] != "DELETED"]
    return sum((Decimal(each["monthly_millicents"]) / 1000 for each in alive), Decimal(0))


def environment(sandbox: Sandbox, slug: str) -> dict[str, str]:
    """Return what the platform has as the environment of an application."""
    [found] = [each for each in records(sandbox, "service") if each["name"] == slug]
    kept: dict[str, str] = found["environment"]
    return kept


def writes_to(sandbox: Sandbox, originals: Mapping[str, str] | Iterable[str]) -> list[dict[str, Any]]:
    """Return the calls that write to services of a source, by their ids and their names.

    A project may have the id of a service.
    """
    names = [*originals, *(originals.values() if isinstance(originals, Mapping) else ())]
    marks = [f"/{name}" for name in names]
    return [
        line
        for line in sandbox.journal()
        if line["method"] != "GET"
        and not line["path"].startswith("/api/projects/")
        and any(f"{line['path']}/".find(f"{mark}/") >= 0 for mark in marks)
    ]


def refuse_logins(
    monkeypatch: pytest.MonkeyPatch, id: str, count: int, error: type[Exception] = LoginRefused
) -> list[str]:
    """Let a service refuse the first logins over SFTP; return the ids of all services that are tried."""
    attempts: list[str] = []
    open_session = clone_content.open_session

    def refusing(task: Any, stack: Any, tried: str, beside: Any = None) -> Any:
        attempts.append(tried)
        if tried == id and attempts.count(id) <= count:
            raise error("not yet")
        return open_session(task, stack, tried, beside)

    monkeypatch.setattr(clone_content, "open_session", refusing)
    return attempts
