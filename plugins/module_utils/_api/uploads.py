# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of images on their way to a registry, in pieces, by the OCI distribution protocol."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from .errors import Refused, UnexpectedAnswer

CHUNK = 8 * 1024 * 1024
LARGEST_CHUNK = 64 * 1024 * 1024
"""The most that a registry may ask a piece to have: pieces are held in memory."""
RANGE = re.compile(r"(?:bytes=)?0-(\d+)")
FORGOTTEN = (400, 404, 405, 410, 416)
"""What a registry answers that does not know an upload any more, or not how far it got."""

Request = Callable[..., Any]
"""Makes one request (address, method, then ``data`` and ``headers``); a refusal is raised."""


class Upload:
    """One part of an image on its way. After a failure :meth:`run` goes on where the registry stopped."""

    def __init__(self, request: Request, start: str, path: str, digest: str) -> None:
        self._request = request
        self._start_address = start
        self._path = path
        self._digest = digest
        self._address: str | None = None
        self._chunk = CHUNK

    def run(self) -> None:
        """Send the part, or what the registry lacks of it."""
        arrived = self._arrived() if self._address else 0
        if not arrived:
            self._begin()
        with open(self._path, "rb") as file:
            file.seek(arrived)
            while piece := file.read(self._chunk):
                file.seek(self._send(piece, file.tell() - len(piece)))
        query = urlencode({"digest": self._digest})
        address = str(self._address)
        self._request(f"{address}{'&' if urlsplit(address).query else '?'}{query}", "PUT")

    def _begin(self) -> None:
        answer = self._request(self._start_address, "POST", headers={"Content-Length": "0"})
        self._address = None
        self._follow(answer)
        least = answer.headers.get("OCI-Chunk-Min-Length", "")
        if least.isdecimal():
            self._chunk = max(CHUNK, min(int(least), LARGEST_CHUNK))

    def _arrived(self) -> int:
        """Return how many bytes the registry has; none where it does not say, and the upload begins anew.

        A range cannot say that nothing arrived, so one of the first byte alone counts as nothing.
        """
        try:
            answer = self._request(self._address, "GET")
        except Refused as error:
            if error.status in FORGOTTEN:
                return 0
            raise
        self._follow(answer)
        last = last_byte(answer)
        return last + 1 if last else 0

    def _send(self, piece: bytes, start: int) -> int:
        """Send a piece. Return where the next one begins: a registry may take a part of it only."""
        end = start + len(piece)
        headers = {"Content-Range": f"{start}-{end - 1}", "Content-Type": "application/octet-stream"}
        answer = self._request(self._address, "PATCH", data=piece, headers=headers)
        self._follow(answer)
        last = last_byte(answer)
        return last + 1 if last is not None and start <= last < end - 1 else end

    def _follow(self, answer: Any) -> None:
        """Note where the next request goes, which may change with every answer."""
        said = answer.headers.get("Location")
        if said:
            self._address = urljoin(answer.url, said)
        elif self._address is None:
            raise UnexpectedAnswer(
                "the registry began an upload and does not say where to send it: its answer has no Location"
            )


def last_byte(answer: Any) -> int | None:
    """Return the place of the last byte that a registry says it has; ``None`` where it does not say."""
    found = RANGE.fullmatch(answer.headers.get("Range", "").strip())
    return int(found[1]) if found else None
