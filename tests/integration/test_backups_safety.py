# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role `backups`: what holds nothing removes and widens nothing, and only its own files are touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTLY, BackupMachine

pytestmark = pytest.mark.night

MARK = "Managed by the role hosted.services.backups"
SERVICES = {"services": [{"name": "one", "product": "minecraft", "project": "web"}]}
FOLDERS = ("bin", "units", "cron", "metrics", "rules", "etc", "state")


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    """A machine on which nothing is installed yet."""
    return BackupMachine(tmp_path, sandbox)


def contents(machine: BackupMachine) -> dict[str, str]:
    """Return all files that the role may touch, with what they hold."""
    found = {}
    for folder in FOLDERS:
        for path in (machine.folder / folder).rglob("*"):
            if path.is_file():
                found[str(path.relative_to(machine.folder))] = path.read_text()
    return found


def put(machine: BackupMachine, *names: str, text: str = "of somebody else\n") -> dict[str, str]:
    """Let there be files that the role has not written; return them with what they hold."""
    for name in names:
        path = machine.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return dict.fromkeys(names, text)


# --- No plans -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("slip", [{"backups_plan": [NIGHTLY]}, {"backups_plans": []}])
def test_a_list_of_no_plans_removes_none(machine: BackupMachine, slip: dict[str, Any]) -> None:
    """A slip in the name of the variable leaves its default, which is no wish to have no backups."""
    machine.install(NIGHTLY).succeed()
    before = contents(machine)
    run = machine.install(without="backups_plans" if "backups_plan" in slip else None, **slip)
    assert run.rc != 0
    assert "backups_allow_no_plans: true" in run.stdout and "backups_state: absent" in run.stdout
    assert contents(machine) == before


def test_null_is_no_list_of_plans(machine: BackupMachine) -> None:
    """Not even where there may be none."""
    machine.install(NIGHTLY).succeed()
    before = contents(machine)
    assert machine.install(backups_plans=None, backups_allow_no_plans=True).rc != 0
    assert contents(machine) == before


def test_false_as_text_is_not_leave_to_remove_all_plans(machine: BackupMachine) -> None:
    """As a command line, an inventory in INI and a survey give it."""
    machine.install(NIGHTLY).succeed()
    before = contents(machine)
    run = machine.install(backups_plans=[], backups_allow_no_plans="false")
    assert run.rc != 0 and "every plan that is installed would be removed" in run.stdout
    assert contents(machine) == before


def test_no_plans_are_a_word_of_their_own(machine: BackupMachine) -> None:
    """With it every plan goes, and what they share stays."""
    machine.install(NIGHTLY).succeed()
    machine.install(backups_plans=[], backups_allow_no_plans=True).succeed()
    assert set(contents(machine)) == {
        "bin/hosted-backup",
        "etc/environment",
        "etc/token",
        "etc/token.sha256",
        "rules/hosted-backup.rules.yml",
    }


# --- Plans that hold nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("option", "nothing"),
    [
        *((option, nothing) for option in ("project", "family") for nothing in (None, "", "  ")),
        *(("services", nothing) for nothing in (None, "", "one,", [], [""], [None], ["one", " "])),
    ],
)
def test_a_selection_that_holds_nothing_is_not_installed(
    machine: BackupMachine, option: str, nothing: Any
) -> None:
    """Whatever else the plan selects by, and before anything is written."""
    other = {"services": ["one"]} if option != "services" else {"project": "web"}
    run = machine.install({"name": "nightly", "keep": {"last": 2}, **other, option: nothing})
    assert run.rc != 0
    assert f"{option} is set but empty" in run.stdout
    assert contents(machine) == {}


@pytest.mark.parametrize(
    "change",
    [
        {"keep": {"last": 2, "within": ""}},
        {"keep": {"last": 2, "time_zone": None}},
        {"max_age": ""},
        {"on_failure": None},
        {"before": [""]},
        {"offsite": {"dest": "/srv", "private_key_file": ""}},
    ],
)
def test_any_other_option_that_holds_nothing_is_not_installed(
    machine: BackupMachine, change: dict[str, Any]
) -> None:
    """It would fail at night, or count as left out."""
    run = machine.install({**NIGHTLY, **change})
    assert run.rc != 0 and "is set but empty" in run.stdout
    assert contents(machine) == {}


@pytest.mark.parametrize(
    ("change", "value"),
    [
        *(({"keep": {"last": 2, "within": within}}, within) for within in ("0d", "soon", "7", "1w")),
        ({"offsite": {"dest": "copies"}}, "copies"),
    ],
)
def test_a_duration_or_a_folder_that_cannot_work_is_not_installed(
    machine: BackupMachine, change: dict[str, Any], value: str
) -> None:
    run = machine.install({**NIGHTLY, **change})
    assert run.rc != 0 and "keep.within is a duration" in run.stdout and f'"{value}"' in run.stdout
    assert contents(machine) == {}


@pytest.mark.parametrize("variable", ["backups_config_dir", "backups_state_dir", "backups_base_url"])
def test_a_setting_that_holds_nothing_is_refused(machine: BackupMachine, variable: str) -> None:
    """A folder of no name would be the root."""
    run = machine.install(NIGHTLY, **{variable: ""})
    assert run.rc != 0 and f"{variable} is empty" in run.stdout
    assert contents(machine) == {}


def test_a_plan_of_an_empty_project_touches_no_backup(machine: BackupMachine) -> None:
    """Its file says so, whoever wrote that; it does not mean the whole account."""
    seeded = machine.sandbox.seed(SERVICES)["services"]
    log = machine.folder / "hooks"
    machine.install({**NIGHTLY, "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}).succeed()
    plan = machine.folder / "etc" / "nightly.yml"
    plan.write_text(plan.read_text().replace("project: web", "project: ''"))
    machine.sandbox.clear_journal()
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert [line["route"] for line in machine.sandbox.journal() if line["method"] != "GET"] == []
    assert machine.names(seeded["one"]) == []
    assert 'Plan "nightly" cannot be used' in log.read_text()


def test_no_text_keeps_a_failure_from_its_hook(machine: BackupMachine) -> None:
    """Each single quote takes many bytes of a command, which can only be so long."""
    log = machine.folder / "hooks"
    machine.install({**NIGHTLY, "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}).succeed()
    plan = machine.folder / "etc" / "nightly.yml"
    quotes = "'" * 20_000
    plan.write_text(plan.read_text().replace("  keep:\n", f'  keep:\n    within: "{quotes}"\n'))
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert "cannot be used" in log.read_text() and quotes[:4000] in log.read_text()


# --- Lists that are given as text ------------------------------------------------------------------------


def test_a_list_given_as_text(machine: BackupMachine) -> None:
    """Names are split at commas, and each is whole: `web` is not in `web-bucket`. A hook is a whole line."""
    names = ["fine", "web", "web-bucket", "other"]
    services = [{"name": name, "product": "minecraft", "project": "web"} for name in names]
    seeded = machine.sandbox.seed({"services": services})["services"]
    for name in names[1:]:
        machine.sandbox.operator(f"services/{seeded[name]}", status="FAILED")
    log = machine.folder / "hooks"
    hooks = {name: f"echo {name}, of $BACKUP_PLAN >>{log}" for name in ("before", "after")}
    machine.install({**NIGHTLY, **hooks, "may_skip": "web-bucket, other"}).succeed()
    code, output = machine.run("run", "nightly")
    assert code == 0 and machine.names(seeded["fine"]) != [], output
    assert log.read_text() == "before, of nightly\nafter, of nightly\n"
    report = json.loads((machine.folder / "state" / "nightly.json").read_text())
    assert report["left_out"] == ["web"]
    metrics = (machine.folder / "metrics" / "hosted-backup-nightly.prom").read_text()
    left_out = [line for line in metrics.splitlines() if line.startswith("hosted_backup_left_out{")]
    assert len(left_out) == 1 and 'service="web"' in left_out[0]
    code, line = machine.run("check", "nightly")
    assert code == 1 and "web is left out" in line and "web-bucket is" not in line and "other is" not in line


# --- Plans that select nothing ------------------------------------------------------------------------------


def test_a_plan_that_selects_no_service_is_an_alarm(machine: BackupMachine) -> None:
    """In the exit codes of run and check, by the hook, and in the metrics."""
    machine.sandbox.seed({"projects": ["web"]})
    log = machine.folder / "hooks"
    machine.install({**NIGHTLY, "on_failure": [f'echo "$BACKUP_ERROR" >>{log}']}).succeed()
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert "selects no service" in log.read_text()
    metrics = (machine.folder / "metrics" / "hosted-backup-nightly.prom").read_text()
    assert 'hosted_backup_run_problems{plan="nightly"} 1\n' in metrics
    assert 'hosted_backup_services{plan="nightly"} 0\n' in metrics
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL")
    assert "selects no service" in line


def test_false_as_text_is_not_leave_to_select_no_service(machine: BackupMachine) -> None:
    """Neither a run nor its check takes it for true."""
    machine.sandbox.seed({"projects": ["web"]})
    machine.install({**NIGHTLY, "allow_empty": "false"}).succeed()
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75) and "selects no service" in output
    code, line = machine.run("check", "nightly")
    assert (code, line.split(":")[0]) == (2, "CRITICAL")


def test_a_plan_may_say_that_it_may_be_empty(machine: BackupMachine) -> None:
    """Then nothing is wrong with it."""
    machine.sandbox.seed({"projects": ["web"]})
    log = machine.folder / "hooks"
    plan = {
        **NIGHTLY,
        "allow_empty": True,
        "on_failure": [f"echo x >>{log}"],
        "after": [f"echo after >>{log}"],
    }
    machine.install(plan).succeed()
    code, output = machine.run("run", "nightly")
    assert code == 0, output
    assert log.read_text() == "after\n"
    code, line = machine.run("check", "nightly")
    assert (code, line) == (0, "OK: plan nightly selects no service, as it may\n")


# --- Files of others ---------------------------------------------------------------------------------------


def test_every_file_bears_the_mark_and_only_those_go(machine: BackupMachine) -> None:
    """Foreign files stay where they are and as they are, and so do the folders that hold them."""
    foreign = put(
        machine,
        *("etc/mine.yml", "etc/notes.txt", "state/other.json", "state/keep/deep.txt"),
        *("units/hosted-backup-mine.service", "cron/hosted-backup-mine", "metrics/hosted-backup-mine.prom"),
    )
    machine.sandbox.seed(SERVICES)
    weekly = {**NIGHTLY, "name": "weekly"}
    machine.install(NIGHTLY, weekly).succeed()
    copy = machine.folder / "etc" / "copy.yml"
    copy.write_text((machine.folder / "etc" / "weekly.yml").read_text())
    foreign["etc/copy.yml"] = copy.read_text()
    assert machine.run("run", "nightly")[0] == 0
    for name, text in contents(machine).items():
        if name not in foreign and name != "etc/token":
            whose = "" if name.startswith("rules") else f" in {machine.folder}/etc"
            assert f"{MARK}{whose}: {Path(name).name}" in text, name
    machine.install(weekly).succeed()
    left = contents(machine)
    assert {name for name in left if "nightly" in name} == {"state/nightly.json", "state/nightly.lock"}
    assert foreign.items() <= left.items()
    run = machine.install(backups_state="absent").succeed()
    assert contents(machine) == foreign
    assert "etc/mine.yml" in run.stdout, "it says what it leaves"
    for name in foreign:
        (machine.folder / name).unlink()
    (machine.folder / "state" / "keep").rmdir()
    machine.install(backups_state="absent").succeed()
    assert not (machine.folder / "etc").exists() and not (machine.folder / "state").exists()


@pytest.mark.parametrize(
    "name",
    ["etc/nightly.yml", "etc/environment", "bin/hosted-backup", "units/hosted-backup-nightly.timer"],
)
def test_a_foreign_file_in_the_way_is_not_overwritten(machine: BackupMachine, name: str) -> None:
    """The role says which it is, before it writes anything."""
    foreign = put(machine, name)
    run = machine.install(NIGHTLY)
    assert run.rc != 0
    assert str(machine.folder / name) in run.stdout and "not written by this role" in run.stdout
    assert contents(machine) == foreign


@pytest.mark.parametrize("state", ["present", "absent"])
def test_the_schedules_of_another_installation_stay(machine: BackupMachine, state: str) -> None:
    """One with plans in another folder, for another account say, has schedules of its own there."""
    machine.install(NIGHTLY).succeed()
    before = contents(machine)
    other = str(machine.folder / "other")
    run = machine.install({**NIGHTLY, "name": "weekly"}, backups_config_dir=other, backups_state=state)
    assert run.rc != 0
    assert "belongs to another installation" in run.stdout and str(machine.folder / "etc") in run.stdout
    assert contents(machine) == before
    assert not Path(other).exists()


@pytest.mark.parametrize("scheduler", ["cron", "systemd"])
def test_two_installations_share_the_folders_of_the_machine(machine: BackupMachine, scheduler: str) -> None:
    """As for two accounts: neither removes, overwrites or takes over what is the other's."""
    machine.install(NIGHTLY, backups_scheduler=scheduler).succeed()
    first = contents(machine)
    own = {
        f"backups_{name}_dir": str(machine.folder / f"second-{name}") for name in ("config", "state", "bin")
    }
    (machine.folder / "second-bin").mkdir()
    shared: dict[str, Any] = {**own, "backups_scheduler": scheduler}
    refused = machine.install(NIGHTLY, **shared)
    assert refused.rc != 0
    assert f"whose plans are in {machine.folder}/etc. Give the plan another name." in refused.stdout
    assert contents(machine) == first and not (machine.folder / "second-config").exists()
    weekly = {**NIGHTLY, "name": "weekly"}
    machine.install(weekly, **shared).succeed()
    both = contents(machine)
    assert first.items() <= both.items()
    assert sum("weekly" in name for name in both) == {"cron": 1, "systemd": 2}[scheduler]
    assert "changed=0 " in machine.install(weekly, **shared).succeed().stdout
    assert "changed=0 " in machine.install(NIGHTLY, backups_scheduler=scheduler).succeed().stdout
    machine.install(**shared, backups_state="absent").succeed()
    assert contents(machine) == first


def test_a_foreign_link_in_the_way_is_not_followed(machine: BackupMachine) -> None:
    """What it leads to is somebody else's."""
    machine.install(NIGHTLY).succeed()
    plan = machine.folder / "etc" / "nightly.yml"
    elsewhere = machine.folder / "elsewhere.yml"
    plan.rename(elsewhere)
    plan.symlink_to(elsewhere)
    assert machine.install(NIGHTLY).rc != 0
    machine.install(backups_state="absent").succeed()
    assert plan.is_symlink() and elsewhere.exists()


def test_a_foreign_report_in_the_way_is_not_overwritten(machine: BackupMachine) -> None:
    """The run backs up, and says at the end that it could not report there."""
    one = machine.sandbox.seed(SERVICES)["services"]["one"]
    machine.install(NIGHTLY).succeed()
    foreign = put(machine, "state/nightly.json", "metrics/hosted-backup-nightly.prom")
    code, output = machine.run("run", "nightly")
    assert code not in (0, 75), output
    assert len(machine.names(one)) == 1
    assert foreign.items() <= contents(machine).items()


# --- Off-site copies --------------------------------------------------------------------------------------


def test_a_folder_of_copies_that_is_missing_is_not_made_anew(machine: BackupMachine) -> None:
    """As where a disk is not mounted: neither by a run, which backs up all the same, nor by the role."""
    one = machine.sandbox.seed(SERVICES)["services"]["one"]
    shelf = machine.folder / "shelf"
    plan = {**NIGHTLY, "offsite": {"dest": str(shelf)}}
    assert "Skipped" not in machine.install(plan).succeed().output
    shelf.rename(machine.folder / "disk")
    shelf.mkdir()
    code, output = machine.run("run", "nightly", "-e", "backups_run_name=nightly-20260101T020000Z")
    assert code not in (0, 75), output
    assert f"{shelf} does not exist, or is not the folder" in output and "Is a disk not mounted?" in output
    assert len(machine.names(one)) == 1
    shelf.rmdir()
    assert "Is a disk not mounted?" in machine.install(plan).stdout
    assert not shelf.exists()


# --- The token --------------------------------------------------------------------------------------------


def test_a_token_of_somebody_else_is_neither_replaced_nor_removed(machine: BackupMachine) -> None:
    """It is used when the role is given none; the role's own one is renewed and removed."""
    foreign = put(machine, "etc/token", text=f"{machine.sandbox.token}\n")
    run = machine.install(NIGHTLY, backups_token="another")
    assert run.rc != 0 and "not written by this role" in run.stdout
    assert contents(machine) == foreign
    machine.install({**NIGHTLY, "name": "other"}, without="backups_token").succeed()
    machine.install(backups_state="absent").succeed()
    assert contents(machine) == foreign


def test_the_token_of_the_role_is_renewed_and_removed(machine: BackupMachine) -> None:
    """As long as it is what the role has written."""
    machine.install(NIGHTLY, backups_token="first").succeed()
    machine.install(NIGHTLY, backups_token="second").succeed()
    token = machine.folder / "etc" / "token"
    assert token.read_text() == "second"
    token.write_text("by hand")
    assert machine.install(NIGHTLY, backups_token="second").rc != 0
    assert token.read_text() == "by hand"
    machine.install(NIGHTLY, backups_token="by hand").succeed()
    machine.install(backups_state="absent").succeed()
    assert contents(machine) == {}


def test_folders_in_another_spelling(machine: BackupMachine) -> None:
    """They are the same folders: nothing changes, a token is renewed, and nothing is left."""
    names = {"config": "etc", "bin": "bin", "state": "state", "unit": "units", "textfile": "metrics"}
    odd = {f"backups_{name}_dir": f"{machine.folder}//{folder}/" for name, folder in names.items()}
    odd["backups_rules_dir"] = f"{machine.folder}/rules/."
    machine.install(NIGHTLY, backups_token="first").succeed()
    assert "changed=0 " in machine.install(NIGHTLY, backups_token="first", **odd).succeed().stdout
    machine.install(NIGHTLY, backups_token="second", **odd).succeed()
    assert (machine.folder / "etc" / "token").read_text() == "second"
    relative = machine.install(NIGHTLY, **{**odd, "backups_textfile_dir": "~/metrics"})
    assert relative.rc != 0 and "backups_textfile_dir is" in relative.stdout
    machine.install(backups_state="absent", **odd).succeed()
    assert contents(machine) == {}
