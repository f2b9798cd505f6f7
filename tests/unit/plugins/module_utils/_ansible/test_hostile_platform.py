# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every module against a platform that answers anything: a task ends in a result or a HostedError."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._api.text import HARMLESS
from cases import by_module
from unit.plugins.fakes import Clock
from unit.plugins.hostile import HostileClient
from unit.plugins.resources import RESOURCES, all_options

ELSEWHERE = {"sftp_sync", "sftp_host_key"}
"""What reaches a server of another kind with the platform's answer, which the tests of SFTP are about."""
SAMPLES = {name: samples for name, samples in by_module("sample_args").items() if name not in ELSEWHERE}
CASES = [(name, number) for name, samples in SAMPLES.items() for number in range(len(samples))]


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
    sender = HostileClient(seed, wildness)
    context = RunContext(check_mode, diff=True, connect=lambda settings, log: sender)
    result = execute(RESOURCES[name], all_options(RESOURCES[name], SAMPLES[name][number]), context)
    assert "defect" not in result.get("msg", ""), result
    json.dumps(result, ensure_ascii=False).encode()
    for text in [result.get("msg", ""), *result.get("warnings", []), *result.get("diff", {}).values()]:
        assert all(char.isprintable() or char in HARMLESS or not char.isascii() for char in text)
    written = [path for path in home.rglob("*") if path.is_file()]
    assert all(path.is_relative_to(home / "home" / "hosted_services") for path in written)
