# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Public SSH keys: what the platform accepts, and how keys are recognized (SSH keys)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..._api.libraries import load_ssh_public_key, rsa
from ..._api.models import SshKey
from ..._api.text import PRIVATE_KEY
from .account import Account
from .task_errors import Invalid

KEY = re.compile(r'((?:"(?:\\.|[^"\\])*"|[^\s"])+\s+)??(ssh-ed25519|ssh-rsa|ecdsa-sha2-\w+)\s+(\S+)\s*(.*)')
"""Options as in a file of authorized keys, which may quote other keys, the type, the key, and a comment."""


@dataclass(frozen=True)
class PublicKey:
    """A key that the platform accepts. As :class:`Shown`, the account has it, whatever its name."""

    algorithm: str
    comment: str
    line: str
    fingerprint: str
    digests: tuple[bytes, ...]
    """Its SHA256 and its MD5: which of them the platform shows is open (SSH key)."""

    def found(self, account: Account) -> Sequence[SshKey]:
        return [key for key in account.ssh_keys() if digest_of(key.fingerprint) in self.digests]


def read_public_key(text: str, source: str = "public_key", *, skip_options: bool = False) -> PublicKey:
    """Read a key as it stands in a public-key file. What is refused is never echoed: it may be private."""
    if PRIVATE_KEY in text:
        raise Invalid(f"{source} holds a private key; give the .pub file beside it. Nothing was sent")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise Invalid(f"{source} has {len(lines)} lines; a public key is one line")
    if not (parts := KEY.fullmatch(lines[0])):
        raise Invalid(f"{source} is not of a type that the platform accepts (ssh-ed25519, ecdsa-sha2-*, rsa)")
    options, algorithm, data, comment = parts.groups()
    if options and not skip_options:
        raise Invalid(f"{source} has options in front of the key, which the platform would drop; remove them")
    try:
        raw = base64.b64decode(data, validate=True)
        key = load_ssh_public_key(f"{algorithm} {data}".encode())
    except Exception:  # the library raises several kinds, and their texts may hold the key
        raise Invalid(f"{source} is damaged: what follows {algorithm!r} is not a key of that type") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < 2048:
        raise Invalid(f"{source} is an RSA key of {key.key_size} bits; at least 2048 are needed")
    digests = hashlib.sha256(raw).digest(), hashlib.md5(raw, usedforsecurity=False).digest()
    fingerprint = "SHA256:" + base64.b64encode(digests[0]).decode().rstrip("=")
    return PublicKey(algorithm, comment, f"{algorithm} {data} {comment}".strip(), fingerprint, digests)


def digest_of(fingerprint: str | None) -> bytes:
    """Return the digest of a fingerprint in hexadecimal digits or base64; nothing if it is none, or cut."""
    text = re.sub("^(md5|sha256):", "", (fingerprint or "").strip().rstrip("="), flags=re.IGNORECASE)
    digits, padded, found = text.replace(":", ""), text + "=" * (-len(text) % 4), b""
    with suppress(ValueError):
        found = bytes.fromhex(digits) if len(digits) in (32, 64) else base64.b64decode(padded, validate=True)
    return found if len(found) in (16, 32) else b""


def keys_known_as(wanted: PublicKey | str, keys: Sequence[SshKey]) -> list[SshKey]:
    """Return the keys that are this one. If only one may be, it is refused: it would go on opening SFTP."""
    if isinstance(wanted, str) and PRIVATE_KEY in wanted:
        raise Invalid("fingerprint holds a private key; give its fingerprint. Nothing was sent")
    digests = wanted.digests if isinstance(wanted, PublicKey) else [digest_of(wanted)]
    if not digests[0]:
        lengths = "SHA256 has 43 characters of base64 or 64 hexadecimal digits, and MD5 has 32"
        raise Invalid(f"fingerprint {wanted!r} is invalid or incomplete: {lengths}")
    found = [key for key in keys if digest_of(key.fingerprint) in digests]
    odd = next((key for key in keys if len(digest_of(key.fingerprint)) not in map(len, digests)), None)
    if odd and not found:
        shown = f"shows the fingerprint {odd.fingerprint!r} for key {odd.name!r}, which cannot be compared"
        raise Invalid(f"whether the key is registered is not known: the platform {shown}. Give its name")
    return found
