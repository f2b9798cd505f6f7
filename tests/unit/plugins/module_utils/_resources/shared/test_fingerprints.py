# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an environment: enough to see a difference, and nothing that gives a value away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    Fingerprints,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

URL = "https://api.example.com"


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
