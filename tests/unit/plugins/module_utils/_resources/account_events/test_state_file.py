# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state file: its mode, its lock, and what a damaged one leads to."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.state_file import (
    STATE,
    open_state,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import Record
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

EVENTS = ({"id": "1", "type": "service_back"}, {"id": "2", "type": "service_back"})


def test_what_is_saved_is_there_at_the_next_start(tmp_path: Path) -> None:
    path = tmp_path / "state" / "s.json"
    with open_state(Record(STATE, str(path))) as file:
        salt = file.state.salt
        file.save(file.state.model_copy(update={"outbox": EVENTS}))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with open_state(Record(STATE, str(path))) as file:
        assert file.state.salt == salt
        assert file.next_event() == {**EVENTS[0], "redelivered": True}
        file.note_delivered("1")
        assert file.next_event() == {**EVENTS[1], "redelivered": True}
        file.note_delivered("2")
        file.save(file.state.model_copy(update={"outbox": ({"id": "3"},)}))
        assert file.next_event() == {"id": "3", "redelivered": False}
    assert sorted(os.listdir(path.parent)) == ["s.json", "s.json.lock"]


def refusal(path: str) -> str:
    """Return why a state file cannot be opened."""
    with pytest.raises(HostedError) as caught, open_state(Record(STATE, path)):
        pass
    return caught.value.message


def test_two_sources_cannot_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "s.json")
    with open_state(Record(STATE, path)):
        assert "another event source uses the state file" in refusal(path)
    with open_state(Record(STATE, path)):
        pass


@pytest.mark.parametrize("content", ["", "{", "[]", '{"salt": 1}', '{"version": 1}'])
def test_a_damaged_file_is_an_error_and_is_kept(tmp_path: Path, content: str) -> None:
    path = tmp_path / "s.json"
    path.write_text(content)
    assert "cannot be read: it is damaged. Remove it to begin anew" in refusal(str(path))
    assert path.read_text() == content


def test_a_folder_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "cannot be kept in" in refusal(str(tmp_path / "file" / "s.json"))


def test_a_full_disk_leaves_the_state_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s.json"
    with open_state(Record(STATE, str(path))) as file:
        file.save(file.state.model_copy(update={"outbox": EVENTS}))
        before = file.state, path.read_text()

        def full(handle: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(Invalid, match="No space"):
            file.save(file.state.model_copy(update={"sequence": 5}))
        assert (file.state, path.read_text()) == before
        with pytest.raises(Invalid, match="No space"):
            file.note_delivered("1")
        assert file.next_event() == {**EVENTS[1], "redelivered": False}, "this process delivers it once"


def test_each_platform_has_a_file_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    one, other = (record_of(SourceOptions(base_url=f"https://{name}.example.com")).path for name in "ab")
    assert one != other
    assert Path(one).parent == tmp_path / "events"
    assert record_of(SourceOptions(base_url="https://A.example.com:443/")).path == one
    named = record_of(SourceOptions(base_url="https://a.example.com", state_name="chat")).path
    assert Path(named).parent == tmp_path / "events" and named not in (one, other)
    assert named != record_of(SourceOptions(base_url="https://b.example.com", state_name="chat")).path
    assert named != record_of(SourceOptions(base_url="https://a.example.com", state_name="restart")).path
    assert record_of(SourceOptions(state_file="/tmp/mine.json")).path == "/tmp/mine.json"  # type: ignore[arg-type]
