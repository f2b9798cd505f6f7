# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module notes in the system's log, and prints, when it runs as a module."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible.module_utils import basic

from ansible_collections.hosted.services.plugins.module_utils._ansible import module as hosted_module
from ansible_collections.hosted.services.plugins.module_utils._ansible.module import HostedModule, run_module
from ansible_collections.hosted.services.plugins.module_utils._api.text import HIDDEN
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE

ARGUMENTS = {"name": "mc", "token": "tok-1", "variables": {"A": "hunter2"}}


def give(monkeypatch: pytest.MonkeyPatch, arguments: dict[str, Any]) -> None:
    """Give a module arguments. ansible-core 2.18 has no ansible.module_utils.testing, which does this."""
    monkeypatch.setattr(basic, "_ANSIBLE_ARGS", json.dumps({"ANSIBLE_MODULE_ARGS": arguments}).encode())
    monkeypatch.setattr(basic, "_ANSIBLE_PROFILE", "legacy", raising=False)


def test_the_log_of_the_system_holds_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []

    def note(module: HostedModule, message: str, log_args: dict[str, Any] | None = None) -> None:
        lines.extend([message, *map(str, (log_args or {}).values())])

    monkeypatch.setattr(HostedModule, "log", note)
    give(monkeypatch, ARGUMENTS)
    HostedModule(SERVICE)
    assert "name=mc" in lines[0]
    assert f"variables={HIDDEN}" in lines[0]
    assert "hunter2" not in str(lines)
    assert "tok-1" not in str(lines)


@pytest.mark.parametrize("failed", [False, True])
def test_a_module_prints_the_result_with_its_warnings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], failed: bool
) -> None:
    result = {"changed": True, "warnings": ["look here"], **({"failed": True, "msg": "no"} if failed else {})}
    monkeypatch.setattr(hosted_module, "execute", lambda *_given: dict(result))
    monkeypatch.setattr(HostedModule, "log", lambda *_given, **_more: None)
    warnings: list[str] = []  # where Ansible keeps them depends on what else this process has imported
    monkeypatch.setattr(HostedModule, "warn", lambda _module, text: warnings.append(text))
    give(monkeypatch, {"name": "mc"})
    with pytest.raises(SystemExit) as ended:
        run_module(SERVICE)
    told = json.loads(capsys.readouterr().out)
    assert ended.value.code == int(failed)
    assert (told["changed"], told.get("failed", False)) == (True, failed)
    assert warnings == ["look here"]


def test_a_value_that_ansible_refuses_shows_no_secret(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ansible itself would hide the token alone."""
    monkeypatch.setattr(HostedModule, "log", lambda *_given, **_more: None)
    give(monkeypatch, {**ARGUMENTS, "state": "asleep"})
    with pytest.raises(SystemExit):
        HostedModule(SERVICE)
    told = json.loads(capsys.readouterr().out)
    assert told["failed"] and "asleep" in told["msg"]
    shown = told.get("invocation", {}).get("module_args", {})  # 2.22 shows no arguments
    assert shown.get("variables", HIDDEN) == HIDDEN
    assert "hunter2" not in str(told)


@pytest.mark.parametrize("carried", [{}, {"_rendered": {"text": "services: {}"}}])
def test_what_the_controller_has_read_is_no_argument(
    monkeypatch: pytest.MonkeyPatch, carried: dict[str, Any]
) -> None:
    monkeypatch.setattr(HostedModule, "log", lambda *_given, **_more: None)
    give(monkeypatch, {"src": "games.yml", **carried})
    module = HostedModule(BLUEPRINT)
    assert (module.carried, module.objection) == (carried, "")
    assert "_rendered" not in module.params
