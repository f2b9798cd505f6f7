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
from .task_errors import Invalid

MIN_RSA_BITS = 2048
DIGEST_BYTES = (16, 32)
"""The lengths of MD5 and SHA256: which of them is a fingerprint of the platform is open (SSH key)."""
HEXADECIMAL = re.compile("([0-9a-f]{2})+", re.IGNORECASE)
ACCEPTED = "ssh-ed25519, ecdsa-sha2-* and ssh-rsa of 2048 bits or more"
TYPE = re.compile(r"ssh-ed25519|ssh-rsa|ecdsa-sha2-\w+")
OPTIONS = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^\s"])+\s+')
"""What restricts a key in a file of authorized keys, in front of it. Blanks in quotes are part of it."""


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
    def digests(self) -> tuple[bytes, bytes]:
        """Its SHA256 and its MD5."""
        raw = base64.b64decode(self.data)
        return hashlib.sha256(raw).digest(), hashlib.md5(raw, usedforsecurity=False).digest()

    @property
    def fingerprint(self) -> str:
        """Its SHA256 as OpenSSH prints it."""
        return "SHA256:" + base64.b64encode(self.digests[0]).decode().rstrip("=")


def digest_of(fingerprint: str | None) -> bytes:
    """Return the digest that a fingerprint stands for; nothing if it cannot be read or was cut short.

    It may be in hexadecimal digits or base64, with or without prefix and padding.
    """
    text = re.sub("^(md5|sha256):", "", (fingerprint or "").strip(), flags=re.IGNORECASE)
    bare, letters = text.replace(":", ""), text.rstrip("=")
    found = b""
    with suppress(ValueError):
        found = (
            bytes.fromhex(bare)
            if HEXADECIMAL.fullmatch(bare)
            else base64.b64decode(letters + "=" * (-len(letters) % 4), validate=True)
        )
    return found if len(found) in DIGEST_BYTES else b""


def keys_with_fingerprint(keys: Sequence[SshKey], wanted: PublicKey | str) -> list[SshKey]:
    """Return the keys that are this one, or have this fingerprint.

    A key has both digests, and the platform shows one of them. One that is there must not pass for absent: it
    would go on opening SFTP.

    :raises Invalid: for a fingerprint that is none, or if none is found and one may be it.
    """
    digests = wanted.digests if isinstance(wanted, PublicKey) else (given_digest(wanted),)
    found = [key for key in keys if digest_of(key.fingerprint) in digests]
    lengths = [len(digest) for digest in digests]
    for key in () if found else keys:
        if len(digest_of(key.fingerprint)) not in lengths:
            shown = f"the fingerprint {key.fingerprint!r}" if key.fingerprint else "no fingerprint"
            raise Invalid(
                "whether the key is registered is not known, and nothing was done: the platform shows "
                f"{shown} for key {key.name!r}, which cannot be compared with what the task gives. Give the "
                f"key itself; to remove {key.name!r}, give its name alone"
            )
    return found


def given_digest(fingerprint: str) -> bytes:
    """Return the digest of a fingerprint that the user gave.

    :raises Invalid: if it is none.
    """
    if PRIVATE_KEY in fingerprint:
        raise Invalid("fingerprint holds a private key; give its fingerprint. Nothing was sent")
    if digest := digest_of(fingerprint):
        return digest
    raise Invalid(
        f"fingerprint {fingerprint!r} is invalid or incomplete: SHA256 has 43 characters of base64 or 64 "
        "hexadecimal digits, and MD5 has 32"
    )


def read_public_key(text: str, source: str = "public_key", *, skip_options: bool = False) -> PublicKey:
    """Read a key as it stands in a public-key file. ``source`` says in messages where the text is from.

    Options in front of it restrict the key where OpenSSH reads them; the platform would drop them.

    :raises Invalid: for anything that the platform does not accept. What was given is never echoed, as it
        may be a private key.
    """
    if PRIVATE_KEY in text:
        raise Invalid(f"{source} holds a private key; give the .pub file beside it. Nothing was sent")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise Invalid(f"{source} has {len(lines)} lines; a public key is one line")
    line = lines[0].strip()
    options = None if TYPE.match(line) else OPTIONS.match(line)
    algorithm, data, comment = (*line[options.end() if options else 0 :].split(None, 2), "", "")[:3]
    if not TYPE.fullmatch(algorithm):
        raise Invalid(f"{source} is not of a type that the platform accepts; it accepts {ACCEPTED}")
    if options and not skip_options:
        raise Invalid(
            f"{source} has options in front of the key. The platform would drop them, and the key would open "
            "all services without them; remove them to accept that"
        )
    try:
        base64.b64decode(data, validate=True)
        key = load_ssh_public_key(f"{algorithm} {data}".encode())
    except Exception:  # the library raises several kinds, and their texts may hold the key
        raise Invalid(f"{source} is damaged: what follows {algorithm!r} is not a key of that type") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < MIN_RSA_BITS:
        raise Invalid(f"{source} is an RSA key of {key.key_size} bits; at least {MIN_RSA_BITS} are needed")
    return PublicKey(algorithm, data, comment)
