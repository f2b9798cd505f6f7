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


def add_service(sandbox: Sandbox) -> None:
    """Order something by hand."""
    sandbox.seed({"services": [{"name": "cache", "product": "valkey", "project": "shop"}]})


def test_an_export_has_a_file_for_each_project(account: Ansible, sandbox: Sandbox) -> None:
    folder = account.folder / "files"
    assert sorted(path.name for path in folder.iterdir()) == ["default.yml", "games.yml", "shop.yml"]
    again = run_playbook(account, "export", export_folder="files").succeed()
    assert "changed=0 " in again.stdout
    add_service(sandbox)
    checked = run_playbook(account, "export", "--check", "--diff", export_folder="files").succeed()
    assert "+  cache:" in checked.stdout and "+    product: valkey" in checked.stdout
    assert "cache" not in (folder / "shop.yml").read_text()
    run_playbook(account, "export", export_folder="files", export_project="shop").succeed()
    assert yaml.safe_load((folder / "shop.yml").read_text())["services"]["cache"]["product"] == "valkey"
    assert sandbox.writes() == []


def test_an_export_keeps_what_people_wrote(account: Ansible, sandbox: Sandbox) -> None:
    """A file that was completed is put aside, and one of anything else stops the export before it writes."""
    folder = account.folder / "files"
    mine = (folder / "shop.yml").read_text() + "budget: 50\n"
    (folder / "shop.yml").write_text(mine)
    run_playbook(account, "export", export_folder="files", export_project="shop").succeed()
    assert [path.read_text() for path in folder.glob("shop.yml.*~")] == [mine]
    assert "budget" not in (folder / "shop.yml").read_text()
    add_service(sandbox)
    before = (folder / "shop.yml").read_text()
    (folder / "games.yml").write_text("- hosts: all\n")
    done = run_playbook(account, "export", export_folder="files")
    assert done.rc != 0
    said = " ".join(done.output.split())
    assert f"{folder}/games.yml exists and is not a blueprint of project 'games'" in said
    assert (folder / "games.yml").read_text() == "- hosts: all\n"
    assert (folder / "shop.yml").read_text() == before


def test_no_drift_ends_with_0(account: Ansible, sandbox: Sandbox) -> None:
    done = run_playbook(account, "drift", drift_files="files/*.yml", **REPORTS).succeed()
    assert done["Show the differences"].message == "['nothing differs']"
    report = json.loads((account.folder / "drift.json").read_text())
    assert report["drifted"] is False
    assert [each["file"] for each in report["files"]] == [
        "files/default.yml",
        "files/games.yml",
        "files/shop.yml",
    ]
    suites = read_suites(account.folder)
    assert [(suite.get("failures"), suite.get("tests")) for suite in suites] == [("0", "1")] * 3
    assert sandbox.writes() == []


def test_drift_ends_with_2_and_is_told_in_every_report(account: Ansible, sandbox: Sandbox) -> None:
    add_service(sandbox)
    done = run_playbook(account, "drift", drift_files=["files/games.yml", "files/shop.yml"], **REPORTS)
    assert done.rc == 2, done.output
    line = "services.cache: 'cache' ("
    assert f"files/shop.yml: {line}" in done.stdout
    report = json.loads((account.folder / "drift.json").read_text())
    assert [each["drifted"] for each in report["files"]] == [False, True]
    [found] = report["files"][1]["differences"]
    assert (found["kind"], found["path"]) == ("not_in_file", "services.cache")
    suites = read_suites(account.folder)
    assert [suite.get("failures") for suite in suites] == ["0", "1"]
    [failure] = suites[1].iter("failure")
    assert str(failure.get("message")).startswith(line)
    assert 'kind="not_in_file"} 1' in (account.folder / "drift.prom").read_text()
    assert sandbox.writes() == []


def test_a_file_that_cannot_be_compared_ends_with_1(account: Ansible, sandbox: Sandbox) -> None:
    add_service(sandbox)
    (account.folder / "files" / "broken.yml").write_text("project: shop\nservcies: {}\n")
    done = run_playbook(account, "drift", drift_files="files/*.yml", **REPORTS)
    assert done.rc == 1, done.output
    assert "files/broken.yml: not compared: " in done.stdout
    assert "did you mean 'services'?" in done.stdout
    assert "files/shop.yml: services.cache" in done.stdout, "the others are compared all the same"
    suites = read_suites(account.folder)
    assert {suite.get("name"): suite.get("errors") for suite in suites}["files/broken.yml"] == "1"


def test_a_lookup_of_a_file_runs_only_if_that_is_allowed(account: Ansible) -> None:
    """What a variable looks up is the user's own, and is filled in."""
    path, looked = account.folder / "files" / "games.yml", account.folder / "looked"
    text = path.read_text()
    given = {
        "drift_files": "files/games.yml",
        "stage": "{{ lookup('ansible.builtin.env', 'PWD') and 'games' }}",
    }
    path.write_text(text.replace("project: games", "project: '{{ stage }}'", 1))
    run_playbook(account, "drift", **given).succeed()
    call = f"""project: "{{{{ lookup('pipe', 'touch {looked}; echo games') }}}}\""""
    path.write_text(text.replace("project: games", call, 1))
    done = run_playbook(account, "drift", **given)
    assert (done.rc, looked.exists()) == (1, False)
    assert "Set allow_lookups" in done.stdout
    run_playbook(account, "drift", drift_allow_lookups=True, **given).succeed()
    assert looked.exists()


def test_a_platform_that_does_not_answer_ends_with_1(account: Ansible) -> None:
    variables = {"drift_files": "files/shop.yml"}
    play = "- ansible.builtin.import_playbook: hosted.services.drift\n"
    down = {"HOSTED_SERVICES_URL": "http://127.0.0.1:9"}
    assert account.playbook(play, env=down, variables=variables).rc == 1


def test_a_report_that_cannot_be_written_ends_with_1(account: Ansible, sandbox: Sandbox) -> None:
    add_service(sandbox)
    done = run_playbook(
        account, "drift", drift_files="files/shop.yml", drift_json="no/such/folder/drift.json"
    )
    assert done.rc == 1, done.output
    assert "Write the reports" in done.stderr


def test_without_files_it_says_what_to_set(ansible: Ansible) -> None:
    done = run_playbook(ansible, "drift")
    assert done.rc == 1
    assert "set drift_files to the path of a blueprint" in done.output


@pytest.mark.skipif(not shutil.which("promtool"), reason="not installed: promtool")
def test_prometheus_takes_the_metrics(account: Ansible, sandbox: Sandbox) -> None:
    add_service(sandbox)
    (account.folder / "files" / 'quo"te.yml').write_text("{}")
    run_playbook(account, "drift", drift_files="files/*.yml", **REPORTS)
    metrics = (account.folder / "drift.prom").read_text()
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr + metrics


def test_metrics_name_each_file_once_and_the_true_moment(account: Ansible) -> None:
    """Also if two patterns find a file, and in any time zone: Prometheus refuses doubles and goes by UTC."""
    account.environment["TZ"] = "Asia/Tokyo"
    began = int(time.time())
    run_playbook(account, "drift", drift_files=["files/shop.yml", "files/*.yml"], **REPORTS).succeed()
    lines = (account.folder / "drift.prom").read_text().splitlines()
    [moment] = [line for line in lines if line.startswith("hosted_drift_compared") and "/shop.yml" in line]
    assert began <= int(moment.rpartition(" ")[2]) <= time.time()
    assert len(read_suites(account.folder)) == 3


def test_a_second_comparison_knows_nothing_of_the_first(account: Ansible, sandbox: Sandbox) -> None:
    """Two imports of the playbook in one run report each for itself."""
    add_service(sandbox)
    play = """\
- ansible.builtin.import_playbook: hosted.services.drift
  vars: {drift_files: files/games.yml}
- ansible.builtin.import_playbook: hosted.services.drift
  vars: {drift_files: files/shop.yml, drift_json: drift.json}
"""
    assert account.playbook(play).rc == 2
    report = json.loads((account.folder / "drift.json").read_text())
    assert [each["file"] for each in report["files"]] == ["files/shop.yml"]


def test_reports_of_hostile_names_are_well_formed(account: Ansible, sandbox: Sandbox) -> None:
    name = '<b>&"quoted" {{ 1 + 1 }} \\n'
    sandbox.seed({"services": [{"name": name, "product": "valkey", "project": "shop"}]})
    done = run_playbook(account, "drift", drift_files="files/shop.yml", **REPORTS)
    assert done.rc == 2, done.output
    [failure] = read_suites(account.folder)[0].iter("failure")
    assert repr(name) in str(failure.get("message"))
    [file] = json.loads((account.folder / "drift.json").read_text())["files"]
    assert file["differences"][0]["platform"]["name"] == name


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
