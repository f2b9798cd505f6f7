# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks of one controller that work on one thing at the same time, as the hosts of a play do.

A barrier holds each of them until all have looked at the platform: what they then do is what counts.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import ModuleType
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources import app, backup, service
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services import (
    settings as service_settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import backups, id_of, run, writes

Hold = Callable[[ModuleType, str], None]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


@pytest.fixture
def hold(monkeypatch: pytest.MonkeyPatch) -> Hold:
    """Let a function of a module, called once by each of two tasks, return when both have called it."""
    barrier = Barrier(2, timeout=300)

    def hold(module: ModuleType, name: str) -> None:
        original = getattr(module, name)

        def held(*given: Any, **named: Any) -> Any:
            barrier.wait()
            return original(*given, **named)

        monkeypatch.setattr(module, name, held)

    return hold


def both(sandbox: Sandbox, *tasks: tuple[Resource, dict[str, Any]]) -> list[dict[str, Any]]:
    """Run two tasks at once."""
    with ThreadPoolExecutor() as threads:
        return list(threads.map(lambda task: run(sandbox, task[0], **task[1]), tasks))


def test_a_part_of_a_size_does_not_undo_what_another_task_has_changed(sandbox: Sandbox, hold: Hold) -> None:
    hold(service_settings, "check_scale")
    more_disk, more_memory = {"storage_gb": 40}, {"ram_gb": 6}
    results = both(
        sandbox,
        (SERVICE, {"name": "one", "dimensions": more_disk}),
        (SERVICE, {"name": "one", "dimensions": more_memory}),
    )
    assert writes(sandbox).count("settings.scale") == 1
    [refused] = [result for result in results if result.get("failed")]
    assert "was changed to" in refused["msg"] and "while this task ran" in refused["msg"]
    assert not refused["changed"]
    size = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'one')}").json()["dimensions"]
    assert (size["storageGb"] == 40) != (size["ramGb"] == 6)


def test_hosts_of_a_play_make_one_backup_of_a_name(sandbox: Sandbox, hold: Hold) -> None:
    hold(backup, "plan_making")
    task = (BACKUP, {"services": ["one"], "name": "before-update"})
    results = both(sandbox, task, task)
    assert [found["name"] for found in backups(sandbox, "one")] == ["before-update"]
    assert writes(sandbox).count("backups.create") == 1
    assert not any(result.get("failed") for result in results)


def test_an_application_is_not_ordered_as_a_service_as_well(
    sandbox: Sandbox, hold: Hold, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold(app, "cost_of_app_quote")
    monkeypatch.setattr(service, "check_quote", lambda *given: app.cost_of_app_quote(*given[1:]))
    order = {"name": "shop-one", "product": "application", "host": "node-paris-1"}
    size = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10}
    both(sandbox, (APP, {"slug": "shop-one"}), (SERVICE, {**order, "dimensions": size}))
    assert len([route for route in writes(sandbox) if route in ("apps.create", "order.create")]) == 1
