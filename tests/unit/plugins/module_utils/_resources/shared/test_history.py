# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The history tells what tasks did, bounded by age and size, and never stands in their way."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_password import SFTP_PASSWORD
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import journal
from hosted_sandbox.testing import Sandbox
from unit.plugins.interruptions import ended, fill_disk, struck
from unit.plugins.module_utils._resources.platform import run

ORDER: dict[str, Any] = {
    **{"name": "survival", "product": "minecraft", "host": "node-paris-1"},
    "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def told(sandbox: Sandbox, **given: Any) -> Any:
    """Return the history that a report tells, up to an hour from now."""
    until = f"{datetime.now(UTC) + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
    return run(sandbox, REPORT_INFO, as_of=until, **given)["report"]["history"]


def line(at: str, change: str = "start it") -> dict[str, str]:
    return {"at": at, "change": change}


def add(folder: Path, line: dict[str, str]) -> None:
    journal.add_line(f"{folder}/{line['at']:.7}.jsonl", json.dumps(line))


def changes(folder: Path) -> list[str]:
    texts = [file.read_text() for file in sorted(folder.glob("*.jsonl*")) if not file.name.endswith(".lock")]
    return [json.loads(text)["change"] for text in "\n".join(texts).split("\n") if text]


def test_a_report_tells_what_was_done_by_whom_and_what_it_costs(sandbox: Sandbox) -> None:
    run(sandbox, PROJECT, name="staging")
    run(sandbox, SERVICE, check_mode=True, **ORDER)
    ordered = run(sandbox, SERVICE, **ORDER, project="staging")
    run(sandbox, SERVICE, **ORDER, project="staging")
    made, order = told(sandbox)
    assert (made["module"], made["change"], made["outcome"]) == (
        "project",
        "create project 'staging'",
        "done",
    )
    assert "monthly_after" not in made and "@" in made["who"]
    assert order["change"] == f"{ordered['actions'][0]} in project 'staging'"
    assert order["monthly_after"] == ordered["cost"]["monthly_after"]
    assert told(sandbox, project="staging") is None


def test_what_was_refused_is_no_change_and_what_may_have_been_made_is_told_as_that(sandbox: Sandbox) -> None:
    sandbox.fault("projects.create", "status", status=403)
    assert run(sandbox, PROJECT, name="refused")["failed"]
    sandbox.fault("sftp.password", "reset", when="after", count=None)
    assert run(sandbox, SFTP_PASSWORD, service="one", retries=0)["failed"]
    sandbox.clear_faults()
    (unknown,) = told(sandbox)
    assert (unknown["module"], unknown["outcome"]) == ("sftp_password", "unknown")


def test_a_secret_is_in_no_line(sandbox: Sandbox, home: Path) -> None:
    """Here somebody pasted the token into a name."""
    assert run(sandbox, PROJECT, name=f"of {sandbox.token}")["changed"]
    (file,) = (home / "history").rglob("*.jsonl")
    assert "create project 'of " in file.read_text() and sandbox.token not in file.read_text()


def test_a_history_that_cannot_be_written_is_told_and_stops_nothing(sandbox: Sandbox, home: Path) -> None:
    home.mkdir(mode=0o700)
    (home / "history").write_text("a file stands where the folder belongs")
    done = run(sandbox, PROJECT, name="staging")
    assert done["changed"] and not done.get("failed")
    assert "is not in the history of this controller" in done["warnings"][0]


def test_lines_of_old_months_go(tmp_path: Path) -> None:
    folder = tmp_path / "account"
    for at in (
        "2025-09-30T00:00:00Z",
        "2025-10-01T00:00:00Z",
        "2025-11-01T00:00:00Z",
        "2026-11-30T00:00:00Z",
    ):
        add(folder, line(at, at))
    assert changes(folder) == ["2025-11-01T00:00:00Z", "2026-11-30T00:00:00Z"]


def test_an_old_file_that_cannot_go_costs_no_line(tmp_path: Path) -> None:
    """Nor does one that another task removes in the same moment."""
    folder = tmp_path / "account"
    (folder / "2020-01.jsonl").mkdir(parents=True)
    folder.chmod(0o700)
    add(folder, line("2026-11-30T00:00:00Z", "made"))
    assert "made" in (folder / "2026-11.jsonl").read_text()


def test_a_full_file_is_put_aside_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MOST_BYTES", 2000)
    for number in range(100):
        add(tmp_path / "account", line("2026-11-30T00:00:00Z", f"{number}"))
    kept = sorted(map(int, changes(tmp_path / "account")))
    assert kept == list(range(kept[0], 100)), "the newest ones, without a gap"
    assert 20 < len(kept) < 80


def test_tasks_in_parallel_share_the_file(tmp_path: Path) -> None:
    lines = [line("2026-11-30T00:00:00Z", f"{number}") for number in range(200)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda each: add(tmp_path / "account", each), lines))
    assert sorted(map(int, changes(tmp_path / "account"))) == list(range(200))


@pytest.mark.parametrize("size", [10**9, 100])
def test_no_end_of_a_task_harms_the_other_lines(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed at each call of the system, and with a disk that is full from there on."""
    monkeypatch.setattr(journal, "MOST_BYTES", size)
    for number in count(1):
        folder = tmp_path / f"killed {number}"
        if not ended(lambda folder=folder: add(folder, line("2026-11-30T00:00:00Z")), number):  # type: ignore[misc]
            break
        add(folder, line("2026-11-30T00:00:01Z", "after"))
        assert changes(folder)[-1] == "after" or "after" in changes(folder)
    for number in count(1):
        folder = tmp_path / f"full {number}"
        try:
            if not struck(
                lambda folder=folder: add(folder, line("2026-11-30T00:00:00Z")),  # type: ignore[misc]
                number,
                fill_disk,
            ):
                break
        except OSError:
            add(folder, line("2026-11-30T00:00:01Z", "after"))
            assert "after" in changes(folder)


def test_damaged_lines_are_left_out(sandbox: Sandbox, home: Path) -> None:
    run(sandbox, PROJECT, name="staging")
    (file,) = (home / "history").rglob("*.jsonl")
    damage: Sequence[str] = ("", "{", "[]", "3", '{"at": 5}', "\x00")
    file.write_text("\n".join([*damage, file.read_text(), *damage]))
    assert [each["change"] for each in told(sandbox)] == ["create project 'staging'"]


def test_the_history_is_for_its_owner_alone(sandbox: Sandbox, home: Path) -> None:
    old = os.umask(0)
    try:
        run(sandbox, PROJECT, name="staging")
    finally:
        os.umask(old)
    (file,) = (home / "history").rglob("*.jsonl")
    modes = [path.stat().st_mode & 0o777 for path in (file, file.parent, file.parent.parent)]
    assert modes == [0o600, 0o700, 0o700]
