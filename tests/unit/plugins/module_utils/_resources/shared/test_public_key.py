# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys are taken, how they are recognised, and that nothing of a refused one is shown."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

import pytest
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.models import SshKey
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.public_key import (
    digest_of,
    keys_known_as,
    read_public_key,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

KINDS = ["ed25519", "ecdsa 256", "ecdsa 384", "ecdsa 521", "rsa 2048"]


@cache
def private_key(kind: str) -> rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey:
    family, _space, size = kind.partition(" ")
    if family == "rsa":
        return rsa.generate_private_key(65537, int(size))
    curves = {"256": ec.SECP256R1(), "384": ec.SECP384R1(), "521": ec.SECP521R1()}
    return ec.generate_private_key(curves[size]) if size else ed25519.Ed25519PrivateKey.generate()


def line(kind: str) -> str:
    return private_key(kind).public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


@pytest.mark.parametrize("kind", KINDS)
def test_the_types_that_the_platform_accepts(kind: str) -> None:
    key = read_public_key(f"\n{line(kind)}  me at home \n")
    assert key.line == f"{line(kind)} me at home"
    assert key.comment == "me at home"
    assert read_public_key(key.line) == key


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_recognised_in_every_usual_notation(kind: str) -> None:
    raw = base64.b64decode(line(kind).split()[1])
    key = read_public_key(line(kind))
    sha256 = base64.b64encode(hashlib.sha256(raw).digest()).decode()
    md5 = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    pairs = ":".join(md5[at : at + 2] for at in range(0, 32, 2))
    assert key.fingerprint == "SHA256:" + sha256.rstrip("=")
    for notation in (
        key.fingerprint,
        f" SHA256:{sha256}\n",
        sha256,
        sha256.rstrip("="),
        hashlib.sha256(raw).hexdigest(),
        hashlib.sha256(raw).hexdigest().upper(),
        f"MD5:{pairs}",
        pairs.upper(),
        md5,
    ):
        assert digest_of(notation) in key.digests, notation


@pytest.mark.parametrize(
    "text", ["", "SHA256:abc", "0a1b2c3d", "ops", "AAAA…", "SHA256:" + "A" * 42, "a" * 63]
)
def test_what_is_no_whole_digest_is_not_read(text: str) -> None:
    key = read_public_key(line("ed25519"))
    assert not digest_of(text)
    with pytest.raises(Invalid, match="cannot be compared"):
        keys_known_as(key, [SshKey(id="1", name="ops", fingerprint=text)])


def test_fingerprints_are_compared_where_they_are_of_the_same_digest() -> None:
    assert not keys_known_as("a" * 64, [SshKey(id="1", name="ops", fingerprint="sha256:" + "A" * 43)])
    with pytest.raises(Invalid, match="cannot be compared"):
        keys_known_as("a" * 64, [SshKey(id="1", name="ops", fingerprint="md5:" + "a" * 32)])


def test_keys_are_found_by_their_fingerprint() -> None:
    one, other = (read_public_key(line(kind)).fingerprint for kind in ("ed25519", "rsa 2048"))
    keys = [SshKey(id=print, name="key", fingerprint=print) for print in (one, other)]
    assert keys_known_as(one, keys) == [keys[0]]
    assert keys_known_as(one.removeprefix("SHA256:"), keys) == [keys[0]]
    assert keys_known_as(one, keys[1:]) == []
    with pytest.raises(Invalid, match="is invalid or incomplete"):
        keys_known_as(one[:-1], keys)


def test_another_key_and_none_do_not_match() -> None:
    key = read_public_key(line("ed25519"))
    other = read_public_key(line("ecdsa 256"))
    for notation in (
        other.fingerprint,
        None,
        "",
        "SHA256:",
        key.fingerprint[:-1],
        key.fingerprint.swapcase(),
    ):
        assert digest_of(notation) not in key.digests


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("ed25519", PrivateFormat.OpenSSH),
        ("ed25519", PrivateFormat.PKCS8),
        ("ecdsa 256", PrivateFormat.OpenSSH),
        ("ecdsa 256", PrivateFormat.TraditionalOpenSSL),
        ("rsa 2048", PrivateFormat.OpenSSH),
        ("rsa 2048", PrivateFormat.PKCS8),
        ("rsa 2048", PrivateFormat.TraditionalOpenSSL),
    ],
    ids=str,
)
def test_a_private_key_is_refused_and_not_shown(kind: str, form: PrivateFormat) -> None:
    text = private_key(kind).private_bytes(Encoding.PEM, form, NoEncryption()).decode()
    body = text.splitlines()[1]
    for given_text in (text, text.replace("\n", " "), body, "ssh-ed25519 " + body, "ssh-rsa " + body):
        with pytest.raises(Invalid) as caught:
            read_public_key(given_text)
        assert body not in str(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    with pytest.raises(Invalid, match=r"^public_key holds a private key"):
        read_public_key(text)


@pytest.mark.parametrize("bits", [1024, 2047])
def test_a_weak_rsa_key_is_refused_with_its_size(bits: int) -> None:
    with pytest.raises(Invalid, match=f"RSA key of {bits} bits; at least 2048 are needed"):
        read_public_key(line(f"rsa {bits}"))


def test_types_that_the_platform_does_not_accept() -> None:
    old = dsa.generate_private_key(2048).public_key()
    texts = [
        old.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode().replace("\n", " "),
        "ssh-dss AAAAB3NzaC1kc3MAAACB",
        "sk-ssh-ed25519@openssh.com AAAA",
        line("ed25519").upper(),
        line("ed25519").split()[1],
    ]
    for text in texts:
        with pytest.raises(Invalid, match="not of a type that the platform accepts"):
            read_public_key(text)


@pytest.mark.parametrize(("text", "count"), [("", 0), (" \n\n", 0), ("a b\nc d", 2)])
def test_a_key_is_one_line(text: str, count: int) -> None:
    with pytest.raises(Invalid, match=f"public_key has {count} lines"):
        read_public_key(text)


def test_a_key_under_another_name_is_damaged() -> None:
    with pytest.raises(Invalid, match="not a key of that type"):
        read_public_key("ssh-rsa " + line("ed25519").split()[1])


@settings(max_examples=60, deadline=None)
@given(kind=st.sampled_from(["ed25519", "rsa 2048"]), data=st.data())
def test_damaged_keys_are_refused_and_never_shown(kind: str, data: st.DataObject) -> None:
    algorithm, body = line(kind).split()
    at = data.draw(st.integers(20, len(body) - 1))
    damaged = data.draw(st.sampled_from([body[:at], body[at:], body[:at] + "!!" + body[at:], body + body]))
    try:
        key = read_public_key(f"{algorithm} {damaged}")
    except Invalid as error:
        assert not any(damaged[start : start + 12] in str(error) for start in range(0, len(damaged) - 12, 4))
    else:  # what is taken is the very key that it says it is
        assert base64.b64decode(key.line.split()[1]) == base64.b64decode(body)


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=8).filter(lambda text: len(text.strip()) >= 8))
def test_anything_else_is_refused_and_never_shown(text: str) -> None:
    """A letter between spaces is no secret, and is in any sentence, as the words of the refusal are."""
    with pytest.raises(Invalid) as other:
        read_public_key("\N{SNOWMAN}" * 8)
    assume(text.strip() not in str(other.value))
    with pytest.raises(Invalid) as caught:
        read_public_key(text)
    assert text.strip() not in str(caught.value)
