# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run that orders a service which is free until a date says so, and what may happen then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import id_of, run, writes

GIFT: dict[str, Any] = {
    "name": "gift",
    "product": "hobby",
    "host": "node-paris-1",
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


def until(sandbox: Sandbox) -> str:
    """Return until when the platform shows the service as free."""
    shown = sandbox.api("GET", f"/api/resources/{id_of(sandbox, 'gift')}").json()
    return str(shown["pricing"]["freeExpiresAt"])


@pytest.mark.parametrize("options", [{}, {"state": "stopped"}, {"state": "suspended"}, {"wait": False}])
def test_the_run_that_orders_tells_until_when_a_service_is_free(
    sandbox: Sandbox, options: dict[str, Any]
) -> None:
    result = run(sandbox, SERVICE, **GIFT, **options)
    assert writes(sandbox).count("order.create") == 1
    assert result["warnings"] == [
        f"service 'gift' ({id_of(sandbox, 'gift')}) is shown as free until {until(sandbox)}, and what "
        "happens then is not shown: it may be billed, suspended, or deleted with its backups. Before that "
        "date, copy what you need off the platform, and delete the service if it must not cost anything"
    ]
    again = run(sandbox, SERVICE, **GIFT, **options)
    assert (again["changed"], again.get("warnings", [])) == (False, [])


def test_a_service_that_is_not_free_has_no_such_warning(sandbox: Sandbox) -> None:
    assert "warnings" not in run(sandbox, SERVICE, **{**GIFT, "product": "minecraft"})


def test_nothing_is_said_before_the_order(sandbox: Sandbox) -> None:
    assert "warnings" not in run(sandbox, SERVICE, check_mode=True, **GIFT)
    assert writes(sandbox) == ["order.quote"]


def warnings_of(pricing: dict[str, Any]) -> list[str]:
    """Order a service that the platform shows with this pricing, and return what is warned of."""
    client = FakeClient()
    given = {"name": "gift", "product": "nginx", "host": "nd_1", "dimensions": GIFT["dimensions"]}

    def priced() -> None:
        id = next(iter(client.service_records))
        client.service_records[id]["pricing"] = pricing

    client.after["order"] = priced
    task = task_of(SERVICE, client, **given)
    carry_out(SERVICE.plan(task))
    assert "order" in [call[0] for call in client.calls]
    return [warning for warning in task.warnings if "free" in warning]


@pytest.mark.parametrize("date", ["2001-01-01T00:00:00.000Z", "soon", "0", "9999-12-31T23:59:59.999Z"])
def test_a_date_is_told_as_it_is_shown(date: str) -> None:
    [warning] = warnings_of({"isFree": True, "freeExpiresAt": date})
    assert f"is shown as free until {date}, and" in warning


@pytest.mark.parametrize(
    "pricing",
    [
        {"isFree": True, "freeExpiresAt": None},
        {"isFree": True, "freeExpiresAt": ""},
        {"isFree": True},
        {"isFree": False, "freeExpiresAt": "2027-01-01T00:00:00.000Z"},
        {},
    ],
)
def test_without_an_end_of_the_free_time_nothing_is_said(pricing: dict[str, Any]) -> None:
    assert warnings_of({"monthlyMillicents": 1060, **pricing}) == []


def test_a_service_that_another_run_ordered_is_not_warned_of() -> None:
    client = FakeClient()
    given = {"name": "gift", "product": "nginx", "host": "nd_1", "dimensions": GIFT["dimensions"]}
    task = task_of(SERVICE, client, **given)
    plan = SERVICE.plan(task)
    client.add_service("svc_theirs", "gift", pricing={"isFree": True, "freeExpiresAt": "soon"})
    carry_out(plan)
    assert "order" not in [call[0] for call in client.calls]
    assert not [warning for warning in task.warnings if "free" in warning]


def test_a_blueprint_that_orders_tells_it_too(sandbox: Sandbox, tmp_path: Path) -> None:
    gift = {name: value for name, value in GIFT.items() if name != "name"}
    blueprint = {"project": "gifts", "services": {"gift": gift}}
    options: dict[str, Any] = {"blueprint": blueprint, "secrets_dir": str(tmp_path)}
    result = run(sandbox, BLUEPRINT, **options)
    assert writes(sandbox).count("order.create") == 1
    [warning] = result["warnings"]
    assert f"is shown as free until {until(sandbox)}, and what happens then is not shown" in warning
    assert run(sandbox, BLUEPRINT, **options).get("warnings", []) == []
