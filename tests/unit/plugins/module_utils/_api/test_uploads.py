# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of images in pieces: where each request goes, and where one that was cut off goes on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import uploads
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted

START = "https://registry.example.com/v2/p/shop/blobs/uploads/"
DIGEST = "sha256:" + "a" * 64


class Registry:
    """Takes what is sent, and breaks off where a test says so."""

    def __init__(self, **headers: str) -> None:
        self.headers = {"Location": "/u/1?_state=x", **headers}
        self.content = b""
        self.requests: list[tuple[str, str]] = []
        self.sizes: list[int] = []
        self.faults: dict[tuple[str, int], Exception] = {}
        self.takes = 10**9
        self.range: str | None = None

    def __call__(
        self,
        url: str,
        method: str,
        data: uploads.Chunk | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        self.sizes += [len(data)] if data else []
        content = b"".join(data or [])
        assert data is None or len(data) == len(content)
        self.requests.append((method, url))
        count = sum(made == method for made, _url in self.requests)
        answer = dict(self.headers)
        if method == "POST":
            self.content = b""
        if method == "PATCH":
            said = (headers or {})["Content-Range"]
            assert said == f"{len(self.content)}-{len(self.content) + len(content) - 1}"
            self.content += content[: self.takes]
        if error := self.faults.get((method, count)):
            raise error
        if method in ("PATCH", "GET") and self.content:
            answer["Range"] = self.range or f"0-{len(self.content) - 1}"
        return SimpleNamespace(url=url, headers=answer)

    @property
    def methods(self) -> str:
        """What was asked, in one line."""
        return " ".join(method for method, _url in self.requests)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "CHUNK", 4)
    monkeypatch.setattr(uploads, "LARGEST_CHUNK", 8)
    monkeypatch.setattr(uploads, "QUICK_SECONDS", -1)  # no chunk is quick


def upload(registry: Registry, folder: Path, content: bytes = b"0123456789") -> uploads.Upload:
    """Return an upload of a file."""
    (folder / "part").write_bytes(content)
    return uploads.Upload(registry, START, lambda: (folder / "part").open("rb"), DIGEST, len(content))


def test_chunks_grow_as_long_as_they_are_quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs a round trip; but a slow one that is cut off costs more."""
    monkeypatch.setattr(uploads, "QUICK_SECONDS", 60)
    registry = Registry()
    upload(registry, tmp_path, b"x" * 30).run()
    assert registry.sizes == [4, 8, 8, 8, 2] and registry.content == b"x" * 30
    monkeypatch.setattr(uploads, "QUICK_SECONDS", -1)
    slow = Registry()
    upload(slow, tmp_path, b"x" * 10).run()
    assert slow.sizes == [4, 4, 2]


def test_what_was_taken_in_part_is_sent_from_there(tmp_path: Path) -> None:
    registry = Registry()
    registry.takes = 3
    upload(registry, tmp_path).run()
    assert registry.content == b"0123456789" and registry.methods.count("PATCH") == 4


def test_a_registry_that_does_not_say_how_much_it_has_gets_all_of_it_again(tmp_path: Path) -> None:
    registry = Registry()
    registry.faults[("PATCH", 2)] = Interrupted("cut")
    part = upload(registry, tmp_path)
    with pytest.raises(Interrupted):
        part.run()
    registry.range = "unknown"  # no range that says what has arrived
    part.run()
    assert registry.content == b"0123456789"
    assert registry.methods == "POST PATCH PATCH GET POST PATCH PATCH PATCH PUT"
