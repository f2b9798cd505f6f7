# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks `export` and `drift`, as users and CI jobs run them: files, exit codes and reports."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run

SEED: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "games"},
    ],
    "apps": [{"slug": "acme-web", "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}],
}
REPORTS = {"drift_json": "drift.json", "drift_junit": "drift.xml", "drift_prometheus": "drift.prom"}


@pytest.fixture
def account(ansible: Ansible, sandbox: Sandbox) -> Ansible:
    """An account with two projects, and their exports in the folder `files`."""
    sandbox.seed(SEED)
    run_playbook(ansible, "export", export_folder="files").succeed()
    return ansible


def run_playbook(ansible: Ansible, name: str, *arguments: str, **variables: Any) -> Run:
    """Run a playbook of the collection from the folder of the test."""
    play = f"- ansible.builtin.import_playbook: hosted.services.{name}\n"
    return ansible.playbook(play, *arguments, variables=variables)


def read_suites(folder: Path) -> list[ElementTree.Element]:
    """Return the test suites of the JUnit report."""
    path = folder / REPORTS["drift_junit"]
    return list(ElementTree.parse(path).getroot())  # noqa: S314 - the playbook under test has written it


def add_service(sandbox: Sandbox, name: str) -> None:
    """Order something by hand."""
    sandbox.seed({"services": [{"name": name, "product": "valkey", "project": "shop"}]})


@pytest.mark.night
def test_an_export_has_a_file_for_each_project(account: Ansible, sandbox: Sandbox) -> None:
    """One that was completed is put aside, and one of anything else stops the export before it writes."""
    folder = account.folder / "files"
    shop = folder / "shop.yml"
    assert sorted(path.name for path in folder.iterdir()) == ["default.yml", "games.yml", "shop.yml"]
    assert "changed=0 " in run_playbook(account, "export", export_folder="files").succeed().stdout
    add_service(sandbox, "cache")
    checked = run_playbook(account, "export", "--check", "--diff", export_folder="files").succeed()
    assert "+  cache:" in checked.stdout and "+    product: valkey" in checked.stdout
    assert "cache" not in shop.read_text()
    mine = shop.read_text() + "budget: 50\n"
    shop.write_text(mine)
    run_playbook(account, "export", export_folder="files", export_project="shop").succeed()
    assert yaml.safe_load(shop.read_text())["services"]["cache"]["product"] == "valkey"
    assert [path.read_text() for path in folder.glob("shop.yml.*~")] == [mine]
    assert "budget" not in shop.read_text()
    add_service(sandbox, "more")
    (folder / "games.yml").write_text("- hosts: all\n")
    done = run_playbook(account, "export", export_folder="files")
    said = " ".join(done.output.split())
    assert done.rc and f"{folder}/games.yml exists and is not a blueprint of project 'games'" in said
    assert (folder / "games.yml").read_text() == "- hosts: all\n" and "more" not in shop.read_text()
    assert sandbox.writes() == []


@pytest.mark.night
def test_no_drift_ends_with_0(account: Ansible, sandbox: Sandbox) -> None:
    """Metrics name each file once if two patterns find it, and the true moment in any time zone."""
    account.environment["TZ"] = "Asia/Tokyo"
    began = int(time.time())
    patterns = ["files/shop.yml", "files/*.yml"]
    done = run_playbook(account, "drift", drift_files=patterns, **REPORTS).succeed()
    assert done["Show the differences"].message == "['nothing differs']"
    report = json.loads((account.folder / "drift.json").read_text())
    assert report["drifted"] is False
    names = ["files/default.yml", "files/games.yml", "files/shop.yml"]
    assert sorted(each["file"] for each in report["files"]) == names
    suites = read_suites(account.folder)
    assert [(suite.get("failures"), suite.get("tests")) for suite in suites] == [("0", "1")] * 3
    lines = (account.folder / "drift.prom").read_text().splitlines()
    [moment] = [line for line in lines if line.startswith("hosted_drift_compared") and "/shop.yml" in line]
    assert began <= int(moment.rpartition(" ")[2]) <= time.time()
    assert sandbox.writes() == []


def test_drift_ends_with_2_and_is_told_in_every_report(account: Ansible, sandbox: Sandbox) -> None:
    """Well-formed, whatever things are called. A comparison knows nothing of one before in the same run."""
    name = '<b>&"quoted" {{ 1 + 1 }} \\n'
    add_service(sandbox, name)
    first: dict[str, Any] = {"drift_files": "files/default.yml"}
    second = {"drift_files": ["files/games.yml", "files/shop.yml"], **REPORTS}
    drift = {"ansible.builtin.import_playbook": "hosted.services.drift"}
    done = account.playbook(yaml.safe_dump([{**drift, "vars": first}, {**drift, "vars": second}]))
    assert done.rc == 2, done.output
    report = json.loads((account.folder / "drift.json").read_text())
    assert [(each["file"], each["drifted"]) for each in report["files"]] == [
        ("files/games.yml", False),
        ("files/shop.yml", True),
    ]
    [found] = report["files"][1]["differences"]
    assert (found["kind"], found["platform"]["name"]) == ("not_in_file", name)
    assert f"files/shop.yml: {found['path']}: " in done.stdout
    suites = read_suites(account.folder)
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
    [failure] = suites[1].iter("failure")
    assert repr(name) in str(failure.get("message"))
    assert 'kind="not_in_file"} 1' in (account.folder / "drift.prom").read_text()
    assert sandbox.writes() == []


@pytest.mark.night
def test_what_cannot_be_compared_ends_with_1(account: Ansible, sandbox: Sandbox) -> None:
    """A file, whose neighbours are compared all the same; a platform; without files; and a report."""
    add_service(sandbox, "cache")
    (account.folder / "files" / 'bro"ken.yml').write_text("project: shop\nservcies: {}\n")
    done = run_playbook(account, "drift", drift_files="files/*.yml", **REPORTS)
    assert done.rc == 1, done.output
    assert "ken.yml: not compared: " in done.stdout and "did you mean 'services'?" in done.stdout
    assert "files/shop.yml: services.cache: 'cache' (" in done.stdout
    suites = read_suites(account.folder)
    assert {suite.get("name"): suite.get("errors") for suite in suites}['files/bro"ken.yml'] == "1"
    if shutil.which("promtool"):
        metrics = (account.folder / "drift.prom").read_text()
        subprocess.run(["promtool", "check", "metrics"], input=metrics, text=True, check=True)
    usual = dict(account.environment)
    account.environment["HOSTED_SERVICES_URL"] = "http://127.0.0.1:9"
    assert run_playbook(account, "drift", drift_files="files/shop.yml").rc == 1
    account.environment = usual
    unsaid = run_playbook(account, "drift")
    assert unsaid.rc == 1 and "set drift_files to the path of a blueprint" in unsaid.output
    assert "strategy" not in done.output + unsaid.output
    nowhere = run_playbook(account, "drift", drift_files="files/shop.yml", drift_json="no/such/folder/a.json")
    assert nowhere.rc == 1 and "Write the reports" in nowhere.stderr


def test_drift_of_a_blueprint_keeps_its_secrets(account: Ansible, tmp_path: Path) -> None:
    """The value of a secret variable is in no report and no output, in the file or not as last applied."""
    blueprint = {
        "project": "shop",
        "applications": {"acme-web": {"secret_environment": {"KEY": "hunter2hunter2"}}},
    }
    (account.folder / "secret.yml").write_text(yaml.safe_dump(blueprint))
    done = run_playbook(account, "drift", "-vvvv", drift_files="secret.yml", **REPORTS)
    texts = [done.output, *((account.folder / name).read_text() for name in REPORTS.values())]
    assert [text for text in texts if "hunter2" in text] == []
