# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account and SFTP passwords (sections Endpoints / SSH keys, SFTP)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_ssh_public_key

from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.domain.world import World
from hosted_sandbox.store.records import Account, Key, Service

LEAST_RSA_BITS = 2048


def add(world: World, account: Account, name: str, public_key: str) -> Key:
    """Register a public key in the format of a key file. Refuse private keys, weak keys and unknown types."""
    if not name.strip():
        raise RefusedError("name must not be empty")
    if "PRIVATE KEY" in public_key:
        raise RefusedError("this is a private key; send the public one")
    algorithm, blob, comment = _parse(public_key)
    if any(key.blob == blob for key in world.store.of(Key, account.id)):
        raise RefusedError("this key is already present", "key_present")
    key = Key(world.new_id("key"), account.id, name, algorithm, comment, blob, world.now)
    world.store.put(key)
    return key


def _parse(text: str) -> tuple[str, str, str]:
    words = text.strip().split(None, 2)
    if len(words) < 2 or "\n" in text.strip():
        raise RefusedError("publicKey must be one line of a public-key file")
    algorithm, blob = words[:2]
    if algorithm not in ("ssh-ed25519", "ssh-rsa") and not algorithm.startswith("ecdsa-sha2-"):
        raise RefusedError(f"keys of type {algorithm[:40]} are not accepted")
    try:
        key = load_ssh_public_key(f"{algorithm} {blob}".encode())
    except (ValueError, UnsupportedAlgorithm, binascii.Error):
        raise RefusedError("publicKey cannot be read") from None
    if isinstance(key, RSAPublicKey) and key.key_size < LEAST_RSA_BITS:
        raise RefusedError(f"an RSA key needs {LEAST_RSA_BITS} bits or more")
    return algorithm, blob, words[2] if len(words) > 2 else ""


def find(world: World, account: Account, key_id: str) -> Key:
    """Return a key of the account."""
    key = world.store.get(Key, key_id)
    if key is None or key.account_id != account.id:
        raise AbsentError("SSH key")
    return key


def fingerprint(world: World, key: Key) -> str:
    """Return the fingerprint of a key in the form of the profile."""
    blob = base64.b64decode(key.blob)
    if world.gaps["fingerprint"] == "SHA256":
        return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return "MD5:" + hashlib.md5(blob, usedforsecurity=False).digest().hex(":")


def new_password(world: World, service: Service) -> str:
    """Generate a new SFTP password for a service; the previous one becomes invalid."""
    password = secrets.token_urlsafe(18)
    before = service.sftp.get("set_at")
    world.keep("password", service.id, lambda: before)
    service.sftp |= {"password": _digest(password), "set_at": world.now}
    world.store.put(service)
    return password


def password_opens(service: Service, password: str) -> bool:
    """Tell whether a password is the current one of a service."""
    known = service.sftp.get("password")
    return known is not None and hmac.compare_digest(known, _digest(password))


def _digest(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()
