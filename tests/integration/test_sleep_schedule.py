# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `sleep_schedule`: what it installs, what it says it will save, and what its runs do and report."""

from __future__ import annotations

import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.sleep_machine import NIGHTS, SleepMachine
from integration.test_backups_schedules import Systemd, processes

pytestmark = pytest.mark.night

SERVICES: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {
            "name": "web",
            "product": "minecraft",
            "project": "shop",
            "environment": {"DATABASE_URL": "${db.URL}"},
        },
        {"name": "other", "product": "minecraft"},
    ]
}


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> SleepMachine:
    """A machine on which nothing is installed yet, and two services in the project of its plan."""
    sandbox.seed(SERVICES)
    return SleepMachine(tmp_path, sandbox)


def files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def contents(folder: Path) -> dict[str, bytes]:
    """Return what is in all files below a folder, by their paths."""
    return {path: (folder / path).read_bytes() for path in files(folder)}


def writes(sandbox: Sandbox) -> list[str]:
    """Return which routes were called that write, in their order."""
    return [line["route"] for line in sandbox.journal() if line["method"] != "GET"]


def test_what_is_installed_and_removed(machine: SleepMachine) -> None:
    """Units that systemd takes, and the forecast before anything is switched on; nothing at the end."""
    folder, weekend = machine.folder, {**NIGHTS, "name": "weekend", "services": ["web"], "project": "shop"}
    run = machine.install(NIGHTS, weekend).succeed()
    assert writes(machine.sandbox) == [], "a forecast changes nothing"
    tasks = [outcome.name.rpartition(" : ")[2] for outcome in run.outcomes]
    assert tasks.index("Show what each plan saves") < tasks.index("Write the timers")
    assert "plan nights would save " in run.stdout and " in an average month with 2 services" in run.stdout
    assert stat.S_IMODE((folder / "etc" / "token").stat().st_mode) == 0o600
    units = sorted((folder / "units").iterdir())
    assert [unit.name for unit in units] == [
        f"hosted-sleep-{plan}.{kind}" for plan in ("nights", "weekend") for kind in ("service", "timer")
    ]
    if shutil.which("systemd-analyze"):
        subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=True)
    texts = "".join(unit.read_text() for unit in units)
    assert "OnCalendar=*-*-* *:0/5:00" in texts and "Persistent=true" in texts
    assert machine.sandbox.token not in texts + machine.command.read_text()
    assert machine.run("run", "nights")[0] == 0
    again = machine.install(weekend).succeed()
    assert [name for name in files(folder / "units") if "nights" in name] == []
    assert "changed=0 " in machine.install(weekend).succeed().stdout, again.stdout
    removed = machine.install(sleep_schedule_state="absent").succeed()
    assert "Services that are suspended stay so" in removed.stdout
    assert [name for name in ("etc", "state") if (folder / name).exists()] == []
    assert {name for kind in ("units", "bin", "cron", "rules") for name in files(folder / kind)} == set()
    assert files(folder / "metrics") == set()


def test_from_systemd_to_cron_and_back(machine: SleepMachine) -> None:
    """One of them runs a plan, and never both; cron says nothing unless a run fails."""
    systemd = Systemd(machine)
    settings: dict[str, Any] = {
        "sleep_schedule_activate": True,
        "sleep_schedule_booted_by_systemd": str(systemd.state),
        "sleep_schedule_processes": str(processes(machine, "cron")),
        "sleep_schedule_every_minutes": 10,
    }
    timer = "hosted-sleep-nights.timer"
    machine.install(NIGHTS, **settings).succeed()
    assert systemd.units() == [f"{timer}.active", f"{timer}.enabled"]
    machine.install(NIGHTS, sleep_schedule_scheduler="cron", **settings).succeed()
    assert systemd.units() == [] and files(machine.folder / "units") == set()
    entry = (machine.folder / "cron" / "hosted-sleep-nights").read_text()
    assert entry.splitlines()[-1].startswith("*/10 * * * * ")
    assert entry.endswith(f"{machine.command} run nights --quiet\n")
    assert machine.run("run", "nights", "--quiet") == (0, "")
    machine.sandbox.fault("*", "status", status=401, count=None)
    code, output = machine.run("run", "nights", "--quiet")
    assert code not in (0, 75) and "plan nights: " in output
    machine.sandbox.clear_faults()
    machine.install(NIGHTS, **settings).succeed()
    assert systemd.units() == [f"{timer}.active", f"{timer}.enabled"]
    assert files(machine.folder / "cron") == set()


def test_runs_do_what_the_clock_says(machine: SleepMachine) -> None:
    """In the order of the references, once; the report and the metrics say so, and people are respected."""
    sandbox = machine.sandbox
    machine.install(NIGHTS).succeed()
    assert machine.metrics_of_plans()["since_timestamp_seconds"] > "0"
    code, output = machine.run("run", "nights")
    assert code == 0, output
    assert machine.statuses() == {"db": "SUSPENDED", "web": "SUSPENDED", "other": "ACTIVE"}
    assert writes(sandbox) == ["resources.suspend"] * 2
    report, told = machine.report(), machine.metrics()
    assert report["ok"] and [action.split("'")[1] for action in report["actions"]] == ["web", "db"]
    assert (told["services"], told["awake"], told["run_problems"]) == ("2", "0", "0")
    assert (told["service_asleep db"], told["service_asleep web"]) == ("1", "1")
    assert (told["service_failed db"], told["service_delayed db"]) == ("0", "0")
    assert told["saves_monthly"] == report["state"]["saves_monthly"] and float(told["saves_monthly"]) > 0
    assert told["saved"] == "0.00" and told["success_timestamp_seconds"] == told["run_timestamp_seconds"]
    assert float(told["saves_monthly"]) == pytest.approx(monthly_difference(sandbox), abs=0.01)

    assert machine.run("run", "nights")[0] == 0
    assert len(writes(sandbox)) == 2 and machine.report()["actions"] == []
    wish = '{"sleep_schedule_keep_awake": {"services": ["db"], "until": "3h"}}'
    assert machine.run("run", "nights", "-e", wish)[0] == 0
    assert machine.run("run", "nights")[0] == 0
    assert machine.statuses() == {"db": "ACTIVE", "web": "SUSPENDED", "other": "ACTIVE"}
    assert machine.run("run", "nights", "-e", '{"sleep_schedule_release": ["db"]}')[0] == 0
    assert machine.statuses()["db"] == "SUSPENDED"


def monthly_difference(sandbox: Sandbox) -> float:
    """Return what the services of the project cost less in a month while they sleep, by the platform."""
    items = sandbox.api("GET", "/api/resources").json()["items"]
    found = [sandbox.api("GET", f"/api/resources/{item['id']}").json()["pricing"] for item in items
             if item["name"] != "other"]  # fmt: skip
    return float(sum(each["monthlyMillicents"] - each["storageMonthlyMillicents"] for each in found) / 1000)


def test_a_run_that_fails_says_so(machine: SleepMachine) -> None:
    """One service does not keep the others from their sleep; what was known before stays known."""
    sandbox = machine.sandbox
    plan = {**NIGHTS, "services": ["other", "db"], "max_parallel": 1}
    del plan["project"]
    machine.install(plan).succeed()
    sandbox.fault("resources.suspend", "status", status=400)
    code, output = machine.run("run", "nights")
    assert code not in (0, 75), output
    report, told = machine.report(), machine.metrics()
    assert not report["ok"] and len(report["problems"]) == 1
    assert sorted(machine.statuses()[name] for name in ("db", "other")) == ["ACTIVE", "SUSPENDED"]
    assert sorted(told[f"service_failed {name}"] for name in ("db", "other")) == ["0", "1"]
    assert (told["run_problems"], told["success_timestamp_seconds"]) == ("1", "0")
    assert machine.run("run", "nights")[0] == 0
    good = machine.metrics()
    sandbox.fault("*", "status", status=401, count=None)
    assert machine.run("run", "nights")[0] not in (0, 75)
    sandbox.clear_faults()
    bad = machine.metrics()
    assert bad["success_timestamp_seconds"] == good["success_timestamp_seconds"] != "0"
    assert (bad["service_asleep db"], bad["saves_monthly"]) == ("1", good["saves_monthly"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "No Such Name"}, "needs a name of lowercase letters"),
        ({"project": ""}, "project is set but empty"),
        ({"services": []}, "services is set but empty"),
        ({"time_zone": " "}, "time_zone is set but empty"),
        ({"time_zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"services": ["no-such-service"]}, "no service is named no-such-service"),
    ],
)
def test_a_plan_that_cannot_work_is_not_switched_on(
    machine: SleepMachine, change: dict[str, Any], says: str
) -> None:
    """The error says why, and nothing runs it."""
    run = machine.install({**NIGHTS, **change})
    assert run.rc != 0 and says in run.stdout
    assert files(machine.folder / "units") == set()
    assert writes(machine.sandbox) == []


def test_a_refused_change_leaves_the_installed_plan(machine: SleepMachine) -> None:
    """The timer of before runs the plan of before, with not a byte changed."""
    machine.install(NIGHTS).succeed()
    before = contents(machine.folder / "etc") | contents(machine.folder / "units")
    other = {**NIGHTS, "name": "other", "services": ["other"]}
    del other["project"]
    run = machine.install({**NIGHTS, "services": ["db", "no-such-service"], "project": "shop"}, other)
    assert run.rc != 0 and "plans that were installed before go on as they were" in run.stdout
    assert contents(machine.folder / "etc") | contents(machine.folder / "units") == before
    assert machine.run("run", "nights")[0] == 0
    assert machine.statuses() == {"db": "SUSPENDED", "web": "SUSPENDED", "other": "ACTIVE"}
    machine.install({**NIGHTS, "services": ["db"]}).succeed()
    assert files(machine.folder / "bin") == {"hosted-sleep"}
    assert "services:" in (machine.folder / "etc" / "nights.yml").read_text()
    assert files(machine.folder / "etc") == {"environment", "nights.yml", "token", "token.sha256"}


def test_a_refused_change_leaves_the_token_and_the_command(machine: SleepMachine) -> None:
    """Else the plan of before could not run any more, or would run on the account of the refused one."""
    sandbox, elsewhere = machine.sandbox, "token-of-another-account"
    game = {"name": "elsewhere", "product": "minecraft", "account": "account-other"}
    sandbox.seed({"services": [game], "tokens": [{"id": elsewhere, "account": "account-other"}]})
    plan = {"name": "nights", "family": "GAME", "awake": [], "wait_timeout": 20}
    machine.install(plan).succeed()
    folders = [machine.folder / name for name in ("etc", "bin", "units", "metrics", "rules")]
    before = [contents(folder) for folder in folders]
    changes: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({"sleep_schedule_token": "not-a-token"}, plan, "the token was not accepted"),
        ({"sleep_schedule_token": elsewhere}, {**plan, "services": ["no-such-service"]}, "no-such-service"),
        ({"sleep_schedule_base_url": "http://127.0.0.1:9"}, {**plan, "name": "other"}, "127.0.0.1:9"),
        ({"sleep_schedule_ansible_playbook": "/no/such/program"}, plan, "came to no end"),
    ]
    for variables, other, says in changes:
        run = machine.install(other, **variables)
        assert run.rc != 0 and says in run.stdout, run.stdout
        assert "plans that were installed before go on as they were" in run.stdout
        assert [contents(folder) for folder in folders] == before, variables
    sandbox.clear_journal()
    assert machine.run("run", "nights")[0] == 0
    states = {each["name"]: each["status"] for each in sandbox.control("GET", "/state")["records"]["service"]}
    assert states == {"db": "ACTIVE", "web": "SUSPENDED", "other": "SUSPENDED", "elsewhere": "ACTIVE"}
    assert writes(sandbox) == ["resources.suspend"] * 2


def test_what_a_killed_forecast_leaves_is_removed(machine: SleepMachine) -> None:
    """By the next run of the role, whatever that is to do: the environment holds the token meanwhile."""
    folder, kept = machine.folder, machine.folder / "kept"
    stopped = folder / "stopped"
    stopped.write_text(f"#!/bin/sh\nmkdir {kept} && cp -a {folder}/etc {folder}/bin {kept}\nexit 1\n")
    stopped.chmod(0o700)
    machine.install(NIGHTS, sleep_schedule_ansible_playbook=str(stopped))
    assert files(folder / "bin") == files(folder / "etc") == set()
    assert files(kept) == {"bin/hosted-sleep-", "etc/environment-", "etc/nights-.yml"}
    assert machine.sandbox.token in (kept / "etc" / "environment-").read_text()
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (kept / "etc").iterdir()}
    assert modes == {0o600}
    for last in ({"sleep_schedule_forecast": False}, {"sleep_schedule_state": "absent"}):
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        machine.install(NIGHTS, **last).succeed()
        assert [name for name in files(kept) if (folder / name).exists()] == []


def test_two_roles_on_one_machine(machine: SleepMachine) -> None:
    """Neither takes the files of the other for its own, even in the same folders."""
    machine.install(NIGHTS).succeed()
    before = files(machine.folder)
    play = """\
- hosts: localhost
  gather_facts: false
  roles: [hosted.services.backups]
"""
    folders = {
        f"backups_{name}_dir": str(machine.folder / folder)
        for name, folder in {
            "config": "etc", "state": "state", "bin": "bin", "unit": "units", "cron": "cron",
            "textfile": "metrics", "rules": "rules",
        }.items()
    }  # fmt: skip
    given = {**folders, "backups_scheduler": "systemd", "backups_activate": False}
    machine.ansible.playbook(play, variables={**given, "backups_state": "absent"}).succeed()
    assert files(machine.folder) >= before
