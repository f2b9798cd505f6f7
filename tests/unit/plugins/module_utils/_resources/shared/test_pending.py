# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written and not in effect survives on the controller until somebody clears it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    COMMAND,
    ENVIRONMENT,
    MAX_NOTES,
    NETWORK,
    Fingerprints,
    Pending,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

URL = "https://api.example.com"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "new" / "states")


def of(folder: str | None, id: str = "svc_1", url: str = URL) -> Pending:
    task: Any = SimpleNamespace(options=SimpleNamespace(state_dir=folder, base_url=url))
    return Pending.of(task, id)


def test_what_is_noted_is_outstanding_until_it_is_cleared(folder: str) -> None:
    of(folder).note(COMMAND)
    of(folder).note(ENVIRONMENT, prints={"A": "00"})
    assert of(folder).outstanding().keys() == {COMMAND, ENVIRONMENT}
    assert of(folder).outstanding()[ENVIRONMENT]["prints"] == {"A": "00"}
    of(folder).clearing([COMMAND, NETWORK])()
    assert of(folder).outstanding().keys() == {ENVIRONMENT}
    of(folder).clearing([ENVIRONMENT])()
    assert of(folder).outstanding() == {}
    assert not os.path.exists(of(folder).record.path), "nothing is left behind"


def test_what_is_noted_twice_keeps_the_time_of_the_first(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.gmtime", lambda: (2026, 1, 31, 12, 0, 0, 5, 31, 0))
    of(folder).note(NETWORK)
    monkeypatch.setattr("time.gmtime", lambda: (2026, 2, 1, 12, 0, 0, 5, 31, 0))
    of(folder).note(NETWORK)
    assert of(folder).outstanding()[NETWORK]["since"] == "2026-01-31T12:00:00Z"


def test_neither_services_nor_platforms_mix(folder: str) -> None:
    of(folder).note(COMMAND)
    assert of(folder, "svc_2").outstanding() == {}
    assert of(folder, url="https://other.example.com").outstanding() == {}
    assert of(folder, url="https://api.example.com/Stage").outstanding() == {}


@pytest.mark.parametrize("id", ["../../etc/passwd", "a/b", "x" * 300, "\ud800"])
def test_no_id_leads_out_of_the_folder(folder: str, id: str) -> None:
    of(folder, id).note(COMMAND)
    assert of(folder, id).outstanding().keys() == {COMMAND}
    names = {os.path.basename(of(folder, id).record.path) + end for end in ("", ".lock")}
    assert set(os.listdir(f"{folder}/pending")) == names


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_changes_that_were_not_made_leave_nothing(folder: str, order: tuple[int, int]) -> None:
    take_back = [of(folder).note(COMMAND), of(folder).note(COMMAND)]
    take_back[order[0]]()
    assert of(folder).outstanding().keys() == {COMMAND}
    take_back[order[1]]()
    assert of(folder).outstanding() == {} and not os.path.exists(of(folder).record.path)


def test_what_is_noted_after_a_start_began_waits_for_the_next(folder: str) -> None:
    of(folder).note(COMMAND)
    of(folder).note(NETWORK)
    clear = of(folder).clearing([COMMAND, NETWORK])
    of(folder).note(COMMAND)
    clear()
    assert of(folder).outstanding().keys() == {COMMAND}


def test_of_many_runs_that_were_killed_the_last_notes_are_kept(folder: str) -> None:
    for _number in range(MAX_NOTES + 5):
        of(folder).note(COMMAND)
    (notes,) = json.loads(Path(of(folder).record.path).read_text()).values()
    assert len(notes) == MAX_NOTES and notes[-1] == of(folder).outstanding()[COMMAND]


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    record = of(str(tmp_path / "file"))
    assert record.outstanding() == {}
    record.clearing([COMMAND])()  # with no record there is nothing to write
    with pytest.raises(Invalid, match=r"not in effect yet cannot be kept in .*file.*HOSTED_SERVICES_HOME"):
        record.note(COMMAND)


# --- Fingerprints ----------------------------------------------------------------------------------


def read(folder: Path) -> Fingerprints:
    """Read the file of the application `shop`."""
    options = StateDirOptions(base_url=URL, state_dir=FilePath(str(folder)))
    return Fingerprints.at(record_of(options, "shop"), "app_1")


def test_what_was_kept_is_compared(tmp_path: Path) -> None:
    assert not read(tmp_path).known
    read(tmp_path).keep({"SAME": "1", "OTHER": "2", "GONE": "3"})
    found = read(tmp_path)
    assert found.known
    assert found.differences({"SAME": "1", "OTHER": "x", "NEW": "4"}) == {
        "added": ["NEW"],
        "changed": ["OTHER"],
        "removed": ["GONE"],
    }


def test_the_file_gives_nothing_away(tmp_path: Path) -> None:
    """Nor that two variables have one value."""
    read(tmp_path).keep({"A": "hush-hush", "B": "hush-hush"})
    (file,) = tmp_path.iterdir()
    assert "hush" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    prints = json.loads(file.read_text())["prints"]
    assert prints["A"] != prints["B"]


@pytest.mark.parametrize(
    "damage",
    [
        {"key": "00"},
        {"key": "no hexadecimal"},
        {"key": 7},
        {"prints": []},
        {"prints": {"A": 1}},
        {"id": None},
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: dict[str, Any]) -> None:
    read(tmp_path).keep({"A": "1"})
    (file,) = tmp_path.iterdir()
    for content in (json.dumps({**json.loads(file.read_text()), **damage}), "{"):
        file.write_text(content)
        with pytest.raises(Invalid, match=rf"is in '{file}', which cannot be read: it is damaged"):
            read(tmp_path)
