# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A blob of an image registry as a file that is read as it arrives, so that none is ever whole in memory."""

from __future__ import annotations

import io
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

SKIPPED_AT_ONCE = 1024 * 1024

Download = Callable[[int], Any]
"""Requests the blob from an offset on. The response is read in pieces, and may begin at its first byte."""


class BlobStream(io.RawIOBase):
    """A blob that is read from its beginning on. To seek is to request the rest from there."""

    def __init__(self, download: Download) -> None:
        super().__init__()
        self._download = download
        self._response: Any = None
        self._position = 0

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def seekable(self) -> bool:
        """An upload that was interrupted goes on from where it was."""
        return True

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to an offset from the beginning."""
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("the size of a blob is not known here")
        if offset != self._position:
            self._drop()
            self._position = offset
        return offset

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes: as many as asked for, or what is left."""
        if self._response is None:
            self._open()
        data = bytearray()
        while size < 0 or len(data) < size:
            piece = self._response.raw.read(SKIPPED_AT_ONCE if size < 0 else size - len(data))
            if not piece:
                break
            data += piece
        self._position += len(data)
        return bytes(data)

    def _open(self) -> None:
        """Request the rest, and skip the beginning if the registry knows no ranges and sends everything."""
        self._response = self._download(self._position)
        skip = 0 if self._response.status_code == HTTPStatus.PARTIAL_CONTENT else self._position
        while skip and (piece := self._response.raw.read(min(skip, SKIPPED_AT_ONCE))):
            skip -= len(piece)

    def _drop(self) -> None:
        if self._response is not None:
            self._response.close()
            self._response = None

    def close(self) -> None:
        """End the request."""
        self._drop()
        super().close()
