# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What public reports about roles for plans tell: what looks like a template, and runs that
cannot begin."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTLY, BackupMachine, Systemd, processes
from integration.drift_machine import DriftMachine
from integration.sleep_machine import NIGHTS, SleepMachine

pytestmark = pytest.mark.night

TEMPLATES = ("{{ 6 * 7 }}", "{% raw %}{{ 1 }}{% endraw %}", "Map {#1}", "${#x}", "#jinja2: x", "{{ '{{' }}")
"""Texts that are no templates where somebody marks them so, also not on their way to disk and back."""


@pytest.fixture
def machine(tmp_path: Path, sandbox: Sandbox) -> BackupMachine:
    """A machine on which nothing is installed yet."""
    return BackupMachine(tmp_path, sandbox)


class Unsafe(str):
    """A text that a playbook marks with ``!unsafe``."""


yaml.SafeDumper.add_representer(
    Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"')
)


# --- Texts that look like templates -----------------------------------------------------------------------


def test_hooks_and_names_are_rendered_once(machine: BackupMachine) -> None:
    """What is marked as unsafe is run as it is written, and what a template gives is no template."""
    services = [{"name": name, "product": "minecraft", "project": "web"} for name in TEMPLATES]
    machine.sandbox.seed({"services": services})
    log = machine.folder / "log"
    say: list[str] = [Unsafe(f"cat >>{log} <<'END'\n{text}\nEND") for text in TEMPLATES]
    say += [Unsafe(f"x=abc; echo ${{#x}} >>{log}"), "{% raw %}echo '{{.Names}}' >>" + f"{log}{{% endraw %}}"]
    plan = {**NIGHTLY, "before": say, "after": Unsafe(f"echo '{{{{ end }}}}' >>{log}")}
    given = {"backups_plans": [{**plan, "services": [*map(Unsafe, TEMPLATES)]}]}
    (machine.folder / "group_vars").mkdir()
    (machine.folder / "group_vars" / "all.yml").write_text(yaml.safe_dump(given))
    machine.install(without="backups_plans").succeed()
    assert "changed=0 " in machine.install(without="backups_plans").succeed().stdout
    code, output = machine.run("run", "nightly")
    assert code == 0, output
    assert log.read_text().splitlines() == [*TEMPLATES, "3", "{{.Names}}", "{{ end }}"]
    backed_up = [made["path"] for made in machine.sandbox.journal("backups.create")]
    assert len(backed_up) == len(TEMPLATES)


# --- Runs that cannot begin -------------------------------------------------------------------------------


def gone(machine: BackupMachine) -> None:
    """The disk of the state is not mounted."""
    (machine.folder / "state").rename(machine.folder / "elsewhere")


def unwritable(machine: BackupMachine) -> None:
    """A lock cannot be written, as on a disk that is read-only or full."""
    lock = machine.folder / "state" / "nightly.lock"
    lock.unlink(missing_ok=True)
    lock.mkdir()


def without_environment(machine: BackupMachine) -> None:
    """A file that every run reads is lost."""
    (machine.folder / "etc" / "environment").unlink()


def without_locale(machine: BackupMachine) -> None:
    """Ansible does not start where its locale is not installed."""
    with (machine.folder / "etc" / "environment").open("a") as file:
        file.write("LC_ALL=xx_XX.UTF-8\n")


def without_ansible(machine: BackupMachine) -> None:
    """The environment of Ansible was removed."""
    command = machine.command.read_text()
    machine.command.write_text(command.replace("\nplaybook=", "\nplaybook=/nowhere"))


CAUSES = [gone, without_locale, unwritable, without_environment, without_ansible]


@pytest.mark.parametrize("cause", CAUSES)
def test_a_run_that_cannot_begin_is_an_alarm(
    cause: Callable[[BackupMachine], None], machine: BackupMachine
) -> None:
    """With its hooks and its metrics, by cron as well, and the check does not say that all is well."""
    machine.sandbox.seed({"services": [{"name": "one", "product": "minecraft", "project": "web"}]})
    machine.warm = cause is not without_locale  # a fork has looked at it before
    log = machine.folder / "log"
    hooks = ["exit 3", r"""echo "$BACKUP_PLAN: it's $BACKUP_ERROR" >>"$HOME/log" """]
    machine.install({**NIGHTLY, "on_failure": hooks}).succeed()
    before = machine.run("run", "nightly")
    assert before[0] == 0 and machine.metrics()["run_problems"] == 0, before[1]
    cause(machine)
    for times, quiet in enumerate(([], ["--quiet"]), 1):
        code, output = machine.run("run", "nightly", *quiet)
        assert code not in (0, 75) and "plan nightly: " in output, output
        told = log.read_text().splitlines()
        assert len(told) == times and told[-1].startswith("nightly: it's "), told
        assert "a hook of on_failure ended with exit code 3" in output
    said = machine.metrics()
    assert said["run_problems"] == 1 and said["run_timestamp_seconds"] >= said["success_timestamp_seconds"]
    code, line = machine.run("check", "nightly")
    assert line.count("\n") == 1
    assert (code, line.split(":")[0]) == (3, "UNKNOWN") or cause is unwritable


@pytest.mark.parametrize("kind", [SleepMachine, DriftMachine])
def test_the_metrics_of_the_other_plans_tell_it_too(
    kind: type[SleepMachine | DriftMachine], tmp_path: Path, sandbox: Sandbox
) -> None:
    """Also before any run came to its end."""
    machine = kind(tmp_path, sandbox)
    plan = machine.plan if isinstance(machine, DriftMachine) else NIGHTS
    sandbox.seed({"services": [{"name": "web", "product": "minecraft", "project": "shop"}]})
    machine.install(plan).succeed()
    gone(machine)
    assert machine.run("run", str(plan["name"]))[0] not in (0, 75)
    (file,) = (tmp_path / "metrics").glob(f"*-{plan['name']}.prom")
    problems = [line for line in file.read_text().splitlines() if "run_problems{" in line]
    assert [line.rpartition(" ")[2] for line in problems] == ["1"] and file.stat().st_mode & 0o777 == 0o644


def test_a_folder_for_scratch_that_is_gone_stops_no_run(machine: BackupMachine) -> None:
    """By cron neither, which mails what a run says. The check says that it could not be made."""
    machine.sandbox.seed({"services": [{"name": "one", "product": "minecraft", "project": "web"}]})
    environment: dict[str, Any] = {"backups_environment": {"TMPDIR": str(machine.folder / "nowhere")}}
    machine.install(NIGHTLY, **environment).succeed()
    assert machine.run("run", "nightly", "--quiet") == (0, "")
    code, line = machine.run("check", "nightly")
    assert (code, line.count("\n")) == (3, 1) and line.startswith("UNKNOWN: ") and "nowhere" in line, line


# --- The schedule -----------------------------------------------------------------------------------------


def test_a_scheduler_that_does_not_run_leaves_the_one_that_does(machine: BackupMachine) -> None:
    """Nothing is changed. Nor is it where systemd runs, and refuses the new timer."""
    settings: dict[str, Any] = {
        "backups_activate": True,
        "backups_processes": processes(machine, "cron"),
    }
    machine.install(NIGHTLY, backups_scheduler="cron", **settings).succeed()
    entry = machine.folder / "cron" / "hosted-backup-nightly"
    nowhere = {**settings, "backups_booted_by_systemd": str(machine.folder / "nowhere")}
    run = machine.install({**NIGHTLY, "at": "05:00"}, backups_scheduler="systemd", **nowhere)
    assert run.rc != 0 and "does not run on this machine" in run.stdout and entry.exists()
    assert "05:00" not in (machine.folder / "etc" / "nightly.yml").read_text()

    systemd = Systemd(machine)
    (machine.folder / "tools" / "systemctl").write_text("#!/bin/sh\nexit 1\n")
    there = {**settings, "backups_booted_by_systemd": str(systemd.state)}
    assert machine.install(NIGHTLY, backups_scheduler="systemd", **there).rc != 0
    assert entry.exists()


def test_units_are_removed_where_systemd_does_not_run(machine: BackupMachine) -> None:
    """As in an image in which they were installed."""
    machine.install(NIGHTLY).succeed()
    nowhere: dict[str, Any] = {
        "backups_activate": True,
        "backups_booted_by_systemd": str(machine.folder / "nowhere"),
    }
    machine.install(backups_state="absent", **nowhere).succeed()
    assert list((machine.folder / "units").iterdir()) == []
