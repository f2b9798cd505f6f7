# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An account that has lost its project, and what is left of that: its blueprint and its off-site copies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import ServiceSummary
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import Member
from ansible_collections.hosted.services.plugins.module_utils._resources.recover import RECOVER
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.target import (
    RecoverOptions,
    RecoveryRecord,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

Recover = Callable[..., dict[str, Any]]
SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
MOMENT = "20261120T031500Z"
WORLD = {"server.properties": "motd=hi", "world/level.dat": "x" * 70_000, "world/empty": ""}
BLUEPRINT: dict[str, Any] = {
    "project": "shop",
    "services": {
        "world": {"name": "Survival", "product": "minecraft", "dimensions": SIZE, "state": "started"},
        "lobby": {"product": "minecraft", "dimensions": SIZE, "state": "stopped"},
    },
}
"""What is rebuilt: a game server that runs, and one that does not."""
GONE: dict[str, Any] = {"balance_cents": 100_000, "projects": ["old"]}
"""An account in which nothing of it is left."""


def shelve(
    folder: Path,
    id: str,
    content: Mapping[str, str | bytes],
    *,
    moment: str = MOMENT,
    left_out: Sequence[str] = (),
    **about: Any,
) -> Path:
    """Put a copy on the shelf of a service, as role `backups` does; return its folder."""
    copy = folder / id / f"nightly-{moment}"
    copy.mkdir(parents=True)
    for name, text in content.items():
        file = copy / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
    described = folder / id / "service.json"
    if about:
        before = json.loads(described.read_text())["excluded"] if described.exists() else {}
        excluded = {**before, copy.name: [*left_out]}
        told = {"id": id, "slug": None, "project": "shop", "engine": "", "excluded": excluded, **about}
        described.write_text(json.dumps(told))
    return copy


def recovering(
    sandbox: Sandbox, key: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, **seed: Any
) -> Recover:
    """Return what recovers the project, with a key of the account and records of its own."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(folder / "home"))
    (folder / "home").mkdir()
    public = key.with_suffix(".pub").read_text().strip()
    sandbox.reset()
    sandbox.seed({**GONE, "ssh_keys": [{"name": "deploy", "public_key": public}], **seed})
    sandbox.clear_journal()
    shelve(folder / "copies", "svc_1", WORLD, name="Survival")
    shelve(folder / "copies", "svc_2", {"a": "b"}, name="lobby")

    def go(check_mode: bool = False, **given: Any) -> dict[str, Any]:
        own = {
            "blueprint": BLUEPRINT,
            "host": "node-paris-1",
            "copies": str(folder / "copies"),
            "private_key_file": str(key),
            "known_hosts": str(folder / "known_hosts"),
            "secrets_dir": str(folder),
        }
        return run(sandbox, RECOVER, check_mode, **{**own, **given})

    return go


def member(name: str, *, id: str | None = None, slug: str | None = None) -> Member:
    """Return what is in a project."""
    return Member(ServiceSummary(id=id or f"svc_{name}", name=name, family="GAME", status="ACTIVE"), slug)


def record_of(sandbox: Sandbox, project: str) -> RecoveryRecord:
    """Return the record of a project, as the module reads it."""
    return RecoveryRecord.read(StateDirOptions(base_url=sandbox.base_url, token="x"), project)


def options(**given: Any) -> RecoverOptions:
    """Return options with these."""
    return RecoverOptions(**{"base_url": "https://platform.example.com", "token": "x", **given})
