# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles for plans: what they install, remove and refuse, and that files of others stay as they are.

They share role `scheduled_plans`. What that does alone is shown with role `backups`.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import MACHINES, NIGHTLY, BackupMachine, Systemd, processes, tool

pytestmark = pytest.mark.night

SERVICES: dict[str, Any] = {
    "services": [
        {"name": "one", "product": "minecraft", "project": "web"},
        {"name": "db", "product": "postgresql", "project": "shop"},
        {"name": "world", "product": "minecraft", "project": "games"},
    ]
}
MARK = "Managed by the role hosted.services.backups"


@pytest.fixture
def backups(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    sandbox.seed(SERVICES)
    return BackupMachine(tmp_path, sandbox)


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest, tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    sandbox.seed(SERVICES)
    return MACHINES[request.param](tmp_path, sandbox)


def put(machine: BackupMachine, *names: str, text: str = "of somebody else\n") -> dict[str, str]:
    """Let there be files that the role has not written; return them with what they hold."""
    for name in names:
        path = machine.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return dict.fromkeys(names, text)


# --- What is installed ----------------------------------------------------------------------------------


def test_what_is_installed_and_removed(machine: BackupMachine) -> None:
    """Units that systemd takes, a token that nobody reads, no change the second time; nothing at the end."""
    folder, name = machine.folder, machine.plan["name"]
    times = {} if machine.role == "sleep_schedule" else {"every": "weekly", "at": "05:30"}
    weekly = {**machine.plan, "name": "weekly", **times}
    machine.install(machine.plan, weekly).succeed()
    assert "changed=0 " in machine.install(machine.plan, weekly).succeed().stdout
    assert machine.sandbox.writes() == []
    assert stat.S_IMODE((folder / "etc" / "token").stat().st_mode) == 0o600
    units = sorted((folder / "units").iterdir())
    assert [unit.name for unit in units] == [
        f"{machine.program}-{plan}.{kind}" for plan in (name, "weekly") for kind in ("service", "timer")
    ]
    if shutil.which("systemd-analyze"):
        subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=True)
    texts = "".join(unit.read_text() for unit in units)
    assert "Persistent=true" in texts
    assert ("OnCalendar=Sun *-*-* 05:30:00" if times else "OnCalendar=*-*-* *:0/5:00") in texts
    assert ("RandomizedDelaySec=15min" in texts) == bool(times)
    with_token = [path for path, text in machine.contents().items() if machine.sandbox.token in text]
    assert with_token == ["etc/token"]
    assert machine.metrics(f"{machine.program}.prom")["since_timestamp_seconds"] > 0
    machine.good("run", name)
    machine.install(weekly).succeed()
    left = machine.contents()
    assert not [path for path in left if name in path and not path.startswith("state/")]
    for kind in MACHINES.values():
        if kind.role != machine.role:  # it takes nothing here for its own
            other = kind(folder, machine.sandbox)
            other.ansible = machine.ansible
            other.install(**{f"{kind.role}_state": "absent"}).succeed()
    assert machine.contents() == left
    machine.install(**{f"{machine.role}_state": "absent"}).succeed()
    assert machine.contents() == {}
    assert [path for path in ("etc", "state") if (folder / path).exists()] == []


CRON = {
    "backups": ({"at": "04:05"}, "5 4 * * *", "run nightly --quiet --jitter 15"),
    "drift_schedule": ({"every": "hourly", "at": "00:17"}, "17 * * * *", "run all --quiet --jitter 15"),
    "sleep_schedule": ({}, "*/10 * * * *", "run nights --quiet"),
}


def test_from_systemd_to_cron_and_back(machine: BackupMachine) -> None:
    """One of them runs a plan, and never both; cron says nothing unless a run fails.

    A timer is stopped and disabled while its unit is still there; one of somebody else runs on.
    """
    systemd, role, name = Systemd(machine), machine.role, machine.plan["name"]
    times, when, what = CRON[role]
    settings: dict[str, Any] = {
        f"{role}_activate": True,
        f"{role}_booted_by_systemd": str(systemd.state),
        f"{role}_processes": processes(machine, "cron"),
        "sleep_schedule_every_minutes": 10,
    }
    with_cron = {**settings, f"{role}_scheduler": "cron"}
    plan = {**machine.plan, **times}
    timer, foreign = f"{machine.program}-{name}.timer", f"{machine.program}-mine.timer"
    put(machine, f"units/{foreign}", text="[Timer]\n")
    (systemd.state / f"{foreign}.active").touch()
    running = sorted([f"{foreign}.active", f"{timer}.active", f"{timer}.enabled"])
    machine.install(plan, **settings).succeed()
    assert systemd.units() == running
    systemd.asked()

    machine.install(plan, **with_cron).succeed()
    assert systemd.units() == [f"{foreign}.active"]
    assert sorted(systemd.asked()) == ["daemon-reload", f"disable {timer} there", f"stop {timer} there"]
    assert [path.name for path in (machine.folder / "units").iterdir()] == [foreign]
    (entry,) = (machine.folder / "cron").iterdir()
    line = f"{when} {machine.values(machine.folder)[f'{role}_user']} {machine.command} {what}"
    assert entry.name == f"{machine.program}-{name}" and entry.read_text().splitlines()[-1] == line
    assert "changed=0 " in machine.install(plan, **with_cron).succeed().stdout
    assert machine.run("run", name, "--quiet") == (0, "")
    machine.sandbox.fault("*", "status", status=401, count=None)
    output = machine.bad("run", name, "--quiet")
    assert name in output
    machine.sandbox.clear_faults()

    machine.install(plan, **settings).succeed()
    assert systemd.units() == running and list((machine.folder / "cron").iterdir()) == []
    machine.install(**{**with_cron, f"{role}_state": "absent"}).succeed()
    assert systemd.units() == [f"{foreign}.active"]
    assert [path.name for path in (machine.folder / "units").iterdir()] == [foreign]


def test_what_is_installed_for_prometheus(backups: BackupMachine) -> None:
    """The limits of each plan, and since when it is there, which a second installation does not change.

    A time that a night may not have is told, as systemd runs nothing then; the usual one is one of every day.
    """
    weekly: dict[str, Any] = {**NIGHTLY, "name": "weekly", "every": "weekly", "critical_age": "1m1d"}
    backups.install(NIGHTLY).succeed()
    file = backups.folder / "metrics" / "hosted-backup.prom"
    file.write_text(re.sub(r"(since.*}) \d+", r"\1 12345", file.read_text()))
    run = backups.install(NIGHTLY, weekly, {**NIGHTLY, "name": "early", "at": "02:30"}).succeed()
    assert "plan early runs at 02:30" in run.stdout and "plan nightly runs" not in run.stdout
    assert "OnCalendar=*-*-* 04:00:00" in backups.contents()["units/hosted-backup-nightly.timer"]
    text = file.read_text()
    assert 'hosted_backup_since_timestamp_seconds{plan="nightly"} 12345\n' in text
    assert re.search(r'since_timestamp_seconds{plan="weekly"} \d{10}\n', text)
    limits = {"nightly": {"max": 26, "critical": 50}, "weekly": {"max": 8 * 24, "critical": 31 * 24}}
    for plan, hours in limits.items():
        for name, most in hours.items():
            assert f'hosted_backup_{name}_age_seconds{{plan="{plan}"}} {most * 3600}\n' in text
    assert "alert: HostedBackupNeverSucceeds" in backups.contents()["rules/hosted-backup.rules.yml"]


def test_a_scheduler_that_does_not_run_leaves_the_one_that_does(backups: BackupMachine) -> None:
    """Nothing is changed. Nor is it where systemd runs, and refuses the new timer.

    Units are removed there all the same, as in an image in which they were installed.
    """
    settings: dict[str, Any] = {"backups_activate": True, "backups_processes": processes(backups, "cron")}
    backups.install(NIGHTLY, backups_scheduler="cron", **settings).succeed()
    entry = backups.folder / "cron" / "hosted-backup-nightly"
    nowhere = {**settings, "backups_booted_by_systemd": str(backups.folder / "nowhere")}
    run = backups.install({**NIGHTLY, "at": "05:00"}, backups_scheduler="systemd", **nowhere)
    assert run.rc != 0 and "does not run on this machine" in run.stdout and entry.exists()
    assert "05:00" not in (backups.folder / "etc" / "nightly.yml").read_text()

    systemd = Systemd(backups)
    (backups.folder / "tools" / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    there = {**settings, "backups_booted_by_systemd": str(systemd.state)}
    assert backups.install(NIGHTLY, backups_scheduler="systemd", **there).rc != 0
    assert entry.exists()
    backups.install(NIGHTLY).succeed()
    assert len(list((backups.folder / "units").iterdir())) == 2
    backups.install(backups_state="absent", **nowhere).succeed()
    assert list((backups.folder / "units").iterdir()) == []


# --- What is refused ------------------------------------------------------------------------------------

NO_NAME = ({"name": "No Such Name"}, "needs a name of lowercase letters")
EMPTY = "is set but empty"
REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "backups": [
        (NO_NAME[0] | {"project": None}, NO_NAME[1]),
        ({"at": "25:00"}, "a time such as 02:00"),
        ({"project": None}, "cannot be used"),
        ({"project": "", "services": []}, "cannot be used"),
        *(({"keep": keep}, "would keep nothing") for keep in ({"failed": 1}, {"daily": 0, "within": ""})),
        *(({"keep": {"last": 3, name: -1}}, "no number below 0") for name in ("daily", "max_delete")),
        ({"keep": {"nightly": 1}}, "nightly"),
        *(({"keep": {"last": 2, "within": it}}, f'They are "{it}"') for it in ("0d", "soon", "7", "1w")),
        ({"offsite": {"dest": "copies"}}, 'They are "1d" and "copies"'),
        *(({"project": it, "services": ["one"]}, f"project {EMPTY}") for it in (None, "", "  ")),
        *(({"family": it}, f"family {EMPTY}") for it in (None, "", "  ")),
        *(({"services": it}, f"services {EMPTY}") for it in (None, "", "one,", [], [None], ["one", " "])),
        ({"keep": {"last": 2, "within": ""}}, EMPTY),
        ({"keep": {"last": 2, "time_zone": None}}, EMPTY),
        *((it, EMPTY) for it in ({"max_age": ""}, {"on_failure": None}, {"before": [""]})),
        ({"offsite": {"dest": "/srv", "private_key_file": ""}}, EMPTY),
    ],
    "drift_schedule": [
        NO_NAME,
        ({"at": "24:00"}, "a time such as 02:00"),
        ({"blueprints": []}, "needs blueprints"),
        ({"blueprints": [""]}, "must be an absolute path"),
        ({"blueprints": ["shop.yml"]}, "must be an absolute path"),
        ({"blueprints": ["/srv/*/shop.yml"]}, "in the name of the file only"),
        ({"blueprints": ["/no/such/shop.yml"]}, "/no/such/shop.yml: no such file"),
        ({"blueprints": ["/no/such/*.yml"]}, "/no/such/*.yml: no such file"),
        ({"state_dir": ""}, "must be an absolute path"),
    ],
    "sleep_schedule": [
        NO_NAME,
        ({"project": ""}, f"project {EMPTY}"),
        ({"services": []}, f"services {EMPTY}"),
        ({"time_zone": " "}, f"time_zone {EMPTY}"),
        ({"time_zone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"services": ["no-such-service"]}, "no service is named no-such-service"),
    ],
}  # fmt: skip
SETTINGS = ("config_dir", "state_dir", "base_url")
"""A folder of no name would be the root."""


def test_what_cannot_work_is_not_installed(machine: BackupMachine) -> None:
    """The error says what a plan needs, before anything is written. What holds nothing widens nothing."""
    role, cases = machine.role, list[dict[str, Any]]()
    plans = [({**machine.plan, **change}, says) for change, says in REFUSED[role]]
    cases += [{f"{role}_plans": [plan]} for plan, _says in plans]
    cases += [{f"{role}_plans": [machine.plan], f"{role}_{name}": ""} for name in SETTINGS]
    expected = [says for _plan, says in plans] + [f"{role}_{name} is empty" for name in SETTINGS]
    told = machine.refusals(*cases)
    wrong = [(case, text) for case, says, text in zip(cases, expected, told, strict=True) if says not in text]
    assert wrong == []
    assert machine.sandbox.writes() == []


def test_a_slip_removes_nothing(backups: BackupMachine) -> None:
    """One in the name of the variable leaves its default, which is no wish to have no backups."""
    backups.install(NIGHTLY).succeed()
    before = backups.contents()
    told = "every plan that is installed would be removed"
    slips: list[tuple[dict[str, Any], str]] = [
        ({"backups_plan": [NIGHTLY], "without": "backups_plans"}, told),
        ({"backups_plans": []}, told),
        ({"backups_plans": None, "backups_allow_no_plans": True}, ""),
        ({"backups_plans": [], "backups_allow_no_plans": "false"}, told),  # as a command line gives it
        ({"backups_plans": [NIGHTLY], "backups_token": ""}, "backups_token is empty"),
        ({"backups_plans": [NIGHTLY], "backups_token": None}, "backups_token is empty"),
    ]
    for slip, says in slips:
        run = backups.install(**slip)
        assert run.rc != 0 and says in run.stdout, slip
        assert backups.contents() == before
    backups.install(backups_plans=[], backups_allow_no_plans=True).succeed()
    assert set(backups.contents()) == {
        "bin/hosted-backup",
        "etc/environment",
        "etc/token",
        "etc/token.sha256",
        "rules/hosted-backup.rules.yml",
    }


def test_what_would_never_run_is_not_installed(backups: BackupMachine) -> None:
    """Without a daemon that reads the entries, or programs that a run needs; unless it is not at work yet."""
    nobody, somebody = processes(backups, "sh", "cronut"), processes(backups, "sh", "crond")
    cron: dict[str, Any] = {"backups_scheduler": "cron"}
    for seen in (nobody, str(backups.folder / "none")):
        run = backups.install(NIGHTLY, backups_activate=True, backups_processes=seen, **cron)
        assert run.rc != 0 and "no backup would ever be made" in run.stdout
    usual = backups.ansible.environment["PATH"]
    backups.ansible.environment["PATH"] = tool(backups.folder / "tools", "flock", "exit 1")
    run = backups.install(NIGHTLY, backups_activate=True, backups_processes=somebody, **cron)
    assert run.rc != 0 and "flock of util-linux and timeout of coreutils" in run.stdout
    assert backups.contents() == {}
    idle = backups.install(NIGHTLY, backups_processes=nobody, **cron).succeed()
    assert "No cron daemon runs on this machine" in idle.stdout
    backups.ansible.environment["PATH"] = usual
    run = backups.install(NIGHTLY, backups_activate=True, backups_processes=somebody, **cron).succeed()
    assert "No cron daemon runs on this machine" not in run.stdout


# --- Files of others ------------------------------------------------------------------------------------


def test_every_file_bears_the_mark_and_only_those_go(backups: BackupMachine) -> None:
    """Foreign files stay where they are and as they are, and so do the folders that hold them."""
    foreign = put(
        backups,
        *("etc/mine.yml", "etc/notes.txt", "state/other.json", "state/keep/deep.txt"),
        *("units/hosted-backup-mine.service", "cron/hosted-backup-mine", "metrics/hosted-backup-mine.prom"),
    )
    weekly = {**NIGHTLY, "name": "weekly"}
    backups.install(NIGHTLY, weekly).succeed()
    copy = backups.folder / "etc" / "copy.yml"
    copy.write_text((backups.folder / "etc" / "weekly.yml").read_text())
    foreign["etc/copy.yml"] = copy.read_text()
    backups.good("run", "nightly")
    for name, text in backups.contents().items():
        if name not in foreign and name != "etc/token":
            whose = "" if name.startswith("rules") else f" in {backups.folder}/etc"
            assert f"{MARK}{whose}: {Path(name).name}" in text, name
    backups.install(weekly).succeed()
    left = backups.contents()
    assert {name for name in left if "nightly" in name} == {"state/nightly.json", "state/nightly.lock"}
    assert foreign.items() <= left.items()
    run = backups.install(backups_state="absent").succeed()
    assert backups.contents() == foreign
    assert "etc/mine.yml" in run.stdout, "it says what it leaves"


def test_what_is_in_the_way_is_neither_overwritten_nor_followed(backups: BackupMachine) -> None:
    """The role names it before it writes anything. What a link leads to is somebody else's."""
    files = ("etc/nightly.yml", "etc/environment", "bin/hosted-backup", "units/hosted-backup-nightly.timer")
    foreign = put(backups, *files)
    run = backups.install(NIGHTLY)
    assert run.rc != 0 and "not written by this role" in run.stdout
    assert [name for name in files if f"{backups.folder}/{name}" not in run.stdout] == []
    assert backups.contents() == foreign
    for name in foreign:
        (backups.folder / name).unlink()
    backups.install(NIGHTLY).succeed()
    plan, elsewhere = backups.folder / "etc" / "nightly.yml", backups.folder / "elsewhere.yml"
    plan.rename(elsewhere)
    plan.symlink_to(elsewhere)
    assert backups.install(NIGHTLY).rc != 0
    backups.install(backups_state="absent").succeed()
    assert plan.is_symlink() and elsewhere.exists()


@pytest.mark.parametrize("scheduler", ["cron", "systemd"])
def test_two_installations_share_the_folders_of_the_machine(backups: BackupMachine, scheduler: str) -> None:
    """As for two accounts: neither removes, overwrites or takes over what is the other's."""
    folder, weekly = backups.folder, {**NIGHTLY, "name": "weekly"}
    backups.install(NIGHTLY, backups_scheduler=scheduler).succeed()
    first = backups.contents()
    for state in ("present", "absent"):
        run = backups.install(weekly, backups_config_dir=str(folder / "other"), backups_state=state)
        assert run.rc != 0 and f"belongs to another installation (config={folder}/etc)" in run.stdout
    own = {f"backups_{name}_dir": str(folder / f"second-{name}") for name in ("config", "state", "bin")}
    (folder / "second-bin").mkdir()
    shared: dict[str, Any] = {**own, "backups_scheduler": scheduler}
    refused = backups.install(NIGHTLY, **shared)
    assert refused.rc != 0
    assert f"whose plans are in {folder}/etc. Give the plan another name." in refused.stdout
    assert backups.contents() == first
    assert not (folder / "second-config").exists() and not (folder / "other").exists()
    backups.install(weekly, **shared).succeed()
    both = backups.contents()
    assert first.items() <= both.items()
    assert sum("weekly" in name for name in both) == {"cron": 1, "systemd": 2}[scheduler]
    assert "changed=0 " in backups.install(weekly, **shared).succeed().stdout
    assert "changed=0 " in backups.install(NIGHTLY, backups_scheduler=scheduler).succeed().stdout
    backups.install(**shared, backups_state="absent").succeed()
    assert backups.contents() == first


def test_a_token_of_somebody_else_is_neither_replaced_nor_removed(backups: BackupMachine) -> None:
    """It is used when the role is given none."""
    foreign = put(backups, "etc/token", text=f"{backups.sandbox.token}\n")
    run = backups.install(NIGHTLY, backups_token="another")
    assert run.rc != 0 and "not written by this role" in run.stdout
    assert backups.contents() == foreign
    backups.install(NIGHTLY, without="backups_token").succeed()
    backups.install(backups_state="absent").succeed()
    assert backups.contents() == foreign


def test_the_token_of_the_role_is_renewed_and_removed(backups: BackupMachine) -> None:
    """As long as it is what the role has written; folders in another spelling are the same folders."""
    names = {"config": "etc", "bin": "bin", "state": "state", "unit": "units", "textfile": "metrics"}
    odd = {f"backups_{name}_dir": f"{backups.folder}//{folder}/" for name, folder in names.items()}
    odd["backups_rules_dir"] = f"{backups.folder}/rules/."
    backups.install(NIGHTLY, backups_token="first").succeed()
    assert "changed=0 " in backups.install(NIGHTLY, backups_token="first", **odd).succeed().stdout
    backups.install(NIGHTLY, backups_token="second", **odd).succeed()
    token = backups.folder / "etc" / "token"
    assert token.read_text() == "second"
    relative = backups.install(NIGHTLY, **{**odd, "backups_textfile_dir": "~/metrics"})
    assert relative.rc != 0 and "backups_textfile_dir is" in relative.stdout
    token.write_text("by hand")
    assert backups.install(NIGHTLY, backups_token="second").rc != 0
    assert token.read_text() == "by hand"
    backups.install(NIGHTLY, backups_token="by hand").succeed()
    backups.install(backups_state="absent", **odd).succeed()
    assert backups.contents() == {}


# --- Texts that look like templates ---------------------------------------------------------------------

TEMPLATES = ("{{ 6 * 7 }}", "{% raw %}{{ 1 }}{% endraw %}", "Map {#1}", "${#x}", "#jinja2: x", "{{ '{{' }}")
"""Texts that are no templates where somebody marks them so, also not on their way to disk and back."""


class Unsafe(str):
    """A text that a playbook marks with ``!unsafe``."""


yaml.SafeDumper.add_representer(
    Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"')
)


def test_hooks_and_names_are_rendered_once(backups: BackupMachine) -> None:
    """What is marked as unsafe is run as it is written, and what a template gives is no template."""
    services = [{"name": name, "product": "minecraft", "project": "web"} for name in TEMPLATES]
    backups.sandbox.seed({"services": services})
    log = backups.folder / "log"
    say: list[str] = [Unsafe(f"cat >>{log} <<'END'\n{text}\nEND") for text in TEMPLATES]
    say += [Unsafe(f"x=abc; echo ${{#x}} >>{log}"), "{% raw %}echo '{{.Names}}' >>" + f"{log}{{% endraw %}}"]
    plan = {**NIGHTLY, "before": say, "after": Unsafe(f"echo '{{{{ end }}}}' >>{log}")}
    given = {"backups_plans": [{**plan, "services": [*map(Unsafe, TEMPLATES)]}]}
    (backups.folder / "group_vars").mkdir()
    (backups.folder / "group_vars" / "all.yml").write_text(yaml.safe_dump(given))
    backups.install(without="backups_plans").succeed()
    assert "changed=0 " in backups.install(without="backups_plans").succeed().stdout
    backups.good("run", "nightly")
    assert log.read_text().splitlines() == [*TEMPLATES, "3", "{{.Names}}", "{{ end }}"]
    backed_up = [made["path"] for made in backups.sandbox.journal("backups.create")]
    assert len(backed_up) == len(TEMPLATES)
