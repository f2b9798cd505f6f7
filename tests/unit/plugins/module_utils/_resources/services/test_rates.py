# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is announced is what is billed in the end, or the task says that it is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run

RATES = {"monthlyMillicents": 1060, "storageMonthlyMillicents": 60, "billedMonthlyMillicents": 1060}
"""Of 2 vCPU, 4 GB and 20 GB at the rates of the fake node, which are 300, 100 and 3."""


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    if "sandbox" not in request.fixturenames:
        Clock(monkeypatch)


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_service("s", pricing=RATES)
    return client


def planned(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    task = task_of(SERVICE, client, id="s", **given)
    return SERVICE.plan(task), task


# --- What check mode expects --------------------------------------------------------------------------------

WISHES: list[tuple[str, dict[str, Any]]] = [
    ("ACTIVE", {"dimensions": {"ram_gb": 8}}),
    ("ACTIVE", {"dimensions": {"ram_gb": 8}, "state": "suspended"}),
    ("ACTIVE", {"state": "suspended"}),
    ("SUSPENDED", {"state": "resumed"}),
    ("SUSPENDED", {"state": "started"}),
    ("SUSPENDED", {"state": "resumed", "dimensions": {"ram_gb": 8}}),
    ("SUSPENDED", {"state": "started", "preset": "preset-large"}),
]
RATE_NAMES = ("monthly_millicents", "storage_monthly_millicents", "billed_monthly_millicents")


@pytest.mark.parametrize(("status", "wish"), WISHES, ids=str)
def test_check_mode_expects_the_rates_that_come(sandbox: Sandbox, status: str, wish: dict[str, Any]) -> None:
    """The forecast, the announced cost, the result and what is billed are the same sum."""
    if status == "SUSPENDED":
        run(sandbox, SERVICE, name="one", state="suspended")
    expected = run(sandbox, SERVICE, check_mode=True, name="one", **wish)
    result = run(sandbox, SERVICE, name="one", **wish)
    assert not result.get("failed"), result
    assert result["cost"] == expected["cost"]
    assert result.get("warnings") == expected.get("warnings")
    pricing, forecast = result["service"]["pricing"], expected["service"]["pricing"]
    assert {name: forecast[name] for name in RATE_NAMES} == {name: pricing[name] for name in RATE_NAMES}
    assert f"{pricing['billed_monthly_millicents'] / 1000:.2f}" == result["cost"]["monthly_after"]
    for name in ("monthly_cents", "min_balance_cents", "hourly_label"):
        assert forecast[name] in (pricing[name], None)


# --- What is billed is compared with what was announced --------------------------------------------------


def bill(client: FakeClient, millicents: int | None) -> None:
    client.service_records["s"]["pricing"]["billedMonthlyMillicents"] = millicents


@pytest.mark.parametrize(
    ("call", "status", "wish", "announced"),
    [
        ("suspend", "ACTIVE", {"state": "suspended"}, "0.06"),
        ("resume", "SUSPENDED", {"state": "resumed"}, "1.06"),
        ("set_scale", "ACTIVE", {"dimensions": {"cpu_cores": 4}}, "1.66"),
    ],
)
def test_another_rate_than_announced_is_told_once(
    client: FakeClient, call: str, status: str, wish: dict[str, Any], announced: str
) -> None:
    billed = 1060 if status == "ACTIVE" else 60
    client.add_service("s", status=status, pricing={**RATES, "billedMonthlyMillicents": billed})
    client.after[call] = lambda: bill(client, 9990)
    plan, task = planned(client, **wish)
    task.warnings.clear()
    carry_out(plan)
    (warning,) = task.warnings
    assert f"is billed 9.99 a month, not {announced} as announced" in warning
    assert "max_monthly" not in warning
    assert task.effects.billed is not None
    assert task.effects.billed.as_dict()["monthly_after"] == "9.99"


# --- Rates that do not add up ---------------------------------------------------------------------------


RISEN = {"cpuMillicentsPerMonth": 600, "ramMillicentsPerGbMonth": 200, "monthlyMillicents": 1060}
"""Rates of the node that are higher today than when the service was ordered: 2.06 for its size."""
SMALLER = {"dimensions": {"ram_gb": 3}}


@pytest.mark.parametrize("billed", [1860, 1060, 960, None])
def test_a_rate_that_rose_and_was_not_announced_is_told(client: FakeClient, billed: int | None) -> None:
    client.setting_records["s"]["scale"].update(RISEN)
    client.after["set_scale"] = lambda: bill(client, billed)
    plan, task = planned(client, **SMALLER)
    carry_out(plan)
    if billed != 1860:
        assert task.warnings == [] and task.effects.billed is None
        return
    (warning,) = task.warnings
    assert "is billed 1.86 a month, and 1.06 before; its price was not known" in warning
    assert task.effects.billed is not None
    assert task.effects.billed.as_dict()["monthly_after"] == "1.86"
