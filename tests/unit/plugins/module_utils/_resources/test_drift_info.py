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
from ansible_collections.hosted.services.plugins.module_utils._resources.drift_info import DRIFT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
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
    done = run(sandbox, DRIFT_INFO, blueprint=blueprint, **given)
    assert not done.get("failed"), done["msg"]
    assert sandbox.writes() == before
    found: list[dict[str, Any]] = done["drift"]["differences"]
    assert done["drift"]["drifted"] == any(each["kind"] != "unknown" for each in found)
    return found


def told(differences: list[dict[str, Any]]) -> list[tuple[str, str, str | None, str | None]]:
    """Return the place, the kind, who changed it and what prevails."""
    return [(each["path"], each["kind"], each["changed_by"], each["prevails"]) for each in differences]


def test_what_was_just_applied_has_no_drift(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    assert drift(sandbox, shop) == []


def test_a_change_on_the_platform_is_told_by_field(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/scale", LARGER)
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/network", {"isPublic": True})
    found = drift(sandbox, shop)
    assert sorted(told(found)) == [
        ("services.db.dimensions", "differs", "platform", "file"),
        ("services.db.public", "differs", "platform", "file"),
    ]
    [size] = [each for each in found if each["field"] == "dimensions"]
    assert size["file"] == SIZE
    assert size["platform"] == {**SIZE, "cpu_cores": 2}
    assert size["line"] == (
        "services.db.dimensions: cpu_cores 1, ram_gb 2, storage_gb 10 in the file, cpu_cores 2, ram_gb 2, "
        "storage_gb 10 on the platform; changed on the platform; the file prevails"
    )


def test_a_change_in_the_file_is_told_from_one_on_the_platform(
    sandbox: Sandbox, shop: dict[str, Any]
) -> None:
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/scale", LARGER)
    shop["services"]["world"]["dimensions"] = {**SIZE, "ram_gb": 4}
    shop["applications"]["acme-web"]["environment"]["LEVEL"] = "debug"
    found = drift(sandbox, shop)
    assert told(found) == [
        ("services.db.dimensions", "differs", "platform", "file"),
        ("services.world.dimensions", "differs", "file", "file"),
        ("applications.acme-web.environment", "differs", "file", "file"),
    ]
    assert "not as last written: changed LEVEL;" in found[2]["line"]
    assert "debug" not in str(found)


def test_without_a_record_nobody_is_named(sandbox: Sandbox, shop: dict[str, Any], tmp_path: Path) -> None:
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/scale", LARGER)
    assert told(drift(sandbox, shop, state_dir=str(tmp_path / "elsewhere"))) == [
        ("services.db.dimensions", "differs", None, "file"),
        ("applications.acme-web.environment", "unknown", None, None),
    ]


def test_an_environment_that_nobody_can_read_is_no_drift(
    sandbox: Sandbox, shop: dict[str, Any], tmp_path: Path
) -> None:
    found = drift(sandbox, shop, state_dir=str(tmp_path / "elsewhere"))
    assert [each["drift"] for each in found] == [False]


def test_what_is_gone_and_what_is_new_are_told_apart(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    sandbox.api("DELETE", f"/api/resources/{id_of(sandbox, 'Survival')}")
    shop["services"]["cache"] = {**SHOP["services"]["world"], "name": "Cache"}
    sandbox.clear_journal()
    assert told(drift(sandbox, shop)) == [
        ("services.world", "missing", "platform", "file"),
        ("services.cache", "missing", "file", "file"),
    ]


def test_what_the_file_lacks_was_added_there_or_removed_here(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    [home] = [each["id"] for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop"]
    order = {"productSlug": "valkey", "hostId": "node-paris-1", "name": "cache", "projectId": home}
    sandbox.api("POST", "/api/order", {**order, "dimensions": LARGER})
    sandbox.api("POST", "/api/order", {**order, "name": "elsewhere", "projectId": None, "dimensions": LARGER})
    del shop["services"]["world"]
    sandbox.clear_journal()
    found = drift(sandbox, shop)
    assert told(found) == [
        ("services.cache", "not_in_file", "platform", "platform"),
        ("services.survival", "not_in_file", "file", "platform"),
    ]
    assert found[0]["platform"]["product"] == "valkey"


def test_what_cannot_be_applied_is_told_with_the_reason(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    sandbox.api("PUT", f"/api/resources/{id_of(sandbox, 'db')}/scale", {**LARGER, "storageGb": 20})
    sandbox.clear_journal()
    shop["applications"]["acme-web"]["command"] = "serve"
    database, application = drift(sandbox, shop)
    assert told([database, application]) == [
        ("services.db.dimensions", "refused", None, None),
        ("applications.acme-web.command", "differs", "file", "file"),
    ]
    assert "a disk cannot shrink" in database["line"]


def test_the_id_of_a_project_hides_no_service(sandbox: Sandbox) -> None:
    """A platform may number each kind by itself."""
    services = [{"name": name, "product": "minecraft", "project": "shop"} for name in ("db", "world", "old")]
    sandbox.reset(
        profile="plain", values={"id.form": "a number of its kind, to be quoted"}, seed={"services": services}
    )
    [shop] = [each for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop"]
    assert id_of(sandbox, "old") == shop["id"]
    found = drift(sandbox, {"project": "shop", "services": {"db": {}, "world": {}}})
    assert [each["path"] for each in found if each["kind"] == "not_in_file"] == ["services.old"]


def test_a_namesake_and_the_name_of_a_key_hide_nothing(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    """An entry with an id is about one of two services of its name; keys are of the account."""
    for name in ("db", "deploy"):
        sandbox.seed({"services": [{"name": name, "product": "minecraft", "project": "shop"}]})
    database = next(
        each["id"]
        for each in sandbox.api("GET", "/api/resources").json()["items"]
        if each["name"] == "db" and each["product"]["slug"] == "postgresql"
    )
    shop["services"]["db"]["id"] = database
    shop["ssh_keys"] = {
        "deploy": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA"
    }
    found = [each for each in drift(sandbox, shop) if each["kind"] == "not_in_file"]
    assert sorted(each["platform"].get("name", each["key"]) for each in found) == ["db", "deploy"]


def test_a_project_that_is_gone_is_told_once_for_each_entry(sandbox: Sandbox) -> None:
    found = drift(sandbox, copy.deepcopy(SHOP))
    assert told(found) == [
        ("project.shop", "missing", None, "file"),
        ("services.db", "missing", None, "file"),
        ("services.world", "missing", None, "file"),
        ("applications.acme-web", "missing", None, "file"),
    ]


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


def test_a_new_environment_is_no_other_image(sandbox: Sandbox, tmp_path: Path, shop: dict[str, Any]) -> None:
    build_image(tmp_path / "v1.tar", {"app/server": b"v1"})
    shop["applications"]["acme-web"]["image"] = {"tag": "v1", "archive": str(tmp_path / "v1.tar")}
    apply(sandbox, tmp_path, shop)
    shop["applications"]["acme-web"]["environment"]["LEVEL"] = "debug"
    sandbox.clear_journal()
    assert [each["path"] for each in drift(sandbox, shop)] == ["applications.acme-web.environment"]


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


def test_a_comparison_that_fails_says_so(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    sandbox.fault("resources.get", "status", status=503, count=None)
    done = run(sandbox, DRIFT_INFO, blueprint=shop, retries=0)
    sandbox.clear_faults()
    assert done["failed"]
    assert "drift" not in done


def test_an_export_has_no_drift(sandbox: Sandbox, shop: dict[str, Any], tmp_path: Path) -> None:
    exported = run(sandbox, BLUEPRINT_INFO, project="shop")["blueprints"][0]["blueprint"]
    assert drift(sandbox, exported, state_dir=str(tmp_path / "elsewhere")) == []


FAILED = {"product": "minecraft", "project": "shop", "status": "FAILED", "failure_reason": "no room"}


def pruned(sandbox: Sandbox, blueprint: dict[str, Any]) -> list[str]:
    """Return the names of what a prune would delete."""
    done = run(sandbox, BLUEPRINT, True, blueprint=blueprint, prune=True, delete_without_copy=True)
    assert not done.get("failed"), done["msg"]
    return [each["name"] for each in done["parts"] if any("delete" in one for one in each["actions"])]


def test_what_could_not_be_created_is_told_as_long_as_it_is_there(
    sandbox: Sandbox, shop: dict[str, Any]
) -> None:
    """An order that failed and was dropped from the file: prune takes it, and an export leaves it out."""
    older = {"name": "old", "product": "minecraft", "project": "first"}
    sandbox.seed({"services": [older, {"name": "broken", **FAILED}]})
    sandbox.clear_journal()
    [found] = drift(sandbox, shop)
    assert told([found]) == [("services.broken", "not_in_file", "platform", "platform")]
    assert found["line"].startswith("services.broken: 'broken' (") and found["drift"]
    assert "is not in the file, and its creation failed; changed on the platform" in found["line"]
    assert pruned(sandbox, shop) == ["broken"]
    exported = run(sandbox, BLUEPRINT_INFO, project="shop")["blueprints"][0]
    assert sorted(exported["blueprint"]["services"]) == ["db", "survival"]
    assert any("'broken'" in line and "whose creation failed" in line for line in exported["left_out"])


def test_what_a_relocation_needs_is_told_and_is_no_drift(sandbox: Sandbox, shop: dict[str, Any]) -> None:
    """Once it is completed, prune leaves the new service alone, too, and takes the rest."""
    services = [{"name": name, "product": "minecraft", "project": "shop"} for name in ("new", "extra")]
    sandbox.seed({"services": services})
    record = Relocation.of(StateDirOptions(base_url=sandbox.base_url, token="x"), id_of(sandbox, "Survival"))
    record.write(phase=Phase.STOPPED, new_name="new", new_id=id_of(sandbox, "new"), old_name="Survival")
    sandbox.clear_journal()
    world, extra, new = drift(sandbox, shop)
    assert world["drift"] and "is under way" in world["line"]
    assert told([extra, new]) == [
        ("services.extra", "not_in_file", "platform", "platform"),
        ("services.new", "unknown", "platform", "platform"),
    ]
    assert not new["drift"] and "is under way" in new["line"]
    record.write(phase=Phase.RELOCATED)
    assert [each["key"] for each in drift(sandbox, shop)] == ["extra"]
    assert pruned(sandbox, shop) == ["extra"]
