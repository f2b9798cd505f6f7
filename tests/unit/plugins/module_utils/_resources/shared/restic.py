# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The real restic, asked what it would forget.

Its repository is made by restic. Snapshots are then written into it as restic's documented format has them,
because making thousands of them with ``restic backup`` would take half an hour.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.poly1305 import Poly1305

PASSWORD = "sandbox"


class Restic:
    """A repository with one tiny backup, whose list of snapshots is replaced at will."""

    def __init__(self, folder: Path) -> None:
        self.repository = folder / "repository"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "RESTIC_PASSWORD": PASSWORD,
            "RESTIC_REPOSITORY": str(self.repository),
        }
        self.keeps_oldest = self.version() >= (0, 16)
        self.run("init")
        (folder / "file").write_text("x")
        self.run("backup", "--host", "service", "file", folder=folder)
        self.snapshot = json.loads(self.run("cat", "snapshot", self.run("list", "snapshots").strip()))
        self.master = json.loads(self.run("cat", "masterkey"))
        self.use_a_cheap_key()

    def run(self, *arguments: str, zone: str = "UTC", folder: Path | None = None) -> str:
        """Run restic and return what it printed."""
        done = subprocess.run(
            ["restic", "--no-cache", "--quiet", *arguments],
            env={**self.environment, "TZ": zone},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def version(self) -> tuple[int, ...]:
        """Return the version of restic."""
        return tuple(int(part) for part in re.findall(r"\d+", self.run("version").split()[1])[:2])

    def use_a_cheap_key(self) -> None:
        """Put a key that costs nothing to derive in the place of restic's own, which costs half a second."""
        salt = bytes(64)
        derived = hashlib.scrypt(PASSWORD.encode(), salt=salt, n=2, r=8, p=1, dklen=64)
        sealed = seal(json.dumps(self.master).encode(), derived[:32], derived[32:48], derived[48:])
        for path in (self.repository / "keys").iterdir():
            key = json.loads(path.read_text())
            path.unlink()
        key.update({"N": 2, "r": 8, "p": 1, "salt": encode(salt), "data": encode(sealed)})
        write(self.repository / "keys", json.dumps(key).encode())

    def have(self, moments: list[datetime]) -> None:
        """Let these moments, in their time zones, be the snapshots there are."""
        for path in (self.repository / "snapshots").iterdir():
            path.unlink()
        mac = self.master["mac"]
        keys = (base64.b64decode(part) for part in (self.master["encrypt"], mac["k"], mac["r"]))
        encrypt, k, r = keys
        for number, moment in enumerate(moments):
            document = {**self.snapshot, "time": moment.isoformat(), "tags": [str(number)]}
            write(self.repository / "snapshots", seal(json.dumps(document).encode(), encrypt, k, r))

    def keeps(self, policy: list[str], zone: str) -> list[int]:
        """Return the numbers of the snapshots that a policy keeps."""
        printed = self.run("forget", "--dry-run", "--json", "--group-by", "", *policy, zone=zone)
        groups: list[dict[str, Any]] = json.loads(printed)
        return [int(snapshot["tags"][0]) for group in groups for snapshot in group["keep"] or []]


def seal(plain: bytes, encrypt: bytes, k: bytes, r: bytes) -> bytes:
    """Encrypt with AES-256 in counter mode and append a Poly1305-AES code, as restic does."""
    nonce = os.urandom(16)
    sealed = Cipher(algorithms.AES(encrypt), modes.CTR(nonce)).encryptor().update(plain)
    pad = Cipher(algorithms.AES(k), modes.ECB()).encryptor().update(nonce)  # noqa: S305 - part of Poly1305-AES
    return nonce + sealed + Poly1305.generate_tag(r + pad, sealed)


def encode(data: bytes) -> str:
    """Return bytes as restic writes them in JSON."""
    return base64.b64encode(data).decode()


def write(folder: Path, data: bytes) -> None:
    """Write a file of the repository; its name is the hash of what it holds."""
    (folder / hashlib.sha256(data).hexdigest()).write_bytes(data)
