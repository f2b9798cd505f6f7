# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `drift_schedule`: what it installs, what its runs and its check report, and its alerts."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY
from integration.backup_machine import MADE
from integration.drift_machine import DriftMachine
from integration.test_backups_schedules import Systemd, processes

pytestmark = pytest.mark.night

SERVICES: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "games"},
    ]
}
RULES = REPOSITORY / "roles" / "drift_schedule" / "files" / "hosted-drift.rules.yml"
HOUR = 3600


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> DriftMachine:
    """A machine on which nothing is installed yet, and blueprints from which nothing differs."""
    sandbox.seed(SERVICES)
    return DriftMachine(tmp_path, sandbox)


def files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_is_installed_and_removed(machine: DriftMachine) -> None:
    """Units that systemd takes; a second installation changes nothing, and nothing is left at the end."""
    folder = machine.folder
    weekly = {"name": "shop", "blueprints": [str(machine.path("shop"))], "every": "weekly", "at": "05:30"}
    machine.install(machine.plan, weekly).succeed()
    assert machine.sandbox.journal() == [], "an installation asks the platform nothing"
    assert stat.S_IMODE((folder / "etc" / "token").stat().st_mode) == 0o600
    units = sorted((folder / "units").iterdir())
    assert [unit.name for unit in units] == [
        f"hosted-drift-{plan}.{kind}" for plan in ("all", "shop") for kind in ("service", "timer")
    ]
    if shutil.which("systemd-analyze"):
        subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=True)
    texts = "".join(unit.read_text() for unit in units)
    assert "OnCalendar=*-*-* 04:00:00\n" in texts and "OnCalendar=Sun *-*-* 05:30:00\n" in texts
    assert machine.sandbox.token not in texts + machine.command.read_text()
    installed = machine.metrics("hosted-drift.prom")
    assert installed["since_timestamp_seconds"] > "0"
    assert machine.run("run", "shop")[0] == 0
    machine.install(weekly).succeed()
    assert files(folder / "etc") == {"environment", "shop.yml", "token", "token.sha256"}
    assert "changed=0 " in machine.install(weekly).succeed().stdout
    machine.install(drift_schedule_state="absent").succeed()
    assert [name for name in ("etc", "state") if (folder / name).exists()] == []
    assert [name for kind in MADE for name in files(folder / kind)] == []
    assert files(machine.blueprints) == {"games.yml", "shop.yml"}


def test_from_systemd_to_cron_and_back(machine: DriftMachine) -> None:
    """One of them runs a plan, and never both; cron says nothing unless something differs."""
    systemd = Systemd(machine)
    settings: dict[str, Any] = {
        "drift_schedule_activate": True,
        "drift_schedule_booted_by_systemd": str(systemd.state),
        "drift_schedule_processes": str(processes(machine, "cron")),
    }
    plan, timer = {**machine.plan, "every": "hourly", "at": "00:17"}, "hosted-drift-all.timer"
    machine.install(plan, **settings).succeed()
    assert systemd.units() == [f"{timer}.active", f"{timer}.enabled"]
    machine.install(plan, drift_schedule_scheduler="cron", **settings).succeed()
    assert systemd.units() == [] and files(machine.folder / "units") == set()
    entry = (machine.folder / "cron" / "hosted-drift-all").read_text().splitlines()[-1]
    assert entry.startswith("17 * * * * ") and entry.endswith(f"{machine.command} run all --quiet --jitter 0")
    assert machine.run("run", "all", "--quiet", "--jitter", "0") == (0, "")
    machine.add_service()
    code, output = machine.run("run", "all", "--quiet", "--jitter", "0")
    assert code not in (0, 75) and "shop.yml: services.cache: 'cache'" in output
    machine.install(plan, **settings).succeed()
    assert systemd.units() == [f"{timer}.active", f"{timer}.enabled"]
    assert files(machine.folder / "cron") == set()


def test_runs_and_checks_tell_drift(machine: DriftMachine) -> None:
    """From the first run to the one after the drift is gone; nothing is written on the platform."""
    machine.ansible.environment["TZ"] = "Asia/Tokyo"
    machine.zone = "Asia/Tokyo"
    machine.install(machine.plan).succeed()
    assert machine.run("check", "all") == (3, "UNKNOWN: plan all has not run yet\n")
    began = int(time.time())
    code, output = machine.run("run", "all")
    assert code == 0 and "plan all: nothing differs in 2 files" in output
    report, told = machine.report(), machine.metrics()
    assert report["ok"] and not report["drifted"] and report["drifted_since"] == {}
    assert [Path(each["file"]).stem for each in report["files"]] == ["games", "shop"]
    assert began <= int(told["run_timestamp_seconds"]) <= time.time()
    assert told["success_timestamp_seconds"] == told["run_timestamp_seconds"]
    assert told["differences shop not_in_file"] == "0" and told["failed shop"] == "0"
    code, output = machine.run("check", "all")
    assert code == 0 and output.startswith(
        "OK: plan all, nothing differs in 2 files | differences=0;0;;0; age="
    )

    machine.add_service()
    assert machine.run("run", "all")[0] not in (0, 75)
    since = machine.report()["drifted_since"]
    assert list(since) == [str(machine.path("shop"))]
    told = machine.metrics()
    assert (told["differences shop not_in_file"], told["run_problems"]) == ("1", "0")
    assert told["success_timestamp_seconds"] == told["run_timestamp_seconds"], "it compared everything"
    code, output = machine.run("check", "all")
    assert code == 1 and output.startswith("WARNING: plan all, ") and "| differences=1;" in output
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since[str(machine.path("shop"))]))
    assert f"shop.yml: not as the platform has it since {moment} |" in output
    time.sleep(1.1)
    assert machine.run("run", "all")[0] not in (0, 75)
    assert machine.report()["drifted_since"] == since, "the first run that saw it counts"

    machine.path("shop").write_text(
        "project: shop\nservices: {db: {product: postgresql}, cache: {product: valkey}}\n"
    )
    assert machine.run("run", "all")[0] == 0
    assert machine.report()["drifted_since"] == {} and machine.run("check", "all")[0] == 0
    assert machine.sandbox.writes() == []


def test_a_run_that_cannot_compare_says_so(machine: DriftMachine) -> None:
    """The other files are compared all the same; what was known of the drift of one stays known."""
    machine.add_service()
    machine.install(machine.plan).succeed()
    machine.run("run", "all")
    before, good = machine.report(), machine.metrics()
    machine.path("games").write_text("project: games\nservcies: {}\n")
    time.sleep(1.1)
    assert machine.run("run", "all")[0] not in (0, 75)
    report, told = machine.report(), machine.metrics()
    assert not report["ok"] and "games.yml: not compared: " in report["problems"][0]
    assert (told["failed games"], told["failed shop"], told["run_problems"]) == ("1", "0", "1")
    assert told["success_timestamp_seconds"] == good["success_timestamp_seconds"]
    assert told["run_timestamp_seconds"] > good["run_timestamp_seconds"]
    code, output = machine.run("check", "all")
    assert code == 2 and output.startswith("CRITICAL: plan all, ") and len(output.splitlines()) == 1
    assert "did you mean 'services'?" in output and "shop.yml: not as the platform has it since" in output

    machine.sandbox.fault("*", "status", status=401, count=None)
    assert machine.run("run", "all")[0] not in (0, 75)
    report, told = machine.report(), machine.metrics()
    assert len(report["problems"]) == 2 and report["drifted_since"] == before["drifted_since"]
    assert told["drifted_since_timestamp_seconds shop"] == good["drifted_since_timestamp_seconds shop"]
    assert machine.run("check", "all")[0] == 2
    assert machine.sandbox.writes() == []


def test_a_check_sees_that_runs_have_stopped(machine: DriftMachine) -> None:
    """An hourly plan may be three hours old, and a daily one 26."""
    daily = {"name": "daily", "blueprints": [str(machine.path("shop"))]}
    machine.install({**machine.plan, "every": "hourly"}, daily).succeed()
    for plan in ("all", "daily"):
        assert machine.run("run", plan)[0] == 0
        path = machine.folder / "state" / f"{plan}.json"
        path.write_text(json.dumps({**machine.report(plan), "run": int(time.time()) - 4 * HOUR}))
    code, output = machine.run("check", "all")
    assert (code, output.partition(" | ")[0]) == (2, "CRITICAL: plan all, its last run was 4 h ago")
    assert machine.run("check", "daily")[0] == 0
    (machine.folder / "state" / "daily.json").write_text("cut o")
    assert machine.run("check", "daily")[0] == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"name": "No Such Name"}, "needs a name of lowercase letters"),
        ({"at": "24:00"}, "a time such as 02:00"),
        ({"blueprints": []}, "needs blueprints"),
        ({"blueprints": [""]}, "must be an absolute path"),
        ({"blueprints": ["shop.yml"]}, "must be an absolute path"),
        ({"blueprints": ["/srv/*/shop.yml"]}, "in the name of the file only"),
        ({"blueprints": ["/no/such/shop.yml"]}, "/no/such/shop.yml: no such file"),
        ({"blueprints": ["/no/such/*.yml"]}, "/no/such/*.yml: no such file"),
        ({"state_dir": ""}, "must be an absolute path"),
    ],
)
def test_a_plan_that_cannot_work_is_not_installed(
    machine: DriftMachine, change: dict[str, Any], says: str
) -> None:
    """The error says why, and nothing is written."""
    run = machine.install({**machine.plan, **change})
    assert run.rc != 0 and says in run.stdout, run.output
    assert files(machine.folder / "units") | files(machine.folder / "bin") == set()
    assert not (machine.folder / "etc").exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can look as another user")
def test_a_blueprint_that_the_user_of_the_runs_cannot_read(machine: DriftMachine) -> None:
    """Root can read everything, and the runs are not root's."""
    folder = machine.folder
    for path in (folder, *folder.parents[:-1]):
        path.chmod(path.stat().st_mode | 0o055)
    machine.path("shop").chmod(0o600)
    run = machine.install(machine.plan, drift_schedule_user="nobody")
    assert run.rc != 0
    assert f"for user nobody, {machine.path('shop')} cannot be read" in run.stdout
    assert files(folder / "bin") == set()
    machine.path("shop").chmod(0o644)
    machine.install(machine.plan, drift_schedule_user="nobody").succeed()
    assert "User=nobody\n" in (folder / "units" / "hosted-drift-all.service").read_text()


def test_the_records_of_the_machine_that_applies(machine: DriftMachine) -> None:
    """Who changed something is known from them alone."""
    records = machine.folder / "records"
    machine.path("shop").write_text("project: shop\nservices: {db: {product: postgresql, state: started}}\n")
    play = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - hosted.services.blueprint: {src: "{{ path }}", state_dir: "{{ records }}"}
"""
    machine.ansible.playbook(
        play, variables={"path": str(machine.path("shop")), "records": str(records)}
    ).succeed()
    machine.path("shop").write_text("project: shop\nservices: {db: {product: postgresql, state: stopped}}\n")
    blueprints = [str(machine.path("shop"))]
    machine.install(
        {"name": "all", "blueprints": blueprints},
        {"name": "known", "blueprints": blueprints, "state_dir": str(records)},
    ).succeed()
    for plan, changed_by in (("all", None), ("known", "file")):
        assert machine.run("run", plan)[0] not in (0, 75)
        [file] = machine.report(plan)["files"]
        assert [each["changed_by"] for each in file["differences"]] == [changed_by]


def test_files_of_others_stay(machine: DriftMachine) -> None:
    """A run does not write over a report that is not its own; the other roles leave the files alone."""
    machine.install(machine.plan).succeed()
    assert machine.run("run", "all")[0] == 0
    before = files(machine.folder)
    plays = "".join(
        f"- {{hosts: localhost, gather_facts: false, roles: [hosted.services.{role}]}}\n"
        for role in ("backups", "sleep_schedule")
    )
    folders = {"config": "etc", "state": "state", "bin": "bin", "unit": "units", "cron": "cron",
               "textfile": "metrics", "rules": "rules"}  # fmt: skip
    given = {
        f"{role}_{name}": value
        for role in ("backups", "sleep_schedule")
        for name, value in (
            *((f"{name}_dir", str(machine.folder / folder)) for name, folder in folders.items()),
            ("scheduler", "systemd"),
            ("activate", False),
            ("state", "absent"),
        )
    }
    machine.ansible.playbook(plays, variables=given).succeed()
    assert files(machine.folder) >= before
    (machine.folder / "state" / "all.json").write_text("{}")
    code, output = machine.run("run", "all")
    assert code not in (0, 75) and "all.json: not written by this role, so it stays" in output
    assert (machine.folder / "state" / "all.json").read_text() == "{}"


@pytest.mark.skipif(not shutil.which("promtool"), reason="not installed: promtool")
def test_prometheus_takes_the_metrics(machine: DriftMachine) -> None:
    """Also those of a file whose name has to be escaped, and of one that could not be compared."""
    machine.path('quo"te').write_text("{}")
    shutil.copy(machine.path("shop"), machine.path('more "quotes"'))
    machine.add_service()
    machine.install(machine.plan).succeed()
    machine.run("run", "all")
    for name in ("hosted-drift-all.prom", "hosted-drift.prom"):
        metrics = (machine.folder / "metrics" / name).read_text()
        done = subprocess.run(
            ["promtool", "check", "metrics"], input=metrics, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr + metrics


# --- The alerts ---------------------------------------------------------------------------------------

INSTALLED = {"hosted_drift_since_timestamp_seconds": HOUR, "hosted_drift_max_age_seconds": 26 * HOUR}
HOURS = 6 * 24


def series(hours_of: Mapping[str, Mapping[int, int]], instance: str) -> list[dict[str, str]]:
    """Return metrics as Prometheus has them, for promtool: each has the value that was written last."""
    found = []
    for name, written in hours_of.items():
        values, last = [], "_"
        for hour in range(HOURS):
            last = str(written[hour]) if hour in written else last
            values.append("stale" if last == "-1" else last)
        label = ',file="/srv/shop.yml"' if "drifted" in name else ""
        labels = f'job="node",instance="{instance}",plan="all"{label}'
        found.append({"series": f"{name}{{{labels}}}", "values": " ".join(values)})
    return found


def nights(good: range, failed: range = range(0), drifted: Mapping[int, int] | None = None) -> Any:
    """Return what the text files hold: runs at three in the night of these days, and the moments of drift."""
    runs = {day * 24 + 3: (day * 24 + 3) * HOUR for day in (*good, *failed)}
    success = {hour: moment if hour // 24 in good else 0 for hour, moment in runs.items()}
    for hour in [hour for hour in runs if hour // 24 in failed]:
        success[hour] = max((success[before] for before in success if before < hour), default=0)
    return {
        **{name: {1: value} for name, value in INSTALLED.items()},
        "hosted_drift_run_timestamp_seconds": runs,
        "hosted_drift_success_timestamp_seconds": success,
        "hosted_drift_drifted_since_timestamp_seconds": drifted or {},
    }


def raised(folder: Path, hours_of: Any, expected: Mapping[int, set[str]]) -> None:
    """Let promtool see which alerts fire at these hours; one beside it, where all is well, raises none."""
    tests = [
        {
            "expr": 'group by (alertname, instance) (ALERTS{alertstate="firing"})',
            "eval_time": f"{hour}h",
            "exp_samples": [
                {"labels": f'{{alertname="HostedDrift{name}", instance="here"}}', "value": 1}
                for name in sorted(names)
            ],
        }
        for hour, names in expected.items()
    ]
    there = [each for each in series(nights(range(6)), "there") if "drifted" not in each["series"]]
    inputs = series(hours_of, "here") + there
    test = {"interval": "1h", "input_series": inputs, "promql_expr_test": tests}
    suite = {"rule_files": [str(RULES)], "evaluation_interval": "1h", "tests": [test]}
    (folder / "test.yml").write_text(yaml.safe_dump(suite))
    done = subprocess.run(
        ["promtool", "test", "rules", "test.yml"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not shutil.which("promtool"), reason="not installed: promtool")
def test_alerts(tmp_path: Path) -> None:
    """Over six days: none where all is well, and each where it belongs and at no other time."""
    done = subprocess.run(["promtool", "check", "rules", RULES], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    raised(tmp_path, nights(range(6)), {hour: set() for hour in range(HOURS)})
    drift = {27: 27 * HOUR, 75: -1}  # seen in the second night, gone in the fourth
    raised(tmp_path, nights(range(6), drifted=drift), {30: set(), 34: {""}, 74: {""}, 76: set()})
    never = {20: set[str](), 28: {"DoesNotRun", "ComparisonFails"}}
    raised(tmp_path, nights(range(0)), never)
    both = {"DoesNotRun", "ComparisonFails"}
    raised(tmp_path, nights(range(2)), {52: set(), 54: both, 100: both})
    fails = {"ComparisonFails"}
    raised(tmp_path, nights(range(1), range(1, 6)), {28: set(), 30: fails, 130: fails})
    raised(tmp_path, nights(range(0), range(6)), {26: set(), 28: fails})
