# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The script of role backups: one line of JSON, or one sentence that says what to do in a plan."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from unit.roles.backups.scripts import load

script = load("dump_database")


def say(folder: Path, monkeypatch: pytest.MonkeyPatch, **connection: object) -> str:
    """Run the script with a connection; return what it ends with."""
    monkeypatch.setattr(sys, "argv", ["dump_database.py", str(folder)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(connection)))
    with pytest.raises(SystemExit) as ended:
        script.main()
    return str(ended.value)


def test_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    library = script.load()
    monkeypatch.setattr(script, "load", lambda: library)
    monkeypatch.setattr(library, "dump", lambda folder, connection: {"file": connection["engine"]})
    monkeypatch.setattr(sys, "argv", ["dump_database.py", str(tmp_path)])
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"engine": "postgresql"}'))
    script.main()
    assert json.loads(capsys.readouterr().out) == {"file": "postgresql"}


def test_what_cannot_be_dumped_can_be_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = say(tmp_path, monkeypatch, engine="valkey")
    assert said.startswith("a database of engine 'valkey' cannot be dumped: ")
    assert "offsite.databases: skip" in said


def test_a_missing_program_is_no_reason_to_skip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = say(tmp_path, monkeypatch, engine="mariadb")
    assert said == "mariadb-dump or mysqldump is not installed on this machine; install mariadb-client"
