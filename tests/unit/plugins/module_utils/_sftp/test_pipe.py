# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The faster way: whole files over a pipe, straight to OpenSSH's server, and when ssh may be used for it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import pipe as pipes
from ansible_collections.hosted.services.plugins.module_utils._sftp.blocks import Blocks, Shrank
from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import ACCEPT_NEW, HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.library import asyncssh
from ansible_collections.hosted.services.plugins.module_utils._sftp.pipe import (
    AT_ONCE,
    NotThisWay,
    Pipe,
    over_pipe,
    over_pipes,
)
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import Login, Session
from unit.plugins.module_utils._sftp import servers

BLOCK = 1000
SIZE = 3 * AT_ONCE * BLOCK + 7


@pytest.fixture
def command() -> list[str]:
    """OpenSSH's server as a program of this machine, without a connection in between."""
    if reason := servers.missing():
        pytest.skip(reason)
    return [next(filter(os.path.exists, servers.SFTP_SERVERS))]


@pytest.fixture
def pipe(command: list[str]) -> Iterator[Pipe]:
    """A pipe to it."""
    pipe = Pipe(command)
    yield pipe
    pipe.close()


@pytest.fixture
def content(tmp_path: Path) -> bytes:
    """What is in the file `here`."""
    data = os.urandom(SIZE)
    (tmp_path / "here").write_bytes(data)
    return data


def test_send(pipe: Pipe, content: bytes, tmp_path: Path) -> None:
    there, moved = tmp_path / "there", list[int]()
    there.touch()
    with (tmp_path / "here").open("rb") as file:
        pipe.send(file.fileno(), os.fsencode(there), Blocks(SIZE, BLOCK), moved.append)
    assert there.read_bytes() == content
    assert sum(moved) == SIZE and len(moved) == SIZE // BLOCK + 1


def test_fetch(pipe: Pipe, content: bytes, tmp_path: Path) -> None:
    moved: list[int] = []
    with (tmp_path / "there").open("wb") as file:
        pipe.fetch(os.fsencode(tmp_path / "here"), file.fileno(), Blocks(SIZE, BLOCK), moved.append)
    assert (tmp_path / "there").read_bytes() == content
    assert sum(moved) == SIZE


def test_a_server_that_answers_with_less_is_asked_again(command: list[str], tmp_path: Path) -> None:
    size = 1_000_000  # more than the server sends at once
    (tmp_path / "here").write_bytes(os.urandom(size))
    pipe = Pipe(command)
    with (tmp_path / "there").open("wb") as file:
        pipe.fetch(os.fsencode(tmp_path / "here"), file.fileno(), Blocks(size, size), lambda count: None)
    pipe.close()
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


@pytest.mark.parametrize("direction", ["send", "fetch"])
def test_a_file_that_shrank_is_an_error(direction: str, pipe: Pipe, content: bytes, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    with here.open("rb") as source, there.open("wb") as target, pytest.raises(Shrank):
        if direction == "send":
            pipe.send(source.fileno(), os.fsencode(there), Blocks(SIZE + 1, BLOCK), lambda count: None)
        else:
            pipe.fetch(os.fsencode(here), target.fileno(), Blocks(SIZE + 1, BLOCK), lambda count: None)


def test_what_the_server_refuses_is_left_to_the_ordinary_way(pipe: Pipe, content: bytes) -> None:
    with open(os.devnull, "wb") as file, pytest.raises(NotThisWay):
        pipe.fetch(b"/does/not/exist", file.fileno(), Blocks(SIZE, BLOCK), lambda count: None)


def breaks(pipe: Pipe, blocks: Blocks, moved: Callable[[int], None]) -> None:
    moved(5)
    raise NotThisWay


@pytest.mark.parametrize("command", [["/does/not/exist"], ["cat"]])
def test_progress_is_taken_back_when_the_pipe_breaks(command: list[str]) -> None:
    moved: list[int] = []
    assert not asyncio.run(over_pipes(command, breaks, Blocks(SIZE, BLOCK), moved.append))
    assert sum(moved) == 0


def test_work_that_is_called_off_ends() -> None:
    over: list[str] = []

    def work(pipe: Pipe, blocks: Blocks, moved: Callable[[int], None]) -> None:
        try:
            pipe.fetch(b"x", 0, blocks, moved)
        finally:
            over.append("the thread ended")

    async def call_off() -> None:
        with pytest.raises(TimeoutError):
            blocks = Blocks(SIZE, BLOCK)
            await asyncio.wait_for(over_pipes(["sleep", "600"], work, blocks, lambda count: None), 0.2)
        assert over

    asyncio.run(call_off())


def command_for(version: str = "SSH-2.0-OpenSSH_9.2p1", **login: Any) -> list[str] | None:
    session = Session(
        Login("db.example.com", 2022, "svc", **login), HostKeys("", ACCEPT_NEW, "db.example.com", 2022)
    )
    key = asyncssh.generate_private_key("ssh-ed25519")
    session._connection = SimpleNamespace(
        get_server_host_key=lambda: key, get_extra_info={"server_version": version}.get
    )
    try:
        return session.ssh_command()
    finally:
        session._runner.close()
        session._closing.close()


def test_ssh_meets_nobody_but_the_server_that_was_checked() -> None:
    command = command_for(private_key_file="~/key")
    assert command is not None
    assert command[-3:] == ["--", "db.example.com", "sftp"]
    assert {"StrictHostKeyChecking=yes", "GlobalKnownHostsFile=none", "BatchMode=yes"} <= set(command)
    assert f'IdentityFile="{Path.home()}/key"' in command
    assert "IdentitiesOnly=yes" in command


def test_ssh_is_never_given_a_secret() -> None:
    assert command_for(password="secret") is None
    assert command_for(private_key_file="~/key", passphrase="secret") is None
    assert command_for() is not None


def test_a_server_that_may_know_one_writer_a_file_gets_one() -> None:
    assert command_for("SSH-2.0-mod_sftp") is not None
    assert command_for("SSH-2.0-Go") is None and command_for("SSH-2.0-rclone/v1.60.1") is None


def test_a_pipe_is_let_go_of_however_often_its_work_is_called_off(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Noted] = []
    begun, may_end = threading.Event(), threading.Event()

    class Noted(Pipe):
        def __init__(self, command: Sequence[str]) -> None:
            super().__init__(command)
            made.append(self)

        @property
        def closed(self) -> bool:
            return self._to.closed and self._from.closed

    def lasts(pipe: Pipe, blocks: Blocks, moved: Callable[[int], None]) -> None:
        begun.set()
        assert may_end.wait(5)

    async def call_off_twice() -> None:
        task = asyncio.create_task(over_pipe(["cat"], lasts, Blocks(SIZE, BLOCK), lambda count: None))
        await asyncio.to_thread(begun.wait, 5)
        for _time in range(2):
            task.cancel()
            await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task

    monkeypatch.setattr(pipes, "Pipe", Noted)
    asyncio.run(call_off_twice())
    assert [pipe.closed for pipe in made] == [True]
