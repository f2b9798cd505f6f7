# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pieces of the way inside the controller that need no controller."""

from __future__ import annotations

import os
import time
from contextlib import nullcontext, suppress
from typing import Any

import pytest
from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import (
    InProcessAction,
    check_own_name,
    paced,
    pause,
    with_host_variables,
)

URL = "https://api.example.com"


@pytest.mark.parametrize(
    ("arguments", "variables", "in_environment", "base_url"),
    [
        ({}, {"hosted_url": URL}, None, URL),
        ({"base_url": "https://mine"}, {"hosted_url": URL}, None, "https://mine"),
        ({}, {"hosted_url": URL}, "https://environment", URL),
        ({}, {}, "https://environment", None),
        ({}, {}, None, None),
        ({}, {"hosted_url": ""}, None, None),
    ],
)
def test_the_address_of_the_inventory_is_used_where_the_task_gives_none(
    arguments: dict[str, Any],
    variables: dict[str, Any],
    in_environment: str | None,
    base_url: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("HOSTED_SERVICES_URL", raising=False)
    if in_environment:
        monkeypatch.setenv("HOSTED_SERVICES_URL", in_environment)
    given = {"name": "x", **arguments}
    filled = with_host_variables(PROJECT, given, {}, variables, lambda value: value).arguments
    assert filled.get("base_url") == base_url
    assert filled["name"] == "x"
    assert given == {"name": "x", **arguments}, "the task's own arguments are left alone"


def test_the_address_of_the_inventory_is_templated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOSTED_SERVICES_URL", raising=False)
    variables = {"hosted_url": "{{ u }}"}
    filled = with_host_variables(PROJECT, {}, {}, variables, lambda value: f"templated {value}")
    assert filled.arguments == {"base_url": "templated {{ u }}"}


@pytest.mark.parametrize(("seconds", "said"), [(10.0, [10, 20]), (4.0, [4, 8, 12, 16, 20]), (0.0, [])])
def test_progress_comes_at_a_human_pace(
    seconds: float, said: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    lines: list[str] = []
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    progress = paced(lines.append, seconds)
    for second in range(22):
        now[0] = float(second)
        progress(f"at {second}")
    assert lines == [f"at {second}" for second in said]


def test_the_pace_is_a_number_of_seconds() -> None:
    assert [pause(value) for value in (0, "2.5", 10)] == [0.0, 2.5, 10.0]
    for wrong in ("often", -1, None, "nan", "inf"):
        with pytest.raises(AnsibleError, match="hosted_progress_interval"):
            pause(wrong)


@pytest.mark.parametrize(
    ("resource", "arguments", "refused"),
    [
        (SERVICE, {"name": "db_6a88", "state": "absent"}, True),
        (BACKUP, {"services": ["web", "db_6a88"], "name": "nightly"}, True),
        (BACKUP, {"service": "db_6a88", "name": "nightly"}, True),
        (BACKUP, {"service": "db", "name": "db_6a88"}, False),
        (SERVICE, {"name": "db"}, False),
        (SERVICE, {"id": "6a88-1"}, False),
    ],
)
def test_the_name_of_a_host_is_not_taken_for_that_of_its_service(
    resource: Resource, arguments: dict[str, Any], refused: bool
) -> None:
    """An inventory changes names that it has twice; an order by the new one would double the service."""
    host = {"inventory_hostname": "db_6a88", "hosted_name": "db", "hosted_service_id": "6a88-1"}
    with pytest.raises(ConfigurationError, match="its service is named 'db'") if refused else nullcontext():
        check_own_name(resource, arguments, host)
    check_own_name(resource, arguments, {**host, "inventory_hostname": "db"})
    check_own_name(resource, arguments, {"inventory_hostname": "db_6a88"})


@pytest.mark.parametrize("end", [None, ConfigurationError("no"), KeyboardInterrupt()])
def test_the_environment_of_a_task_is_gone_after_it(
    monkeypatch: pytest.MonkeyPatch, end: BaseException | None
) -> None:
    """A worker runs many tasks: the token of one account must not be there for the next."""
    monkeypatch.setenv("KEPT", "as it was")
    monkeypatch.setenv("HOSTED_SERVICES_URL", "https://mine")

    class Task(InProcessAction):
        resource = PROJECT

        def __init__(self) -> None:
            self._loader = DataLoader()

        def _compute_environment_string(self, raw_environment_out: Any = None) -> str:
            raw_environment_out.update(HOSTED_SERVICES_TOKEN="t0ken", HOSTED_SERVICES_URL="https://theirs")
            return ""

    before = dict(os.environ)
    with suppress(ConfigurationError, KeyboardInterrupt), Task()._environment() as wanted:
        assert os.environ["HOSTED_SERVICES_TOKEN"] == wanted["HOSTED_SERVICES_TOKEN"] == "t0ken"
        assert os.environ["HOSTED_SERVICES_URL"] == "https://theirs"
        if end is not None:
            raise end
    assert dict(os.environ) == before
