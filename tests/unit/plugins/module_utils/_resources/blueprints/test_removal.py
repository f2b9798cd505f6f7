# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What blueprints delete on a real server, in which order, and everything that they refuse to delete."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.models import Project
from ansible_collections.hosted.services.plugins.module_utils._resources import (
    blueprint as blueprint_module,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.removal import (
    copies_folder,
    project_deletion,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import named
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import (
    relocation_record as record,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.record_file import RecordFile
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.fakes import FakeClient, task_of
from unit.plugins.module_utils._resources.platform import add, id_of, run
from unit.plugins.module_utils._resources.shared.test_runner import new_task

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
SEED: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "shop", "files": {"level.dat": "level"}},
        {"name": "old", "product": "minecraft", "project": "shop", "files": {"keep.txt": "kept"}},
        {"name": "elsewhere", "product": "minecraft", "project": "blog"},
        {"name": "standalone", "product": "minecraft"},
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
    start(sandbox, key_file, SEED)
    access = {"private_key_file": str(key_file), "known_hosts": str(tmp_path / "known_hosts")}

    def go(blueprint: dict[str, Any], check_mode: bool = False, **given: Any) -> dict[str, Any]:
        options = {"blueprint": blueprint, "delete_without_copy": True, **access, **given}
        return run(sandbox, BLUEPRINT, check_mode, **options)

    return go


def start(sandbox: Sandbox, key_file: Path, seed: dict[str, Any], **given: Any) -> None:
    """Start over with an account that a key opens."""
    key = {"name": "deploy", "public_key": key_file.with_suffix(".pub").read_text().strip()}
    sandbox.reset(delays=NO_DELAYS, seed={**seed, "ssh_keys": [key]}, **given)


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


def test_prune_deletes_what_the_file_lacks_in_its_project_alone(sandbox: Sandbox, apply: Any) -> None:
    done = prune(apply, SHOP)
    assert deleted(sandbox) == ["old"]
    [part] = [each for each in done["parts"] if each["name"] == "old"]
    assert (part["section"], part["module"], part["changed"]) == ("services", "service", True)
    assert not prune(apply, SHOP)["changed"]


def number_kinds(sandbox: Sandbox, key_file: Path) -> None:
    """Start over where a service has the id of the project that it is in, and nothing describes it."""
    start(
        sandbox,
        key_file,
        {"services": SEED["services"][:3]},
        profile="plain",
        values={"id.form": "a number of its kind, to be quoted"},
    )
    [shop] = [each for each in sandbox.api("GET", "/api/projects").json() if each["name"] == "shop"]
    assert id_of(sandbox, "old") == shop["id"]


def test_prune_tells_a_service_from_a_project_with_its_id(
    sandbox: Sandbox, apply: Any, key_file: Path
) -> None:
    number_kinds(sandbox, key_file)
    prune(apply, shop_with(applications={}))
    assert deleted(sandbox) == ["old"]


def test_a_project_with_the_id_of_a_service_is_nothing_that_is_described(
    sandbox: Sandbox, apply: Any, key_file: Path
) -> None:
    """So the project may be the wrong one."""
    number_kinds(sandbox, key_file)
    order = {"product": "minecraft", "dimensions": SIZE, "host": "node-paris-1"}
    refused = prune(apply, {"project": "shop", "services": {"new": order}}, check_mode=True)
    assert refused["failed"] and "is in project 'shop' yet, so it may be the wrong one" in refused["msg"]


def relocation(sandbox: Sandbox, old_id: str, new_name: str, **facts: Any) -> None:
    """Keep the record of a relocation to a service of the project."""
    options = StateDirOptions(base_url=sandbox.base_url, token="x")
    Relocation.of(options, old_id).write(
        new_name=new_name, new_id=id_of(sandbox, new_name), old_name="world", **facts
    )


@pytest.mark.parametrize("check_mode", [False, True])
@pytest.mark.parametrize("phase", [Phase.STOPPED, Phase.RELOCATED])
def test_what_a_relocation_put_in_service_is_not_pruned(
    sandbox: Sandbox, apply: Any, phase: Phase, check_mode: bool
) -> None:
    """The file may still have the former name."""
    relocation(sandbox, id_of(sandbox, "world"), "old", phase=phase)
    done = prune(apply, SHOP, check_mode=check_mode)
    assert deleted(sandbox) == []
    if phase is Phase.STOPPED:
        assert done["failed"] and "is under way" in done["msg"]
    else:
        assert not done["changed"] and "Write name: old" in " ".join(done["warnings"])


def test_what_a_relocation_left_over_is_not_pruned(sandbox: Sandbox, apply: Any) -> None:
    """It is kept for a while, in case the relocation goes back."""
    relocation(sandbox, id_of(sandbox, "old"), "world", phase=Phase.RELOCATED)
    assert "state: finished" in " ".join(prune(apply, SHOP)["warnings"])
    assert deleted(sandbox) == []


def test_what_is_relocated_before_its_turn_is_not_pruned(sandbox: Sandbox, apply: Any) -> None:
    """The blueprint may have taken long until then."""
    read: list[None] = []

    def needed(*given: Any) -> Any:
        if read:
            relocation(sandbox, id_of(sandbox, "old"), "elsewhere", phase=Phase.ORDERED)
        read.append(None)
        return named.needed_for(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blueprint_module, "needed_for", needed)
        done = prune(apply, SHOP)
    assert "is needed by now and was not pruned" in done["msg"] and deleted(sandbox) == []


def test_a_damaged_record_of_a_relocation_keeps_all_from_being_pruned(sandbox: Sandbox, apply: Any) -> None:
    relocation(sandbox, id_of(sandbox, "old"), "world", phase=Phase.RELOCATED)
    [file] = RecordFile.all_in(record.FOLDER, record.WHAT, None)
    Path(file.path).write_text("{")
    assert "is damaged" in prune(apply, SHOP)["msg"]
    assert deleted(sandbox) == []


def test_check_mode_names_each_and_deletes_nothing(sandbox: Sandbox, apply: Any) -> None:
    done = prune(apply, SHOP, check_mode=True)
    assert deleted(sandbox) == []
    assert done["changed"]
    assert "service 'old'" in done["diff"]["before"]
    assert "service 'old'" not in done["diff"]["after"]
    assert [action for action in done["actions"] if "old" in action and action.startswith("delete")]


def test_without_prune_nothing_is_deleted(sandbox: Sandbox, apply: Any) -> None:
    assert not apply(SHOP)["changed"]
    dropped = shop_with(services={"db": {}})
    for _run in range(2):
        (warning,) = apply(dropped)["warnings"]
        assert "service 'world'" in warning and "still there and billed. prune: true" in warning
    assert deleted(sandbox) == []


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
    assert f"the folder above it, '{tmp_path}/state', does not exist. Is a disk not mounted" in done["msg"]
    assert list((tmp_path / "disk").iterdir()) == []
    assert deleted(sandbox) == []


def test_without_a_copy_nothing_is_deleted(sandbox: Sandbox, apply: Any, tmp_path: Path) -> None:
    sandbox.fault("sftp.get", "status", status=409, count=None)
    done = prune(apply, SHOP, delete_without_copy=False)
    sandbox.clear_faults()
    assert done["failed"]
    assert "then delete it without a copy" in done["msg"]
    assert deleted(sandbox) == []


@pytest.mark.parametrize("blueprint", [{"project": "shop"}, {"project": "shop", "services": {}}])
def test_an_empty_file_deletes_nothing(sandbox: Sandbox, apply: Any, blueprint: dict[str, Any]) -> None:
    done = prune(apply, blueprint, max_delete=99)
    assert "would empty project 'shop'" in done["msg"]
    assert deleted(sandbox) == []


def test_a_file_for_another_project_deletes_nothing(sandbox: Sandbox, apply: Any) -> None:
    order = {"product": "valkey", "host": "node-paris-1"}
    order["dimensions"] = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 5}  # type: ignore[assignment]
    done = prune(apply, {"project": "shop", "services": {"cache": order}}, max_delete=99)
    assert "may be the wrong one" in done["msg"]
    assert "service 'db'" in done["msg"]
    assert [line["route"] for line in sandbox.journal() if line["route"] == "order.create"] == []
    assert deleted(sandbox) == []


def test_the_default_project_is_never_pruned(sandbox: Sandbox, apply: Any) -> None:
    [home] = [
        each["name"]
        for each in sandbox.api("GET", "/api/projects").json()
        if each["name"] not in ("shop", "blog")
    ]
    done = prune(apply, {"project": home, "services": {"standalone": {}}})
    assert "may be the default project" in done["msg"]
    assert deleted(sandbox) == []


def test_more_than_max_delete_is_refused(sandbox: Sandbox, apply: Any) -> None:
    done = prune(apply, {"project": "shop", "services": {"db": {}}}, max_delete=2)
    assert "prune would delete 3 services, and max_delete is 2" in done["msg"]
    assert len(done["would_delete"]) == 3
    assert deleted(sandbox) == []
    assert not prune(apply, {"project": "shop", "services": {"db": {}}}, max_delete=3).get("failed")
    assert sorted(deleted(sandbox)) == ["acme-web", "old", "world"]


@pytest.mark.parametrize("entry", [{"Old": {}}, {"x": {"name": " OLD "}}, {"o-l-d": {"name": "old"}}])
def test_a_name_that_the_platform_may_take_for_the_same_is_described(
    sandbox: Sandbox, apply: Any, entry: dict[str, Any]
) -> None:
    prune(apply, shop_with(services={**SHOP["services"], **entry}))
    assert deleted(sandbox) == []


def test_what_is_described_by_its_id_stays(sandbox: Sandbox, apply: Any) -> None:
    services = {**SHOP["services"], "anything": {"id": id_of(sandbox, "old")}}
    assert not prune(apply, shop_with(services=services)).get("failed")
    assert deleted(sandbox) == []


def test_what_others_refer_to_stays(sandbox: Sandbox, apply: Any) -> None:
    refer(sandbox, "acme-web", "db", "world")
    done = prune(apply, shop_with(services={"db": {}, "old": {}}))
    assert "application 'acme-web'" in done["msg"]
    assert "refers to service 'world'" in done["msg"]
    assert deleted(sandbox) == []


def test_a_reference_that_the_file_removes_stays_until_a_deploy(sandbox: Sandbox, apply: Any) -> None:
    """The container keeps the environment that it has, and nothing deploys it without an image."""
    refer(sandbox, "acme-web", "world")
    apps = {"acme-web": {"environment": {"URL": "${db.URL}"}}}
    done = prune(apply, shop_with(services={"db": {}, "old": {}}, applications=apps))
    assert "refers to service 'world'" in done["msg"] and "takes effect at a deploy" in done["msg"]
    assert [line["route"] for line in sandbox.journal() if line["method"] != "GET"] == []


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


def test_a_reference_to_an_alias_in_the_file_keeps_it(sandbox: Sandbox, apply: Any) -> None:
    apps = {"acme-web": {"environment": {"URL": "${old.URL}"}}}
    done = prune(apply, shop_with(applications=apps))
    assert "refers to service 'old'" in done["msg"]
    assert [line["route"] for line in sandbox.journal() if line["method"] == "PUT"] == []
    assert deleted(sandbox) == []


def test_what_refers_to_another_goes_before_it(sandbox: Sandbox, apply: Any) -> None:
    refer(sandbox, "acme-web", "world")
    assert not prune(apply, {"project": "shop", "services": {"db": {}, "old": {}}}).get("failed")
    assert deleted(sandbox) == ["acme-web", "world"]


def test_nothing_is_pruned_if_anything_else_failed(sandbox: Sandbox, apply: Any) -> None:
    sandbox.fault("settings.network", "status", status=409, count=None)
    done = prune(apply, shop_with(services={"db": {"public": False}, "world": {"public": False}}), retries=0)
    sandbox.clear_faults()
    assert done["failed"]
    assert deleted(sandbox) == []
    [part] = [each for each in done["parts"] if each["name"] == "old"]
    assert part["skipped"]


def test_backups_stay_unless_they_may_go(sandbox: Sandbox, apply: Any) -> None:
    add(sandbox, "old", "nightly")
    done = prune(apply, SHOP)
    assert "has 1 backup (nightly)" in done["msg"]
    assert deleted(sandbox) == []
    assert not prune(apply, SHOP, delete_backups=True).get("failed")
    assert deleted(sandbox) == ["old"]


@pytest.mark.parametrize("fault", ["projects.get", "projects.graph", "resources.list"])
def test_what_cannot_be_read_is_a_reason_to_stop(sandbox: Sandbox, apply: Any, fault: str) -> None:
    sandbox.fault(fault, "status", status=503, count=None)
    done = prune(apply, SHOP, retries=0)
    sandbox.clear_faults()
    assert done["failed"]
    assert deleted(sandbox) == []


def test_a_failed_creation_needs_no_copy(sandbox: Sandbox, apply: Any, key_file: Path) -> None:
    lost = {"name": "lost", "product": "minecraft", "status": "FAILED", "failure_reason": "no room"}
    services = [each for each in SEED["services"] if each["name"] != "old"]
    start(sandbox, key_file, {**SEED, "services": [*services, {**lost, "project": "shop"}]})
    assert not prune(apply, SHOP, delete_without_copy=False).get("failed")
    assert deleted(sandbox) == ["lost"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"prune": True, "state": "absent"}, "set one"),
        ({"keep_copy": "copies", "delete_without_copy": False}, "nothing is without prune"),
        ({"keep_copy": "copies", "prune": True}, "contradict each other"),
        ({"prune": True, "max_delete": -1}, "max_delete is -1"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    sandbox: Sandbox, apply: Any, given: dict[str, Any], message: str
) -> None:
    assert message in apply(SHOP, **given)["msg"]
    assert deleted(sandbox) == []


# --- Absent -------------------------------------------------------------------------------------------


def test_absent_deletes_what_the_file_describes_and_nothing_else(sandbox: Sandbox, apply: Any) -> None:
    done = apply(SHOP, state="absent")
    assert sorted(deleted(sandbox)) == ["acme-web", "db", "world"]
    [warning] = [each for each in done["warnings"] if "stays" in each]
    assert "project 'shop' stays: it has what the blueprint does not describe: service 'old'" in warning
    again = apply(SHOP, state="absent")
    assert not again["changed"]


def test_absent_deletes_the_project_that_it_leaves_empty(sandbox: Sandbox, apply: Any) -> None:
    refer(sandbox, "acme-web", "db")
    whole = shop_with(services={**SHOP["services"], "old": {}})
    planned = apply(whole, check_mode=True, state="absent")
    assert deleted(sandbox) == []
    done = apply(whole, state="absent")
    names = deleted(sandbox)
    assert sorted(names) == ["acme-web", "db", "old", "world"]
    assert names.index("acme-web") < names.index("db")
    assert "shop" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert planned["actions"] == done["actions"]
    assert not apply(whole, state="absent")["changed"]
    assert not apply(whole, check_mode=True, state="absent")["changed"]


def test_absent_leaves_a_namesake_in_another_project(sandbox: Sandbox, apply: Any) -> None:
    apply({"project": "shop", "services": {"elsewhere": {}, "db": {}}}, state="absent")
    assert deleted(sandbox) == ["db"]


def test_absent_takes_no_service_for_an_application(sandbox: Sandbox, apply: Any) -> None:
    apply({"project": "shop", "applications": {"world": {}}, "services": {"acme-web": {}}}, state="absent")
    assert deleted(sandbox) == []


def test_absent_needs_an_id_for_one_of_several(sandbox: Sandbox, apply: Any, key_file: Path) -> None:
    twins = [{"name": "twin", "product": "minecraft", "project": "shop"}] * 2
    start(sandbox, key_file, {**SEED, "services": [*SEED["services"], *twins]})
    done = apply({"project": "shop", "services": {"twin": {}, "db": {}}}, state="absent")
    assert "has 2 services named 'twin'" in done["msg"]
    assert deleted(sandbox) == []


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


@pytest.mark.parametrize(
    ("given", "folder"),
    [
        ({"state_dir": "~/state"}, "state/last_copies"),
        ({}, "home/last_copies"),
        ({"state_dir": "~/state", "delete_without_copy": True}, None),
    ],
)
def test_what_is_pruned_is_copied_below_the_state_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: dict[str, Any], folder: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    task = task_of(BLUEPRINT, FakeClient(), **given)
    assert copies_folder(task) == (folder and str(tmp_path / folder))


def test_absent_leaves_the_default_project_and_the_keys(sandbox: Sandbox, apply: Any) -> None:
    [home] = [
        each["name"]
        for each in sandbox.api("GET", "/api/projects").json()
        if each["name"] not in ("shop", "blog")
    ]
    done = apply({"project": home, "services": {"standalone": {}}}, state="absent")
    assert deleted(sandbox) == ["standalone"]
    assert "may be the default project" in done["warnings"][0]
    assert home in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]


def test_absent_of_a_project_that_is_not_there_says_so(sandbox: Sandbox, apply: Any) -> None:
    done = apply(shop_with(project="shopp"), state="absent")
    assert not done["changed"]
    assert "did you mean 'shop'?" in done["warnings"][0]
    assert deleted(sandbox) == []


def projects(sandbox: Sandbox) -> dict[str, str]:
    """Return the ids of the projects by their names."""
    return {each["name"]: each["id"] for each in sandbox.api("GET", "/api/projects").json()}


def join_default(sandbox: Sandbox) -> None:
    """Delete project shop alone, as somebody may do in the web space."""
    assert sandbox.api("DELETE", f"/api/projects/{projects(sandbox)['shop']}").ok


@pytest.mark.parametrize("check_mode", [True, False])
def test_absent_names_what_joined_the_default_project(sandbox: Sandbox, apply: Any, check_mode: bool) -> None:
    join_default(sandbox)
    done = apply(SHOP, check_mode=check_mode, state="absent")
    assert done["failed"] and not done["changed"]
    for label in ("service 'db'", "service 'world'", "application 'acme-web'"):
        assert label in done["msg"]
    assert "'old'" not in done["msg"] and id_of(sandbox, "db") in done["msg"]
    assert "in project 'default'" in done["msg"] and "Nothing was deleted" in done["msg"]
    assert deleted(sandbox) == []


def test_absent_leaves_namesakes_in_other_projects_alone(sandbox: Sandbox, apply: Any) -> None:
    """What is described by its id is no namesake."""
    gone = {"project": "gone", "services": {"elsewhere": {}, "none": {}}}
    done = apply(gone, state="absent")
    assert not done.get("failed") and not done["changed"]
    assert not done.get("warnings")
    by_id = {"project": "gone", "services": {"web": {"id": id_of(sandbox, "elsewhere")}}}
    assert "in project 'blog'" in apply(by_id, state="absent")["msg"]
    assert deleted(sandbox) == []


@pytest.mark.parametrize("applied", [False, True])
def test_absent_does_not_delete_by_a_former_name(sandbox: Sandbox, apply: Any, applied: bool) -> None:
    """Whether the project was not renamed yet, or somebody else has the name since, is not known."""
    renamed = {"project": "store", "was": "shop", "services": {"db": {}}}
    if applied:
        apply(renamed)
        assert sandbox.api("PATCH", f"/api/projects/{projects(sandbox)['store']}", {"name": "shop"}).ok
    done = apply(renamed, state="absent")
    assert "there is no project 'store'" in done["msg"] and "in project 'shop'" in done["msg"]
    assert deleted(sandbox) == []


def test_the_deletion_of_a_project_is_planned_again_in_its_turn() -> None:
    """Something may have joined it meanwhile, even if nothing was in it when the blueprint was planned."""
    part = project_deletion(new_task(), Project(id="1", name="shop"), [], PROJECT)
    part.make_plan(cast(Client, FakeClient()), foreseen=False)
    assert part.foreseen
