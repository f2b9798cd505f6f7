# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where names are found in any spelling, nothing that is wanted is deleted, and nothing is copied twice."""

from __future__ import annotations

import asyncio
import os
import unicodedata
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from ansible_collections.hosted.services.plugins.module_utils._sftp import spelling
from ansible_collections.hosted.services.plugins.module_utils._sftp.local_folder import LocalFolder
from ansible_collections.hosted.services.plugins.module_utils._sftp.sides import Remote
from ansible_collections.hosted.services.plugins.module_utils._sftp.trees import Kind, Tree, TreeEntry
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.mirrored import fill, holds, sync
from unit.plugins.module_utils._sftp.odd_servers import Folding, Plain, odd_server, present

FILE = TreeEntry(Kind.FILE)
COMPOSED = unicodedata.normalize("NFC", "für.txt")
APART = unicodedata.normalize("NFD", COMPOSED)
Content: TypeAlias = "dict[str, str | None]"
Case = tuple[Content, Content, Content]
CASES: list[Case] = [
    ({"Server.cfg": "new"}, {"server.cfg": "old text", "Extra.txt": "x"}, {"server.cfg": "new"}),
    ({COMPOSED: "new"}, {APART: "old text", "extra": "x"}, {APART: "new"}),
    (
        {"Maps/A": "new", "Maps/Deep/b": "b"},
        {"maps/a": "old text", "maps/deep/b": "old text", "maps/extra": "x"},
        {"maps": None, "maps/a": "new", "maps/deep": None, "maps/deep/b": "b"},
    ),
    ({"b": "b", "Link": "@b"}, {"b": "b", "link": "@a", "extra": "x"}, {"b": "b", "link": "@b"}),
    ({"Empty": None, "b": "b"}, {"empty": None, "b": "b", "extra": "x"}, {"b": "b", "empty": None}),
    ({"A": "new"}, {"a/b": "x"}, {"A": "new"}),
]


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


def fold_names_here(direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this machine find names in any spelling, if it is the target."""
    if direction == "pull":
        opened, parent = LocalFolder.opened, LocalFolder.parent

        def find(folder: LocalFolder, path: str) -> str:
            there = os.path.relpath(present(folder.root, f"{folder.root}/{path}"), folder.root)
            return "" if there == "." else there

        monkeypatch.setattr(LocalFolder, "opened", lambda own, path: opened(own, find(own, path)))
        monkeypatch.setattr(LocalFolder, "parent", lambda own, path: parent(own, find(own, path)))


@pytest.mark.parametrize("direction", ["push", "pull"])
@pytest.mark.parametrize("case", CASES)
def test_what_is_kept_in_another_spelling_is_not_deleted(
    direction: str,
    case: Case,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted, there, left = case
    with odd_server(tmp_path, Folding) as server:
        fold_names_here(direction, monkeypatch)
        target, given = filled_sides(direction, server, tmp_path, wanted, there)
        foreseen = sync(server, True, **given)
        result = sync(server, **given)
        assert "failed" not in result, result["msg"]
        assert foreseen["sftp_sync"]["deleted"] == result["sftp_sync"]["deleted"]
        assert holds(target) == left
        again = sync(server, **given)
        assert not again["changed"] and holds(target) == left
        if "A" not in left:
            assert any("some names have another spelling" in said for said in again["warnings"])


def test_a_warning_names_both_spellings(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"Maps/a": "a", "Maps/b": "b"})
    with odd_server(tmp_path, Folding) as server:
        fill(server.root / "up", {"maps/a": "a", "maps/c": "c"})
        result = sync(server, src=str(src), dest="up", delete=True)
        assert result["sftp_sync"]["deleted"] == ["Maps/c"] and result["sftp_sync"]["created"] == ["Maps/b"]
        assert [said for said in result["warnings"] if "spelling" in said] == [
            "some names have another spelling on the service, where both lead to the same: maps is Maps at "
            "the source; rename one of each, so that both sides agree"
        ]
        assert holds(server.root / "up") == {"maps": None, "maps/a": "a", "maps/b": "b"}


@pytest.mark.parametrize("shown", [True, False])
def test_what_shows_only_when_it_is_written_is_not_deleted(
    shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Differences that nobody foresaw, and a server that does not say what it finds."""
    name = "a." if shown else "A"
    src = fill(tmp_path / "src", {name: "new", "b": "b"})
    look = Remote.look

    async def silent(self: Remote, path: str) -> TreeEntry | None:
        return await look(self, path) if (Path(server.root) / "up/b").exists() else None

    with odd_server(tmp_path, Folding) as server:
        if not shown:
            monkeypatch.setattr(Remote, "look", silent)
        fill(server.root / "up", {"a": "old text", "extra": "x"})
        result = sync(server, src=str(src), dest="up", delete=True)
        assert result["sftp_sync"]["deleted"] == ["extra"]
        assert any(f"a is {name} at the source" in said for said in result["warnings"])
        assert holds(server.root / "up") == {"a": "new", "b": "b"}


def test_a_server_that_tells_names_apart_loses_the_other_one(tmp_path: Path) -> None:
    src = fill(tmp_path / "src", {"Server.cfg": "new", "Maps/a": "a"})
    with servers.start("sandbox", tmp_path) as server:
        fill(server.root / "conf", {"server.cfg": "old", "maps/a": "a"})
        for check_mode in (True, False):
            result = sync(server, check_mode, src=str(src), dest="conf", delete=True)
            assert result["sftp_sync"]["deleted"] == ["maps", "maps/a", "server.cfg"]
            assert "warnings" not in result
        assert holds(server.root / "conf") == holds(src)


def test_a_side_is_asked_about_namesakes_alone() -> None:
    asked: list[str] = []

    async def finds(path: str) -> bool:
        asked.append(path)
        return path != "Other"

    source = Tree(dict.fromkeys(["Maps", "Maps/a", "Maps/B", "Other", "Other/c", "new", "X"], FILE))
    target = Tree(dict.fromkeys(["maps", "maps/a", "maps/b", "other", "other/c", "x", "X"], FILE))
    target.protected, target.leftovers = {"", "maps"}, ["maps/part"]
    kept = asyncio.run(spelling.align(source, target, finds))
    assert sorted(asked) == ["Maps", "Maps/B", "Other"]
    assert kept == {"Maps": "maps", "Maps/a": "maps/a", "Maps/B": "maps/b"}
    assert set(target.entries) == {"Maps", "Maps/a", "Maps/B", "other", "other/c", "x", "X"}
    assert target.protected == {"", "Maps"} and target.leftovers == ["Maps/part"]


EXCLUDE = ["Cache/", "config.yml", "Conf/local.yml"]
OURS: Content = {"Cache/x": "x", "Conf/a": "a", "index.html": "new", "Logs": "@../elsewhere"}
THEIRS: Content = {
    "cache/state.db": "live",
    "config.yml": "live",
    "conf/local.yml": "live",
    "conf/old": "old",
    "logs/today": "live",
    "old": "old",
}
SPARED: Content = {
    "cache": None,
    "cache/state.db": "live",
    "conf": None,
    "conf/a": "a",
    "conf/local.yml": "live",
    "config.yml": "live",
    "index.html": "new",
    "logs": None,
    "logs/today": "live",
}


@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_is_excluded_is_safe_in_any_spelling(
    direction: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is deleted, nor is anything that a link of the source is left out for."""
    with odd_server(tmp_path, Folding) as server:
        fold_names_here(direction, monkeypatch)
        target, given = filled_sides(direction, server, tmp_path, OURS, THEIRS)
        given["exclude"] = EXCLUDE
        foreseen, result = [sync(server, check_mode, **given)["sftp_sync"] for check_mode in (True, False)]
        assert foreseen["deleted"] == result["deleted"] == ["Conf/old", "old"]
        assert holds(target) == SPARED
        assert not sync(server, **given)["changed"]
        sync(server, **given, delete_excluded=True)
        left = {"conf": None, "conf/a": "a", "index.html": "new", "logs": None, "logs/today": "live"}
        assert holds(target) == left, "excluded items alone are deleted"


LIVE: Content = {
    "app/a": "a",
    "app/cache/state.db": "live",
    "app/local.yml": "live",
    "cache/state.db": "live",
    "config.yml": "live",
    "old": "old",
}
AS_THEIRS = ["app/cache/", "app/local.yml", "/cache/", "config.yml"]


@pytest.mark.parametrize(
    ("ours", "named"),
    [
        ("Config.yml", "Config.yml"),
        ("Cache/x", "Cache"),
        ("App/local.yml", "App/local.yml"),
        ("App/Local.yml", "App/Local.yml"),
        ("App/cache/x", "App/cache"),
        ("App/cache", "App/cache"),
    ],
)
def test_what_is_excluded_is_not_overwritten_in_another_spelling(
    ours: str, named: str, tmp_path: Path
) -> None:
    """It is a failure of that item, and so nothing is deleted."""
    src = fill(tmp_path / "src", {ours: "new", "index.html": "new"})
    with odd_server(tmp_path, Folding) as server:
        theirs = fill(server.root / "up", LIVE)
        before = holds(theirs)
        given = {"src": str(src), "delete": True, "exclude": AS_THEIRS}
        for check_mode in (True, False):
            result = sync(server, check_mode, **given)
            assert [item["path"] for item in result["failures"]] == [named]
            assert f"it is the same as {named.lower()} there, which exclude leaves alone" in result["msg"]
            assert holds(theirs) == (before if check_mode else {**before, "index.html": "new"})
            if check_mode:
                foreseen = result["sftp_sync"]
                assert (foreseen["created"], foreseen["deleted"]) == (["index.html"], [])
            else:
                assert result["finished"] == ["index.html"]


def test_a_server_that_tells_folders_apart_leaves_alone_what_is_below_one(tmp_path: Path) -> None:
    """What has the same name in the other folder is copied."""
    ours: Content = {"App/a": "new", "App/cache/x": "new", "App/local.yml": "new"}
    src = fill(tmp_path / "src", ours)
    with servers.start("sandbox", tmp_path) as server:
        theirs = fill(server.root / "up", LIVE)
        before = {path: inner for path, inner in holds(theirs).items() if path not in ("app/a", "old")}
        foreseen, result = [
            sync(server, check_mode, src=str(src), delete=True, exclude=AS_THEIRS)
            for check_mode in (True, False)
        ]
        assert foreseen["sftp_sync"] == result["sftp_sync"] and "failures" not in result
        assert holds(theirs) == {**before, **holds(src)}


def test_a_server_that_tells_names_apart_excludes_one_of_them(tmp_path: Path) -> None:
    """So do patterns: the other one is copied and deleted like anything else."""
    src = fill(tmp_path / "src", {**OURS, "Config.yml": "new"})
    with servers.start("sandbox", tmp_path) as server:
        theirs: Content = {**THEIRS, "Cache/mine": "live", "LOGS": "old"}
        fill(server.root / "up", theirs)
        foreseen, result = [
            sync(server, check_mode, src=str(src), delete=True, exclude=EXCLUDE)
            for check_mode in (True, False)
        ]
        gone = ["LOGS", "cache", "cache/state.db", "conf", "conf/local.yml", "conf/old", "logs", "logs/today"]
        assert foreseen["sftp_sync"]["deleted"] == result["sftp_sync"]["deleted"] == [*gone, "old"]
        left = {"Cache": None, "Cache/mine": "live", "Conf": None, "Conf/a": "a", "Config.yml": "new"}
        assert holds(server.root / "up") == {**left, "config.yml": "live", "index.html": "new"}


@pytest.mark.parametrize("server_kind", [Plain, Folding])
@pytest.mark.parametrize("direction", ["push", "pull"])
def test_what_is_excluded_at_the_source_is_safe_as_another_kind(
    direction: str, server_kind: type[Plain], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pattern for directories names the directory of the source, and the target has a link in its place."""
    with odd_server(tmp_path, server_kind) as server:
        if server_kind is Folding:
            fold_names_here(direction, monkeypatch)
        name = "Cache" if server_kind is Folding else "cache"
        theirs: Content = {"cache": "@data", "data/y": "y", "old": "old"}
        target, given = filled_sides(direction, server, tmp_path, {f"{name}/x": "x", "a": "a"}, theirs)
        given["exclude"] = [f"{name}/", "data"]
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
        place = "up/cache on the service" if direction == "push" else f"{target}/cache on this machine"
        foreseen, result = [sync(server, check_mode, **given) for check_mode in (True, False)]
        said = (
            f"cannot write {place}: a directory has this name there, which exclude leaves alone; rename it "
            "at the source, or leave out the slash at the end of the pattern to exclude both"
        )
        assert foreseen["msg"] == result["msg"] == f"{said}, so nothing was deleted"
        assert holds(target) == {"a": "a", "cache": None, "cache/x": "x", "old": "old"}
