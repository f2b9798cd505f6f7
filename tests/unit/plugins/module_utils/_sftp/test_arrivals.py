# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Transfers that are cut, or whose files change meanwhile; what a mirror and a relay then leave."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any, TypeAlias

import asyncssh
import pytest

from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.as_user import as_user
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import KEPT, Folding, Losing, Plain, Truncating, odd_server

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
