# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager, and the folders of services in a saved state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from hosted_sandbox.embedded import Embedded
from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order


class Files:
    """The file routes of one service."""

    def __init__(self, sandbox: Sandbox, key: str) -> None:
        self.sandbox = sandbox
        self.base = f"/api/resources/{key}/files"

    def write(self, path: str, content: str = "x") -> int:
        return self.post("write", path=path, content=content)

    def post(self, what: str, **body: Any) -> int:
        return self.sandbox.api("POST", f"{self.base}/{what}", body).status_code

    def rename(self, old: str, new: str) -> int:
        body = {"root": "/", "from": old, "to": new}
        return self.sandbox.api("PUT", f"{self.base}/rename", body).status_code

    def names(self, directory: str = "/") -> list[str]:
        answer = self.sandbox.api("GET", self.base, params={"directory": directory})
        assert answer.status_code == 200, answer.text
        return [entry["name"] for entry in answer.json()]

    def read(self, path: str) -> Any:
        return self.sandbox.api("GET", f"{self.base}/contents", params={"path": path})


@pytest.fixture
def files(sandbox: Sandbox, order: Order) -> Files:
    """The files of a game server."""
    return Files(sandbox, order())


@pytest.mark.rule("files-write")
def test_write_creates_and_replaces(files: Files) -> None:
    assert files.write("/a/b.txt", "one") == files.write("a/b.txt", "two, längér") == 200
    assert files.read("a/b.txt").json() == {"content": "two, längér"}
    assert files.names("a") == ["b.txt"]
    files.write("b.json", "{}")
    folder, file = files.sandbox.api("GET", files.base).json()
    kinds = [(each["name"], each["directory"], each["symlink"]) for each in (folder, file)]
    assert kinds == [("a", True, False), ("b.json", False, False)]
    assert (file["mime"], file["size"]) == ("application/json", 2)
    assert set(file["modeBits"]) <= set("01234567")


@pytest.mark.rule("files-paths")
def test_nothing_climbs(files: Files) -> None:
    for path in ("..", "../x", "a/../../x", "/..", "a/..", "..\\x", "%2e%2e/x", "%252e%252e%252fx", "..%2fx"):
        assert files.write(path) == files.read(path).status_code == 400, path
        assert files.sandbox.api("GET", files.base, params={"directory": path}).status_code == 400
        assert files.post("directory", root=path, name="n") == 400
        assert files.post("delete", root="/", files=[path]) == 400
        assert files.rename("a", path) == 400
    assert files.names() == []


@pytest.mark.rule("files-reader", "capability-400")
def test_the_reader_stops(files: Files, order: Order) -> None:
    for name, content in (("just", "x" * 2_000_000), ("over", "x" * 2_000_001), ("binary", "a\0b")):
        files.write(name, content)
    found = {name: files.read(name).status_code for name in ("just", "over", "binary", "none")}
    assert found == {"just": 200, "over": 400, "binary": 400, "none": 404}
    bucket = Files(files.sandbox, order("bucket", "objects"))
    assert bucket.write("a") == bucket.read("a").status_code == 400


@pytest.mark.rule("files-delete")
def test_delete_is_for_good(files: Files) -> None:
    for number in range(101):
        files.write(f"d/{number}")
    names = [str(number) for number in range(101)]
    assert files.post("delete", root="d", files=names) == 400
    assert len(files.names("d")) == 101
    assert files.post("delete", root="d", files=names[:100]) == 200
    assert files.names("d") == ["100"]
    assert files.post("delete", root="/", files=["d"]) == 200
    assert files.names() == []
    assert files.post("delete", root="/", files=["."]) == 400
    assert files.post("delete", root="/", files=[""]) == 400


def test_rename_does_not_replace(files: Files) -> None:
    files.write("a", "A")
    files.write("b", "B")
    assert (files.rename("a", "b"), files.rename("a", "sub/c")) == (400, 200)
    assert files.read("sub/c").json() == {"content": "A"}
    assert files.read("b").json() == {"content": "B"}


def test_what_is_in_the_way(files: Files) -> None:
    files.write("a")
    assert files.write("a/b") == 400
    assert files.write("/") == 400
    assert files.post("directory", root="/", name="a") == 400
    assert files.post("directory", root="/", name="x/y") == 400


FOLDER: dict[str, Any] = {"mode": 0o700, "modified": 0}
FILE: dict[str, Any] = {"mode": 0o600, "modified": 0, "content": "dGhlaXJz"}


@pytest.mark.parametrize(
    ("path", "target", "behind"),
    [
        ("files/{id}/out", "{folder}", "/key"),  # a link, and a file behind it
        ("files/{id}/o%75t", "{folder}", "/key"),  # in another spelling
        ("files/{id}/out", "../../../../../../../../../..{folder}/key", ""),
        ("files/{id}", "{folder}", "/key"),
        ("files", "{folder}", "/{id}/key"),
        ("copies", "{folder}", "/x/key"),
        ("registry/shop", "{folder}/key", ""),
        ("files/{id}/e", "s/d/..", ""),  # inside by itself, and through the link s/d out
    ],
)
def test_a_saved_state_leads_nowhere_else(
    sandbox: Sandbox, tmp_path: Path, path: str, target: str, behind: str
) -> None:
    """Or it would write, and show, any file of whoever runs the sandbox."""
    (victim := tmp_path / "key").write_text("mine")
    service = sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})["services"]["mc"]
    state, home = sandbox.control("GET", "/state"), f"files/{service}"
    state["files"] |= {f"{home}/s": FOLDER, f"{home}/s/d": {"target": ".."}, "registry": FOLDER}
    sandbox.control("PUT", "/state", state)
    assert sandbox.control("GET", "/state")["files"] == state["files"]
    path, target, behind = (part.format(id=service, folder=tmp_path) for part in (path, target, behind))
    link = {path: {"target": target}, **({unquote(path) + behind: FILE} if behind else {})}
    for changes in (link, {"other/a": FILE}, {"files/../../a": FILE}, {"/etc/a": FILE}):
        with pytest.raises(RuntimeError, match="saved state"):
            sandbox.control("PUT", "/state", {**state, "files": state["files"] | changes})
    assert sandbox.control("GET", "/state")["files"] == state["files"]
    assert (victim.read_text(), os.listdir(tmp_path)) == ("mine", ["key"])


@pytest.mark.parametrize("kind", ["service", "backup", "snapshot"])
def test_an_id_is_no_path(sandbox: Sandbox, kind: str) -> None:
    """Services and copies have folders of the names of their ids, which a saved state may bring."""
    state = sandbox.control("GET", "/state")
    for key in ("../../victim", "..", "", "/etc"):
        state["records"][kind] = [{"id": key}]
        with pytest.raises(RuntimeError, match="no name of a folder"):
            sandbox.control("PUT", "/state", state)


def test_a_sandbox_on_a_thread_is_steered_like_any_other() -> None:
    with Embedded() as sandbox:
        key = sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})["services"]["mc"]
        state = sandbox.control("GET", "/state")
        heard: list[bool] = []
        sandbox.on_silence = lambda: heard.append(True)
        sandbox.fault("*", "no_answer", when="after")
        with pytest.raises(OSError, match="timed out"):
            sandbox.api("DELETE", f"/api/resources/{key}", timeout=0.5)
        assert heard == [True]
        sandbox.clock(advance=60)
        assert sandbox.api("GET", f"/api/resources/{key}").status_code == 404
        sandbox.control("PUT", "/state", state)
        assert sandbox.api("GET", f"/api/resources/{key}").json()["name"] == "mc"
        with pytest.raises(RuntimeError, match="unknown delay"):
            sandbox.delays(nonsense=1)
    with pytest.raises(OSError, match="refused"):
        sandbox.api("GET", "/api/resources")
