# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why something could not be written, in words that help."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp.local import Local
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Remote
from ansible_collections.hosted.services.plugins.module_utils._sftp.server_features import ServerFeatures
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import (
    TEMPORARY,
    Kind,
    Tree,
    TreeEntry,
    aside_path,
    encode_path,
)

ENTRY = TreeEntry(Kind.FILE, size=5000)


class Disk:
    """A server that tells how much room there is, or does not."""

    def __init__(self, blocks: int | None) -> None:
        self.blocks = blocks
        self.asked: list[bytes] = []

    async def statvfs(self, path: bytes) -> SimpleNamespace:
        self.asked.append(path)
        if self.blocks is None:
            raise asyncssh.SFTPOpUnsupported("Operation not supported")
        return SimpleNamespace(bavail=self.blocks, frsize=1000)


@pytest.mark.parametrize(
    ("blocks", "said"),
    [
        (4, "no space left on the service: 4000 bytes are free, the file has 5000"),
        (5, ""),
        (9, ""),
        (None, ""),
    ],
)
def test_a_full_disk_is_asked_about(blocks: int | None, said: str) -> None:
    remote = Remote(Disk(blocks), "up")
    assert asyncio.run(remote.explain_full_disk(asyncssh.SFTPFailure("Failure"), "", ENTRY)) == said


@pytest.mark.parametrize(
    ("blocks", "said"), [(0, "no space left on the service: 0 bytes are free, the file has 0"), (1, "")]
)
def test_even_an_empty_file_needs_room(blocks: int, said: str) -> None:
    remote, empty = Remote(Disk(blocks), "up"), TreeEntry(Kind.FILE, size=0)
    assert asyncio.run(remote.explain_full_disk(asyncssh.SFTPFailure("Failure"), "", empty)) == said


@pytest.mark.parametrize(
    ("root", "path", "asked"), [("up", "mount/deep/a", b"up/mount/deep"), ("up", "", b"."), (".", "a", b".")]
)
def test_the_disk_is_that_of_the_file(root: str, path: str, asked: bytes) -> None:
    disk = Disk(0)
    asyncio.run(Remote(disk, root).explain_full_disk(asyncssh.SFTPFailure("Failure"), path, ENTRY))
    assert disk.asked == [asked]


def test_other_reasons_are_no_full_disk() -> None:
    remote = Remote(Disk(0), "up")
    assert (
        asyncio.run(remote.explain_full_disk(asyncssh.SFTPPermissionDenied("Permission denied"), "", ENTRY))
        == ""
    )
    full = asyncssh.SFTPNoSpaceOnFilesystem("No space")
    assert asyncio.run(remote.explain_full_disk(full, "", None)) == "no space left on the service: No space"
    for number, said in ((errno.ENOSPC, "no space left on this machine"), (errno.EACCES, "")):
        assert asyncio.run(Local("up").explain_full_disk(OSError(number, "No"), "", ENTRY)) == said


# --- What fails half way --------------------------------------------------------------------------------


class Full:
    """A server that takes files under their temporary names, and refuses to rename them."""

    version = 3

    def __init__(self, refusal: Exception, remove: Exception | None = None) -> None:
        self.refusal = refusal
        self.remove_error = remove
        self.removed: list[bytes] = []

    async def symlink(self, target: bytes, link: bytes) -> None:
        self.link = link

    async def posix_rename(self, old: bytes, new: bytes) -> None:
        raise self.refusal

    async def remove(self, path: bytes) -> None:
        self.removed.append(path)
        if self.remove_error is not None:
            raise self.remove_error


@pytest.mark.parametrize("remove", [None, asyncssh.SFTPConnectionLost("lost"), OSError("lost")])
def test_what_could_not_be_put_in_place_is_removed_and_the_first_error_is_told(
    remove: Exception | None,
) -> None:
    """An error while cleaning up would hide the reason; the next run removes what is left."""
    server = Full(asyncssh.SFTPPermissionDenied("read only"), remove)
    link = TreeEntry(Kind.LINK, target="a")
    with pytest.raises(asyncssh.SFTPPermissionDenied, match="read only"):
        asyncio.run(Remote(server, "up").make_link("b", link, new=False))
    assert server.removed == [server.link] and TEMPORARY.fullmatch(server.link.decode().partition("/")[2])


class Shelf(Full):
    """A server that renames over nothing. One that ``refuses`` puts nothing new at ``up/b``."""

    def __init__(self, files: dict[bytes, str], refuses: bool) -> None:
        super().__init__(asyncssh.SFTPOpUnsupported("no such extension"))
        self.files = files
        self.refuses = refuses

    async def symlink(self, target: bytes, link: bytes) -> None:
        self.files[link] = "new"

    async def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        if path not in self.files:
            raise asyncssh.SFTPNoSuchFile("not there")
        return asyncssh.SFTPAttrs(type=asyncssh.FILEXFER_TYPE_REGULAR)

    async def rename(self, old: bytes, new: bytes) -> None:
        if self.refuses and new == b"up/b" and self.files[old] == "new":
            raise asyncssh.SFTPPermissionDenied("read only")
        if new in self.files:
            raise asyncssh.SFTPFailure("there is one")
        self.files[new] = self.files.pop(old)

    async def remove(self, path: bytes) -> None:
        del self.files[path]


@pytest.mark.parametrize("there", [{}, {b"up/b": "old"}])
def test_what_cannot_be_renamed_over_makes_way_and_comes_back_after_an_error(there: dict[bytes, str]) -> None:
    link = TreeEntry(Kind.LINK, target="a")
    server = Shelf(dict(there), refuses=True)
    with pytest.raises(asyncssh.SFTPPermissionDenied, match="read only"):
        asyncio.run(Remote(server, "up").make_link("b", link, new=False))
    assert server.files == there
    server.refuses = False
    asyncio.run(Remote(server, "up").make_link("b", link, new=False))
    assert server.files == {b"up/b": "new"}


class Occupied(Shelf):
    """A server that has a directory at ``up/b``."""

    async def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        await super().lstat(path)
        return asyncssh.SFTPAttrs(type=asyncssh.FILEXFER_TYPE_DIRECTORY)


def test_a_directory_does_not_make_way() -> None:
    """One that is excluded could not be removed, and would be a leftover of the next run."""
    server = Occupied({b"up/b": "a directory"}, refuses=False)
    with pytest.raises(asyncssh.SFTPOpUnsupported):
        asyncio.run(Remote(server, "up").make_link("b", TreeEntry(Kind.LINK, target="a"), new=False))
    assert server.files == {b"up/b": "a directory"}


class Broken(Shelf):
    """A server that is lost once what was there has been put aside."""

    async def rename(self, old: bytes, new: bytes) -> None:
        if old != b"up/b":
            raise asyncssh.SFTPConnectionLost("lost")
        await super().rename(old, new)


def test_what_does_not_come_back_is_no_leftover_and_its_name_is_told() -> None:
    """It may be all that there is of that file."""
    server = Broken({b"up/b": "old"}, refuses=False)
    with pytest.raises(asyncssh.SFTPConnectionLost, match="lost; what was there") as caught:
        asyncio.run(Remote(server, "up").make_link("b", TreeEntry(Kind.LINK, target="a"), new=False))
    (aside,) = [name.decode() for name, content in server.files.items() if content == "old"]
    assert aside.startswith("up/b.") and aside in str(caught.value)
    tree = Tree()
    tree.take(aside.removeprefix("up/"), ENTRY, lambda path, why: None)
    tree.prune(Patterns(), lambda path, why: None)
    assert tree.leftovers == [] and aside.removeprefix("up/") in tree


def test_the_name_aside_is_short_enough_and_unique() -> None:
    for name in ("b", "n" * 255, "\u00f6" * 127, "caf\udce9"):
        one, other = (aside_path(f"up/{name}") for _turn in range(2))
        assert one != other and one.startswith("up/") and len(encode_path(one.removeprefix("up/"))) <= 255


# --- Who may read a file that is written ----------------------------------------------------------------


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
