# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What blueprints delete on a real server, in which order; tests/unit/data/blueprint has what they refuse."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints import removal
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    needed_by_relocations,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.module_utils._resources.platform import add, id_of, run

SEED: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "shop", "files": {"level.dat": "level"}},
        {"name": "old", "product": "minecraft", "project": "shop", "files": {"keep.txt": "kept"}},
        {"name": "elsewhere", "product": "minecraft", "project": "blog"},
    ],
    "apps": [{"slug": "acme-web", "project": "shop", "environment": {"LOG_LEVEL": "info"}}],
}
SHOP: dict[str, Any] = {
    "project": "shop",
    "services": {"db": {}, "world": {}},
    "applications": {"acme-web": {}},
}


@pytest.fixture
def apply(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Apply a blueprint with records of its own to an account with one service too many."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    key = {"name": "deploy", "public_key": key_file.with_suffix(".pub").read_text().strip()}
    sandbox.reset(delays=NO_DELAYS, seed={**SEED, "ssh_keys": [key]})
    access = {"private_key_file": str(key_file), "known_hosts": str(tmp_path / "known_hosts")}

    def go(blueprint: dict[str, Any], check_mode: bool = False, **given: Any) -> dict[str, Any]:
        options = {"blueprint": blueprint, "delete_without_copy": True, **access, **given}
        return run(sandbox, BLUEPRINT, check_mode, **options)

    return go


def prune(apply: Any, blueprint: dict[str, Any], **given: Any) -> dict[str, Any]:
    """Apply a blueprint and prune."""
    done: dict[str, Any] = apply(blueprint, prune=True, **given)
    return done


def deleted(sandbox: Sandbox) -> list[str]:
    """Return the names of the services whose deletion was asked for, in that order."""
    records = sandbox.control("GET", "/state")["records"]["service"]
    names = {each["id"]: each["name"] for each in records}
    calls = [line["path"] for line in sandbox.journal() if line["route"] == "resources.delete"]
    return [names[path.rpartition("/")[2]] for path in calls]


def shop_with(**changes: Any) -> dict[str, Any]:
    """Return the blueprint with other sections."""
    return {**copy.deepcopy(SHOP), **changes}


def refer(sandbox: Sandbox, slug: str, *targets: str) -> None:
    """Let the environment of an application refer to services by their aliases."""
    variables = {f"URL_{number}": f"${{{alias}.URL}}" for number, alias in enumerate(targets)}
    assert sandbox.api("PUT", f"/api/apps/{slug}/environment", {"environment": variables}).ok
    sandbox.clear_journal()


def relocation(sandbox: Sandbox, old_id: str, new_name: str, **facts: Any) -> None:
    """Keep the record of a relocation to a service of the project."""
    options = StateDirOptions(base_url=sandbox.base_url, token="x")
    Relocation.of(options, old_id).write(
        new_name=new_name, new_id=id_of(sandbox, new_name), old_name="world", **facts
    )


def test_what_is_relocated_before_its_turn_is_not_pruned(sandbox: Sandbox, apply: Any) -> None:
    """The blueprint may have taken long until then."""
    read: list[None] = []

    def read_needed(*given: Any) -> Any:
        if read:
            relocation(sandbox, id_of(sandbox, "old"), "elsewhere", phase=Phase.ORDERED)
        read.append(None)
        return needed_by_relocations(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(removal, "needed_by_relocations", read_needed)
        done = prune(apply, SHOP)
    assert "is needed by now and was not pruned" in done["msg"] and deleted(sandbox) == []


def test_a_copy_is_kept_by_default(sandbox: Sandbox, apply: Any, tmp_path: Path) -> None:
    done = prune(apply, SHOP, delete_without_copy=False)
    assert deleted(sandbox) == ["old"]
    [part] = [each for each in done["parts"] if each["name"] == "old"]
    kept = {name: part["copy"][name] for name in ("kind", "files", "bytes", "verified")}
    assert kept == {"kind": "files", "files": 1, "bytes": 4, "verified": True}
    assert (Path(part["copy"]["path"]) / "files" / "keep.txt").read_text() == "kept"
    assert Path(part["copy"]["path"]).is_relative_to(tmp_path / "home" / "last_copies")


def test_the_folder_for_copies_is_made_with_the_first_copy(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    """Nobody has to create it, and a plan does not."""
    given = {"delete_without_copy": False, "state_dir": str(tmp_path / "records" / "state")}
    planned = prune(apply, SHOP, check_mode=True, **given)
    assert not planned.get("failed"), planned["msg"]
    assert not (tmp_path / "records").exists()
    [part] = [each for each in prune(apply, SHOP, **given)["parts"] if each["name"] == "old"]
    assert (Path(part["copy"]["path"]) / "files" / "keep.txt").read_text() == "kept"
    made = [tmp_path / "records" / "state" / "last_copies", *Path(part["copy"]["path"]).parents[:1]]
    assert [path.stat().st_mode & 0o777 for path in made] == [0o700] * 2
    assert deleted(sandbox) == ["old"]


def test_a_state_directory_on_a_disk_that_is_not_mounted_gets_no_copy(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "state").symlink_to("disk/state")
    done = prune(apply, SHOP, delete_without_copy=False, state_dir=str(tmp_path / "state"))
    assert f"and '{tmp_path}/state' does not exist. Is a disk not mounted" in done["msg"]
    assert list((tmp_path / "disk").iterdir()) == []
    assert deleted(sandbox) == []


def test_a_reference_that_the_file_removes_and_deploys_is_no_reason_to_stay(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    refer(sandbox, "acme-web", "world")
    build_image(tmp_path / "layout", {"app/server": b"1"})
    image = {"tag": "v1", "archive": str(tmp_path / "layout")}
    apps = {"acme-web": {"environment": {"URL": "${db.URL}"}, "image": image}}
    done = prune(apply, shop_with(services={"db": {}, "old": {}}, applications=apps))
    assert not done.get("failed"), done["msg"]
    assert deleted(sandbox) == ["world"]
    routes = [line["route"] for line in sandbox.journal()]
    assert routes.index("apps.environment") < routes.index("apps.deploy") < routes.index("resources.delete")


def test_nothing_is_pruned_if_anything_else_failed(sandbox: Sandbox, apply: Any) -> None:
    sandbox.fault("settings.network", "status", status=409, count=None)
    done = prune(apply, shop_with(services={"db": {"public": False}, "world": {"public": False}}), retries=0)
    sandbox.clear_faults()
    assert done["failed"]
    assert deleted(sandbox) == []
    [part] = [each for each in done["parts"] if each["name"] == "old"]
    assert part["skipped"]


def test_absent_keeps_backups_and_copies_as_a_service_does(
    sandbox: Sandbox, apply: Any, tmp_path: Path
) -> None:
    add(sandbox, "world", "nightly")
    blueprint = {"project": "shop", "services": {"world": {}}}
    assert "has 1 backup (nightly)" in apply(blueprint, state="absent")["msg"]
    assert deleted(sandbox) == []
    copies = str(tmp_path / "copies")
    given = {"delete_without_copy": False, "keep_copy": copies, "delete_backups": True}
    [part] = apply(blueprint, state="absent", **given)["parts"]
    assert (Path(part["copy"]["path"]) / "files" / "level.dat").read_text() == "level"
    assert deleted(sandbox) == ["world"]
