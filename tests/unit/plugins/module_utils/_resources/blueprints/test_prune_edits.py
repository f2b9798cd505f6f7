# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Random edits of files, applied with prune: nothing goes that a reader of the rule would not delete.

The rule is written here once more, from its documentation. BLUEPRINT_PRUNES=0-999 takes that many accounts,
with ten edits each (stage release-histories).
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from hosted_sandbox.gaps import Profile
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from unit.plugins.accounts import PROJECTS, WORDS, random_account
from unit.plugins.module_utils._resources.platform import run
from unit.tiers import sample

FIRST, __, LAST = os.environ.get("BLUEPRINT_PRUNES", "0-5").partition("-")
ACCOUNTS = sample(range(int(FIRST), int(LAST or FIRST) + 1))
EDITS = 10
GONE = ("DELETING", "DELETED")
SECTIONS = ("services", "applications")

Blueprint = dict[str, Any]
Edit = Callable[[random.Random, Blueprint], None]


# --- Edits ----------------------------------------------------------------------------------------------


def entries(blueprint: Blueprint) -> list[tuple[str, str]]:
    """Return the section and the key of each entry."""
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
    """Let some applications refer to neighbors."""
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
    """Return the ids of the services whose deletion was asked for."""
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
