# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations that are killed at some call. tests/stories tells what users make.

RELOCATE_KILLS is after how many of a run's requests it is killed, as `3,11` or as a range `1-90`, and
RELOCATE_BACK_KILLS the same for the way back.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.killing import kill_points, kill_tasks_after
from integration.test_blueprint_killed import register_key
from unit.plugins.module_utils._resources.clones.platform import environment, files, ids_of
from unit.plugins.module_utils._resources.relocations.platform import FILES, status_of, write_file

SHOP: dict[str, Any] = {
    "balance_cents": 100000,
    "projects": ["old", "shop"],
    "services": [{"name": "survival", "product": "minecraft", "project": "shop", "files": FILES}],
    "apps": [
        {
            "slug": "acme-web",
            "project": "shop",
            "images": [{"tag": "v1"}],
            "deployed": "v1",
            "environment": {"GAME": "${survival.HOST}"},
        },
    ],
}
CONTENT = {f"/{path}": content for path, content in FILES.items()}


def task(folder: Path, key: str, **given: Any) -> str:
    options = {
        "service": "survival",
        "host": "node-frankfurt-1",
        "environments": {"acme-web": {"GAME": "${survival.HOST}"}},
        "private_key_file": key,
        "secrets_dest": str(folder / "secrets.json"),
        "healthy_for": 0,
        "wait_interval": 0.2,
        "state_dir": str(folder / "state"),
        **given,
    }
    return f"- name: Relocate\n  hosted.services.relocate: {json.dumps(options)}\n"


def content(sandbox: Sandbox, id: str) -> dict[str, Any]:
    """Return the files of a service, without its folders."""
    return {path: text for path, text in files(sandbox, id).items() if text is not None}


def check_in_service(sandbox: Sandbox, one: str, other: str | None, expected: dict[str, str]) -> None:
    """Check that one service is in service with all that it has to hold, and the other is kept, suspended."""
    assert status_of(sandbox, one) == ("ACTIVE", "running")
    assert content(sandbox, one) == expected
    if other is not None:
        assert status_of(sandbox, other)[0] == "SUSPENDED"
    alias = {each["id"]: each["alias"] for each in graph(sandbox)["nodes"]}[one]
    assert environment(sandbox, "acme-web") == {"GAME": f"${{{alias}.HOST}}"}
    assert status_of(sandbox, ids_of(sandbox, "shop")["acme-web"]) == ("ACTIVE", "running")


def graph(sandbox: Sandbox) -> dict[str, Any]:
    projects = sandbox.api("GET", "/api/projects").json()
    id = next(each["id"] for each in projects if each["name"] == "shop")
    found: dict[str, Any] = sandbox.api("GET", f"/api/projects/{id}/graphe").json()
    return found


def ordered(sandbox: Sandbox) -> list[str]:
    """Return the names of all orders but those of the seed."""
    seeded = ("survival", "acme-web")
    return [each["name"] for each in sandbox.ledger()["orders"] if each["name"] not in seeded]


def deletions(sandbox: Sandbox) -> list[str]:
    return [line["path"] for line in sandbox.journal() if line["method"] == "DELETE"]


# --- Runs that are killed ---------------------------------------------------------------------------


def check_done(ansible: Ansible, sandbox: Sandbox, text: str, before: list[str]) -> None:
    """Check that no run has deleted a service, and that another one has nothing to do."""
    assert [*before, *deletions(sandbox)] == []
    sandbox.clear_journal()
    assert not ansible.tasks(text).succeed()["Relocate"].result["changed"]
    assert sandbox.writes() == []


@pytest.mark.night
@pytest.mark.parametrize("way", ["on", "back"])
@pytest.mark.parametrize("point", [*kill_points("RELOCATE_KILLS", "24,45,66")])
def test_a_run_that_is_killed(point: int, way: str, ansible: Ansible, sandbox: Sandbox) -> None:
    """The next one brings it to its end, or back: with all bytes, one order, and no deletion."""
    sandbox.seed(SHOP)
    key = register_key(sandbox, ansible.folder)
    old = ids_of(sandbox, "shop")["survival"]
    kill_tasks_after(ansible, sandbox, point, task(ansible.folder, key))
    deleted = deletions(sandbox)
    text = task(ansible.folder, key, **({} if way == "on" else {"state": "returned"}))
    if way == "back" and not any((ansible.folder / "state").rglob("*.json")):  # it had not begun
        assert "no relocation of service" in ansible.tasks(text).output
        assert ordered(sandbox) == deletions(sandbox) == []
        check_in_service(sandbox, old, None, CONTENT)
        return
    sandbox.clock(advance=2)  # until what was ordered last can be read
    ansible.tasks(text).succeed()
    new = ids_of(sandbox, "shop").get("survival-2")
    if way == "on":
        assert ordered(sandbox) == ["survival-2"]
        check_in_service(sandbox, str(new), old, CONTENT)
    else:
        assert ordered(sandbox) in ([], ["survival-2"])
        check_in_service(sandbox, old, new, CONTENT)
    assert content(sandbox, old) == CONTENT
    check_done(ansible, sandbox, text, deleted)


@pytest.mark.night
@pytest.mark.parametrize("point", [*kill_points("RELOCATE_BACK_KILLS", "16,34")])
def test_a_way_back_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """The next run completes it, with what was written to the new service."""
    sandbox.seed(SHOP)
    key = register_key(sandbox, ansible.folder)
    ansible.tasks(task(ansible.folder, key)).succeed()
    ids = ids_of(sandbox, "shop")
    old, new = ids["survival"], ids["survival-2"]
    write_file(sandbox, new, "world/level.dat", "newer" * 10)
    expected = {**CONTENT, "/world/level.dat": "newer" * 10}
    text = task(ansible.folder, key, state="returned", copy_back=True)
    kill_tasks_after(ansible, sandbox, point, text)
    deleted = deletions(sandbox)
    ansible.tasks(text).succeed()
    check_in_service(sandbox, old, new, expected)
    assert content(sandbox, new) == expected
    check_done(ansible, sandbox, text, deleted)
