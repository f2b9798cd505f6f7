# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook `report`, as users and CI jobs run it: the files, what is in them, and what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import report_account
from ansible_collections.hosted.services.plugins.plugin_utils._report.render import report_html
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run
from report_account import AS_OF, SECRET

FILES = {"report_json": "report.json", "report_prometheus": "report.prom", "report_as_of": AS_OF.isoformat()}


@pytest.fixture
def account(ansible: Ansible, sandbox: Sandbox) -> Ansible:
    """An account that has been running for a month, and folders for the reports of plans."""
    report_account.build(sandbox, report_account.shown_account())
    for name in ("backups", "sleep"):
        (ansible.folder / name).mkdir()
    return ansible


def run_playbook(ansible: Ansible, name: str, *arguments: str, **variables: Any) -> Run:
    """Run a playbook of the collection from the folder of the test."""
    play = f"- ansible.builtin.import_playbook: hosted.services.{name}\n"
    folders = {"report_backups_dir": "backups", "report_sleep_dir": "sleep"} if name == "report" else {}
    variables = {**folders, **variables}
    return ansible.playbook(play, *arguments, variables=variables)


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def secrets_of(sandbox: Sandbox) -> list[str]:
    """Return what must not be in any file: the token, and the login of the database."""
    listed = sandbox.api("GET", "/api/resources").json()["items"]
    [database] = [each["id"] for each in listed if each["name"] == "db"]
    login = sandbox.api("GET", f"/api/resources/{database}/database/connection").json()
    return [SECRET, sandbox.token, login["password"], login["url"]]


def test_a_report_is_written_once_and_holds_no_secret(account: Ansible, sandbox: Sandbox) -> None:
    folder = account.folder
    checked = run_playbook(account, "report", "--check", "--diff", **FILES).succeed()
    assert "+<!doctype html>" in checked.stdout and not (folder / "report.html").exists()
    done = run_playbook(account, "report", report_title="Example Ltd", **FILES).succeed()
    assert "warning: Rebuild releases that cannot be deployed" in done.stdout
    html, data, metrics = ((folder / f"report.{end}").read_text() for end in ("html", "json", "prom"))
    report = json.loads(data)
    assert html == report_html(report, "Example Ltd")
    assert report["unread"] == [] and len(report["services"]) == 15
    forecast, currency = report["money"]["forecast"]["amount"], report["currency"]
    assert f'hosted_report_forecast{{currency="{currency}"}} {forecast}\n' in metrics
    assert f"{forecast} {currency}" in html
    assert [secret for secret in secrets_of(sandbox) if secret in html + data + metrics] == []
    again = run_playbook(account, "report", report_title="Example Ltd", **FILES).succeed()
    assert "changed=0 " in again.stdout
    assert sandbox.writes() == []


def test_reports_of_plans_drills_and_blueprints_are_part_of_it(account: Ansible, sandbox: Sandbox) -> None:
    folder = account.folder
    write(
        folder / "backups" / "nightly.json",
        {"plan": "nightly", "ok": True, "finished": "2026-11-19T03:00:00Z"},
    )
    write(folder / "sleep" / "evenings.json", {"plan": "evenings", "ok": True, "state": {"saved": "12.40"}})
    write(folder / "sleep" / "list.json", ["no report"])
    (folder / "backups" / "broken.json").write_text("{")
    write(folder / "drill.json", {"service": "d", "finished": "2026-11-01T00:00:00Z", "restored": False})
    (folder / "shop.yml").write_text(
        yaml.safe_dump({"project": "shop", "services": {"db": {"product": "postgresql"}}})
    )
    variables = {"report_drill": "drill.json", "report_drift_files": ["shop.yml", "gone.yml"], **FILES}
    done = run_playbook(account, "report", report_project="shop", **variables).succeed()
    report = json.loads((folder / "report.json").read_text())
    assert [plan["plan"] for plan in report["backups"]["plans"]] == ["nightly"]
    assert report["money"]["saved"]["saved"] == "12.40"
    assert report["backups"]["drill"]["restored"] is False
    kinds = {matter["kind"]: [each["name"] for each in matter["subjects"]] for matter in report["advice"]}
    assert set(kinds["drift"]) == {"shop.yml"} and kinds["not_compared"] == ["gone.yml"]
    assert "drill" in kinds
    unread = {Path(each["name"]).name: each["reason"] for each in report["unread"]}
    assert unread.keys() == {"broken.json", "list.json"} and all(unread.values())
    assert "critical: Find out why the last restore drill failed" in done.stdout


def test_a_registry_token_makes_a_report_that_names_what_it_lacks(account: Ansible, sandbox: Sandbox) -> None:
    play = "- ansible.builtin.import_playbook: hosted.services.report\n"
    env = {"HOSTED_SERVICES_TOKEN": sandbox.registry_token}
    run = account.playbook(play, env=env, variables={**FILES, "report_backups_dir": "nowhere"}).succeed()
    assert "hosted-sleep" not in run.output, "the folder of a role that is not used here is no warning"
    html = (account.folder / "report.html").read_text()
    report = json.loads((account.folder / "report.json").read_text())
    assert report["services"] is None and len(report["applications"]) == 4
    parts = {each["part"] for each in report["unread"]}
    assert {"services", "reports of plans"} <= parts
    assert "Something could not be read" in html and "The services could not be read." in html


def test_a_platform_that_does_not_answer_leaves_the_last_report(ansible: Ansible) -> None:
    (ansible.folder / "report.html").write_text("of last week")
    play = "- ansible.builtin.import_playbook: hosted.services.report\n"
    down = {"HOSTED_SERVICES_URL": "http://127.0.0.1:9"}
    assert ansible.playbook(play, env=down, variables={}).rc == 2
    assert (ansible.folder / "report.html").read_text() == "of last week"


def test_a_drill_leaves_a_report(ansible: Ansible, sandbox: Sandbox) -> None:
    sandbox.seed({"services": [{"name": "drill", "product": "minecraft"}]})
    variables = {"drill_service": "drill", "drill_report": "drill.json", "drill_quiet_time": 3}
    run_playbook(ansible, "restore_drill", **variables).succeed()
    told = json.loads((ansible.folder / "drill.json").read_text())
    assert (told["service"], told["restored"]) == ("drill", True)
    assert told["backup"].startswith("restore-drill-") and told["finished"].endswith("Z")
    sandbox.fault("POST /api/resources/{id}/backups/{backupId}/restore", "status", status=422, count=None)
    assert run_playbook(ansible, "restore_drill", **variables).rc == 2
    assert json.loads((ansible.folder / "drill.json").read_text())["restored"] is False
