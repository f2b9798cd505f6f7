# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that are shown late, or never."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run, writes

CHANGES: dict[str, Any] = {
    "public": False,
    "command": "run anew",
    "dimensions": {"cpu_cores": 2, "ram_gb": 8, "storage_gb": 20},
    "wait_interval": 0.2,
}


def test_settings_that_are_shown_late_are_waited_for_and_not_sent_again(sandbox: Sandbox) -> None:
    sandbox.profile("plain", **{"delay": "a second late", "network.again": "recreates the container"})
    first = run(sandbox, SERVICE, name="one", **CHANGES)
    assert not first.get("failed"), first["msg"]
    assert first["service"]["dimensions"]["ram_gb"] == 8
    sandbox.clear_journal()
    second = run(sandbox, SERVICE, name="one", **CHANGES)
    assert not second["changed"]
    assert writes(sandbox) == []


def test_settings_of_a_new_service_that_are_shown_late_are_waited_for(sandbox: Sandbox) -> None:
    """The order itself shows nothing of them, and the next run would send them again."""
    sandbox.profile("plain", **{"delay": "a second late", "network.in_effect": "at its next start"})
    size = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
    place = {"product": "minecraft", "host": "node-paris-1", "dimensions": size}
    new: dict[str, Any] = {"name": "new", **place, "public": False}
    first = run(sandbox, SERVICE, **new, state="stopped")
    assert not first.get("failed"), first["msg"]
    sandbox.clear_journal()
    assert not run(sandbox, SERVICE, **new, state="stopped")["changed"]
    assert writes(sandbox) == []


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


def test_settings_that_are_accepted_and_not_shown_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    client = FakeClient()
    client.add_service("s")

    def forget() -> None:
        client.setting_records["s"]["network"]["isPublic"] = False

    client.after["set_network"] = forget
    task = task_of(SERVICE, client, id="s", dimensions={"ram_gb": 7}, public=True)
    result = carry_out(SERVICE.plan(task))
    assert result["dimensions"]["ram_gb"] == 7
    [told] = [text for text in task.warnings if "but shows" in text]
    assert "public (True)" in told and "dimensions" not in told
