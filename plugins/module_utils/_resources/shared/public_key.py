# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Public SSH keys: what the platform accepts, and how keys are recognized (SSH keys)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..._api.libraries import load_ssh_public_key, rsa
from ..._api.models import SshKey
from .task_errors import Invalid

MIN_RSA_BITS = 2048
MD5_DIGITS = 32
HEXADECIMAL = re.compile("[0-9a-f]{32}|[0-9a-f]{64}")
WHOLE = re.compile("[0-9a-f]{32}|[0-9a-f]{64}|[A-Za-z0-9+/]{43}")
"""What a fingerprint in its normal form looks like."""
ACCEPTED = "ssh-ed25519, ecdsa-sha2-* and ssh-rsa of 2048 bits or more"


@dataclass(frozen=True)
class PublicKey:
    """A key that the platform accepts: its type, its base64 and its comment."""

    algorithm: str
    data: str
    comment: str

    @property
    def line(self) -> str:
        """The key as in a public-key file."""
        return " ".join(part for part in (self.algorithm, self.data, self.comment) if part)

    @property
    def fingerprint(self) -> str:
        """The SHA256 fingerprint as OpenSSH prints it."""
        digest = hashlib.sha256(base64.b64decode(self.data)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")

    def matches(self, fingerprint: str | None) -> bool:
        """Tell whether a fingerprint of the platform, in any usual notation, is that of this key."""
        return fingerprint is not None and normalize_fingerprint(fingerprint) in self._notations()

    def _notations(self) -> set[str]:
        raw = base64.b64decode(self.data)
        sha256 = hashlib.sha256(raw)
        md5 = hashlib.md5(raw, usedforsecurity=False)
        return {base64.b64encode(sha256.digest()).decode().rstrip("="), sha256.hexdigest(), md5.hexdigest()}


def normalize_fingerprint(fingerprint: str) -> str:
    """Return a fingerprint without prefix, padding and colons; hexadecimal ones in lower case."""
    text = fingerprint.strip()
    for prefix in ("SHA256:", "MD5:"):
        text = text.removeprefix(prefix)
    bare = text.replace(":", "").lower()
    return bare if HEXADECIMAL.fullmatch(bare) else text.rstrip("=")


def fingerprint_notation(fingerprint: str) -> str:
    """Return how a fingerprint is written, for people."""
    bare = normalize_fingerprint(fingerprint)
    if not HEXADECIMAL.fullmatch(bare):
        return "SHA256"
    return "MD5" if len(bare) == MD5_DIGITS else "SHA256 in hexadecimal digits"


def keys_with_fingerprint(keys: Sequence[SshKey], wanted: str) -> list[SshKey]:
    """Return the keys of a fingerprint.

    :raises Invalid: when the platform shows all of them in another notation. Which one it shows is open (SSH
        key), and a key that is there must not pass for one that is not. So is one that was cut short refused.
    """
    shown = [(key, key.fingerprint) for key in keys if key.fingerprint]
    other = [text for __, text in shown if fingerprint_notation(text) != fingerprint_notation(wanted)]
    if other and len(other) == len(shown):
        raise Invalid(
            f"fingerprint is written as {fingerprint_notation(wanted)}, and the platform shows "
            f"{fingerprint_notation(other[0])}, as {other[0]}: the two cannot be compared. Give it as the "
            "platform shows it, or give the key"
        )
    found = [key for key, text in shown if normalize_fingerprint(text) == normalize_fingerprint(wanted)]
    if not found and not WHOLE.fullmatch(normalize_fingerprint(wanted)):
        raise Invalid(
            f"fingerprint {wanted!r} is invalid or incomplete: SHA256 has 43 characters of base64 or 64 "
            "hexadecimal digits, and MD5 has 32. No registered key shows it"
        )
    return found


def read_public_key(text: str, source: str = "public_key") -> PublicKey:
    """Read a key as it stands in a public-key file. ``source`` says in messages where the text is from.

    :raises Invalid: for anything that the platform does not accept. What was given is never echoed, as it
        may be a private key.
    """
    if "PRIVATE KEY" in text:
        raise Invalid(f"{source} holds a private key; give the .pub file beside it. Nothing was sent")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise Invalid(f"{source} has {len(lines)} lines; a public key is one line")
    algorithm, _space, rest = lines[0].strip().partition(" ")
    data, _space, comment = rest.strip().partition(" ")
    if algorithm not in ("ssh-ed25519", "ssh-rsa") and not algorithm.startswith("ecdsa-sha2-"):
        raise Invalid(f"{source} is not of a type that the platform accepts; it accepts {ACCEPTED}")
    check_key(algorithm, data, source)
    return PublicKey(algorithm, data, comment.strip())


def check_key(algorithm: str, data: str, source: str) -> None:
    """Check that the base64 is a whole key of its type, and strong enough."""
    try:
        key = load_ssh_public_key(f"{algorithm} {data}".encode())
    except Exception:  # the library raises several kinds, and their texts may hold the key
        raise Invalid(f"{source} is damaged: what follows {algorithm!r} is not a key of that type") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < MIN_RSA_BITS:
        raise Invalid(f"{source} is an RSA key of {key.key_size} bits; at least {MIN_RSA_BITS} are needed")
