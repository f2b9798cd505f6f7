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
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Interrupted,
    Refused,
    UnexpectedAnswer,
    error_for_status,
)

START = "https://registry.example.com/v2/p/shop/blobs/uploads/"
STATE = "https://registry.example.com/u/1?_state=x"
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


def test_a_part_goes_in_pieces_and_is_closed_by_its_digest(tmp_path: Path) -> None:
    registry = Registry()
    upload(registry, tmp_path).run()
    assert registry.content == b"0123456789"
    assert registry.methods == "POST PATCH PATCH PATCH PUT"
    assert registry.requests[1][1] == STATE
    assert registry.requests[-1][1] == STATE + "&digest=sha256%3A" + "a" * 64


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


def test_a_chunk_can_be_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry may ask for a login after it was sent; no more than a block is in memory at a time."""
    monkeypatch.setattr(uploads, "BLOCK", 2)
    (tmp_path / "part").write_bytes(b"0123456789")
    with (tmp_path / "part").open("rb") as file:
        chunk = uploads.Chunk(file, 3, 5)
        assert [*chunk] == [*chunk] == [b"34", b"56", b"7"] and len(chunk) == 5


def test_content_that_ends_early_is_told(tmp_path: Path) -> None:
    """Instead of a registry that waits for what never comes."""
    (tmp_path / "part").write_bytes(b"0123456789")
    with (tmp_path / "part").open("rb") as file, pytest.raises(Interrupted, match="2 bytes before"):
        list(uploads.Chunk(file, 8, 4))


def test_an_address_without_a_query_gets_one(tmp_path: Path) -> None:
    registry = Registry(Location="https://elsewhere.example.com/u/1")
    upload(registry, tmp_path).run()
    assert registry.requests[-1][1] == "https://elsewhere.example.com/u/1?digest=sha256%3A" + "a" * 64


@pytest.mark.parametrize(("least", "pieces"), [("6", 2), ("8", 2), ("99", 2), ("1", 3), ("many", 3)])
def test_pieces_have_the_size_that_the_registry_wants(tmp_path: Path, least: str, pieces: int) -> None:
    registry = Registry(**{"OCI-Chunk-Min-Length": least})
    upload(registry, tmp_path).run()
    assert registry.methods.count("PATCH") == pieces and registry.content == b"0123456789"


def test_what_was_taken_in_part_is_sent_from_there(tmp_path: Path) -> None:
    registry = Registry()
    registry.takes = 3
    upload(registry, tmp_path).run()
    assert registry.content == b"0123456789" and registry.methods.count("PATCH") == 4


@pytest.mark.parametrize("said", ["5-9", "nothing", "0-99"])
def test_a_range_that_makes_no_sense_is_taken_for_the_whole_piece(tmp_path: Path, said: str) -> None:
    registry = Registry()
    registry.range = said
    upload(registry, tmp_path, b"01234567").run()
    assert registry.content == b"01234567"


def test_one_that_was_cut_goes_on_where_it_was(tmp_path: Path) -> None:
    registry = Registry()
    registry.faults[("PATCH", 2)] = Interrupted("cut")
    part = upload(registry, tmp_path)
    with pytest.raises(Interrupted):
        part.run()
    part.run()
    assert registry.content == b"0123456789"
    assert registry.methods == "POST PATCH PATCH GET PATCH PUT"


@pytest.mark.parametrize("status", [400, 404, 405, 410, 416])
def test_one_that_the_registry_forgot_begins_anew(tmp_path: Path, status: int) -> None:
    registry = Registry()
    registry.faults[("PATCH", 2)] = Interrupted("cut")
    registry.faults[("GET", 1)] = error_for_status("gone", status)
    part = upload(registry, tmp_path)
    with pytest.raises(Interrupted):
        part.run()
    part.run()
    assert registry.content == b"0123456789"
    assert registry.methods == "POST PATCH PATCH GET POST PATCH PATCH PATCH PUT"


def test_a_refusal_of_another_kind_is_told(tmp_path: Path) -> None:
    registry = Registry()
    registry.faults[("PATCH", 1)] = Interrupted("cut")
    registry.faults[("GET", 1)] = error_for_status("no", 403)
    part = upload(registry, tmp_path)
    with pytest.raises(Interrupted):
        part.run()
    with pytest.raises(Refused):
        part.run()
    assert registry.methods == "POST PATCH GET"


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


def test_the_rest_goes_where_the_registry_says_that_it_goes_on(tmp_path: Path) -> None:
    registry = Registry()
    registry.faults[("PATCH", 2)] = Interrupted("cut")
    part = upload(registry, tmp_path)
    with pytest.raises(Interrupted):
        part.run()
    registry.headers["Location"] = "/u/2"
    part.run()
    assert registry.content == b"0123456789"
    assert registry.requests[-3:] == [
        ("GET", STATE),
        ("PATCH", "https://registry.example.com/u/2"),
        ("PUT", "https://registry.example.com/u/2?digest=sha256%3A" + "a" * 64),
    ]


def test_an_upload_without_an_address_is_told(tmp_path: Path) -> None:
    registry = Registry(Location="")
    with pytest.raises(UnexpectedAnswer, match="has no Location"):
        upload(registry, tmp_path).run()


def test_a_single_byte_counts_as_nothing() -> None:
    """A range cannot say that nothing arrived; see Upload._received_bytes."""
    for text, last in (("0-0", 0), ("0-9", 9), ("bytes=0-9", 9), ("", None), ("1-9", None)):
        assert uploads.last_byte(SimpleNamespace(headers={"Range": text})) == last
