# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers that lie, and other users of this machine: nothing is written or read outside the named folder."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import SftpAccess
from ansible_collections.hosted.services.plugins.module_utils._resources.clone import FILES
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from ansible_collections.hosted.services.plugins.module_utils._sftp import trees
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from unit.plugins.module_utils._resources.platform import id_of, run
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import Plain, odd_server
from unit.plugins.module_utils._sftp.servers import Server
from unit.plugins.results import Result

FOLDER, FILE, LINK = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o644, stat.S_IFLNK | 0o777
EVIL = b"evil"
TASK = """
- hosted.services.sftp_sync:
    host: "{{{{ server.host }}}}"
    port: "{{{{ server.port }}}}"
    username: "{{{{ server.username }}}}"
    private_key_file: "{{{{ server.private_key_file }}}}"
    host_key_checking: "off"
    direction: {direction}
    src: {src}
    dest: {dest}
"""


class Lying(Plain):
    """Lists what a test has it tell, each with a type; files all hold the same, and links lead on."""

    listings: ClassVar[Mapping[bytes, list[tuple[bytes, int]]]] = {}
    links: ClassVar[Mapping[bytes, bytes]] = {}
    size: ClassVar[int] = len(EVIL)

    def told(self, path: bytes) -> Iterator[tuple[bytes, int]]:
        yield from self.listings.get(path.removeprefix(b"./"), ())

    def attributes(self, mode: int) -> asyncssh.SFTPAttrs:
        return asyncssh.SFTPAttrs(permissions=mode, size=self.size, atime=1, mtime=1, uid=0, gid=0)

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        for name, mode in self.told(path):
            yield asyncssh.SFTPName(name, attrs=self.attributes(mode))

    def stat(self, path: bytes) -> asyncssh.SFTPAttrs:
        return self.attributes(FOLDER)

    lstat = stat

    def readlink(self, path: bytes) -> bytes:
        return self.links[path.removeprefix(b"./")]

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> object:
        return io.BytesIO(EVIL)


def lying(**told: Any) -> type[Lying]:
    return type("Told", (Lying,), told)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Something of this user that no task names."""
    return fill(tmp_path / "outside", {"f": "own"})


def play(ansible: Ansible, server: Server, direction: str, src: object, dest: object) -> Result:
    """Run one task in a play; return its result."""
    task = TASK.format(direction=direction, src=src, dest=dest)
    return ansible.tasks(task, variables={"server": server.options}).outcomes[-1].result


# --- Names ----------------------------------------------------------------------------------------------

TWICE: dict[str, Any] = {
    "listings": {
        b"src": [(b"a", FOLDER), (b"a", LINK)],
        b"src/a": [(b"b", FOLDER), (b"b", LINK)],
        b"src/a/b": [(b"l", FOLDER), (b"l", LINK)],
        b"src/a/b/l": [(b"evil", FILE)],
    },
    "links": {b"src/a": b".", b"src/a/b": b".", b"src/a/b/l": b"../.."},
}


def test_a_name_that_is_listed_twice_leads_nowhere(ansible: Ansible, tmp_path: Path) -> None:
    with odd_server(tmp_path, lying(**TWICE)) as server:
        for _turn in range(2):
            done = play(ansible, server, "pull", "src", tmp_path / "x" / "y" / "dest")
            assert "lists 'a' twice, as a directory and as a link" in done["msg"]
    assert not (tmp_path / "x").exists()


def test_a_file_that_is_listed_twice_counts_once(tmp_path: Path) -> None:
    """One that is replaced while its directory is listed may be in the list before and after that."""
    with odd_server(tmp_path, lying(listings={b"src": [(b"f", FILE), (b"f", FILE)]})) as server:
        done = sync(server, direction="pull", src="src", dest=str(tmp_path / "dest"))
    assert done["sftp_sync"]["created"] == [".", "f"] and holds(tmp_path / "dest") == {"f": "evil"}


COPIED = {
    "lists 'a' twice, as a directory and as a link": lying(listings={b".": [(b"a", FOLDER), (b"a", LINK)]}),
    "has 4611686018427387904 bytes, f alone 4611686018427387904. The most": lying(
        listings={b".": [(b"f", FILE)]}, size=2**62
    ),
}


@pytest.mark.parametrize("way", ["keep_copy", "clone"])
@pytest.mark.parametrize("said", COPIED)
def test_a_copy_of_a_service_takes_no_name_twice_and_no_exabytes(
    said: str, way: str, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox.seed({"services": [{"name": name, "product": "minecraft"} for name in ("one", "two")]})
    with odd_server(tmp_path, COPIED[said]) as server:
        access = SftpAccess.model_validate({n: server.options[n] for n in ("host", "port", "username")})
        monkeypatch.setattr(Account, "sftp", lambda account, id: access)
        key = server.options["private_key_file"]
        login = {"private_key_file": key, "known_hosts": str(tmp_path / "known_hosts")}
        one, two = id_of(sandbox, "one"), id_of(sandbox, "two")
        project = sandbox.api("GET", f"/api/resources/{two}").json()["projectId"]
        if way == "keep_copy":
            done = run(sandbox, SERVICE, name="one", state="absent", keep_copy=str(tmp_path), **login)
        else:
            given = {"source_id": one, "source_name": "one", "service": two, "project_id": project}
            done = run(sandbox, FILES, **given, **login)
    assert said in done["msg"]
    assert sandbox.writes() == []


@pytest.mark.parametrize("name", [b"", b"../x", b"a/b", b"a\0b", b"n" * 2000])
def test_a_name_that_is_none_is_refused(name: bytes, tmp_path: Path) -> None:
    with odd_server(tmp_path, lying(listings={b"src": [(name, FILE)] * 200_000})) as server:
        done = sync(server, direction="pull", src="src", dest=str(tmp_path / "dest"))
    assert "the server sent an invalid file name" in done["msg"]
    assert not (tmp_path / "dest").exists()


# --- Bounds ---------------------------------------------------------------------------------------------


class Nesting(Lying):
    """Has a directory in each directory."""

    def told(self, path: bytes) -> Iterator[tuple[bytes, int]]:
        yield b"d", FOLDER


class Endless(Lying):
    """Lists a directory without end."""

    def told(self, path: bytes) -> Iterator[tuple[bytes, int]]:
        number = 0
        while True:
            number += 1
            yield (b"." if number % 2 else b"f%d" % number), FILE


HUGE = lying(size=trees.MOST_BYTES, listings={b"src": [(b"f", FILE)]})


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (Nesting, "is more than 128 levels deep"),
        (Endless, "has more than 1000 entries"),
        (HUGE, "would take 17592186044416 bytes more on this machine, and"),
    ],
)
def test_a_tree_without_end_is_a_clear_error(
    files: type[Lying], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert trees.MOST_ENTRIES >= 1_000_000 and trees.MOST_LEVELS >= 64
    monkeypatch.setattr(trees, "MOST_ENTRIES", 1000)
    with odd_server(tmp_path, files) as server:
        for check_mode in (True, False):
            done = sync(server, check_mode, direction="pull", src="src", dest=str(tmp_path / "dest"))
            assert said in done["msg"]
    assert not (tmp_path / "dest").exists()


def test_a_server_that_sends_more_than_it_listed_fills_no_disk(tmp_path: Path) -> None:
    class Generous(Lying):
        listings: ClassVar = {b"src": [(b"f", FILE)]}

        def read(self, file_obj: object, offset: int, size: int) -> bytes:
            return EVIL * 10_000

    with odd_server(tmp_path, Generous) as server:
        sync(server, direction="pull", src="src", dest=str(tmp_path / "dest"))
    assert holds(tmp_path / "dest") == {"f": "evil"}


def test_a_push_of_holes_without_end_is_a_clear_error(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "", "b": ""})
    for name in ("a", "b"):
        os.truncate(src / name, 2**43 + 1)
    with odd_server(tmp_path, Plain) as server:
        assert "src on this machine has 17592186044418 bytes, " in sync(server, src=str(src))["msg"]
        assert holds(server.root) == {}


def test_a_listing_of_nothing_without_end_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nothing(*given: object) -> tuple[list[object], bool]:
        return [], False

    handlers = asyncssh.sftp.SFTPServerHandler._packet_handlers
    monkeypatch.setitem(handlers, asyncssh.constants.FXP_READDIR, nothing)
    with odd_server(tmp_path, Lying) as server:
        done = sync(server, direction="pull", src="src", dest=str(tmp_path / "dest"))
    assert "cannot read src on the service: the server listed it with 100 answers" in done["msg"]


def test_a_link_without_end_is_left_out(tmp_path: Path) -> None:
    files = lying(listings={b"src": [(b"l", LINK), (b"f", FILE)]}, links={b"src/l": b"f/" * 1_000_000})
    with odd_server(tmp_path, files) as server:
        done = sync(server, direction="pull", src="src", dest=str(tmp_path / "dest"))
    assert holds(tmp_path / "dest") == {"f": "evil"}
    assert max(map(len, done["warnings"])) < 10_000


# --- Another user of this machine -----------------------------------------------------------------------


def swap(folder: Path, outside: Path) -> None:
    """Put a link in the place of a folder."""
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(outside)


def swapping(act: str, happens: Callable[[], None]) -> type[Plain]:
    """Return a server in whose presence something happens once, when it is asked for this."""
    todo = [happens]

    def acting(self: Plain, *given: Any) -> Any:
        if todo:
            todo.pop()()
        return getattr(Plain, act)(self, *given)

    return type("Swapping", (Plain,), {act: acting})


@pytest.mark.parametrize("act", ["open", "read", "close"])
def test_a_pull_writes_through_no_link_that_takes_the_place_of_a_folder(
    act: str, ansible: Ansible, tmp_path: Path, outside: Path
) -> None:
    dest = fill(tmp_path / "dest", {"a/f": "old", "a/g": "old"})
    with odd_server(tmp_path, swapping(act, lambda: swap(dest / "a", outside))) as server:
        fill(server.root / "src", {"a/f": "new file", "a/g": "new file", "a/new/f": "new file", "a/l": "@f"})
        done = play(ansible, server, "pull", "src", dest)
    said = [each["message"] for each in done["failures"]]
    assert any("dest/a is no directory any more" in each for each in said), said
    assert holds(outside) == {"f": "own"}


def test_a_pull_stays_in_the_folder_that_was_named(ansible: Ansible, tmp_path: Path, outside: Path) -> None:
    """It may be a link of the user's. Where that leads is found out once."""
    real = fill(tmp_path / "real", {"f": "old"})
    (tmp_path / "dest").symlink_to(real)

    def turn() -> None:
        (tmp_path / "dest").unlink()
        (tmp_path / "dest").symlink_to(outside)

    with odd_server(tmp_path, swapping("open", turn)) as server:
        fill(server.root / "src", {"f": "new file", "g": "new file"})
        play(ansible, server, "pull", "src", tmp_path / "dest")
    assert holds(real) == {"f": "new file", "g": "new file"} and holds(outside) == {"f": "own"}


def test_permissions_are_set_through_no_link(tmp_path: Path, outside: Path) -> None:
    dest = fill(tmp_path / "dest", {"a/f": "same", "b": "old"})
    (dest / "a" / "f").chmod(0o600)
    (outside / "f").chmod(0o600)
    with odd_server(tmp_path, swapping("open", lambda: swap(dest / "a", outside))) as server:
        fill(server.root / "src", {"a/f": "same", "b": "new file"})
        sync(server, direction="pull", src="src", dest=str(dest))
    assert stat.S_IMODE((outside / "f").stat().st_mode) == 0o600


def test_nothing_is_deleted_through_a_link(tmp_path: Path, outside: Path) -> None:
    dest = fill(tmp_path / "dest", {"a/f": "extra", "b": "old"})
    with odd_server(tmp_path, swapping("open", lambda: swap(dest / "a", outside))) as server:
        fill(server.root / "src", {"a/x": "new file", "b": "new file"})
        sync(server, direction="pull", src="src", dest=str(dest), delete=True)
    assert holds(outside) == {"f": "own"}


def test_a_push_reads_through_no_link_that_takes_the_place_of_a_folder(
    ansible: Ansible, tmp_path: Path, outside: Path
) -> None:
    """What a recovery pushes is read by the same code."""
    src = fill(tmp_path / "tree", {"a/f": "ours", "b": "ours"})
    with odd_server(tmp_path, swapping("mkdir", lambda: swap(src / "a", outside))) as server:
        done = play(ansible, server, "push", src, "up")
        assert "tree/a is no directory any more" in done["msg"]
        assert holds(server.root / "up") == {"a": None, "b": "ours"}


def test_a_push_does_not_wait_at_a_pipe_and_follows_no_link(tmp_path: Path, outside: Path) -> None:
    src = fill(tmp_path / "tree", {"a": "ours", "b": "ours"})

    def swapped() -> None:
        for name in ("a", "b"):
            (src / name).unlink()
        os.mkfifo(src / "a")
        (src / "b").symlink_to(outside / "f")

    with odd_server(tmp_path, swapping("mkdir", swapped)) as server:
        done = sync(server, src=str(src))
        assert [each["path"] for each in done["failures"]] == ["a", "b"]
        assert holds(server.root / "up") == {}
