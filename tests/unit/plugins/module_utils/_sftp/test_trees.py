# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many works at once end together, and clean up when they do."""

from __future__ import annotations

import asyncio
import os
import posixpath
from types import SimpleNamespace
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import trees
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import TransferFailed
from ansible_collections.hosted.services.plugins.module_utils._sftp.patterns import Patterns
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import run_all, within


class Work:
    """Goes on for ever, and takes some turns of the loop to clean up."""

    def __init__(self, turns: int) -> None:
        self.turns = turns
        self.begun = asyncio.Event()
        self.cleaned = False

    async def run(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            for _turn in range(self.turns):
                await asyncio.sleep(0)
            self.cleaned = True


def test_what_is_called_off_cleans_up_to_its_end() -> None:
    async def call_off() -> list[Work]:
        works = [Work(1), Work(9)]
        whole = asyncio.ensure_future(run_all(*(work.run() for work in works)))
        for work in works:
            await work.begun.wait()
        whole.cancel()
        with pytest.raises(asyncio.CancelledError):
            await whole
        return works

    assert all(work.cleaned for work in asyncio.run(call_off()))


def test_an_error_ends_the_others_once_they_have_cleaned_up() -> None:
    async def fail() -> Work:
        work = Work(9)

        async def failing() -> None:
            await work.begun.wait()
            raise ValueError("first")

        with pytest.raises(ValueError, match="first"):
            await run_all(work.run(), failing())
        return work

    assert asyncio.run(fail()).cleaned


def test_nothing_to_do() -> None:
    asyncio.run(run_all())


# --- What is on the server ----------------------------------------------------------------------------

SERVER = {
    "": {"web": trees.Kind.DIRECTORY, "a.txt": trees.Kind.FILE, "socket": trees.Kind.OTHER},
    "web": {"inner": trees.Kind.DIRECTORY, "b.txt": trees.Kind.FILE},
    "web/inner": {"c.txt": trees.Kind.FILE},
}


@pytest.fixture
def listed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let the server hold SERVER; return the directories that were listed."""
    seen: list[str] = []

    async def root(*given: Any) -> Any:
        return trees.TreeEntry(trees.Kind.DIRECTORY)

    async def listing(sftp: Any, root: str, folder: str, tree: Any) -> Any:
        seen.append(folder)
        return [SimpleNamespace(filename=name.encode(), attrs=kind) for name, kind in SERVER[folder].items()]

    async def entry(sftp: Any, path: str, kind: Any) -> Any:
        return trees.TreeEntry(kind)

    monkeypatch.setattr(trees, "remote_root", root)
    monkeypatch.setattr(trees, "list_remote", listing)
    monkeypatch.setattr(trees, "remote_entry", entry)
    return seen


def test_each_directory_is_looked_into_once_and_what_takes_no_part_is_told(listed: list[str]) -> None:
    skipped: list[tuple[str, str]] = []
    found = asyncio.run(
        trees.remote_tree(None, "srv", Patterns([], []), lambda path, why: skipped.append((path, why)))
    )
    assert sorted(found.entries) == ["", "a.txt", "web", "web/b.txt", "web/inner", "web/inner/c.txt"]
    assert sorted(listed) == ["", "web", "web/inner"]
    assert skipped == [("socket", "it is neither a file, a directory nor a link")]
    assert found.left_out == {"socket"}


def test_an_excluded_directory_is_not_looked_into(listed: list[str]) -> None:
    found = asyncio.run(trees.remote_tree(None, "srv", Patterns([], ["web"]), lambda path, why: None))
    assert sorted(found.entries) == ["", "a.txt"] and listed == [""]


# --- Where a link points --------------------------------------------------------------------------------


class Links:
    """A server whose sessions begin at `start`, and that answers a request for any link alike."""

    def __init__(self, answer: bytes | Exception, start: str = "/srv") -> None:
        self.answer = answer
        self.start = start

    async def readlink(self, path: bytes) -> bytes:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def realpath(self, path: bytes) -> bytes:
        return posixpath.normpath(posixpath.join(self.start, path.decode())).encode()


@pytest.mark.parametrize(
    ("answer", "path", "start", "target", "resolved"),
    [
        (b"../a", "web/link", "/srv", "../a", False),
        (b"caf\xe9", "link", "/srv", "caf\udce9", False),
        (b"/srv/web/a", "web/link", "/srv", "a", True),
        (b"/srv/a", "web/inner/link", "/srv", "../../a", True),
        (b"/srv/web/a", "link", "/srv", "web/a", True),
        (b"/a", "web/link", "/", "../a", True),
        (b"/etc/hosts", "web/link", "/srv", "/etc/hosts", False),
        (b"/srv-2/a", "web/link", "/srv", "/srv-2/a", False),
    ],
)
def test_a_target_is_relative_to_its_link_where_that_can_be_told(
    answer: bytes, path: str, start: str, target: str, resolved: bool
) -> None:
    """Some servers answer with the absolute place of any target: below the start, that says the same."""
    assert asyncio.run(trees.remote_target(Links(answer, start), path)) == (target, resolved)


def test_a_server_that_does_not_show_a_target_is_no_failure_but_a_lost_connection_is() -> None:
    assert asyncio.run(trees.remote_target(Links(asyncssh.SFTPOpUnsupported("no")), "a")) == (None, False)
    for lost in (asyncssh.SFTPConnectionLost("lost"), asyncssh.SFTPNoConnection("none")):
        with pytest.raises(lost.__class__):
            asyncio.run(trees.remote_target(Links(lost), "a"))


@pytest.mark.parametrize("answer", [b"", b"web/a", b"a\0"])
def test_a_name_that_is_none_is_refused(answer: bytes) -> None:
    with pytest.raises(TransferFailed, match="an invalid file name"):
        trees.check_entry_name(answer)
    assert trees.check_entry_name(b"caf\xe9") == "caf\udce9"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"a b.txt", "a b.txt"),
        ("größe".encode(), "größe"),
        (b"gr\xf6\xdfe", "gr\\xf6\\xdfe"),
        (b"\x1b[2Jred\n", "\\x1b[2Jred\\n"),
    ],
)
def test_a_path_is_shown_without_what_would_steer_a_terminal(name: bytes, shown: str) -> None:
    assert trees.printable_path(os.fsdecode(name)) == shown


@pytest.mark.parametrize(
    ("path", "places", "inside"),
    [
        ("a/b", {"a/b"}, True),
        ("a/b/c", {"a"}, True),
        ("a/b", {""}, True),
        ("", {""}, True),
        ("ab", {"a"}, False),
        ("a", {"a/b"}, False),
        ("", {"a"}, False),
    ],
)
def test_a_path_is_within_a_place_or_below_it(path: str, places: set[str], inside: bool) -> None:
    """Everything is below the root, such as one that cannot be listed: nothing in it is deleted."""
    assert within(path, places) is inside
