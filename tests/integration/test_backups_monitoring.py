# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups` among monitoring: what real runs and checks tell Prometheus and Nagios."""

from __future__ import annotations

import json
import re
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PROFILE
from integration.backup_machine import NIGHTLY, BackupMachine
from integration.database_servers import free_port

pytestmark = pytest.mark.night

NAME = 'it\'s "a|b"\nc = \\d'
QUICK = {**NIGHTLY, "wait_timeout": 20}


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    """A machine, and one service in the project of its plan."""
    sandbox.seed({"services": [{"name": NAME, "product": "minecraft", "project": "web"}]})
    return BackupMachine(tmp_path, sandbox)


def metrics(machine: BackupMachine, file: str = "hosted-backup-nightly.prom") -> dict[str, int]:
    """Return the values of a text file by name, and of those of services by the name of the metric."""
    lines = (machine.folder / "metrics" / file).read_text().splitlines()
    return {
        line.split("{")[0].removeprefix("hosted_backup_"): int(line.rpartition(" ")[2])
        for line in lines
        if not line.startswith("#")
    }


def named_moment(name: str) -> int:
    """Return the moment that the name of a backup or of a copy tells, in the case that the platform keeps."""
    moment = datetime.strptime(name.upper(), "NIGHTLY-%Y%m%dT%H%M%SZ")
    return int(moment.replace(tzinfo=UTC).timestamp())


def open_key(machine: BackupMachine) -> str:
    """Make an SSH key and register it, so that it opens SFTP; return where it is."""
    key = machine.folder / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    public = key.with_suffix(".pub").read_text()
    machine.sandbox.api("POST", "/api/users/me/ssh-keys", {"name": "k", "publicKey": public})
    return str(key)


@pytest.mark.parametrize("zone", ["America/New_York", "UTC", "Asia/Kolkata"])
def test_moments_in_every_time_zone(machine: BackupMachine, zone: str) -> None:
    """Seconds since 1970 are those of Greenwich, and a line is one line, whatever the name of the service.

    So are the names of backups and copies, which tell how old a copy is, and the end of a run in its report.
    """
    machine.zone = zone
    machine.copies = False
    begun = int(time.time())
    offsite = {"dest": str(machine.folder / "shelf"), "private_key_file": open_key(machine)}
    machine.install({**QUICK, "offsite": offsite}).succeed()
    code, output = machine.run("run", "nightly")
    assert code == 0, output
    code, line = machine.run("check", "nightly")
    ended = int(time.time())
    assert code == 0, line
    name, limits = r"it''s \"a/b\" c _ \\d", r"(\d+)s;93600;180000;0;"
    found = re.fullmatch(
        "OK: plan nightly, 1 services, the oldest backup of all is 0 h old "
        rf"\| '{name}'={limits} '{name} off-site'={limits}\n",
        line,
    )
    assert found is not None, line
    assert 0 <= int(found[1]) <= ended - begun and 0 <= int(found[2]) <= ended - begun
    told = metrics(machine)
    (service,) = machine.sandbox.api("GET", "/api/resources").json()["items"]
    (backup,) = machine.backups(service["id"])
    made = datetime.strptime(backup["createdAt"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=UTC)
    assert told["newest_timestamp_seconds"] == int(made.timestamp())
    (copy,) = (machine.folder / "shelf" / service["id"]).glob("nightly-*")
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    for named in (report["name"], backup["name"], copy.name):
        assert named_moment(named) == told["offsite_timestamp_seconds"]
    finished = datetime.strptime(report["finished"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    for moment in (
        told["run_timestamp_seconds"],
        told["success_timestamp_seconds"],
        told["offsite_timestamp_seconds"],
        int(finished.timestamp()),
    ):
        assert begun <= moment <= ended
    assert begun <= metrics(machine, "hosted-backup.prom")["since_timestamp_seconds"] <= ended
    labels = r'service="it' + "'" + r's \"a|b\"\nc = \\d"'
    assert labels in (machine.folder / "metrics" / "hosted-backup-nightly.prom").read_text()


def test_off_site_copies_that_fail(machine: BackupMachine) -> None:
    """The backups are fresh, and the check is critical all the same; it names the service and the reason."""
    (machine.folder / "key").write_text("no key\n")
    offsite = {"dest": str(machine.folder / "shelf"), "private_key_file": str(machine.folder / "key")}
    machine.install({**QUICK, "offsite": offsite}).succeed()
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL"), line
    assert "c = \\d has no off-site copy" in line and "went wrong: " in line and "off-site: " in line
    assert line.count("\n") == 1 and line.count("|") == 1
    told = metrics(machine)
    assert (told["fresh"], told["offsite_timestamp_seconds"], told["run_problems"]) == (1, 0, 1)


def test_a_service_that_stops_offering_backups_is_named(machine: BackupMachine) -> None:
    """In the words and report of a run, in the check, and in the metrics, with its age."""
    (service,) = machine.sandbox.api("GET", "/api/resources").json()["items"]
    machine.sandbox.seed({"services": [{"name": "two", "product": "linux", "project": "web"}]})
    machine.install(QUICK).succeed()
    assert machine.run("run", "nightly")[0] == 0
    machine.sandbox.operator(f"services/{service['id']}", status="FAILED")
    code, output = machine.run("run", "nightly")
    assert code == 0 and "left out, as they offer no backups: it's" in output.replace("\\", ""), output
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    assert report["left_out"] == [NAME]
    code, line = machine.run("check", "nightly")
    assert code == 1 and "is left out, as it offers no backups" in line
    text = (machine.folder / "metrics" / "hosted-backup-nightly.prom").read_text()
    (newest,) = re.findall(rf'newest_timestamp_seconds{{.*"{re.escape(service["id"])}"}} (\d+)', text)
    assert int(newest) > 0 and "hosted_backup_left_out{" in text


def test_a_run_that_was_refused_says_so(machine: BackupMachine) -> None:
    """What was known of the services stays, and the check warns as long as no run went well."""
    machine.install({**QUICK, "after": ["test ! -e fail"]}).succeed()
    assert machine.run("run", "nightly")[0] == 0
    good = metrics(machine)
    machine.sandbox.fault("*", "status", status=401, count=None)
    assert machine.run("run", "nightly")[0] not in (0, 75)
    machine.sandbox.clear_faults()
    bad = metrics(machine)
    assert bad["run_problems"] == 1 and bad["run_timestamp_seconds"] > good["run_timestamp_seconds"]
    for name in ("newest_timestamp_seconds", "success_timestamp_seconds"):
        assert bad[name] == good[name]
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (1, "WARNING"), line
    assert re.search(r"in the run of \S+Z went wrong: Back up the services: ", line)


def test_a_run_that_finds_no_platform_says_so(machine: BackupMachine) -> None:
    """Nobody listens at its address. The run and its problem are counted, and what was known stays."""
    machine.install(QUICK).succeed()
    assert machine.run("run", "nightly")[0] == 0
    good = metrics(machine)
    environment = machine.folder / "etc" / "environment"
    there, gone = machine.sandbox.base_url, f"http://127.0.0.1:{free_port()}"
    assert there in environment.read_text()
    environment.write_text(environment.read_text().replace(there, gone))
    machine.sandbox.clear_journal()
    begun = int(time.time())
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75) and "Connection refused" in output, output
    assert machine.sandbox.journal() == []
    bad = metrics(machine)
    assert bad["run_problems"] == 1 and begun <= bad["run_timestamp_seconds"] <= int(time.time())
    for name in ("newest_timestamp_seconds", "success_timestamp_seconds", "services"):
        assert bad[name] == good[name]
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    (problem,) = report["problems"]
    assert not report["ok"] and problem.startswith("Back up the services: ") and gone in problem
    code, line = machine.run("check", "nightly")
    assert code == 3 and line.startswith("UNKNOWN: ") and "Connection refused" in line, line
    environment.write_text(environment.read_text().replace(gone, there))
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (1, "WARNING"), line
    assert re.search(r"in the run of \S+Z went wrong: Back up the services: ", line)


def test_what_is_installed_for_prometheus(machine: BackupMachine) -> None:
    """The limits of each plan, since when it is there, and the rules; all of it goes with the rest."""
    weekly: dict[str, Any] = {**QUICK, "name": "weekly", "every": "weekly", "critical_age": "1m1d"}
    machine.install(QUICK).succeed()
    file = machine.folder / "metrics" / "hosted-backup.prom"
    file.write_text(re.sub(r"(since.*}) \d+", r"\1 12345", file.read_text()))
    machine.install(QUICK, weekly).succeed()
    text = file.read_text()
    assert 'hosted_backup_since_timestamp_seconds{plan="nightly"} 12345\n' in text
    assert re.search(r'since_timestamp_seconds{plan="weekly"} \d{10}\n', text)
    for name, plan, hours in (
        ("max", "nightly", 26),
        ("critical", "nightly", 50),
        ("max", "weekly", 8 * 24),
        ("critical", "weekly", 31 * 24),
    ):
        assert f'hosted_backup_{name}_age_seconds{{plan="{plan}"}} {hours * 3600}\n' in text
    rules = machine.folder / "rules" / "hosted-backup.rules.yml"
    assert "alert: HostedBackupNeverSucceeds" in rules.read_text()
    machine.install(backups_state="absent").succeed()
    assert not file.exists() and not rules.exists()


def test_a_check_that_cannot_be_made_is_one_line(machine: BackupMachine) -> None:
    """A name that is none opens no other file, and nothing in a reason begins performance data."""
    machine.install(QUICK).succeed()
    for plan in ("../etc/nightly", "a|b", "night\nly"):
        code, line = machine.run("check", plan)
        assert code == 3 and line.startswith("UNKNOWN: ") and line.count("\n") == 1 and "|" not in line, line
    (machine.folder / "etc" / "nightly.yml").write_text("- 'a | b'\n")
    code, line = machine.run("check", "nightly")
    assert code == 3 and line.count("\n") == 1 and "|" not in line, line


def test_services_that_are_asleep_are_left_out(machine: BackupMachine) -> None:
    """By their capabilities: no alarm, however the plan selects them, and no backup is asked for."""
    sandbox = machine.sandbox
    (service,) = sandbox.api("GET", "/api/resources").json()["items"]
    by_name = {**QUICK, "name": "named", "services": [NAME]}
    machine.install(QUICK, by_name).succeed()
    for plan in ("nightly", "named"):
        assert machine.run("run", plan)[0] == 0
    sandbox.profile(PROFILE, **{"suspended.capabilities": "logs"})
    sandbox.api("POST", f"/api/resources/{service['id']}/suspend")
    sandbox.clock(advance=2)  # it may take a second
    sandbox.clear_journal()
    for plan in ("nightly", "named"):
        code, output = machine.run("run", plan)
        assert code == 0 and "asleep, so left out: it's" in output.replace("\\", ""), output
        report = json.loads((machine.folder / "state" / f"{plan}.json").read_text())
        assert (report["ok"], report["asleep"], report["left_out"]) == (True, [NAME], [])
        told = metrics(machine, f"hosted-backup-{plan}.prom")
        assert told["run_problems"] == 0 and told["newest_timestamp_seconds"] > 0
        assert told["asleep_timestamp_seconds"] > 0 and "left_out" not in told
        code, line = machine.run("check", plan)
        assert (code, line) == (0, f"OK: plan {plan}, all 1 services are asleep\n")
    assert sandbox.journal("backups.create") == []
    sandbox.profile(PROFILE, **{"suspended.capabilities": "files, logs, backups"})
    assert machine.run("run", "named")[0] == 0
    assert len(sandbox.journal("backups.create")) == 1, "one that offers backups while it sleeps gets them"


def test_a_name_that_a_service_in_service_has_is_not_asleep(machine: BackupMachine) -> None:
    """Names need not be unique: a newer service of the name would have no backup, and no alarm."""
    sandbox = machine.sandbox
    (service,) = sandbox.api("GET", "/api/resources").json()["items"]
    machine.install({**QUICK, "services": [NAME]}).succeed()
    sandbox.profile(PROFILE, **{"suspended.capabilities": "logs"})
    sandbox.api("POST", f"/api/resources/{service['id']}/suspend")
    sandbox.clock(advance=2)  # it may take a second
    sandbox.seed({"services": [{"name": NAME, "product": "minecraft", "project": "web"}]})
    sandbox.clear_journal()
    code, output = machine.run("run", "nightly")
    assert code != 0 and "2 services" in output and service["id"] in output, output
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    assert not report["ok"] and sandbox.journal("backups.create") == []
    code, line = machine.run("check", "nightly")
    assert code == 2 and "cannot be read" in line and "2 services are named" in line, line
