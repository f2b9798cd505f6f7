# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook `blueprint`, as users run it."""

from __future__ import annotations

import getpass
import re
import subprocess
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import COLLECTIONS, Ansible, Run
from integration.test_blueprint_files import VAULT, password_in
from integration.warm import programs

READING = {"GET", "HEAD"}
QUOTE = "/api/order/quote"
SHOP = """\
project: shop
services:
  db:
    product: "{{ engine }}"
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}
"""


def written(sandbox: Sandbox) -> list[str]:
    """What was asked of the platform that changes something; a quote does not."""
    calls = [(call["method"], call["path"]) for call in sandbox.journal()]
    return [f"{method} {path}" for method, path in calls if method not in READING and path != QUOTE]


def blueprint(ansible: Ansible, *arguments: str, **variables: Any) -> Run:
    """Run the playbook from the folder of the test."""
    play = "- ansible.builtin.import_playbook: hosted.services.blueprint\n"
    return ansible.playbook(play, *arguments, variables=variables)


def changes(run: Run) -> list[str]:
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


@pytest.mark.night
def test_a_file_that_fails_does_not_stop_the_others(ansible: Ansible, sandbox: Sandbox) -> None:
    (ansible.folder / "shop.yml").write_text(SHOP)
    (ansible.folder / "blog.yml").write_text("project: blog\n")
    run = blueprint(ansible, blueprint_src=["shop.yml", "blog.yml"])
    assert run.rc == 2
    assert "shop.yml:4:5: services.db.product: its template needs 'engine'" in run.stdout
    assert written(sandbox) == ["POST /api/projects"]


@pytest.mark.night
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


@pytest.mark.night
def test_it_does_not_prune_a_project_that_has_two_files(ansible: Ansible, sandbox: Sandbox) -> None:
    """Each would delete what the other describes. One names it in a template, the other is encrypted."""
    sandbox.seed(
        {"services": [{"name": each, "product": "minecraft", "project": "shop"} for each in ("db", "web")]}
    )
    files = {
        "a.yml": "project: '{{ team }}'\nservices:\n  db: {}\n",
        "c.yml": "project: store\nwas: shop\n",
        "d.yml": "project: shop\nservices: [\n",
    }
    for name, text in files.items():
        (ansible.folder / name).write_text(text)
    secret = "project: ' Shop'\nservices:\n  web: {name: '{{ unknown }}'}\n"
    (ansible.folder / "b.yml").write_bytes(VAULT.encrypt(secret))
    arguments = ["--vault-password-file", password_in(ansible.folder)]
    for others, said in (
        (["b.yml"], "a.yml and b.yml both describe project shop"),
        (["c.yml"], "a.yml and c.yml both describe project shop"),
        (["d.yml", "none.yml"], "Which project d.yml, none.yml describes cannot be read"),
    ):
        given = {"blueprint_src": ["a.yml", *others], "blueprint_prune": True, "team": "shop"}
        run = blueprint(ansible, *arguments, **given)
        assert run.rc == 2 and said in run.stdout and "Nothing was done" in run.stdout
    assert sandbox.journal() == []


@pytest.mark.night
def test_files_of_different_projects_are_pruned_together(ansible: Ansible, sandbox: Sandbox) -> None:
    """A file that is named twice is one file, and without a prune a project may have several."""
    services = [{"name": each, "product": "minecraft", "project": each} for each in ("shop", "blog")]
    sandbox.seed({"services": services})
    for file, project in (("a", "shop"), ("b", "shop"), ("c", "blog")):
        text = f"project: {project}\nservices:\n  {project}: {{}}\n"
        (ansible.folder / f"{file}.yml").write_text(text)
    blueprint(ansible, blueprint_src=["a.yml", "b.yml"]).succeed()
    blueprint(ansible, blueprint_src=["a.yml", "c.yml", "a.yml"], blueprint_prune=True).succeed()
    assert sandbox.journal() and written(sandbox) == []


WITH_PLANS = """\
project: shop
services:
  db:
    name: primary
    product: postgresql
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}
  world:
    product: minecraft
    host: node-paris-1
    dimensions: {cpu_cores: 1, ram_gb: 2, storage_gb: 10}
backups:
  nightly: {services: [world], at: "02:30", keep: {daily: 7}, wait_timeout: 20}
sleep:
  nights: {services: [db, world], awake: [], start_after: {world: [db]}}
"""
BLOG = "project: blog\nbackups: {weekly: {allow_empty: true, every: weekly, keep: {last: 2}}}\n"


def machine(ansible: Ansible, sandbox: Sandbox) -> dict[str, Any]:
    """Return variables of both roles for a machine in the folder of the test."""
    common = {
        "user": getpass.getuser(),
        "token": sandbox.token,
        "base_url": sandbox.base_url,
        "activate": False,
        "scheduler": "systemd",
        "ansible_playbook": programs().local_playbook,
        "collections_path": COLLECTIONS,
    }
    given: dict[str, Any] = {}
    for role in ("backups", "sleep_schedule"):
        for name in ("bin", "units", "cron"):
            (ansible.folder / name).mkdir(exist_ok=True)
        folders = {"config_dir": f"etc-{role}", "state_dir": f"state-{role}", "bin_dir": "bin"}
        folders |= {"unit_dir": "units", "cron_dir": "cron"}
        given |= {f"{role}_{name}": value for name, value in common.items()}
        given |= {f"{role}_{name}": str(ansible.folder / folder) for name, folder in folders.items()}
    return given


def installed(ansible: Ansible, role: str) -> dict[str, Any]:
    """Return the plans that a role has installed, by the names of their files."""
    found = {}
    for path in sorted((ansible.folder / f"etc-{role}").glob("*.yml")):
        [play] = yaml.safe_load(path.read_text())
        [found[path.stem]] = [value for name, value in play["vars"].items() if name.endswith("_plan")]
    return found


@pytest.mark.night
def test_the_roles_install_the_plans(ansible: Ansible, sandbox: Sandbox) -> None:
    (ansible.folder / "shop.yml").write_text(WITH_PLANS)
    (ansible.folder / "blog.yml").write_text(BLOG)
    given = machine(ansible, sandbox)
    blueprint(ansible, "--check", blueprint_src="shop.yml", **given).succeed()
    assert written(sandbox) == []
    assert installed(ansible, "backups") == {}
    blueprint(ansible, blueprint_src="shop.yml", **given).succeed()
    assert installed(ansible, "backups") == {
        "nightly": {
            "name": "nightly",
            "project": "shop",
            "services": ["world"],
            "at": "02:30",
            "keep": {"daily": 7},
            "wait_timeout": 20,
        }
    }
    assert installed(ansible, "sleep_schedule")["nights"]["start_after"] == {"world": ["primary"]}
    assert (
        "OnCalendar=*-*-* 02:30:00" in (ansible.folder / "units" / "hosted-backup-nightly.timer").read_text()
    )
    blueprint(ansible, blueprint_src="blog.yml", **given).succeed()
    assert set(installed(ansible, "backups")) == {"nightly", "weekly"}  # that of the other project stays
    assert set(installed(ansible, "sleep_schedule")) == {"nights"}
    sandbox.clear_journal()
    again = blueprint(ansible, blueprint_src=["shop.yml", "blog.yml"], **given).succeed()
    # Not by the outcomes: the forecast is a run of its own, which writes a report.
    assert re.search(r"localhost .* changed=0 ", again.stdout)
    assert written(sandbox) == []
    plan, hook = ansible.folder / "etc-backups" / "nightly.yml", 'true !unsafe "x"'
    plan.write_text(plan.read_text().replace("      at: ", f"      before: [{hook!r}]\n      at: "))
    blueprint(ansible, blueprint_src="blog.yml", **given).succeed()
    assert installed(ansible, "backups")["nightly"]["before"] == [hook]
    subprocess.run([str(ansible.folder / "bin" / "hosted-backup"), "run", "nightly"], check=True)
    assert len(sandbox.journal("backups.create")) == 1
    subprocess.run([str(ansible.folder / "bin" / "hosted-sleep"), "run", "nights"], check=True)
    [world] = [
        each for each in sandbox.control("GET", "/state")["records"]["service"] if each["name"] == "world"
    ]
    assert world["status"] == "SUSPENDED"


@pytest.mark.night
def test_only_plans_that_a_role_installed_are_kept(ansible: Ansible, sandbox: Sandbox) -> None:
    """Not one that a killed forecast left, and not one that somebody has put or copied there."""
    given = machine(ansible, sandbox)
    sleep = "project: {}\nsleep: {{{}: {{awake: [], allow_empty: true}}}}\n"
    for project, plan in (("web", "nights"), ("blog", "weekend")):
        (ansible.folder / f"{project}.yml").write_text(sleep.format(project, plan))
    blueprint(ansible, blueprint_src="web.yml", **given).succeed()
    etc, units = ansible.folder / "etc-sleep_schedule", ansible.folder / "units"
    plan = (etc / "nights.yml").read_text()
    tried = plan.replace(": nights.yml", ": tried-.yml").replace("name: nights", "name: tried")
    (etc / "tried-.yml").write_text(tried)
    (etc / "nights-.yml").write_text(plan.replace(": nights.yml", ": nights-.yml"))
    (etc / "copy.yml").write_text(plan.replace("name: nights", "name: copy"))
    by_hand = "- vars: {sleep_schedule_plan: {name: by-hand, project: web, awake: []}}\n"
    (etc / "by-hand.yml").write_text(by_hand)
    blueprint(ansible, blueprint_src="blog.yml", **given).succeed()
    timers = {path.name for path in units.glob("*.timer")}
    assert timers == {"hosted-sleep-nights.timer", "hosted-sleep-weekend.timer"}
    assert set(installed(ansible, "sleep_schedule")) == {"nights", "weekend", "copy", "by-hand"}
    assert (etc / "nights.yml").read_text() == plan and (etc / "by-hand.yml").read_text() == by_hand


@pytest.mark.night
def test_an_empty_section_removes_the_plans_of_its_project(ansible: Ansible, sandbox: Sandbox) -> None:
    given = machine(ansible, sandbox)
    (ansible.folder / "blog.yml").write_text(BLOG)
    (ansible.folder / "web.yml").write_text(BLOG.replace("blog", "web").replace("weekly:", "other:"))
    blueprint(ansible, blueprint_src=["blog.yml", "web.yml"], **given).succeed()
    assert set(installed(ansible, "backups")) == {"weekly", "other"}
    (ansible.folder / "web.yml").write_text("project: web\n")  # which leaves them alone
    blueprint(ansible, blueprint_src=["blog.yml", "web.yml"], **given).succeed()
    assert set(installed(ansible, "backups")) == {"weekly", "other"}
    (ansible.folder / "blog.yml").write_text("project: journal\nwas: blog\nbackups: {}\n")
    blueprint(ansible, blueprint_src="blog.yml", **given).succeed()
    assert set(installed(ansible, "backups")) == {"other"}
    mixed = blueprint(ansible, blueprint_src="blog.yml", **{**given, "backups_plans": []})
    assert "backups_plans is set, and would replace the plans of the files" in mixed.stdout
    assert set(installed(ansible, "backups")) == {"other"}
