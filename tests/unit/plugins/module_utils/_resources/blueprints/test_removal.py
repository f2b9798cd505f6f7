# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of an apply, and what is removed because a blueprint no longer names it."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import (
    BLUEPRINT,
    BlueprintOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints import removal
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import Contents
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.members import (
    last_applied,
    needed_by_relocations,
    remember,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from hosted_sandbox.gaps import Profile
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.accounts import PROJECTS, WORDS, random_account
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.tiers import sample

SECRET = "hunter2hunter2"
DB = Entry("services", "db", {"product": "postgresql", "dimensions": {"ram_gb": 2}})
WEB = Entry("applications", "web", {"slug": "acme-web", "secret_environment": {"SESSION_KEY": SECRET}})
APPLIED = Contents("shop", services=[DB], applications=[WEB])
URL = "https://platform.example"


def apply_in(folder: Path, contents: Contents, failed: tuple[tuple[str, str], ...] = ()) -> list[str]:
    """Remember an apply, and return the warnings."""
    task = Task(cast(Client, None), options(folder))
    remember(task, contents, failed)
    return task.warnings


def prints(folder: Path, project: str = "shop", url: str = URL) -> dict[str, str]:
    return dict(last_applied(options(folder, url), project).prints)


def options(folder: Path, url: str = URL) -> BlueprintOptions:
    given = {"base_url": url, "state_dir": str(folder), "blueprint": {}}
    read: BlueprintOptions = BLUEPRINT.read_options(given)
    return read


def test_a_record_holds_each_field_and_none_of_its_values(tmp_path: Path) -> None:
    assert apply_in(tmp_path, APPLIED) == []
    assert sorted(prints(tmp_path)) == [
        "applications.web.entry",
        "applications.web.secret_environment",
        "applications.web.slug",
        "names.acme-web",
        "names.db",
        "services.db.dimensions",
        "services.db.entry",
        "services.db.product",
    ]
    [file] = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert SECRET not in file.read_text()
    assert "postgresql" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def test_a_damaged_record_counts_as_none(tmp_path: Path) -> None:
    apply_in(tmp_path, APPLIED)
    [file] = [each for each in tmp_path.rglob("*") if each.is_file()]
    for damaged in ("", "[]", json.dumps({"key": "00"}), "{"):
        file.write_text(damaged)
        assert prints(tmp_path) == {}
    assert apply_in(tmp_path, APPLIED) == []
    assert prints(tmp_path)


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
    done: dict[str, Any] = apply(blueprint, prune=True, **given)
    return done


def deleted(sandbox: Sandbox) -> list[str]:
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
    made: dict[str, Any] = {"names": {old_id: new_name}, "ids": {old_id: id_of(sandbox, new_name)}}
    Relocation.of(options, old_id).write(old_name="world", **made, **facts)


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


# Random edits of files, applied with prune: nothing goes that a reader of the rule would not delete. The rule
# is written here once more, from its documentation. BLUEPRINT_PRUNES=0-999 takes that many accounts.
FIRST, __, LAST = os.environ.get("BLUEPRINT_PRUNES", "0-5").partition("-")
ACCOUNTS = sample(range(int(FIRST), int(LAST or FIRST) + 1))
EDITS = 10
GONE = ("DELETING", "DELETED")
SECTIONS = ("services", "applications")

Blueprint = dict[str, Any]
Edit = Callable[[random.Random, Blueprint], None]


# --- Edits ----------------------------------------------------------------------------------------------


def entries(blueprint: Blueprint) -> list[tuple[str, str]]:
    return [(section, key) for section in SECTIONS for key in blueprint.get(section, {})]


def remove_some(chance: random.Random, blueprint: Blueprint) -> None:
    found = entries(blueprint)
    for section, key in chance.sample(found, chance.randint(0, min(3, len(found)))):
        del blueprint[section][key]


def remove_a_section(chance: random.Random, blueprint: Blueprint) -> None:
    blueprint.pop(chance.choice(SECTIONS), None)


def remove_all(chance: random.Random, blueprint: Blueprint) -> None:
    for section in SECTIONS:
        blueprint[section] = {}


def respell_a_name(chance: random.Random, blueprint: Blueprint) -> None:
    services = blueprint.get("services") or {}
    for key in chance.sample(list(services), min(1, len(services))):
        name = services[key].get("name", key)
        services[key]["name"] = chance.choice((name.upper(), f" {name}", name.replace(" ", "_")))


def rename_a_key(chance: random.Random, blueprint: Blueprint) -> None:
    services = blueprint.get("services") or {}
    for key in chance.sample(list(services), min(1, len(services))):
        values = services.pop(key)
        services["renamed"] = {"name": key, **values}


def name_another_project(chance: random.Random, blueprint: Blueprint) -> None:
    blueprint["project"] = chance.choice((*PROJECTS, "default"))


def write_an_environment(chance: random.Random, blueprint: Blueprint) -> None:
    for app in (blueprint.get("applications") or {}).values():
        app["environment"] = {"LOG_LEVEL": "debug"}


def order_one_more(chance: random.Random, blueprint: Blueprint) -> None:
    size = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 10}
    order = {"product": "valkey", "host": "node-paris-1", "dimensions": size}
    blueprint.setdefault("services", {})[f"more-{chance.randint(0, 99)}"] = order


EDITS_OF_FILES: tuple[Edit, ...] = (
    *(remove_some,) * 8,
    *(remove_a_section, remove_all, respell_a_name, rename_a_key),
    *(name_another_project, write_an_environment, order_one_more),
)


# --- The rule -------------------------------------------------------------------------------------------


def may_go(state: dict[str, Any], blueprint: Blueprint, max_delete: int) -> set[str]:
    """Return the ids of the services that a reader of the rule would delete."""
    found = [each for each in state["project"] if each["name"] == blueprint["project"]]
    described = [
        (key, values or {}) for section in SECTIONS for key, values in (blueprint.get(section) or {}).items()
    ]
    if not found or not described or found[0]["default"]:
        return set()
    inside = [
        each
        for each in state["service"]
        if each["project_id"] == found[0]["id"] and each["status"] not in GONE
    ]
    ids = {values.get("id") for __, values in described}
    names = {(values.get("name") or values.get("slug") or key) for key, values in described}
    stays = {each["id"] for each in inside if each["id"] in ids or each["name"] in names}
    goes = [each for each in inside if each["id"] not in stays]
    rewritten = {
        (values.get("slug") or key)
        for key, values in (blueprint.get("applications") or {}).items()
        if values.get("environment")
    }
    texts = " ".join(
        str(each["environment"]) for each in inside if each["id"] in stays and each["name"] not in rewritten
    )
    needed = any(f"${{{each['alias']}." in texts for each in goes)
    return set() if not stays or needed or len(goes) > max_delete else {each["id"] for each in goes}


# --- The test -------------------------------------------------------------------------------------------


def state_of(sandbox: Sandbox) -> dict[str, Any]:
    """Return what the platform has."""
    records: dict[str, Any] = sandbox.control("GET", "/state")["records"]
    return records


def refer_at_random(sandbox: Sandbox, chance: random.Random) -> None:
    services = state_of(sandbox)["service"]
    for app in [each for each in services if "LOG_LEVEL" in each["environment"]]:
        near = [each for each in services if each["project_id"] == app["project_id"] and each is not app]
        if near and chance.random() < 0.5:
            variables = {"LOG_LEVEL": "info", "URL": f"${{{chance.choice(near)['alias']}.URL}}"}
            sandbox.api("PUT", f"/api/apps/{app['name']}/environment", {"environment": variables})


def add_services(sandbox: Sandbox, chance: random.Random, turn: int) -> None:
    """Order a few services by hand, so that there is always something to prune."""
    project = chance.choice(PROJECTS[:2])
    names = [f"{chance.choice(WORDS)} {turn} {number}" for number in range(chance.randint(1, 4))]
    there = [each["name"] for each in state_of(sandbox)["project"]]
    sandbox.seed({
        "projects": [] if project in there else [project],
        "services": [{"name": name, "product": "minecraft", "project": project} for name in names],
    })  # fmt: skip


def file_of(sandbox: Sandbox, chance: random.Random) -> Blueprint:
    """Return a project as a file: mostly one that is not the default project, and that has more in it."""
    files = [each["blueprint"] for each in run(sandbox, BLUEPRINT_INFO)["blueprints"]]
    found: Blueprint = max(chance.sample(files, min(2, len(files))), key=interest)
    return found if chance.random() < 0.9 else chance.choice(files)


def interest(blueprint: Blueprint) -> tuple[bool, int]:
    """Return how much there is to prune."""
    return blueprint["project"] != "default", len(entries(blueprint))


def deleted_ids(sandbox: Sandbox) -> set[str]:
    lines = [line for line in sandbox.journal() if line["route"] == "resources.delete"]
    return {line["path"].rpartition("/")[2] for line in lines}


@pytest.mark.parametrize("number", ACCOUNTS)
def test_prune_deletes_nothing_that_a_reader_of_the_rule_would_not(
    sandbox: Sandbox, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    chance = random.Random(number)
    profile = Profile.NAMES[number % len(Profile.NAMES)]
    sandbox.reset(profile=profile, delays=NO_DELAYS, seed=random_account(number))
    refer_at_random(sandbox, chance)
    for turn in range(EDITS):
        add_services(sandbox, chance, turn)
        blueprint = file_of(sandbox, chance)
        for edit in chance.sample(EDITS_OF_FILES, chance.randint(1, 2)):
            edit(chance, blueprint)
        limit = chance.choice((0, 1, 3, 9, 9, 9))
        expected = may_go(state_of(sandbox), blueprint, limit)
        sandbox.clear_journal()
        given: dict[str, Any] = {
            "prune": True,
            "delete_without_copy": True,
            "delete_backups": True,
            "max_delete": limit,
        }
        done = run(sandbox, BLUEPRINT, blueprint=blueprint, secrets_dir=str(tmp_path), **given)
        deleted = deleted_ids(sandbox)
        assert deleted <= expected, (turn, blueprint, done["msg"])
        assert done.get("failed") or deleted == expected, (turn, blueprint)
