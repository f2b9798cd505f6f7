# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox

Order = Callable[..., str]


def _settings(sandbox: Sandbox, key: str) -> Any:
    return sandbox.api("GET", f"/api/resources/{key}/settings").json()


def _open(sandbox: Sandbox, key: str, public: bool) -> int:
    return sandbox.api("PUT", f"/api/resources/{key}/network", {"isPublic": public}).status_code


def _logs(sandbox: Sandbox, key: str) -> int:
    return len(sandbox.api("GET", f"/api/resources/{key}/logs").json()["lines"])


@pytest.mark.rule("settings-1")
def test_a_closed_service_keeps_its_port(sandbox: Sandbox, order: Order) -> None:
    key = order()
    before = _settings(sandbox, key)["network"]
    assert _open(sandbox, key, False) == 200
    closed = _settings(sandbox, key)["network"]
    assert (closed["isPublic"], closed["publicPort"]) == (False, before["publicPort"])
    assert sandbox.api("GET", f"/api/resources/{key}").json()["address"] is None
    assert _open(sandbox, key, True) == 200
    address = sandbox.api("GET", f"/api/resources/{key}").json()["address"]
    assert address == f"{before['publicIp']}:{before['publicPort']}"


@pytest.mark.rule("settings-2")
def test_opening_takes_a_port_while_there_is_one(sandbox: Sandbox, order: Order) -> None:
    first, second = order("postgresql", "one"), order("postgresql", "two")
    assert _settings(sandbox, first)["network"]["publicPort"] is None
    sandbox.operator("nodes/node-paris-1", ports_left=1)
    assert _open(sandbox, first, True) == 200
    assert _settings(sandbox, first)["network"]["publicPort"]
    assert _open(sandbox, second, True) == 409
    assert _settings(sandbox, second)["network"]["isPublic"] is False


@pytest.mark.rule("settings-3")
def test_a_network_change_restarts_only_what_runs(sandbox: Sandbox, order: Order) -> None:
    key = order()
    lines = _logs(sandbox, key)
    _open(sandbox, key, False)
    assert _logs(sandbox, key) > lines
    sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "kill"})
    lines = _logs(sandbox, key)
    _open(sandbox, key, True)
    assert _logs(sandbox, key) == lines
    assert sandbox.api("GET", f"/api/resources/metrics?ids={key}").json()[key]["state"] == "stopped"


@pytest.mark.parametrize(("in_effect", "public"), [("at once", False), ("at its next start", True)])
def test_the_container_tells_which_network_it_has(
    sandbox: Sandbox, order: Order, in_effect: str, public: bool
) -> None:
    """A restart keeps it (Power)."""
    sandbox.profile(**{"network.in_effect": in_effect})
    key = order()

    def is_public() -> bool:
        found: bool = sandbox.control("GET", f"/services/{key}")["container"]["configuration"]["public"]
        return found

    assert is_public()
    _open(sandbox, key, False)
    assert is_public() is public
    for signal in ("restart", "stop", "start"):
        assert is_public() is public
        sandbox.api("POST", f"/api/resources/{key}/power", {"signal": signal})
    assert not is_public()


@pytest.mark.parametrize("again", ["nothing", "recreates the container"])
def test_the_same_network_again(sandbox: Sandbox, order: Order, again: str) -> None:
    sandbox.profile(**{"network.again": again})
    key = order()
    lines = _logs(sandbox, key)
    _open(sandbox, key, True)
    assert (_logs(sandbox, key) > lines) is (again != "nothing")


@pytest.mark.rule("settings-4")
@pytest.mark.parametrize(
    "size",
    [
        {"cpuCores": 17, "ramGb": 4, "storageGb": 20},
        {"cpuCores": 2, "ramGb": 0, "storageGb": 20},
        {"cpuCores": 2, "ramGb": 4, "storageGb": 501},
        {"cpuCores": 2, "ramGb": 4, "storageGb": 19},
        {"cpuCores": 2, "ramGb": 4},
        {"cpuCores": "2", "ramGb": 4, "storageGb": 20},
        {"cpuCores": True, "ramGb": 4, "storageGb": 20},
    ],
)
def test_sizes_that_are_refused(sandbox: Sandbox, order: Order, size: dict[str, Any]) -> None:
    key = order()
    assert sandbox.api("PUT", f"/api/resources/{key}/scale", size).status_code == 400
    assert sandbox.api("GET", f"/api/resources/{key}").json()["dimensions"] == {
        "cpuCores": 2, "ramGb": 4, "storageGb": 20
    }  # fmt: skip


@pytest.mark.rule("settings-4", "conventions")
def test_a_new_size_is_priced_from_the_call(sandbox: Sandbox, order: Order) -> None:
    sandbox.clock(freeze=True)
    key = order()
    sandbox.clock(advance=730 * 3600)
    size = {"cpuCores": 4, "ramGb": 4, "storageGb": 20}
    sandbox.api("PUT", f"/api/resources/{key}/scale", size)
    scale = _settings(sandbox, key)["scale"]
    assert scale["monthlyMillicents"] == 4 * 2400 + 4 * 1060 + 20 * 85
    lines = _logs(sandbox, key)
    sandbox.clock(advance=730 * 3600)
    assert _logs(sandbox, key) == lines
    billed = sandbox.ledger()["billed"][0]["cents"]
    assert billed == (2 * 2400 + 4 * 1060 + 20 * 85 + scale["monthlyMillicents"]) // 10


@pytest.mark.rule("settings-6")
def test_a_move_keeps_the_alias(sandbox: Sandbox, order: Order) -> None:
    key = order()
    alias = _settings(sandbox, key)["network"]["alias"]
    project = sandbox.api("POST", "/api/projects", {"name": "web"}).json()["id"]
    assert sandbox.api("PUT", f"/api/resources/{key}/project", {"projectId": project}).status_code == 200
    network = _settings(sandbox, key)["network"]
    assert (network["alias"], network["project"]) == (alias, "web")
    assert sandbox.api("PUT", f"/api/resources/{key}/project", {"projectId": "x"}).status_code == 400


@pytest.mark.rule("settings-6")
def test_former_neighbors_no_longer_reach_what_moved(sandbox: Sandbox, order: Order) -> None:
    order("postgresql", "db")
    key = next(item["id"] for item in sandbox.api("GET", "/api/resources").json()["items"])
    sandbox.api("POST", "/api/apps", {"slug": "shop"})
    environment = {"environment": {"DB": "${db.URL}"}}
    assert sandbox.api("PUT", "/api/apps/shop/environment", environment).status_code == 200
    project = sandbox.api("POST", "/api/projects", {"name": "web"}).json()["id"]
    sandbox.api("PUT", f"/api/resources/{key}/project", {"projectId": project})
    assert sandbox.api("PUT", "/api/apps/shop/environment", environment).status_code == 400


def test_settings_are_for_games_and_applications(sandbox: Sandbox, order: Order) -> None:
    key = order("linux", "box")
    assert sandbox.api("GET", f"/api/resources/{key}/settings").status_code == 400


def test_the_settings_of_a_service_that_is_not_in_service(sandbox: Sandbox, order: Order) -> None:
    key = order()
    sandbox.operator(f"services/{key}", status="FAILED")
    answer = sandbox.api("GET", f"/api/resources/{key}/settings")
    assert answer.status_code == 200
    assert answer.json()["deploy"]["editable"] is False
