# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a file takes the place of another on the server, and who may read it until then."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.local import Local
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Remote, ServerFeatures
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import (
    TEMPORARY,
    Kind,
    TreeEntry,
)
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import Plain, odd_server


class RenamesOverNothing(Plain):
    """Refuses to rename over a file, to put a new ``a`` in place and, if it ``keeps`` it, the old one."""

    keeps: ClassVar[bool] = False

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        raise asyncssh.SFTPOpUnsupported("no such extension")

    def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        back = oldpath.endswith(b".old")
        if newpath.endswith(b"/a") and (self.keeps or not back):
            raise asyncssh.SFTPPermissionDenied("read only")
        return super().rename(oldpath, newpath)


class Keeping(RenamesOverNothing):
    keeps = True


def test_what_makes_way_comes_back_after_an_error(tmp_path: Path) -> None:
    with odd_server(tmp_path, RenamesOverNothing) as server:
        up = fill(server.root / "up", {"a": "old", "b": "old"})
        result = sync(server, src=str(fill(tmp_path / "src", {"a": "newer", "b": "newer"})))
        assert [each["path"] for each in result["failures"]] == ["a"] and "read only" in result["msg"]
        assert holds(up) == {"a": "old", "b": "newer"}


def test_what_does_not_come_back_is_no_leftover_and_its_name_is_told(tmp_path: Path) -> None:
    """It may be all that there is of that file."""
    with odd_server(tmp_path, Keeping) as server:
        up = fill(server.root / "up", {"a": "old"})
        result = sync(server, src=str(fill(tmp_path / "src", {"a": "newer"})))
        [(aside, held)] = holds(up).items()
        assert held == "old" and f"what was there is now up/{aside}" in result["msg"]
        assert sync(server, src=str(fill(tmp_path / "other", {"b": "b"})))["sftp_sync"]["deleted"] == []
        assert holds(up) == {aside: "old", "b": "b"}


class Readable:
    """A server, and the modes that its one file had at the time of each write and at the end."""

    def __init__(self) -> None:
        self.mode: int | None = None
        self.modes: list[int | None] = []
        self.names: list[bytes] = []

    async def open(self, path: bytes, flags: int, made: asyncssh.SFTPAttrs, **given: Any) -> Readable:
        self.mode = made.permissions
        self.names.append(path)
        return self

    async def __aenter__(self) -> Readable:
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close the file."""

    async def write(self, content: bytes, place: int) -> None:
        self.modes.append(self.mode)

    async def setstat(self, *given: Any) -> None:
        self.mode = given[-1].permissions if given[-1].permissions is not None else self.mode

    async def posix_rename(self, old: bytes, new: bytes) -> None:
        self.modes.append(self.mode)
        self.names.append(new)


@pytest.mark.parametrize(
    ("mode", "sets_modes", "modes"),
    [(0o644, True, [0o600, 0o644]), (0o644, False, [0o644, 0o644]), (None, True, [None, None])],
    ids=["set later", "cannot be set later", "left to the server"],
)
def test_a_file_is_private_until_it_is_whole(
    tmp_path: Path, mode: int | None, sets_modes: bool, modes: list[int | None]
) -> None:
    """A server that sets no modes is told at once, as there is no other time."""
    (tmp_path / "a").write_text("secret")
    server, entry = Readable(), TreeEntry(Kind.FILE, size=6, mtime=1_000_000_001, mode=mode)
    remote = Remote(server, "up")
    remote.features = ServerFeatures(modes=sets_modes)
    asyncio.run(remote.push(Local(str(tmp_path)), "a", entry, lambda count: None))
    assert server.modes == modes
    temporary, place = (name.decode() for name in server.names)
    assert TEMPORARY.fullmatch(temporary.partition("/")[2]) and place == "up/a"
