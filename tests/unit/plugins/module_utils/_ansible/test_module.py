# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module notes in the system's log when it runs as a module."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils import basic

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import HostedModule
from ansible_collections.hosted.services.plugins.module_utils._api.text import HIDDEN
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE


def test_the_log_of_the_system_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def note(module: HostedModule, message: str, log_args: dict[str, Any] | None = None) -> None:
        lines.extend([message, *map(str, (log_args or {}).values())])

    monkeypatch.setattr(HostedModule, "log", note)
    arguments = {"name": "mc", "token": "tok-1", "variables": {"A": "hunter2"}}
    # As ansible.module_utils.testing does, which ansible-core 2.18 does not have yet.
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)
    HostedModule(SERVICE)
    assert "name=mc" in lines[0]
    assert f"variables={HIDDEN}" in lines[0]
    assert "hunter2" not in str(lines)
    assert "tok-1" not in str(lines)
