# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups`: what it installs, what a run does, what the check says, and what is left of it."""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PLAY_SECONDS, PROFILE, REPOSITORY, Run
from integration.backup_machine import NIGHTLY, BackupMachine
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
    """A machine on which nothing is installed yet."""
    return BackupMachine(tmp_path, sandbox)


def seed(sandbox: Sandbox) -> dict[str, str]:
    """Let there be two services; return their ids by name."""
    ids: dict[str, str] = sandbox.seed(SERVICES)["services"]
    return ids


def add(sandbox: Sandbox, service_id: str, age: timedelta, name: str = "nightly-20260101T020000Z") -> None:
    """Let there be a backup of the plan, so old."""
    made = (datetime.now(UTC) - age).isoformat()
    sandbox.operator(f"services/{service_id}/backups", name=name, status="COMPLETED", created_at=made)


def files(folder: Path) -> set[str]:
    """Return the paths of all files below a folder."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_what_is_installed_and_removed(machine: BackupMachine) -> None:
    """Units that systemd takes, a token that nobody reads, no change the second time; nothing at the end."""
    weekly = {**NIGHTLY, "name": "weekly", "every": "weekly", "at": "03:30"}
    machine.install(NIGHTLY, weekly).succeed()
    folder = machine.folder
    again = machine.install(NIGHTLY, weekly).succeed()
    assert "changed=0 " in again.stdout
    assert stat.S_IMODE((folder / "etc" / "token").stat().st_mode) == 0o600
    units = sorted((folder / "units").iterdir())
    assert [unit.name for unit in units] == [
        f"hosted-backup-{plan}.{kind}" for plan in ("nightly", "weekly") for kind in ("service", "timer")
    ]
    if shutil.which("systemd-analyze"):
        subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=True, env={**os.environ})
    texts = "".join(unit.read_text() for unit in units)
    assert "RandomizedDelaySec=15min" in texts and "Persistent=true" in texts
    assert "OnCalendar=Sun *-*-* 03:30:00" in texts
    assert machine.sandbox.token not in texts + machine.command.read_text()
    assert machine.sandbox.token not in (folder / "etc" / "nightly.yml").read_text()
    machine.install(weekly).succeed()
    assert {name for name in files(folder / "units") if "nightly" in name} == set()
    assert not (folder / "etc" / "nightly.yml").exists()
    machine.install(backups_state="absent").succeed()
    assert [name for name in ("etc", "state") if (folder / name).exists()] == []
    assert files(folder / "units") | files(folder / "bin") | files(folder / "cron") == set()


def test_cron(machine: BackupMachine) -> None:
    """Where there is no systemd a plan is a line for cron, and goes with the rest."""
    machine.install({**NIGHTLY, "at": "04:05"}, backups_scheduler="cron").succeed()
    entry = (machine.folder / "cron" / "hosted-backup-nightly").read_text()
    assert entry.splitlines()[-1].startswith("5 4 * * * ")
    assert entry.endswith(f"{machine.command} run nightly --quiet --jitter 15\n")
    assert files(machine.folder / "units") == set()
    machine.install(NIGHTLY).succeed()
    assert files(machine.folder / "cron") == set(), "systemd runs it now, and one of them is enough"
    machine.install(NIGHTLY, backups_scheduler="cron").succeed()
    assert files(machine.folder / "units") == set()
    machine.install(backups_state="absent", backups_scheduler="cron").succeed()
    assert files(machine.folder / "cron") == set()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"keep": {"failed": 1}}, "an empty policy would keep nothing"),
        ({"keep": {"daily": 0, "within": ""}}, "an empty policy would keep nothing"),
        ({"keep": {"last": 3, "daily": -1}}, "no number below 0"),
        ({"keep": {"last": 3, "max_delete": -1}}, "no number below 0"),
        ({"project": None, "name": "No Such Name"}, "needs a name of lowercase letters"),
        ({"at": "25:00"}, "a time such as 02:00"),
        ({"project": None}, "cannot be used"),
        ({"project": "", "services": []}, "cannot be used"),
        ({"keep": {"nightly": 1}}, "nightly"),
    ],
)
def test_a_plan_that_cannot_work_is_not_installed(
    machine: BackupMachine, change: dict[str, Any], says: str
) -> None:
    """The error says what a plan needs, before anything is written."""
    run = machine.install({**NIGHTLY, **change})
    assert run.rc != 0
    assert says in run.stdout
    assert not machine.command.exists()


def test_an_empty_token_replaces_none(machine: BackupMachine) -> None:
    """A variable of the environment that is not set makes one."""
    machine.install(NIGHTLY).succeed()
    kept = (machine.folder / "etc" / "token").read_text()
    for empty in ("", None):
        run = machine.install(NIGHTLY, backups_token=empty)
        assert run.rc != 0
        assert "backups_token is empty" in run.stdout
        assert (machine.folder / "etc" / "token").read_text() == kept


def test_a_run_where_nothing_was_installed(machine: BackupMachine) -> None:
    """The playbook makes the folder that its report goes to."""
    (one, *__) = seed(machine.sandbox).values()
    plan = {"backups_plan": NIGHTLY, "backups_state_dir": str(machine.folder / "new" / "state")}
    play = "- ansible.builtin.import_playbook: hosted.services.backup"
    machine.ansible.playbook(play, variables=plan).succeed()
    assert (machine.folder / "new" / "state" / "nightly.json").exists()
    assert len(machine.names(one)) == 1


def test_a_run_and_its_check(machine: BackupMachine) -> None:
    """Hooks, backups, retention, report, metrics; then every verdict that the check knows."""
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
    installed = machine.install({**NIGHTLY, **hooks, "at": "02:30"}).succeed()
    assert str(log) not in installed.output, "hooks may hold secrets"
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL"), line
    assert "two has no good backup" in line and line.count("\n") == 1

    code, output = machine.run("run", "nightly", "-vvvv")
    assert code == 0, output
    assert log.read_text().split() == ["before", "after"]
    assert str(log) not in output, "hooks may hold secrets"
    assert len(machine.backups(one)) == 3 and "by-hand" in machine.names(one)
    assert len(machine.backups(two)) == 1
    report = json.loads((folder / "state" / "nightly.json").read_text())
    assert report["ok"] and len(report["services"]) == 2
    metrics = (folder / "metrics" / "hosted-backup-nightly.prom").read_text()
    assert metrics.count("\nhosted_backup_newest_timestamp_seconds{") == 2
    assert 'hosted_backup_run_problems{plan="nightly"} 0\n' in metrics
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
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert "failed nightly: Back up the services: " in log.read_text()
    sandbox.clear_faults()
    assert machine.run("check", "no-such-plan")[0] == 3


def test_an_installation_shows_no_hook_of_the_one_before(machine: BackupMachine) -> None:
    """Not even in Base64."""
    offsite = {"dest": str(machine.folder / "shelf")}
    machine.install({**NIGHTLY, "offsite": offsite, "before": ["curl https://chat/secret-hook"]}).succeed()
    assert "secret-hook" in (machine.folder / "etc" / "nightly.yml").read_text()
    machine.ansible.environment["ANSIBLE_VERBOSITY"] = "2"
    output = machine.install({**NIGHTLY, "offsite": offsite}).succeed().output
    shown = [base64.b64decode(text + "==") for text in re.findall(r"[A-Za-z0-9+/]{60,}", output)]
    assert "secret-hook" not in output and [text for text in shown if b"secret-hook" in text] == []


def test_a_report_that_cannot_be_written_is_a_failure_for_the_hooks(machine: BackupMachine) -> None:
    """They are told what else went wrong, too. The folder of the report is lost during the run."""
    ids, log, state = seed(machine.sandbox), machine.folder / "hooks", machine.folder / "state"
    hooks = {
        "before": [f"mv {state} {state}.lost && touch {state}"],
        "on_failure": [f'echo "$BACKUP_ERROR" >>{log}'],
    }
    machine.install({**NIGHTLY, **hooks, "max_parallel": 1}).succeed()
    machine.sandbox.fault("backups.create", "status", status=400)
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert sorted(len(machine.backups(id)) for id in ids.values()) == [0, 1]
    told, *also = log.read_text().splitlines()
    assert "; Write the report: " in told or told.startswith("Write the report: "), told
    assert told.count("; ") >= 1 and told in output
    assert all("left no report" in one for one in also)  # the command cannot know what the run has told


def test_nothing_is_thinned_out_where_the_backup_failed(machine: BackupMachine) -> None:
    """The other service is, and the run fails at the end."""
    sandbox = machine.sandbox
    ids = seed(sandbox)
    for id in ids.values():
        for day in range(1, 5):
            add(sandbox, id, timedelta(days=day), f"nightly-2026010{day}T020000Z")
    machine.install({**NIGHTLY, "max_parallel": 1}).succeed()
    sandbox.fault("backups.create", "status", status=400)
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert sorted(len(machine.backups(id)) for id in ids.values()) == [2, 4]
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    assert not report["ok"] and len(report["problems"]) == 1


def test_a_copy_that_the_platform_removes_by_itself_is_a_problem(machine: BackupMachine) -> None:
    """It makes room for the new one, although the plan would have kept it: the history gets no longer."""
    sandbox = machine.sandbox
    one = seed(sandbox)["one"]
    sandbox.profile(PROFILE, **{"backup.limit": "the oldest goes"})
    for day in range(50):
        name = f"nightly-2026{day // 28 + 1:02}{day % 28 + 1:02}T020000Z"
        add(sandbox, one, timedelta(days=60 - day), name)
    machine.install({"name": "nightly", "services": ["one"], "keep": {"last": 60}}).succeed()
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    (problem,) = report["problems"]
    assert "the platform has removed nightly-20260101T020000Z" in problem and "Keep fewer" in problem
    assert len(machine.backups(one)) == 50


def test_two_runs_at_once(machine: BackupMachine) -> None:
    """One works, the other steps aside and says so."""
    sandbox = machine.sandbox
    machine.warm = False
    ids = seed(sandbox)
    sandbox.delays(backup=3600)
    # It waits longer than the other run takes on a busy machine.
    machine.install({**NIGHTLY, "wait_timeout": 600}).succeed()
    first = machine.start("run", "nightly")
    while not machine.backups(ids["one"]):
        assert first.poll() is None
    code, output = machine.run("run", "nightly")
    assert (code, output) == (75, "plan nightly: another run is under way, so this one steps aside\n")
    assert sandbox.token not in command_lines(first.pid)
    sandbox.delays(backup=0.1)  # of what is requested only after the clock was moved
    sandbox.clock(advance=3600)
    output, _nothing = first.communicate(timeout=PLAY_SECONDS)
    assert first.returncode == 0, output
    assert [len(machine.backups(id)) for id in ids.values()] == [1, 1]


def test_two_plans_at_once(machine: BackupMachine) -> None:
    """The plans of a machine may share a service: the second waits for the first, and says so."""
    sandbox = machine.sandbox
    ids = seed(sandbox)
    machine.install(NIGHTLY, {**NIGHTLY, "name": "weekly"}).succeed()
    sandbox.delays(backup=3600)
    first = machine.start("run", "nightly")
    while not all(machine.backups(id) for id in ids.values()):
        assert first.poll() is None
    second = machine.start("run", "weekly")
    assert second.stdout is not None
    assert second.stdout.readline() == "plan weekly: waits until the run of plan nightly is over\n"
    sandbox.delays(backup=0.1)
    sandbox.clock(advance=3600)
    end_well(first, second)
    for id in ids.values():
        assert [name.split("-")[0] for name in machine.names(id)] == ["nightly", "weekly"]
        older, newer = machine.backups(id)
        assert older["completedAt"] < newer["createdAt"]


@pytest.fixture
def two_machines(machine: BackupMachine, tmp_path: Path) -> list[BackupMachine]:
    """Two machines with the same plan, and two services that have four backups of it each."""
    (tmp_path / "other").mkdir()
    machines = [machine, BackupMachine(tmp_path / "other", machine.sandbox)]
    for each in machines:
        each.install(NIGHTLY).succeed()
    for id in seed(machine.sandbox).values():
        for day in range(1, 5):
            add(machine.sandbox, id, timedelta(days=day), f"nightly-2026010{5 - day}T020000Z")
    return machines


def end_well(*runs: subprocess.Popen[str]) -> None:
    """Wait for runs and see that nothing went wrong in them."""
    for run in runs:
        output, _nothing = run.communicate(timeout=240)
        assert run.returncode == 0, output


def services(sandbox: Sandbox) -> list[str]:
    """Return the ids of all services."""
    return [service["id"] for service in sandbox.api("GET", "/api/resources").json()["items"]]


def test_two_machines_with_one_name(two_machines: list[BackupMachine]) -> None:
    """The platform has no lock; what the one has begun the other adopts, and nothing is made twice.

    Their name is one that every platform keeps as it is given.
    """
    here, there = two_machines
    sandbox, ids = here.sandbox, services(here.sandbox)
    sandbox.delays(backup=3600)
    same = ("run", "nightly", "-e", "backups_run_name=nightly-20260105t020000z")
    first = here.start(*same)
    while not all(len(here.backups(id)) == 5 for id in ids):
        assert first.poll() is None
    sandbox.clear_journal()
    second = there.start(*same)
    while len(sandbox.journal("resources.get")) < len(ids):  # the first has left that behind
        assert second.poll() is None
    sandbox.clock(advance=3600)
    end_well(first, second)
    assert sandbox.journal("backups.create") == []
    for id in ids:
        assert here.names(id) == ["nightly-20260104T020000Z", "nightly-20260105t020000z"]


def test_two_machines_with_two_names(two_machines: list[BackupMachine]) -> None:
    """Each makes its own backup; both thin out by one policy, and what one deleted is done for the other."""
    names = ["nightly-20260105t020000z", "nightly-20260105t020001z"]  # as every platform keeps them
    end_well(
        *(
            machine.start("run", "nightly", "-e", f"backups_run_name={name}")
            for machine, name in zip(two_machines, names, strict=True)
        )
    )
    for id in services(two_machines[0].sandbox):
        assert sorted(two_machines[0].names(id)) == names


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


def register(sandbox: Sandbox, key: Path) -> None:
    """Register the public half of a key, so that it opens SFTP."""
    public = key.with_suffix(".pub").read_text()
    sandbox.api("POST", "/api/users/me/ssh-keys", {"name": "k", "publicKey": public})


def test_off_site_copies(machine: BackupMachine, key: Path) -> None:
    """A dated folder for each backup, one file on disk for what did not change, under the same retention."""
    sandbox, shelf = machine.sandbox, machine.folder / "shelf"
    one = seed(sandbox)["one"]
    site = {"name": "site", "product": "hobby", "files": {"index.html": "no database, though of family APP"}}
    own = sandbox.seed({"services": [site]})["services"]["site"]
    register(sandbox, key)
    known_hosts = str(machine.folder / "known_hosts")
    offsite = {
        "dest": str(shelf),
        "private_key_file": str(key),
        "known_hosts": known_hosts,
        "exclude": ["cache/"],
    }
    plan = {"name": "nightly", "services": ["one", "site"], "keep": {"last": 2}, "offsite": offsite}
    machine.install(plan).succeed()
    (shelf / one / ".nightly.partial").mkdir(parents=True)  # as a run that was killed leaves it
    (shelf / one / ".nightly.partial" / "half").touch()
    for night in range(3):
        content = {"path": "log.txt", "content": f"night {night}"}
        sandbox.api("POST", f"/api/resources/{one}/files/write", content)
        name = f"nightly-2026010{night + 1}t020000z"  # as every platform keeps it
        code, output = machine.run("run", "nightly", "-e", f"backups_run_name={name}")
        assert code == 0, output
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
        "excluded": {f"nightly-2026010{night}t020000z": ["cache/"] for night in (1, 2, 3)},
    }
    assert json.loads((shelf / own / "service.json").read_text())["project"] == "default"
    assert [second.name, third.name] == machine.names(one)
    assert [(folder / "log.txt").read_text() for folder in (second, third)] == ["night 1", "night 2"]
    assert (second / "world.dat").stat().st_ino == (third / "world.dat").stat().st_ino
    for folder in (second, third):
        assert {path.name for path in folder.iterdir()} == {"log.txt", "world.dat"}
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
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


@pytest.mark.parametrize("exclude", [["cache/", "*.tmp"], "cache/, *.tmp"], ids=["list", "text"])
def test_what_a_plan_leaves_out_is_kept_by_a_recovery(
    machine: BackupMachine, key: Path, exclude: list[str] | str
) -> None:
    """Two plans share a shelf, and the last one leaves out nothing; the copy of the other is restored."""
    sandbox, shelf = machine.sandbox, machine.folder / "shelf"
    one = seed(sandbox)["one"]
    register(sandbox, key)
    sandbox.api("POST", f"/api/resources/{one}/files/directory", {"root": "", "name": "cache"})
    for path in ("cache/tiles", "left.txt", "a.tmp"):
        sandbox.api("POST", f"/api/resources/{one}/files/write", {"path": path, "content": "live"})
    offsite = {"dest": str(shelf), "private_key_file": str(key)}
    plan = {"services": ["one"], "keep": {"last": 2}}
    plans = [
        {**plan, "name": "nightly", "offsite": {**offsite, "exclude": exclude}},
        {**plan, "name": "weekly", "offsite": offsite},
    ]
    machine.install(*plans).succeed()
    nightly, weekly = "nightly-20260101t020000z", "weekly-20260102t020000z"
    assert machine.run("run", "nightly", "-e", f"backups_run_name={nightly}")[0] == 0
    described = shelf / one / "service.json"
    about = json.loads(described.read_text())
    described.write_text(json.dumps({**about, "excluded": {**about["excluded"], "gone": ["x"]}}))
    code, output = machine.run("run", "weekly", "-e", f"backups_run_name={weekly}")
    assert code == 0, output
    assert json.loads(described.read_text())["excluded"] == {nightly: ["cache/", "*.tmp"], weekly: []}
    sandbox.api("POST", f"/api/resources/{one}/files/write", {"path": "since.txt", "content": "live"})
    given = {
        "blueprint": {"project": "web", "services": {"one": {"product": "minecraft"}}},
        "copies": str(shelf),
        "copies_of": {"one": f"{one}/{nightly}"},
        "existing": "keep",
        "overwrite": ["one"],
        "private_key_file": str(key),
    }
    machine.ansible.tasks(f"- hosted.services.recover: {json.dumps(given)}\n").succeed()
    found = files_on(sandbox, one)
    assert found["/cache/tiles"] == found["/a.tmp"] == "live"
    assert "/left.txt" in found and "/since.txt" not in found


@pytest.mark.parametrize("text", ["half {", '{"excluded": "x"}'])
def test_a_damaged_description_is_written_anew(machine: BackupMachine, key: Path, text: str) -> None:
    one, shelf = install_offsite(machine, key, {"last": 2})
    (shelf / one).mkdir()
    (shelf / one / "service.json").write_text(text)
    name = "nightly-20260101t020000z"
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={name}")
    assert code == 0, output
    assert json.loads((shelf / one / "service.json").read_text())["excluded"] == {name: []}


def install_offsite(machine: BackupMachine, key: Path, keep: dict[str, int]) -> tuple[str, Path]:
    """Install a plan that copies service `one` off-site. Return its id and the folder of the copies."""
    sandbox, shelf = machine.sandbox, machine.folder / "shelf"
    one = seed(sandbox)["one"]
    register(sandbox, key)
    offsite = {"dest": str(shelf), "private_key_file": str(key)}
    machine.install({"name": "nightly", "services": ["one"], "keep": keep, "offsite": offsite}).succeed()
    return one, shelf


def test_the_copy_of_a_backup_that_failed_later_stays(machine: BackupMachine, key: Path) -> None:
    """A restore that fails may mark a backup as FAILED, whose copy off-site is as good as before."""
    sandbox = machine.sandbox
    one, shelf = install_offsite(machine, key, {"last": 2, "failed": 0})
    names = [f"nightly-2026010{number}t020000z" for number in (1, 2, 3)]
    for name in names:
        if name == names[2]:
            state = sandbox.control("GET", "/state")
            for backup in state["records"]["backup"]:
                backup["status"] = "FAILED" if backup["name"] == names[0] else backup["status"]
            sandbox.control("PUT", "/state", state)
        code, output = machine.run("run", "nightly", "-e", f"backups_run_name={name}")
        assert code == 0, output
    assert machine.names(one) == names[1:]
    assert sorted(path.name for path in (shelf / one).glob("nightly-*")) == names


def test_a_name_that_leads_elsewhere_deletes_no_copy(machine: BackupMachine, key: Path) -> None:
    """Others may name backups as they like; the copies are left when the account is in their hands."""
    sandbox = machine.sandbox
    one, shelf = install_offsite(machine, key, {"last": 1})
    first, second = "nightly-20260101t020000z", "nightly-20260102t020000z"
    assert machine.run("run", "nightly", "-e", f"backups_run_name={first}")[0] == 0
    neighbour = shelf / "another" / first
    neighbour.mkdir(parents=True)
    state = sandbox.control("GET", "/state")
    (backup,) = state["records"]["backup"]
    backup["name"] = f"{first}/../../another/{first}"
    sandbox.control("PUT", "/state", state)
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={second}")
    assert code == 0, output
    assert neighbour.is_dir()
    assert machine.names(one) == [backup["name"], second], "it is none of the plan's"


def test_the_copy_of_a_name_that_stays_is_not_deleted(machine: BackupMachine, key: Path) -> None:
    """Two machines that begin in one second make two backups of one name, and the policy keeps one."""
    sandbox = machine.sandbox
    one, shelf = install_offsite(machine, key, {"last": 1})
    name = "nightly-20260101t020000z"
    add(sandbox, one, timedelta(hours=1), name)
    add(sandbox, one, timedelta(minutes=59), name)
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={name}")
    assert code == 0, output
    assert machine.names(one) == [name], "the policy has let one go"
    assert [path.name for path in (shelf / one).glob("nightly-*")] == [name]


def list_backup(sandbox: Sandbox, service_id: str, name: str, made: str) -> None:
    """Let the platform have a good backup of this name, made at this moment."""
    sandbox.operator(f"services/{service_id}/backups", name=name, status="COMPLETED", created_at=made)


def on_shelf(folder: Path) -> list[str]:
    """Return the names of what is in the folder of the copies of a service."""
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_a_copy_stays_as_long_as_the_policy_keeps_it_on_the_shelf(machine: BackupMachine, key: Path) -> None:
    """Copying failed on Sunday, whose backup is the one of the week. Saturday's copy stands in for it."""
    sandbox = machine.sandbox
    one, shelf = install_offsite(machine, key, {"weekly": 2})
    friday, saturday, sunday = (f"nightly-202601{day}t020000z" for day in ("09", 10, 11))
    for name, day in ((friday, "09"), (saturday, "10"), (sunday, "11")):
        list_backup(sandbox, one, name, f"2026-01-{day}T02:00:03Z")
    for name in (friday, saturday):
        (shelf / one / name).mkdir(parents=True)
    monday, later = "nightly-20260112t020000z", "nightly-20260119t020000z"
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={monday}")
    assert code == 0, output
    assert machine.names(one) == [sunday, monday]
    assert on_shelf(shelf / one) == [saturday, monday]
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={later}")
    assert code == 0, output
    assert on_shelf(shelf / one) == [monday, later], "the weeks before are over, there as well"


def test_copies_whose_backups_another_machine_deleted_go(machine: BackupMachine, key: Path) -> None:
    """Where the list of backups may have been cut, they stay; what is not of the plan stays in any case."""
    sandbox = machine.sandbox
    one, shelf = install_offsite(machine, key, {"last": 2})
    gone, others = "nightly-20260101t020000z", ["nightly-20260101t020000z.old", "weekly-20260101t020000z"]
    second, third, fourth = (f"nightly-2026010{day}t020000z" for day in (2, 3, 4))
    for name in (gone, second, *others):
        (shelf / one / name).mkdir(parents=True)
    (shelf / "another" / gone).mkdir(parents=True)
    for number in range(9):
        list_backup(sandbox, one, f"by-hand-{number}", "2025-12-01T02:00:03Z")
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={third}")
    assert code == 0, output
    assert len(machine.names(one)) == 10, "as many as may be a page"
    assert on_shelf(shelf / one) == sorted([gone, second, third, *others])
    code, output = machine.run("run", "nightly", "-e", f"backups_run_name={fourth}")
    assert code == 0, output
    assert on_shelf(shelf / one) == sorted([third, fourth, *others])
    assert (shelf / "another" / gone).is_dir()


def test_too_many_copies_to_delete_are_told_and_the_copy_counts(machine: BackupMachine, key: Path) -> None:
    """None of them goes. The copy that was made is recorded, and so is the next one."""
    one, shelf = install_offsite(machine, key, {"last": 1, "max_delete": 2})
    made = [f"nightly-2026011{day}t020000z" for day in range(2)]
    left = [f"nightly-2026010{day}t020000z" for day in range(1, 4)]
    for name in left:
        (shelf / one / name).mkdir(parents=True)
    for number, name in enumerate(made, 1):
        code, output = machine.run("run", "nightly", "-e", f"backups_run_name={name}")
        assert code != 0, output
        problem = (
            f"one off-site: off-site copies: the policy would delete {number + 2} copies, and max_delete is 2"
        )
        report = json.loads((machine.folder / "state" / "nightly.json").read_text())
        assert [problem in told for told in report["problems"]] == [True], report["problems"]
        (copied,) = report["offsite"]
        assert (copied["copied"], copied["dest"]) == ("files", str(shelf / one / name))
        assert "failed" not in copied
        assert on_shelf(shelf / one) == sorted([*left, *made[:number]])
        assert (shelf / one / name / "world.dat").read_text() == "x"
    assert machine.names(one) == made[1:], "the backups are as many as before"


def restore_as_the_guide_has_it(
    machine: BackupMachine, copy: Path, service: str, key: str
) -> subprocess.CompletedProcess[str]:
    """Run the command of the guide that brings files back, with the names of this machine in it."""
    guide = (REPOSITORY / "docs" / "guides" / "backups.md").read_text()
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


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """An SSH key."""
    path = tmp_path / "id_ed25519"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)
    return path


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


def drilled(machine: BackupMachine, **delays: float) -> Run:
    """Run the drill on a platform that shows a restore late, with a quiet time of five seconds."""
    sandbox = machine.sandbox
    sandbox.seed({"services": [{"name": "drill", "product": "minecraft"}]})
    sandbox.profile(PROFILE, delay="a second late")
    sandbox.delays(**delays)
    play = "- import_playbook: hosted.services.restore_drill"
    return machine.ansible.playbook(play, variables={"drill_service": "drill", "drill_quiet_time": 5})


def test_the_restore_drill_where_a_restore_shows_late(machine: BackupMachine) -> None:
    """It compares when the restore is over, not when it was asked for."""
    run = drilled(machine, restore_begins=2, restore=2).succeed()
    assert run["Restore"].result["services"][0]["start_seen"] is True


def test_the_restore_drill_where_no_restore_comes(machine: BackupMachine) -> None:
    """It fails, and says that the start was not seen."""
    run = drilled(machine, restore_begins=3600)
    assert run.rc != 0
    assert "did not bring the file back" in run["Compare"].message
    assert "was not seen to begin either" in run["Compare"].message


def test_a_name_that_looks_like_a_template(machine: BackupMachine) -> None:
    """A name that comes from the platform is no template in the file of its plan either."""
    name, proof = machine.folder / "name", machine.folder / "proof"
    name.write_text(f"{{{{ lookup('pipe', 'touch {proof}') }}}}")
    service = {"name": name.read_text(), "product": "linux", "project": "web"}
    ids = machine.sandbox.seed({"services": [service]})["services"]
    named = f"{{{{ query('ansible.builtin.file', '{name}') }}}}"  # as trusted as what a platform answers
    plan = {"name": "nightly", "services": named, "keep": {"last": 2}, "wait_timeout": 20}
    offsite = {"dest": str(machine.folder / "copies"), "databases": "skip", "create": True}
    for each in (plan, {**plan, "offsite": offsite}):
        machine.install(each).succeed()
    _code, output = machine.run("run", "nightly")
    assert not proof.exists()
    assert len(machine.names(ids[name.read_text()])) == 1, output
