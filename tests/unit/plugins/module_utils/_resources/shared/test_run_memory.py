# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run reads once for all of its tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.controller_state import (
    RUN_FOLDER,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.run_memory import remember
from unit.plugins.fakes import FakeClient


def test_a_run_reads_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[str] = []

    def read() -> str:
        reads.append("read")
        return "someone"

    client = cast(Client, FakeClient())
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    assert [remember(client, "account", read) for _time in range(3)] == ["someone"] * 3 and len(reads) == 1
    other: Any = FakeClient()
    other.account_key = "another"
    assert remember(other, "account", read) == "someone" and len(reads) == 2
    monkeypatch.delenv(RUN_FOLDER)
    assert remember(client, "account", read) == "someone" and len(reads) == 3
    monkeypatch.setenv(RUN_FOLDER, "/dev/null/nowhere")
    assert remember(client, "account", read) is None and len(reads) == 3


def test_what_is_not_known_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    client = cast(Client, FakeClient())
    assert remember(client, "account", lambda: None) is None
    assert remember(client, "account", lambda: "someone") is None
