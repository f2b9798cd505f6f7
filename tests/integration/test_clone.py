# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clones as users make them: the playbook of the guide, and runs that are killed.

CLONE_KILLS is after how many of a run's requests it is killed, as `3,11` or as a range `1-40`.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible
from integration.killing import kill_points, kill_tasks_after
from integration.test_blueprint_killed import register_key
from unit.plugins.module_utils._resources.clones.platform import files, ids_of, writes_to

GUIDE = REPOSITORY / "docs" / "guides" / "cloning.md"
CLONING = "hosted.services.clone : Clone the project, or bring over what has changed in it"
SHOP: dict[str, Any] = {
    "balance_cents": 100000,
    "projects": ["old", "shop"],
    "services": [
        {
            "name": "world",
            "product": "minecraft",
            "project": "shop",
            "files": {"a/b.txt": "first", "plugins/ü.yml": "", "region.bin": "y" * 70_001},
        }
    ],
    "apps": [
        {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}, {"tag": "v2"}], "deployed": "v1"},
        {
            "slug": "acme-web",
            "project": "shop",
            "images": [{"tag": "v1"}],
            "deployed": "v1",
            "environment": {"API": "${acme-api.URL}"},
        },
    ],
}
BLUEPRINT = """\
project: shop
applications:
  acme-web:
    environment: {API: "${acme-api.URL}", BANNER: production}
    secret_environment: {SESSION_KEY: of-production}
"""


def ordered(sandbox: Sandbox) -> list[str]:
    """Return the names of all orders but those of the seed."""
    seeded = {app["slug"] for app in SHOP["apps"]}
    return sorted(each["name"] for each in sandbox.ledger()["orders"] if each["name"] not in seeded)


# --- The guide --------------------------------------------------------------------------------------


def documented() -> str:
    """Return the playbook of the guide that refreshes staging."""
    blocks = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    (found,) = [block for block in blocks if block.startswith("# refresh.yml")]
    return str(found)


def refresh(ansible: Ansible, key: str) -> Any:
    """Run the playbook of the guide, with another key; return what the role says."""
    text = documented().replace("~/.ssh/deploy", key)
    (ansible.folder / "shop.yml").write_text(BLUEPRINT)
    ansible.environment["STAGING_SESSION_KEY"] = "of-staging"
    return ansible.playbook(text).succeed()[CLONING].result


@pytest.mark.night
def test_staging_is_refreshed_every_monday(ansible: Ansible, sandbox: Sandbox) -> None:
    """Twice the same playbook, from end to end: the second run brings over what changed, and no more."""
    sandbox.seed(SHOP)
    key = register_key(sandbox, ansible.folder)
    originals = ids_of(sandbox, "shop")
    sandbox.clear_journal()
    first = refresh(ansible, key)
    made = ids_of(sandbox, "shop-staging")
    assert set(made) == {"world-staging", "acme-api-staging", "acme-web-staging"}
    assert "of-staging" not in json.dumps(first)
    for id, path, content in (
        (originals["world"], "a/b.txt", "second"),
        (originals["world"], "new.txt", "new"),
        (made["world-staging"], "tried.txt", "by hand"),
    ):
        sandbox.api("POST", f"/api/resources/{id}/files/write", {"path": path, "content": content})
    sandbox.api("POST", "/api/apps/acme-api/deploy", {"tag": "v2"})
    sandbox.clear_journal()
    second = refresh(ansible, key)
    assert [action for action in second["actions"] if action.startswith(("order", "create"))] == []
    assert files(sandbox, made["world-staging"]) == files(sandbox, originals["world"])
    assert "new" in files(sandbox, made["world-staging"]).values()
    apps = {app["slug"]: app["imageRef"] for app in sandbox.api("GET", "/api/apps").json()["items"]}
    assert apps["acme-api-staging"].partition("@")[2] == apps["acme-api"].partition("@")[2]
    assert writes_to(sandbox, originals) == []
    assert ordered(sandbox) == sorted(made)
    half = {"path": ".hosted-0123456789abcdef.part", "content": "what a killed run has left"}
    sandbox.api("POST", f"/api/resources/{made['world-staging']}/files/write", half)
    sandbox.clear_journal()
    assert not refresh(ansible, key)["changed"]
    assert sandbox.writes() == [], "nothing stops for a file that stays"


# --- Runs that are killed ---------------------------------------------------------------------------


def task(folder: Path, key: str, **given: Any) -> str:
    options = {
        "source": "shop",
        "project": "copy",
        "rename": {"suffix": "-copy"},
        "environments": {"acme-web": {"API": "${acme-api.URL}"}},
        "private_key_file": key,
        "secrets_dir": str(folder),
        "wait_interval": 0.2,
        **given,
    }
    return f"- name: Clone\n  hosted.services.clone: {json.dumps(options)}\n"


@pytest.mark.night
@pytest.mark.parametrize("point", [*kill_points("CLONE_KILLS", "40,75,110,150")])
def test_a_run_that_is_killed(point: int, ansible: Ansible, sandbox: Sandbox) -> None:
    """The next one completes the clone: everything once, equal to the source, which nobody wrote to."""
    sandbox.seed(SHOP)
    key = register_key(sandbox, ansible.folder)
    originals = ids_of(sandbox, "shop")
    kill_tasks_after(ansible, sandbox, point, task(ansible.folder, key))
    ansible.tasks(task(ansible.folder, key)).succeed()
    assert ordered(sandbox) == sorted(f"{name}-copy" for name in originals)
    assert [each["name"] for each in sandbox.api("GET", "/api/projects").json()].count("copy") == 1
    made = ids_of(sandbox, "copy")
    assert files(sandbox, made["world-copy"]) == files(sandbox, originals["world"])
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={quote(made['world-copy'])}").json()
    assert metrics[made["world-copy"]]["state"] == "running"
    assert writes_to(sandbox, originals) == []
    sandbox.clear_journal()
    assert not ansible.tasks(task(ansible.folder, key)).succeed()["Clone"].result["changed"]
    assert sandbox.writes() == []
