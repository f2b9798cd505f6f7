# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a server confirms and does not keep is a failure, and costs nothing that is wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import asyncssh
import pytest

from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.mirrored import count_requests, fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import KEPT, Folding, Losing, Plain, Truncating, odd_server

LONG = "x" * 5000


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


def test_a_single_file_is_looked_at_too(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"long": LONG})
    with odd_server(tmp_path, Truncating) as server:
        result = sync(server, src=str(src / "long"), dest="long")
        assert result["failed"] and f"but it has {KEPT}" in result["msg"]


def test_a_file_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"a": "a", "lost": "b"})
    with odd_server(tmp_path, Losing) as server:
        result = sync(server, src=str(src), dest="up")
        assert result["failed"] and result["finished"] == [".", "a"]
        assert (
            "cannot write up/lost on the service: it was written without an error, but is not"
            in result["msg"]
        )


def test_two_names_that_are_one_to_the_server_are_a_failure(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"A.txt": "short", "a.txt": "longer text", "b": "b"})
    with odd_server(tmp_path, Folding) as server:
        fill(server.root / "up", {"extra": "precious"})
        for _run in range(2):
            result = sync(server, src=str(src), dest="up", delete=True)
            assert result["failed"]
            assert [failure["path"] for failure in result["failures"]] == ["A.txt", "a.txt"]
            assert "it is the same as a.txt there; rename one of them at the source" in result["msg"]
            assert (server.root / "up/extra").read_text() == "precious"


def test_two_names_that_are_a_third_one_to_the_server_are_a_failure(tmp_path: Path) -> None:
    """The server keeps the spelling that it had, which is neither of the two."""
    src = fill(tmp_path / "src", {"A.txt": "short", "a.TXT": "longer text"})
    with odd_server(tmp_path, Folding) as server:
        fill(server.root / "up", {"a.txt": "there before"})
        result = sync(server, src=str(src), dest="up", delete=True)
        assert result["failed"]
        assert [failure["path"] for failure in result["failures"]] == ["A.txt", "a.TXT"]
        assert list(holds(server.root / "up")) == ["a.txt"]


def test_a_directory_that_was_written_to_is_listed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = count_requests(monkeypatch)
    src = fill(tmp_path / "src", {"a": "a", "one/b": "b", "one/c": "c", "two/d": "d"})
    opened = str(asyncssh.constants.FXP_OPENDIR)
    with servers.start("sandbox", tmp_path) as server:
        sync(server, src=str(src), dest="up")
        assert sent[opened] == 3, "there was none to read beforehand"
        sent.clear()
        assert not sync(server, src=str(src), dest="up")["changed"]
        assert sent[opened] == 3
        sent.clear()
        fill(src, {"one/b": "other"})
        assert sync(server, src=str(src), dest="up")["changed"]
        assert sent[opened] == 3 + 1


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
