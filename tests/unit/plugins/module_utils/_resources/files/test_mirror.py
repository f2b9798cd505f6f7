# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors where something cannot be done: by the server, by the protocol, or for want of permission."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.as_user import as_user
from unit.plugins.module_utils._sftp.mirrored import OLD, sync
from unit.plugins.module_utils._sftp.servers import Server

NO_SETSTAT = "-P setstat,fsetstat"
SILENT = "SFTPOptions IgnoreSFTPSetTimes IgnoreSFTPSetPerms"
Start = Callable[..., Server]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a server of some kind, once for all tests that want the same; its files are removed."""
    started: dict[str, Server] = {}
    with ExitStack() as closing:

        def run(kind: str, **options: Any) -> Server:
            name = f"{kind} {options}"
            if name not in started:
                folder = tmp_path_factory.mktemp(kind)
                started[name] = closing.enter_context(servers.start(kind, folder, **options))
            server = started[name]
            subprocess.run(["find", str(server.root), "-mindepth", "1", "-delete"], check=True)
            return server

        yield run


def good(result: dict[str, Any]) -> dict[str, Any]:
    """Return what the module says once it is clear that it went well."""
    assert "failed" not in result, result["msg"]
    said: dict[str, Any] = result["sftp_sync"]
    return said


def warned(result: dict[str, Any], text: str) -> bool:
    """Tell whether a warning has this text."""
    return any(text in warning for warning in result.get("warnings", []))


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


@pytest.fixture
def src(tmp_path: Path) -> Path:
    """A directory with two files, one of them in a folder."""
    root = tmp_path / "src"
    (root / "deep").mkdir(parents=True)
    for path in ("a", "deep/b"):
        (root / path).write_text(path)
        os.utime(root / path, (OLD, OLD))
    return root


# --- Links --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["openssh", "proftpd", "sandbox"])
def test_links_arrive_and_change_whatever_order_the_server_reads(kind: str, start: Start, src: Path) -> None:
    server = start(kind)
    for name, target in {
        "one": "a",
        "deep/two": "../a",
        "chain": "one",
        "nowhere": "none",
        "odd": "./a",
    }.items():
        (src / name).symlink_to(target)
    good(sync(server, src=str(src)))
    assert sorted(path.name for path in server.root.iterdir()) == ["up"]
    assert os.readlink(server.root / "up/deep/two") == "../a"
    assert not sync(server, src=str(src))["changed"]
    (src / "one").unlink()
    (src / "one").symlink_to("deep/b")
    assert good(sync(server, src=str(src)))["updated"] == ["one"]
    assert os.readlink(server.root / "up/one") == "deep/b"
    assert (server.root / "up/a").read_text() == "a" and (server.root / "up/deep/b").read_text() == "deep/b"
    names = sorted(str(path.relative_to(src)) for path in src.rglob("*"))
    assert (
        sorted(str(path.relative_to(server.root / "up")) for path in (server.root / "up").rglob("*")) == names
    )


def test_a_server_that_refuses_to_replace_files(start: Start, src: Path) -> None:
    server = start("sandbox", replace="is refused")
    (src / "link").symlink_to("a")
    good(sync(server, src=str(src)))
    (src / "a").write_text("other")
    (src / "link").unlink()
    (src / "link").symlink_to("deep/b")
    assert good(sync(server, src=str(src)))["updated"] == ["a", "link"]
    assert (server.root / "up/a").read_text() == "other"
    assert os.readlink(server.root / "up/link") == "deep/b"
    assert names(server.root / "up") == ["a", "deep", "deep/b", "link"]
    assert not sync(server, src=str(src))["changed"]


def test_links_that_are_refused_are_left_out(start: Start, src: Path) -> None:
    server = start("openssh", options="-P symlink")
    (src / "link").symlink_to("a")
    (server.root / "up").mkdir()
    (server.root / "up" / "link").write_text("precious")
    result = sync(server, src=str(src))
    assert good(result)["left_out"] == ["link"] and good(result)["deleted"] == []
    assert (server.root / "up" / "link").read_text() == "precious"
    assert not sync(server, src=str(src))["changed"]


# --- Times and permissions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "options"), [("openssh", {"options": NO_SETSTAT}), ("proftpd", {"settings": SILENT})]
)
def test_a_server_that_sets_neither_times_nor_permissions(
    kind: str, options: dict[str, str], start: Start, src: Path
) -> None:
    server = start(kind, **options)
    (src / "a").chmod(0o601)
    first = sync(server, src=str(src))
    assert good(first)["created"] == [".", "a", "deep", "deep/b"]
    assert (server.root / "up/deep/b").read_text() == "deep/b"
    assert warned(first, "does not keep modification times") and warned(first, "does not keep permissions")
    again = sync(server, src=str(src))
    assert not again["changed"] and good(again)["unchanged"] == 4 and not again["actions"]
    assert warned(again, "does not keep modification times")
    (src / "a").write_text("b")
    os.utime(src / "a", (OLD, OLD))
    assert good(sync(server, src=str(src)))["updated"] == ["a"]
    assert (server.root / "up/a").read_text() == "b"
    assert not list(server.root.rglob(".hosted-*"))


@pytest.mark.parametrize("kind", ["openssh", "rclone"])
def test_a_time_of_zero_arrives_once(kind: str, start: Start, src: Path, tmp_path: Path) -> None:
    """As 1, also where 0 could be set. To Go's library that means that no time is to be set."""
    server = start(kind)
    os.utime(src / "a", (0, 0))
    assert good(sync(server, src=str(src), preserve_modes=False))["created"] == [".", "a", "deep", "deep/b"]
    assert (server.root / "up/a").stat().st_mtime == 1
    assert (server.root / "up/deep/b").stat().st_mtime == OLD
    again = sync(server, src=str(src), preserve_modes=False)
    assert not again["changed"] and not again["actions"] and "warnings" not in again
    (src / "a").write_text("more")
    os.utime(src / "a", (0, 0))
    assert good(sync(server, src=str(src), preserve_modes=False))["updated"] == ["a"]
    assert (server.root / "up/a").read_text() == "more"
    assert (server.root / "up/a").stat().st_mtime == 1
    os.utime(server.root / "up/a", (0, 0))
    down: dict[str, Any] = {"direction": "pull", "src": "up", "dest": str(tmp_path / "down")}
    assert "a" in good(sync(server, **down, preserve_modes=False))["created"]
    assert (tmp_path / "down/a").stat().st_mtime == 0
    assert not sync(server, **down, preserve_modes=False)["changed"]


def test_special_bits_are_set_only_where_they_are_asked_for(start: Start, src: Path) -> None:
    server = start("openssh")
    (src / "a").chmod(0o4755)
    good(sync(server, src=str(src)))
    assert (server.root / "up/a").stat().st_mode & 0o7777 == 0o755
    assert not sync(server, src=str(src))["changed"]
    assert good(sync(server, src=str(src), directory_mode="2750"))["updated"] == ["deep"]
    assert (server.root / "up/deep").stat().st_mode & 0o7777 == 0o2750
    assert not sync(server, src=str(src), directory_mode="2750")["changed"]


# --- Without permission -------------------------------------------------------------------------------


def both_sides(direction: str, server: Server, src: Path, here: Path) -> tuple[Path, Path, dict[str, Any]]:
    """Return the source and the target of a mirror that deletes, and its options."""
    given = {"direction": direction, "src": str(src), "dest": "up", "delete": True}
    if direction == "push":
        return src, server.root / "up", given
    subprocess.run(["cp", "-a", str(src), str(server.root / "src")], check=True)
    return server.root / "src", here / "up", {**given, "src": "src", "dest": str(here / "up")}


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_folders_that_nobody_may_write_to_are_updated(
    direction: str, start: Start, src: Path, tmp_path: Path
) -> None:
    server = start("openssh", as_user=True)
    source, there, given = both_sides(direction, server, src, tmp_path)
    (there / "deep").mkdir(parents=True)
    (there / "deep" / "old").write_text("old")
    (source / "deep").chmod(0o555)
    with as_user():
        assert good(sync(server, **given))["deleted"] == ["deep/old"]
    assert (there / "deep").stat().st_mode & 0o777 == 0o555
    (source / "deep" / "new").write_text("new")
    (source / "deep" / "b").unlink()
    with as_user():
        result = sync(server, **given)
    assert (good(result)["created"], good(result)["deleted"]) == (["deep/new"], ["deep/b"])
    assert (there / "deep").stat().st_mode & 0o777 == 0o555
    (source / "deep" / "unreadable").touch(mode=0)
    (source / "deep" / "other").write_text("other")
    with as_user():
        assert sync(server, **given)["failed"]
    assert (there / "deep" / "other").read_text() == "other"
    assert (there / "deep").stat().st_mode & 0o777 == 0o555


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_cannot_be_read_does_not_keep_the_rest_from_being_done(
    direction: str, start: Start, src: Path, tmp_path: Path
) -> None:
    server = start("openssh", as_user=True)
    source, there, given = both_sides(direction, server, src, tmp_path)
    (source / "closed").mkdir()
    (source / "listed").mkdir()
    (source / "listed" / "d").write_text("x")
    (source / "closed" / "c").write_text("x")
    (source / "0").touch(mode=0)
    (there / "closed").mkdir(parents=True)
    (there / "listed").mkdir(parents=True)
    (there / "listed" / "d").write_text("precious")
    (there / "closed" / "old").write_text("precious")
    (there / "extra").write_text("precious")
    (source / "closed").chmod(0)
    (source / "listed").chmod(0o444)
    for changed in (True, False):
        with as_user():
            result = sync(server, **given)
        assert result["failed"] and result["changed"] is changed
        assert ("a" in result["finished"]) is changed
        assert [failure["path"] for failure in result["failures"]] == ["0", "closed", "listed"]
        where = "on this machine" if direction == "push" else "on the service"
        for failure in result["failures"]:
            assert failure["message"].startswith("cannot read ") and failure["message"] in result["msg"]
            assert failure["message"].endswith(f"/{failure['path']} {where}: Permission denied")
        assert "nothing was deleted" in result["msg"]
        assert (there / "a").read_text() == "a" and (there / "deep" / "b").read_text() == "deep/b"
        assert [(there / path).read_text() for path in ("closed/old", "listed/d", "extra")] == [
            "precious"
        ] * 3
    with as_user():
        assert sync(server, True, **given)["failed"], "check mode tells the same"
    for path in ("closed", "listed", "0"):
        (source / path).chmod(0o755)
    assert sync(server, **given)["changed"]
    assert (there / "closed" / "c").read_text() == "x" and not (there / "extra").exists()


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_is_in_the_way_of_what_cannot_be_read_stays(
    direction: str, start: Start, src: Path, tmp_path: Path
) -> None:
    server = start("openssh", as_user=True)
    source, there, given = both_sides(direction, server, src, tmp_path)
    (there / "a").mkdir(parents=True)
    (there / "a" / "data.db").write_text("precious")
    (there / "deep").write_text("precious")
    (source / "a").chmod(0)
    (source / "deep").chmod(0)
    with as_user():
        result = sync(server, **given)
    assert result["failed"] and not result["changed"]
    assert [failure["path"] for failure in result["failures"]] == ["a", "deep"]
    assert (there / "a" / "data.db").read_text() == "precious" == (there / "deep").read_text()
    for path in ("a", "deep"):
        (source / path).chmod(0o755)
    assert good(sync(server, **given))["deleted"] == ["a", "a/data.db", "deep"]


# --- Requests, and what is kept -----------------------------------------------------------------------


@pytest.mark.parametrize("what", ["stray link", "special file"])
def test_the_namesake_of_what_was_left_out_is_not_deleted(what: str, start: Start, src: Path) -> None:
    server = start("openssh")
    if what == "stray link":
        (src / "deep" / "x").symlink_to("/etc/passwd")
    else:
        os.mkfifo(src / "deep" / "x")
    (server.root / "up/deep/x").mkdir(parents=True)
    (server.root / "up/deep/x/data.db").write_text("precious")
    (server.root / "up/deep/y").write_text("x")
    result = sync(server, src=str(src), delete=True)
    assert good(result)["deleted"] == ["deep/y"] and good(result)["left_out"] == ["deep/x"]
    assert (server.root / "up/deep/x/data.db").read_text() == "precious"
