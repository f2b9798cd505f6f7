# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that go from one server to another: every byte arrives, and an error names the side it is of."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.compare import Rules, compare
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import ConnectionBroken
from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.mirror import PUSH, Mirror
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Relayed, Remote
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import Login, SftpSession
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.servers import Server
from unit.tiers import sample

LARGE = os.urandom(3_000_001)


@pytest.fixture(scope="module", params=sample(["sandbox", "openssh"]))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Server]]:
    """Two servers of a kind."""
    with ExitStack() as stack:
        folders = [tmp_path_factory.mktemp(request.param) for _side in range(2)]
        yield [stack.enter_context(servers.start(request.param, folder)) for folder in folders]


class Relay:
    """A connection to both servers, and the mirror from one to the other."""

    def __init__(self, pair: list[Server], folder: Path, stack: ExitStack) -> None:
        self.target = stack.enter_context(self.session(pair[1], folder))
        self.source = stack.enter_context(self.session(pair[0], folder, self.target))
        self.relayed = Relayed(self.source.sftp, ".", "the source")
        self.mirror = Mirror(self.relayed, Remote(self.target.sftp, "."), PUSH, lambda line: None)

    def session(self, server: Server, folder: Path, beside: SftpSession | None = None) -> SftpSession:
        """Open a connection; the second one in the loop of the first."""
        options = server.options
        login = Login(options["host"], options["port"], options["username"], options["private_key_file"])
        keys = HostKeys(str(folder / "known_hosts"), "accept_new", login.host, login.port)
        return SftpSession(login, keys, remember=True, beside=beside)

    def run(self) -> int:
        """Make the target like the source; return how many entries were changed."""

        async def work() -> int:
            source = await self.relayed.tree(Patterns(), lambda path, why: None)
            target = await self.mirror.target.tree(Patterns(), lambda path, why: None)
            rules = Rules(lambda path, one, other: (one.size, one.mtime) == (other.size, other.mtime), True)
            changes = compare(source, target, rules)
            await self.mirror.apply(changes)
            return len(changes.desired)

        return self.target.run(work())


@pytest.fixture
def relay(pair: list[Server], tmp_path: Path) -> Iterator[Relay]:
    """Both servers, with files on the first one."""
    root = pair[0].root
    (root / "deep").mkdir(exist_ok=True)
    (root / "deep" / "large").write_bytes(LARGE)
    (root / "few").write_bytes(b"few")
    (root / "none").write_bytes(b"")
    with ExitStack() as stack:
        yield Relay(pair, tmp_path, stack)


def hashes(root: Path) -> dict[str, str]:
    """Return the checksums of all files below a folder."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in root.rglob("*")
        if path.is_file()
    }


def test_every_byte_arrives_and_nothing_is_done_twice(pair: list[Server], relay: Relay) -> None:
    assert relay.run()
    assert hashes(pair[1].root) == hashes(pair[0].root)
    assert relay.run() == 0
    (pair[0].root / "few").write_bytes(b"more")
    (pair[1].root / "extra").write_bytes(b"gone soon")
    assert relay.run() == 1
    assert hashes(pair[1].root) == hashes(pair[0].root)


def test_content_is_compared_between_both(pair: list[Server], relay: Relay) -> None:
    relay.run()
    (pair[1].root / "few").write_bytes(b"FEW")

    async def look() -> set[str]:
        trees = [await side.tree(Patterns(), lambda path, why: None)
                 for side in (relay.mirror.source, relay.mirror.target)]  # fmt: skip
        return await relay.mirror.same_content(trees[0].entries, trees[1].entries)

    assert relay.target.run(look()) == {"deep/large", "none"}


def test_a_file_that_cannot_be_read_is_an_error_of_the_source(pair: list[Server], relay: Relay) -> None:
    async def work() -> None:
        source = await relay.relayed.tree(Patterns(), lambda path, why: None)
        target = await relay.mirror.target.tree(Patterns(), lambda path, why: None)
        entries = {**source.entries, "missing": replace(source.entries["few"], size=9)}
        await relay.mirror.apply(compare(replace(source, entries=entries), target, Rules(lambda *__: False)))

    relay.target.run(work())
    assert list(relay.mirror.failures) == ["missing"]
    assert relay.mirror.failures["missing"].startswith(
        "cannot read ./missing on the service that is copied: "
    )


def test_a_source_that_is_gone_is_named(relay: Relay) -> None:
    class Gone:
        """A connection that was lost."""

        def open(self, *__: Any, **___: Any) -> Any:
            raise asyncssh.SFTPConnectionLost("it is gone")

    relay.relayed.sftp = Gone()

    async def read() -> None:
        async with relay.relayed.reading("few"):
            pass

    with pytest.raises(ConnectionBroken, match="the connection to the source was lost: it is gone"):
        asyncio.run(read())
