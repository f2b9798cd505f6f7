# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfers that are cut, or whose files change meanwhile; what a mirror and a relay then leave."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.compare import Rules, compare
from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import HostKeys
from ansible_collections.hosted.services.plugins.module_utils._sftp.mirror import PUSH, Mirror
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Relayed, Remote
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import Login, SftpSession
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.as_user import as_user
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import KEPT, Folding, Losing, Plain, Truncating, odd_server
from unit.plugins.module_utils._sftp.servers import Server
from unit.tiers import sample

LONG = "x" * 5000
COMPOSED = unicodedata.normalize("NFC", "für.txt")
APART = unicodedata.normalize("NFD", COMPOSED)
Content: TypeAlias = "dict[str, str | None]"


def test_a_file_of_which_the_server_keeps_the_beginning_is_a_failure(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a", "deep/long": LONG, "empty": "", "link": "@a"})
    with odd_server(tmp_path, Truncating) as server:
        fill(server.root / "up", {"extra": "precious"})
        for _run in range(2):
            result = sync(server, src=str(src), dest="up", delete=True)
            assert result["failed"] and result["changed"] and "nothing was deleted" in result["msg"]
            (failure,) = result["failures"]
            assert failure["path"] == "deep/long" and "deep/long" not in result["finished"]
            assert failure["message"].startswith(
                f"cannot write up/deep/long on the service: 5000 bytes were written without an error, but it "
                f"has {KEPT}; "
            )
            assert holds(server.root / "up") == {**holds(src), "deep/long": LONG[:KEPT], "extra": "precious"}


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a", "lost": "b"})
    with odd_server(tmp_path, Losing) as server:
        result = sync(server, src=str(src), dest="up")
        assert result["failed"] and result["finished"] == [".", "a"]
        assert (
            "cannot write up/lost on the service: it was written without an error, but is not"
            in result["msg"]
        )


@pytest.mark.parametrize(
    ("ours", "theirs", "named"),
    [
        ({"A.txt": "short", "a.txt": "longer text"}, {}, ["A.txt", "a.txt"]),
        ({"A.txt": "short", "a.TXT": "longer text"}, {"a.txt": "there before"}, ["A.txt", "a.TXT"]),
        ({"Server.cfg": "new"}, {"server.cfg": "old text"}, ["Server.cfg"]),
        ({COMPOSED: "new"}, {APART: "old text"}, [COMPOSED]),
        ({"Maps/A": "new"}, {"maps/a": "old text"}, ["Maps"]),
        ({"b": "b", "Link": "@b"}, {"b": "b", "link": "@a"}, ["Link"]),
        ({"a.": "new"}, {"a": "old text"}, ["a."]),
    ],
)
def test_names_that_are_one_to_the_server_are_a_failure(
    ours: Content, theirs: Content, named: list[str], tmp_path: Path
) -> None:
    """What would be deleted there is what was just written."""
    src = fill(tmp_path / "src", {**ours, "c": "c"})
    with odd_server(tmp_path, Folding) as server:
        fill(server.root / "up", {**theirs, "extra": "precious"})
        for _run in range(2):
            result = sync(server, src=str(src), dest="up", delete=True)
            assert result["failed"] and "nothing was deleted" in result["msg"]
            assert [failure["path"] for failure in result["failures"]] == named
            if not {"Maps", "Link"} & set(named):  # which it refuses to make at all
                assert "it is the same there as" in result["msg"]
            assert (server.root / "up/extra").read_text() == "precious"


def filled_sides(
    direction: str, server: servers.Server, here: Path, ours: Content, theirs: Content
) -> tuple[Path, dict[str, Any]]:
    """Fill the source with ``ours`` and the target with ``theirs``.

    Return the folder of the target, and the options of a task that mirrors the source there.
    """
    at_source, at_target = (here, server.root) if direction == "push" else (server.root, here)
    source, target = fill(at_source / "src", ours), fill(at_target / "up", theirs)
    src, dest = (str(source), "up") if direction == "push" else ("src", str(target))
    return target, {"direction": direction, "src": src, "dest": dest, "delete": True}


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_is_excluded_at_the_source_is_safe_as_another_kind(direction: str, tmp_path: Path) -> None:
    """A pattern for directories names the directory of the source, and the target has a link in its place."""
    with odd_server(tmp_path, Plain) as server:
        theirs: Content = {"cache": "@data", "data/y": "y", "old": "old"}
        target, given = filled_sides(direction, server, tmp_path, {"cache/x": "x", "a": "a"}, theirs)
        given["exclude"] = ["cache/", "data"]
        results = [sync(server, mode, **given) for mode in (True, False)]
        assert [one["sftp_sync"]["deleted"] for one in results] == [["old"]] * 2
        assert holds(target) == {"a": "a", "cache": "@data", "data": None, "data/y": "y"}
        result = sync(server, **given, delete_excluded=True)["sftp_sync"]
        assert result["deleted"] == ["cache", "data", "data/y"]
        assert holds(target) == {"a": "a"}


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("ours", ["a file", "@a"])
def test_a_directory_that_is_excluded_is_not_replaced(ours: str, direction: str, tmp_path: Path) -> None:
    with odd_server(tmp_path, Plain) as server:
        theirs: Content = {"cache/x": "x", "old": "old"}
        target, given = filled_sides(direction, server, tmp_path, {"cache": ours, "a": "a"}, theirs)
        given["exclude"] = ["cache/"]
        before = holds(target)
        for check_mode in (True, False):
            result = sync(server, check_mode, **given)
            assert "cache is a directory there, which exclude leaves alone, but not here" in result["msg"]
            assert holds(target) == before


ASIDE = "server.cfg.hosted-0123456789abcdef.old"


@pytest.mark.parametrize("more", [{}, {"exclude": ["server.cfg"], "delete": True}])
def test_a_file_that_was_put_aside_and_is_missing_at_its_place_stays(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    src = fill(tmp_path / "src", {"other": "x"})
    with odd_server(tmp_path, Plain) as server:
        fill(server.root / "up", {ASIDE: "precious", "deep/" + ASIDE: "precious"})
        for _run in range(2):
            assert not sync(server, src=str(src), dest="up", **more).get("failed")
            kept = holds(server.root / "up")
            assert kept[ASIDE] == kept["deep/" + ASIDE] == "precious"


def test_a_file_that_was_put_aside_goes_once_another_is_in_its_place(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"server.cfg": "new"})
    with odd_server(tmp_path, Plain) as server:
        fill(server.root / "up", {ASIDE: "old"})
        for _run in range(2):
            assert not sync(server, src=str(src), dest="up").get("failed")
        assert holds(server.root / "up") == {"server.cfg": "new"}


@pytest.mark.parametrize(
    ("ours", "theirs", "more"),
    [
        ({"Cache/x": "x"}, {"cache/precious": "kept"}, {"delete": True, "exclude": ["Cache/"]}),
        ({"Server.cfg": "new"}, {"server.cfg": "kept"}, {"exclude": ["server.cfg"]}),
        ({"Maps": "@/etc"}, {"maps/precious": "kept"}, {"delete": True}),
    ],
)
def test_what_takes_no_part_is_safe_where_capitals_count_for_nothing(
    ours: Content, theirs: Content, more: dict[str, Any], tmp_path: Path
) -> None:
    src = fill(tmp_path / "src", {**ours, "a": "a"})
    with odd_server(tmp_path, Folding) as server:
        fill(server.root / "up", {**theirs, "a": "a"})
        result = sync(server, src=str(src), dest="up", **more)
        assert result["failed"] and "differ in capitals or characters alone" in result["msg"]
        (path,) = theirs
        assert (server.root / "up" / path).read_text() == "kept"


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

        async def work() -> int:
            source = await self.relayed.tree(Patterns())
            target = await self.mirror.target.tree(Patterns())
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


def test_a_file_that_cannot_be_read_is_an_error_of_the_source(pair: list[Server], relay: Relay) -> None:
    async def work() -> None:
        source = await relay.relayed.tree(Patterns())
        target = await relay.mirror.target.tree(Patterns())
        entries = {**source.entries, "missing": replace(source.entries["few"], size=9)}
        await relay.mirror.apply(compare(replace(source, entries=entries), target, Rules(lambda *__: False)))

    relay.target.run(work())
    assert list(relay.mirror.failures) == ["missing"]
    assert relay.mirror.failures["missing"].startswith(
        "cannot read ./missing on the service that is copied: "
    )
