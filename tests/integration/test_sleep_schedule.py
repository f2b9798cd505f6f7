# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `sleep_schedule`: what it says it will save, and what its runs do and report."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTS, SleepMachine, contents

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


def writes(sandbox: Sandbox) -> list[str]:
    """Return which routes were called that write, in their order."""
    return [line["route"] for line in sandbox.journal() if line["method"] != "GET"]


def test_runs_do_what_the_clock_says(machine: SleepMachine) -> None:
    """In the order of the references, once; the report and the metrics say so, and people are respected.

    What it saves is forecast before anything is switched on.
    """
    sandbox = machine.sandbox
    run = machine.install(NIGHTS).succeed()
    assert writes(sandbox) == [], "a forecast changes nothing"
    tasks = [outcome.name.rpartition(" : ")[2] for outcome in run.outcomes]
    assert tasks.index("Show what each plan saves") < tasks.index("Write the timers")
    assert "plan nights would save " in run.stdout and " in an average month with 2 services" in run.stdout
    machine.good("run", "nights")
    assert machine.statuses() == {"db": "SUSPENDED", "web": "SUSPENDED", "other": "ACTIVE"}
    assert writes(sandbox) == ["resources.suspend"] * 2
    report, told = machine.report(), machine.metrics()
    assert report["ok"] and [action.split("'")[1] for action in report["actions"]] == ["web", "db"]
    assert (told["services"], told["awake"], told["run_problems"]) == (2, 0, 0)
    assert (told["service_asleep db"], told["service_asleep web"]) == (1, 1)
    assert (told["service_failed db"], told["service_delayed db"]) == (0, 0)
    assert told["saves_monthly"] == float(report["state"]["saves_monthly"]) > 0
    assert told["saved"] == 0 and told["success_timestamp_seconds"] == told["run_timestamp_seconds"]
    assert told["saves_monthly"] == pytest.approx(monthly_difference(sandbox), abs=0.01)

    machine.good("run", "nights")
    assert len(writes(sandbox)) == 2 and machine.report()["actions"] == []
    wish = '{"sleep_schedule_keep_awake": {"services": ["db"], "until": "3h"}}'
    machine.good("run", "nights", "-e", wish)
    machine.good("run", "nights")
    assert machine.statuses() == {"db": "ACTIVE", "web": "SUSPENDED", "other": "ACTIVE"}
    machine.good("run", "nights", "-e", '{"sleep_schedule_release": ["db"]}')
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
    machine.bad("run", "nights")
    report, told = machine.report(), machine.metrics()
    assert not report["ok"] and len(report["problems"]) == 1
    assert sorted(machine.statuses()[name] for name in ("db", "other")) == ["ACTIVE", "SUSPENDED"]
    assert sorted(told[f"service_failed {name}"] for name in ("db", "other")) == [0, 1]
    assert (told["run_problems"], told["success_timestamp_seconds"]) == (1, 0)
    machine.good("run", "nights")
    good = machine.metrics()
    sandbox.fault("*", "status", status=401, count=None)
    machine.bad("run", "nights")
    sandbox.clear_faults()
    bad = machine.metrics()
    assert bad["success_timestamp_seconds"] == good["success_timestamp_seconds"] != 0
    assert (bad["service_asleep db"], bad["saves_monthly"]) == (1, good["saves_monthly"])


def test_a_refused_change_leaves_the_installed_plan(machine: SleepMachine) -> None:
    """With not a byte of it changed: else it could not run any more, or would run on another account."""
    sandbox, elsewhere = machine.sandbox, "token-of-another-account"
    game = {"name": "elsewhere", "product": "minecraft", "account": "account-other"}
    sandbox.seed({"services": [game], "tokens": [{"id": elsewhere, "account": "account-other"}]})
    plan = {"name": "nights", "family": "GAME", "awake": [], "wait_timeout": 20}
    machine.install(plan).succeed()
    before = machine.contents()
    unknown = {**plan, "services": ["no-such-service"]}
    changes: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
        ([unknown, {**plan, "name": "other"}], {}, "no-such-service"),
        ([plan], {"sleep_schedule_token": "not-a-token"}, "the token was not accepted"),
        ([unknown], {"sleep_schedule_token": elsewhere}, "no-such-service"),
        ([{**plan, "name": "other"}], {"sleep_schedule_base_url": "http://127.0.0.1:9"}, "127.0.0.1:9"),
        ([plan], {"sleep_schedule_ansible_playbook": "/no/such/program"}, "came to no end"),
    ]
    for plans, variables, says in changes:
        run = machine.install(*plans, **variables)
        assert run.rc != 0 and says in run.stdout, run.stdout
        assert "plans that were installed before go on as they were" in run.stdout
        assert machine.contents() == before, variables
    sandbox.clear_journal()
    machine.good("run", "nights")
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
    assert machine.contents() == {}
    left = contents(kept)
    assert set(left) == {"bin/hosted-sleep-", "etc/environment-", "etc/nights-.yml"}
    assert machine.sandbox.token in left["etc/environment-"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (kept / "etc").iterdir()} == {0o600}
    for last in ({"sleep_schedule_forecast": False}, {"sleep_schedule_state": "absent"}):
        shutil.copytree(kept, folder, dirs_exist_ok=True)
        run = machine.install(NIGHTS, **last).succeed()
        assert not set(left) & set(machine.contents())
    assert "Services that are suspended stay so" in run.stdout
