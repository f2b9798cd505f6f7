# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a tree of this machine. That no link is followed, the tests with hostile servers and users show."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from ansible_collections.hosted.services.plugins.module_utils._sftp.local import Local
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import Kind


def test_a_tree_of_this_machine_is_read_to_its_end_and_through_no_link(tmp_path: Path) -> None:
    (tmp_path / "web" / "inner").mkdir(parents=True)
    (tmp_path / "web" / "inner" / "c.txt").touch()
    (tmp_path / "link").symlink_to("web")
    os.mkfifo(tmp_path / "pipe")
    skipped: list[tuple[str, str]] = []
    reading = Local(str(tmp_path)).tree(Patterns(), lambda path, why: skipped.append((path, why)))
    found = asyncio.run(reading)
    assert sorted(found.entries) == ["", "link", "web", "web/inner", "web/inner/c.txt"]
    assert (found.entries["link"].kind, found.entries["link"].target) == (Kind.LINK, "web")
    assert skipped == [("pipe", "it is neither a file, a directory nor a link")]
    assert found.left_out == {"pipe"}
