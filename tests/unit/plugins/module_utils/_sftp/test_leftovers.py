# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs that write to one directory: neither removes what the other one is writing."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import leftovers
from ansible_collections.hosted.services.plugins.module_utils._sftp.sides import Local, Remote
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import Kind, TreeEntry
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
def gated(tmp_path: Path, kind: type[Gated] = Gated) -> Iterator[servers.Server]:
    """Run a server whose gate is closed, and open it at the end."""
    Gated.reached, Gated.gate = threading.Event(), threading.Event()
    with odd_server(tmp_path, kind) as server:
        try:
            yield server
        finally:
            Gated.gate.set()


class Behind(Gated):
    """Its clock is two hours slow."""

    def lstat(self, path: bytes) -> Any:
        found = asyncssh.SFTPAttrs.from_local(os.lstat(self.map_path(path)))
        assert found.mtime is not None
        found.mtime -= 2 * 3600
        return found


@pytest.mark.parametrize("kind", [Gated, Behind])
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_another_run_is_writing_stays(direction: str, kind: type[Gated], tmp_path: Path) -> None:
    with gated(tmp_path, kind) as server:
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
            # Check mode writes nothing, and so cannot ask a server for its time.
            modes = [False, False] if kind is Behind else [True, False, False]
            results = [sync(server, mode, src=src["quick"], **given) for mode in modes]
            assert running.exists()
            Gated.gate.set()
            result = slow.result(SECONDS)
        assert "failed" not in result, result["msg"]
        assert [one["sftp_sync"]["deleted"] for one in results] == [[]] * len(modes)
        assert [one["changed"] for one in results] == [True] * (len(modes) - 1) + [False]
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


def test_what_only_the_clock_of_the_server_shows_to_be_fresh_stays(tmp_path: Path) -> None:
    """Nothing is left of the change that was planned."""
    src = fill(tmp_path / "src", {"a": "a"})
    with gated(tmp_path, Behind) as server:
        up = fill(server.root / "up", {"a": "a", f"old/{PART}": "half"})
        os.utime(up / "old" / PART)
        result = sync(server, src=str(src), delete=True, checksum=True, preserve_modes=False)
        assert "failed" not in result, result["msg"]
        assert (result["changed"], result["sftp_sync"]["deleted"]) == (False, [])
        assert holds(up) == {"a": "a", "old": None, f"old/{PART}": "half"}


def test_a_pull_removes_what_nobody_holds_at_once(tmp_path: Path) -> None:
    """A process that is killed holds nothing any more."""
    dest = fill(tmp_path / "dest", {PART: "half"})
    os.utime(dest / PART)
    with servers.start("sandbox", tmp_path) as server:
        fill(server.root / "src", {"a": "a"})
        given: dict[str, Any] = {"direction": "pull", "src": "src", "dest": str(dest)}
        with (dest / PART).open("r+") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            assert sync(server, **given)["sftp_sync"]["deleted"] == []
        assert sync(server, **given)["sftp_sync"]["deleted"] == [PART]
        assert holds(dest) == {"a": "a"}


@pytest.mark.parametrize("age", [0, leftovers.STALE_AFTER + 60])
def test_what_cannot_be_held_is_judged_by_its_age(
    age: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    fill(tmp_path, {PART: "half"})
    os.utime(tmp_path / PART, (time.time() - age,) * 2)
    side = Local(str(tmp_path))
    assert asyncio.run(side.is_leftover(PART)) is bool(age)
    assert asyncio.run(side.remove_leftover(PART)) is bool(age)
    assert (tmp_path / PART).exists() is not bool(age)


def test_one_that_was_removed_before_it_was_held_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock
    turns: list[int] = []

    def removed_first(handle: int, how: int) -> None:
        if not turns:
            next(tmp_path.iterdir()).unlink()
        turns.append(how)
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", removed_first)
    folder = os.open(tmp_path, os.O_RDONLY)
    handle, name = leftovers.open_held(folder, 0o600)
    os.close(handle)
    os.close(folder)
    assert [each.name for each in tmp_path.iterdir()] == [name] and len(turns) == 2


def test_what_is_gone_already_is_no_failure_and_no_change(tmp_path: Path) -> None:
    side = Local(str(tmp_path))
    for path in (PART, f"a{PART.removesuffix('.part')}.old"):
        assert not asyncio.run(side.is_leftover(path)) or not path.endswith(".part")
        assert not asyncio.run(side.remove_leftover(path))


def test_a_directory_that_was_made_meanwhile_is_there(tmp_path: Path) -> None:
    entry, side = TreeEntry(Kind.DIRECTORY, mode=0o755), Local(str(tmp_path))
    asyncio.run(side.make_directory("a", entry))
    asyncio.run(side.make_directory("a", entry))
    (tmp_path / "b").write_text("b")
    (tmp_path / "c").symlink_to("a")
    for path in ("b", "c"):
        with pytest.raises(FileExistsError):
            asyncio.run(side.make_directory(path, entry))


class Made:
    """A server that refuses to make a directory, as something of this kind is there."""

    def __init__(self, kind: int | None) -> None:
        self.kind = kind

    async def mkdir(self, path: bytes, attrs: asyncssh.SFTPAttrs) -> None:
        raise asyncssh.SFTPFailure("Failure")

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        if self.kind is not None:
            yield asyncssh.SFTPName(b"a", attrs=asyncssh.SFTPAttrs(permissions=self.kind | 0o755, size=0))


@pytest.mark.parametrize(
    ("kind", "made"), [(0o040000, True), (0o100000, False), (0o120000, False), (None, False)]
)
def test_a_server_that_has_a_directory_has_it_made(kind: int | None, made: bool) -> None:
    making = Remote(Made(kind), "up").make_directory("a", TreeEntry(Kind.DIRECTORY, mode=0o755))
    if made:
        asyncio.run(making)
    else:
        with pytest.raises(asyncssh.SFTPFailure):
            asyncio.run(making)


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

    def lstat(self, path: bytes) -> Any:
        found = asyncssh.SFTPAttrs.from_local(os.lstat(self.map_path(path)))
        found.mtime = found.atime = None
        return found


def test_where_nothing_shows_times_what_may_be_in_use_stays(tmp_path: Path) -> None:
    """And check mode says so, too."""
    src = fill(tmp_path / "src", {"a": "a"})
    with odd_server(tmp_path, Timeless) as server:
        up = fill(server.root / "up", {"a": "a", f"old/{PART}": "half"})
        results = [sync(server, mode, src=str(src), delete=True, checksum=True) for mode in (True, False)]
        assert [(one["changed"], one["sftp_sync"]["deleted"]) for one in results] == [(False, [])] * 2
        assert holds(up) == {"a": "a", "old": None, f"old/{PART}": "half"}


class Keeping(Plain):
    """Removes nothing."""

    def remove(self, path: bytes) -> None:
        raise asyncssh.SFTPPermissionDenied("it stays")


def test_the_clock_of_a_server_is_asked_once_in_a_run(tmp_path: Path) -> None:
    """What it is read from may have to stay."""
    src = fill(tmp_path / "src", {"a": "a"})
    with odd_server(tmp_path, Keeping) as server:
        parts = {f".hosted-{number:016x}.part": "half" for number in range(9)}
        up = fill(server.root / "up", {"a": "a", **parts})
        for path in parts:
            os.utime(up / path, (OLD, OLD))
        result = sync(server, src=str(src), checksum=True)
        assert "it stays" in result["msg"]
        assert len([*up.glob(".hosted-*.part")]) == len(parts) + 1


class Closed(Plain):
    """Lets nobody make a file."""

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        if pflags & asyncssh.FXF_CREAT:
            raise asyncssh.SFTPPermissionDenied("it is closed")
        return super().open(path, pflags, attrs)


def test_what_cannot_be_removed_as_no_time_can_be_had_is_told(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a"})
    with odd_server(tmp_path, Closed) as server:
        up = fill(server.root / "up", {"a": "a", PART: "half"})
        os.utime(up / PART, (OLD, OLD))
        result = sync(server, src=str(src), checksum=True)
        assert f"cannot remove up/{PART} on the service" in result["msg"]


class Sweeping(Plain):
    """Loses a temporary file before it can be renamed, as a server that cleans up removes it."""

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        if b".part" in oldpath:
            self.remove(oldpath)
        super().posix_rename(oldpath, newpath)


def test_a_temporary_file_that_is_gone_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = f"its temporary file or its folder is gone; {leftovers.ADVICE}"
    with odd_server(tmp_path, Sweeping) as server:
        src = fill(tmp_path / "src", {"a": "a"})
        result = sync(server, src=str(src))
        assert result["msg"] == f"cannot write up/a on the service: {said}"
        fill(server.root / "theirs", {"a": "a"})
        replace = os.replace

        def swept(old: str, new: str, src_dir_fd: int, dst_dir_fd: int) -> None:
            os.unlink(old, dir_fd=src_dir_fd)
            replace(old, new, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)

        monkeypatch.setattr(os, "replace", swept)
        result = sync(server, direction="pull", src="theirs", dest=str(tmp_path / "copy"))
        assert result["msg"] == f"cannot write {tmp_path}/copy/a on this machine: {said}"
