# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kill -9 at some point of a run, then another run: no backup lost, none twice, and the lock is free.

BACKUP_KILLS is after how many of a run's requests it is killed, as `3,11` or as a range `1-40`.
"""

from __future__ import annotations

import os
import signal
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.backup_machine import NIGHTLY, BackupMachine
from integration.killing import LOOK_SECONDS, Counter, kill_points, kill_run, left_of, processes_of

pytestmark = pytest.mark.night


@pytest.mark.parametrize("point", [*kill_points("BACKUP_KILLS", "4,10")])
def test_a_run_that_is_killed(point: int, tmp_path: Path, sandbox: Sandbox) -> None:
    """The next run finds the lock free and leaves exactly what the policy keeps."""
    service = {"name": "one", "product": "minecraft", "project": "web"}
    ids = sandbox.seed({"services": [service, {**service, "name": "two"}]})["services"]
    old = [f"nightly-2026010{day}t020000z" for day in (1, 2, 3)]
    for id in ids.values():
        for age, name in zip((3, 2, 1), old, strict=True):
            made = (datetime.now(UTC) - timedelta(days=age)).isoformat()
            sandbox.operator(f"services/{id}/backups", name=name, status="COMPLETED", created_at=made)
    machine = BackupMachine(tmp_path, sandbox)
    machine.warm = False
    machine.install(NIGHTLY).succeed()
    sandbox.clear_journal()
    sandbox.fault("*", "latency", latency=0.05, count=None)
    run = machine.start("run", "nightly", "-e", "backups_run_name=nightly-20260104t020000z")
    seen = Counter(sandbox)
    while run.poll() is None and seen.requests() < point:
        time.sleep(LOOK_SECONDS)
    kill_run(machine.folder, run.pid)
    run.communicate(timeout=60)
    sandbox.clear_faults()
    for id in ids.values():
        assert len(set(machine.names(id))) == len(machine.names(id))
        assert machine.names(id)[-1] >= old[-1]

    name = "nightly-20260104t020000z" if point % 2 else "nightly-20260105t020000z"
    machine.good("run", "nightly", "-e", f"backups_run_name={name}")
    asked: dict[str, list[str]] = {id: [] for id in ids.values()}
    for line in sandbox.journal("backups.create"):
        asked[line["path"].split("/")[3]].append(line["body"]["name"])
    for id in ids.values():
        assert len(set(asked[id])) == len(asked[id])
        assert machine.names(id) == [*old, *asked[id]][-2:]
        assert {backup["status"] for backup in machine.backups(id)} == {"COMPLETED"}


@pytest.mark.parametrize("victim", ["command", "playbook"])
def test_what_outlives_a_run_that_is_killed(victim: str, tmp_path: Path, sandbox: Sandbox) -> None:
    """A child that goes on keeps no lock: it ends with its run, or else the next run finds and ends it."""
    sandbox.seed({"services": [{"name": "one", "product": "minecraft", "project": "web"}]})
    machine = BackupMachine(tmp_path, sandbox)
    machine.warm = False
    hook = f"test -e {tmp_path}/again || {{ echo $$ >{tmp_path}/pid; exec sleep 600; }}"
    machine.install({**NIGHTLY, "before": [hook]}).succeed()
    run = machine.start("run", "nightly")
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert run.poll() is None
        time.sleep(0.05)
    child = int((tmp_path / "pid").read_text())
    os.kill(run.pid if victim == "command" else only_child(run.pid), signal.SIGKILL)
    run.wait(timeout=60)
    assert run.returncode == (-signal.SIGKILL if victim == "command" else 128 + signal.SIGKILL)
    assert run.stdout is not None
    if victim == "playbook":
        assert "the run was killed by signal 9" in run.stdout.read()
        assert child not in [*processes_of(machine.folder)]
    run.stdout.close()
    (tmp_path / "again").touch()
    output = machine.good("run", "nightly")
    assert ("the run before was cut off" in output) == (victim == "command")
    assert left_of(machine.folder) == []
    assert len(sandbox.journal("backups.create")) == 1


def test_a_run_that_hangs_is_ended(tmp_path: Path, sandbox: Sandbox) -> None:
    """Whoever started it; nothing of it is left to keep others out."""
    machine = BackupMachine(tmp_path, sandbox)
    machine.warm = False
    machine.install({**NIGHTLY, "before": ["sleep 600"]}, backups_deadline="3s").succeed()
    code, output = machine.run("run", "nightly")
    assert code == 124, output
    assert "the run was not over after 3s; whatever is left of it is ended now" in output
    assert left_of(machine.folder) == []
    assert "run=" not in (tmp_path / "state" / "nightly.lock").read_text()


def test_what_a_hook_leaves_running_stays(tmp_path: Path, sandbox: Sandbox) -> None:
    """A service that a hook starts is no part of the run, and keeps the next one from nothing."""
    sandbox.seed({"services": [{"name": "one", "product": "minecraft", "project": "web"}]})
    machine = BackupMachine(tmp_path, sandbox)
    machine.warm = False
    hook = f"test -e {tmp_path}/pid || {{ sleep 600 >/dev/null 2>&1 & echo $! >{tmp_path}/pid; }}"
    machine.install({**NIGHTLY, "after": [hook]}).succeed()
    for _night in range(2):
        machine.good("run", "nightly")
    left = int((tmp_path / "pid").read_text())
    assert left in [*processes_of(machine.folder)]
    os.kill(left, signal.SIGKILL)


def only_child(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)
