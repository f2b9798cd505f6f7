# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blobs as files: read in pieces, and from wherever an upload has to go on."""

from __future__ import annotations

import io
import os
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.uploads import BlobStream

CONTENT = os.urandom(5000)


class Registry:
    """A registry with one blob, that may know no ranges, and sends at most a few bytes at once."""

    def __init__(self, ranges: bool = True) -> None:
        self.ranges = ranges
        self.asked: list[int] = []
        self.closed = 0

    def download(self, offset: int) -> Any:
        """Answer a request for the rest from an offset on."""
        self.asked.append(offset)
        partial = self.ranges and offset > 0
        body = io.BytesIO(CONTENT[offset:] if partial else CONTENT)
        raw = SimpleNamespace(read=lambda size: body.read(min(size, 777)))
        return SimpleNamespace(status_code=206 if partial else 200, raw=raw, close=self._close)

    def _close(self) -> None:
        self.closed += 1


def test_a_blob_is_read_in_one_request() -> None:
    registry = Registry()
    with BlobStream(registry.download) as stream:
        stream.seek(0)
        pieces = list(iter(lambda: stream.read(1000), b""))
    assert b"".join(pieces) == CONTENT and {len(piece) for piece in pieces} == {1000}
    assert registry.asked == [0] and registry.closed == 1


@pytest.mark.parametrize("ranges", [True, False])
def test_an_upload_goes_on_where_it_was(ranges: bool) -> None:
    """A registry that knows no ranges sends everything again, and the beginning is left out."""
    registry = Registry(ranges)
    stream = BlobStream(registry.download)
    stream.read(2000)
    stream.seek(1500)
    assert stream.read(10_000) == CONTENT[1500:]
    assert registry.asked == [0, 1500] and registry.closed == 1, "the first request is not left open"
