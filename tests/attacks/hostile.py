# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A platform whose texts are canaries, and other servers that mean no good.

The platform is a sandbox behind a proxy. Each text gets the same canary wherever it stands, and another one
in the next turn. On the way in the proxy puts the texts back, so that what is named by such a name is found.
"""

from __future__ import annotations

import io
import json
import stat
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode
from zlib import crc32

import asyncssh

from attacks.canaries import CANARIES, SPEAKABLE, TURNS
from hosted_sandbox.testing import SandboxClient
from integration.proxy_server import ProxyServer
from unit.plugins.module_utils._sftp.odd_servers import Plain

ENUMS = {
    "status", "family", "state", "kind", "type", "capabilities", "scanStatus", "severity", "engine", "scope",
    "scopes",
}  # fmt: skip
"""Fields whose values are listed in the specification."""
STRUCTURE = {
    "id", "from", "to", "projectId", "instanceId", "hostId", "slug", "productSlug", "alias", "digest", "tag",
    "reference", "imageRef", "host", "username", "password", "secret", "url", "user", "database", "address",
    "publicKey", "fingerprint", "algorithm", "nextCursor", "parent", "createdAt", "completedAt", "releasedAt",
    "scannedAt", "modifiedAt", "suspendedAt", "deletedAt", "freeExpiresAt", "becameClientAt", "lastUsedAt",
    "passwordSetAt", "at", "date", "modeBits", "content",
}  # fmt: skip
"""Fields by which things are found. They are canaries only on a platform where nothing is right any more."""
CONNECTIONS = {"sftp": {"passwordSetAt", "port"}, "registry": {"secret", "project"}}
"""The answers that tell where another server is, by their fields."""


class Poison:
    """What a platform says in one turn. With `deep` also ids, tags, addresses and times are canaries.

    What tasks name, `names`, has to be something that they can name.
    """

    def __init__(self, canary: Path, turn: int, deep: bool, names: Iterable[str] = ()) -> None:
        self._canary = str(canary)
        self._texts = list(CANARIES.values())
        self._turn = turn
        self.deep = deep
        self._said: dict[str, str] = {}
        self._meant: dict[str, str] = {}
        self.servers: dict[str, Mapping[str, Any]] = {}
        """Where other servers are said to be."""
        for name in names:
            self.said(name, TURNS if deep else SPEAKABLE)

    def said(self, value: str, choice: int = TURNS) -> str:
        """Return the canary that is said in the place of a text."""
        if value not in self._said:
            text = self._texts[(crc32(value.encode()) + self._turn) % choice]
            self.call(value, text.replace("CANARY", self._canary).replace("VALUE", value))
        return self._said[value]

    def call(self, value: str, said: str) -> None:
        """Call something so from now on."""
        self._said[value], self._meant[said] = said, value

    def meant(self, text: str) -> str:
        """Return a text as it was before, wherever a canary is in it."""
        for said in sorted(self._meant, key=len, reverse=True):
            text = text.replace(said, self._meant[said])
        return text

    def poison(self, value: Any, key: str = "") -> Any:
        """Return an answer with canaries in the place of its texts; a listing of files has one more."""
        if isinstance(value, dict):
            for name, fields in CONNECTIONS.items():
                if fields <= value.keys() and (name in self.servers or not self.deep):
                    return {**value, **self.servers.get(name, {})}
            said = self._said if self.deep else {}
            return {said.get(name, name): self.poison(item, name) for name, item in value.items()}
        if isinstance(value, list):
            files = [item for item in value if isinstance(item, dict) and "symlink" in item]
            return files + [self.poison(item, key) for item in files[:1] or value]
        kept = key in ENUMS or (key in STRUCTURE and not self.deep)
        return self.said(value) if isinstance(value, str) and value and not kept else value

    def answer(self, content: bytes) -> bytes:
        """Change what the platform answers."""
        try:
            return json.dumps(self.poison(json.loads(content))).encode()
        except ValueError:
            return content

    def asked(self, path: str, body: str) -> tuple[str, str]:
        """Change what the platform is asked."""
        place, _mark, query = path.partition("?")
        place = "/".join(quote(self.meant(unquote(part)), safe="") for part in place.split("/"))
        pairs = [(name, self.meant(value)) for name, value in parse_qsl(query, keep_blank_values=True)]
        try:
            asked = json.loads(body)
            if isinstance(asked, dict) and isinstance(asked.get("name"), str):
                self.call(self.meant(asked["name"]), asked["name"])
            body = json.dumps(each_text(asked, self.meant))
        except ValueError:
            body = self.meant(body)
        return f"{place}?{urlencode(pairs)}" if pairs else place, body


def each_text(value: Any, change: Callable[[str], Any]) -> Any:
    """Return data with every text in it changed, those that are keys included."""
    if isinstance(value, dict):
        return {change(key): each_text(item, change) for key, item in value.items()}
    if isinstance(value, list):
        return [each_text(item, change) for item in value]
    return change(value) if isinstance(value, str) else value


def platform(sandbox: SandboxClient, poison: Poison) -> ProxyServer:
    """Return the platform, which has to be run."""
    return ProxyServer(sandbox, change=poison.answer, asked=poison.asked)


def registry(sandbox: SandboxClient, poison: Poison) -> ProxyServer:
    """Return a registry that refuses everything in canaries, and a manifest in the same answer."""
    layer = {"mediaType": "layer", "digest": "sha256:a", "size": 1, "annotations": {"a": "b"}}
    error = {"code": "DENIED", "message": "no", "detail": "none"}
    answer = {"errors": [error], "tags": ["v1"], "schemaVersion": 2, "config": layer, "layers": [layer]}
    said = json.dumps(
        each_text(answer, lambda text: text if text in answer | layer | error else poison.said(text))
    )
    return ProxyServer(sandbox, refuse=lambda *call: said.encode())


TWICE = {b"in": b".", b"on": b".", b"up": b"../.."}
"""What a listing has as a directory and as a link, each with where the link leads."""
DEPTH, DOUBLE = 3, 2
"""How deep directories go, and which turn of three lists them twice."""


class Listing(Plain):
    """An SFTP server that lists canaries, ways out of the folder, and directories that are links as well."""

    canary = ""
    turn = 0

    async def scandir(self, path: bytes) -> AsyncIterator[asyncssh.SFTPName]:
        """List names, among them one that no file has, or directories that are links as well, by turns."""
        texts = [text.replace("CANARY", self.canary).replace("VALUE", "a") for text in CANARIES.values()]
        refused = [
            b"../evil",
            b"",
            b"in/../../evil",
            b"evil\0",
            b"..",
            *(t.encode() for t in texts if "/" in t),
        ]
        names = [text.replace("/", "_").replace("\0", "").encode()[:250] for text in texts]
        names += refused[self.turn // 3 % len(refused) :][: self.turn % 3]
        depth = path.removeprefix(b"./").count(b"/")
        for name in names if not depth and self.turn % 3 < DOUBLE else [b"first", b"b"]:
            yield asyncssh.SFTPName(name, attrs=self.lstat(b"file"))
        for name in TWICE if depth < DEPTH and self.turn % 3 == DOUBLE else ():
            for kind in (stat.S_IFDIR, stat.S_IFLNK):
                yield asyncssh.SFTPName(name, attrs=asyncssh.SFTPAttrs(permissions=kind | 0o777, size=0))

    def lstat(self, path: bytes) -> asyncssh.SFTPAttrs:
        """Return what every file is said to be."""
        directory = path.rpartition(b"/")[2] in {b"", b".", b"tree", *TWICE}
        kind = stat.S_IFDIR if directory else stat.S_IFREG
        return asyncssh.SFTPAttrs(permissions=kind | 0o777, size=2, mtime=1, atime=1)

    stat = lstat

    def realpath(self, path: bytes) -> bytes:
        """Take any path as it is."""
        return path

    def readlink(self, path: bytes) -> bytes:
        """Lead out."""
        return TWICE.get(path.rpartition(b"/")[2], b"..")

    def open(self, path: bytes, pflags: int, attrs: asyncssh.SFTPAttrs) -> Any:
        """Have the same content in every file."""
        return io.BytesIO(b"a\n")
