# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading files: what is listed, what is cut off, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

FILES = {
    "a/b/c.txt": "deep",
    "a/z.txt": "last",
    "note.txt": "é\r\n",
    "many/1": "",
    "many/2": "",
    "many/3": "",
}
SEED = {
    "delays": {"provision": 0},
    "services": [
        {"name": "survival", "product": "minecraft", "files": FILES},
        {"name": "store", "product": "bucket"},
    ],
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        sandbox.seed(SEED)
        yield sandbox


def read(sandbox: Sandbox, **given: Any) -> dict[str, Any]:
    result = run(sandbox, FILE_INFO, **{"service": "survival", **given})
    assert result["changed"] is False
    return result


def paths(result: dict[str, Any]) -> list[str]:
    return [entry["path"] for entry in result["files"]]


def test_a_directory_by_name(sandbox: Sandbox) -> None:
    assert paths(read(sandbox, path="a")) == ["a/b", "a/z.txt"]
    assert {"a", "many", "note.txt"} <= set(paths(read(sandbox)))


def test_with_all_below(sandbox: Sandbox) -> None:
    found = paths(read(sandbox, path="a", recurse=True))
    assert sorted(found) == ["a/b", "a/b/c.txt", "a/z.txt"]


def test_a_file_alone(sandbox: Sandbox) -> None:
    (entry,) = read(sandbox, path="a/z.txt")["files"]
    assert (entry["name"], entry["size"], entry["directory"]) == ("z.txt", 4, False)
    assert "content" not in entry


def test_the_content_is_what_was_written(sandbox: Sandbox) -> None:
    (entry,) = read(sandbox, path="note.txt", content=True)["files"]
    assert entry["content"] == "é\r\n"


@pytest.mark.parametrize(("limit", "warned"), [(2, True), (3, False)])
def test_a_limit_says_when_there_is_more(sandbox: Sandbox, limit: int, warned: bool) -> None:
    result = read(sandbox, path="many", limit=limit)
    assert len(result["files"]) == limit
    assert any(f"more than {limit}" in line for line in result.get("warnings", [])) is warned


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"path": "none"}, "'none'"),
        ({"path": "none", "content": True}, "no file 'none'"),
        ({"path": "a", "content": True}, "is a directory"),
        ({"content": True}, "name it in path"),
        ({"path": "a/../note.txt"}, "'..'"),
        ({"path": "/"}, "relative to the root"),
        ({"limit": 0}, "limit is 0"),
        ({"service": "store"}, "does not offer 'files'"),
        ({"service": "survivl"}, "did you mean 'survival'"),
    ],
)
def test_a_refusal_says_why(sandbox: Sandbox, given: dict[str, Any], words: str) -> None:
    result = run(sandbox, FILE_INFO, **{"service": "survival", **given})
    assert result["failed"] and words in result["msg"], result["msg"]
    assert result["changed"] is False
