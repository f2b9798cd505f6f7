# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups`: what a run does, what the check says, and which copies it leaves off-site."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PLAY_SECONDS, REPOSITORY
from integration.backup_machine import NIGHTLY, BackupMachine, tool
from integration.test_blueprint_killed import register_key
from unit.plugins.module_utils._resources.clones.platform import files as files_on

pytestmark = pytest.mark.night

SERVICES = {
    "services": [
        {"name": "one", "product": "minecraft", "project": "web", "files": {"world.dat": "x"}},
        {"name": "two", "product": "linux", "project": "web"},
    ]
}


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    return BackupMachine(tmp_path, sandbox)


def seed(sandbox: Sandbox) -> dict[str, str]:
    ids: dict[str, str] = sandbox.seed(SERVICES)["services"]
    return ids


def add(
    sandbox: Sandbox, service_id: str, age: timedelta, name: str = "nightly-20260101T020000Z", **given: str
) -> None:
    """Let there be a backup of the plan, so old."""
    made = (datetime.now(UTC) - age).isoformat()
    backup = {"name": name, "status": "COMPLETED", "created_at": made, **given}
    sandbox.operator(f"services/{service_id}/backups", **backup)


# --- Runs -----------------------------------------------------------------------------------------------


def test_a_run_where_nothing_was_installed(machine: BackupMachine) -> None:
    """The role makes the folder that its report goes to."""
    (one, *__) = seed(machine.sandbox).values()
    plan = {"backups_plan": NIGHTLY, "backups_state_dir": str(machine.folder / "new" / "state")}
    run = "- ansible.builtin.include_role: {name: hosted.services.backups, tasks_from: run}\n"
    machine.ansible.tasks(run, variables=plan).succeed()
    assert (machine.folder / "new" / "state" / "nightly.json").exists()
    assert len(machine.names(one)) == 1


def test_a_run_and_its_check(machine: BackupMachine) -> None:
    """Hooks, backups, retention, report, metrics; then every verdict that the check knows.

    Hooks may hold secrets, so no run and no installation shows one, not even in Base64.
    """
    sandbox, folder = machine.sandbox, machine.folder
    ids = seed(sandbox)
    one, two = ids["one"], ids["two"]
    for day in range(1, 5):
        add(sandbox, one, timedelta(days=day), f"nightly-2026010{day}T020000Z")
    add(sandbox, one, timedelta(days=9), "by-hand")
    log = folder / "hooks"
    hooks = {
        "before": [f"echo before >>{log}"],
        "after": [f"echo after >>{log}"],
        "on_failure": [f'echo "failed $BACKUP_PLAN: $BACKUP_ERROR" >>{log}'],
    }
    machine.ansible.environment["ANSIBLE_VERBOSITY"] = "2"
    shown = machine.install({**NIGHTLY, **hooks, "at": "02:30"}).succeed().output
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL"), line
    assert "two has no good backup" in line and line.count("\n") == 1

    output = machine.good("run", "nightly", "-vvvv")
    assert log.read_text().split() == ["before", "after"]
    assert len(machine.backups(one)) == 3 and "by-hand" in machine.names(one)
    assert len(machine.backups(two)) == 1
    report = machine.report()
    assert report["ok"] and len(report["services"]) == 2
    metrics = machine.metrics()
    assert metrics["newest_timestamp_seconds one"] and metrics["newest_timestamp_seconds two"]
    assert metrics["run_problems"] == 0
    code, line = machine.run("check", "nightly")
    fine = "OK: plan nightly, 2 services, the oldest backup of all is 0 h old"
    data = r" \| 'one'=\d+s;93600;180000;0; 'two'=\d+s;93600;180000;0;\n"
    assert code == 0 and re.fullmatch(fine + data, line), line
    assert sandbox.token not in output + line + json.dumps(report)

    for age, verdict in ((30, (1, "WARNING")), (60, (2, "CRITICAL"))):
        for id in (one, two):
            machine.delete_backups(id)
            add(sandbox, id, timedelta(hours=age))
        code, line = machine.run("check", "nightly")
        assert (code, line.split(":")[0]) == verdict
        assert f"one was last backed up {age} h ago" in line
    sandbox.fault("*", "status", status=401, count=None)
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (3, "UNKNOWN")
    assert line.count("\n") == 1
    code, failed = machine.run("run", "nightly")
    assert code not in (0, 75), failed
    assert "failed nightly: Back up the services: " in log.read_text()
    sandbox.clear_faults()
    assert machine.run("check", "no-such-plan")[0] == 3
    shown += output + failed + machine.install(NIGHTLY).succeed().output
    coded = [base64.b64decode(text + "==") for text in re.findall(r"[A-Za-z0-9+/]{60,}", shown)]
    assert str(log) not in shown and [text for text in coded if str(log).encode() in text] == []


def test_a_backup_that_is_refused(machine: BackupMachine) -> None:
    """Nothing of that service is thinned out, the other one is, and the run fails at the end.

    All hooks are run and told why, and known by their numbers alone.
    """
    sandbox, log = machine.sandbox, machine.folder / "hooks"
    ids = seed(sandbox)
    for id in ids.values():
        for day in range(1, 5):
            add(sandbox, id, timedelta(days=day), f"nightly-2026010{day}T020000Z")
    hooks = [
        f'echo "$BACKUP_PLAN: $BACKUP_ERROR" >>{log} # CANARY',
        "sh -c 'exit 3' CANARY",
        f"echo last >>{log}",
    ]
    machine.install({**NIGHTLY, "max_parallel": 1, "on_failure": hooks}).succeed()
    sandbox.fault("backups.create", "status", status=400)
    output = machine.bad("run", "nightly", "-vv")
    assert sorted(len(machine.backups(id)) for id in ids.values()) == [2, 4]
    report = machine.report()
    assert not report["ok"] and len(report["problems"]) == 1
    assert "hook 2 of on_failure ended with exit code 3" in output and "CANARY" not in output
    assert log.read_text().startswith("nightly: ") and log.read_text().endswith("\nlast\n")


def test_what_a_plan_cannot_mean_reaches_no_backup(machine: BackupMachine) -> None:
    """Whoever wrote its file: an empty project is not the whole account. The hook is told in any case."""
    one, log = seed(machine.sandbox)["one"], machine.folder / "hooks"
    machine.install({**NIGHTLY, "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}).succeed()
    plan = machine.folder / "etc" / "nightly.yml"
    written, quotes = plan.read_text(), "'" * 20_000  # each takes many bytes of a command
    for text, says in (
        (written.replace("project: web", "project: ''"), "needs a name"),
        (written.replace("keep:\n", f'keep:\n        within: "{quotes}"\n'), quotes[:4000]),
    ):
        plan.write_text(text)
        machine.bad("run", "nightly")
        assert 'Plan "nightly" cannot be used' in log.read_text() and says in log.read_text()
        log.unlink()
    assert machine.sandbox.writes() == [] and machine.names(one) == []


def test_a_foreign_report_in_the_way_is_not_overwritten(machine: BackupMachine) -> None:
    """The run backs up, and says at the end that it could not report there, to its hooks as well."""
    one, log = seed(machine.sandbox)["one"], machine.folder / "hooks"
    machine.install({**NIGHTLY, "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}).succeed()
    foreign = ("state/nightly.json", "metrics/hosted-backup-nightly.prom")
    for name in foreign:
        (machine.folder / name).write_text("of somebody else\n")
    machine.bad("run", "nightly")
    assert len(machine.names(one)) == 1
    assert "not written by this role, so it stays" in log.read_text()
    for name in foreign:
        assert (machine.folder / name).read_text() == "of somebody else\n" and name in log.read_text()


def test_a_lock_that_cannot_be_taken_is_a_failure(
    machine: BackupMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no other run, which alone lets this one step aside in silence."""
    machine.install(NIGHTLY).succeed()
    machine.sandbox.clear_journal()
    for code in (1, 127):
        monkeypatch.setenv("PATH", tool(machine.folder / "tools", "flock", f"exit {code}"))
        ended, output = machine.run("run", "nightly", "--quiet")
        assert ended == 1 and f"cannot be locked (flock ended with exit code {code})" in output
    assert machine.sandbox.journal() == []
    monkeypatch.setenv("PATH", tool(machine.folder / "tools", "flock", "exit 75"))
    assert machine.run("run", "nightly", "--quiet") == (75, "")


def test_two_runs_at_once(machine: BackupMachine) -> None:
    """One of the same plan steps aside and says so; one of another waits, as plans may share a service."""
    sandbox = machine.sandbox
    machine.warm = False
    ids = seed(sandbox).values()
    sandbox.delays(backup=3600)
    plan = {**NIGHTLY, "wait_timeout": 600}  # longer than the other runs take on a busy machine
    machine.install(plan, {**plan, "name": "weekly"}).succeed()
    first = machine.start("run", "nightly")
    while not all(machine.backups(id) for id in ids):
        assert first.poll() is None
    code, output = machine.run("run", "nightly")
    assert (code, output) == (75, "plan nightly: another run is under way, so this one steps aside\n")
    assert sandbox.token not in command_lines(first.pid)
    second = machine.start("run", "weekly")
    assert second.stdout is not None
    assert second.stdout.readline() == "plan weekly: waits until the run of plan nightly is over\n"
    sandbox.delays(backup=0.1)  # of what is requested only after the clock was moved
    sandbox.clock(advance=3600)
    for run in (first, second):
        output, _nothing = run.communicate(timeout=PLAY_SECONDS)
        assert run.returncode == 0, output
    for id in ids:
        assert [name.split("-")[0] for name in machine.names(id)] == ["nightly", "weekly"]
        older, newer = machine.backups(id)
        assert older["completedAt"] < newer["createdAt"]


def command_lines(session: int) -> str:
    """Return the command lines and environments of all processes of a session."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(process.name)) == session:
                found += [(process / name).read_bytes() for name in ("cmdline", "environ")]
        except OSError:
            continue
    assert found
    return b" ".join(found).replace(b"\0", b" ").decode(errors="replace")


# --- Off-site copies --------------------------------------------------------------------------------------


def test_off_site_copies(machine: BackupMachine) -> None:
    """A dated folder for each backup, one file on disk for what did not change, under the same retention."""
    sandbox, shelf = machine.sandbox, machine.folder / "shelf"
    one = seed(sandbox)["one"]
    site = {"name": "site", "product": "hobby", "files": {"index.html": "no database, though of family APP"}}
    own = sandbox.seed({"services": [site]})["services"]["site"]
    key = register_key(sandbox, machine.folder)
    known_hosts = str(machine.folder / "known_hosts")
    offsite = {
        "dest": str(shelf),
        "private_key_file": key,
        "known_hosts": known_hosts,
        "exclude": "cache/, *.tmp",
    }
    plan = {"name": "nightly", "services": ["one", "site"], "keep": {"last": 2}, "offsite": offsite}
    machine.install(plan).succeed()
    (shelf / one / ".nightly.partial").mkdir(parents=True)  # as a run that was killed leaves it
    (shelf / one / ".nightly.partial" / "half").touch()
    (shelf / one / "service.json").write_text("half {")
    for night in range(3):
        for path in ("log.txt", "left-out.tmp"):
            content = {"path": path, "content": f"night {night}"}
            sandbox.api("POST", f"/api/resources/{one}/files/write", content)
        name = f"nightly-2026010{night + 1}t020000z"  # as every platform keeps it
        machine.good("run", "nightly", "-e", f"backups_run_name={name}")
        if night == 0:  # a copy from before the plan excluded it
            (shelf / one / name / "cache").mkdir()
            (shelf / one / name / "cache" / "tiles").write_text("old")
    second, third = sorted((shelf / one).glob("nightly-*"))
    described = shelf / one / "service.json"
    assert described.stat().st_mode & 0o777 == 0o600 and not [*(shelf / one).glob(".*")]
    assert json.loads(described.read_text()) == {
        "id": one,
        "name": "one",
        "slug": None,
        "project": "web",
        "family": "GAME",
        "engine": "",
        "excluded": {f"nightly-2026010{night}t020000z": ["cache/", "*.tmp"] for night in (1, 2, 3)},
    }
    assert json.loads((shelf / own / "service.json").read_text())["project"] == "default"
    assert [second.name, third.name] == machine.names(one)
    assert [(folder / "log.txt").read_text() for folder in (second, third)] == ["night 1", "night 2"]
    assert (second / "world.dat").stat().st_ino == (third / "world.dat").stat().st_ino
    for folder in (second, third):
        assert {path.name for path in folder.iterdir()} == {"log.txt", "world.dat"}
    report = machine.report()
    assert [(entry["service"], entry["copied"]) for entry in report["offsite"]] == [
        ("one", "files"),
        ("site", "files"),
    ]
    assert [path.name for path in (shelf / own).glob("*/*")] == ["index.html"] * 2
    assert (second / "log.txt").stat().st_ino != (third / "log.txt").stat().st_ino
    fresh = sandbox.seed({"services": [{"name": "fresh", "product": "minecraft"}]})["services"]["fresh"]
    restored = restore_as_the_guide_has_it(machine, third, "fresh", f"{key} known_hosts={known_hosts}")
    assert restored.returncode == 0, restored.stdout
    assert files_on(sandbox, fresh) == {"/log.txt": "night 2", "/world.dat": "x"}


def restore_as_the_guide_has_it(
    machine: BackupMachine, copy: Path, service: str, key: str
) -> subprocess.CompletedProcess[str]:
    """Run the command of the guide that brings files back, with the names of this machine in it."""
    guide = (REPOSITORY / "docs" / "guides" / "backups-off-site.md").read_text()
    (command,) = [line for line in guide.splitlines() if line.startswith("ansible ") and "sftp_sync" in line]
    for told, meant in (
        ("service=survival", f"service={service}"),
        ("/srv/offsite/SERVICE_ID/NAME_OF_THE_BACKUP", str(copy)),
        ("/etc/hosted-backups/id_ed25519", key),
    ):
        assert told in command
        command = command.replace(told, meant)
    return subprocess.run(
        ["sh", "-euc", command],
        env=machine.ansible.environment,
        cwd=machine.folder,
        capture_output=True,
        text=True,
        check=False,
    )


def on_shelf(folder: Path) -> list[str]:
    """Return the names of what is in the folder of the copies of a service."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_which_copies_stay(machine: BackupMachine) -> None:
    """What the policy keeps, and the copy of a backup that failed later or of whose name one of two stays.

    Others may name backups as they like: no name leads elsewhere, and nothing but copies of the plan goes. If
    too many would go, none does. That is told, and the copy that was made counts.
    """
    sandbox, shelf = machine.sandbox, machine.folder / "shelf"
    one = seed(sandbox)["one"]
    key = register_key(sandbox, machine.folder)
    offsite = {"dest": str(shelf), "private_key_file": key}
    keep = {"last": 1, "failed": 0, "max_delete": 2}
    machine.install({"name": "nightly", "services": ["one"], "keep": keep, "offsite": offsite}).succeed()
    gone, failed, name, later = (f"nightly-2026010{day}t020000z" for day in (1, 2, 5, 6))
    others, elsewhere = [f"{gone}.old", gone.replace("nightly", "weekly")], f"{gone}/../../another/{gone}"
    for copy in (gone, failed, *others):
        (shelf / one / copy).mkdir(parents=True)
    (shelf / "another" / gone).mkdir(parents=True)
    add(sandbox, one, timedelta(days=4), elsewhere)
    add(sandbox, one, timedelta(days=3), failed, status="FAILED")
    for minutes in (60, 59):
        add(sandbox, one, timedelta(minutes=minutes), name)
    output = machine.good("run", "nightly", "-e", f"backups_run_name={name}")
    assert machine.names(one) == [elsewhere, name]
    assert on_shelf(shelf / one) == sorted([failed, name, *others])

    left = [f"nightly-2025120{day}t020000z" for day in (1, 2, 3)]
    for copy in left:
        (shelf / one / copy).mkdir()
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={later}")
    assert code != 0, output
    report = machine.report()
    (problem,) = report["problems"]
    says = r"one off-site: off-site copies: the policy would delete \d copies, and max_delete is 2"
    assert re.search(says, problem), problem
    (copied,) = report["offsite"]
    assert (copied["copied"], copied["dest"]) == ("files", str(shelf / one / later))
    assert "failed" not in copied and (shelf / one / later / "world.dat").read_text() == "x"
    assert on_shelf(shelf / one) == sorted([failed, name, later, *left, *others])
    assert (shelf / "another" / gone).is_dir() and machine.names(one) == [elsewhere, later]


def test_a_folder_of_copies_that_is_missing_is_not_made_anew(machine: BackupMachine) -> None:
    """As where a disk is not mounted: neither by a run, which backs up all the same, nor by the role."""
    one, shelf = seed(machine.sandbox)["one"], machine.folder / "shelf"
    plan = {**NIGHTLY, "offsite": {"dest": str(shelf)}}
    assert "Skipped" not in machine.install(plan).succeed().output
    shelf.rename(machine.folder / "disk")
    shelf.mkdir()
    output = machine.bad("run", "nightly", "-e", "backups_run_name=nightly-20260101T020000Z")
    assert f"{shelf} does not exist, or is not the folder" in output and "Is a disk not mounted?" in output
    assert len(machine.names(one)) == 1
    shelf.rmdir()
    assert "Is a disk not mounted?" in machine.install(plan).stdout
    assert not shelf.exists()


# --- The restore drill ------------------------------------------------------------------------------------


def test_the_restore_drill(machine: BackupMachine) -> None:
    """It proves a restore on a service that is there for it, cleans up, and lets the others alone."""
    sandbox = machine.sandbox
    one = seed(sandbox)["one"]
    drill = sandbox.seed({"services": [{"name": "drill", "product": "minecraft"}]})["services"]["drill"]
    play = "- import_playbook: hosted.services.restore_drill"
    refused = machine.ansible.playbook(play, variables={"drill_service": "one"})
    assert refused.rc != 0 and "overwrites all files" in refused.stdout
    assert "-e drill_service=NAME" in machine.ansible.playbook(play).stdout
    sandbox.clear_journal()
    machine.ansible.playbook(play, "--check", variables={"drill_service": "drill"}).succeed()
    assert not [line for line in sandbox.journal() if line["method"] != "GET"]
    machine.ansible.playbook(play, variables={"drill_service": "drill"}).succeed()
    assert len(sandbox.journal("backups.restore")) == 1
    assert machine.backups(drill) == machine.backups(one) == []
    assert sandbox.api("GET", f"/api/resources/{drill}/files?directory=").json() == []
