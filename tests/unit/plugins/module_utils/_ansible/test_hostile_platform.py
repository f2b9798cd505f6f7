# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every noun against a platform that answers anything: the task ends, in a result or in an error of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import Surroundings, execute
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.text import HARMLESS
from unit.plugins.fakes import Clock
from unit.plugins.hostile import HostileTransport
from unit.plugins.nouns import NOUNS, all_options

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop"
SIZE = {"cpu_cores": 2, "ram_gb": 2, "storage_gb": 50}
ORDERED = {"product": "a", "host": "a", "dimensions": SIZE, "variables": {"A": "b"}}
WISHES: dict[str, list[dict[str, Any]]] = {
    "account_info": [{}],
    "app": [
        {"slug": "games"},
        {"slug": "mc-new", "project": "games", "dimensions": SIZE, "max_monthly": "5"},
    ],
    "app_deploy": [
        {"slug": "games", "tag": "v1"},
        {"slug": "games", "tag": "v1", "force": True, "rollback": True},
    ],
    "app_image": [{"slug": "games", "path": "/nowhere"}],
    "app_info": [{"include": ["releases", "logs", "nodes", "projects"]}, {"slug": "games"}],
    "app_release": [{"slug": "games", "tag": "v1", "digest": "sha256:" + "a" * 64, "fail_on": ["high"]}],
    "backup": [{"services": ["mc"], "name": "a"}, {"project": "games", "name": "a", "state": "absent"}],
    "backup_info": [{}, {"services": ["a"], "max_age": "1d"}],
    "backup_retention": [
        {"pattern": "*a*", "keep_last": 1, "keep_daily": 2},
        {"pattern": "a", "keep_within": "1d"},
    ],
    "billing_info": [
        {"include": ["overview", "wallet", "transactions", "daily_spend", "invoices", "statements"]},
        {"period": "2026-01"},
    ],
    "database_info": [{"service": "mc"}, {"service": "a", "table": "a", "return_secrets": True}],
    "database_query": [
        {"service": "mc", "query": "SELECT 1", "all_rows": True},
        {"service": "mc", "query": "DELETE FROM a", "read_only": False},
    ],
    "environment": [{"slug": "games", "variables": {"A": "${mc.URL}"}, "secret_variables": {"B": "x"}}],
    "file": [
        {"service": "mc", "path": "a/mc", "content": "x"},
        {"service": "a", "paths": ["a"], "state": "absent"},
    ],
    "file_info": [
        {"service": "mc", "recurse": True, "path": "."},
        {"service": "mc", "path": "a", "content": True},
    ],
    "project": [
        {"name": "games"},
        {"name": "games", "state": "absent", "force": True},
        {"id": "a", "name": "b"},
    ],
    "project_info": [{"include": ["services", "spend", "graph"]}],
    "quote": [ORDERED, {"kind": "application"}],
    "service": [
        {"name": "mc", "state": "started", "dimensions": SIZE, "public": True, "command": "x"},
        {"name": "new", "state": "stopped", **ORDERED},
        {"name": "mc", "state": "absent", "delete_backups": True},
        {"id": "a", "state": "suspended"},
        {"id": "a", "state": "restarted", "project": "games"},
    ],
    "service_info": [
        {"include": ["details", "settings", "metrics", "events", "logs", "usage", "billed_totals", "sftp"]},
        {"name": "mc", "include": ["backups", "snapshots"], "time_zone": "Europe/Paris"},
    ],
    "sftp_info": [{"service": "mc"}],
    "sftp_password": [{"service": "mc", "update_password": "always"}],
    "snapshot": [
        {"services": ["mc"], "name": "a"},
        {"services": ["mc"], "name": "a", "state": "rolled_back"},
    ],
    "snapshot_info": [{"family": "GAME", "max_age": "1h"}],
    "ssh_key": [{"name": "a", "public_key": KEY, "replace": True}, {"name": "a", "state": "absent"}],
    "ssh_key_info": [{}, {"name": "a"}],
}
ELSEWHERE = {"sftp_sync", "sftp_host_key"}
"""What reaches a server of another kind with the platform's answer, which the tests of SFTP are about."""
CASES = [(name, number) for name, wishes in WISHES.items() for number in range(len(wishes))]


def test_every_noun_is_here() -> None:
    assert set(WISHES) | ELSEWHERE == set(NOUNS)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for what tasks keep, in a world where waiting takes no time."""
    Clock(monkeypatch)
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{case[1]}")
@settings(
    max_examples=max(settings.default.max_examples // 4, 1),  # type: ignore[union-attr]
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(seed=st.integers(0), wildness=st.sampled_from([0.0, 0.1, 0.3, 0.6]), check_mode=st.booleans())
def test_any_answer_ends_in_a_result_or_in_an_error_of_ours(
    case: tuple[str, int], seed: int, wildness: float, check_mode: bool, home: Path
) -> None:
    name, number = case
    sender = HostileTransport(seed, wildness)
    around = Surroundings(check_mode, diff=True, connect=lambda settings, log: Client(sender))
    result = execute(NOUNS[name], all_options(NOUNS[name], WISHES[name][number]), around)
    assert "defect" not in result.get("msg", ""), result
    json.dumps(result, ensure_ascii=False).encode()
    for text in [result.get("msg", ""), *result.get("warnings", []), *result.get("diff", {}).values()]:
        assert all(char.isprintable() or char in HARMLESS or not char.isascii() for char in text)
    written = [path for path in home.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(home / "home" / "hosted_services") for path in written)
