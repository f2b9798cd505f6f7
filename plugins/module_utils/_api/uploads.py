# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chunked, resumable upload of blobs to a registry, by the OCI distribution specification."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from http import HTTPStatus
from typing import IO, Any
from urllib.parse import urlencode, urljoin, urlsplit

from .errors import Interrupted, Refused, UnexpectedAnswer

CHUNK = 32 * 1024 * 1024
"""The size of the first chunk in bytes. A chunk that is cut off may have to be sent again from its start."""
LARGEST_CHUNK = 1024 * 1024 * 1024
"""The largest chunk in bytes, and the largest minimum that a registry may ask for."""
QUICK_SECONDS = 2.0
"""A chunk that arrives within this time is followed by one of twice the size: each costs a round trip, and
Docker's registry writes it to disk before it answers."""
BLOCK = 1024 * 1024
"""How many bytes of a chunk are in memory at a time."""
RANGE = re.compile(r"(?:bytes=)?0-(\d+)")

Request = Callable[..., Any]
"""Makes a request (URL, method, ``data``, ``headers``), and raises an error unless the response is 2xx."""


class BlobStream(AbstractContextManager["BlobStream"]):
    """A blob of a registry that is read as it arrives, so that none is ever whole in memory.

    :param download: requests the blob from an offset on. The response may begin at its first byte, too.
    """

    def __init__(self, download: Callable[[int], Any]) -> None:
        self._download = download
        self._response: Any = None
        self._position = 0

    def __exit__(self, *error: object) -> None:
        if self._response is not None:
            self._response.close()
        self._response = None

    def seek(self, offset: int) -> None:
        """Read on from an offset: the rest is requested from there."""
        if offset != self._position:
            self.__exit__()
            self._position = offset

    def read(self, size: int) -> bytes:
        if self._response is None:
            self._response = self._download(self._position)
            ranges = self._response.status_code == HTTPStatus.PARTIAL_CONTENT
            skip = 0 if ranges else self._position
            while skip and (piece := self._response.raw.read(min(skip, BLOCK))):
                skip -= len(piece)
        data = bytearray()
        while len(data) < size and (piece := self._response.raw.read(size - len(data))):
            data += piece
        self._position += len(data)
        return bytes(data)


Content = Callable[[], AbstractContextManager[IO[bytes] | BlobStream]]
"""Opens the content of a blob, for reading and seeking."""


class Chunk:
    """A part of a blob, read while it is sent: as often as it is, because a login may be asked for first."""

    def __init__(self, file: IO[bytes] | BlobStream, start: int, size: int) -> None:
        self._file, self._start, self._size = file, start, size

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(self._start)
        left = self._size
        while left:
            block = self._file.read(min(left, BLOCK))
            if not block:
                raise Interrupted(f"the content ended {left} bytes before its announced end")
            left -= len(block)
            yield block


class Upload:
    """The upload of one blob of ``size`` bytes. Call :meth:`run` again after a failure: it resumes."""

    def __init__(self, request: Request, start: str, content: Content, digest: str, size: int) -> None:
        self._request, self._start, self._content = request, start, content
        self._digest, self._size = digest, size
        self._address: str | None = None
        self._least = CHUNK

    def run(self) -> None:
        """Send the blob, or the bytes that the registry still lacks.

        :raises UnexpectedAnswer: if the registry does not say where to send it.
        """
        arrived = self._received_bytes() if self._address else 0
        if not arrived:
            self._begin()
        chunk = self._least
        with self._content() as file:
            while arrived < self._size:
                begun = time.monotonic()
                arrived = self._send(Chunk(file, arrived, min(chunk, self._size - arrived)), arrived)
                if time.monotonic() - begun <= QUICK_SECONDS:
                    chunk = min(2 * chunk, LARGEST_CHUNK)
        query = urlencode({"digest": self._digest})
        address = str(self._address)
        self._request(f"{address}{'&' if urlsplit(address).query else '?'}{query}", "PUT")

    def _begin(self) -> None:
        self._address = None
        least = self._step("POST", headers={"Content-Length": "0"}).headers.get("OCI-Chunk-Min-Length", "")
        if least.isdecimal():
            self._least = max(CHUNK, min(int(least), LARGEST_CHUNK))

    def _received_bytes(self) -> int:
        """Return how many bytes the registry has; 0 if it does not say, so that the upload starts over.

        ``Range`` cannot express zero bytes, so ``0-0`` counts as nothing.
        """
        with suppress(Refused):  # it has lost the upload, or does not report its progress
            last = last_byte(self._step("GET"))
            return last + 1 if last else 0
        return 0

    def _send(self, chunk: Chunk, start: int) -> int:
        """Send a chunk. Return the offset of the next one: a registry may accept only part of a chunk."""
        end = start + len(chunk)
        headers = {"Content-Range": f"{start}-{end - 1}", "Content-Type": "application/octet-stream"}
        last = last_byte(self._step("PATCH", data=chunk, headers=headers))
        return last + 1 if last is not None and start <= last < end - 1 else end

    def _step(self, method: str, **options: Any) -> Any:
        """Make a request of the upload. Every response may change the URL of the next one."""
        answer = self._request(self._address or self._start, method, **options)
        if said := answer.headers.get("Location"):
            self._address = urljoin(answer.url, said)
        elif self._address is None:
            raise UnexpectedAnswer(
                "the registry began an upload and does not say where to send it: its response has no Location"
            )
        return answer


def last_byte(answer: Any) -> int | None:
    """Return the offset of the last byte that a registry reports; ``None`` if it reports none."""
    found = RANGE.fullmatch(answer.headers.get("Range", "").strip())
    return int(found[1]) if found else None
