# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A service to relocate on a sandbox, what relocates it, and what a test asks about both services."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import RELOCATE
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import work
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.platform import run

NODE = "node-frankfurt-1"
FILES = {"server.properties": "motd=hi", "world/level.dat": "x" * 70_000, "world/deep/er/ü.txt": "y"}
SEED: dict[str, Any] = {
    "balance_cents": 100000,
    "projects": ["old", "shop"],
    "services": [
        {"name": "survival", "product": "minecraft", "project": "shop", "files": FILES},
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "disk", "product": "bucket", "project": "shop"},
    ],
    "apps": [
        {
            "slug": "acme-web",
            "project": "shop",
            "images": [{"tag": "v1"}],
            "deployed": "v1",
            "environment": {"GAME": "${survival.HOST}"},
        },
    ],
}
ENVIRONMENTS = {"acme-web": {"GAME": "${survival.HOST}", "LOG_LEVEL": "debug"}}
SECRETS = {"acme-web": {"SESSION_KEY": "hunter2hunter2"}}
Relocate = Callable[..., dict[str, Any]]


def relocating(
    sandbox: Sandbox,
    key: Path,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    seed: dict[str, Any] | None = None,
) -> Relocate:
    """Seed the project; return what relocates a service of it, with a key and records of its own."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(folder))
    monkeypatch.setattr(work, "QUIET_SECONDS", 3.0)  # a sandbox shows a stop within two
    public = key.with_suffix(".pub").read_text().strip()
    sandbox.seed({**(seed or SEED), "ssh_keys": [{"name": "deploy", "public_key": public}]})
    sandbox.clear_journal()
    usual = {
        "service": "survival",
        "host": NODE,
        "environments": ENVIRONMENTS,
        "secret_environments": SECRETS,
        "private_key_file": str(key),
        "known_hosts": str(folder / "known_hosts"),
        "healthy_for": 0.0,
    }

    def go(check_mode: bool = False, **given: Any) -> dict[str, Any]:
        return run(sandbox, RELOCATE, check_mode, **{**usual, **given})

    return go


def done(result: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a task that did not fail."""
    assert not result.get("failed"), result.get("msg")
    return result


def pair(sandbox: Sandbox) -> tuple[str, str]:
    """Return the ids of the old service and of the new one."""
    ids = ids_of(sandbox, "shop")
    return ids["survival"], ids["survival-2"]


def status_of(sandbox: Sandbox, id: str) -> tuple[str, str]:
    """Return the status of a service and the state of its container."""
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={quote(id)}").json()[id]
    service = sandbox.api("GET", f"/api/resources/{quote(id)}").json()
    return str(service["status"]), str(metrics and metrics["state"])


def write_file(sandbox: Sandbox, id: str, path: str, content: str) -> None:
    """Write a file of a service, as somebody who uses it does."""
    sandbox.api("POST", f"/api/resources/{id}/files/write", {"path": path, "content": content})


def commits(sandbox: Sandbox) -> list[str]:
    """Return the calls that change something; a quote does not."""
    return [each for each in sandbox.writes() if "quote" not in each]


def orders(sandbox: Sandbox) -> int:
    """Return how many services were ordered."""
    seeded = {each["name"] for each in SEED["services"]} | {each["slug"] for each in SEED["apps"]}
    return len([each for each in sandbox.ledger()["orders"] if each["name"] not in seeded])
