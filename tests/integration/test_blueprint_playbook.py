# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook `blueprint`, as users run it, and the blueprint of what the playbook `quickstart` makes."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible, Run
from integration.test_quickstart import quickstart, written

PLAYBOOKS = REPOSITORY / "playbooks"
FILE = PLAYBOOKS / "files" / "quickstart.yml"
SHOP = """\
project: shop
services:
  db:
    product: "{{ engine }}"
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}
"""


def blueprint(ansible: Ansible, *arguments: str, **variables: Any) -> Run:
    """Run the playbook from the folder of the test."""
    play = "- ansible.builtin.import_playbook: hosted.services.blueprint\n"
    return ansible.playbook(play, *arguments, env={"PWD": str(ansible.folder)}, variables=variables)


def changes(run: Run) -> list[str]:
    """Return the tasks that changed something."""
    return [outcome.name for outcome in run.outcomes if outcome.result.get("changed")]


def test_files_are_applied_from_the_folder_of_the_run(ansible: Ansible, sandbox: Sandbox) -> None:
    (ansible.folder / "shop.yml").write_text(SHOP)
    (ansible.folder / "blog.yml").write_text("project: blog\n")
    given: dict[str, Any] = {
        "blueprint_src": ["shop.yml", "blog.yml"],
        "engine": "postgresql",
        "blueprint_secrets_dir": "secrets",
        "blueprint_max_parallel": 2,
    }
    planned = blueprint(ansible, "--check", "--diff", **given).succeed()
    assert "monthly: " in planned.stdout
    assert "order postgresql as service 'db'" in planned.stdout
    assert written(sandbox) == []
    assert not (ansible.folder / "secrets").exists()
    blueprint(ansible, **given).succeed()
    assert [order["name"] for order in sandbox.ledger()["orders"]] == ["db"]
    assert (ansible.folder / "secrets" / "shop.yml" / "db.json").is_file()
    assert {"shop", "blog"} <= {each["name"] for each in sandbox.api("GET", "/api/projects").json()}
    sandbox.clear_journal()
    again = blueprint(ansible, **given).succeed()
    assert changes(again) == []
    assert "nothing is left to do" in again.stdout
    assert written(sandbox) == []


def test_a_file_that_fails_does_not_stop_the_others(ansible: Ansible, sandbox: Sandbox) -> None:
    (ansible.folder / "shop.yml").write_text(SHOP)
    (ansible.folder / "blog.yml").write_text("project: blog\n")
    run = blueprint(ansible, blueprint_src=["shop.yml", "blog.yml"])
    assert run.rc == 2
    assert "shop.yml:4:5: services.db.product: its template needs 'engine'" in run.stdout
    assert written(sandbox) == ["POST /api/projects"]


def test_it_says_which_variable_is_missing(ansible: Ansible, sandbox: Sandbox) -> None:
    nothing: list[dict[str, Any]] = [{}, {"blueprint_src": []}, {"blueprint_src": ""}]
    for given in nothing:
        run = blueprint(ansible, **given)
        assert "Set blueprint_src to the path of a blueprint" in run.stdout
    assert sandbox.journal() == []


def test_it_prunes_within_the_limits_of_its_variables(ansible: Ansible, sandbox: Sandbox) -> None:
    names = ("db", "old", "older")
    sandbox.seed({"services": [{"name": each, "product": "minecraft", "project": "shop"} for each in names]})
    (ansible.folder / "shop.yml").write_text("project: shop\nservices:\n  db: {}\n")
    given = {"blueprint_src": "shop.yml", "blueprint_prune": True}
    assert "and max_delete is 1" in blueprint(ansible, **given, blueprint_max_delete=1).stdout
    nowhere = blueprint(ansible, **given, blueprint_keep_copy="/nowhere/copies")
    assert "keep_copy is '/nowhere/copies'" in nowhere.stdout
    assert written(sandbox) == []


# --- Quickstart -------------------------------------------------------------------------------------


def test_after_the_playbook_its_blueprint_changes_nothing(ansible: Ansible, sandbox: Sandbox) -> None:
    quickstart(ansible)
    sandbox.clear_journal()
    run = blueprint(ansible, blueprint_src=str(FILE)).succeed()
    assert changes(run) == []
    assert sandbox.journal(), "nothing was looked at"
    assert written(sandbox) == []


def test_after_its_blueprint_the_playbook_orders_nothing(ansible: Ansible, sandbox: Sandbox) -> None:
    """Both make the same, except for what is no part of a project: a file and a backup."""
    folder = ansible.folder / ".ansible" / "hosted_services" / "quickstart"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    generate = [sys.executable, str(PLAYBOOKS / "files" / "generate_key.py"), str(folder / "id_ed25519")]
    subprocess.run(generate, check=True, capture_output=True)
    blueprint(ansible, blueprint_src=str(FILE)).succeed()
    assert sorted(order["name"] for order in sandbox.ledger()["orders"]) == ["survival", "website"]
    sandbox.clear_journal()
    run = quickstart(ansible)
    assert changes(run) == ["Mirror a folder", "Make a backup"]
    assert [each for each in written(sandbox) if "/backups" not in each] == []
