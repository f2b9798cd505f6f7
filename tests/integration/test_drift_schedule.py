# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `drift_schedule`: what its runs and its check report."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import DriftMachine

pytestmark = pytest.mark.night

SERVICES: dict[str, Any] = {
    "services": [
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "games"},
    ]
}
HOUR = 3600


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> DriftMachine:
    """A machine on which nothing is installed yet, and blueprints from which nothing differs."""
    sandbox.seed(SERVICES)
    return DriftMachine(tmp_path, sandbox)


def test_runs_and_checks_tell_drift(machine: DriftMachine) -> None:
    """From the first run to the one after the drift is gone; nothing is written on the platform."""
    machine.zone = "Asia/Tokyo"
    machine.install(machine.plan).succeed()
    assert machine.run("check", "all") == (3, "UNKNOWN: plan all has not run yet\n")
    began = int(time.time())
    code, output = machine.run("run", "all")
    assert code == 0 and "plan all: nothing differs in 2 files" in output
    report, told = machine.report(), machine.metrics()
    assert report["ok"] and not report["drifted"] and report["drifted_since"] == {}
    assert [Path(each["file"]).stem for each in report["files"]] == ["games", "shop"]
    assert began <= told["run_timestamp_seconds"] <= time.time()
    assert told["success_timestamp_seconds"] == told["run_timestamp_seconds"]
    assert told["differences shop not_in_file"] == told["failed shop"] == 0
    code, output = machine.run("check", "all")
    assert code == 0 and output.startswith(
        "OK: plan all, nothing differs in 2 files | differences=0;0;;0; age="
    )

    machine.add_service()
    assert machine.run("run", "all")[0] not in (0, 75)
    since = machine.report()["drifted_since"]
    assert list(since) == [str(machine.path("shop"))]
    told = machine.metrics()
    assert (told["differences shop not_in_file"], told["run_problems"]) == (1, 0)
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
    """The other files are compared all the same; what was known of the drift of one stays known.

    Prometheus takes the metrics, also of files whose names have to be escaped.
    """
    machine.add_service()
    machine.install(machine.plan).succeed()
    machine.run("run", "all")
    before, good = machine.report(), machine.metrics()
    shutil.copy(machine.path("games"), machine.path('more "quotes"'))
    machine.path("games").write_text("project: games\nservcies: {}\n")
    time.sleep(1.1)
    assert machine.run("run", "all")[0] not in (0, 75)
    report, told = machine.report(), machine.metrics()
    for file in (machine.folder / "metrics").iterdir() if shutil.which("promtool") else ():
        subprocess.run(["promtool", "check", "metrics"], input=file.read_text(), text=True, check=True)
    assert not report["ok"] and "games.yml: not compared: " in report["problems"][0]
    assert (told["failed games"], told["failed shop"], told["run_problems"]) == (1, 0, 1)
    assert told["success_timestamp_seconds"] == good["success_timestamp_seconds"]
    assert told["run_timestamp_seconds"] > good["run_timestamp_seconds"]
    code, output = machine.run("check", "all")
    assert code == 2 and output.startswith("CRITICAL: plan all, ") and len(output.splitlines()) == 1
    assert "did you mean 'services'?" in output and "shop.yml: not as the platform has it since" in output

    machine.sandbox.fault("*", "status", status=401, count=None)
    assert machine.run("run", "all")[0] not in (0, 75)
    report, told = machine.report(), machine.metrics()
    assert len(report["problems"]) == 3 and report["drifted_since"] == before["drifted_since"]
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
    assert machine.contents() == {}
    machine.path("shop").chmod(0o644)
    machine.install(machine.plan, drift_schedule_user="nobody").succeed()
    assert "User=nobody\n" in (folder / "units" / "hosted-drift-all.service").read_text()


def test_the_records_of_the_machine_that_applies(machine: DriftMachine) -> None:
    """Who changed something is known from them alone."""
    records, shop = machine.folder / "records", machine.path("shop")
    shop.write_text("project: shop\nservices: {db: {product: postgresql, state: started}}\n")
    machine.ansible.tasks(
        f"- hosted.services.blueprint: {{src: '{shop}', state_dir: '{records}'}}\n"
    ).succeed()
    shop.write_text("project: shop\nservices: {db: {product: postgresql, state: stopped}}\n")
    plan = {"name": "all", "blueprints": [str(shop)]}
    machine.install(plan, {**plan, "name": "known", "state_dir": str(records)}).succeed()
    for name, changed_by in (("all", None), ("known", "file")):
        assert machine.run("run", name)[0] not in (0, 75)
        [file] = machine.report(name)["files"]
        assert [each["changed_by"] for each in file["differences"]] == [changed_by]
