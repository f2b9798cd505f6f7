# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 at some point of a blueprint, then another run: everything once, no secret lost.

BLUEPRINT_KILLS is after how many of a run's requests it is killed, as `3,11` or as a range `1-40`, and
BLUEPRINT_PRUNE_KILLS the same for a run that also prunes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run
from integration.killing import kill_points, kill_tasks_after

pytestmark = pytest.mark.night

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
SERVICES = {"db": "postgresql", "cache": "postgresql", "world": "minecraft"}
SLUGS = ["acme-api", "acme-web"]
BLUEPRINT: dict[str, Any] = {
    "project": "bakery",
    "defaults": {"services": {"host": "node-paris-1", "dimensions": SIZE}},
    "services": {key: {"product": product} for key, product in SERVICES.items()},
    "applications": {
        "api": {"slug": "acme-api", "environment": {"URL": "${db.URL}", "CACHE": "${cache.URL}"}},
        "web": {"slug": "acme-web", "environment": {"API": "${api.URL}"}, "public": False},
    },
    "ssh_keys": {
        "ops": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG6yYkCXXvMuxtVVm0hZ8Fcdve0O8Vu6yDCxkQIcwkoA ops@example"
    },
    "budget": {"projects": {"bakery": 100}},
}
OLD = ("older", "oldest")
EXISTING = {
    "project": "bakery",
    "services": {key: {"public": False} for key in SERVICES},
    "applications": {slug: {} for slug in SLUGS},
}
"""The same project once it is there, without two services that were in the file."""


def task(folder: Path, **given: Any) -> str:
    options = {"blueprint": BLUEPRINT, "secrets_dir": str(folder), "wait_interval": 0.2, **given}
    return f"- name: Apply\n  hosted.services.blueprint: {json.dumps(options)}\n"


def apply(ansible: Ansible, **given: Any) -> Run:
    return ansible.tasks(task(ansible.folder, **given)).succeed()


def passwords_kept(ansible: Ansible, again: Run) -> list[str]:
    """Return the databases whose secrets are in their files, or that a warning names."""
    told = " ".join(again["Apply"].result.get("warnings", []))
    databases = [key for key, product in SERVICES.items() if product == "postgresql"]
    return [key for key in databases if (ansible.folder / f"{key}.json").is_file() or repr(key) in told]


@pytest.mark.parametrize("point", [*kill_points("BLUEPRINT_KILLS", "18,45,80")])
def test_a_run_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    kill_tasks_after(ansible, sandbox, point, task(ansible.folder))
    again = apply(ansible)
    names = sorted(each["name"] for each in sandbox.ledger()["orders"])
    assert names == sorted([*SERVICES, *SLUGS])
    assert passwords_kept(ansible, again) == ["db", "cache"]
    keys = sandbox.api("GET", "/api/users/me/ssh-keys").json()
    assert [key["name"] for key in keys] == ["ops"]
    assert [each["name"] for each in sandbox.api("GET", "/api/projects").json()].count("bakery") == 1
    sandbox.clear_journal()
    assert not apply(ansible)["Apply"].result["changed"]
    assert sandbox.writes() == []


@pytest.mark.parametrize("point", [*kill_points("BLUEPRINT_PRUNE_KILLS", "25,50")])
def test_a_run_that_is_killed_while_it_prunes(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """Whatever it had deleted by then has a whole copy, and the next run deletes the rest and no more."""
    kept = [{"name": each, "product": "minecraft", "project": "bakery"} for each in SERVICES]
    old = [{**kept[0], "name": name, "files": {"level.dat": name}} for name in OLD]
    sandbox.seed({"services": [*kept, *old], "apps": [{"slug": slug, "project": "bakery"} for slug in SLUGS]})
    key = register_key(sandbox, ansible.folder)
    home = str(ansible.folder / "state")
    given = {"blueprint": EXISTING, "prune": True, "private_key_file": key, "state_dir": home}
    kill_tasks_after(ansible, sandbox, point, task(ansible.folder, **given))
    check_copies(sandbox, Path(home))
    apply(ansible, **given)
    check_copies(sandbox, Path(home))
    assert names_of(sandbox) == sorted([*SERVICES, *SLUGS])
    sandbox.clear_journal()
    assert not apply(ansible, **given)["Apply"].result["changed"]
    assert sandbox.writes() == []


def names_of(sandbox: Sandbox) -> list[str]:
    return sorted(each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"])


def check_copies(sandbox: Sandbox, home: Path) -> None:
    copied = {file.read_text() for file in home.glob("last_copies/*/2*/files/level.dat")}
    assert set(OLD) - set(names_of(sandbox)) <= copied


def register_key(sandbox: Sandbox, folder: Path) -> str:
    """Make a key that opens SFTP on the sandbox; return the path of its private half."""
    path, key = folder / "key", asyncssh.generate_private_key("ssh-ed25519")
    path.touch(mode=0o600)
    path.write_bytes(key.export_private_key())
    public = key.export_public_key().decode().strip()
    sandbox.api("POST", "/api/users/me/ssh-keys", {"name": "deploy", "publicKey": public})
    return str(path)
