# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders become data, and come back as they were."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.control.folders import packed, unpack
from hosted_sandbox.embedded import Embedded


def filled(folder: Path) -> Path:
    """A folder with something of everything; `other` is not to be saved."""
    inner = folder / "files" / "one" / "deep"
    inner.mkdir(parents=True)
    (inner / "program").write_bytes(b"\0\xff")
    (inner / "program").chmod(0o750)
    os.utime(inner / "program", ns=(1_000_000_001, 1_000_000_001))
    (folder / "files" / "link").symlink_to("../elsewhere/nowhere")
    Path(os.fsdecode(bytes(folder) + b"/files/no text \xff")).touch()
    os.utime(folder / "files" / "one", ns=(2_000_000_002, 2_000_000_002))
    (folder / "other").mkdir()
    return folder


def test_what_is_packed_comes_back(tmp_path: Path) -> None:
    saved = packed(filled(tmp_path / "before"), ("files", "copies"))
    assert not [path for path in saved if path.startswith("other")]
    after = tmp_path / "after"
    (after / "files" / "stale").mkdir(parents=True)
    unpack(after, ("files", "copies"), json.loads(json.dumps(saved)))
    assert packed(after, ("files", "copies")) == saved
    program = (after / "files" / "one" / "deep" / "program").stat()
    assert (program.st_mode & 0o777, program.st_mtime_ns) == (0o750, 1_000_000_001)
    assert (after / "files" / "one").stat().st_mtime_ns == 2_000_000_002
    assert os.readlink(after / "files" / "link") == "../elsewhere/nowhere"


@pytest.mark.parametrize("path", ["other/a", "files/../../a", "/etc/a"])
def test_what_leads_elsewhere_is_refused(path: str, tmp_path: Path) -> None:
    entry: dict[str, Any] = {"mode": 0o600, "modified": 0, "content": ""}
    with pytest.raises(ValueError, match="no path of a saved state"):
        unpack(tmp_path, ("files",), {path: entry})
    assert list(tmp_path.iterdir()) == []


def test_a_sandbox_on_a_thread_is_steered_like_any_other() -> None:
    with Embedded() as sandbox:
        key = sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})["services"]["mc"]
        state = sandbox.control("GET", "/state")
        heard: list[bool] = []
        sandbox.on_silence = lambda: heard.append(True)
        sandbox.fault("*", "no_answer", when="after")
        with pytest.raises(OSError, match="timed out"):
            sandbox.api("DELETE", f"/api/resources/{key}", timeout=0.5)
        assert heard == [True]
        sandbox.clock(advance=60)
        assert sandbox.api("GET", f"/api/resources/{key}").status_code == 404
        sandbox.control("PUT", "/state", state)
        assert sandbox.api("GET", f"/api/resources/{key}").json()["name"] == "mc"
        with pytest.raises(RuntimeError, match="unknown delay"):
            sandbox.delays(nonsense=1)
    with pytest.raises(OSError, match="refused"):
        sandbox.api("GET", "/api/resources")
