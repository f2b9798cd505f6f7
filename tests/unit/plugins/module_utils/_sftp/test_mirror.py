# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong with one entry of a tree is blamed on the side and the reason that it is of."""

from __future__ import annotations

from pathlib import Path

import asyncssh

from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.as_user import as_user
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import Plain, odd_server


class FullAndWorn(Plain):
    """Has no room for a file, and cannot read those that have a name with ``worn`` in it."""

    def statvfs(self, path: bytes) -> asyncssh.sftp.SFTPVFSAttrs:
        found = asyncssh.sftp.SFTPVFSAttrs()
        found.bsize = found.frsize = 4096
        return found

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        if b"worn" in path or pflags & asyncssh.FXF_CREAT:
            raise asyncssh.SFTPFailure("input/output error")
        return super().open(path, pflags, attrs)


def test_a_full_disk_is_no_reason_for_what_cannot_be_read(tmp_path: Path) -> None:
    """The rest of the tree is copied: only a target without room ends a run."""
    with odd_server(tmp_path, FullAndWorn) as server:
        fill(server.root / "world", {"a-worn": "lost", "b": "kept", "deep/worn": "lost", "deep/z": "kept"})
        result = sync(server, direction="pull", src="world", dest=str(tmp_path / "copy"))
        assert result["failed"] and result["changed"]
        assert "input/output error" in result["msg"] and "no space left" not in result["msg"]
        assert set(holds(tmp_path / "copy")) >= {"b", "deep/z"}
        assert not list((tmp_path / "copy").rglob("*worn*"))


def test_a_full_disk_is_the_reason_for_what_cannot_be_written(tmp_path: Path) -> None:
    ours = fill(tmp_path / "ours", {"a": "more than there is room for"})
    with odd_server(tmp_path, FullAndWorn) as server:
        result = sync(server, src=str(ours), dest="up")
        assert result["failed"]
        assert "no space left on the service: 0 bytes are free" in result["msg"]


def test_a_directory_that_is_not_deleted_after_all_keeps_its_permissions(tmp_path: Path) -> None:
    """It was made writable to be emptied, and a failure elsewhere left it."""
    src = fill(tmp_path / "src", {"a": "a", "b": "b"})
    (src / "a").chmod(0)
    with servers.start("sandbox", tmp_path) as server:
        old = fill(server.root / "up", {"old/inner": "x"}) / "old"
        old.chmod(0o550)
        with as_user():
            failed = sync(server, src=str(src), delete=True)
        assert [item["path"] for item in failed["failures"]] == ["a"]
        assert (old.stat().st_mode & 0o777, holds(old)) == (0o550, {"inner": "x"})
        (src / "a").chmod(0o600)
        assert "failures" not in sync(server, src=str(src), delete=True)
        assert holds(server.root / "up") == holds(src)
