# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drift on a real server: what differs, who changed it, and that nothing is touched to find out."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
LARGER = {"cpuCores": 2, "ramGb": 2, "storageGb": 10}
SHOP: dict[str, Any] = {
    "project": "shop",
    "services": {
        "db": {"product": "postgresql", "host": "node-paris-1", "dimensions": SIZE, "public": False},
        "world": {"name": "Survival", "product": "minecraft", "host": "node-paris-1", "dimensions": SIZE},
    },
    "applications": {"acme-web": {"environment": {"URL": "${db.URL}", "LEVEL": "info"}, "max_monthly": 9}},
}


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


@pytest.fixture
def shop(sandbox: Sandbox, tmp_path: Path) -> dict[str, Any]:
    """A project that is as its blueprint says; the blueprint."""
    blueprint = copy.deepcopy(SHOP)
    apply(sandbox, tmp_path, blueprint)
    sandbox.clear_journal()
    return blueprint


def apply(sandbox: Sandbox, folder: Path, blueprint: dict[str, Any]) -> None:
    """Apply a blueprint."""
    done = run(sandbox, BLUEPRINT, blueprint=blueprint, secrets_dir=str(folder))
    assert not done.get("failed"), done["msg"]


def drift(sandbox: Sandbox, blueprint: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
    """Return the differences, and assert that nothing was touched."""
    before = sandbox.writes()
    done = run(sandbox, BLUEPRINT_INFO, blueprint=blueprint, **given)
    assert not done.get("failed"), done["msg"]
    assert sandbox.writes() == before
    found: list[dict[str, Any]] = done["drift"]["differences"]
    assert done["drift"]["drifted"] == any(each["kind"] != "unknown" for each in found)
    return found


def told(differences: list[dict[str, Any]]) -> list[tuple[str, str, str | None, str | None]]:
    """Return the place, the kind, who changed it and what prevails."""
    return [(each["path"], each["kind"], each["changed_by"], each["prevails"]) for each in differences]


def test_a_change_in_the_file_is_told_from_one_on_the_platform(
    sandbox: Sandbox, shop: dict[str, Any]
) -> None:
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/scale", LARGER)
    shop["services"]["world"]["dimensions"] = {**SIZE, "ram_gb": 4}
    shop["applications"]["acme-web"]["environment"] = {"LEVEL": "debug", "MORE": "x"}
    found = drift(sandbox, shop)
    assert found[0]["line"].endswith("; changed on the platform; the file prevails")
    assert told(found) == [
        ("services.db.dimensions", "differs", "platform", "file"),
        ("services.world.dimensions", "differs", "file", "file"),
        ("applications.acme-web.environment", "differs", "file", "file"),
    ]
    assert "not as last written: added MORE; changed LEVEL; removed URL;" in found[2]["line"]
    assert "debug" not in str(found)


def test_another_image_is_told_once(sandbox: Sandbox, tmp_path: Path, shop: dict[str, Any]) -> None:
    for tag in ("v1", "v2"):
        build_image(tmp_path / f"{tag}.tar", {"app/server": tag.encode()})
        image = {"tag": tag, "archive": str(tmp_path / f"{tag}.tar")}
        shop["applications"]["acme-web"]["image"] = image
        apply(sandbox, tmp_path, shop)
    sandbox.clear_journal()
    assert drift(sandbox, shop) == []
    sandbox.api("POST", "/api/apps/acme-web/deploy", {"tag": "v1"})
    [found] = drift(sandbox, shop)
    assert told([found]) == [("applications.acme-web.image", "differs", "platform", "file")]
    assert found["file"] == image


def test_a_command_is_told_also_if_a_deploy_brings_it_along(
    sandbox: Sandbox, tmp_path: Path, shop: dict[str, Any]
) -> None:
    image = {"tag": "v1", "archive": str(tmp_path / "layout")}
    build_image(tmp_path / "layout", {"app/server": b"1"})
    shop["applications"]["acme-web"]["image"] = image
    apply(sandbox, tmp_path, shop)
    application = shop["applications"]["acme-web"]
    application["command"] = "serve"
    assert [each["path"] for each in drift(sandbox, shop)] == ["applications.acme-web.command"]
    application["environment"]["LOG_LEVEL"] = "debug"
    paths = {each["path"] for each in drift(sandbox, shop)}
    assert paths == {"applications.acme-web.command", "applications.acme-web.environment"}


def test_what_failed_is_remembered_as_it_was(sandbox: Sandbox, tmp_path: Path, shop: dict[str, Any]) -> None:
    """One part of an apply fails: for the others, what was applied now counts."""
    edited = copy.deepcopy(shop)
    edited["services"]["db"]["dimensions"] = {**SIZE, "cpu_cores": 2}
    edited["services"]["world"]["public"] = False
    sandbox.fault("settings.network", "status", status=409, count=None)
    done = run(sandbox, BLUEPRINT, blueprint=edited, secrets_dir=str(tmp_path), retries=0)
    assert done["failed"]
    sandbox.clear_faults()
    sandbox.clear_journal()
    assert told(drift(sandbox, edited)) == [("services.world.public", "differs", "file", "file")]
    assert told(drift(sandbox, shop)) == [("services.db.dimensions", "differs", "file", "file")]
