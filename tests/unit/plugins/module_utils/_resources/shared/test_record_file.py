# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that remember something: whole or not at all, and never a reason to crash."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared import record_file
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.controller_state import (
    lock_file,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.record_file import (
    RecordFile,
    as_json,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Each subject on each platform has a file of its own, which nobody else can read."""
    file = RecordFile.of("things", "what is kept", str(tmp_path), "https://a.example.com", "one")
    assert file.read() is None
    file.write({"a": 1})
    assert file.read() == {"a": 1}
    assert Path(file.path).stat().st_mode & 0o777 == 0o600
    assert RecordFile.of("things", "", str(tmp_path), "https://b.example.com", "one").read() is None
    Path(file.path).write_text("[" * 100_000)
    assert file.read() is None


def test_it_says_why_it_cannot_be_written(tmp_path: Path) -> None:
    """With what to do."""
    (tmp_path / "things").write_text("a file in the way")
    file = RecordFile.of("things", "what is kept", str(tmp_path), None, "one")
    with pytest.raises(Invalid, match=r"what is kept cannot be kept in .* name another folder"):
        file.write({})


def test_an_update_begins_with_what_is_there(tmp_path: Path) -> None:
    """And with nothing if there is no file. The file stays for its owner alone."""
    file = RecordFile.of("things", "what is kept", str(tmp_path), None, "one")
    for _turn in range(2):
        file.update(lambda content: {"turns": [*(content or {}).get("turns", []), 1]})
    assert file.read() == {"turns": [1, 1]}
    assert Path(file.path).stat().st_mode & 0o777 == 0o600


def test_tasks_update_a_file_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While another one is at it, nothing is written; each file has a lock of its own."""
    monkeypatch.setattr(record_file, "LONGEST_WRITE", 0.1)
    file, other = (RecordFile.of("things", "it", str(tmp_path), None, name) for name in ("one", "two"))
    with lock_file(f"{file.path}.lock", 1):
        other.update(lambda _content: {"a": 1})
        with pytest.raises(Invalid, match=r"it cannot be kept in .*another process has held"):
            file.update(lambda _content: {"a": 1})
    assert (file.read(), other.read()) == (None, {"a": 1})


@dataclass
class Kept:
    """A record."""

    names: set[str] = field(default_factory=set)
    at: datetime | None = None


def test_a_record_is_loaded_as_it_was_written(tmp_path: Path) -> None:
    """A damaged one is an error that names the file."""
    file = RecordFile.of("things", "what is kept", str(tmp_path), None, "one")
    assert file.load(Kept) == Kept()
    kept = Kept({"a", "b"}, datetime(2026, 11, 23, tzinfo=UTC))
    file.write(as_json(kept))
    assert file.load(Kept) == kept
    for content in ("", "{", "[]", "3", '{"names": 3}', "[" * 9999):
        Path(file.path).write_text(content)
        with pytest.raises(Invalid, match=r"what is kept is in .*json', which cannot be read: it is damaged"):
            file.load(Kept)
