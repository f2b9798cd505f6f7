# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs that write to one directory: neither removes what the other one is writing."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import trees
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.mirrored import OLD, fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import Folding, Plain, odd_server

PART = ".hosted-0123456789abcdef.part"
BIG = "b" * 100_000
SECONDS = 300.0


class Gated(Plain):
    """Holds a file of the size of ``BIG`` until the gate opens, whichever way it goes."""

    reached: ClassVar[threading.Event]
    gate: ClassVar[threading.Event]

    async def _wait(self) -> None:
        self.reached.set()
        await asyncio.to_thread(self.gate.wait, SECONDS)

    async def read(self, file_obj: Any, offset: int, size: int) -> Any:
        content = super().read(file_obj, offset, size)
        if isinstance(content, bytes) and len(content) > 1000:
            await self._wait()
        return content

    async def write(self, file_obj: Any, offset: int, data: bytes) -> Any:
        written = super().write(file_obj, offset, data)
        if len(data) > 1000:
            await self._wait()
        return written


@contextmanager
def gated(tmp_path: Path) -> Iterator[servers.Server]:
    """Run a server whose gate is closed, and open it at the end."""
    Gated.reached, Gated.gate = threading.Event(), threading.Event()
    with odd_server(tmp_path, Gated) as server:
        try:
            yield server
        finally:
            Gated.gate.set()


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_another_run_is_writing_stays(direction: str, tmp_path: Path) -> None:
    with gated(tmp_path) as server:
        sources, dest = tmp_path, server.root / "both"
        given: dict[str, Any] = {"dest": "both"}
        if direction == "pull":
            sources, dest = server.root, tmp_path / "both"
            given = {"dest": str(dest), "direction": "pull"}
        fill(sources / "slow", {"big": BIG})
        fill(sources / "quick", {"small": "s"})
        dest.mkdir()
        src = {name: name if direction == "pull" else str(tmp_path / name) for name in ("slow", "quick")}
        with ThreadPoolExecutor() as pool:
            slow = pool.submit(sync, server, src=src["slow"], **given)
            assert Gated.reached.wait(SECONDS)
            (running,) = dest.glob(".hosted-*.part")
            results = [sync(server, mode, src=src["quick"], **given) for mode in (True, False, False)]
            assert running.exists()
            Gated.gate.set()
            result = slow.result(SECONDS)
        assert "failed" not in result, result["msg"]
        assert [one["sftp_sync"]["deleted"] for one in results] == [[]] * 3
        assert [one["changed"] for one in results] == [True, True, False]
        assert holds(dest) == {"big": BIG, "small": "s"}


def test_a_directory_with_a_file_that_may_be_in_use_is_not_deleted(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a"})
    with servers.start("sandbox", tmp_path) as server:
        up = fill(server.root / "up", {"a": "a", "old/gone": "x", f"old/{PART}": "half"})
        os.utime(up / "old" / PART)
        results = [sync(server, mode, src=str(src), delete=True) for mode in (True, False)]
        assert [one["sftp_sync"]["deleted"] for one in results] == [["old/gone"]] * 2
        assert holds(up) == {"a": "a", "old": None, f"old/{PART}": "half"}
        assert not sync(server, src=str(src), delete=True)["changed"]
        os.utime(up / "old" / PART, (OLD, OLD))
        result = sync(server, src=str(src), delete=True)
        assert result["sftp_sync"]["deleted"] == ["old", f"old/{PART}"]
        assert holds(up) == {"a": "a"}


def test_a_source_that_is_being_written_to_is_told(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a", PART: "half"})
    os.utime(src / PART)
    with servers.start("sandbox", tmp_path) as server:
        result = sync(server, src=str(src))
        assert result["sftp_sync"]["left_out"] == [PART] and "may be writing it" in result["warnings"][0]
        assert holds(server.root / "up") == {"a": "a"}


def test_a_directory_of_another_spelling_is_not_taken_for_one_that_was_made(tmp_path: Path) -> None:
    """What is in it is another's."""
    src = fill(tmp_path / "src", {"Foo/a": "first", "foo/a": "OTHER!"})
    with odd_server(tmp_path, Folding) as server:
        up = fill(server.root / "up", {"Foo/a": "first"})
        result = sync(server, src=str(src), checksum=True)
        assert "cannot make up/foo on the service" in result["msg"]
        assert holds(up) == {"Foo": None, "Foo/a": "first"}


class Timeless(Plain):
    """Shows no times."""

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        async for item in super().scandir(path):
            item.attrs.mtime = item.attrs.atime = None
            yield item


def test_where_nothing_shows_times_what_may_be_in_use_stays(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a"})
    with odd_server(tmp_path, Timeless) as server:
        up = fill(server.root / "up", {"a": "a", f"old/{PART}": "half"})
        results = [sync(server, mode, src=str(src), delete=True, checksum=True) for mode in (True, False)]
        assert [(one["changed"], one["sftp_sync"]["deleted"]) for one in results] == [(False, [])] * 2
        assert holds(up) == {"a": "a", "old": None, f"old/{PART}": "half"}


class Sweeping(Plain):
    """Loses a temporary file before it can be renamed, as a server that cleans up removes it."""

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        if b".part" in oldpath:
            self.remove(oldpath)
        super().posix_rename(oldpath, newpath)


def test_a_temporary_file_that_is_gone_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with odd_server(tmp_path, Sweeping) as server:
        src = fill(tmp_path / "src", {"a": "a"})
        result = sync(server, src=str(src))
        assert result["msg"] == f"cannot write up/a on the service: {trees.GONE}"
        fill(server.root / "theirs", {"a": "a"})
        replace = os.replace

        def swept(old: str, new: str, src_dir_fd: int, dst_dir_fd: int) -> None:
            os.unlink(old, dir_fd=src_dir_fd)
            replace(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

        monkeypatch.setattr(os, "replace", swept)
        result = sync(server, direction="pull", src="theirs", dest=str(tmp_path / "copy"))
        assert result["msg"] == f"cannot write {tmp_path}/copy/a on this machine: {trees.GONE}"
