# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups` among monitoring: what real runs and checks tell Prometheus and Nagios."""

from __future__ import annotations

import re
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTLY, BackupMachine, DriftMachine, SleepMachine
from integration.database_servers import free_port

pytestmark = pytest.mark.night

NAME = 'it\'s "a|b"\nc = \\d'


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    """A machine, and one service in the project of its plan."""
    sandbox.seed({"services": [{"name": NAME, "product": "minecraft", "project": "web"}]})
    return BackupMachine(tmp_path, sandbox)


def test_off_site_copies_that_fail(machine: BackupMachine) -> None:
    """The backups are fresh, and the check is critical all the same; it names the service and the reason."""
    (machine.folder / "key").write_text("no key\n")
    offsite = {"dest": str(machine.folder / "shelf"), "private_key_file": str(machine.folder / "key")}
    machine.install({**NIGHTLY, "offsite": offsite}).succeed()
    machine.bad("run", "nightly")
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL"), line
    assert "c = \\d has no off-site copy" in line and "went wrong: " in line and "off-site: " in line
    assert line.count("\n") == 1 and line.count("|") == 1
    told = machine.metrics()
    assert (told["fresh"], told["offsite_timestamp_seconds"], told["run_problems"]) == (1, 0, 1)


def test_services_that_stop_offering_backups_are_named(machine: BackupMachine) -> None:
    """In the words and report of a run, in the check, and in the metrics; the plan says which ones may be.

    Lists are given as text: names are split at commas, and each is whole. A hook is a whole line.
    """
    names = ["web", "web-bucket", "other"]
    services = [{"name": name, "product": "minecraft", "project": "web"} for name in names]
    ids = machine.sandbox.seed({"services": services})["services"]
    log = machine.folder / "hooks"
    hooks = {name: f"echo {name}, of $BACKUP_PLAN >>{log}" for name in ("before", "after")}
    machine.install({**NIGHTLY, **hooks, "may_skip": "web-bucket, other"}).succeed()
    machine.good("run", "nightly")
    assert log.read_text() == "before, of nightly\nafter, of nightly\n"
    for name in names:
        machine.sandbox.operator(f"services/{ids[name]}", status="FAILED")
    output = machine.good("run", "nightly")
    assert "left out, as they offer no backups: web\n" in output.replace('"', "\n"), output
    assert machine.report()["left_out"] == ["web"]
    told = machine.metrics()
    assert [name for name in told if name.startswith("left_out ")] == ["left_out web"]
    assert told["newest_timestamp_seconds web"] > 0, "its age grows"
    code, line = machine.run("check", "nightly")
    assert code == 1 and "web is left out, as it offers no backups" in line
    assert "web-bucket is" not in line and "other is" not in line


def test_a_run_that_reaches_no_platform_says_so(machine: BackupMachine) -> None:
    """It is refused, or nobody listens there. What was known stays, and the check warns as long."""
    sandbox, environment = machine.sandbox, machine.folder / "etc" / "environment"
    machine.install(NIGHTLY).succeed()
    machine.good("run", "nightly")
    good = machine.metrics()
    there, gone = sandbox.base_url, f"http://127.0.0.1:{free_port()}"
    for address, reason in ((there, ""), (gone, "Connection refused")):
        environment.write_text(environment.read_text().replace(there, address))
        sandbox.fault("*", "status", status=401, count=None)
        sandbox.clear_journal()
        begun = int(time.time())
        output = machine.bad("run", "nightly")
        assert reason in output, output
        assert (sandbox.journal() == []) == (address == gone)
        bad = machine.metrics()
        assert bad["run_problems"] == 1 and begun <= bad["run_timestamp_seconds"] <= int(time.time())
        for name in ("newest_timestamp_seconds", "success_timestamp_seconds", "services"):
            assert bad[name] == good[name]
        (problem,) = machine.report()["problems"]
        assert problem.startswith("Back up the services: ") and (address == there or gone in problem)
        code, line = machine.run("check", "nightly")
        assert code == 3 and line.startswith("UNKNOWN: "), line
        sandbox.clear_faults()
        environment.write_text(environment.read_text().replace(gone, there))
        code, line = machine.run("check", "nightly")
        assert (code, line.split(":")[0]) == (1, "WARNING"), line
        assert re.search(r"in the run of \S+Z went wrong: Back up the services: ", line)


def test_a_plan_that_selects_no_service_is_an_alarm(machine: BackupMachine) -> None:
    """In the exit codes of run and check, by the hook, and in the metrics; unless it says that it may."""
    machine.sandbox.reset()
    machine.sandbox.seed({"projects": ["web"]})
    log = machine.folder / "hooks"
    hooks = {"after": [f"echo after >>{log}"], "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}
    plan = {**NIGHTLY, **hooks}
    text = {**plan, "name": "text", "allow_empty": "false"}
    machine.install(plan, text, {**plan, "name": "empty", "allow_empty": True}).succeed()
    for name in ("nightly", "text"):
        output = machine.bad("run", name)
        assert "selects no service" in output, output
        told = machine.metrics(f"hosted-backup-{name}.prom")
        assert (told["run_problems"], told["services"]) == (1, 0)
        code, line = machine.run("check", name)
        assert (code, line.split(":")[0]) == (2, "CRITICAL") and "selects no service" in line
    assert log.read_text().count("selects no service") == 2
    log.unlink()
    assert machine.run("run", "empty")[0] == 0 and log.read_text() == "after\n"
    assert machine.run("check", "empty") == (0, "OK: plan empty selects no service, as it may\n")


def test_a_check_that_cannot_be_made_is_one_line(machine: BackupMachine) -> None:
    """A name that is none opens no other file, and nothing in a reason begins performance data."""
    machine.install(NIGHTLY).succeed()
    for plan in ("../etc/nightly", "a|b", "night\nly"):
        code, line = machine.run("check", plan)
        assert code == 3 and line.startswith("UNKNOWN: ") and line.count("\n") == 1 and "|" not in line, line
    (machine.folder / "etc" / "nightly.yml").write_text("- 'a | b'\n")
    code, line = machine.run("check", "nightly")
    assert code == 3 and line.count("\n") == 1 and "|" not in line, line


# --- Runs that cannot begin -------------------------------------------------------------------------------


CAUSES = {
    "the disk of the state is not mounted": "mv state elsewhere",
    "Ansible does not start where its locale is not installed": "echo LC_ALL=xx_XX.UTF-8 >>etc/environment",
    "a disk is read-only or full": "rm -f state/nightly.lock && mkdir state/nightly.lock",
    "a file that every run reads is lost": "rm etc/environment",
    "the environment of Ansible was removed": "sed -i 's,^playbook=,&/nowhere,' bin/hosted-backup",
}
"""Commands that bring it about."""


@pytest.mark.parametrize("cause", CAUSES)
def test_a_run_that_cannot_begin_is_an_alarm(cause: str, machine: BackupMachine) -> None:
    """With its hooks and its metrics, by cron as well, and the check does not say that all is well."""
    machine.warm = "locale" not in cause  # a fork has looked at it before
    log = machine.folder / "log"
    hooks = ["exit 3", r"""echo "$BACKUP_PLAN: it's $BACKUP_ERROR" >>"$HOME/log" """]
    machine.install({**NIGHTLY, "on_failure": hooks}).succeed()
    machine.good("run", "nightly")
    assert machine.metrics()["run_problems"] == 0
    subprocess.run(["sh", "-euc", CAUSES[cause]], cwd=machine.folder, check=True)
    for times, quiet in enumerate(([], ["--quiet"]), 1):
        output = machine.bad("run", "nightly", *quiet)
        assert "plan nightly: " in output, output
        told = log.read_text().splitlines()
        assert len(told) == times and told[-1].startswith("nightly: it's "), told
        assert "a hook of on_failure ended with exit code 3" in output
    said = machine.metrics()
    assert said["run_problems"] == 1 and said["run_timestamp_seconds"] >= said["success_timestamp_seconds"]
    code, line = machine.run("check", "nightly")
    assert line.count("\n") == 1
    assert (code, line.split(":")[0]) == (3, "UNKNOWN") or "lock" in CAUSES[cause]


@pytest.mark.parametrize("kind", [SleepMachine, DriftMachine])
def test_the_metrics_of_the_other_plans_tell_it_too(
    kind: type[BackupMachine], tmp_path: Path, sandbox: Sandbox
) -> None:
    """Also before any run came to its end."""
    machine = kind(tmp_path, sandbox)
    sandbox.seed({"services": [{"name": "web", "product": "minecraft", "project": "shop"}]})
    machine.install(machine.plan).succeed()
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    machine.bad("run", str(machine.plan["name"]))
    (file,) = (tmp_path / "metrics").glob(f"*-{machine.plan['name']}.prom")
    problems = [line for line in file.read_text().splitlines() if "run_problems{" in line]
    assert [line.rpartition(" ")[2] for line in problems] == ["1"] and file.stat().st_mode & 0o777 == 0o644


def test_a_folder_for_scratch_that_is_gone_stops_no_run(machine: BackupMachine) -> None:
    """By cron neither, which mails what a run says. The check says that it could not be made."""
    environment: dict[str, Any] = {"backups_environment": {"TMPDIR": str(machine.folder / "nowhere")}}
    machine.install(NIGHTLY, **environment).succeed()
    assert machine.run("run", "nightly", "--quiet") == (0, "")
    code, line = machine.run("check", "nightly")
    assert (code, line.count("\n")) == (3, 1) and line.startswith("UNKNOWN: ") and "nowhere" in line, line
